#!/bin/bash
# A command that reads prints the same, and exits with the same status, whether
# the store is closed, held by a server, or behind an address.
#
# SPDX-License-Identifier: MIT
source "$(dirname "$0")/lib"
make_demo
has_server || finish
cd "$work" || exit 1

# A server that stands still, which its client notices after 25 seconds.
mkdir still
"$COLANDER" demo still/store >out 2>err || complain 'no demo'
"$COLANDER" serve still/store >still/out 2>&1 </dev/null &
still=$!
trap 'kill -9 "$still" 2>/dev/null; kill -9 $server 2>/dev/null; rm -rf "$work"
      [ "$failures" = 0 ] || exit 1' EXIT
until [ -s still/out ]; do
    kill -0 "$still" || {
        complain "no server: $(cat still/out)"
        finish
    }
    sleep 0.02
done
kill -STOP "$still"
"$COLANDER" find still/store tweets user=Smith >still/out 2>still/err &
waits=$!

# So few rows that statistics are of all of them, and not of a sample, which
# depends on files.
run 0 export demo tweets --from t008000 --limit 8000 --output tweets.jsonl
rm -r demo
run 0 load demo tweets tweets.jsonl
printf '%s\n' '{"_key":1,"a":"\u001b[1m","t":"2026-11-01T10:00:00Z"}' \
    '{"_key":2,"b":[1,{"c":null}],"t":"2026-11-02T10:00:00Z"}' >strange.jsonl
run 0 load demo 'odd "name' strange.jsonl --type t=time
run 0 families demo 'odd "name' --time t

for day in 1 2 3; do
    printf '{"_key":%d,"at":"2026-11-0%dT0%d:00:00Z","n":%d,"tags":["a","%s"]}\n' \
        1 $day $day $day b$day 2 $day 7 $day c
done >days.jsonl
run 0 load demo 'logs/{day}' days.jsonl --partition at:day

# Times differ, the memory of a process that has run for a while, and whether
# filters have been loaded yet.
# shellcheck disable=SC2317
usual() { # STORE
    sed -E -e "s|$1|STORE|g" -e 's/ in [0-9.]+ m?s$/ in N/' -e '/^time /d' \
        -e '/^files /d' -e '/^where /s/ in [0-9.]+ .*//' -e '/^store /d'
}

# A server may compact files that were not compacted before.
# shellcheck disable=SC2317
without_sizes() {
    sed -E -e 's/[0-9][0-9,.]*/N/g' -e 's/[ -]+/ /g'
}

# collect NAME STORE: what each command prints, and its status.
collect() {
    local line status words shown

    mkdir "$1.d"
    cd "$1.d" || exit 1
    while IFS= read -r line; do
        eval "words=($line)"
        status=0
        rm -f file
        COLUMNS=70 "$COLANDER" "${words[0]}" "$2" "${words[@]:1}" \
            >out 2>err </dev/null || status=$?
        case $line in
        families* | stats*) shown=without_sizes ;;
        *) shown=cat ;;
        esac
        printf '$ %s\n' "$line"
        usual "$2" <out | "$shown"
        printf 'says:\n'
        usual "$2" <err
        [ ! -e file ] || printf 'file: %s\n' "$(cksum <file)"
        printf 'status %s\n' "$status"
    done <../commands >"../$1"
}

