#!/bin/bash
# The scripts that complete words in other shells.
#
# SPDX-License-Identifier: MIT
source "$(dirname "$0")/lib"
PATH=$(dirname "$COLANDER"):$PATH
cd "$work" || exit 1
"$COLANDER" shell data -e 'db:family("tweets"):put(1, {}) db:family("sensors"):put(1, {})'
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
completes '--help' help --
completes 'tweak tweets' find data twe
completes 'sensors' stats data s
completes 'tweak' load data tweets tw

# Every command and option is in the others, too.
for shell in zsh fish; do
    run 0 completion $shell
    cp "$work/out" "$work/$shell"
    if command -v $shell >/dev/null; then
        $shell -n "$work/$shell" || complain "$shell cannot read its script"
    fi
done
for command in find load stats check shell; do
    grep -q "^        '$command:" zsh || complain "zsh has no $command"
    grep -q " -a $command " fish || complain "fish has no $command"
    for option in $("$COLANDER" $command --help |
        sed -nE 's/^  --([a-z-]+).*/\1/p'); do
        grep -q -- "--$option\[" zsh || complain "zsh has no --$option"
        grep -q -- "from $command' -l $option" fish ||
            complain "fish has no --$option of $command"
    done
done
# Quotes are closed, also for bash, which has no \' in them.
sed -i "s/\\\\'//g" fish
for shell in zsh fish; do
    bash -n <(sed 's/^#.*//; s/^    local -a commands=(/commands=(/' $shell) ||
        complain "a quote of $shell is open"
done
run 2 completion ksh
says "colander: completion: no shell 'ksh': use bash, zsh or fish"
finish
