#!/bin/bash
# Commands with the address of a cluster: load sends to the family's topic, and
# those that read are run by a node, or read the checkpoints if none runs.
#
# SPDX-License-Identifier: MIT
source "$COLANDER_SOURCE/tests/node/nodes_lib"

create_cluster
create_family rows 4 --replicas 1 --key id
create_family packed 2 --key a,b --partition-by 2 --format msgpack \
    --type b=string
create_family free 2
echo 'return { key = "id", time = "at" }' \
    >"$work/timed.lua"
create_family timed 2 --schema "$work/timed.lua"
send() { # STATUS WORD...
    run "$1" load "$cluster" "${@:2}" --place "$work/place"
}

# --- load: what the definition says, and nothing else
rows 0 300 >"$work/rows"
send 0 rows "$work/rows"
says '300 records sent'
send 0 rows "$work/rows" --resume
says '0 records sent; 1 file sent before'
send 2 rows "$work/rows" --key n
says_some "--key is not what family 'rows' of the cluster is defined with"
send 2 rows "$work/rows" --key id,n
send 2 rows "$work/rows" --partition-by 2
says_some '--partition-by is not what family'
send 2 rows "$work/rows" --schema sensor
says_some '--schema is not what family'
send 0 rows "$work/rows" --key id --partition-by 1 --resume
send 1 ros "$work/rows"
says_some "the cluster has no family 'ros'"
send 2
says_some 'FAMILY is missing'
run 1 load "file://$work/none" rows "$work/rows"
says_some "there is no cluster at 'file://$work/none'"

# --- in the format of the family, whatever that of the file is
printf 'id,n,city\n300,1,Oslo\n301,2,Lyon\n' >"$work/more.csv"
send 0 rows "$work/more.csv"
run 0 load "$work/packs" rows "$work/more.csv" --key id
run 0 export "$work/packs" rows --format msgpack
cp "$work/out" "$work/more.msgpack"
send 0 rows "$work/more.msgpack"
printf '{"a":1,"b":"x"}\n{"a":1,"b":"y","t":[1,{"u":null}]}\n{"a":2,"c":1}\n' \
    >"$work/packed.jsonl"
send 3 packed "$work/packed.jsonl"
says_some "^2 records sent; 1 rejected$"
send 0 free "$work/packed.jsonl"
run 0 follow "$store" rows "kafka://$brokers/c.rows" --key id --once \
    --partition-by 1
says_some ': 302 rows new, 2 replaced; '
run 0 follow "$store" packed "kafka://$brokers/c.packed" --format msgpack \
    --key a,b --partition-by 2 --once
run 0 export "$store" packed
prints '{"_key":[1,"x"],"a":1,"b":"x"}
{"_key":[1,"y"],"a":1,"b":"y","t":[1,{"u":null}]}'
run 0 follow "$store" free "kafka://$brokers/c.free" --once
says_some '^3 rows loaded; '

printf '{"id":%d,"at":"2026-11-0%dT00:00:00Z"}\n' 1 1 2 2 3 3 >"$work/timed"
send 0 timed "$work/timed"

# --- records that change and delete rows
send 2 rows "$work/rows" --op replace
says_some "^colander: load: --op must be patch or delete, not 'replace'$"
send 2 free "$work/packed.jsonl" --op delete
says_some "--op: family 'free' has no key columns, so its rows stay as they are$"
send 0 timed "$work/timed" # once more
printf '%s\n' '{"id":8,"at":"2026-11-08T00:00:00Z"}' \
    '{"id":9,"at":"2026-11-09T00:00:00Z"}' '{"id":1,"at":0,"n":7}' \
    >"$work/mistakes"
send 0 timed "$work/mistakes"
printf '%s\n' '{"id":9}' '{"_key":8}' '{"at":3}' >"$work/change"
send 3 timed "$work/change" --op delete
says_some "change:3:1: no column 'id' for the key"
says_some '^2 records sent; 1 rejected$'
echo '{"id":1,"at":"2026-11-01T00:00:00Z"}' >"$work/change"
send 0 timed "$work/change" --op patch
send 0 timed "$work/change" --op patch --resume
says '0 records sent; 1 file sent before'
run 2 load "kafka://$brokers/c.timed" "$work/change" --key :hash --op patch \
    --place "$work/place"
says_some '--op patch: the key is a hash of the record'

# --- no node: there are no checkpoints either, which is said
run 1 find "$cluster" rows
says_some "^colander: find: no node runs: rows are those of the checkpoints of cluster \
'c', without what the log has of rows/0000 from offset 0 on \(no checkpoint\), \
rows/0001 .*, rows/0002 .*, rows/0003 from offset 0 on \(no checkpoint\)$"
says_some "no family 'rows' in '$cluster', which has none$"

