#!/bin/bash
# The scripts that complete words in other shells.
#
# SPDX-License-Identifier: MIT
source "$(dirname "$0")/lib"
PATH=$(dirname "$COLANDER"):$PATH
cd "$work" || exit 1
"$COLANDER" shell data -e 'db:family("tweets"):put(1, {}) db:family("sensors"):put(1, {})
    db:family("odd name"):put(1, {}) db:family("users"):put(1, {id = 1, name = "Ann",
    ["PM2.5"] = 7, tags = {"x"}}) db.users:put(2, {names = 1}) db:family("$(touch run)"):put(1, {})'
touch tweak
run 0 completion bash
# shellcheck disable=SC1091 # it was just written
source "$work/out" || complain 'bash cannot read its script'

completes() { # WANTED WORD...: the last word is completed to these
    local wanted=$1
    shift
    # shellcheck disable=SC2034 # the script reads them
    COMP_WORDS=(colander "$@") COMP_CWORD=$#
    _colander
    [ "$(printf '%s\n' "${COMPREPLY[@]}" | sort | paste -sd ' ')" = "$wanted" ] ||
        complain "'$*' is completed to '${COMPREPLY[*]}', not '$wanted'"
}
completes 'data' dat
completes 'demo' dem
completes 'find' fi
completes '--limit' find data tweets --lim
completes '-e' shell data -e
completes '--help --man' help --
if grep -q -- --settings "$work/out"; then # those of topics
    completes '--place' load kafka://b1/t file --pl
    completes 'create' cluster c
    completes '--partition-by --partitions' cluster family a b --part
fi
completes 'tweak tweets' find data twe
completes 'sensors' stats data s
completes 'csv' find data tweets --format cs
completes 'name names' find data users na
completes 'name names' find data users name=x na
completes 'id,name id,names' find data users --select id,na
completes 'name names' find data users --order name
completes 'name names' group data users na
completes 'id' group data users --approx-distinct i
completes 'id' group data users --p95 i
completes 'PM2\\.5' update data users --set PM
completes 'tags\[\]' delete data users --any tag tags'\['
completes '' find data users --limit na
completes '' find data nothing na
completes 'tweak' load data tweets tw
completes 'odd name' find data odd
completes '$(touch run)' find data '$'
[ ! -e run ] || complain 'the name of a family was run as a command'

# Every command and option is in the others, too.
for shell in zsh fish; do
    run 0 completion $shell
    cp "$work/out" "$work/$shell"
    if command -v $shell >/dev/null; then
        $shell -n "$work/$shell" || complain "$shell cannot read its script"
    fi
done
for command in find group load stats check shell; do
    grep -q "^        '$command:" zsh || complain "zsh has no $command"
    grep -q " -a $command " fish || complain "fish has no $command"
    for option in $("$COLANDER" $command --help |
        sed -nE 's/^  --([a-z0-9-]+).*/\1/p'); do
        grep -q -- "--$option\[" zsh || complain "zsh has no --$option"
        grep -q -- "from $command' -l $option" fish ||
            complain "fish has no --$option of $command"
    done
done
# Quotes are closed, also for bash, which has no \' in them.
sed "s/\\\\'//g; /^function/,/^end/d" fish >fish_quotes
for shell in zsh fish_quotes; do
    bash -n <(sed 's/^#.*//; s/^    local -a commands=(/commands=(/' $shell) ||
        complain "a quote of $shell is open"
done

# What zsh completes in a pseudo-terminal. ^X shows the line as it is then.
cat >try.zsh <<'END'
zmodload zsh/zpty
zpty -b shell zsh -f -i
zpty -w shell 'PS1="> "; unsetopt zle_bracketed_paste prompt_sp
    autoload -U compinit; compinit -u -D; source ./zsh
    show() { print -rn -- "<<$BUFFER>>" }; zle -N show; bindkey "^X" show
    print REA""DY'
zpty -r shell shown '*READY*'
while IFS= read -r line; do
    zpty -n -w shell "$line"$'\t\x18'
    zpty -r shell shown '*<<*>>*' || break
    print -r -- "${${${shown##*<<}%%>>*}% }"
    zpty -n -w shell $'\x15'
done
END
# And fish.
cat >try.fish <<'END'
source fish
while read -l line
    complete -C $line | string replace -r '\t.*' ''
end
END
cat >typed <<'END'
colander fin
colander da
colander find data tweets --li
colander find data tweet
colander find data odd
colander load data tweets twe
colander shell data --rea
colander find data users nam
colander find data users id=1 PM
colander delete data users --any tag tag
colander find data users --select id,nam
colander update data users --set na
colander group data users nam
colander group data users --p95 nam
END
if command -v zsh >/dev/null; then
    zsh -f try.zsh <typed >out 2>err
    last='words in zsh'
    prints 'colander find
colander data/
colander find data tweets --limit
colander find data tweets
colander find data odd\ name
colander load data tweets tweak
colander shell data --readonly
colander find data users name
colander find data users id=1 PM2\\.5
colander delete data users --any tag tags
colander find data users --select id,name
colander update data users --set name
colander group data users name
colander group data users --p95 name'
    echo "colander find '*(e:touch ran:)' x" | zsh -f try.zsh >out 2>err
    [ ! -e ran ] || complain 'the path of a store was run as a command'
else
    echo 'completion: zsh is not installed, and was not tried'
fi
if command -v fish >/dev/null; then
    HOME=$work fish try.fish <typed >out 2>err
    last='words in fish'
    prints 'find
data/
--limit
tweets
odd name
tweak
--readonly
name
names
PM2\.5
tags
tags[]
id,name
id,names
name
names
name
names
name
names'
else
    echo 'completion: fish is not installed, and was not tried'
fi
run 2 completion ksh
says "colander: completion: no shell 'ksh': use bash, zsh or fish"
finish
