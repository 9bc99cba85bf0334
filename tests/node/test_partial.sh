#!/bin/bash
# A partition that cannot be read is an error that names it, or with --partial
# missing; with --fresh an answer has all that was sent before.
#
# SPDX-License-Identifier: MIT
source "$COLANDER_SOURCE/tests/node/nodes_lib"

create_cluster
create_family rows 6 --replicas 1 --key id
create_family both 2 --replicas 2 --key id
send() { # FAMILY FROM UNTIL
    rows "$2" "$3" >"$work/rows"
    run 0 load "$cluster" "$1" "$work/rows" --place "$work/place"
}
request() { # PATH PARAMETER...: of node 1
    local options=()
    for option in "${@:2}"; do options+=(--data-urlencode "$option"); done
    last="GET $*"
    curl -sG --noproxy '*' -H "Authorization: Bearer $(cat "$work/token")" \
        "$(node 1)/$1" "${options[@]}" >"$work/out"
}
send rows 0 300
send both 0 50
lost_after=40s # the end comes first
for i in 1 2; do start_node "$i"; done
for i in 1 2; do await "$i" 300; done
for ((tries = 0; tries < 300; tries++)); do # until each has its own
    lost=$(cd "$work/node2" && echo rows/00??)
    [ "$(ls -d "$work"/node?/rows/00?? | wc -l)" = 6 ] &&
        [ "$(ls -d "$work"/node?/both/00?? | wc -l)" = 4 ] && break
    sleep 0.1
done
[ "$(wc -w <<<"$lost")" -lt 6 ] || complain "node 2 has $lost"
await 1 300

# --- a whole answer is whole, whatever is asked for
run 0 find "$(node 1)" rows --partial --count
prints 300
says ''
run 2 find "$(node 1)" rows --timeout 3s
says_some '^colander: find: --timeout is how long --fresh waits'
run 2 find "$(node 1)" rows --fresh --timeout soon
run 0 load "$store" rows "$work/rows" --key id
run 0 find "$store" rows --partial --fresh --count
prints 50

# --- fresh: fetches fail for a while
brokers error fetch 5 100000
send both 50 60
send rows 300 310
run 1 find "$(node 1)" rows --fresh --timeout 1s
says_some '^colander: find: partition rows/000[0-5] was read up to offset [0-9]+, and the log had records up to [0-9]+: not fresh in time$'
run 0 find "$(node 1)" rows --count
prints 300
"$COLANDER" find "$(node 1)" rows --fresh --count >"$work/out" &
last='find --fresh' # it waits until they do not
sleep 1
brokers accept fetch
wait $! || complain 'it fails'
prints 310
for ((i = 310; i < 330; i += 2)); do
    send rows "$i" $((i + 2))
    run 0 find "$(node 2)" rows --fresh --count
    prints $((i + 2))
done
request find/rows fresh=1 q=id=329 select=id
prints '{"_key":329,"id":329}
{"_end":{"rows":1}}'
request group/rows fresh=1 count=1
prints '{"count":330}
{"_end":{"groups":1,"rows":330}}'

# --- a node is gone: its partitions are named
kill_node 2
run 1 find "$(node 1)" rows
for part in $lost; do says_some "$part"; done
for ((tries = 0; tries < 100; tries++)); do # until it knows what it has
    "$COLANDER" find "$(node 1)" both --count >"$work/hello" 2>&1 && break
    sleep 0.1
done
run 0 find "$(node 1)" both --count
prints 60
run 1 group "$(node 1)" rows --count
run 1 export "$(node 1)" rows
run 1 columns "$(node 1)" rows
missing="rows of these partitions are missing, which cannot be read now: ${lost// /, }"
run 0 find "$(node 1)" rows --partial
says "colander: find: $missing"
cp "$work/out" "$work/all"
for part in $lost; do
    run 0 export "$work/node2/$part" rows
    [ -s "$work/out" ] || complain "partition $part has no rows"
    cat "$work/out" >>"$work/all"
done
[ "$(sort -u "$work/all" | wc -l)" = 330 ] && [ "$(wc -l <"$work/all")" = 330 ] ||
    complain "$(wc -l <"$work/all") rows are there or missing"
id=$(sed -n '$s/.*"id":\([0-9]*\).*/\1/p' "$work/all") # a missing one
there=$(sed -n '1s/.*"id":\([0-9]*\).*/\1/p' "$work/all")
run 1 get "$(node 1)" rows "$id"
says_some 'node http'
run 1 get "$(node 1)" rows "$id" --partial
says_some "$missing"
run 0 get "$(node 1)" rows "$there" --partial
run 0 group "$(node 1)" rows --count --partial
says "colander: group: $missing"
run 0 export "$(node 1)" rows --partial
says_some "$missing"
run 0 columns "$(node 1)" rows --partial
says_some "$missing"
run 0 find "$(node 1)" rows --partial --order n --limit 3
says_some "$missing"
run 0 find "$cluster" rows --partial --count
says_some "$missing"
run 0 find "$(node 1)" rows --partial --fresh --count
says_some "$missing"
run 1 find "$(node 1)" rows --fresh --timeout 1s
list=\"${lost// /\",\"}\"
request find/rows partial=1 limit=1 select=id
[ "$(tail -n 1 "$work/out")" = '{"_end":{"rows":1,"missing":['"$list"']}}' ] ||
    complain "$(cat "$work/out")"
request get/rows "key=$id" partial=1
grep -q 'it may be in rows/00.., which cannot be read now' "$work/out" ||
    complain "$(cat "$work/out")"
request get/rows "key=$there" partial=1
grep -q "\"id\":$there" "$work/out" || complain "$(cat "$work/out")"
request group/rows partial=1 count=1
tail -n 1 "$work/out" | grep -qF '"missing":['"$list"']' ||
    complain "$(cat "$work/out")"
request find/rows
grep -q '"error"' "$work/out" || complain "$(cat "$work/out")"
finish
