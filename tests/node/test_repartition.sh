#!/bin/bash
# A family gets another number of partitions: all rows are there, exactly as
# they were, while nodes take it up and afterwards; what is cut off changes
# nothing.
#
# COLANDER_SEED repeats a run.
#
# SPDX-License-Identifier: MIT
source "$COLANDER_SOURCE/tests/node/nodes_lib"

lost_after=5s
seed=${COLANDER_SEED:-$RANDOM$RANDOM}
RANDOM=$((seed % 32768))
echo "seed $seed"
unset KAFKA_JARS

# export NUMBER: all rows of a node, as bytes.
export_rows() {
    "$COLANDER" export "$(node "$1")" rows --format msgpack >"$work/got" \
        2>"$work/why"
}

# await NUMBER: until a node has the rows that are wanted.
await() {
    local tries
    for ((tries = 0; tries < 300; tries++)); do
        ! { export_rows "$1" && cmp -s "$work/got" "$work/wanted"; } || return 0
        sleep 0.1
    done
    complain "node $1 has other rows: $(cat "$work/why") $(tail -n 5 "$work/err$1")"
}

repartition() { # STATUS PARTITIONS TOPIC [OPTION...]
    run "$1" cluster repartition "$cluster" rows --partitions "$2" --topic "$3" \
        --dir "$work/scratch" "${@:4}"
}

definitions() {
    find "$work/objects/families" -name 'rows-*.json' | wc -l
}

# follow_all: what one store with the same records has.
follow_all() {
    run 0 follow "$store" rows "kafka://$brokers/$1" --once \
        --max-errors 99 --key id --type at=time --type n=integer
    "$COLANDER" export "$store" rows --format msgpack >"$work/wanted"
}

create_cluster
create_family rows 2 --replicas 2 --key id --type at=time --type n=integer
for ((i = 0; i < 400; i++)); do
    echo "{\"id\":$i,\"n\":\"$((i * 7))\",\"x\":1.0,\"text\":\"t $((RANDOM % 50))\",\
\"at\":\"2026-0$((1 + RANDOM % 3))-01\"}"
done >"$work/rows"
run 0 load "kafka://$brokers/c.rows" "$work/rows" --key id --place "$work/place"
run 0 cluster retain "$cluster" rows --before 2026-02-01 --time at
follow_all c.rows # it has all partitions, and their retains now
echo '{"id":"late","at":"2026-01-01","n":"no number"}' >"$work/rows"
run 0 load "kafka://$brokers/c.rows" "$work/rows" --key id --place "$work/place"
follow_all c.rows
for i in 1 2; do start_node "$i"; done
for i in 1 2; do await "$i"; done

# --- what is refused
run 2 cluster repartition "$cluster" rows --partitions 5
says_some 'where is room for all rows\? --dir DIR'
run 2 cluster repartition "$cluster" rows --dir "$work/scratch"
says_some 'how many partitions\? --partitions N'
repartition 2 2 other
says_some "family 'rows' has 2 partitions already"
brokers topic small 3
repartition 2 5 small
says_some "topic 'small' has 3 partitions, not 5"
brokers topic used 5
put used 3 '{"id":1}'
repartition 2 5 used
says_some "topic 'used' has or had records: it must be new"
[ "$(definitions)" = 1 ] || complain 'a refused one changes the definition'

# --- a writer that goes on
brokers topic busy 5
{
    while [ ! -e "$work/enough" ]; do
        echo '{"id":1,"n":7,"x":1.0,"text":"w","at":"2026-03-01"}' >"$work/w"
        "$COLANDER" load "kafka://$brokers/c.rows" "$work/w" --key id \
            --place "$work/place2" >"$work/wout" 2>&1
    done
} &
repartition 1 5 busy
: >"$work/enough"
wait $!
says_some "stop all that write.*: topic 'c.rows' gets records, in partition [01] from"
[ "$(definitions)" = 1 ] || complain 'rows that come are lost'
follow_all c.rows
for i in 1 2; do await "$i"; done

# --- tries that are killed
for ((i = 0; i < 4; i++)); do
    topic=killed$i
    brokers topic "$topic" 5
    "$COLANDER" cluster repartition "$cluster" rows --partitions 5 \
        --topic "$topic" --dir "$work/scratch" >"$work/hello" 2>&1 &
    sleep "$((RANDOM % 4)).$((RANDOM % 10))"
    kill -KILL $! 2>/dev/null
    wait $! 2>/dev/null
    [ "$(definitions)" = 1 ] || break # it was too fast
