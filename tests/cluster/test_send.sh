#!/bin/bash
# Records that load sends to a topic: all of a file, also if it is killed, and
# those that were sent twice are followed once. COLANDER_RUNS says how often it
# is killed, COLANDER_SEED repeats a run.
#
# SPDX-License-Identifier: MIT
source "$(dirname "$0")/kafka_lib"

runs=${COLANDER_RUNS:-4}
seed=${COLANDER_SEED:-$RANDOM$RANDOM}
RANDOM=$((seed % 32768))
start_brokers 3
brokers topic t 4
brokers topic u 4
brokers topic v 1
brokers topic w 4

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
run 2 load "kafka://$brokers/t,u" "$work/a.jsonl" --place "$work/places"
says_some 'records are sent to one topic, not to 2'
run 0 load "kafka://$brokers/v" - --place "$work/places" # without a record
says_some '^0 records sent$'

# --- one that is killed is resumed; those that come twice are told apart
seq 1 60000 | sed 's/.*/{"id":&,"text":"some text of record &"}/' >"$work/c.jsonl"
for topic in w u; do
    store=$work/killed$topic
    keys=()
    [ "$topic" = u ] || keys=(--key id)
    killed=0
    rm -rf "$work/places"
    for ((i = 0; i < runs; i++)); do
        "$COLANDER" load "kafka://$brokers/$topic" "$work/c.jsonl" \
            "${keys[@]}" --resume --place "$work/places" --set linger.ms=1 \
            >"$work/out" 2>"$work/err" &
        pid=$!
        sleep "0.$((RANDOM % 4))$((RANDOM % 10))"
        kill -9 "$pid" 2>/dev/null
        wait "$pid" 2>/dev/null
        [ $? != 137 ] || killed=$((killed + 1))
    done
    send 0 "$topic" "$work/c.jsonl" "${keys[@]}" --resume
    follow 0 "$topic" --key id --on-duplicate error
    tail -n 1 "$work/err" | sed "s/^/seed $seed, $killed killed: /"
    run 0 find "$store" rows --count
    prints 60000
done

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
finish
