#!/bin/bash
# Topics that are followed: each record is loaded once, bad ones are kept, and
# what is missing is said.
#
# SPDX-License-Identifier: MIT
source "$(dirname "$0")/kafka_lib"

start_brokers 3
brokers topic t 2
brokers topic u 1

# --- records, keys, and where it continues
put t 0 '{"id":1,"a":"x"}' '{"id":2,"a":"y"}'
put t 1 '{"id":3,"a":"z"}'
put u 0 '{"id":4}'
follow 0 t --key id
says_some '^3 rows loaded; 0 records behind, in 2 partitions$'
has rows '{"_key":1,"id":1,"a":"x"}' '{"_key":2,"id":2,"a":"y"}' \
    '{"_key":3,"id":3,"a":"z"}'
follow 0 t --key id
says_some '^0 rows loaded; '
put t 1 '{"id":3,"a":"new"}'
follow 0 t,u --key id
says_some '^2 records read: 1 row new, 1 replaced; .* in 3 partitions$'
has rows '{"_key":1,"id":1,"a":"x"}' '{"_key":2,"id":2,"a":"y"}' \
    '{"_key":3,"id":3,"a":"new"}' '{"_key":4,"id":4}'

# --- a record without a key has its place; a bad one is kept
brokers topic v 1
put v 0 '{"a":1}' 'no JSON' '{"a":2' '{"a":3}'
brokers null v 0
store=$work/places
follow 3 v
says_some '^colander: follow: v/0 offset 1, byte 1: '
says_some '; 3 rejected; 0 records behind, in 1 partition$'
has rows '{"_key":["TIME","v",0,0],"a":1}' '{"_key":["TIME","v",0,3],"a":3}'
rows rows.rejects >"$work/rejects"
[ "$(cut -d, -f 1-3 "$work/rejects")" = '{"_key":["v",0,1]
{"_key":["v",0,2]
{"_key":["v",0,4]' ] || complain "rejects are '$(cat "$work/rejects")'"
grep -q '"record":"no JSON"' "$work/rejects" || complain 'the record is lost'
grep -q '"reason":"the record is null, and it has no key: ' "$work/rejects" ||
    complain 'a null has another reason'
put v 0 '{"a":4'
follow 0 v --max-errors 1
[ "$(rows rows.rejects | wc -l)" = 4 ] || complain 'a reject is missing'
put v 0 '{"a":5' '{"a":6' '{"a":7}'
follow 3 v --max-errors 1
says_some 'more than 1 rejected'

# --- where it begins
store=$work/begin
follow 0 t --from end
has rows
put t 0 '{"id":5}'
follow 0 t --from beginning --key id
has rows '{"_key":5,"id":5}'
follow 0 t --restart --key id
says_some '^5 records read: 3 rows new, 2 replaced'

# --- what is missing, or another
brokers topic w 1
brokers many w 0 0 10 100
store=$work/gap
follow 0 w
brokers many w 0 10 60000 100
follow 4 w
says_some "^colander: follow: topic 'w', partition 0: the records at offsets 10 \
to [0-9]+ were removed before they were read"
follow 0 w --skip-lost
says_some '; up to [0-9,]+ records lost and skipped$'
follow 0 w
says_some '^0 rows loaded'
stop_brokers
start_brokers 1
brokers topic w 1
follow 4 w
says_some "partition 0: it was read from cluster .*, this is cluster .* add \
--restart$"

# --- options
run 2 follow "$store" rows "kafka://$brokers/w" --set auto.offset.reset=latest
says_some "'auto.offset.reset' is always 'error' here"
run 2 follow "$store" rows "kafka://$brokers/w" --set no.such=1
says_some 'No such configuration property: "no.such"'
echo 'no.such=2' >"$work/settings"
run 2 follow "$store" rows "kafka://$brokers/w" --settings "$work/settings"
says_some 'settings:1: No such '
for address in kafka:// kafka://b1 kafka:///t kafka://b1/ kafka://b1/a,a \
    kafka://b1/a/b; do
    run 2 follow "$store" rows "$address"
done
run 2 follow "$store" rows "kafka://$brokers/w" --format csv
says_some "not 'csv'"

# --- SIGTERM ends it, and what was read is there
store=$work/term
brokers topic x 1

# await_written TEXT: waits until a log of the store has it.
await_written() {
    for ((i = 0; i < 600; i++)); do
        ! grep -rqs "$1" "$store" --include='*.log' || return 0
        sleep 0.1
    done
    complain "'$1' is not written: $(cat "$work/err")"
}

put x 0 '{"n":1,"a":"the first"}'
"$COLANDER" follow "$store" rows "kafka://$brokers/x" --key n 2>"$work/err" &
pid=$!
await_written 'the first'
put x 0 '{"n":2,"a":"the second"}'
await_written 'the second'
kill -TERM "$pid"
wait "$pid" || complain "SIGTERM: exit status $?: $(cat "$work/err")"
says_some '^2 rows loaded; 0 records behind, in 1 partition$'
has rows '{"_key":1,"n":1,"a":"the first"}' '{"_key":2,"n":2,"a":"the second"}'
follow 0 x --key n
says_some '^0 rows loaded; '
finish
