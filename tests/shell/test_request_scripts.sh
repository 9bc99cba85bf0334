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
    prints_some "\"error\":\\{\"code\":\"[a-z -]*\",\"message\":\"$1"
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
lua 'return 1' '?timeout=301s'
prints "{\"error\":{\"code\":\"invalid\",\"message\":\"timeout: a script may take up to 5m, not '301s'\",\"at\":{\"parameter\":\"timeout\",\"offset\":0}}}"
answers 200 '{"value":1}
{"_end":{"lines":1}}' 'return 1' '?timeout=5m'
lua 'return 1' '?safe=0'
prints_some "unknown parameter 'safe'"

clients=()

# After rows that were sent an error is the last line, and else the answer.
for late in '400:1:user = "Smith"' '200:9944:lang = "pl"'; do
    lua "print(tweets:find{${late##*:}}) error(\"late\")"
    [ "$got:$(wc -l <out)" = "${late%:*}" ] ||
        complain "late: $got, $(wc -l <out) lines"
    tail -1 out | grep -q 'late' || complain "late: $(tail -1 out)"
done

# What changes a store is refused, and what reaches elsewhere is not there.
for call in 'db:drop("tweets")' 'db:batch()' 'tweets:put("k", {})' \
    'tweets:insert("k", {})' 'tweets:patch("k", {})' \
    'tweets:delete("t000001")' 'tweets:delete_range()' \
    'tweets:rename("x")' 'tweets:copy("x")' 'tweets:refilter()' \
    'tweets:retain{keep = "1d"}' 'tweets:create()' 'tweets:flush()' \
    'tweets:compact()' 'tweets:filters{}' 'tweets:time_column("x")' \
    'tweets:find{user = "Smith"}:delete()' \
    'tweets:find{user = "Smith"}:update{a = 1}' 'tweets:threads(9)' \
    'tweets:find{user = "Smith"}:threads(9)'; do
    has_filters || [[ $call != *filter* ]] || continue
    name=${call##*:}
    refuses "script:1: .*'${name%%[(\{]*}' is refused: this Lua only reads" \
        "return $call"
    [ "$got" = 403 ] || complain "'$call' is answered $got"
done
for call in 'db:backup("x")' 'colander.open("demo")' \
    'colander.memory_limit(1e12)' \
    'os.execute("true")' 'io.open("x")' 'require("os")' 'dofile("x")' \
    'debug.getregistry()' 'xpcall(error, error)' 'collectgarbage("stop")' \
    '("x"):match("x")' '("x"):gsub("x", "y")' 'table.move({}, 1, 9, 1)' \
    'string.pack("b", 1)'; do
    refuses '.*(nil value|global|method)' "return $call"
done
run 0 find demo tweets --count
prints 100000

# All that is open shares one limit, and what is garbage does not count.
open='local held = {} for i = 1, 65 do held[i] ='
refuses '.*the open queries and groups hold more than 67108864 bytes' \
    "$open tweets:find{lang = \"en\"}:order(\"text\") held[i]() end" '?timeout=2m'
refuses '.*(hold|take) more than [0-9]* bytes' \
    "$open tweets:find{}:group(\"text\"):count() end" '?timeout=2m'
refuses '.*(hold|take) more than [0-9]* bytes' \
    "$open tweets:find{}:group(\"text\"):agg{n = count()} held[i]() end" \
    '?timeout=2m'
refuses '.*64 queries and groups are open' "$open tweets:find{} held[i]() end"
answers 200 '{"value":1}
{"_end":{"lines":1}}' 'for i = 1, 6 do tweets:find{lang = "en"}:order("text")() end
    for i = 1, 65 do tweets:find{}() end
    return 1' '?timeout=2m'
refuses '.*1000' 'local keys = {} for i = 1, 1001 do keys[i] = "k" end
    return tweets:get_many(keys)'

# The collector cannot be stopped, so it has no functions to call, and nothing
# to look at again and again. Metatables are not changed once they are set.
refuses '.*a finalizer cannot be set' 'setmetatable({}, {__gc = print})'
refuses '.*references cannot be weak' 'setmetatable({}, {__mode = "k"})'
answers 200 '{"value":15}
{"value":true}
{"value":true}
{"_end":{"lines":3}}' 'local C = {} C.__index = C
    function C.f() return 7 end
    local o = setmetatable({}, C)
    function C.g() return 8 end
    C.__mode, C.__gc = "k", print
    o[{}] = true
    for _ = 1, 1000000 do local garbage = {} end
    return o.f() + o.g(), getmetatable(o) == C, next(o) ~= nil' '?timeout=2m'
answers 200 '{"value":10}
{"_end":{"lines":1}}' 'local hidden = 0
    for _, value in ipairs {_G, colander.array {}, tweets:get("t000001"),
        colander.where {}, colander.count(), colander.bucket("at", "1h"),
        tweets:find():group("lang"), tweets:find():group("lang"):agg {n = count()},
        colander.timestamp(0), (select(2, pcall(db.family, db, "")))} do
        if type(getmetatable(value)) ~= "table" then hidden = hidden + 1 end
    end
    return hidden'

# What moves the members of a table cannot be stopped either: there are not too
# many that may have equal hashes. Lists are not limited.
refuses 'not enough memory' 'local t = {}
    for i = 1, 65537 do t[i * ((1 << 17) - 1)] = i end' '?timeout=2m'
answers 200 '{"value":65536}
{"value":1000000}
{"_end":{"lines":2}}' 'local t, list, count = {}, {}, 0
    for i = 1, 65536 do t["k" .. i] = i end
    for i = 1, 1000000 do list[i] = i end
    for _ in pairs(t) do count = count + 1 end
    return count, #list' '?timeout=2m'

# Texts are not members of a table, even if they are as large as many.
answers 200 '{"value":"yx yx XY XY 3145728"}
{"_end":{"lines":1}}' 'local text, parts = ("xy"):rep(3 << 18), {}
    text = text:reverse()
    parts[1] = text:sub(1, 2)
    text = text:lower()
    parts[2] = text:sub(-2)
    text = text:reverse():upper()
    parts[3], parts[4] = text:sub(1, 2), text:sub(-2)
    parts[5] = #("abc"):rep(1 << 20)
    return table.concat(parts, " ")'

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
many='local a = ("x"):rep(12 << 20) local b, t = a .. "b", {} a = a .. "a"
    for i = 1, 1e5 do t[i] = i % 2 == 0 and a or b end'
# Members that are far from each other have equal hashes once they move.
moving='local tables, far = {}, (1 << 16) - 1
    for i = 1, 25 do
        tables[i] = {}
        for j = 1, 1 << 15 do tables[i][j * far] = 1 end
    end
    for i = 1, 25 do tables[i][0] = 1 end
    while true do end'
closing='local c <close> = setmetatable({}, {
    __close = function() while true do end end})'
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
    "$moving" "$many table.sort(t)" "$many table.sort(t, rawequal)" \
    "coroutine.wrap(function() $closing while true do end end)()" \
    "local c = coroutine.create(function() $closing while true do end end)
     coroutine.resume(c) coroutine.close(c)" \
    "local c = coroutine.create(function() $closing coroutine.yield() end)
     coroutine.resume(c) coroutine.close(c)" \
    'return tostring(setmetatable({}, {__tostring = function() while true do end end}))' \
    'error(setmetatable({}, {__tostring = function() while true do end end}))'; do
    ends "$script" $((++count)) &
    clients+=($!)
    [ $((count % 4)) != 0 ] || wait "${clients[@]}"
