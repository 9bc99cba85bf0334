#!/bin/bash
# The log of requests: a line for each, which holds no value and cannot be
# forged, in a file that may be renamed, on a disk that may be full.
#
# SPDX-License-Identifier: MIT
source "$(dirname "$0")/lib"
has_server || finish
cd "$work" || exit 1

run 0 put data rows '{"_key":"secret1","city":"secret2","n":1}'
ask() { # PATH CURL-ARG...: at the socket
    local path=$1

    shift
    curl -sS --unix-socket data/SOCKET "http://x$path" "$@" >reply 2>&1
}

# logs LINE-REGEX: a line of log.jsonl matches, once it has been written.
logs() {
    local i

    for ((i = 0; i < 500; i++)); do
        grep -Eq -- "$1" log.jsonl && return
        sleep 0.02
    done
    complain "no line is like '$1': $(tail -n 3 log.jsonl)"
}
line() { # WORDS: a request at the socket, with these beside its numbers
    logs "^\{\"time\":\"20[0-9-]+T[0-9:.]+Z\",\"id\":[0-9]+,\"client\":\"uid $UID, pid [0-9]+\",$1,\"us\":[0-9]+(,\"cut\":true)?\}\$"
}

# Every kind of request has a line, and none of them a value.
printf '{"id":"secret3","t":"secret4"}\n' >secret.jsonl
serve data --listen 127.0.0.1:0 --token-file token --log log.jsonl
[ "$(stat -c %a log.jsonl)" = 600 ] || complain 'others may read the log'
ask '/find/rows?q=city=secret2&limit=5'
line '"method":"GET","request":"find","family":"rows","status":200,"in":0,"out":62,"rows":1'
ask /find/rows -d q=city=secret2
line '"method":"POST","request":"find","family":"rows","status":200,"in":14,"out":62,"rows":1'
ask '/get/rows?key=secret1'
line '"method":"GET","request":"get","family":"rows","status":200,"in":0,"out":[0-9]+,"rows":1'
ask '/get/rows?key=secret5'
line '"method":"GET","request":"get","family":"rows","status":404,"in":0,"out":[1-9][0-9]*,"rows":0'
ask '/load/people?key=id' --data-binary @secret.jsonl
line '"method":"POST","request":"load","family":"people","status":200,"in":31,"out":[0-9]+,"rows":1'
ask /update/people -d q=id=secret3 -d set=t=secret6
line '"method":"POST","request":"update","family":"people","status":200,"in":[0-9]+,"out":11,"rows":1'
ask /delete/people -d q=id=secret3
line '"method":"POST","request":"delete","family":"people","status":200,"in":12,"out":11,"rows":1'
ask '/columns/rows?like=secret2'
line '"method":"GET","request":"columns","family":"rows","status":[0-9]+,.*'
ask '/group/rows?by=city&q=city=secret2'
line '"method":"GET","request":"group","family":"rows","status":200,"in":0,"out":[0-9]+,"rows":1'
ask /lua --data-binary 'return "secret7"'
line '"method":"POST","request":"lua","status":200,"in":16,"out":[0-9]+'
ask '/insert/jsonline?family=lines' --data-binary @secret.jsonl
line '"method":"POST","request":"jsonline","family":"lines","status":200,"in":31,"out":[0-9]+,"rows":1'
ask '/write?db=points' --data-binary 'm,tag=secret8 v=1 1'
line '"method":"POST","request":"write","family":"points","status":204,"in":19,"out":0,"rows":1'
ask /items/_bulk --data-binary $'{"index":{"_id":"secret9"}}\n{"a":"secret9"}\n'
line '"method":"POST","request":"_bulk","family":"items","status":200,"in":[0-9]+,"out":[0-9]+,"rows":1'
ask /backup -d "to=$PWD/copies-secret"
line '"method":"POST","request":"backup","status":200,.*'
for kind in health families stats metrics; do
    ask /$kind
    line "\"method\":\"GET\",\"request\":\"$kind\",\"status\":200,\"in\":0,\"out\":[1-9][0-9]*"
done
ask / -H 'Accept: text/html'
line '"method":"GET","request":"page","status":200,"in":0,"out":[1-9][0-9]*'
ask / && line '"method":"GET","request":"elastic","status":200,.*'
ask /secret/secret/secret
line '"method":"GET","status":404,"in":0,"out":[1-9][0-9]*'
ask /health -X DELETE
line '"method":"DELETE","request":"health","status":405,.*'
run 0 find data rows city=secret2 --count
line '"method":"POST","request":"command","command":"find","status":200,.*'
curl -sS "$url/find/rows?q=secret2" >/dev/null
logs '"client":"127\.0\.0\.1:[0-9]+","method":"GET","request":"find","family":"rows","status":401,"in":0,"out":[1-9]'

