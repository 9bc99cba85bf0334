#!/bin/bash
# Agents that feed a server: by requests as they send them, and those that are
# installed by the configurations that docs/feeding.md shows.
#
# SPDX-License-Identifier: MIT
source "$(dirname "$0")/lib"
has_server || finish
docs=$(cd "$(dirname "$0")/../../docs" && pwd)/feeding.md
cd "$work" || exit 1

server=
agent=
trap '[ -z "$server" ] || kill -9 "$server"
      [ -z "$agent" ] || kill -9 "$agent"
      rm -rf "$work"
      [ "$failures" = 0 ] || exit 1' EXIT

run 0 put data first '{"_key":1}'
serve data --listen 127.0.0.1:0 --token-file token
address=$url
port=${address##*:}
token=$(cat token)

# posts STATUS PATTERN TARGET BODY [ARG...]: the body, with its escapes read, is
# answered so. The pattern is one of grep.
posts() {
    local status=$1 pattern=$2 target=$3 body=$4 got

    shift 4
    got=$(printf '%b' "$body" | curl -sS -w '\n%{http_code}' \
        -H "Authorization: Bearer $token" --data-binary @- "$@" \
        "$address$target" 2>&1)
    [ "${got##*$'\n'}" = "$status" ] && grep -q -- "$pattern" <<<"$got" ||
        complain "POST $target '$body' $*: $got, not $pattern $status"
}

# has FAMILY COUNT CONDITION...: COUNT rows are found.
has() {
    local family=$1 count=$2 got

    shift 2
    got=$("$COLANDER" find data "$family" "$@" --count 2>&1)
    [ "$got" = "$count" ] || complain "$family $*: $got rows, not $count"
}

# awaits COUNT FAMILY CONDITION...: COUNT rows are found in the end.
awaits() {
    local count=$1 got

    shift
    for ((i = 0; i < 1200; i++)); do
        got=$("$COLANDER" find data "$@" --count 2>/dev/null)
        [ "$got" != "$count" ] || return 0
        sleep 0.05
    done
    complain "$*: $got rows, not $count"
}

# --------------------------------------------------------------- influx ---

posts 204 '' '/write?db=m&precision=s' 'cpu,host=a v=1,s="x y" 1700000000\n'
posts 204 '' '/api/v2/write?bucket=m&org=o&precision=ms' \
    'cpu,host=a w=2i 1700000000000\ncpu,host=b w="text" 1700000000000'
has m 1 v=1 w=2 s='"x y"' host=a _measurement=cpu
has m 1 w=text
has m 2 time=2023-11-14T22:13:20Z
posts 400 '"code":"invalid","message":"partial write: 1 line was rejected, the first is line 2: .*"error":"partial write.*"rows":2,"rejected":1' \
    '/write?db=m' 'a v=1 1\nb v=x 1\nd v=1 1\n'
posts 400 'message":"partial write: 2 lines were rejected.*"rows":2' \
    '/write?db=m' 'a v=1 1\nb v=x 1\nc v="unclosed\nd v=1 1\n'
posts 400 "'db', which names the family, is missing" '/write' 'a v=1 1'
posts 400 "'bucket', which names" '/api/v2/write' 'a v=1 1'
posts 400 "unknown parameter 'u'" '/write?db=m&u=x&p=y' 'a v=1 1'
posts 400 'precision must be' '/write?db=m&precision=d' 'a v=1 1'
posts 204 '' '/write?db=sync&sync=1' 'a v=1 1'
posts 204 '' '/write?db=m' ''
printf 'z,t=1 v=1 1700000000000000000\n' | gzip -n >z.gz
for size in 25 100; do
    head -c $size z.gz | curl -sS -w '%{http_code}' --data-binary @- \
        -H "Authorization: Bearer $token" "$address/write?db=zipped"
done >answer
tr -d '\n' <answer | grep -q '^{"code":"invalid","message":.*}400204$' ||
    complain "gzip, cut and whole: $(cat answer)"
has zipped 1 t='"1"'

# ---------------------------------------------------------------- _bulk ---

bulk='{"index":{"_index":"e","_id":"1"}}\n{"n":1}\n'
bulk+='{"create":{"_index":"e","_id":"1"}}\n{"n":2}\n'
bulk+='{"update":{"_index":"e","_id":"1"}}\n{"doc":{"m":3}}\n'
bulk+='{"delete":{"_index":"e","_id":"2"}}\nrubbish\n'
bulk+='{"index":{"_index":"e","_id":"3"}}\n{"n":3}\n'
posts 200 '^{"items":\[{"index":{"_index":"e","_id":"1","status":201,"result":"created"}},{"create":{"_index":"e","_id":"1","status":409,"error":{"type":"version_conflict_engine_exception","reason":".*"}}},{"update":{.*"status":200,"result":"updated"}},{"delete":{.*"status":404,"result":"not_found"}},{"index":{"_index":"","status":400,"error":.*}},{"index":{"_index":"e","_id":"3","status":201,.*}}\],"errors":true,"took":' \
    '/_bulk?refresh=wait_for' "$bulk"
has e 1 n=1 m=3
has e 2 'n?'
posts 200 '"errors":false' '/f/_bulk?key=:hash' '{"index":{}}\n{"n":1}\n'
posts 200 '"errors":false' '/f/_bulk?key=:hash' '{"index":{}}\n{"n":1}\n' -X PUT
has f 1 n=1
posts 200 '^{"items":\[{"index":{"_index":"f",.*"errors":false' \
    '/load/f?format=elasticsearch' '{"index":{}}\n{"n":2}\n'
posts 200 '^{"rows":1,' '/load/f?format=influx&precision=s' 'a v=1 1\n'
posts 200 '"_index":"",.*"status":400,.*the action has no _index' '/_bulk' \
    '{"index":{}}\n{"n":1}\n'
posts 200 '{"index":{"_index":"e","status":400,' '/e/_bulk' '{"index":{}}\n[1]\n'
posts 200 '{"items":\[\],"errors":false' '/_bulk' ''
posts 400 "unknown parameter 'pipeline'" '/_bulk?pipeline=p' "$bulk"

# A body may have many items; the answer has the status of each, and a limit.
many() { # COUNT DIGITS-OF-ID
    awk -v n="$1" -v digits="$2" 'BEGIN {
        for (i = 0; i < n; i++)
            printf "{\"index\":{\"_id\":\"%0" digits "d\"}}\n{\"n\":%d}\n", i, i
    }'
}
got=$(many 150000 6 | curl -sS -o answer -w '%{http_code}' -u "any:$token" \
    --data-binary @- "$address/many/_bulk")
