#!/bin/bash
# What pages of docs/ show of the program is what it prints on a fresh demo
# store: commands after "$ ", and input after "colander> ". A page may create
# files: cat >FILE <<'END', lines, END.
#
# SPDX-License-Identifier: MIT
source "$(dirname "$0")/lib"
docs=$(cd "$(dirname "$0")/../../docs" && pwd)
cd "$work" || exit 1
"$COLANDER" demo </dev/null >"$work/out" 2>&1 ||
    complain "no demo store: $(cat "$work/out")"

colander() {
    "$COLANDER" "$@"
}
PATH=$(dirname "$COLANDER"):$PATH # for what a page runs in Lua

# Figures become N. A step that took no time, and work that is sometimes already
# done, are not shown.
# shellcheck disable=SC2317 # check_page gets its name
without_figures() {
    sed -E -e '/^(time|store) /d' -e 's/[0-9][0-9,]*(\.[0-9]+)?/N/g' \
        -e 's/\bN (ms|s)\b/N ms/g' -e 's/(byte|row|part|file|candidate)s\b/\1/g'
}

# The cost of a find is shown only on a terminal.
# shellcheck disable=SC2317
without_work() {
    sed -E '/^[0-9,]+ rows?(: (read|scanned) .*)?$/d'
}

# shellcheck disable=SC2317
without_time() {
    sed -E 's/ in [0-9.]+ s$/ in N s/'
}

# The time that a load took, and the keys it generated.
# shellcheck disable=SC2317
without_speed() {
    sed -E -e 's/, [0-9.]+ MB in .*MB\/s\)/, N MB in N s/' \
        -e 's/"01[0-9A-HJKMNP-TV-Z]{24}"/"KEY"/g'
}

check_shown() { # NORMALISE WHAT: what was printed is what is shown
    diff <("$1" <"$work/shown") <("$1" <"$work/out") ||
        complain "$page shows something else for '$2'"
    count=$((count + 1))
}

check_command() { # NORMALISE COMMAND
    (eval "$2") >"$work/out" 2>&1 </dev/null ||
        complain "'$2' fails: $(cat "$work/out")"
    check_shown "$@"
}

check_typed() { # NORMALISE: a pipe has no prompt, and tables only on request
    (echo .mode table && cat "$work/typed") |
        colander shell demo --readonly >"$work/out" 2>&1 ||
        complain "what $page types fails: $(cat "$work/out")"
    check_shown "$1" "$(cat "$work/typed")"
}

# check_page PAGE NORMALISE COUNT: it has at least COUNT examples.
check_page() {
    local command='' document='' line

    page=$1 count=0
    rm -rf data
    : >"$work/shown"
    : >"$work/typed"
    while IFS= read -r line; do
        case $line in
        '    $ '*)
            [ -z "$command" ] || check_command "$2" "$command"
            command=${line#'    $ '}
            [[ $command != *"<<'END'" ]] || document=1
            : >"$work/shown"
            ;;
        '    colander> '*) echo "${line#'    colander> '}" >>"$work/typed" ;;
        '          ... '*) echo "${line#'          ... '}" >>"$work/typed" ;;
        '    '*)
            if [ -z "$document" ]; then
                echo "${line#    }" >>"$work/shown"
            else
                command+=$'\n'${line#    }
                [ "$line" != '    END' ] || document=
            fi
            ;;
        *) # the end of a block
            [ -z "$command" ] || check_command "$2" "$command"
            [ ! -s "$work/typed" ] || check_typed "$2"
            command=
            : >"$work/shown"
            : >"$work/typed"
            ;;
        esac
    done <"$docs/$1"
    [ "$count" -ge "$3" ] || complain "only $count examples are shown in $1"
}

check_page shell.md without_work 15
check_page queries.md without_work 9
check_page safe_scripts.md cat 2
check_page cookbook.md without_work 15
check_page export.md without_time 3
check_page groups.md without_work 9
check_page loading.md without_speed 30
check_page changing.md cat 8
check_page retention.md without_speed 11
check_page queries.md without_speed 12
check_page schemas.md without_speed 8
check_page columns_later.md without_speed 8
if has_server; then
    serve demo
    check_page serve.md cat 6
    stop
fi
has_filters && check_page filters.md without_figures 5
has_filters && check_page stats.md without_figures 2
has_filters && check_page backups.md without_figures 9
finish
