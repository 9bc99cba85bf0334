#!/bin/bash
# Nodes of a cluster: each answers for all of them, exactly what one store with
# the same records has; nodes are killed, lost and added, and nothing else is.
#
# SPDX-License-Identifier: MIT
source "$COLANDER_SOURCE/tests/cluster/kafka_lib"

cluster=file://$work/objects
nodes=() # their processes
base=$((29000 + $$ % 3000))
trap '[ -z "$mock_pid" ] || kill -9 "$mock_pid"
    for pid in "${nodes[@]}" "${kafka_pids[@]}"; do kill -9 "$pid"; done 2>/dev/null
    rm -rf "$work"; [ "$failures" = 0 ] || exit 1' EXIT
head -c 32 /dev/urandom | od -An -tx1 | tr -d ' \n' >"$work/token"
chmod 600 "$work/token"
export COLANDER_TOKEN_FILE=$work/token

start_node() {
    "$COLANDER" serve "$cluster" --dir "$work/node$1" --name "n$1" \
        --listen "127.0.0.1:$((base + $1))" --token-file "$work/token" \
        --lost-after 4s \
        >"$work/out$1" 2>>"$work/err$1" &
    nodes[$1]=$!
}

node() {
    echo "http://127.0.0.1:$((base + $1))"
}

# kill_node NUMBER [SIGNAL]
kill_node() {
    kill "${2:--KILL}" "${nodes[$1]}"
    wait "${nodes[$1]}" 2>/dev/null
    unset "nodes[$1]"
}

# ask NUMBER WORD...: what a node answers.
ask() {
    run 0 "$2" "$(node "$1")" "${@:3}"
}

# await NUMBER COUNT: until a node has so many rows.
await() {
    local tries count=
    for ((tries = 0; tries < 600; tries++)); do
        count=$("$COLANDER" find "$(node "$1")" rows --count 2>"$work/why")
        [ "$count" != "$2" ] || return 0
        sleep 0.1
    done
    complain "node $1 has '$count' rows, not $2: $(cat "$work/why") $(tail -n 5 "$work/err$1")"
}

# same NUMBER: a node answers as the store does that follows the same topic.
same() {
    local words options
    while read -r words; do
        options=${words#"${words%% *}"}
        eval "run 0 ${words%% *} '$store' rows $options"
        cp "$work/out" "$work/wanted"
        eval "run 0 ${words%% *} '$(node "$1")' rows $options"
        cmp -s "$work/out" "$work/wanted" || complain "node $1: '$words' \
prints '$(head -c 300 "$work/out")', not '$(head -c 300 "$work/wanted")'"
    done <<'END'
find
find --reverse --limit 7
find city=city-3
find --any city-5 --limit 20
find 'n>100' 'n<130' --order n:desc --limit 5
find 'text~"word 7"'
find city=nowhere
find --count
find --order n --limit 10 --select n,city
get 17
group --by city --sum n
group --min n --max n --count
export
columns
END
}

rows() { # FROM UNTIL: rows with these numbers
    local i
    for ((i = $1; i < $2; i++)); do
        echo "{\"id\":$i,\"n\":$((i * 7 % 1000)),\"city\":\"city-$((i % 11))\",\
\"text\":\"word $((i % 13)) and more\"}"
    done
}

start_brokers 3
brokers topic c-members 1
run 0 cluster create "$cluster" --log "kafka://$brokers" --name c \
    --topic c-members
brokers topic c.rows 6
run 0 cluster family "$cluster" rows --partitions 6 --replicas 2 --key id \
    --topic c.rows
load() { # FROM UNTIL
    rows "$1" "$2" >"$work/rows"
    run 0 load "kafka://$brokers/c.rows" "$work/rows" --key id \
        --place "$work/place"
    run 0 follow "$store" rows "kafka://$brokers/c.rows" --key id --once
}

# --- three nodes: each answers for all
load 0 500
for i in 1 2 3; do start_node "$i"; done
for i in 1 2 3; do await "$i" 500; done
for i in 1 2 3; do same "$i"; done
# none has all partitions, and all have some
for i in 1 2 3; do
    for ((tries = 0; tries < 900; tries++)); do # until others have taken over
        count=$(find "$work/node$i/rows" -mindepth 1 -maxdepth 1 -name '00??' | wc -l)
        { [ "$count" -lt 1 ] || [ "$count" -gt 5 ]; } || break
        sleep 0.1
    done
    { [ "$count" -ge 1 ] && [ "$count" -lt 6 ]; } ||
        complain "node $i has $count partitions"
done
# each partition is at two of them: then others have taken over
for ((tries = 0; tries < 300; tries++)); do
    count=$(find "$work"/node?/rows -mindepth 1 -maxdepth 1 -name '00??' | wc -l)
    [ "$count" != 12 ] || break
    sleep 0.1
done
ask 1 find rows --count --explain
says_some '^partitions  *6: 6 read$'
says_some '^nodes  *[12] asked$'
ask 1 stats rows
prints_some '^rows  *about 5[0-9][0-9]$'
prints_some '^filters  *of several stores'
prints_some '^ *city '
ask 1 stats --json
prints_some '"_key":"rows"'
run 2 serve "$store" --name n1
says_some 'they need --dir$'
run 1 put "$(node 1)" rows '{"_key":1}'

# --- a node is killed: the others still have all, and more comes
# those that it was asked for first are read where else they are, at once
kill_node 2
for i in 1 3; do same "$i"; done
for ((tries = 0; tries < 20; tries++)); do
    for i in 1 3; do run 0 find "$(node "$i")" rows --count; done
done
load 500 800
await 1 800
await 3 800
same 1
same 3

# --- it comes back without its directory, and another one is new
rm -rf "$work/node2"
start_node 2
start_node 4
load 800 900
for i in 1 2 3 4; do await "$i" 900; done
for i in 2 4; do same "$i"; done

# --- all are ended in order, and lose their directories
for i in 1 2 3 4; do kill_node "$i" -TERM; done
rm -rf "$work"/node?
start_node 1
await 1 900
same 1
kill_node 1 -TERM
