#!/bin/bash
# Clusters and families are created, refused and shown, with librdkafka's mock
# cluster: it creates no topics, so they are named with --topic.
#
# SPDX-License-Identifier: MIT
source "$(dirname "$0")/kafka_lib"

place=$work/objects
address=file://$place
unset KAFKA_JARS
start_brokers
brokers topic prod-members 1
brokers topic tweets 4

# --- create
run 1 cluster status "$address"
says "colander: cluster: there is no cluster at '$address'"
run 4 cluster create "$address" --log "kafka://$brokers" --name prod
says_some "cannot create topic 'prod-members': no broker is the controller"
says_some 'named with --topic$'
[ ! -e "$place" ] || complain 'a cluster without its topic was created'
run 2 cluster create "$address"
says_some 'which brokers\? --log kafka://'
run 2 cluster create "$address" --log "kafka://$brokers" --name a/b
says_some "^colander: cluster: --name: 'a/b' must be 1 to 100 letters"
run 2 cluster create "file://$work/a%20b" --log "kafka://$brokers"
says_some "the cluster needs another --name: 'a%20b' must be"
run 2 cluster create "$address" --log "kafka://$brokers/topic" --name prod
says_some 'is not kafka://BROKER\[:PORT\]\[,BROKER...\]: it has no topic'
run 2 cluster create "$address" --log "kafka://$brokers" --name prod \
    --topic tweets
says_some "topic 'tweets' has 4 partitions, not 1$"
run 2 cluster create "$address" --log "kafka://$brokers" --name prod \
    --topic prod-members --set sasl.password=hidden
says_some "the setting 'sasl.password' is a secret"
! grep -q hidden "$work/err" || complain 'a password was printed'
run 2 cluster create "$address" --log "kafka://$brokers" --name prod \
    --topic prod-members --set no.such=1
says_some 'No such configuration property: "no.such"'
run 2 cluster create "$address" --log "kafka://$brokers" --key id
says_some "^colander: cluster: --key is not an option of 'cluster create'$"
run 2 cluster make "$address"
says "colander: cluster: 'cluster make' is not known: create, family, \
retain, repartition or status"
run 0 cluster create "$address" --log "kafka://$brokers" --name prod \
    --topic prod-members --set client.rack=here
prints "cluster  prod, created
log      kafka://$brokers
members  prod-members, was there: 1 partition"
grep -q '"settings":{"client.rack":"here"}' "$place/cluster.json" ||
    complain "$(cat "$place/cluster.json")"
run 1 cluster create "$address" --log "kafka://$brokers" --topic prod-members
says_some "there is the cluster 'prod' already, whose log is kafka://$brokers"

# --- family
family() { # STATUS [OPTION...]
    run "$1" cluster family "$address" tweets --topic tweets "${@:2}"
}
family 2 --partitions 5
says_some "topic 'tweets' has 4 partitions, not 5$"
family 2 --key 'a[]'
says_some "key column 'a\[\]' may be many values"
family 2 --key a,a
says_some "key column 'a' is listed twice"
family 2 --key :hash
says_some "the key must be columns, not ':hash'"
family 2 --key a --partition-by 2
says_some 'partition_by must be 1 to 1'
family 2 --partition-by 1
says_some 'partition_by must be 0'
family 2 --key a --type b=tme
says_some "unknown type 'tme'"
family 2 --key a --type b=time --type b=string
says_some "'b' is there twice"
family 2 --schema no-such
says_some "no schema is called 'no-such'"
echo 'return { kee = "id" }' >"$work/wrong.lua"
family 2 --schema "$work/wrong.lua"
says_some "wrong.lua:1: "
family 2 --format csv
says_some "the format must be json or msgpack, not 'csv'"
family 2 --on-duplicate other
says_some 'on-duplicate must be replace'
family 2 --partition at
says_some "'?--partition"
family 2 --record-size 1000
says_some 'record size must be 1024 to 33554432 bytes, not 1000'
family 2 --record-size 5g
says_some 'record size must be 1024 to 33554432 bytes, not '
family 2 --replicas 0
says_some 'replicas must be 1 to 100, not 0'
family 2 --log-retention soon
says_some "log-retention must be a time such as 7d"
run 2 cluster family "$address" tweets --key id
says_some 'how many partitions\? --partitions N'
run 2 cluster family "$address" a.b --topic tweets
says_some "'a.b' must be 1 to 100 letters, digits, '_' and '-'"
run 2 cluster family "$address"
says_some 'NAME is missing'
run 4 cluster family "$address" other --partitions 4
says_some "cannot create topic 'prod.other': no broker is the controller"
[ ! -e "$place/families" ] || complain "families: $(ls "$place/families")"