cat >commands <<'END'
find tweets user=Smith
find tweets user=Smith --format table
find tweets user=Smith --format box --limit 3
find tweets user=Smith --format markdown --select likes,text
find tweets user=Smith --format line --limit 2
find tweets user=Smith --format pretty --limit 2
find tweets user=Smith --format csv
find tweets user=Smith --format tsv --select user,profile
find tweets user=Smith --format json
find tweets user=Smith --format msgpack
find tweets user=Smith --format xml
find tweets user=Smith --explain
find tweets user=Smith --explain --format table
find tweets user=Smith --count
find tweets user=Smith --count --scan --explain
find tweets
find tweets --count
find tweets --limit 1000 --skip 99 --reverse
find tweets --any Houston --limit 5
find tweets --any Houston --count --explain
find tweets --order likes:desc --limit 5
find tweets --order likes:dsc
find tweets --order 'a['
find tweets 'likes>990' lang=pl
find tweets lang=pl or lang=es not 'likes<990'
find tweets 'profile.name=Yuki Smith' --select profile.city
find tweets usr=Smith
find tweets user=Smitt
find tweets likes=many
find tweets user=Smith --select usr
find tweets 'likes>>5'
find tweets user
find tweets '('
find tweets --any '[1'
find tweets --where 'likes > 998'
find tweets --where 'likes > 998' --explain
find tweets --where 'likes > > 998'
find tweets --where 'lkes == 5'
find tweets --where 'user.name.x == 5' --limit 1
find tweets --key t008443
find tweets --key '[1'
find tweets --key t008443 --from t008001
find tweets --from t008443 --to t008449
find tweets --prefix t008443
find tweets --since 2026-01-01
find twets
find nothing
find ''
find
find tweets --limit x
find tweets --limit
find tweets --bogus
find tweets --limit 3 --limit 4
find 'odd "name'
find 'odd "name' --format table
find 'odd "name' --format csv
find 'odd "name' --since 2026-11-02
find 'odd "name' --until 2026-11-02T00:00:00Z
find 'odd "name' --since soon
find 'odd "name' a=$'\e[1m' --format table
find tweets rain --limit 5
find tweets rain --order likes:desc --limit 3
find tweets '"rain today"' --format table
find tweets 'text:rain sno*' --count
find tweets --search text --count
find tweets text
find tweets 'text~~ain' 'likes>990'
find tweets 'text=~^my [a-z]+ rain' --select text
find tweets 'text!~e' --count
find tweets 'text=~('
find tweets -i user=SMITH --count
find tweets -i 'text=~^MY' --limit 2
export tweets rain 'likes>980'
group tweets
group tweets --by lang
group tweets --by lang --format table
group tweets --by lang --format csv
group tweets --by lang --count --avg likes --p95 likes --explain
group tweets --by lang --count --order count:desc --limit 2
group tweets --by user --top 5
group tweets rain --by lang --having 'count>9'
group tweets 'text=~(rain|snow)' --by lang --max likes
group tweets -i user=SMITH --by user
group tweets --where 'likes > 990' --by lang
group tweets --by lang --avg user
group tweets --by usr
group tweets lang=xx
group tweets --by 'text[]'
group tweets --by 'text[]' --max 'text[]'
group tweets --by lang --having 'n>5'
group tweets --by user --memory 1k
group tweets --by lang --order nothing
group twets --by lang
group tweets --bogus
group
group 'odd "name' --by 'bucket(t,1h)' --fill 0
group 'odd "name' --by 'bucket(t,1h,Europe/Berlin)' --fill 0
group 'odd "name' --by a --format table
find 'logs/*'
find 'logs/{day}' n=2 --since 2026-11-02 --explain
find 'logs/*' --until 2026-11-02T00:00:00Z --format csv
find 'logs/*' --any c --order n:desc --limit 2
find 'logs/2026-11-0[12]'
find 'logs/*' --limit 3 --skip 1 --reverse --select n,_family
find 'logs/*' --count
find 'logs/*' m=1
find 'lgs/*'
find 'lgs/{day}'
find '*' --since 2026-11-02
group 'logs/*' --by 'bucket(at,1d)' --sum n --explain
group 'logs/{day}' --by 'tags[]' --since 2026-11-02
group 'lgs/*'
export 'logs/*' tags[]=c
columns 'logs/*'
stats 'logs/*' --json
families 'logs/*'
get tweets t008443
get tweets t008443 --format table
get tweets t008443 --select likes,user
get tweets t999999
get tweets '[1'
get tweets
get tweets t008443 more
get twets t008443
get 'odd "name' 2 --format line
export tweets lang=pl 'likes>900'
export tweets lang=pl --format csv
export tweets lang=pl --format msgpack
export tweets lang=pl --format table
export tweets lang=pl --output file
export tweets lang=pl --format csv --output file
export tweets lang=xx
export tweets lang=xx --output file
export tweets lang=pl --output none/file
export twets --output file
families
families tweets
families twets
families --exact
families --format table
families --format csv
families a b
columns tweets
columns tweets --format table
columns tweets --rows 500 --like name
columns tweets --all --depth 1 --format csv
columns twets
columns 'odd "name'
stats
stats tweets
stats tweets --json
stats twets
END
serve demo --lua
stop
(collect closed "$work/demo")
serve demo --listen 127.0.0.1:0 --token-file token --lua
export COLANDER_TOKEN_FILE=$work/token
(collect held "$work/demo") & # both at once
held=$!
(collect addressed "$url")
wait "$held"
[ "$(grep -c '^status' closed)" = "$(wc -l <commands)" ] ||
    complain 'a command is missing'
