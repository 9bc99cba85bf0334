#!/bin/bash
# Requests that write, by curl: every format, and what their answers say.
#
# SPDX-License-Identifier: MIT
source "$(dirname "$0")/lib"
has_server || finish
cd "$work" || exit 1

# posts STATUS TEXT TARGET ARG...: the answer is TEXT, with this status.
posts() {
    local status=$1 text=$2 target=$3 got

    shift 3
    got=$(curl -sS --unix-socket data/SOCKET -w '%{http_code}' \
        "http://data$target" "$@" 2>&1)
    [ "$got" = "$text"$'\n'"$status" ] ||
        complain "POST $target $*: $got, not $text $status"
}

counts() { # ROWS NEW REPLACED KEPT REJECTED
    printf '"rows":%s,"new":%s,"replaced":%s,"kept":%s,"rejected":%s}' "$@"
}

run 0 put data first '{"_key":1}'
printf '{"id":%s,"n":"a"}\n' 1 2 3 >r.jsonl
printf '[{"id":4},{"id":5}]' >r.json
printf 'id,n\n6,x\n7,y\n' >r.csv
printf 'id\tn\n8\tx\n' >r.tsv
gzip -k r.jsonl
zstd -qk r.csv
serve data
run 0 put data first '{"_key":2,"id":9}'
run 0 export data first --from 2 --format msgpack
cp out r.msgpack

posts 200 "{$(counts 3 3 0 0 0)" '/load/f?key=id' --data-binary @r.jsonl
posts 200 "{$(counts 3 0 3 0 0)" '/load/f?key=id' --data-binary @r.jsonl.gz
posts 200 "{$(counts 2 2 0 0 0)" '/load/f?key=id' --data-binary @r.json
posts 200 "{$(counts 2 2 0 0 0)" '/load/f?key=id' --data-binary @r.csv
posts 200 "{$(counts 2 0 2 0 0)" '/load/f?key=id' --data-binary @r.csv.zst
posts 200 "{$(counts 1 1 0 0 0)" '/load/f?key=id&format=tsv' --data-binary @r.tsv
posts 200 "{$(counts 1 1 0 0 0)" '/load/f?key=id' --data-binary @r.msgpack
posts 200 "{$(counts 0 0 0 3 0)" '/load/f?key=id&on-duplicate=keep' \
    --data-binary @r.jsonl
posts 200 "{$(counts 3 0 3 0 0)" \
    '/load/f?key=id&on-duplicate=patch&add=at=5&sync=1' -T - -X POST <r.jsonl
posts 200 "{$(counts 3 3 0 0 0)" '/load/hash?key=:hash' --data-binary @r.jsonl
posts 200 "{$(counts 3 0 3 0 0)" '/load/hash?key=:hash' --data-binary @r.jsonl
posts 200 '{"rows":2,"kept":0,"rejected":0,"families":2}' \
    '/load/by%2F%7Bday%7D?key=id&partition=at:day' \
    --data-binary $'{"id":1,"at":"2026-01-01"}\n{"id":1,"at":"2026-01-02"}\n'
posts 200 '{"rows":1}' '/delete/by%2F*' -d since=2026-01-02 -d 'q=id=1'
posts 200 '{"rejects":[{"line":1,"column":1,"reason":"text is not an object"}],'"$(counts 0 0 0 0 1)" \
    '/load/f?key=id&format=jsonl' --data-binary nothing
posts 400 '{"error":{"code":"invalid","message":"unknown parameter '"'keys'"'","at":{"parameter":"keys","offset":0}}}' \
    '/load/f?keys=id' --data-binary @r.jsonl
posts 400 '{"error":{"code":"invalid","message":"--on-duplicate must be replace, keep, patch or error, not '"'no'"'"}}' \
    '/load/f?on-duplicate=no' --data-binary @r.jsonl
posts 400 '{"error":{"code":"invalid","message":"cannot read schema '"'./x.lua'"': a request has no file but its body"}}' \
    '/load/f?schema=./x.lua' --data-binary @r.jsonl
curl -sS --unix-socket data/SOCKET 'http://data/load/new?max-errors=2' \
    --data-binary $'{"a":1}\n1\n2\n3\n4\n' >out
grep -q '^{"rejects":\[{"line":2,.*"rejected":[34],"error":{"code":"invalid",' out ||
    complain "too many rejects: $(cat out)"
head -c 50 r.jsonl.gz >cut.gz
curl -sS --unix-socket data/SOCKET -w '%{http_code}' 'http://data/load/cut' \
    --data-binary @cut.gz >out
tail -1 out | grep -qx 400 || complain "a gzip file that is cut: $(cat out)"

posts 200 '{"rows":1}' /delete/f -d 'q=id=8'
posts 200 '{"rows":0}' /delete/f -d 'q=id=8'
posts 200 '{"rows":2}' '/delete/f?q=id>5&limit=2&dry-run=1' -d ''
posts 400 '{"error":{"code":"invalid","message":"no row deleted: --yes takes such a condition"}}' \
    /delete/f -d 'q=zz!'
