#!/bin/bash
# The page of the server in a headless Chromium: what a user does with it, and
# rows and names that mean no good.
#
# SPDX-License-Identifier: MIT
here=$(cd "$(dirname "$0")" && pwd)
source "$here/../shell/lib"
browser=$(command -v chromium || command -v chromium-browser)
if [ -z "$browser" ] || ! python3 -c '' 2>/dev/null; then
    echo 'page: chromium or python3 is not installed'
    exit 77
fi
cd "$work" || exit 1

server=
trap '[ -z "$server" ] || { kill "$server"; wait "$server"; }; rm -rf "$work"
      [ "$failures" = 0 ] || exit 1' EXIT

# 3,000 events in three days, one in 50 of which is an error.
awk 'BEGIN {
    split("info info info warn debug", levels)
    split("api db web", services)
    for (i = 0; i < 3000; i++) {
        level = i % 50 == 7 ? "error" : levels[i % 5 + 1]
        printf "{\"id\":%d,\"at\":\"2026-11-%02dT%02d:%02d:00Z\",", i,
            1 + i / 1000, i / 125 % 8 + (i % 3) * 5, i % 60
        printf "\"level\":\"%s\",\"service\":\"%s\",\"ms\":%d,", level,
            services[i % 3 + 1], (i * 7919) % 1000
        printf "\"http\":{\"path\":\"/item/%d\",\"tags\":[\"t%d\",\"x\"]},", i % 40, i % 5
        printf "\"message\":\"%s number %d\"}\n",
            level == "error" ? "timeout after waiting" : "request done", i
    }
}' >events.jsonl
python3 "$here/hostile_rows.py" >hostile.jsonl
run 0 load data events events.jsonl --key id --type at=time
run 0 families data events --time at
run 0 load data hostile hostile.jsonl
run 0 put data '<img src=x onerror=alert(1)>' '{"_key":1,"a":1}'
run 0 put data .. '{"_key":1,"dots":1}'
run 0 put data -- -x '{"_key":1,"dash":1}'
run 0 put data $'a/b ?%"\\\'\u202eevil' '{"_key":1,"n":2}'
printf '0123456789abcdef0123456789abcdef' >token
chmod 600 token
"$COLANDER" serve data --listen 127.0.0.1:0 --token-file token \
    >serve.out 2>serve.err </dev/null &
server=$!
until [ -s serve.out ]; do
    kill -0 "$server" 2>/dev/null || {
        complain "serve ends: $(cat serve.err)"
        finish
    }
    sleep 0.02
done
address=$(sed -n 's/.* at //p' serve.out)
export COLANDER_TOKEN_FILE=token
python3 "$here/page.py" "$browser" "$address" "$work" ||
    complain "the page (the requests were answered until then)"
finish
