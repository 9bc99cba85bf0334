#!/bin/bash
# Wrong usage exits with 2 and an error message; help goes to standard output.
#
# SPDX-License-Identifier: MIT
source "$(dirname "$0")/lib"

run 2
says 'usage: colander COMMAND [ARGUMENT...] (try colander --help)'
for word in bogus ./nostore /etc/passwd --bogus; do
    run 2 "$word"
    says "colander: '$word' is neither a command nor a store (try colander --help)"
done
for word in fnd exprot Stats; do
    run 2 "$word" store
    says_some "^colander: no command '$word': did you mean '(find|export|stats)'\?$"
done
run 2 find store rows --lmit 5
says "colander: find: unknown option '--lmit': did you mean '--limit'?"
run 0 --version
prints_some '^colander [0-9]+\.[0-9]+\.[0-9]+$'
run 2 --version x
says 'colander: --version takes no argument'
for word in --version --help; do
    "$COLANDER" $word >/dev/full 2>"$work/err"
    [ $? = 4 ] || complain "$word into a full disk does not exit 4"
    last="$word into a full disk"
    says_some 'cannot write output: No space left on device'
done
run 0 --help
commands='find get export families columns stats check shell demo help'
if has_filters; then
    commands+=' refilter'
else
    run 2 help refilter
    run 2 refilter store family
    run 0 --help
fi
for command in $commands; do
    prints_some "^  $command "
    "$COLANDER" "$command" --help >"$work/$command" 2>&1 ||
        complain "$command --help fails"
    grep -q "^usage: colander $command" "$work/$command" ||
        complain "$command --help shows no usage"
done
run 0 find STORE --help
prints_some '^usage: colander find STORE FAMILY'

# Each command has a manual page, which man can show without a complaint.
for command in $commands load put delete update; do
    run 0 help "$command" --man
    prints_some "^\.TH \"COLANDER\\\\-${command^^}\" 1 "
    prints_some '^\.SH SYNOPSIS$'
    for option in $("$COLANDER" "$command" --help |
        sed -nE 's/^  (--[a-z-]+).*/\1/p'); do
        grep -qF -- "\\fB${option//-/\\-}\\fP" "$work/out" ||
            complain "the page of $command lacks $option"
    done
    if command -v mandoc >/dev/null; then
        mandoc -Tlint -W warning <"$work/out" | grep -v 'missing date' &&
            complain "mandoc complains about the page of $command"
    fi
    if command -v groff >/dev/null; then
        [ -z "$(groff -ww -man -Tutf8 "$work/out" 2>&1 >/dev/null)" ] ||
            complain "groff complains about the page of $command"
    fi
done
# colander.1 has the options of each command, below "Of" and its name; those of
# cluster are in a page of their own.
manual=$(dirname "$0")/../../docs/colander.1
in_manual() { # COMMAND ARG...
    local option options

    run 0 "${@:2}" --help
    options=$(awk -v command="$1" '
        /^\.S[SH] / {
            is_of = /^\.SS Of all commands/
            count = split(substr($0, 8), names, /, | and /)
            for (i = 1; i <= count; i++)
                is_of = is_of || names[i] == command
        }
        is_of && is_term { gsub(/\\-/, "-"); gsub(/[,"]/, " "); print $0, "" }
        { is_term = $0 == ".TP" }' "$manual")
    for option in $(sed -nE 's/^  (--?[a-z0-9-]+)( .*)?$/\1/p' "$work/out"); do
        grep -q -- " $option " <<<"$options" ||
            complain "colander.1 lacks $option of $1"
    done
}
run 0 --help
commands=$(sed -n '/^commands:/,$s/^  \([a-z]*\) .*/\1/p' "$work/out")
[ "$(wc -w <<<"$commands")" -ge 20 ] || complain "commands: $commands"
for command in $commands; do
    grep -qx "\.B $command" "$manual" || complain "colander.1 lacks $command"
    [[ $command == @(cluster|help) ]] || in_manual "$command" "$command"
done
! has_cluster || in_manual 'load to a topic' load kafka://b/t
run 2 help --man
says 'colander: help: --man needs the name of a command'
run 2 help bogus --man

# A missing argument is named, and the usage follows.
while read -r name words; do
    read -r -a words <<<"$words"
    run 2 "${words[@]}"
    says_some "^colander: ${words[0]}: $name is missing$"
    says_some "^usage: colander ${words[0]} "
done <<'END'
STORE find
FAMILY find store
KEY get store family
STORE restore backups
DIR salvage store
STORE shell
END
if has_server; then
    run 2 serve
    says_some '^colander: serve: STORE is missing$'
fi
run 2 get store family key more
says_some "^colander: get: unexpected argument 'more'$"
says_some '^usage: colander get STORE FAMILY KEY'
run 2 help bogus
says "colander: help: no command 'bogus' (try colander --help)"
run 2 find store family --bogus
says "colander: find: unknown option '--bogus' (--help lists the options)"
run 2 find store family -x
says "colander: find: unknown option '-x' (--help lists the options)"
run 2 find store family -limit 3
says "colander: find: unknown option '-limit' (write --limit)"
run 2 find store family --limit
says 'colander: find: --limit needs a value'
run 2 find store family --limit 1 --limit=2
says 'colander: find: --limit is given twice'
run 2 find store family --count=1
says 'colander: find: --count takes no value'

run 2 stats
run 2 stats store family more
if has_filters; then
    run 2 refilter store
    run 1 refilter "$work/none" family
    [ ! -e "$work/none" ] || complain 'refilter makes a store'
fi

run 1 find "$work/none" family
says_some "there is no such store \('colander load' creates a store, 'colander demo' one to try\)$"
prints ''
[ ! -e "$work/none" ] || complain 'a find makes a store'

# A link to a disk that is not mounted: nothing is created in its place.
ln -s "$work/unmounted/store" "$work/link"
echo '{"_key":1}' > "$work/row"
run 0 load "$work/store" f "$work/row"
for command in "find $work/link f" "load $work/link f $work/row" \
    "backup $work/store $work/link" "restore $work/store $work/link" \
    "salvage $work/store $work/link"; do
    # shellcheck disable=SC2086
    run 1 $command
    says_some ": it is a link to '$work/unmounted/store', which does not exist\$"
done

run 1 shell "$work/none" --readonly
[ ! -e "$work/none" ] || complain 'a shell that reads only makes a store'
finish
