#!/bin/bash
# Many nodes of a cluster with many partitions, as one process each: each answers
# as one store that has followed the same topic, also after some were killed, or
# with an error.
# Takes long, and runs only if $COLANDER_NODES says how many there are, each of
# which has about eight partitions.
#
# SPDX-License-Identifier: MIT
source "$COLANDER_SOURCE/tests/node/nodes_lib"

count=${COLANDER_NODES:-0}
if [ "$count" -lt 2 ]; then
    echo 'skipped: $COLANDER_NODES does not say how many nodes'
    exit 77
fi
partitions=$((8 * count))
rows=$((500 * partitions)) # 128,000 with 32 nodes
lost_after=20s
base=$((10000 + $$ % 9000))

# await NUMBER COUNT: until a node has COUNT rows.
await() {
    local tries count=
    for ((tries = 0; tries < 300; tries++)); do
        count=$("$COLANDER" find "$(node "$1")" rows --count 2>"$work/why")
        [ "$count" != "$2" ] || return 0
        sleep 1
    done
    complain "node $1 has '$count' rows, not $2: $(cat "$work/why") $(tail -n 5 "$work/err$1")"
}

# ask WORD...: the program, again if no node had a partition for a moment, as all
# share a machine that may be busy.
ask() {
    local tries
    for ((tries = 0; tries < 60; tries++)); do
        ! "$COLANDER" "$@" >"$work/out" 2>"$work/why" </dev/null || return 0
        grep -qE 'no node has partition|node http' "$work/why" || break
        sleep 1
    done
    complain "'$*' fails: $(cat "$work/why")"
}

# same NUMBER: a node answers as the store does that follows the same topic.
same() {
    local words
    while read -r words; do
        eval "run 0 ${words%% *} '$store' rows ${words#* }"
        cp "$work/out" "$work/wanted"
        eval "ask ${words%% *} '$(node "$1")' rows ${words#* }"
        cmp -s "$work/out" "$work/wanted" || complain "node $1: '$words' \
prints '$(head -c 300 "$work/out")', not '$(head -c 300 "$work/wanted")'"
    done <<'END'
find city=city-3 --limit 500
find --reverse --limit 7
find --any city-5 --limit 20
find 'n>100' 'n<130' --order n:desc --limit 5
find city=nowhere
get 17
group --by city --sum n --min n --max n --count
find --order n --limit 1000 --select n
END
}

# same_rows NUMBER: all of them.
same_rows() {
    run 0 export "$store" rows
    cp "$work/out" "$work/wanted"
    ask export "$(node "$1")" rows
    cmp -s "$work/out" "$work/wanted" || complain "node $1 has other rows"
}

# load FROM UNTIL: rows with these numbers, into the log and the store.
load() {
    seq "$1" "$(($2 - 1))" | awk '{
        printf "{\"id\":%d,\"n\":%d,\"city\":\"city-%d\"}\n", $1, $1 * 7 % 1000, $1 % 1009
    }' >"$work/rows"
    run 0 load "kafka://$brokers/c.rows" "$work/rows" --key id
    run 0 follow "$store" rows "kafka://$brokers/c.rows" --key id --once
}

create_cluster
create_family rows "$partitions" --replicas 1 --key id
for ((i = 1; i <= count; i++)); do start_node "$i"; done
load 0 "$rows"
for ((i = 1; i <= count; i++)); do
    await "$i" "$rows"
    same "$i"
done
same_rows 1

# --- an eighth of them is killed; one comes back with nothing
for ((i = 2; i <= count; i += 8)); do
    kill_node "$i"
done
load "$rows" "$((rows + partitions))"
rm -rf "$work/node2"
start_node 2
await 1 "$((rows + partitions))"
await 2 "$((rows + partitions))"
same 1
same 2
same "$count"
same_rows "$count"
