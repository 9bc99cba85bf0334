#!/bin/bash
# Records that load sends to a topic: all of a file, also after a broker has
# refused some, and those that were sent twice are followed once.
#
# SPDX-License-Identifier: MIT
source "$(dirname "$0")/kafka_lib"

start_brokers 3
brokers topic t 4
brokers topic v 1

# send STATUS TOPIC [ARG...]: sends files to it.
send() {
    run "$1" load "kafka://$brokers/$2" "${@:3}" --place "$work/places"
}

# --- JSON is sent as it is, CSV as JSON, and a bad record is not sent
seq 1 3000 | sed 's/.*/{"id":&,"a": "x&"}/' >"$work/a.jsonl"
echo '{"id":' >>"$work/a.jsonl"
send 3 t "$work/a.jsonl" --key id
says_some '^3,000 records sent; 1 rejected$'
printf 'id,b\n3001,1.5\n3002,2\n' >"$work/b.csv"
send 0 t "$work/b.csv" --key id
follow 0 t --key id --on-duplicate error
says_some '^3,002 rows loaded; '
run 0 get "$store" rows 3001
prints '{"_key":3001,"id":3001,"b":1.5}'
send 0 t "$work/a.jsonl" "$work/b.csv" --key id --resume
says_some '^0 records sent; 2 files sent before$'
brokers topic keyless 1
send 0 keyless "$work/b.csv"
store=$work/keyless
follow 0 keyless
run 0 find "$store" rows --select id,b
sed -Ei 's/"_key":\[[^]]*\],//' "$work/out"
prints '{"id":3001,"b":1.5}
{"id":3002,"b":2}'
brokers topic read 1
printf 'id;b\n007;NA\n8;none\n' >"$work/texts.csv"
send 0 read "$work/texts.csv" --delimiter ';' --no-guess --null NA --null none
printf 'cpu v=1 1700000000\n' >"$work/points"
send 0 read "$work/points" --format influx --precision s
store=$work/read
follow 0 read
run 0 find "$store" rows
sed -Ei 's/"_key":\[[^]]*\],//' "$work/out"
prints '{"_measurement":"cpu","v":1.0,"time":"2023-11-14T22:13:20Z"}
{"id":"007","b":null}
{"id":"8","b":null}'
brokers topic packed 1
"$COLANDER" export "$store" rows --format msgpack >"$work/rows.msgpack"
send 0 packed "$work/rows.msgpack"
store=$work/packed
follow 3 packed
says_some ': packed/0 offset 0, byte 1: the format is json, and this is msgpack$'
follow 0 packed --format msgpack --restart
says_some '^3 rows loaded; '
store=$work/store
run 2 load "kafka://$brokers/t,u" "$work/a.jsonl" --place "$work/places"
says_some 'records are sent to one topic, not to 2'
run 0 load "kafka://$brokers/v" - --place "$work/places" # without a record
says_some '^0 records sent$'

# --- by more parts of the key; follow sees whether a producer does
brokers topic parts 4
for ((i = 0; i < 100; i++)); do
    echo "{\"a\":\"x\",\"b\":$i,\"c\":1}"
done >"$work/e.jsonl"
store=$work/parts
send 2 parts "$work/e.jsonl" --key a,b,c --partition-by 0
says_some '--partition-by must be 1 or more'
send 0 parts "$work/e.jsonl" --key a,b,c --partition-by 2
follow 0 parts --key a,b,c --partition-by 2
says_some '^100 rows loaded; '
store=$work/others
follow 3 parts --key a,b,c --partition-by 1
says_some ': its producer does not key by a: the record.s key is not'
says_some '^0 rows loaded; 100 rejected'
store=$work/own
follow 3 parts --key c --partition-by 1
says_some ': its producer does not key by c: '
follow 0 t --key id --partition-by 1
says_some '^3,002 rows loaded; '
brokers topic nulls 1
brokers null nulls 0 7
brokers null nulls 0 07
follow 3 nulls --key id --type id=integer --partition-by 1
says_some '^2 records read; 1 rejected; 1 delete; '
store=$work/store

# --- brokers that refuse: an error, and the rest is sent later
brokers error produce 87 1 # INVALID_RECORD
seq 1 10 | sed 's/.*/{"n":&}/' >"$work/d.jsonl"
send 4 v "$work/d.jsonl"
says_some "cannot write to topic 'v', partition 0: .*INVALID_RECORD"
says_some '^to continue where records were acknowledged, add --resume$'
send 0 v "$work/d.jsonl" --resume
store=$work/refused
follow 0 v
says_some '^10 rows loaded'

