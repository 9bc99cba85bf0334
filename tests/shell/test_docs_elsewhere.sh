#!/bin/bash
# Each command that a page of docs/ or the README shows prints the same, and has
# the same status, whether its store is closed, held by a server, or behind an
# address. The commands of a page run one after the other, also those that fail
# here because the store of the page is not there. script/soak does all
# of it; otherwise a page is compared with one of the two, by turns.
#
# SPDX-License-Identifier: MIT
source "$(dirname "$0")/lib"
make_demo
has_server || finish
root=$(cd "$(dirname "$0")/../.." && pwd)
cd "$work" || exit 1
export COLANDER_TOKEN_FILE=$work/token

# So few rows that statistics are of all of them, and not of a sample, which
# depends on files.
for family in tweets sensors; do
    run 0 export demo "$family" --limit 5000 --output "$family.jsonl"
done
rm -r demo
for family in tweets sensors; do
    run 0 load demo "$family" "$family.jsonl"
done
printf '%s\n' 0123456789abcdef0123456789abcdef >token
chmod 600 token

# Commands that a server runs; others need the store for themselves.
served='find|get|export|group|families|columns|stats|load|put|update|delete'
served+='|retain|copy|rename|drop|check|refilter|shell'

# Not run: what does not end by itself, or has nothing to do with a store here.
unused='colander (serve|demo|completion|help|cluster)|--follow|--(no-)?share|shell .*--(safe|readonly)'
unused+='|os\.exit'
unused+='|(s3|https?|kafka)://|kcat|curl|journalctl|mosquitto|[^a-z]ssh '

declare -A servers urls # of the stores of the current folder

release() { # ends all servers
    local store

    for store in "${!servers[@]}"; do
        kill "${servers[$store]}"
        wait "${servers[$store]}" || complain "the server of $store exits $?"
    done
    servers=() urls=()
}
trap 'kill -9 "${servers[@]}" 2>/dev/null; rm -rf "$work"
      [ "$failures" = 0 ] || exit 1' EXIT

hold() { # starts a server for each store that has none
    local store

    for store in */COLANDER; do
        store=${store%/*}
        [ -e "$store/COLANDER" ] && [ -z "${servers[$store]-}" ] || continue
        serve "$store" --shell --listen 127.0.0.1:0 --token-file "$work/token"
        servers[$store]=$server
        urls[$store]=$url
        server=
    done
}

# What a page calls, in one of three modes.
# shellcheck disable=SC2317
colander() {
    if [ "$mode" = addressed ] && [ -n "${urls[${2-}]-}" ] &&
        [[ $1 =~ ^($served)$ ]]; then
        "$COLANDER" "$1" "${urls[$2]}" "${@:3}"
    else
        "$COLANDER" "$@"
    fi
}

# Times, generated keys and addresses differ; sizes do if files are compacted.
usual() { # COMMAND
    local store expressions=()

    for store in "${!urls[@]}"; do
        expressions+=(-e "s|${urls[$store]}|$store|g")
    done
    sed -E "${expressions[@]}" -e '/^(time|files|store) /d' \
        -e '/^(filters|locator|words|order|dictionary) .*%/s/[0-9.]+ %/N %/' \
        -e '/^where /s/ in [0-9.]+ .*//' -e 's/ in [0-9.]+ (s|ms)\b.*/ in N/' \
        -e 's/\([0-9.,]+ [kMG]?B\/s\)//' \
        -e 's/01[0-9A-HJKMNP-TV-Z]{24}/KEY/g' |
        if [[ $1 =~ colander\ (families|stats|backup|check|refilter|restore) ]]; then
            sed -E -e 's/[0-9][0-9,.]*/N/g' -e 's/[ -]+/ /g' \
                -e 's/\b(file|filter|row|value)s\b/\1/g'
        else
            cat
        fi
}

# Runs a command, and appends what it printed.
try() { # COMMAND
    local status=0

    local held=$served

    [ "$mode" = addressed ] || held+='|backup' # to a directory of the client
    if [ "$mode" = closed ] ||
        grep -Eq "colander " <<<"$(sed -E "s/colander ($held) //g" <<<"$1")"; then
        release
    else
        hold
    fi
    (eval "$1") >"$work/out" 2>"$work/err" </dev/null || status=$?
    {
        printf '$ %s\n' "$1"
        usual "$1" <"$work/out"
        printf 'says:\n'
        usual "$1" <"$work/err"
        printf 'status %s\n' "$status"
    } >>"$work/$mode.said"
    [[ $1 != *colander* ]] || count=$((count + 1))
}

# The commands of a page, each ended by a byte 1. An input after <<'END' is
# part of one.
commands_of() { # PAGE
    awk -v ORS='\001' '
        command != "" && is_input {
            command = command "\n" substr($0, 5)
            if ($0 == "    END") { print command; command = "" }
            next
        }
        /^    (\$ |colander )/ {
            command = $0
            sub(/^    (\$ )?/, "", command)
            is_input = command ~ /<<.END.$/
            if (!is_input) { print command; command = "" }
        }' "$1"
}

total=0
ways=(held addressed)
turn=$((${COLANDER_SEED:-$RANDOM} % 2))
echo "turn $turn" # COLANDER_SEED repeats it
for page in "$root"/docs/*.md "$root/README.md"; do
    count=0
    turn=$((1 - turn))
    modes=("${ways[turn]}")
    [ -z "${COLANDER_RUNS-}" ] || modes=("${ways[@]}")
    for mode in closed "${modes[@]}"; do
        mkdir "$mode"
        cd "$mode" || exit 1
        cp -a "$work/demo" demo
        : >"$work/$mode.said"
        while IFS= read -r -d $'\001' command; do
            ! grep -Eq "$unused" <<<"$command" || continue
            # a line that goes on, or shows a pattern such as STORE
            [[ $command != *\\ && $command != *...* ]] || continue
            try "$command"
        done < <(commands_of "$page")
        release
        cd .. || exit 1
        rm -r "$mode"
    done
    for mode in "${modes[@]}"; do
        diff closed.said "$mode.said" >differences ||
            complain "${page##*/}, $mode: $(head -30 differences)"
    done
    total=$((total + count / (1 + ${#modes[@]})))
done
[ "$total" -ge 100 ] || complain "only $total commands are found"
finish