cat >"$work/own.lua" <<'END_OF_SCHEMA'
-- a schema of our own
return { key = { "id", "at" }, types = { id = "string" } }
END_OF_SCHEMA
family 0 --schema "$work/own.lua" --type at=time
prints 'family   tweets, defined
topic    tweets, was there: 4 partitions'
grep -q '"key":\["id","at"\],"partition_by":1,' "$place"/families/tweets-*.json ||
    complain "$(cat "$place"/families/*)"
grep -q -- '-- a schema of our own\\nreturn' "$place"/families/tweets-*.json ||
    complain "$(cat "$place"/families/*)"
family 0 --schema "$work/own.lua" --type at=time --partitions 4 --key id,at \
    --record-size 8m
prints_some '^family +tweets, was defined so before$'
family 1 --schema "$work/own.lua" --replicas 1 --on-duplicate keep
says_some "defined otherwise, .*: replicas is '2', not '1', on_duplicate is 'replace', not 'keep', types is 'at=time', not ''"
family 1 --schema "$work/own.lua" --type at=time --record-size 1m
says_some "defined otherwise, .*: record_size is '8388608', not '1048576'"
[ "$(ls "$place/families" | wc -l)" = 1 ] || complain "$(ls "$place/families")"

# --- retain
retain() { # STATUS [OPTION...]
    run "$1" cluster retain "$address" tweets "${@:2}"
}
retain 2 --time at
says_some 'which rows are old\? --older-than 30d, or --before TIME$'
retain 2 --time at --older-than 30d --before 2026-01-01
says_some 'which rows are old'
retain 2 --time at --older-than soon
says_some "older-than must be a time such as 30d or 36h, not 'soon'"
retain 2 --time at --before 3026-01-01
says_some 'before 3026-01-01 has not come yet, by the clock of this machine$'
retain 2 --older-than 30d
says_some 'which column has the times\? --time COL'
retain 2 --older-than 30d --time 'a['
says_some '^colander: cluster: --time: '
retain 2 --older-than 30d --key at
says_some "key is not an option of 'cluster retain'"
run 1 cluster retain "$address" other --older-than 30d --time at
brokers topic kept 3
run 0 cluster family "$address" kept --topic kept --key id --type at=time
put kept 0 '{"id":1,"at":"2026-01-01"}' '{"id":2,"at":"2026-02-01"}'
put kept 2 '{"id":3,"at":"2026-01-01"}' '{"id":4,"at":"2999-02-01"}'
run 0 cluster retain "$address" kept --before 2026-01-31 --time at
prints "retain   kept: rows before 2026-01-31T00:00:00Z, by 'at', go: sent to 3 partitions"
follow 0 kept --key id --type at=time
says_some '^7 records read; 3 retain records, which deleted 2 rows; '
put kept 0 '{"id":5,"at":"2026-01-01"}'
follow 0 kept --key id --type at=time
has rows '{"_key":2,"id":2,"at":"TIME"}' '{"_key":4,"id":4,"at":"2999-02-01T00:00:00Z"}' \
    '{"_key":5,"id":5,"at":"TIME"}'
run 0 cluster retain "$address" kept --older-than 1d --time at
follow 0 kept --key id --type at=time
has rows '{"_key":4,"id":4,"at":"2999-02-01T00:00:00Z"}'
rm -rf "$store" "$place"/families/kept-*

# --- status
run 0 load "$store" rows - --key id
put tweets 2 '{"id":1}' '{"id":2}'
brokers topic empty 1
run 0 cluster family "$address" empty --topic empty
run 0 backup "$store" "$address/partitions/tweets/0001"
run 0 backup "$store" "$address/partitions/tweets/0001"
run 1 cluster status "$address" # there is no node
says 'colander: cluster: something is missing'
sed -Ei 's/of 2[^ ]+Z \([0-9]+ (second|minute)s? ago\), [0-9.]+ (kB|bytes)/of TIME/' \
    "$work/out"
prints "cluster  prod, 2 families
log      kafka://$brokers
nodes    none alive
family   empty: topic empty, 1 partition, 2 replicas
  0000   no checkpoint; the log has offsets 0 to 0
family   tweets: topic tweets, 4 partitions, 2 replicas, key id,at
  0000   no checkpoint; the log has offsets 0 to 0
  0001   checkpoint at 1 of TIME; the log has offsets 0 to 0
  0002   no checkpoint; the log has offsets 0 to 2
  0003   no checkpoint; the log has offsets 0 to 0