# --- a node runs the command
for i in 1 2; do start_node "$i"; done
for i in 1 2; do await "$i" 302; done
same "$cluster"
run 0 find "$cluster" rows --count
says ''
run 1 find "$cluster" ros
says_some "^colander: find: no family 'ros' in '$cluster': did you mean 'rows'"
run 2 find "$cluster" rows '('
run 1 get "$cluster" rows 1000
run 0 families "$cluster" --format tsv
prints_some '^rows'
run 0 families "$cluster" timed
prints_some '"time_column":"at","oldest":"2026-11-01T.*"newest":"2026-11-03T'
run 2 serve "$cluster"
says_some 'is an address: a node of a cluster needs --dir'
timed_by() { # since the second day
    run 0 find "$cluster" timed --since 2026-11-02 --count "$@"
    prints 2
    run 2 find "$cluster" rows --since 2026-11-02 "$@"
    says_some "'rows' has no time column .*, as its schema names none: write a"
}
timed_by --fresh
run 0 get "$cluster" timed 1
prints '{"_key":1,"id":1,"at":"2026-11-01T00:00:00Z","n":7}'
run 0 find "$cluster" rows id=7 --explain
says_some '^plan '
COLANDER_TOKEN_FILE='' run 1 find "$cluster" rows
says_some 'the server refuses it: '
run 1 put "$cluster" rows '{"_key":1}'
run 4 find "$cluster" rows --settings "$work/none"
says_some "$work/none"

# --- one is killed: its last words are there, but it does not answer
kill_node 1
await 2 302
same "$cluster"

# --- all are ended: the checkpoints have what was read, and no more
kill_node 2 -TERM
rows 400 500 >"$work/rows"
send 0 rows "$work/rows"
same "$cluster" --no-share
run 0 find "$cluster" rows --count
prints 302
says_some ": no node runs: rows .*, rows/0001 from offset [1-9][0-9]* on \
\(checkpoint of 20.*Z\), "
run 0 find "$cluster" rows city=city-3 --explain
says_some '^objects '
run 0 shell "$cluster" -e 'return rows:find{id = 7}:count()'
prints 1
says_some 'no node runs'
run 0 group "$cluster" rows --count
prints_some '302'
run 1 find "$cluster" ros
says_some "no family 'ros' in '$cluster'"
run 0 find "$cluster" free --count
prints 3
timed_by
run 0 cluster retain "$cluster" timed --before 2026-11-03 --yes
prints_some "^retain *timed: rows before 2026-11-03T00:00:00Z, by 'at', go"
run 1 put "$cluster" rows '{"_key":1}'

# --- nodes that run, and cannot be asked
start_node 3 --advertise 'http://127.0.0.1:1'
await 3 402
run 1 find "$cluster" rows --count
says_some "nodes of cluster 'c' run, and none can be asked: cannot reach 'http"
run 0 find "$cluster" rows --count --no-share
prints 302
says_some 'no node is asked: '
ask 3 find timed --count --fresh
prints 1 # after the retain
kill_node 3 -TERM
run 0 find "$cluster" rows --count
prints 402

export COLANDER_CACHE_SIZE=0 # which has good pieces

# --- a checkpoint is damaged: the one before is read, or else it is named
lists=("$work"/objects/partitions/rows/0001/backups/*)
printf x | dd of="${lists[-1]}" bs=1 seek=20 conv=notrunc 2>"$work/hello"
run 0 find "$cluster" rows --count
[ "$(cat "$work/out")" -ge 302 ] && [ "$(cat "$work/out")" -lt 402 ] ||
    complain "$(cat "$work/out") rows"
for list in "${lists[@]}"; do
    printf x | dd of="$list" bs=1 seek=20 conv=notrunc 2>"$work/hello"
done
run 4 find "$cluster" rows --count
says_some 'partition rows/0001: .*is damaged'

# --- checkpoints of one partition are where those of another were
rm -r "$work/objects/partitions/rows/0001"
cp -r "$work/objects/partitions/rows/0000" "$work/objects/partitions/rows/0001"
run 4 find "$cluster" rows --count
says_some "partition rows/0001: it has records of partition 0 of topic 'c.rows'$"

# --- no broker answers: a find that waits for them does not keep a node
rm -r "$work/objects/partitions/rows/0001"
start_node 3
await 3 402
stop_brokers
"$COLANDER" find "$(node 3)" rows --fresh --timeout 100s >"$work/out" \
    2>"$work/err" &
asks=$!
sleep 1
kill "${nodes[3]}"
wait "${nodes[3]}" || complain "a node that was ended exits $?"
unset "nodes[3]"
! wait "$asks" || complain 'a find is fresh without brokers'
last='find --fresh'
says_some '^colander: find: (the node ends|cannot reach)'
rm -r "$work/objects/partitions/rows/0001"
run 0 find "$cluster" rows --count
says_some ': no broker answers, so no node is known: '
finish
