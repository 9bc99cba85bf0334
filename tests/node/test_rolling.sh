#!/bin/bash
# Nodes are restarted one after the other, as docs/cluster.md says, while rows
# are loaded and read: a client that asks another node once more never sees an
# error, each answer is right, and nothing is lost.
#
# COLANDER_RUNS says how many times all of them are restarted (1).
#
# SPDX-License-Identifier: MIT
source "$COLANDER_SOURCE/tests/node/nodes_lib"

create_cluster
create_family rows 6 --replicas 2 --key id

# await_status NUMBER: until nothing is missing that a node knows of.
await_status() {
    local tries
    for ((tries = 0; tries < 900; tries++)); do
        ! "$COLANDER" cluster status "$(node $1)" >"$work/status" 2>&1 || return 0
        sleep 0.1
    done
    complain "after a minute and a half: $(cat "$work/status")"
}

# load_rows: 25 at a time, until the end; $work/sent has how many.
load_rows() {
    local count=0
    while [ ! -e "$work/end" ]; do
        rows $count $((count + 25)) >"$work/new"
        "$COLANDER" load "$cluster" rows "$work/new" --place "$work/place" \
            >"$work/load" 2>&1 || echo "load: $(cat "$work/load")" >>"$work/errors"
        count=$((count + 25))
        echo $count >"$work/sent.new"
        mv "$work/sent.new" "$work/sent"
    done
}

# check_rows: prints those that were not sent so, or are not in order.
check_rows() {
    awk -F '[:,]' '{
        row = sprintf("{\"_key\":%d,\"id\":%d,\"n\":%d,\"city\":\"city-%d\"," \
            "\"text\":\"word %d and more\"}", $2, $2, $2 * 7 % 1000, $2 % 11, $2 % 13)
        if ($0 != row || NR > 1 && $2 <= last)
            print
        last = $2
    }'
}

# read_rows: asks a node for all rows, and if it fails once more another one,
# until the end.
read_rows() {
    local node
    while [ ! -e "$work/end" ]; do
        node=$((RANDOM % 3 + 1))
        if ! "$COLANDER" export "$(node $node)" rows >"$work/read" 2>"$work/why"; then
            echo "n$node: $(cat "$work/why")" >>"$work/again"
            node=$((node % 3 + 1))
            "$COLANDER" export "$(node $node)" rows >"$work/read" 2>"$work/why" ||
                echo "then n$node: $(cat "$work/why")" >>"$work/errors"
        fi
        check_rows <"$work/read" >"$work/strange"
        [ ! -s "$work/strange" ] ||
            echo "n$node: $(head -n 3 "$work/strange")" >>"$work/errors"
        echo >>"$work/answers"
    done
}

for i in 1 2 3; do start_node $i; done
rows 0 25 >"$work/rows"
run 0 load "$cluster" rows "$work/rows"
for i in 1 2 3; do await_status $i; done
for i in 1 2 3; do await $i 25; done
load_rows &
loader=$!
read_rows &
reader=$!
for ((run = 0; run < ${COLANDER_RUNS:-1}; run++)); do
    for i in 1 2 3; do
        kill_node $i -TERM
        start_node $i
        await_status $i
    done
done
: >"$work/end"
wait $loader $reader
[ ! -s "$work/errors" ] ||
    complain "$(head -n 20 "$work/errors")
after $(tail -n 20 "$work/again")"
sent=$(cat "$work/sent")
for i in 1 2 3; do
    ask $i find rows --fresh --count
    prints "$sent"
done
ask 1 export rows
[ -z "$(check_rows <"$work/out")" ] || complain 'rows are not those that were sent'
echo "$sent rows, $(wc -l <"$work/answers") answers, of which the second node gave \
$(cat "$work/again" 2>"$work/hello" | wc -l)"
[ "$(wc -l <"$work/answers")" -gt 10 ] || complain 'it was hardly read'
finish