done
wait "${clients[@]}"
[ ! -s wrong ] || complain "$(cat wrong)"
# Its length is 2^62 + 1.
sparse='local t = {} for i = 0, 62 do t[1 << i] = 1 t[(1 << i) + 1] = 1 end'
for call in 'insert(t, 1, 1)' 'remove(t, 1)' 'sort(t)' 'concat(t)' 'unpack(t)'; do
    refuses 'script:1: table.[a-z]* takes a list' "$sparse table.$call"
done
refuses 'script:1: load takes a text of up to 65536 bytes' \
    'load("return " .. ("a or "):rep(3e6) .. "a")'
refuses '.*attempt to compare' 'table.sort({1, "a"})'
refuses 'script:1: table.sort takes a function' 'table.sort({1}, 1)'
refuses 'script:1: coroutine.wrap takes a function' 'coroutine.wrap(1)'
refuses '.*script:1: kept' 'coroutine.wrap(function() error("kept") end)()'
answers 200 '{"value":"a,b,c c,b,a 3 2"}
{"_end":{"lines":1}}' 'local t = {"c", "a", "b"}
    table.sort(t)
    local before = table.concat(t, ",")
    table.sort(t, function(a, b) return a > b end)
    local next = coroutine.wrap(function(a) coroutine.yield(a + 1) return 2 end)
    return before .. " " .. table.concat(t, ",") .. " " .. next(2) .. " " .. next()'
answers 200 '{"value":true}
{"_end":{"lines":1}}' 'local last
    for i = 1, 2e4 do
        local before = last
        last = coroutine.create(function()
            local c <close> = setmetatable({}, {__close = function()
                if before then coroutine.close(before) end
            end})
            coroutine.yield()
        end)
        coroutine.resume(last)
    end
    pcall(coroutine.close, last)
    return coroutine.close(coroutine.create(print))'
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
remote 403 -d keep=1 "$url/backup"
prints_some 'only clients of the socket remove backups.*"parameter":"keep"'
[ -d backups/000002 ] || complain 'a client of the address removes a backup'
backup 200 -d "to=$work/backups" -d keep=1
prints_some '^\{"backup":4,.*"removed":2\}$'
stop
finish
