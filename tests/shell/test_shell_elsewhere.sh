#!/bin/bash
# A shell prints the same, exits with the same status and writes the same,
# whether its store is closed, held by a server, or behind an address; and what
# it may not do in a server.
#
# SPDX-License-Identifier: MIT
here=$(cd "$(dirname "$0")" && pwd)
source "$here/lib"
has_server || finish
cd "$work" || exit 1
export COLANDER_TOKEN_FILE=$work/token
printf '%s\n' 0123456789abcdef0123456789abcdef >token
chmod 600 token
seq 1 30 | sed 's/.*/{"_key":"k&","n":&,"user":"Smith","text":"row & of many"}/' >rows
run 0 load closed tweets rows

cat >script.lua <<'END'
#!/usr/bin/env colander
print(#arg, arg[0], arg[1], ...)
for key, row in tweets:find{user = "Smith"}:limit(2) do print(key, row.n) end
db:family("new"):put("k", {a = 1, b = "x"})
io.write("a", 1, "\n")
END
echo 'error("deep")' >error.lua
echo 'x = = 1' >wrong.lua
: >empty.lua
cat >chunks <<'END'
tweets:find{n = gt(28)}
return 1
1, "a", nil, {a = {1, 2}}
error("x")
x = = 1
for i = 1, 2 do
twets:find()
tweets:fnd()
tweets:find{m = 1}
tweets:find{n = "x"}:select("n", "nn")
db:families()
tweets:count()
tweets:find():group("user"):count()
print("a", 1, nil) return true
coroutine.wrap(function() return 7 end)()
string.format("%5.1f", 3.25), ("abc"):match("b(.)")
db:family("n2"):put("a", {x = 1})
db:family("n2"):get("a")
n2:find{}:delete()
db:drop("n2")
help(gt)
.families
END
cat >typed <<'END'
tweets:find{n = 3}
.mode line
tweets:find{n = 3}:select("n")
.mode
.limit 3
.limit
.nullvalue -
.nullvalue
.find tweets n=4
.get tweets k5
.help gt
.help find
.help
tweets:find():limit(1)
new2 = 5
new2
db:family("typed"):put("p", {z = 1})
typed
for i = 1, 2 do
    print(i)
end
.put tweets '{"_key":"k99"}'
.count
END
printf 'return 1\n.nope\n' >typed2
printf 'select x from y\n' >typed3
printf 'f(\n' >typed4

# collect NAME STORE: what shells print.
collect() {
    local chunk name status

    : >"$1"
    try() { # INPUT ARG...
        local input=$1

        shift
        status=0
        echo "$ $* <$input" >>"$name"
        "$COLANDER" shell "$store" "$@" <"$input" >out 2>err || status=$?
        { cat out; echo says: ; cat err; echo "status $status"; } |
            sed "s|$store|STORE|g" >>"$name"
    }
    name=$1
    store=$2
    while IFS= read -r chunk; do
        try /dev/null -e "$chunk"
    done <chunks
    try /dev/null script.lua a 'b c'
    try script.lua - a
    for chunk in error wrong empty none; do
        try /dev/null $chunk.lua
    done
    for chunk in typed typed2 typed3 typed4 /dev/null; do
        try $chunk
    done
    try /dev/null -e 1 script.lua
    try /dev/null --time 3
    try /dev/null --bogus
}

cp -a closed held
cp -a closed addressed
collect closed.said "$work/closed"
serve held
collect held.said "$work/held"
stop
serve addressed --listen 127.0.0.1:0 --token-file token --shell
collect addressed.said "$url"
[ "$(grep -c '^status' closed.said)" = "$(($(wc -l <chunks) + 14))" ] ||
    complain "$(grep -c '^status' closed.said) shells"
for name in held addressed; do
    diff closed.said $name.said >differences ||
        complain "$name, against a store that is closed: $(head -30 differences)"
done

# Nothing of the server's process is there, and no error ends the server.
for store in addressed "$url"; do
    for chunk in 'io.open("/etc/passwd")' 'os.exit(1)' 'os.execute("ls")' \
        'os.getenv("PATH")' 'dofile("script.lua")' 'require("os")' \
        'debug.getregistry()' 'colander.open("x")' 'db:backup("x")' \
        'load(string.dump(print))'; do
        run 1 shell "$store" -e "$chunk"
        says_some "^colander: "
    done
    for line in '.output planted' '.once planted' '.read rows' '.pager on' \
        '.find tweets --output planted' '.export tweets --output planted' \
        '.completion bash' '.load new /etc/passwd'; do
        echo "$line" >line
        "$COLANDER" shell "$store" <line >out 2>err && complain "$line"
        grep -q '^colander: line 1: ' err || complain "$line: $(cat err)"
        case $line in
        .load*) grep -Fq "'colander load $store FAMILY FILE'" err ;;
        .read* | .output* | .once* | .pager*)
            grep -Fq "'colander shell $store " err ;;
        .export*) grep -Fq "$store ... --output FILE'" err ;;
        esac || complain "$line does not say what to do: $(cat err)"
    done
    [ ! -e planted ] || complain 'a server writes a file for a client'
    run 2 shell "$store" --readonly -e 1
    run 0 shell "$store" -e 'db:close()'
    run 0 find "$store" tweets n=3 --count
    prints 1
