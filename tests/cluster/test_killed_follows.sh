#!/bin/bash
# Follows that are killed while records come, and real brokers that are killed,
# too: no record is lost, none is loaded twice, and each reject is kept once.
#
# A record that came twice would be rejected, as its key has a row already; or,
# where rows are replaced, it does not matter, and rows may go in runs. Of two
# topics all records are new rows. Those of two others are about few keys and
# patch and delete, too: rows and rejects must be those of a model.
# COLANDER_RUNS says how many are killed, COLANDER_SEED repeats a run.
#
# SPDX-License-Identifier: MIT
source "$(dirname "$0")/kafka_lib"

runs=${COLANDER_RUNS:-3}
seed=${COLANDER_SEED:-$RANDOM$RANDOM}
RANDOM=$((seed % 32768))
start_brokers 3
for topic in t u changes more; do
    brokers topic $topic 3
done
sent=0 # records
kills=0
broker_kills=0
touch "$work/rows" "$work/changes"

# send_rows: sends some new rows and some bad records to t or u.
send_rows() {
    local topics=(t u) count=$((1 + RANDOM % 3000)) from=$((sent + 1))
    sent=$((sent + count))
    seq $from $sent |
        awk '{ if ($1 % 100 == 7) print "bad " $1;
               else print "{\"id\":" $1 ",\"text\":\"record " $1 "\"}" }' \
            >"$work/records"
    sed 's/^/put /' "$work/records" >>"$work/rows"
    brokers put "${topics[RANDOM % 2]}" $((RANDOM % 2)) "$work/records"
}

# send_changes: sends operations on few keys, and some bad records, to the others.
# A key is always in the same partition.
send_changes() {
    local topics=(changes more) count=$((1 + RANDOM % 3000)) from=$((sent + 1))
    local topic=$((RANDOM % 2)) part=$((RANDOM % 2))
    sent=$((sent + count))
    seq $from $sent |
        awk -v seed=$RANDOM -v first=$((1000 * (1 + 2 * topic + part))) '
            BEGIN { srand(seed) }
            { id = first + int(300 * rand())
              kind = int(20 * rand())
              if (kind == 0) print "put bad " $1
              else if (kind < 11)
                  print "put {\"id\":" id ",\"n\":" $1 ",\"a\":" $1 "}"
              else if (kind < 16)
                  print "patch {\"id\":" id ",\"n\":" $1 ",\"b\":" $1 "}"
              else if (kind < 19) print "delete {\"id\":" id "}"
              else print "null " id }' >"$work/records"
    cat "$work/records" >>"$work/changes"
    brokers ops "${topics[topic]}" "$part" "$work/records"
}

# model WAY: reads what was sent, and prints rows as `export` does, and rejected
# records after a '-', without quotes.
model() {
    awk -F '[ :,}]' -v way="$1" '
        function keep() { sub(/^put /, ""); gsub(/"/, ""); print "-" $0 }
        { id = $1 == "null" ? $2 : $3 }
        $2 == "bad" { keep(); next }
        $1 == "put" && way == "error" && (id in rows) { keep(); next }
        $1 == "put" { rows[id] = substr($0, index($0, ",")); b[id] = "" }
        $1 == "patch" && !(id in rows) { rows[id] = ",\"n\":0}" }
        $1 == "patch" {
            sub(/"n":[0-9]+/, "\"n\":" $5, rows[id]); b[id] = ",\"b\":" $7 }
        $1 == "delete" || $1 == "null" { delete rows[id]; delete b[id] }
        END { for (id in rows) {
                  row = rows[id]
                  sub(/}$/, b[id] "}", row)
                  print "{\"_key\":" id ",\"id\":" id row } }' | sort
}

# compare WAY FILE: the store has what a model makes of the records.
compare() {
    model "$1" <"$2" >"$work/wanted"
    {
        run 0 export "$store" rows
        cat "$work/out"
        run 0 export "$store" rows.rejects
        sed -E 's/.*"record":"(.*)"}$/-\1/; s/\\?"//g' "$work/out"
    } | sort >"$work/got"
    cmp -s "$work/got" "$work/wanted" || complain "$1 of ${2##*/}: $(
        diff "$work/wanted" "$work/got" | head -n 6)"
}

# follow_on [OPTION...]: starts it.
follow_on() {
    "$COLANDER" follow "$store" rows "kafka://$brokers/$topics" --key id "$@" \
        >"$work/out" 2>"$work/err" &
    follower=$!
}

for what in rows changes; do
    topics=t,u
    [ $what = rows ] || topics=changes,more
    for way in error replace; do
        store=$work/$what-$way
        for ((i = 0; i < runs; i++)); do
            follow_on --on-duplicate "$way"
            if [ $((RANDOM % 2)) = 0 ]; then # while records are sent
                (sleep "0.$((RANDOM % 5))$((RANDOM % 10))"
                    kill -9 "$follower") &
                send_$what
            fi
            send_$what
            sleep "0.$((RANDOM % 10))$((RANDOM % 10))"
            if [ -n "${KAFKA_JARS:-}" ] && [ $((RANDOM % 3)) = 0 ]; then
                # one at a time: two of three acknowledge what is sent meanwhile
                broker=$((1 + RANDOM % 3))
                kill_kafka_broker "$broker"
                broker_kills=$((broker_kills + 1))
                send_$what
                sleep "$((RANDOM % 3)).$((RANDOM % 10))"
                start_kafka_broker "$broker"
                await_kafka_broker "$broker"
            fi
            kill -9 "$follower" 2>/dev/null
            wait "$follower" 2>/dev/null
            status=$?
            [ "$status" = 137 ] ||
                complain "it ends by itself: $(cat "$work/err")"
            kills=$((kills + 1))
        done
        run 0 follow "$store" rows "kafka://$brokers/$topics" --key id --once \
            --max-errors 1000000000 --on-duplicate "$way"
        compare "$way" "$work/$what"
        run 0 check "$store"
    done
done
echo "seed $seed: $kills follows and $broker_kills brokers killed, $sent records"
finish
