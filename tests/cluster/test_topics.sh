#!/bin/bash
# Topics of real brokers, which librdkafka's mock cluster does not have: trimmed,
# deleted and created again, compacted; and brokers that want TLS and a password.
# script/test-cluster runs it.
#
# SPDX-License-Identifier: MIT
source "$(dirname "$0")/kafka_lib"

if [ -z "${KAFKA_JARS:-}" ]; then
    echo 'skipped: there are no jars of Kafka (script/test-cluster has them)'
    exit 77
fi
start_brokers
brokers topic t 3

put t 0 '{"id":1}' '{"id":2}'
put t 2 '{"id":3}'
follow 0 t --key id
has rows '{"_key":1,"id":1}' '{"_key":2,"id":2}' '{"_key":3,"id":3}'
follow 0 t --key id
says_some '^0 rows loaded; 0 records behind, in 3 partitions$'

# --- a topic that one of its brokers does not know yet
seq 60000 | sed 's/.*/{"id":&}/' >"$work/many.jsonl"
for i in 1 2 3; do
    kill -STOP "${kafka_pids[3]}"
    (sleep 0.5 && kill -CONT "${kafka_pids[3]}") & # it may be the controller
    brokers begin "new$i" 12
    run 0 load "kafka://$brokers/new$i" "$work/many.jsonl" --key id \
        --place "$work/places$i"
    says_some '^60,000 records sent'
done

# --- no such topic
follow 1 nothing
says_some "cannot find topic 'nothing': .*UNKNOWN_TOPIC"

# --- records were removed before they were read
put t 0 '{"id":4}' '{"id":5}' '{"id":6}'
brokers trim t 0 4
follow 4 t --key id
says_some "partition 0: the records at offsets 2 to 3 were removed before"
follow 0 t --key id --skip-lost
says_some '^1 row loaded.*; up to 2 records lost and skipped$'

# --- the topic is created again: shorter, and as long
brokers delete t
sleep 2
brokers topic t 3
put t 0 '{"id":7}'
follow 4 t --key id
says_some 'partition 0: offset 5 comes next, but its end is at 1: the topic was'
put t 0 '{"id":8}' '{"id":9}' '{"id":10}' '{"id":11}' '{"id":12}'
put t 2 '{"id":13}'
follow 4 t --key id
says_some 'partition 0: the record at offset 4 is not the one that was read'
follow 0 t --key id --restart
says_some '^7 rows loaded'

# --- the same with fewer partitions, of which none was read
brokers topic fewer 3
put fewer 2 '{"id":7}'
store=$work/fewer
follow 0 fewer --key id
brokers delete fewer
sleep 2
brokers topic fewer 2
put fewer 0 '{"id":8}'
follow 4 fewer --key id
says_some 'partition 2: offset 1 comes next, but the topic has no such partition: '
has rows '{"_key":7,"id":7}'
follow 0 fewer --key id --restart
follow 0 fewer --key id
says_some '^0 rows loaded; 0 records behind, in 2 partitions$'
has rows '{"_key":7,"id":7}' '{"_key":8,"id":8}'

# --- a time to begin at
store=$work/time
now=$(date -u +%FT%T.%3NZ)
put t 1 '{"id":14}'
follow 0 t --key id --from "$now"
has rows '{"_key":14,"id":14}'

# --- records that brokers compact
brokers topic compacted 1 compact,delete
echo '{"id":15}' >"$work/one.jsonl"
follow 2 compacted --key id
says_some "topic 'compacted' is compacted: .*cleanup.policy to delete"
run 2 load "kafka://$brokers/compacted" "$work/one.jsonl" --key id
says_some "topic 'compacted' is compacted"

# --- TLS and passwords
brokers topic secure 1
for mechanism in PLAIN SCRAM-SHA-512; do
    store=$work/$mechanism
    cat >"$work/settings" <<END
security.protocol=sasl_ssl
sasl.mechanisms=$mechanism
sasl.username=ann
sasl.password=secret
ssl.ca.location=$work/certificate
END
    run 0 load "kafka://$secure_brokers/secure" "$work/one.jsonl" \
        --settings "$work/settings" --place "$work/$mechanism.places"
    says_some '^1 record sent$'
    run 0 follow "$store" rows "kafka://$secure_brokers/secure" --once --key id \
        --settings "$work/settings"
    run 0 find "$store" rows --count
    prints 1
done
run 4 follow "$store" rows "kafka://$secure_brokers/secure" --once \
    --settings "$work/settings" --set sasl.password=wrong
says_some "invalid credentials .*: cannot find topic 'secure': .*_AUTHENTICATION"
run 4 load "kafka://$secure_brokers/secure" "$work/one.jsonl" \
    --settings "$work/settings" --set ssl.ca.location=/etc/ssl/certs
says_some "certificate verify failed: .* cannot find topic 'secure': .*_SSL"
finish