posts 200 '{"rows":0,"hints":["no row has '"'zz'"'"]}' /delete/f -d 'q=zz! id=99' -d yes=1
posts 200 '{"rows":2}' /update/f -d 'q=n=x or n=y' -d set=m=1 -d unset=n
posts 400 '{"error":{"code":"invalid","message":"no condition: --all means every row of the family"}}' \
    /delete/f -d ''
posts 404 '{"error":{"code":"not found","message":"no family '"'g'"' in '"'store'"': its families are '"'by/{day}', 'cut', 'f', 'first', 'hash', 'new'"'"}}' \
    /delete/g -d 'q=id=1'
posts 400 '{"error":{"code":"invalid","message":"--set or --unset is missing"}}' \
    /update/f -d 'q=id=1'
run 0 find data f
prints '{"_key":1,"id":1,"n":"a","at":5}
{"_key":2,"id":2,"n":"a","at":5}
{"_key":3,"id":3,"n":"a","at":5}
{"_key":4,"id":4}
{"_key":5,"id":5}
{"_key":6,"id":6,"m":1}
{"_key":7,"id":7,"m":1}
{"_key":9,"id":9}'
posts 200 '{"rows":8}' /delete/f -d all=1

# Metrics are as Prometheus wants them.
curl -sS --unix-socket data/SOCKET http://data/metrics >metrics
if [ -n "$(type -P promtool)" ]; then
    promtool check metrics <metrics >out 2>&1 ||
        complain "promtool: $(cat out)"
    [ ! -s out ] || complain "promtool: $(cat out)"
fi
for metric in loads_total loaded_rows_total rejected_records_total; do
    grep -q "^colander_$metric [1-9]" metrics || complain "no metric $metric"
done
stop

# A load that is stopped by Ctrl-C says how far it is, and how to continue.
serve data
mkfifo fifo
"$COLANDER" load data slow fifo --key id >out 2>err &
client=$!
exec 3>fifo
printf '{"id":%s}\n' 1 2 3 >&3
until [ "$(curl -sS --unix-socket data/SOCKET http://data/find/slow)" = \
    $'{"_key":1,"id":1}\n{"_key":2,"id":2}\n{"_key":3,"id":3}\n{"_end":{"rows":3}}' ]; do
    sleep 0.05
done
kill -INT "$client"
status=0
wait "$client" || status=$?
exec 3>&-
last='a load that is interrupted'
[ "$status" = 130 ] || complain "an interrupted load exits $status"
says 'colander: load: interrupted
3 rows loaded
to continue from the resume point, add --resume'

# So does one that waits until another has ended.
"$COLANDER" load data slow fifo --key id >out 2>err &
client=$!
exec 3>fifo
printf '{"id":%s}\n' 4 5 >&3
until [ "$("$COLANDER" find data slow --count)" = 5 ]; do
    sleep 0.05
done
"$COLANDER" load data slow fifo --key id --resume >out2 2>err2 &
waiting=$!
sleep 0.5 # it may wait by now; if not, it must not end before it does
kill -INT "$waiting"
for ((i = 0; i < 1200; i++)); do
    kill -0 "$waiting" 2>/dev/null || break
    sleep 0.05
done
kill -9 "$waiting" 2>/dev/null
status=0
wait "$waiting" || status=$?
[ "$status" = 130 ] || complain "a load that waits exits $status: $(cat err2)"
exec 3>&-
wait "$client" || complain "the load that was waited for exits $?"

# A load that writes nothing leaves the rows that others have written meanwhile.
curl -sS --unix-socket data/SOCKET 'http://data/load/vain?format=jsonl' \
    -X POST -T fifo >vain.out 2>&1 &
client=$!
exec 3>fifo
echo 'not a record' >&3
until "$COLANDER" families data vain >out 2>err; do
    sleep 0.05
done
run 0 put data vain '{"_key":1}'
exec 3>&-
wait "$client" || complain "a load of rejects exits $?"
grep -q '"rows":0,.*"rejected":1' vain.out || complain "$(cat vain.out)"
run 0 get data vain 1

# Clients that are killed, and continue: every row is there, once.
for ((i = 0; i < 60000; i++)); do
    echo "{\"n\":$i,\"text\":\"a text of some length that is not very short\"}"
done >many.jsonl
for after in 0.05 0.15 0.3; do
    timeout -s KILL $after "$COLANDER" load data many many.jsonl --resume
done 2>/dev/null
run 0 load data many many.jsonl --resume
run 0 export data many --select n
sed -E 's/.*"n":([0-9]+)}$/\1/' out | sort -n | cmp -s - <(seq 0 59999) ||
    complain "loads that were killed leave $(wc -l <out) rows of 60000"
stop
finish
