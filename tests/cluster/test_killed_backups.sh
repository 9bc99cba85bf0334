#!/bin/bash
# Backups whose program or server is killed: each is there as a whole, or not.
# COLANDER_RUNS says how many are killed, COLANDER_SEED repeats a run.
#
# SPDX-License-Identifier: MIT
source "$(dirname "$0")/lib"

mkdir "$work/objects"
start_server --directory "$work/objects" --pages 5
export AWS_MAX_ATTEMPTS=4
runs=${COLANDER_RUNS:-6}
seed=${COLANDER_SEED:-$RANDOM$RANDOM}
RANDOM=$((seed % 32768))
whole=0

# check_all ADDRESS: each backup is whole, and the newest has the rows of some
# moment.
check_all() {
    local count
    run 0 backups "$1"
    count=$(wc -l <"$work/out")
    [ "$count" -ge "$whole" ] || complain "$count backups, and $whole were made"
    whole=$count
    [ "$count" -gt 0 ] || return 0
    run 0 check "$1"
    restores "$1" >"$work/got"
    # the rows are numbered from 1 on
    [ "$(wc -l <"$work/got")" -le "$rows" ] &&
        jot=$(grep -c '"text":"row ' "$work/got") &&
        [ "$jot" = "$(wc -l <"$work/got")" ] &&
        [ $((jot % 500)) = 0 ] || complain "it has $(wc -l <"$work/got") rows"
}

for address in "file://$work/directory" s3://bucket/prefix; do
    rm -rf "$store"
    rows=0
    whole=0
    for ((i = 0; i < runs; i++)); do
        load $((rows + 1)) $((rows + 500))
        rows=$((rows + 500))
        "$COLANDER" backup "$store" "$address" >"$work/out" 2>"$work/err" &
        pid=$!
        sleep "0.$(printf %03d $((RANDOM % 120)))"
        if [[ $address == s3:* && $((i % 2)) = 1 ]]; then
            stop_server
            sleep "0.$(printf %03d $((RANDOM % 300)))"
            start_server --directory "$work/objects" --pages 5
        else
            kill -9 "$pid" 2>/dev/null
        fi
        status=0
        wait "$pid" 2>/dev/null || status=$?
        case $status in
        0 | 4 | 137) ;;
        *) complain "a backup exits $status: $(cat "$work/err")" ;;
        esac
        [ "$status" != 0 ] || whole=$((whole + 1))
        check_all "$address"
    done
    # The next one is undisturbed, and has everything.
    run 0 backup "$store" "$address" --keep 1
    restores "$address" >"$work/got"
    rows "$store" | cmp -s - "$work/got" || complain 'it has other rows'
done
[ "$failures" = 0 ] || echo "COLANDER_SEED=$seed" >&2
finish
