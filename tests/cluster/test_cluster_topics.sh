#!/bin/bash
# Topics of clusters are created by real brokers, and docs/cluster.md shows what
# the program prints. script/test-cluster runs it.
#
# SPDX-License-Identifier: MIT
source "$(dirname "$0")/kafka_lib"

if [ -z "${KAFKA_JARS:-}" ]; then
    echo 'skipped: there are no jars of Kafka (script/test-cluster has them)'
    exit 77
fi
start_brokers
for i in 1 2 3; do
    await_kafka_broker "$i"
done
brokers topic ready 1
cd "$work" || exit 1
check_page cluster.md 5
address=file://$work/prod

# settings TOPIC: what the topic was created with.
settings() {
    java -cp "$KAFKA_JARS/*" kafka.admin.ConfigCommand --bootstrap-server \
        "${brokers%%,*}" --describe --entity-type topics --entity-name "$1" \
        2>"$work/hello" | sed -nE 's/^ +([a-z.]+=[a-z0-9]+) .*/\1/p' | sort | tr '\n' ' '
}
[ "$(settings prod.readings)" = \
    'cleanup.policy=delete min.insync.replicas=2 retention.ms=604800000 ' ] ||
    complain "prod.readings has $(settings prod.readings)"
[ "$(settings prod-members)" = 'cleanup.policy=delete min.insync.replicas=2 retention.ms=3600000 segment.ms=3600000 ' ] ||
    complain "prod-members has $(settings prod-members)"

# --- a topic that is there
run 0 cluster family "$address" readings --partitions 2 --schema sensor
prints 'family   readings, was defined so before
topic    prod.readings, was there: 2 partitions'
brokers topic prod.three 3
run 2 cluster family "$address" three --partitions 4 --key id
says_some "topic 'prod.three' has 3 partitions, not 4$"
run 0 cluster family "$address" three --partitions 3 --key id
prints_some '^topic +prod.three, was there: 3 partitions$'
brokers topic compacted 1 compact
run 2 cluster family "$address" compacted --topic compacted
says_some "topic 'compacted' is compacted: "
run 1 cluster family "$address" none --topic missing
says_some "cannot find topic 'missing'"
! ls prod/families | grep -Ev '^(readings|three)-' ||
    complain "$(ls prod/families)"

# --- how it is created
run 0 cluster family "$address" one --partitions 1 --log-replicas 1 \
    --log-retention 36h
prints_some '^topic +prod.one, created: 1 partition on 1 broker$'
prints_some '^note +a broker that is lost takes its records with it'
[ "$(settings prod.one)" = \
    'cleanup.policy=delete min.insync.replicas=1 retention.ms=129600000 segment.ms=129600000 ' ] ||
    complain "prod.one has $(settings prod.one)"
run 4 cluster family "$address" four --partitions 1 --log-replicas 4
says_some "cannot create topic 'prod.four': .*INVALID_REPLICATION_FACTOR"
run 0 cluster family "$address" many --partitions 64 --replicas 1 --key id
run 1 cluster status "$address"
[ "$(grep -c '^  00[0-9]* ' "$work/out")" = 70 ] || complain "$(cat "$work/out")"

# --- a checkpoint that is too old for how long brokers keep records
run 0 cluster family "$address" short --partitions 1 --replicas 1 --key id \
    --log-retention 30s
echo '{"id":1}' >one.jsonl
run 0 load "kafka://$brokers/prod.short" one.jsonl --key id
"$COLANDER" serve "$address" --dir node --checkpoint 1s >serve.out 2>&1 &
node=$!
for ((tries = 0; tries < 300; tries++)); do
    "$COLANDER" cluster status "$address" --json >"$work/out"
    ! grep -q '"short".*"checkpoint":{"number":2,"offset":1,' "$work/out" || break
    sleep 0.1
done
kill -9 "$node"
wait "$node" 2>/dev/null
prints_some '"family":"short","topic":"prod.short","retention_ms":30000,'
sleep 11
run 1 cluster status "$address"
! grep '^missing.*newest checkpoint' "$work/out" || complain "it has all: $(cat "$work/out")"
run 0 load "kafka://$brokers/prod.short" one.jsonl --key id --place other
run 1 cluster status "$address"
prints_some '^missing +short/0000: its newest checkpoint is [1-9][0-9] seconds old, and brokers keep records for 30 seconds: .* retention.ms of topic prod.short$'

# --- brokers that want TLS and a password
cat >settings <<END_OF_SETTINGS
sasl.username=ann
sasl.password=secret
ssl.ca.location=$work/certificate
END_OF_SETTINGS
run 0 cluster create "file://$work/secure" --log "kafka://$secure_brokers" \
    --settings settings --set security.protocol=sasl_ssl \
    --set sasl.mechanisms=PLAIN
run 0 cluster family "file://$work/secure" f --partitions 2 --settings settings
run 1 cluster status "file://$work/secure" --settings settings
prints_some '^  0001 +no checkpoint; the log has offsets 0 to 0$'
! grep -r secret secure || complain 'a secret was kept'
run 4 cluster status "file://$work/secure"
finish