done

# await COUNT: the server has so many answers under way, that to this among them.
await() {
    until [ "$(curl -s --unix-socket addressed/SOCKET http://x/metrics |
        sed -n 's/^colander_answers //p')" = "$1" ]; do
        sleep 0.05
    done
}

# What runs for a client ends when that has left.
for store in addressed "$url"; do
    for chunk in 'while true do end' 'while true do pcall(error) end' \
        'coroutine.wrap(function() while true do end end)()' \
        'while true do tweets:count() end'; do
        "$COLANDER" shell "$store" -e "$chunk" >out 2>err </dev/null &
        client=$!
        await 2
        kill -9 "$client"
        wait "$client" 2>/dev/null
        await 1
    done
done
stop

# Rights of clients of an address.
serve addressed --listen 127.0.0.1:0 --token-file token
run 2 shell "$url" -e 1
says 'colander: shell: the server runs no shell for clients from elsewhere, unless it is started with --shell, or with --lua for one that only reads'
run 0 shell addressed -e 1
stop
serve addressed --listen 127.0.0.1:0 --token-file token --lua
run 0 shell "$url" -e 'tweets:find{n = 3}:select("n")'
prints '{"_key":"k3","n":3}'
for chunk in '("x"):match(("a?"):rep(40))' \
    'local t = {} for i = 1, 1e9 do t[i] = {i} end'; do
    run 1 shell "$url" -e "$chunk"
done
for chunk in 'tweets:put("a", {x = 1})' 'tweets:find{}:delete()' \
    'db:drop("tweets")' 'tweets:time_column("n")'; do
    run 1 shell "$url" -e "$chunk"
    says_some "'(put|delete|drop|time_column)' is refused: this Lua only reads\$"
done

# Every method that reads does there what it does on a store that is closed, and
# none of those in the manual is unknown.
run 0 backup addressed "$work/copies"
cat >readers <<'END'
tweets:count(), tweets:count{n = gt(28)}, tweets:name(), tweets:exists()
tweets:limit(2)
tweets:select("n"):skip(1):limit(1)
tweets:keys():limit(1)
tweets:order("n", "desc"):limit(1)
tweets:reverse():limit(1)
tweets:skip(29)
tweets:where(function(row) return row.n == 7 end)
tweets:columns():limit(1)
tweets:at(db:snapshot()):count()
tweets:scan{from = "k8"}
tweets:search("many"):count(), tweets:any_column(3):count()
tweets:explain{n = 3}.rows_returned
tweets:get("k3"), tweets:get_many({"k3", "k4"}).n
tweets:retention(), tweets:time_column(), tweets:sizes().rows
db:families(), db:recovery(), db:options().sync
tweets:find():group("user"):agg{n = count()}
END
! has_filters || cat >>readers <<'END'
tweets:filters().hash_bits, tweets:stats().damaged_count
tweets:order_stats("n").values
END
while IFS= read -r chunk; do
    run 0 shell copies/000001 --readonly -e "$chunk"
    wanted=$(cat out)
    run 0 shell "$url" -e "$chunk"
    prints "$wanted"
done <readers
count=0
chunk=
for name in $(grep -o '`\(family\|db\):[a-z_]*(' \
    "$here/../../docs/lua.md" | tr -d '`(' | sort -u); do
    has_filters || [[ $name != *@(filter|stats)* ]] || continue
    [ "$name" != db:backup ] || continue
    name=${name/family:/tweets:}
    chunk+="if not ${name/:/.} then error('$name') end "
    count=$((count + 1))
done
run 0 shell "$url" -e "$chunk return 1"
[ "$count" -ge 30 ] || complain "the manual has only $count methods"
for line in '.delete tweets --all --yes' '.drop tweets --yes' \
    '.put tweets {"_key":1}'; do
    ! echo "$line" | "$COLANDER" shell "$url" >out 2>err || complain "'$line' runs"
    grep -q 'this shell only reads: the server was not started with --shell' err ||
        complain "'$line': $(cat err)"
done
echo '.delete tweets n=1 --dry-run' | "$COLANDER" shell "$url" 2>err ||
    complain "a dry run fails: $(cat err)"
# what a client sends without an end
! { head -c 40000000 /dev/zero | tr '\0' a; } | "$COLANDER" shell "$url" 2>err ||
    complain 'a line of 40 MB is taken'
grep -q 'a line of more than 16777216 bytes' err || complain "$(cat err)"
! { echo 'x = [['; yes "$(printf '%01000d' 0)" | head -c 40000000; } |
    "$COLANDER" shell "$url" 2>err || complain 'an entry of 40 MB is taken'
grep -q 'an entry of more than 16777216 bytes' err || complain "$(cat err)"
run 0 find "$url" tweets --count
prints 31
stop
serve addressed --read-only --listen 127.0.0.1:0 --token-file token --shell
for store in addressed "$url"; do
    run 1 shell "$store" -e 'tweets:put("a", {x = 1})'
    says_some 'open for reading'
done
stop
finish
