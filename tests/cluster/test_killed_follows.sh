#!/bin/bash
# Follows that are killed while records come, and real brokers that are killed,
# too: no record is lost, none is loaded twice, and each reject is kept once.
#
# A record that came twice would be rejected, as its key has a row already; or,
# where rows are replaced, it does not matter, and rows may go in runs.
# COLANDER_RUNS says how many are killed, COLANDER_SEED repeats a run.
#
# SPDX-License-Identifier: MIT
source "$(dirname "$0")/kafka_lib"

runs=${COLANDER_RUNS:-4}
seed=${COLANDER_SEED:-$RANDOM$RANDOM}
RANDOM=$((seed % 32768))
start_brokers 3
brokers topic t 3
brokers topic u 2
rows=0    # sent
rejects=0 # of them bad
kills=0
broker_kills=0

# send_some: sends some good records and some bad ones.
send_some() {
    local count=$((1 + RANDOM % 3000)) topic=$((RANDOM % 2)) part=$((RANDOM % 2))
    seq $((rows + 1)) $((rows + count)) |
        awk '{ if ($1 % 100 == 7) print "bad " $1;
               else print "{\"id\":" $1 ",\"text\":\"record " $1 "\"}" }' \
            >"$work/records"
    rejects=$((rejects + $(grep -c bad "$work/records")))
    rows=$((rows + count))
    [ "$topic" = 0 ] && topic=t || topic=u
    brokers put "$topic" "$part" "$work/records"
}

# follow_on [OPTION...]: starts it.
follow_on() {
    "$COLANDER" follow "$store" rows "kafka://$brokers/t,u" --key id "$@" \
        >"$work/out" 2>"$work/err" &
    follower=$!
}

for way in error replace; do
    store=$work/$way
    for ((i = 0; i < runs; i++)); do
        follow_on --on-duplicate "$way"
        send_some
        sleep "0.$((RANDOM % 10))$((RANDOM % 10))"
        if [ -n "${KAFKA_JARS:-}" ] && [ $((RANDOM % 3)) = 0 ]; then
            # one at a time: two of three acknowledge what is sent meanwhile
            broker=$((1 + RANDOM % 3))
            kill_kafka_broker "$broker"
            broker_kills=$((broker_kills + 1))
            send_some
            sleep "$((RANDOM % 3)).$((RANDOM % 10))"
            start_kafka_broker "$broker"
            await_kafka_broker "$broker"
        fi
        kill -9 "$follower" 2>/dev/null
        wait "$follower" 2>/dev/null
        status=$?
        [ "$status" = 137 ] || complain "it ends by itself: $(cat "$work/err")"
        kills=$((kills + 1))
    done
    run 0 follow "$store" rows "kafka://$brokers/t,u" --key id --once \
        --max-errors 1000000000 --on-duplicate "$way"
    run 0 find "$store" rows --count
    prints $((rows - rejects))
    run 0 find "$store" rows.rejects --count
    prints "$rejects"
    run 0 export "$store" rows.rejects
    [ "$(grep -c '"record":"bad ' "$work/out")" = "$rejects" ] ||
        complain "other rejects: $(grep -v '"record":"bad ' "$work/out" | head -n 3)"
    run 0 check "$store"
done
echo "seed $seed: $kills follows and $broker_kills brokers killed, $rows records"
finish
