#!/bin/bash
# Brokers have another topic with the name, with fewer records: partitions have
# stopped. No node reads them, all say why, and nothing is fresh.
#
# SPDX-License-Identifier: MIT
source "$COLANDER_SOURCE/tests/node/nodes_lib"

unset KAFKA_JARS
lost_after=5s

# put_rows FROM UNTIL: in partition 0
put_rows() {
    local i
    for ((i = $1; i < $2; i++)); do
        put c.rows 0 "{\"id\":$i}"
    done
}

create_cluster
create_family rows 2 --replicas 1
put_rows 0 12
for i in 1 2; do start_node "$i"; done
for i in 1 2; do await "$i" 12; done
for ((tries = 0; tries < 300; tries++)); do # until each has its own
    [ "$(ls -d "$work"/node?/rows/00?? | wc -l)" != 2 ] || break
    sleep 0.1
done
for i in 1 2; do kill_node "$i" -TERM; done
stop_brokers
start_brokers 3
brokers topic c-members 1
brokers topic c.rows 2
put_rows 100 106
put c.rows 1 '{"id":200}'
sed -i -E "s#kafka://[^\"]*#kafka://$brokers#" "$work/objects/cluster.json"
for i in 1 2; do start_node "$i"; done
why="no node has partition rows/000[01] now: it has stopped"
for i in 1 2; do
    for ((tries = 0; tries < 300; tries++)); do # until it has heard of it
        "$COLANDER" find "$(node "$i")" rows >"$work/out" 2>"$work/err"
        ! grep -q stopped "$work/err" || break
        sleep 0.1
    done
done
here=$(cd "$work" && echo node?/rows/0000)
for i in 1 2; do
    at=
    [ "$here" = "node$i/rows/0000" ] || at=" at n${here:4:1}"
    for words in find 'find --count' 'find --fresh --timeout 1s' \
        'group --count' export; do
        eval "run 1 ${words%% *} '$(node "$i")' rows ${words#"${words%% *}"}"
        says_some "$why$at: .*c.rows"
    done
    run 0 find "$(node "$i")" rows --fresh --partial --count
    prints 0
    says_some 'missing, which cannot be read now: rows/0000, rows/0001$'
done

# --- what it has is read when the node has ended
for i in 1 2; do kill_node "$i" -TERM; done
run 0 export "$work/$here" rows
[ "$(wc -l <"$work/out")" = 12 ] || complain "it has $(cat "$work/out")"
finish