diff closed held >differences ||
    complain "held by a server: $(head -20 differences)"
diff closed addressed >differences ||
    complain "behind an address: $(head -20 differences)"

# A pipe that is closed ends a command, and the server goes on.
for store in demo "$url"; do
    "$COLANDER" export "$store" tweets | head -1 >out
    [ "${PIPESTATUS[0]}" = 141 ] || complain 'an export is not ended'
    [ "$(wc -l <out)" = 1 ] || complain 'an export prints nothing'
done
run 0 get "$url/" tweets t008443 --select likes # a slash may follow

# What a server does not do.
for words in 'word=help' 'word=salvage&word=demo&word=x' \
    'word=find&word=demo&word=--help' 'word=stats&word=--help' \
    'word=restore&word=demo&word=x' \
    'word=serve&word=demo' 'word=completion&word=bash' 'word=demo&word=x'; do
    curl -sS --unix-socket demo/SOCKET http://x/command -d "$words" >out
    grep -aq '^e.*colander: [a-z]*: a server runs only commands that need its store$' \
        <(tr '\000' '.' <out) || complain "$words: $(tr '\000' '.' <out)"
done
[ ! -e x ] || complain 'a server makes a store'
curl -sS --unix-socket demo/SOCKET http://x/command \
    -d 'word=export&word=demo&word=tweets&word=lang=pl&word=--output&word=planted' \
    >out
[ ! -e planted ] || complain 'a server writes a file for a client'

# Tokens.
COLANDER_TOKEN_FILE='' run 1 families "$url"
says "colander: families: the server refuses it: the request needs the token: Authorization: Bearer TOKEN (COLANDER_TOKEN_FILE names the file that has it)"
echo 0123456789abcdef0123456789abcdef >other
chmod 600 other
COLANDER_TOKEN_FILE=other run 1 families "$url"
chmod 644 other
COLANDER_TOKEN_FILE=other run 1 families "$url"
says "colander: families: others may read the token file 'other': chmod 600 it"
stop
run 1 families "$url"
says_some "cannot reach '$url': "
run 1 families http://127.0.0.1:1
run 1 families 'http://127.0.0.1:bad'

# Lua is not run for clients of an address, unless that is allowed.
serve demo --listen 127.0.0.1:0 --token-file token
run 2 find "$url" tweets --where 'likes > 998'
says_some 'the server runs no Lua for clients from elsewhere'
run 2 group "$url" tweets --where 'likes > 998'
says_some 'the server runs no Lua for clients from elsewhere'
run 2 group "$url" tweets --by lang --memory 2g
says 'colander: group: --memory: in a server groups take at most 1g'
run 0 find demo tweets --where 'likes > 998' --count
run 0 find "$url" tweets user=Smith --count
prints 1

# A server that is killed in the middle of an answer: an error, and not a whole
# answer. The pipe holds the client back, and the client the server, as the
# answer is longer than the buffers on the way.
stop
rm -r demo
make_demo
serve demo --listen 127.0.0.1:0 --token-file token
for kind in held addressed; do
    store=demo
    [ "$kind" = held ] || store=$url
    mkfifo fifo
    "$COLANDER" export "$store" tweets >fifo 2>err &
    client=$!
    exec 3<fifo
    head -c 100 <&3 >out
    kill -9 "$server"
    wait "$server" 2>/dev/null
    cat <&3 >>out
    exec 3<&-
    status=0
    wait "$client" || status=$?
    rm fifo
    [ "$status" = 1 ] || complain "a cut export exits $status"
    last="export of $store"
    says "colander: export: the server of '$store' has ended before its answer"
    serve demo --listen 127.0.0.1:0 --token-file token
done
stop

status=0
wait "$waits" || status=$?
[ "$status" = 1 ] || complain "a find of a server that stands still: $status"
cp still/err err
last='find still/store'
says "colander: find: the server of 'still/store' gives no sign of life: is it stopped?"
kill -CONT "$still"
finish
