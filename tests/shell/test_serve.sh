#!/bin/bash
# colander serve: it starts and ends, and curl gets rows from it.
#
# SPDX-License-Identifier: MIT
source "$(dirname "$0")/lib"
make_demo
has_server || finish
cd "$work" || exit 1

# gets TEXT CURL-ARG...: curl prints exactly this.
gets() {
    local text=$1 got

    shift
    got=$(curl -sS "$@" 2>&1)
    [ "$got" = "$text" ] || complain "curl $* gets '$got', not '$text'"
}

serve demo
[ "$(cat serve.out)" = 'serving demo' ] || complain "$(cat serve.out)"
local=(--unix-socket demo/SOCKET)
gets '{"status":"ok"}' "${local[@]}" http://demo/health
gets "$("$COLANDER" get "$COLANDER_DEMO" tweets t000001)" "${local[@]}" \
    'http://demo/get/tweets?key=t000001'

# The same rows as find, which has the same words.
while read -r words; do
    eval "run 0 find $COLANDER_DEMO tweets $words --format jsonl"
    gets "$(cat out; echo '{"_end":{"rows":'"$(wc -l <out)"'}}')" \
        "${local[@]}" -G http://demo/find/tweets --data-urlencode "q=$words"
    gets "$(cat out; echo '{"_end":{"rows":'"$(wc -l <out)"'}}')" \
        "${local[@]}" http://demo/find/tweets --data-urlencode "q=$words"
done <<'END'
user=Smith
user=Smith 'likes>900'
lang=pl 'likes>=990' or user=Smith not lang=en
'profile.name=Yuki Smith'
profile.name="Yuki Smith"
entities.hashtags[].text=food user~Smi 'likes<20'
'user="Smith"' likes?
rain 'likes>990'
'"rain today"' 'likes>500'
'text:rain toda*' lang=pl
text~~inter 'likes>990'
END
gets "$("$COLANDER" find "$COLANDER_DEMO" tweets --any Houston --limit 5 \
    --format jsonl; echo '{"_end":{"rows":5}}')" \
    "${local[@]}" 'http://demo/find/tweets?any=Houston&limit=5'
gets "$("$COLANDER" find "$COLANDER_DEMO" tweets --order likes:desc --limit 5 \
    --format jsonl; echo '{"_end":{"rows":5}}')" \
    "${local[@]}" 'http://demo/find/tweets?order=likes:desc&limit=5'
gets '{"error":{"code":"invalid","message":"order: '"'likes:dsc': write 'likes:desc', or 'likes:dsc:asc'"' if that is the column","at":{"parameter":"order","offset":0}}}' \
    "${local[@]}" 'http://demo/find/tweets?order=likes:dsc'
curl -sS "${local[@]}" \
    'http://demo/find/tweets?order=likes:desc&limit=5&explain=1' |
    grep -Eo '"rows_verified":[0-9]+' >verified
if has_filters && [ "$(tr -dc 0-9 <verified)" -eq 0 ]; then
    complain 'an order reads all rows'
fi
# What columns and group print, and one line more.
run 0 columns "$COLANDER_DEMO" tweets --like hashtags --all
gets "$(cat out; echo '{"_end":{"rows":100000}}')" "${local[@]}" \
    'http://demo/columns/tweets?like=hashtags&all=1&timeout=5m'
run 0 group "$COLANDER_DEMO" tweets 'likes>500' or lang=pl --by lang \
    --by user --avg likes --count --having 'count>90' --order count:desc
gets "$(cat out; echo '{"_end":{"groups":'"$(wc -l <out)"',"rows":'"$(
    "$COLANDER" find "$COLANDER_DEMO" tweets 'likes>500' or lang=pl --count)"'}}')" \
    "${local[@]}" http://demo/group/tweets -d by=lang -d by=user -d avg=likes \
    -d count -d 'having=count>90' -d order=count:desc \
    --data-urlencode "q=likes>500 or lang=pl"
gets '{"error":{"code":"invalid","message":"--having: expected a condition on a column of the groups, such as '"'count>5', not 'x lang>1'"'"}}' \
    "${local[@]}" 'http://demo/group/tweets?by=lang&having=x+lang%3E1'
gets '{"error":{"code":"not found","message":"no family '"'tweet'"' in '"'store'"': did you mean '"'tweets'"'?"}}' \
    "${local[@]}" http://demo/columns/tweet
gets '{"error":{"code":"invalid","message":"unknown parameter '"'where'"'","at":{"parameter":"where","offset":0}}}' \
    "${local[@]}" 'http://demo/group/tweets?where=1'
