#!/bin/bash
# The status of a cluster: which nodes are alive, where each partition is, what
# is missing, and what to do. Nodes come, go, have one name, and stop.
#
# SPDX-License-Identifier: MIT
source "$COLANDER_SOURCE/tests/node/nodes_lib"

lost_after=5s

ask() { # NUMBER PATH: what the server of a node answers
    curl -sS -H "Authorization: Bearer $(cat "$work/token")" "$(node "$1")$2"
}

# await STATUS TEXT [ADDRESS [OPTION...]]: until the status has a line like it.
await() {
    local tries
    for ((tries = 0; tries < 60; tries++)); do
        "$COLANDER" cluster status "${3:-$cluster}" "${@:4}" \
            >"$work/out" 2>"$work/err"
        [ $? != "$1" ] || ! grep -Eq -- "$2" "$work/out" || return 0
        sleep 0.1
    done
    complain "the status has nothing like '$2': $(cat "$work/out" "$work/err")"
}

create_cluster
create_family rows 2 --replicas 2 --key id
run 1 cluster status "$cluster"
prints_some '^nodes +none alive$'
prints_some '^missing +no node is alive.*: start one with colander serve'

# --- both nodes have both partitions
start_node 1 --checkpoint 1s
await 1 '^missing +family rows is to have 2 replicas, and 1 node is alive: start more$'
start_node 2 --checkpoint 1s
for ((i = 0; i < 100; i++)); do echo "{\"id\":$i}"; done >"$work/rows"
run 0 load "kafka://$brokers/c.rows" "$work/rows" --key id
await 0 '; checkpoint at [1-9][0-9]* of 2'
! grep -q '^missing' "$work/out" || complain "$(cat "$work/out")"
prints_some '^nodes +2 alive$'
prints_some "^  node +n1 at $(node 1), version [0-9.]+, 2 partitions, heard [0-9.]+ m?s ago$"
counts=$(sed -nE 's/^  000[01] +n[12] at ([0-9]+), n[12] at \1; checkpoint at .*offsets 0 to \1$/\1/p' "$work/out")
[ "$(($(echo "$counts" | paste -sd+)))" = 100 ] || complain "$(cat "$work/out")"
number=$(echo "$counts" | head -n 1)
run 0 cluster status "$cluster" --json
prints_some '^\{"cluster":"c",.*"nodes":\[\{"node":"n1","address":"http://127.*,"version":"[0-9.]+","age_ms":[0-9]+,"partitions":2\},\{"node":"n2",'
place="\"owner\":true,\"up_to_date\":true,\"phase\":\"following\",\"applied\":$number,\"lag\":0,\"checkpoint\":[0-9]+,\"checkpoint_made\":\"2[^\"]+\""
prints_some "\"partition\":0,\"checkpoint\":\{\"number\":[0-9]+,\"offset\":[0-9]+,.*\"high\":$number,\"nodes\":\[\{\"node\":\"n[12]\",$place\},\{\"node\":\"n[12]\",$place\}\]\},\{\"partition\":1,"
prints_some '^\{"missing":\[\]\}$'

# --- any node shows the same, and has it as JSON and as metrics
run 0 cluster status "$(node 2)"
prints_some '^nodes +2 alive$'
prints_some "^  0000 +n[12] at $number, n[12] at $number; checkpoint at "
run 2 cluster status "$(node 2)" --settings /etc/hostname
says_some '--set and --settings are those of the node$'
run 2 cluster family "$(node 2)" rows
says_some "a node only shows the status: 'cluster family' needs the address of"
ask 2 /nodes >"$work/out"
prints_some '^\{"cluster":"c","node":"n2","settled":true,"nodes":\[\{"node":"n1",'
prints_some "\"families\":\[\{\"family\":\"rows\",\"topic\":\"c.rows\",\"replicas\":2,\"partitions\":\[\{\"partition\":0,\"nodes\":\[\{\"node\":\"n[12]\",$place\}"
prints_some '\],"missing":\[\]\}$'
ask 1 /metrics >"$work/out"
if [ -n "$(type -P promtool)" ]; then
    promtool check metrics <"$work/out" >"$work/why" 2>&1 ||
        complain "promtool: $(cat "$work/why")"
    [ ! -s "$work/why" ] || complain "promtool: $(cat "$work/why")"