# send_refused COUNT TOPIC ARG...: brokers refuse the batch after COUNT others.
# As real ones, they refuse what follows too, as its sequence does not
# (OUT_OF_ORDER_SEQUENCE_NUMBER), but not after the first batch of a session.
send_refused() {
    brokers error produce 0 "$1"
    brokers error produce 87 1
    [ "$1" = 0 ] || brokers error produce 45 20
    send 4 "${@:2}"
    brokers accept produce
}

# --- after a batch that is refused no other is accepted, so that none is lost
small=(--set batch.num.messages=50 --set linger.ms=0)
seq 1 30000 | sed 's/.*/{"n":&}/' >"$work/e.jsonl"
count=$((1 + RANDOM % 100))
echo "batches before the refused one: 0, $count"
for count in 0 "$count"; do
    brokers topic "refused$count" 1
    store=$work/refused$count
    send_refused "$count" "refused$count" "$work/e.jsonl" "${small[@]}"
    send 0 "refused$count" "$work/e.jsonl" --resume "${small[@]}"
    follow 0 "refused$count"
    says_some '^30,000 rows loaded'
done
send 2 v "$work/d.jsonl" --set partitioner=random
says_some "use murmur2, consistent or fnv1a"
for setting in max.in.flight=5 message.timeout.ms=1 delivery.timeout.ms=1 \
    enable.gapless.guarantee=false delivery.report.only.error=true; do
    send 2 v "$work/d.jsonl" --set "$setting"
    says_some "'${setting%=*}' is always '"
done

# --- a file that was edited, and another key, are other loads: none is lost
brokers topic edited 1
store=$work/edited
seq 1 300 | sed 's/.*/{"id":&}/' >"$work/f.jsonl"
send_refused 2 edited "$work/f.jsonl" "${small[@]}"
(echo '{"id":0}' && cat "$work/f.jsonl") >"$work/edited.jsonl"
cat "$work/edited.jsonl" >"$work/f.jsonl"
send 0 edited "$work/f.jsonl" --resume
follow 0 edited --key id
run 0 find "$store" rows --count
prints 301
for topic in same key option; do
    before=() keys=() wanted=other
    brokers topic "$topic" 1
    store=$work/$topic
    case $topic in
    same) wanted=same ;;
    key) keys=(--key id) ;;
    option) before=(--null s) keys=(--precision s) ;; # of one value
    esac
    send_refused 2 "$topic" "$work/f.jsonl" "${small[@]}" "${before[@]}"
    send 0 "$topic" "$work/f.jsonl" --resume "${keys[@]}"
    follow 0 "$topic" --key id
    grep -q 'sent twice were left out' "$work/err" && again=same || again=other
    [ "$again" = "$wanted" ] || complain "$topic: $(cat "$work/err")"
    run 0 find "$store" rows --count
    prints 301
done

# --- large records are sent, or it is said how to go on
brokers topic large 1
store=$work/large
head -c 1200000 /dev/zero | tr '\0' x | sed 's/.*/{"id":1,"x":"&"}/' \
    >"$work/g.jsonl"
send 0 large "$work/g.jsonl"
follow 0 large --key id
run 0 find "$store" rows --count
prints 1
send 4 large "$work/g.jsonl" --set message.max.bytes=1000000
says_some 'leave large records out with --record-size SIZE'
send 4 large "$work/g.jsonl" --set queue.buffering.max.kbytes=1000
says_some 'leave large records out with --record-size SIZE'
brokers error produce 10 1 # MSG_SIZE_TOO_LARGE
send 4 large "$work/g.jsonl"
says_some "raise its max.message.bytes, .*--set batch.size=BYTES$"
brokers error produce 18 1 # RECORD_LIST_TOO_LARGE
send 4 large "$work/g.jsonl"
says_some "raise its max.message.bytes or segment.bytes, "

# --- the words of the command, and what it says
run 0 load --place "$work/places" --key id "kafka://$brokers/t" "$work/b.csv"
says_some '^2 records sent$'
send 3 t "$work/a.jsonl" --max-errors 0
! grep -q 'to continue' "$work/err" || complain 'rejects are not sent again'
mkfifo "$work/pipe"
exec 5<>"$work/pipe"
"$COLANDER" load "kafka://$brokers/t" "$work/pipe" --place "$work/held" \
    2>"$work/background" &
pid=$!
for ((i = 0; i < 600; i++)); do
    [ ! -e "$work/held/rocksdb/CURRENT" ] || break
    sleep 0.1
done
run 1 load "kafka://$brokers/t" "$work/b.csv" --place "$work/held"
says_some 'another load to a topic keeps its places there, .* another --place DIR'
kill -TERM "$pid"
wait "$pid"
exec 5>&-

# --- another cluster has places of its own
stop_brokers
start_brokers 1
brokers topic t 4
send 0 t "$work/b.csv" --key id --resume
says_some '^2 records sent$'
send 0 t "$work/b.csv" --key id --resume
says_some '^0 records sent; 1 file sent before$'
finish
