#!/bin/bash
# Wrong usage exits 2 and says what is wrong; help goes to standard output.
#
# SPDX-License-Identifier: MIT
source "$(dirname "$0")/lib"

run 2
says 'usage: colander COMMAND ... (colander --help)'
for word in bogus ./nostore /etc/passwd --bogus; do
    run 2 "$word"
    says "colander: neither a command nor a store: '$word' (see colander --help)"
done
run 0 --version
prints_some '^colander [0-9]+\.[0-9]+\.[0-9]+$'
run 2 --version x
says 'colander: nothing may stand behind --version'
for word in --version --help; do
    "$COLANDER" $word >/dev/full 2>"$work/err"
    [ $? = 4 ] || complain "$word into a full disk is no 4"
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

run 2 find
says_some '^usage: colander find STORE FAMILY'
run 2 find store
run 2 get store family
run 2 get store family key more
run 2 find store family --bogus
says "colander: find: unknown option '--bogus'"
run 2 find store family -x
says "colander: find: unknown option '-x'"
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
    run 2 refilter store family --on --off
    says 'colander: refilter: --off goes without --on'
    run 2 refilter store family --filter-bits 20000 --fp-rate 0.1
    says 'colander: refilter: --filter-bits goes without --fp-rate'
    run 1 refilter "$work/none" family
    [ ! -e "$work/none" ] || complain 'refilter makes a store'
fi

run 1 find "$work/none" family
says_some 'there is no such store'
prints ''
[ ! -e "$work/none" ] || complain 'a find makes a store'
run 1 shell "$work/none" --readonly
[ ! -e "$work/none" ] || complain 'a shell that reads only makes a store'
finish