fi
for line in members_alive\ 2 members_settled\ 1 cluster_missing\ 0 \
    "partition_applied_offset{family=\"rows\",partition=\"0\"} $number" \
    'partition_lag{family="rows",partition="1"} 0' \
    'partition_caught_up{family="rows",partition="1"} 1' \
    'partition_stopped{family="rows",partition="0"} 0' \
    'partition_failing{family="rows",partition="0"} 0'; do
    grep -qxF "colander_$line" "$work/out" ||
        complain "no metric '$line': $(grep colander_partition "$work/out")"
done
prints_some '^colander_partition_checkpoint_age_seconds\{family="rows",partition="0"\} [0-9]+$'

# --- another process has the name of a node
name=n1 start_node 3 --checkpoint 1s
await 1 "^missing +node n1: another process, which began earlier, has the name 'n1'"
prints_some "^  node +n1 at $(node 3),"
replaced="another process has the name 'n1' and began later"
for ((tries = 0; tries < 300; tries++)); do
    ! grep -q "$replaced" "$work/err1" || break
    sleep 0.1
done
grep -q "$replaced" "$work/err1" || complain "node 1 says $(cat "$work/err1")"
for i in 1 3; do kill_node $i -TERM; done

# --- one is alone, and the log loses what it has not read
await 1 '^missing +family rows is to have 2 replicas, and 1 node is alive'
await 1 "^  0000 +n2 at $number;"
kill_node 2 -TERM
await 1 '^nodes +none alive$'
brokers many c.rows 0 0 2000 4000 # more than a mock cluster keeps
start_node 2 --checkpoint 1s
await 1 "^  0000 +n2 has stopped at $number; "
prints_some '^missing +rows/0000 has stopped at n2: .* offsets [0-9]+ to [0-9]+ were removed before they were read.* It continues if another node'
prints_some '^missing +rows/0000: its newest checkpoint ends before offset [0-9]+, and the log begins at [0-9]+'
prints_some '^missing +rows/0000 is served by no node, so finds fail: n2 has a problem$'
! grep -q 'rows/0001' "$work/out" || complain "$(cat "$work/out")"
says_some '^colander: cluster: something is missing$'
ask 2 /metrics >"$work/out"
prints_some '^colander_partition_stopped\{family="rows",partition="0"\} 1$'
prints_some '^colander_partition_failing\{family="rows",partition="0"\} 1$'
prints_some '^colander_cluster_missing [34]$'
kill_node 2 -TERM

# --- it continues with what the log has now, as docs/cluster.md says
rm -r "$work/node2/rows/0000" "$work/objects/partitions/rows/0000"
start_node 2 --checkpoint 1s
await 1 '^  0000 +n2 at ([0-9]+); .*; the log has offsets [1-9][0-9]* to \1$'
! grep -q 'rows/0000' "$work/out" || complain "$(cat "$work/out")"
kill_node 2 -TERM

# --- a node that is alone, and a server that is not one
"$COLANDER" serve "$cluster" --dir "$work/alone" >"$work/out9" 2>"$work/err9" &
nodes[9]=$!
for ((tries = 0; tries < 200; tries++)); do
    curl -sS --unix-socket "$work/alone/SOCKET" http://x/nodes >"$work/out" 2>&1
    ! grep -q '"node":"alone","owner":true,"up_to_date":true' "$work/out" || break
    sleep 0.1
done
prints_some '^\{"cluster":"c","settled":true,"nodes":\[\{"node":"alone"'
run 0 load "$store" rows - --key id
"$COLANDER" serve "$store" --listen "127.0.0.1:$((base + 8))" \
    --token-file "$work/token" >"$work/out8" 2>&1 &
nodes[8]=$!
for ((tries = 0; tries < 300; tries++)); do
    ! grep -q serving "$work/out8" || break
    sleep 0.1
done
run 2 cluster status "$(node 8)"
says_some 'this server is not a node of a cluster$'
ask 8 /nodes >"$work/out"
prints '{"nodes":[]}'
finish