[ "$got" = 200 ] || complain "150,000 items: $got $(head -c 300 answer)"
[ "$(grep -o '"status":201' answer | wc -l)" = 150000 ] ||
    complain "150,000 items: $(head -c 300 answer)"
got=$(many 50000 700 | curl -sS -o answer -w '%{http_code}' -u "any:$token" \
    --data-binary @- "$address/more/_bulk")
[ "$got" = 413 ] &&
    grep -q '^{"error":{"type":"content_too_long_exception","reason":"the answer is over' answer ||
    complain "an answer that is too long: $got $(head -c 300 answer)"

# errors STATUS REGEX CURL-ARG...: what is refused before it is loaded is an
# error as the client knows it.
errors() {
    local status=$1 regex=$2 got

    shift 2
    got=$(curl -sS -o answer -w '%{http_code}' "$@" 2>&1)
    [ "$got" = "$status" ] && grep -Eqx -- "$regex" answer ||
        complain "$*: $got $(cat answer), not $status $regex"
}
for path in _bulk logs/_bulk; do
    errors 401 '\{"error":\{"type":"security_exception","reason":".+"\},"status":401\}' \
        -d '' "$address/$path"
    errors 405 '\{"error":\{"type":"illegal_argument_exception",.*"status":405\}' \
        -u "any:$token" -X DELETE "$address/$path"
done
errors 413 '\{"error":\{"type":"content_too_long_exception",.*"status":413\}' \
    -u "any:$token" -X PUT -H 'Content-Length: 300000' "$address/_template/x"
for path in 'write?db=m' 'api/v2/write?bucket=m'; do
    errors 401 '\{"code":"unauthorized","message":"(.+)","error":"\1"\}' \
        -d '' "$address/$path"
    errors 400 '\{"code":"invalid","message":"(unknown parameter .*)","error":"\1"\}' \
        -u "any:$token" -d '' "$address/$path&nothing=1"
    errors 405 '\{"code":"method not allowed",.*\}' -u "any:$token" \
        "$address/$path"
