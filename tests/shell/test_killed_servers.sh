#!/bin/bash
# A server that is killed under writers that try again until they are answered:
# every record that was acknowledged is there, and none is there twice.
# $COLANDER_RUNS is how often it is killed.
#
# SPDX-License-Identifier: MIT
source "$(dirname "$0")/lib"
has_server || finish
cd "$work" || exit 1

rounds=${COLANDER_RUNS:-3}
writers=8
server=
stop_all() {
    touch stop
    [ -z "$server" ] || kill -9 "$server"
    wait
}
trap 'stop_all 2>/dev/null; rm -rf "$work"; [ "$failures" = 0 ] || exit 1' EXIT

# Starts a server, as often as a writer is faster and opens the store itself.
serve() {
    until [ -n "$server" ]; do
        : >serve.out
        "$COLANDER" serve data >serve.out 2>serve.err </dev/null &
        server=$!
        until [ -s serve.out ] || ! kill -0 "$server" 2>/dev/null; do
            sleep 0.02
        done
        [ -s serve.out ] || server=
    done
}

# A batch is acknowledged by status 200 or exit status 0; others are sent again.
# What was acknowledged is appended to acknowledged.WRITER.
write() { # WRITER
    local batch=0 status

    while [ ! -e stop ]; do
        batch=$((batch + 1))
        for i in {1..20}; do
            echo "{\"writer\":$1,\"batch\":$batch,\"i\":$i}"
        done >"batch.$1"
        until [ -e stop ]; do
            if [ $(($1 % 2)) = 0 ]; then
                status=$(curl -s --unix-socket data/SOCKET -o /dev/null \
                    -w '%{http_code}' 'http://data/load/f?key=:hash' \
                    --data-binary @"batch.$1")
            else
                # without a server it may open the store itself
                "$COLANDER" load data f "batch.$1" --key :hash 2>/dev/null &&
                    status=200
            fi
            [ "$status" != 200 ] || break
            sleep 0.05
        done
        [ "$status" != 200 ] || cat "batch.$1" >>"acknowledged.$1"
        status=
    done
}

run 0 put data first '{"_key":1}'
serve
for ((writer = 0; writer < writers; writer++)); do
    : >"acknowledged.$writer"
    write "$writer" &
done 2>/dev/null
for ((round = 1; round <= rounds; round++)); do
    before=$(cat acknowledged.* | wc -l)
    until [ "$(cat acknowledged.* | wc -l)" -gt $((before + 200)) ]; do
        sleep 0.02
    done
    kill -9 "$server"
    wait "$server" 2>/dev/null
    server=
    serve
done
touch stop
kill "$server"
wait 2>/dev/null
server=

run 0 check data
run 0 export data f --select writer,batch,i
sed -E 's/"_key":"[^"]*",//' out | sort >there
sort -u there | cmp -s - there || complain 'a record is there twice'
sort acknowledged.* >acknowledged
comm -23 acknowledged there >lost
[ ! -s lost ] ||
    complain "$(wc -l <lost) of $(wc -l <acknowledged) records are lost: $(head -3 lost)"
[ -s acknowledged ] || complain 'nothing was acknowledged'
finish
