#!/bin/bash
# Nodes whose server of objects answers nothing for a while: they go on with the
# log, take over from those that are lost, and end soon.
#
# SPDX-License-Identifier: MIT
source "$COLANDER_SOURCE/tests/cluster/lib"
cluster=s3://bucket/c
source "$COLANDER_SOURCE/tests/node/nodes_lib"

load() { # FROM UNTIL
    seq "$1" "$2" | sed 's/.*/{"id":&,"text":"row &"}/' >"$work/rows"
    run 0 load "kafka://$brokers/c.rows" "$work/rows" --key id \
        --place "$work/place"
}

start_server
create_cluster
create_family rows 6 --replicas 2 --key id
load 1 500
for i in 1 2 3; do start_node "$i"; done
for i in 1 2 3; do await "$i" 500; done
kill -STOP "$server"
sleep 11 # until they look for families, and wait for the answer
kill -9 "${nodes[1]}"
load 501 700
for i in 2 3; do await "$i" 700; done
# a family may have another topic since
run 1 find "$(node 3)" rows --count --fresh --timeout 1s
says_some 'definitions of families could not be read for 11 seconds: not fresh in time$'
kill "${nodes[2]}"
for ((tries = 0; tries < 900; tries++)); do
    kill -0 "${nodes[2]}" 2>/dev/null || break
    sleep 0.1
done
! kill -0 "${nodes[2]}" 2>/dev/null || complain 'a node does not end'
kill -CONT "$server"
await 3 700
run 0 find "$(node 3)" rows --count --fresh
prints 700
finish
