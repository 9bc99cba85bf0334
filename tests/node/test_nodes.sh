#!/bin/bash
# Nodes of a cluster: each answers for all of them, exactly what one store with
# the same records has; nodes are killed, lost and added, and nothing else is.
#
# SPDX-License-Identifier: MIT
source "$COLANDER_SOURCE/tests/node/nodes_lib"

create_cluster
create_family rows 6 --replicas 2 --key id
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
for i in 1 2 3; do same "$(node "$i")"; done
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
# that have a key: one is asked for it
for ((tries = 0; tries < 50; tries++)); do # until all have said where theirs are
    ask 1 find rows --prefix 17 --explain
    ! grep -q 'cannot have the key' "$work/err" || break
    sleep 0.1
done
says_some '^partitions  *6: 5 cannot have the key, 1 read$'
ask 1 find rows --prefix 17
prints_some '"_key":17,'
ask 1 stats rows
prints_some '^rows  *about 5[0-9][0-9]$'
prints_some '^filters  *of several stores'
prints_some '^ *city '
ask 1 stats --json
prints_some '"_key":"rows"'
run 2 serve "$store" --name n1
says_some 'they need --dir$'
for place in "$(node 1)" "$work/node1"; do
    run 1 put "$place" rows '{"_key":1}'
    says "colander: put: nodes only read: 'colander load CLUSTER FAMILY' sends \
rows to a cluster, or with --op changes to them"
    run 1 backup "$place" "$work/copy"
    says_some "^colander: backup: nodes make the backups of a cluster, "
done

# --- a node is killed: the others still have all, and more comes
# those that it was asked for first are read where else they are, at once
kill_node 2
for i in 1 3; do same "$(node "$i")"; done
for ((tries = 0; tries < 20; tries++)); do
    for i in 1 3; do run 0 find "$(node "$i")" rows --count; done
done
load 500 800
await 1 800
await 3 800
same "$(node 1)"
same "$(node 3)"

# --- it comes back without its directory, and another one is new
rm -rf "$work/node2"
start_node 2
start_node 4
load 800 900
for i in 1 2 3 4; do await "$i" 900; done
for i in 2 4; do same "$(node "$i")"; done

# --- the directory of a node that runs is as good as its address
run 0 find "$work/node1" rows --count
prints 900
run 0 shell "$work/node3" -e 'print(#db:families())'

# --- all are ended in order, and lose their directories
for i in 1 2 3 4; do kill_node "$i" -TERM; done
rm -rf "$work"/node?
start_node 1
await 1 900
same "$(node 1)"
kill_node 1 -TERM