curl -sS "${local[@]}" 'http://demo/find/tweets?format=msgpack' >all.msgpack
run 0 export "$COLANDER_DEMO" tweets --format msgpack
cmp -n "$(wc -c <out)" out all.msgpack || complain 'msgpack differs'

# Hints are those of find, for who asks for them.
while read -r words; do
    eval "run 0 find $COLANDER_DEMO tweets $words"
    got=$(eval "set -- $words"
        args=(-d hints=1)
        while [ $# -gt 0 ]; do
            case $1 in
            --select) args+=(-d "select=$2"); shift ;;
            --order) args+=(-d "order=$2"); shift ;;
            --limit) args+=(-d "limit=$2"); shift ;;
            *) args+=(--data-urlencode "q=$1") ;;
            esac
            shift
        done
        curl -sSG "${local[@]}" http://demo/find/tweets "${args[@]}" | tail -1)
    wanted=$(sed 's/"/\\"/g' err)
    wanted=${wanted:+,\"hints\":[\"$wanted\"]}
    [ "$got" = "{\"_end\":{\"rows\":$(wc -l <out)$wanted}}" ] ||
        complain "the hint for '$words': $got, not $wanted"
done <<'END'
usr=Smith
user=Smitt
likes=many
user=Smith --select usr
user=Smith --select user --order lkes --limit 2
user=Smith --limit 1
END
gets '{"_end":{"rows":0}}' "${local[@]}" 'http://demo/find/tweets?q=usr%3DSmith'

# The store is held, and a second server is refused.
run 0 backup demo copy # by that process
run 1 serve demo
says_some 'the store is held by process [0-9]+ \(colander\)'
stop
[ ! -e demo/SOCKET ] || complain 'a server leaves its socket'
run 0 find demo tweets user=Smith --count
prints 15

# One that was killed leaves its socket to the next.
serve demo
kill -9 "$server"
wait "$server" 2>/dev/null
[ -S demo/SOCKET ] || complain 'a server that is killed removes its socket'
serve demo
gets '{"status":"ok"}' "${local[@]}" http://demo/health
kill -INT "$server"
wait "$server" || complain "SIGINT: $?"
server=

# Several processes read.
serve demo --read-only
run 0 find demo tweets user=Smith --count
prints 15
gets '{"status":"ok"}' "${local[@]}" http://demo/health
gets '{"count":100000}'$'\n''{"_end":{"groups":1,"rows":100000}}' \
    "${local[@]}" http://demo/group/tweets
run 1 serve demo --read-only
says "colander: serve: another process serves the store '$work/demo'"
stop

# By an address, with a token that is made, and then read.
run 2 serve demo --listen 127.0.0.1:0
says_some 'need each other'
run 2 serve demo --token-file token
run 2 serve demo --listen 127.0.0.1 --token-file token
says_some "'127.0.0.1' is not an address"
rm -f token
run 1 serve demo --listen 0.0.0.0:0 --token-file token
says_some 'others than this machine can reach 0.0.0.0:0: cannot read the token'
[ ! -e token ] || complain 'a token is made for others'
serve demo --listen 127.0.0.1:0 --token-file token
[ "$(stat -c %a token)" = 600 ] || complain 'others may read the token'
[ "$(cat serve.err)" = \
    "colander: serve: made the token file 'token', which has the token" ] ||
    complain "$(cat serve.err)"
gets '{"status":"ok"}' "$url/health"
gets '{"error":{"code":"unauthorized","message":"the request needs the token: Authorization: Bearer TOKEN"}}' \
    "$url/get/tweets?key=t000001"
gets "$("$COLANDER" get "$COLANDER_DEMO" tweets t000001)" \
    -H "Authorization: Bearer $(cat token)" "$url/get/tweets?key=t000001"
stop

# On a terminal, where no log keeps it, the token is shown.
if [ -n "$(type -P script)" ]; then
    rm token
    script -qec "timeout -s TERM 2 '$COLANDER' serve demo --listen 127.0.0.1:0 \
        --token-file token" /dev/null >out 2>&1 </dev/null
    last='serve on a terminal'
    prints_some "made the token file 'token': the token is $(cat token)"
fi
serve demo --listen '[::1]:0' --token-file token
[ ! -s serve.err ] || complain "$(cat serve.err)"
grep -q '^serving demo at http://\[::1]:[0-9]*$' serve.out ||
    complain "$(cat serve.out)"
stop
chmod 644 token
run 2 serve demo --listen 127.0.0.1:0 --token-file token
says "colander: serve: others may read the token file 'token': chmod 600 it"

run 1 serve none
says_some 'there is no such store'
finish
