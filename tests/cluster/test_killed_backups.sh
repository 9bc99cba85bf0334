#!/bin/bash
# Backups whose program or server is killed: each is there as a whole, or not.
# COLANDER_RUNS says how many are killed at each address, COLANDER_SEED repeats a
# run. With $S3_SERVER only a bucket of that server is an address.
#
# SPDX-License-Identifier: MIT
source "$(dirname "$0")/lib"

mkdir "$work/objects"
start_server --directory "$work/objects" --pages 5
export AWS_MAX_ATTEMPTS=4
runs=${COLANDER_RUNS:-6}
seed=${COLANDER_SEED:-$RANDOM$RANDOM}
RANDOM=$((seed % 32768))
server_kills=0
ends=() # how many ended with each status

# check_all ADDRESS: each backup is whole, none that was reported is missing, and
# the newest has the rows of some moment.
check_all() {
    local last found
    run 0 backups "$1"
    last=$((10#0$(tail -n 1 "$work/out" | cut -c 1-6)))
    [ "$last" -ge "$whole" ] || complain "$last backups, and $whole were made"
    whole=$last
    [ "$last" -gt 0 ] || return 0
    run 0 check "$1"
    restores "$1" >"$work/got"
    found=$(grep -c '"text":"row ' "$work/got")
    [ "$found" = "$(wc -l <"$work/got")" ] && [ "$found" -le "$rows" ] &&
        [ $((found % 500)) = 0 ] || complain "it has $found rows"
}

# pause MILLISECONDS: sleeps for a part of that.
pause() {
    local most=$(($1 < 1 ? 1 : $1 > 9999 ? 9999 : $1))
    local now=$((RANDOM % most))
    sleep "$((now / 1000)).$(printf %03d $((now % 1000)))"
}

addresses=(s3://bucket/prefix)
[ -n "${S3_SERVER:-}" ] || addresses+=("file://$work/directory")
for address in "${addresses[@]}"; do
    rm -rf "$store"
    load 1 500
    rows=500
    whole=1
    took=$(date +%s%N) # nanoseconds of a backup that no one disturbs
    run 0 backup "$store" "$address"
    took=$(($(date +%s%N) - took))
    for ((i = 0; i < runs; i++)); do
        load $((rows + 1)) $((rows + 500))
        rows=$((rows + 500))
        # what no backup has may be removed, and so may makers that were killed
        if [ -d "$work/directory" ] && [ $((RANDOM % 2)) = 0 ]; then
            find "$work/directory" -type f -exec touch -d '25 hours ago' {} +
        fi
        "$COLANDER" backup "$store" "$address" --keep 3 \
            >"$work/out" 2>"$work/err" &
        pid=$!
        pause $((2 * took / 1000000))
        if [[ $address == s3:* && $((i % 2)) = 1 ]]; then
            stop_server
            server_kills=$((server_kills + 1))
            pause 300
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
        ends[status]=$((${ends[status]:-0} + 1))
        check_all "$address"
    done
    # The next one is undisturbed, and has everything.
    run 0 backup "$store" "$address" --keep 1
    restores "$address" >"$work/got"
    rows "$store" | cmp -s - "$work/got" || complain 'it has other rows'
done
echo "exit 0: ${ends[0]:-0}, 4: ${ends[4]:-0}, killed: ${ends[137]:-0}, \
servers killed: $server_kills"
[ "$failures" = 0 ] || echo "COLANDER_SEED=$seed" >&2
finish
