#!/bin/bash
# script/cluster-demo, and what docs/cluster.md says to type then: with the mock
# cluster and a directory of objects, or where script/test-cluster runs it, with
# the servers that it starts.
#
# SPDX-License-Identifier: MIT
source "$COLANDER_SOURCE/tests/node/nodes_lib"

port=$((12000 + $$ % 3000)) # apart from those of the servers
others=()
if [ -z "${KAFKA_JARS:-}" ]; then
    start_brokers 3
    brokers topic prod-members 1
    brokers topic prod.tweets 6
    others=(--log "kafka://$brokers" --objects "$cluster")
fi
cd "$work" || exit 1
demo=$COLANDER_SOURCE/script/cluster-demo
run_demo() { # ARG...
    "$demo" "$@" >"$work/demo_out" 2>&1
}
trap 'run_demo --stop
    [ -z "$mock_pid" ] || kill -9 "$mock_pid"
    cd / && rm -rf "$work"; [ "$failures" = 0 ] || exit 1' EXIT

run_demo --port && complain '--port without a number'
run_demo --stop && complain 'none runs'
mkdir full && touch full/file
run_demo full && complain 'a folder with files is used'
[ "$(ls full)" = file ] || complain "it has $(ls full)"
"$demo" --port "$port" "${others[@]}" >"$work/log" 2>&1 &
pid=$!
for ((tries = 0; tries < 2400; tries++)); do
    ! grep -q 'Ctrl-C ends all' "$work/log" || break
    kill -0 "$pid" 2>/dev/null || break
    sleep 0.1
done
grep -q 'Ctrl-C ends all' "$work/log" || {
    complain "it has not started: $(cat "$work/log")"
    finish
}

# --- the commands of the page
mkdir bin && ln -s "$COLANDER" bin/colander
PATH=$work/bin:$PATH
sed -n '/^## Try it/,/^## Create/s/^    //p' "$COLANDER_SOURCE/docs/cluster.md" |
    sed "s/7412/$((port + 1))/" >page
count=0
while IFS= read -r line <&3; do
    case $line in
    script/cluster-demo) continue ;;
    script/*) line=$COLANDER_SOURCE/$line ;;
    esac
    eval "$line" >out 2>err </dev/null || complain "'$line' fails: $(cat err out)"
    count=$((count + 1))
    case $line in
    *status*) wanted='^family +tweets: ' ;;
    *--explain) wanted='"city":"Oslo"' ;;
    *map*) wanted='^[0-9]{6}$' ;;
    *7*' tweets --count') wanted='^10000$' ;;
    *--fresh) wanted='first snow' ;;
    *--by*) wanted='^\{"city":"Oslo","avg likes":[0-9.]+\}$' ;;
    *60s | *'Oslo --count') wanted='^1667$' ;;
    *) wanted= ;;
    esac
    [ -z "$wanted" ] || grep -Eq -- "$wanted" out ||
        complain "'$line' prints '$(cat out)' and says '$(cat err)'"
    [[ $line != *'Oslo --count' ]] || grep -q 'no node runs: ' err ||
        complain "'$line' says '$(cat err)'"
done 3<page
[ "$count" -gt 12 ] || complain "the page has $count commands"

# --- all has ended
wait "$pid"
! pgrep -f "$work/cluster-demo" >left || complain "left: $(cat left)"
[ ! -e cluster-demo/pid ] || complain 'it says that it runs'
finish
