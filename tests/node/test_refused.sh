#!/bin/bash
# What is sent to a family's topic, and would be lost, is refused before: a topic
# with other partitions, keys that are in several of them, and two that give
# it other partitions at once.
#
# SPDX-License-Identifier: MIT
source "$COLANDER_SOURCE/tests/node/nodes_lib"

unset KAFKA_JARS

definitions() { # FAMILY
    find "$work/objects/families" -name "$1-*.json" | wc -l
}

create_cluster
create_family rows 2 --replicas 1 --key id
create_family twice 2 --replicas 1

# --- keys that are in several partitions
brokers many c.twice 0 0 3 10
brokers many c.twice 1 2 3 10
brokers topic wide 3
run 2 cluster repartition "$cluster" twice --partitions 3 --topic wide \
    --dir "$work/scratch"
says_some 'key 2 has rows in several partitions, of which one would be left: '
[ "$(definitions twice)" = 1 ] || complain 'it is defined again'

# --- two at once: the records of one would be among those of the other
rows 0 300 >"$work/rows"
run 0 load "$cluster" rows "$work/rows" --place "$work/place"
brokers topic both 3
brokers error produce 7 100000
for i in 1 2; do
    "$COLANDER" cluster repartition "$cluster" rows --partitions 3 --topic both \
        --dir "$work/scratch$i" >"$work/out$i" 2>"$work/err$i" &
    made[$i]=$!
done
sleep 8 # until both send
brokers accept produce
last='cluster repartition'
succeeded=0
for i in 1 2; do
    if wait "${made[$i]}"; then
        succeeded=$((succeeded + 1))
    else
        grep -qE 'another process|is there already|must be new' \
            "$work/err$i" || complain "$(cat "$work/err$i")"
    fi
done
[ "$(definitions rows)" = $((1 + succeeded)) ] && [ "$succeeded" -lt 2 ] ||
    complain "$succeeded succeed, $(definitions rows) definitions"
cat "$work/err1" "$work/err2" >"$work/err"
says_some "topic 'both' has 600 records in 3 partitions, not 300 in 3: another process makes it at the same time"

# --- a topic with other partitions than the family
stop_brokers
start_brokers 3
sed -i -E "s#kafka://[^\"]*#kafka://$brokers#" "$work/objects/cluster.json"
brokers topic c-members 1
brokers topic c.twice 3
run 2 load "$cluster" twice "$work/rows" --place "$work/place2"
says_some "topic 'c.twice' has 3 partitions, and family 'twice' is defined with 2, which nodes read: make it"
run 0 follow "$store" rows "kafka://$brokers/c.twice" --once --key id
run 0 find "$store" rows --count
prints 0
finish