done
for i in 1 2; do await "$i"; done

# --- all nodes take it up, and none has other rows meanwhile
if [ "$(definitions)" = 1 ]; then
    topic=wide
    brokers topic wide 5
    repartition 0 5 wide
    prints "family   rows, defined again: 5 partitions instead of 2
topic    wide: $("$COLANDER" find "$store" rows --count) rows sent
note     writers send to this topic from now on; nothing reads 'c.rows'"
fi
for ((tries = 0; tries < 1500; tries++)); do
    for i in 1 2; do
        if export_rows "$i" && ! cmp -s "$work/got" "$work/wanted"; then
            complain "node $i has other rows meanwhile: $(wc -c <"$work/got")"
            break 2
        fi
        key=$((RANDOM % 400))
        "$COLANDER" get "$store" rows $key >"$work/row" 2>"$work/hello"
        "$COLANDER" get "$(node "$i")" rows $key >"$work/got" 2>"$work/why" ||
            ! grep -q 'no row' "$work/why" || cmp -s "$work/got" "$work/row" ||
            complain "node $i has no row $key meanwhile"
    done
    [ -e "$work/node1/rows/0000" ] || [ -e "$work/node2/rows/0001" ] ||
        [ ! -e "$work/node2/rows.1/0004" ] || break
    sleep 0.1
done
for i in 1 2; do
    await "$i"
    [ ! -e "$work/node$i/rows/0000" ] || complain "node $i keeps old partitions"
    [ -e "$work/node$i/rows.1/0004" ] || complain "node $i has no new ones"
done
for ((tries = 0; tries < 300; tries++)); do
    ! "$COLANDER" cluster status "$cluster" >"$work/out" 2>"$work/err" || break
    sleep 0.1
done
last='cluster status'
prints_some "^family +rows: topic $topic, 5 partitions"
[ "$tries" -lt 300 ] || complain "something is missing: $(cat "$work/out")"
run 0 find "$(node 1)" rows --fresh --count
for i in {0..20}; do # each is looked for where it is now
    "$COLANDER" get "$store" rows "$i" >"$work/row" 2>"$work/hello"
    "$COLANDER" get "$(node 2)" rows "$i" >"$work/got" 2>"$work/why"
    cmp -s "$work/got" "$work/row" || complain "row $i: $(cat "$work/why")"
done
run 0 cluster family "$cluster" rows --partitions 5 --key id --topic "$topic" \
    --type at=time --type n=integer
prints_some 'was defined so before$'
run 1 cluster family "$cluster" rows --partitions 2 --key id --topic c.rows \
    --type at=time --type n=integer
says_some "partitions is '5', not '2'"

# --- more comes, by its own types; and it goes on to fewer partitions
echo '{"id":7,"n":"8","at":"2026-03-01"}' >"$work/rows"
run 0 load "kafka://$brokers/$topic" "$work/rows" --key id --place "$work/place"
store=$work/again
follow_all "$topic"
for i in 1 2; do await "$i"; done
kill_node 1
rm -rf "$work/node1"
brokers topic one 1
rm -rf "$work/scratch"
"$COLANDER" cluster repartition "$cluster" rows --partitions 1 --topic one \
    --dir "$work/scratch" >"$work/hello" 2>"$work/repartition" &
made=$!
until [ "$(definitions)" = 3 ] || ! kill -0 "$made"; do sleep 0.05; done
kill_node 2 # while it changes over
start_node 2
start_node 1
wait "$made" || complain "it fails: $(cat "$work/repartition")"
for i in 1 2; do await "$i"; done
for ((tries = 0; tries < 1500; tries++)); do
    [ -e "$work/node2/rows.1/0003" ] || [ ! -e "$work/node2/rows.2/0000" ] ||
        break
    sleep 0.1
done
for i in 1 2; do await "$i"; done
[ -e "$work/node2/rows.2/0000" ] || complain 'the third generation is not there'
[ ! -e "$work/node1/rows.1" ] || complain 'a generation of before is there'

# --- checkpoints are read without a node, if they have all rows
run 1 find "$cluster" rows --count --no-share
says_some 'partition rows.2/0000: no checkpoint has all rows that were there before'
for i in 1 2; do kill_node "$i" -TERM; done
run 0 export "$cluster" rows --format msgpack --no-share
cmp -s "$work/out" "$work/wanted" || complain 'checkpoints have other rows'
finish
