#!/bin/bash
# Scripts in Lua that a server runs for its clients: what they may read, what
# they print, and that they end, whatever they try.
#
# SPDX-License-Identifier: MIT
source "$(dirname "$0")/lib"
make_demo
has_server || finish
cd "$work" || exit 1
serve demo --listen 127.0.0.1:0 --token-file token

# lua SCRIPT [ARG...]: leaves the answer in out, and its status in $got.
lua() {
    last=$1
    got=$(curl -sS --unix-socket demo/SOCKET -o out -w '%{http_code}' \
        --data-binary "$1" "http://demo/lua${2-}" 2>err)
}

# answers STATUS TEXT SCRIPT [QUERY]
answers() {
    lua "$3" "${4-}"
    [ "$got" = "$1" ] || complain "'$3' is answered $got: $(head -c 500 out)"
    prints "$2"
}

# refuses REGEX SCRIPT: the error is like this.
refuses() {
    lua "$2" "${3-}"
    prints_some "\"error\":\\{\"code\":\"[a-z ]*\",\"message\":\"$1"
}

run 0 find demo tweets user=Smith
answers 200 "$(cat out; echo '{"_end":{"lines":15}}')" \
    'return tweets:find{user = "Smith"}'
answers 200 '{"value":15}
{"value":"a"}
{"a":1,"b":[1,2]}
{"_key":"t008443","likes":79}
{"_end":{"lines":4}}' \
    'print(tweets:find{user = "Smith"}:count(), "a", {a = 1, b = {1, 2}})
     return tweets:find{user = "Smith"}:select("likes"):limit(1)'
answers 200 '{"lang":"pl","count":9943}
{"_end":{"lines":1}}' \
    'return tweets:find{lang = "pl"}:group("lang"):agg{count = count()}'
answers 200 '{"lang":"pl","count":9943}
{"_end":{"lines":1}}' 'return tweets:find{lang = "pl"}:group("lang"):count()'
answers 200 '{"_end":{"lines":0}}' 'local x = 1'

# Mistakes have a place.
answers 400 '{"error":{"code":"invalid","message":"script:2: unexpected symbol near <eof>"}}' \
    'local x = 1
+'
refuses 'script:1: nothing' 'error("nothing")'
refuses "no family|.*attempt to index a nil value" 'return twets:find{}'
answers 400 '{"error":{"code":"invalid","message":"the body, which is the script, is missing"}}' ''
printf 'return 1\0' >zero
lua @zero
prints_some 'the script has a zero byte'
lua 'return 1' '?safe=0'
prints_some "unknown parameter 'safe'"

clients=()

# After rows an error is the last line.
lua 'print(tweets:find{user = "Smith"}) error("late")'
[ "$(wc -l <out)" = 1 ] || [ "$got" = 200 ] || complain "late: $got $(tail -1 out)"
tail -1 out | grep -q 'late' || complain "late: $(tail -1 out)"

# What changes a store or reaches elsewhere is not there.
for call in 'db:drop("tweets")' 'db:batch()' 'db:backup("x")' \
    'tweets:put("k", {})' 'tweets:insert("k", {})' 'tweets:patch("k", {})' \
    'tweets:delete("t000001")' 'tweets:delete_range()' \
    'tweets:rename("x")' 'tweets:copy("x")' 'tweets:refilter()' \
    'tweets:retain{keep = "1d"}' 'tweets:flush()' 'tweets:compact()' \
    'tweets:filters{}' 'tweets:time_column("x")' \
    'tweets:find{user = "Smith"}:delete()' \
    'tweets:find{user = "Smith"}:update{a = 1}' \
    'colander.open("demo")' 'colander.memory_limit(1e12)' \
    'os.execute("true")' 'io.open("x")' 'require("os")' 'dofile("x")' \
    'debug.getregistry()' 'xpcall(error, error)' 'collectgarbage("stop")' \
    '("x"):match("x")' '("x"):gsub("x", "y")' 'table.move({}, 1, 9, 1)' \
    'string.pack("b", 1)'; do
    refuses '.*(nil value|global|method)' "return $call"
done
run 0 find demo tweets --count
prints 100000