done

posts 404 'resource_not_found' '/_ingest/pipeline/x' '{}' -X PUT
for path in / /_license /_cat/health /_cluster/health; do
    got=$(curl -sS -D - -o answer -H "Authorization: ApiKey $token" \
        "$address$path")
    grep -q '^HTTP/1.1 200' <<<"$got" && [ -s answer ] &&
        grep -q '^X-Elastic-Product: Elasticsearch' <<<"$got" ||
        complain "GET $path: $got"
done
got=$(curl -sS -H 'Accept: text/html, */*;q=0.8' "$address/")
[[ $got == '<!doctype html>'* ]] || complain "the page: ${got:0:80}"
got=$(curl -sSI -u "any:$token" "$address/")
grep -q '^HTTP/1.1 200' <<<"$got" || complain "HEAD /: $got"
for path in /_nodes /_template/x /_ilm/policy /_xpack; do
    got=$(curl -sS -D - -o answer -u "any:$token" "$address$path")
    grep -q '^HTTP/1.1 404' <<<"$got" &&
        grep -q '^X-Elastic-Product: Elasticsearch' <<<"$got" ||
        complain "GET $path: $got"
done

# ------------------------------------------------------------- jsonline ---

posts 200 '"rows":2,' \
    '/insert/jsonline?family=v&_time_field=at&_msg_field=m&_stream_fields=a,b' \
    '{"at":"2026-01-02T03:04:05Z","m":"x"}\n{"at":"2026-01-02T03:04:06Z","m":"y"}\n'
has v 1 at=2026-01-02T03:04:05Z m=x
posts 400 "'family', which names" '/insert/jsonline' '{}'
posts 400 "unknown parameter 'ignore_fields'" \
    '/insert/jsonline?family=v&ignore_fields=m' '{}'

# Hints of commands are in answers.
posts 200 "\"hints\":\[\"no row has 'tyme'" '/load/v?type=tyme=time' '{"a":1}'
posts 200 '"rows":0,"hints":\[".*mm' '/delete/v?q=mm=x' ''
posts 200 '"rows":3,"hints":\[".*at' '/update/v?all=1&set=at=5' ''

# ----------------------------------------------------- families by time ---

for i in 1 2; do
    posts 204 '' '/write?db=days%2F%7Bday%7D&partition=time:day&precision=s' \
        'a v=1 1\na w=2 1\na v=3 86400\n'
done
has days/1970-01-01 1 v=1 w=2
has days/1970-01-02 1 v=3
posts 200 '"families":1' \
    '/insert/jsonline?family=v%7Bday%7D&partition=_time:day' \
    '{"_time":"2026-01-02T03:04:05Z"}\n'
has v2026-01-02 1 _time=2026-01-02T03:04:05Z
posts 400 'not put into families by time' \
    '/v%7Bday%7D/_bulk?partition=at:day' '{"index":{}}\n{"n":1}\n'
posts 200 "'v{day}' stands for families by time" '/_bulk' \
    '{"index":{"_index":"v{day}"}}\n{"n":1}\n'

# --------------------------------------------------------------- tokens ---

# knows STATUS HEADER: /write is answered so.
knows() {
    local got

    got=$(curl -sS -o answer -w '%{http_code}' -H "Authorization: $2" \
        --data-binary 'a v=1 1' "$address/write?db=m")
    [ "$got" = "$1" ] || complain "Authorization: ${2//$token/TOKEN}: $got"
}

base64() {
    printf '%s' "$1" | command base64 -w0
}

for header in "Bearer $token" "bearer $token" "Token $token" "Token u:$token" \
    "ApiKey $token" "ApiKey $(base64 "id:$token")" "Basic $(base64 "u:$token")" \
    "Basic $(base64 ":$token")"; do
    knows 204 "$header"
done
for header in "$token" "Bearer" "Bearer u:$token" "Bearer  $token" \
    "Token u:${token}x" "Token :u:$token" "Basic $token" "Basic u:$token" \
    "Basic $(base64 "u:${token%?}")" "Basic $(base64 "$token:u")" \
    "Basic $(base64 "u:$token")x" "Basic $(base64 "u:$token")=x" \
    "Basic *$(base64 "u:$token")" "Digest $token" "ApiKey $(base64 "id:x")" \
    "Basic $(base64 "$(head -c 5000 /dev/zero | tr '\0' x):$token")"; do
    knows 401 "$header"
