#!/bin/bash
# Nodes whose server of objects answers nothing for a while: they go on with the
# log, take over from those that are lost, and end soon.
#
# SPDX-License-Identifier: MIT
source "$COLANDER_SOURCE/tests/cluster/lib"
source "$COLANDER_SOURCE/tests/cluster/kafka_lib"

nodes=() # their processes
base=$((32000 + $$ % 70 * 10))
end_all() {
    local pid
    for pid in "$server" "$mock_pid" "${nodes[@]}"; do
        kill -9 "$pid" 2>/dev/null
    done
    rm -rf "$work"
    [ "$failures" = 0 ] || exit 1
}
trap end_all EXIT
head -c 32 /dev/urandom | od -An -tx1 | tr -d ' \n' >"$work/token"
chmod 600 "$work/token"
export COLANDER_TOKEN_FILE=$work/token

start_node() {
    "$COLANDER" serve s3://bucket/c --dir "$work/node$1" --name "n$1" \
        --listen "127.0.0.1:$((base + $1))" --token-file "$work/token" \
        --lost-after 4s >"$work/out$1" 2>>"$work/err$1" &
    nodes[$1]=$!
}

# await NUMBER COUNT: until a node has so many rows.
await() {
    local tries count=
    for ((tries = 0; tries < 600; tries++)); do
        count=$(timeout 20 "$COLANDER" find "http://127.0.0.1:$((base + $1))" \
            rows --count 2>"$work/why")
        [ "$count" != "$2" ] || return 0
        sleep 0.1
    done
    complain "node $1 has '$count' rows, not $2: $(cat "$work/why") $(tail -n 5 "$work/err$1")"
}

load() { # FROM UNTIL
    seq "$1" "$2" | sed 's/.*/{"id":&,"text":"row &"}/' >"$work/rows"
    run 0 load "kafka://$brokers/c.rows" "$work/rows" --key id \
        --place "$work/place"
}

start_server
start_brokers 3
brokers topic c-members 1
brokers topic c.rows 6
run 0 cluster create s3://bucket/c --log "kafka://$brokers" --name c \
    --topic c-members
run 0 cluster family s3://bucket/c rows --partitions 6 --replicas 2 --key id \
    --topic c.rows
load 1 500
for i in 1 2 3; do start_node "$i"; done
for i in 1 2 3; do await "$i" 500; done
kill -STOP "$server"
sleep 11 # until they look for families, and wait for the answer
kill -9 "${nodes[1]}"
load 501 700
for i in 2 3; do await "$i" 700; done
kill "${nodes[2]}"
for ((tries = 0; tries < 900; tries++)); do
    kill -0 "${nodes[2]}" 2>/dev/null || break
    sleep 0.1
done
! kill -0 "${nodes[2]}" 2>/dev/null || complain 'a node does not end'
kill -CONT "$server"
await 3 700
finish
