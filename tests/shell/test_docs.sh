#!/bin/bash
# What docs/filters.md shows of the program is what it prints on a fresh demo
# store, but for the figures.
#
# SPDX-License-Identifier: MIT
source "$(dirname "$0")/lib"
page=$(cd "$(dirname "$0")/../.." && pwd)/docs/filters.md
has_filters || finish # it tells of a program that has them
cd "$work" || exit 1
"$COLANDER" demo </dev/null >"$work/out" 2>&1 ||
    complain "no demo store: $(cat "$work/out")"

# Figures become N. A step that took no time, and work that a store has or has
# not done yet, are not told.
without_figures() {
    sed -E -e '/^(time|store) /d' -e 's/[0-9][0-9,]*(\.[0-9]+)?/N/g' \
        -e 's/(microsecond|byte|row|part|file|candidate)s\b/\1/g'
}

count=0
: >"$work/shown"
check() { # COMMAND: it prints what is shown below it
    [ -n "$1" ] || return
    (eval "\"\$COLANDER\" $1") >"$work/out" 2>&1 </dev/null ||
        complain "'$1' fails: $(cat "$work/out")"
    diff <(without_figures <"$work/shown") <(without_figures <"$work/out") ||
        complain "docs/filters.md shows something else for '$1'"
    count=$((count + 1))
}

command=
while IFS= read -r line; do
    case $line in
    '    $ colander '*)
        check "$command"
        command=${line#'    $ colander '}
        : >"$work/shown"
        ;;
    '    '*) echo "${line#    }" >>"$work/shown" ;;
    esac
done <"$page"
check "$command"
[ "$count" -ge 5 ] || complain "only $count commands are shown in $page"
finish