missing  no node is alive, so finds read checkpoints only: start one with colander \
serve CLUSTER --dir DIR --listen ADDRESS:PORT --token-file FILE"
run 1 cluster status "$address" --json
sed -Ei 's/"made":"2[^"]+Z","bytes":[0-9]+/"made":TIME/' "$work/out"
prints '{"cluster":"prod","log":"kafka://'"$brokers"'","members":"prod-members","nodes":[]}
{"family":"empty","topic":"empty","replicas":2,"key":[],"partitions":[{"partition":0,"low":0,"high":0,"nodes":[]}]}
{"family":"tweets","topic":"tweets","replicas":2,"key":["id","at"],"partitions":[{"partition":0,"low":0,"high":0,"nodes":[]},{"partition":1,"checkpoint":{"number":2,"offset":1,"made":TIME},"low":0,"high":0,"nodes":[]},{"partition":2,"low":0,"high":2,"nodes":[]},{"partition":3,"low":0,"high":0,"nodes":[]}]}
{"missing":["no node is alive, so finds read checkpoints only: start one with colander serve CLUSTER --dir DIR --listen ADDRESS:PORT --token-file FILE"]}'
run 2 cluster status "$address" --wait 0s
says_some '--wait must be a time such as 10s, at most ten minutes'
run 2 cluster status "$address" --wait 11m
says_some '--wait must be a time such as 10s, at most ten minutes'

# --- check
run 0 check "$address"
sed -Ei 's/[1-9][0-9]* objects of [1-9].*/OBJECTS/' "$work/out"
prints 'checked  2 families with 5 partitions, 4 of them without a checkpoint
read     2 checkpoints: OBJECTS
found    nothing wrong'
run 2 check "$address" --repair
says_some "cannot be repaired$"

# --- damage
object=$(find "$place/partitions/tweets/0001" -type f -not -path '*/backups/*' -size +100c | head -n 1)
cp "$object" "$work/object"
printf x | dd of="$object" bs=1 seek=20 conv=notrunc 2>"$work/hello"
run 4 check "$address"
prints_some "^partitions/tweets/0001/${object#"$place"/partitions/tweets/0001/}: .*damaged"
rm "$object"
run 4 check "$address"
prints_some "^partitions/tweets/0001/.*: it is missing$"
prints_some '^found +1 damaged object$'
cp "$work/object" "$object"
list=$(ls "$place"/partitions/tweets/0001/backups/*2-*)
printf x | dd of="$list" bs=1 seek=20 conv=notrunc 2>"$work/hello"
printf ' ' >>"$(ls "$place"/families/empty-*)"
run 4 cluster status "$address"
prints_some "^family +empty: 'families/empty-.*.json' is damaged: it has other"
prints_some "^  0001 +checkpoint at 1 of .*, 'backups/.*' is damaged: .*; the log"
says 'colander: cluster: something could not be read'
run 4 check "$address"
prints_some "^partitions/tweets/0001/backups/[^:]*: .*damaged"
prints_some "^empty: its checkpoints are not read: 'families/empty-.*.json' is damaged: "
prints_some '^found +2 damaged objects$'
run 4 cluster status "$address" --json
grep -q '^{"family":"empty","problem":".*damaged' "$work/out" ||
    complain "$(cat "$work/out")"
rm "$place"/families/empty-* "$list"
run 0 cluster family "$address" empty --topic empty
run 1 cluster status "$address"
prints_some "^  0001 +checkpoint at 0 of "

# --- no broker answers
stop_brokers
run 4 cluster status "$address"
prints_some "^  log +127.0.0.1:.*cannot find topic 'empty'"
prints_some '^  log +not asked, as no broker answers$'
prints_some "^nodes +topic 'prod-members' could not be read"
prints_some '^  0002 +no checkpoint$'

# --- a cluster of a newer version
sed -i 's/"version":1/"version":2/' "$place/cluster.json"
run 1 check "$address"
says_some "'cluster.json': it is of version 2, and this program knows version 1"
run 1 cluster status "$address"
says_some "'cluster.json': it is of version 2, and this program knows version 1"
sed -i 's/"version":2/"version":1,"extra":0/' "$place/cluster.json"
run 1 cluster status "$address"
says_some "'cluster.json': it has 'extra', which this program does not know"
: >"$place/cluster.json"
run 4 cluster status "$address"
says_some "'cluster.json' is damaged: "
finish