done
got=$(curl -sS -o answer -w '%{http_code}' --data-binary 'a v=1 1' \
    "$address/write?db=m&u=x&p=$token")
[ "$got" = 401 ] || complain "a token in the target: $got"

# --------------------------------------------------------------- agents ---

# configuration START: the block of the docs after the first line that begins
# so, for this server.
configuration() {
    awk -v start="$1" 'index($0, start) == 1 { is_there = 1; next }
        is_there && /^    / { print substr($0, 5); is_block = 1; next }
        is_block && /^./ { exit }
        is_block { print "" }' "$docs" |
        sed -e "s/127\.0\.0\.1:7411/127.0.0.1:$port/" \
            -e "s/serverport=\"7411\"/serverport=\"$port\"/" \
            -e "s/TOKEN/$token/" >"$work/configuration"
    [ -s "$work/configuration" ] || complain "the docs have no block '$1'"
}

skip() {
    echo "not installed: $1" >&2
}

stop_agent() {
    kill "$agent"
    wait "$agent" || true
    agent=
}

PATH=$PATH:/usr/sbin
if [ -n "$(type -P rsyslogd)" ] &&
    [ -e "$(echo /usr/lib/*/rsyslog/omelasticsearch.so)" ]; then
    configuration '`/etc/rsyslog.d/colander.conf`'
    {
        echo 'module(load="imuxsock" SysSock.Use="off")'
        echo "input(type=\"imuxsock\" Socket=\"$work/log\")"
        echo "global(workDirectory=\"$work\")"
        cat configuration
    } >rsyslog.conf
    rsyslogd -n -f "$work/rsyslog.conf" -i "$work/rsyslog.pid" 2>rsyslog.err &
    agent=$!
    until [ -S log ]; do
        kill -0 "$agent" 2>/dev/null || break
        sleep 0.05
    done
    for ((i = 0; i < 200; i++)); do
        echo "by rsyslog \"$i\" \\ end"
    done | logger -u log -t rocket -p user.warning
    awaits 200 logs program=rocket severity=warning 'message~~by rsyslog'
    for i in 0 100 199; do
        awaits 1 logs program=rocket "message~~\"\\\"$i\\\" \\\\ end\""
    done
    stop_agent
else
    skip rsyslog-elasticsearch
fi

if [ -n "$(type -P syslog-ng)" ]; then
    configuration '`/etc/syslog-ng/conf.d/colander.conf`'
    {
        echo '@version: 3.38'
        echo "source s_src { unix-dgram(\"$work/ng\"); };"
        cat configuration
    } >ng.conf
    syslog-ng -F -f ng.conf -R ng.persist -p ng.pid -c ng.ctl 2>ng.err &
    agent=$!
    until [ -S ng ]; do
        kill -0 "$agent" 2>/dev/null || break
        sleep 0.05
    done
    for ((i = 0; i < 200; i++)); do
        echo "by syslog-ng \"$i\" end"
    done | logger -u ng -t rocket
    awaits 200 logs program=rocket 'message~~by syslog-ng'
    for i in 0 100 199; do
        awaits 1 logs program=rocket "message~~\"syslog-ng \\\"$i\\\" end\"" 'at>@now-1d'
    done
    stop_agent
else
    skip syslog-ng-mod-http
fi

if [ -n "$(type -P collectd)" ] &&
    ! ldd /usr/lib/collectd/write_http.so | grep -q 'not found'; then
    configuration '`/etc/collectd/collectd.conf.d/colander.conf`'
    {
        echo 'Interval 0.05' # so that a buffer is soon full
        echo "BaseDir \"$work\""
        echo 'Hostname "laboratory"'
        echo 'LoadPlugin load'
        cat configuration
    } >collectd.conf
    collectd -f -C collectd.conf -P collectd.pid >collectd.err 2>&1 &
    agent=$!
    awaits 1 metrics host=laboratory plugin=load 'time>@now-1d' --limit 1
    stop_agent
    run 0 find data metrics plugin=load --limit 1
    prints_some '"values":\[[0-9.]+,[0-9.]+,[0-9.]+\],.*"dsnames":\["shortterm",'