# What clients write ends no line, and does nothing to a terminal.
ask /find/a%0A%7B%22forged%22:1%7D%0A -g
line '"method":"GET","request":"find","family":"a\?\{\\"forged\\":1\}\?","status":(400|404),.*'
ask /find/%1b[2J%ff%c2%9b%e2%80%aeb%c3%a9 -g
line '"method":"GET","request":"find","family":"\?\[2J\?\?\?bé","status":(400|404),.*'
printf 'GET /find/a\x01b HTTP/1.1\r\nHost: x\r\n\r\n' |
    timeout 5 bash -c "exec 3<>/dev/tcp/${url#http://}; cat >&3; head -1 <&3" \
    >/dev/null 2>&1
grep -q '^{"forged' log.jsonl && complain 'a line is forged'
grep -v '^{"time":"20[^"]*","id":[0-9]*,"client":"[^"]*",.*}$' log.jsonl &&
    complain 'a line is none'
grep secret log.jsonl && complain 'a value is in the log'

# An answer that is not taken is cut.
yes '{"a":"some text of a row that is a little longer than others"}' |
    head -n 300000 >many.jsonl
ask /load/many --data-binary @many.jsonl
curl -sS --unix-socket data/SOCKET http://x/find/many 2>/dev/null |
    head -c 100 >/dev/null
line '"method":"GET","request":"find","family":"many","status":200,"in":0,"out":[0-9]+,"rows":[0-9]+'
logs '"request":"find","family":"many",.*"cut":true'

# After a rename lines come where the file was, and none is lost.
mv log.jsonl log.1
ask /stats
logs_before=$(wc -l <log.1)
kill -HUP "$server"
until [ -e log.jsonl ]; do sleep 0.02; done
ask /metrics
logs '"request":"metrics"'
[ "$(cat log.1 log.jsonl | grep -c '"request":"stats"')" = 2 ] ||
    complain "the line of a rename is lost: $logs_before"
grep -q '"request":"metrics".*"out":0,' log.jsonl && complain 'no bytes'
mkdir elsewhere && mv log.jsonl elsewhere && mkdir log.jsonl
kill -HUP "$server"
until grep -q "cannot open the log 'log.jsonl'" serve.err; do sleep 0.02; done
ask /families
stop
grep -q '"request":"families"' elsewhere/log.jsonl ||
    complain 'a file that cannot be opened ends the log'
# The log is records: it can be loaded.
run 0 load logs requests log.1 elsewhere/log.jsonl --type time=time --key id
rm -r log.jsonl

# With values.
serve data --log log.jsonl --log-values
ask '/find/rows?q=city=secret2'
logs '"target":"/find/rows\?q=city=secret2"\}$'
ask /find/rows -d q=city=secret2
logs '"target":"/find/rows","body":"q=city=secret2"\}$'
ask '/load/people?key=id' --data-binary @secret.jsonl
logs '"target":"/load/people\?key=id"\}$'
stop
grep -q secret4 log.jsonl && complain 'records are in the log'

# A full disk ends nothing, and is counted.
serve data --log /dev/full
ask /health
for ((i = 0; i < 500; i++)); do
    ask /metrics
    grep -q '^colander_log_lines_dropped_total [1-9]' reply && break
    sleep 0.02
done
[ $i -lt 500 ] || complain 'lines that are not written are not counted'
stop

# Nor does a pipe that is full.
mkfifo pipe
exec 9<>pipe
"$COLANDER" serve data --log - >pipe 2>serve.err </dev/null &
server=$!
until [ -S data/SOCKET ]; do sleep 0.02; done
ask '/get/rows?key=[1-2000]' && [ "$(grep -c error reply)" = 2000 ] ||
    complain "a full pipe keeps answers back: $(tail -n 1 reply)"
stop
head -n 1 <&9 >first
grep -q '^serving data$' first || complain "first comes $(cat first)"
exec 9<&-
# Nor one in the middle of a line that is longer than its room: of its 16 pages
# one is free when a line of two comes.
rm pipe
mkfifo pipe
exec 9<>pipe
"$COLANDER" serve data --log - --log-values >pipe 2>serve.err </dev/null &
server=$!
until [ -S data/SOCKET ]; do sleep 0.02; done
head -c 5000 /dev/zero | tr '\0' a >long
ask "/find/rows?select=$(cat long)" --data-urlencode q@long
ask "/find/rows?select=$(cat long)&limit=[1-40]"
stop
exec 9<&-
run 2 serve data --log-values
says 'colander: serve: --log-values needs --log'
run 4 serve data --log none/log
says_some "cannot open the log 'none/log': No such file or directory"
finish
