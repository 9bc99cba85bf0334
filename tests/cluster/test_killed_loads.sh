#!/bin/bash
# Loads to a topic that are killed and resumed, and real brokers that are killed
# meanwhile: each record is in the topic, and those that were sent twice are
# followed once. COLANDER_RUNS says how often a load is killed, COLANDER_SEED
# repeats a run.
#
# SPDX-License-Identifier: MIT
source "$(dirname "$0")/kafka_lib"

runs=${COLANDER_RUNS:-4}
seed=${COLANDER_SEED:-$RANDOM$RANDOM}
RANDOM=$((seed % 32768))
count=60000
start_brokers 3
seq 1 $count | sed 's/.*/{"id":&,"text":"some text of record &"}/' >"$work/a.jsonl"

for topic in keyed spread; do
    brokers topic $topic 4
    store=$work/$topic
    load=(load "kafka://$brokers/$topic" "$work/a.jsonl" --resume
        --place "$work/places")
    [ $topic = spread ] || load+=(--key id)
    killed=0
    broker_kills=0
    for ((i = 0; i < runs; i++)); do
        "$COLANDER" "${load[@]}" --set linger.ms=1 --set batch.num.messages=50 \
            >"$work/out" 2>"$work/err" &
        pid=$!
        sleep "0.$((RANDOM % 4))$((RANDOM % 10))"
        if [ -n "${KAFKA_JARS:-}" ] && [ $((RANDOM % 3)) = 0 ]; then
            broker=$((1 + RANDOM % 3))
            kill_kafka_broker "$broker"
            broker_kills=$((broker_kills + 1))
            sleep "$((RANDOM % 3)).$((RANDOM % 10))"
            [ $((RANDOM % 2)) = 0 ] || kill -9 "$pid" 2>/dev/null
            start_kafka_broker "$broker"
            await_kafka_broker "$broker"
        fi
        kill -9 "$pid" 2>/dev/null
        wait "$pid" 2>/dev/null
        status=$?
        case $status in
        0) ;;
        137) killed=$((killed + 1)) ;;
        *) complain "load exits $status: $(cat "$work/err")" ;;
        esac
    done
    run 0 "${load[@]}"
    follow 0 $topic --key id --on-duplicate error
    printf 'seed %s, %d loads and %d brokers killed: %s\n' "$seed" "$killed" \
        "$broker_kills" "$(tail -n 1 "$work/err")"
    run 0 find "$store" rows --count
    prints $count
done
finish