else
    skip collectd-core
fi

colander() {
    "$COLANDER" "$@"
}

if [ -n "$(type -P mosquitto)" ] && [ -n "$(type -P mosquitto_sub)" ]; then
    configuration '## MQTT'
    for ((try = 0; try < 20; try++)); do # until a port is free
        mqtt=$((20000 + RANDOM % 10000))
        printf 'listener %s 127.0.0.1\nallow_anonymous true\n' $mqtt \
            >mosquitto.conf
        mosquitto -c mosquitto.conf >mosquitto.err 2>&1 &
        agent=$!
        until mosquitto_pub -p $mqtt -t hello -m x 2>pub.err; do
            kill -0 "$agent" 2>/dev/null || break
            sleep 0.05
        done
        kill -0 "$agent" 2>/dev/null && break
    done
    sed -i "s/mosquitto_sub/& -p $mqtt -C 20/" configuration
    (eval "$(cat configuration)") >sub.out 2>&1 &
    loading=$!
    for ((i = 0; ; i++)); do # until the subscriber is there
        mosquitto_pub -p $mqtt -t "sensors/a" -m "value-$i" 2>>mosquitto.err
        kill -0 "$loading" 2>/dev/null || break
    done
    wait "$loading" || complain "mosquitto_sub: $(cat sub.out)"
    awaits 20 sensors topic=sensors/a 'payload~~value-' 'tst>@now-1d'
    stop_agent
else
    skip mosquitto
fi

remote=/lib/systemd/systemd-journal-remote
if [ -x $remote ] && [ -n "$(type -P journalctl)" ]; then
    for i in 1 2 3; do
        printf '%s\n' "__REALTIME_TIMESTAMP=170000000${i}000000" \
            "__MONOTONIC_TIMESTAMP=$i" \
            '_BOOT_ID=0123456789abcdef0123456789abcdef' \
            "MESSAGE=by journald $i" ''
    done | $remote --output="$work/some.journal" - 2>journal.err
    configuration '## journald'
    sed -i "s/--follow/--file=some.journal/" configuration
    for ((i = 0; i < 2; i++)); do
        (eval "$(cat configuration)") >journal.out 2>&1 ||
            complain "journalctl: $(cat journal.out)"
    done
    has journal 3 'MESSAGE~~"by journald"'
    has journal 1 'MESSAGE="by journald 2"'
else
    skip systemd-journal-remote
fi

configuration '## curl'
printf '{"by":"curl","n":%s}\n' 1 2 3 >app.jsonl
for ((i = 0; i < 2; i++)); do
    (eval "$(cat configuration)") >curl.out 2>&1
    grep -q '^{"rows":3,' curl.out || complain "curl: $(cat curl.out)"
done
has logs 3 by=curl

# The targets of agents that Debian does not have.
count=0
for target in $(sed -nE -e 's|.*restpath="([^"]*)".*|/\1|p' \
    -e 's|^ *URI +([^ ]*)$|\1|p' "$docs"); do
    count=$((count + 1))
    posts 200 '^{"rows":1,"new":1,' "$target" \
        '{"@timestamp":"2026-01-02T03:04:05Z","date":"2026-01-02","at":'$count'}'
done
has logs 2 date=2026-01-02 @timestamp=2026-01-02T03:04:05Z

# ------------------------------------------------ clients in JavaScript ---

export NODE_PATH=${COLANDER_SOURCE:-.}/build/agents/node_modules
if [ -n "$(type -P node)" ] && [ -d "$NODE_PATH" ]; then
    node "$(dirname "$docs")/../tests/shell/feeding_clients.js" "$address" \
        "$token" >clients.out 2>&1
    grep -qx fine clients.out || complain "clients: $(cat clients.out)"
    has client 4999 by=elasticsearch
    has client 1 number=7 seen=true --key id7
    has client 1 number=4999 --key id4999
    has points 5000 by='"influx \"client\""' _measurement=room
    has points 1 number=4999 value=2499.5 sensor='"s 1"' \
        time=2023-11-14T22:13:24.999Z
else
    skip '@elastic/elasticsearch, @influxdata/influxdb-client'
fi

stop
finish