# Each of these ends in time. Four run at once.
ends() { # SCRIPT NUMBER
    local status

    status=$(curl -sS --unix-socket demo/SOCKET -o "out.$2" -w '%{http_code}' \
        --data-binary "$1" 'http://demo/lua?timeout=1s')
    [ "$status" = 504 ] ||
        echo "'$1' is answered $status: $(head -c 300 "out.$2")" >>wrong
}
count=0
: >wrong
for script in 'while true do end' \
    'while true do pcall(function() while true do end end) end' \
    'coroutine.wrap(function() while true do end end)()' \
    'local t = setmetatable({}, {__close = function() while true do end end})
     do local c <close> = t end' \
    'local function f() return f() end f()' \
    'tweets:find{}:each(function() while true do end end)' \
    'while true do tweets:find{text = "x"}:count() end' \
    'for k in pairs(setmetatable({}, {__pairs = function() return function() return 1 end end})) do end' \
    'repeat local s = ("x"):rep(1e7) until s == ""' \
    'table.sort({3, 2, 1}, function() while true do end end)' \
    'return tostring(setmetatable({}, {__tostring = function() while true do end end}))' \
    'error(setmetatable({}, {__tostring = function() while true do end end}))'; do
    ends "$script" $((++count)) &
    clients+=($!)
    [ $((count % 4)) != 0 ] || wait "${clients[@]}"
done
wait "${clients[@]}"
[ ! -s wrong ] || complain "$(cat wrong)"
for script in 'string.rep("", 1 << 62)' \
    'table.insert(setmetatable({}, {__len = function() return 1 << 40 end}), 1, 1)' \
    'table.concat(setmetatable({}, {__len = function() return 1 << 60 end}))' \
    'setmetatable({}, {__gc = function() while true do end end})' \
    'load(function() return " " end)' \
    'string.find(("a"):rep(1 << 24), ("a"):rep(1 << 23) .. "b")' \
    'string.rep("x", 1 << 40)' 'local t = {} while true do t[#t + 1] = {} end' \
    'local s = "x" while true do s = s .. s end' \
    'local function f() return 1 + f() end f()'; do
    lua "$script"
    [ "$got" = 200 ] || [ "$got" = 400 ] || [ "$got" = 503 ] ||
        complain "'$script' is answered $got: $(head -c 300 out)"
done
answers 200 '{"value":1}
{"_end":{"lines":1}}' 'return 1'

# Clients of the address may not, unless the server allows it.
remote() { # WANTED ARG...
    local wanted=$1 status

    shift
    status=$(curl -sS -o out -w '%{http_code}' \
        -H "Authorization: Bearer $(cat token)" "$@")
    [ "$status" = "$wanted" ] || complain "$* is answered $status: $(cat out)"
}
remote 403 --data-binary 'return 1' "$url/lua"
mkdir backups
remote 403 -d "to=$work/backups" "$url/backup"
remote 400 -d '' "$url/backup"

# Backups, of the rows that are there while others are written.
backup() { # STATUS ARG...
    local status

    status=$(curl -sS --unix-socket demo/SOCKET -o out -w '%{http_code}' \
        "${@:2}" http://demo/backup)
    [ "$status" = "$1" ] || complain "backup ${*:2}: $status $(cat out)"
}
backup 400 -d to=backups
prints "{\"error\":{\"code\":\"invalid\",\"message\":\"'backups' is neither an absolute path nor an address\",\"at\":{\"parameter\":\"to\",\"offset\":0}}}"
backup 200 -d "to=$work/backups"
prints_some '^\{"backup":1,"files":[1-9][0-9]*,"bytes":[1-9]'
run 0 put demo tweets '{"_key":"late"}'
backup 200 -d "to=$work/backups" -d keep=1
prints_some '^\{"backup":2,.*"removed":1\}$'
run 0 get backups/000002 tweets late
run 0 check backups/000002
stop
serve demo --listen 127.0.0.1:0 --token-file token --lua \
    --backup-to "$work/backups" --read-only
remote 200 --data-binary 'return 1' "$url/lua"
remote 200 -d '' "$url/backup"
prints_some '^\{"backup":3,'
stop
finish
