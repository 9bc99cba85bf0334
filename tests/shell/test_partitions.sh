#!/bin/bash
# Families by time: loads make them, finds ask those that are needed as one, and
# retain drops them as a whole.
#
# SPDX-License-Identifier: MIT
source "$(dirname "$0")/lib"
cd "$work" || exit 1

# 10 days of 30 rows; the last is 2024-03-10. Keys are the same in each family.
for ((day = 1; day <= 10; day++)); do
    for ((i = 0; i < 30; i++)); do
        printf '{"_key":%d,"at":"2024-03-%02dT%02d:00:00Z","level":"%s","n":%d}\n' \
            $i $day $((i % 24)) "$( ((i % 3)) && echo info || echo debug)" $i
    done
done >logs.jsonl

load() { # STATUS ARG...
    local wanted=$1
    shift
    run "$wanted" load s 'logs/{day}' --partition at:day "$@"
}
count() { # WANTED ARG...
    local wanted=$1
    shift
    run 0 find s "$@" --count
    prints "$wanted"
}

# ---- loads ---------------------------------------------------------------------

run 2 load s 'logs/{day}' logs.jsonl
says_some 'which column has the times\? --partition COL:day'
run 2 load s 'logs/{day}' logs.jsonl --partition at:hour
says_some "must have \{hour\} in it"
run 2 load s logs logs.jsonl --partition at:day
says_some "must have \{day\} in it, once and no other unit, as 'logs/\{day\}'"
run 2 load s 'x/{day}/{hour}' logs.jsonl --partition at:hour
says_some "must have \{hour\} in it, once and no other unit, as 'logs/\{hour\}'"
run 2 load s 'logs/{day}' logs.jsonl --partition at
run 2 load s 'logs/{day}' logs.jsonl --partition at:week
run 2 load s 'logs/{day}' logs.jsonl --partition at:day --bulk
load 0 logs.jsonl
says '300 records read into 10 families'
run 0 families s --format csv
cut -d, -f1 out >names
[ "$(tail -n +2 names)" = "logs/2024-03-01
logs/2024-03-02
logs/2024-03-03
logs/2024-03-04
logs/2024-03-05
logs/2024-03-06
logs/2024-03-07
logs/2024-03-08
logs/2024-03-09
logs/2024-03-10
logs/{day}" ] || complain "families are $(cat names)"
if has_filters; then
    run 0 refilter s 'logs/{day}' --words off
    prints_some '^note     for families that loads will create; those that are there keep'
    run 0 refilter s 'logs/{day}' --words on
fi
count 30 logs/2024-03-05
count 300 'logs/*'
count 300 'logs/{day}'
count 300 '*'
count 90 'logs/2024-03-0*' level=debug 'at>=2024-03-01'

# A later load adds to the families, and records without a usable time are
# rejected.
cat >more.jsonl <<'END'
{"_key":100,"at":"2024-03-10T23:00:00Z"}
{"_key":101}
{"_key":102,"at":"yesterday"}
{"_key":103,"at":"1816-03-10T23:00:00Z"}
{"_key":104,"at":"2024-03-11T00:00:00Z"}
END
load 3 more.jsonl --rejects rejects.jsonl
says_some "more.jsonl:2:.*nothing in 'at', by which rows are in families"
says_some "more.jsonl:3:.*no time in 'at', by which rows are in families"
says_some 'more.jsonl:4:.*the time is not of a year from 1970 to 2199'
says_some '^5 records read into 2 families; 3 rejected$'
[ "$(grep -c . rejects.jsonl)" = 3 ] || complain "rejects: $(cat rejects.jsonl)"
count 302 'logs/*'
count 1 logs/2024-03-11

# Duplicates are those of one family.
echo '{"_key":1,"at":"2024-03-02T00:00:00Z","n":-1}
{"_key":1,"at":"2024-03-12T00:00:00Z","n":-2}
{"_key":1,"at":"2024-03-12T05:00:00Z","n":-3}' >again.jsonl
load 0 again.jsonl --on-duplicate keep
says_some '^1 row loaded into 2 families; 2 skipped'
count 1 'logs/*' n=-2
count 0 'logs/*' n=-1
count 0 'logs/*' n=-3
load 3 again.jsonl --on-duplicate error
says_some 'there is already a row with the key 1'
load 0 again.jsonl --on-duplicate patch
count 1 logs/2024-03-02 n=-1 level=info
load 0 again.jsonl
count 0 logs/2024-03-02 n=-1 level=info
run 0 delete s 'logs/*' 'n<0' --yes
says '2 rows deleted'

# A load that was stopped is resumed.
head -100 logs.jsonl >part.jsonl
run 0 load r 'logs/{day}' part.jsonl --partition at:day
tail -n +101 logs.jsonl >>part.jsonl
run 0 load r 'logs/{day}' part.jsonl --partition at:day --resume
says '200 records read into 7 families'
run 0 find r 'logs/*' --count
prints 300
run 0 load r 'logs/{day}' part.jsonl --partition at:day --resume
says '0 records read; 1 file loaded before'
run 2 load r 'logs/{day}' part.jsonl --partition other:day
says_some "families of 'logs/\{day\}' are by the times in 'at', not in 'other'"

# Hours and months. A key column is read as in the families before.
run 0 load h 'h{hour}' logs.jsonl --partition at:hour
says '300 records read into 240 families'
run 0 load m 'm/{month}' logs.jsonl --partition at:month
says '300 records read into 1 family'
printf 'id,at\nx7,2024-01-01T00:00:00Z\n' >first.csv
printf 'id,at\n7,2024-01-02T00:00:00Z\n' >second.csv
run 0 load k 'k{day}' first.csv --partition at:day --key id
run 0 load k 'k{day}' second.csv --partition at:day --key id
run 0 find k 'k*' --key '"7"' --select _family
prints '{"_key":"7","_family":"k2024-01-02"}'

# A time that is wrong makes no thousands of families.
for ((i = 0; i < 1001; i++)); do
    echo "{\"at\":$((1600000000 + i * 3600))}"
done >hours.jsonl
head -1 hours.jsonl >hour.jsonl
run 0 load w 'w{hour}' hour.jsonl --partition at:hour --type at=time:unix
echo '{"at":1}' >>hours.jsonl
run 1 load w 'w{hour}' hours.jsonl --partition at:hour --type at=time:unix
says_some 'a load creates at most 1000 families'
says_some 'to continue from the resume point, add --resume'
run 0 families w 'w*' --format csv
[ "$(grep -c '^w2020' out)" = 1 ] || complain 'a load that fails creates families'

# Nor does a column that no record has read the whole file.
for ((i = 0; i < 1500; i++)); do
    echo "{\"_key\":$i,\"at\":\"2024-03-01T00:00:00Z\"}"
done >many.jsonl
run 2 load w 'v/{day}' many.jsonl --partition ta:day --rejects rejected
says_some "the first 1,000 records have nothing in 'ta', by which rows are in"
says_some '1,000 rejected'
[ "$(grep -c . rejected)" = 1000 ] || complain 'not 1,000 records are rejected'

# A family that another command has created gets what it lacks.
run 0 put w p/2024-03-01 '{"_key":1,"at":1}'
echo '{"_key":2,"at":"2024-03-02T00:00:00Z"}' >>p.jsonl
echo '{"_key":2,"at":"2024-03-01T00:00:00Z"}' >>p.jsonl
run 0 load w 'p/{day}' p.jsonl --partition at:day
run 0 find w 'p/*' --since 2024-03-01 --count
prints 2

run 2 put s 'logs/{day}' '{"at":1}'
says_some "is a family for each day: put the row into one of them"

# ---- finds ---------------------------------------------------------------------

run 1 find s 'nothing/*'
says_some "no family 'nothing/\*' in 's'"
run 1 find s 'nothing/{day}'
says_some "no family 'nothing/\{day\}' in 's'"
run 0 find s 'logs/*' n=7 --since 2024-03-09
prints '{"_key":7,"at":"2024-03-09T07:00:00Z","level":"info","n":7,"_family":"logs/2024-03-09"}
{"_key":7,"at":"2024-03-10T07:00:00Z","level":"info","n":7,"_family":"logs/2024-03-10"}'
run 0 find s 'logs/*' n=7 --since 2024-03-09 --reverse --select n,_family
prints '{"_key":7,"n":7,"_family":"logs/2024-03-10"}
{"_key":7,"n":7,"_family":"logs/2024-03-09"}'
run 0 find s 'logs/*' n=7 --select n --limit 2 --skip 1
prints '{"_key":7,"n":7}
{"_key":7,"n":7}'
run 0 find s 'logs/*' 'n<3' --until 2024-03-02T02:00 --order n:desc --select at,_family
prints '{"_key":2,"at":"2024-03-01T02:00:00Z","_family":"logs/2024-03-01"}
{"_key":1,"at":"2024-03-01T01:00:00Z","_family":"logs/2024-03-01"}
{"_key":0,"at":"2024-03-01T00:00:00Z","_family":"logs/2024-03-01"}
{"_key":0,"at":"2024-03-02T00:00:00Z","_family":"logs/2024-03-02"}'

# Families whose times are not asked for are left out, and counted.
asked() { # REGEX ARG...
    local regex=$1
    shift
    run 0 find s 'logs/*' --count --explain "$@"
    says_some "^families +12 of 'logs/\*': $regex\$"
}
asked '2 asked, 10 not, because of their times' --since 2024-03-11
asked '1 asked, 11 not, because of their times' --until 2024-03-02
asked '2 asked, 10 not, because of their times' --until 2024-03-02T00:00:01
asked '3 asked, 9 not, because of their times' --since 2024-03-03T12:00 --until 2024-03-05T01:00
asked '0 asked, 12 not, because of their times' --since 2d
prints 0
run 0 find s 'logs/*' --limit 3 --explain
says_some "^families +12 of 'logs/\*': 1 asked, 11 not needed any more\$"
run 0 find s 'logs/*' --any 7 --scan --explain --count
says_some '^matched  n 10'
says_some '^plan +scan of 12$'
run 0 find s logs/2024-03-01 --scan --explain --count
says_some "^plan +scan of family 'logs/2024-03-01' in key order"

# Families are left out by the column that makes them, and by no other one.
printf '{"_key":%d,"at":"2024-03-0%dT00:00:00Z","t2":"2020-01-0%dT00:00:00Z"}\n' \
    1 1 1 2 2 2 >other.jsonl
run 0 load c 'c/{day}' other.jsonl --partition at:day --type t2=time
run 0 families c c/2024-03-01 --time t2
run 0 families c c/2024-03-02 --time t2
run 0 find c 'c/*' --until 2020-01-02 --select _family
prints '{"_key":1,"_family":"c/2024-03-01"}'
run 0 families c c/2024-03-02 --time at
run 0 delete c 'c/*' --where '_family == "c/2024-03-02"' --dry-run
says '1 row would be deleted'
run 0 find c 'c/*' --where '_family ~= "c/2024-03-02"' --select at
prints '{"_key":1,"at":"2024-03-01T00:00:00Z"}'
for condition in '_family=c/2024-03-02' '_family!' not\ _family=x; do
    # shellcheck disable=SC2086
    run 2 delete c 'c/*' $condition --dry-run
    says_some "_family is not a column: name the families, .* or use --where"
done
run 2 find c 'c/*' --since 2024-03-02
says_some "have different time columns"

# The same rows, one by one.
for ((day = 3; day <= 6; day++)); do
    "$COLANDER" find s logs/2024-03-0$day level=debug --format jsonl
done >wanted
run 0 export s 'logs/*' level=debug --since 2024-03-03 --until 2024-03-07
cmp -s wanted out || complain 'an export of families differs from exports of each'
run 0 export s 'logs/*' --format csv --select n
[ "$(grep -c . out)" = 302 ] || complain 'CSV of families lacks rows'
run 0 export s 'logs/*' --format csv
[ "$(grep -c . out)" = 302 ] || complain 'CSV of families lacks rows'

# ---- other commands --------------------------------------------------------------

run 0 group s 'logs/*' --by level --count --sum n --until 2024-03-11
prints '{"count":1,"sum n":null}
{"level":"debug","count":100,"sum n":1350}
{"level":"info","count":199,"sum n":2999}'
run 0 group s 'logs/*' --by 'bucket(at,1d)' --since 2024-03-09 --until 2024-03-10 --explain
prints '{"at":"2024-03-09T00:00:00Z","count":30}'
says_some "^families +12 of 'logs/\*': 1 asked, 11 not, because of their times\$"
run 0 group s 'logs/*' --where 'n > 27' --count
prints '{"count":20}'
run 0 columns s 'logs/*' --all --like level --format csv
prints_some '^level,299,'
run 0 columns s 'logs/*' --rows 5 --like level --format csv
prints_some '^level,1'
run 0 stats s 'logs/*' --json
[ "$(grep -c '"_key":"logs/2024' out)" = 12 ] || complain 'stats lacks families'
run 0 families s 'logs/2024-03-1*' --format csv
[ "$(grep -c '^logs/2024' out)" = 3 ] || complain 'families lacks some'
run 0 delete s 'logs/*' n=29 --dry-run
says '10 rows would be deleted'
run 0 delete s 'logs/*' n=29
says '10 rows deleted'
count 0 'logs/*' n=29
run 0 update s 'logs/*' n=28 --since 2024-03-09 --set seen=true
says '2 rows updated'
count 2 'logs/*' seen=true
run 2 delete s 'logs/*' n=1 --order n
says_some 'order is for rows of one family'
run 0 shell s -e 'return #db:families("logs/*") .. " " .. #db:families("logs/{day}") .. " " .. #db:families("x*")'
prints '12 12 0'
echo '.find logs/* n=27 --count' | "$COLANDER" shell s >out 2>err ||
    complain "a dot command: $(cat err)"
[ "$(cat out)" = 10 ] || complain "a dot command prints '$(cat out)'"

# A family with * in its name is that family.
echo '{"_key":1}' | "$COLANDER" load s 'a*' - 2>err || complain 'no family a*'
echo '{"_key":2}' | "$COLANDER" load s 'ab' - 2>err || complain 'no family ab'
count 1 'a*'
run 0 drop s 'a*' --yes
count 1 'a*'
run 2 find s '*' --since 2024-03-01
says_some "have different time columns|has no time column"
run 0 drop s ab --yes

# ---- retain ----------------------------------------------------------------------

run 0 retain s 'logs/*'
prints 'state    no retention'
run 0 retain s 'logs/*' --keep 3d --dry-run
says_some '^7 families with about [0-9]+ rows would be dropped; the newest is of 2024-03-11T00:00:00Z$'
run 2 retain s 'logs/*' --where level=debug --keep 3d
says_some "families of 'logs/\{day\}' are dropped as a whole"
run 0 retain s 'logs/*' --keep 8d
says_some '^2 families with about [0-9]+ rows dropped; the newest is of 2024-03-11T00:00:00Z$'
says_some "^retention set: 'colander retain STORE' applies it again"
count 234 'logs/*'
run 0 retain s 'logs/{day}'
prints "keep     8d
state    in force: 'colander retain STORE' applies it"
echo '{"at":"2024-03-20T10:00:00Z"}' >new.jsonl
load 0 new.jsonl
run 0 retain s
says_some '^logs/\{day\}: 9 families with about [0-9]+ rows dropped; the newest is of 2024-03-20T10:00:00Z$'
count 1 'logs/*'
run 1 retain s 'other/*' --keep 3d
says_some "no families by time"
echo '{"_key":1}' | "$COLANDER" load s logs/extra - 2>err || complain 'no family'
run 2 retain s 'logs/*' --keep 3d
says_some "is also 'logs/extra', which is none of 'logs/\{day\}'"
run 0 retain s 'logs/{day}' --keep 3d --once
run 0 retain s 'logs/{day}' --off
run 0 retain s 'logs/{day}'
prints 'state    no retention'

# In a restored store it is paused.
run 0 retain r 'logs/*' --keep 30d
run 0 backup r kept
run 0 restore kept again
run 1 retain again
says_some "retention of family 'logs/\{day\}' is paused"
run 0 retain again 'logs/*'
prints_some 'paused until it is set again'
run 0 find again 'logs/*' --count
prints 300

# ---- drop, rename, copy ----------------------------------------------------------

run 1 rename r 'r/{day}' other
run 2 rename r 'logs/{day}' other
says_some "'logs/\{day\}' are families by time, such as 'logs/2024-03-01'"
run 2 copy r 'logs/{day}' other
says_some "'logs/\{day\}' are families by time"
run 0 drop r 'logs/{day}' --dry-run
says_some "^10 families of 'logs/\{day\}' with about 300 rows would be dropped$"
run 0 drop r logs/2024-03-01 --yes
says_some "^family 'logs/2024-03-01' of about 30 rows dropped$"
run 0 drop r 'logs/{day}' --yes
says_some "^9 families of 'logs/\{day\}' with about 270 rows dropped$"
run 0 families r --format csv
[ "$(grep -c logs out)" = 0 ] || complain "families are left: $(cat out)"
run 1 drop r 'logs/{day}' --yes
says_some 'no family'
run 0 load r 'logs/{day}' new.jsonl --partition at:day
run 0 drop r logs/2024-03-20 --yes
run 0 rename r 'logs/{day}' 'days/{day}'
run 0 drop r 'days/{day}' --yes
says_some "^family 'days/\{day\}' of about 0 rows dropped$"

# ---- one moment ------------------------------------------------------------------

# A find whose reader waits has begun, and is in the first family, when another
# command writes to the last one, which it has not read yet.
has_server || finish
for ((i = 0; i < 30000; i++)); do
    printf '{"_key":%d,"at":"2026-01-01T00:00:00Z","text":"a row of the first family, which is long enough to wait for its reader: %d"}\n' $i $i
done >first.jsonl
echo '{"_key":1,"at":"2026-01-02T00:00:00Z"}' >last.jsonl
echo '{"_key":2,"at":"2026-01-02T00:00:00Z"}
{"_key":2,"at":"2026-01-03T00:00:00Z"}' >late.jsonl
run 0 load o 'o/{day}' first.jsonl last.jsonl --partition at:day
serve o

# A request of several families, and of groups of them.
gets() { # WANTED TARGET CURL-ARG...
    local wanted=$1 target=$2
    shift 2
    curl -sSg --unix-socket o/SOCKET "http://o/$target" "$@" >out 2>&1
    [ "$(cat out)" = "$wanted" ] ||
        complain "GET /$target: $(head -c 500 out), not $wanted"
}
run 0 find o 'o/*' --since 2026-01-02
gets "$(cat out)"$'\n''{"_end":{"rows":1}}' 'find/o%2F*?since=2026-01-02'
run 0 find o 'o/{day}' --key 1 --any 2026-01-02T00:00:00Z --select at
gets "$(cat out)"$'\n''{"_end":{"rows":1}}' 'find/o%2F%7Bday%7D?select=at' \
    -d any=2026-01-02T00:00:00Z -d key=1
gets '{"error":{"code":"invalid","message":"unknown parameter '"'cursor'"'","at":{"parameter":"cursor","offset":0}}}' \
    'find/o%2F*?cursor='
gets '{"error":{"code":"not found","message":"no family '"'p/*'"' in '"'store'"': its families are '"'o/{day}'"'"}}' \
    'find/p%2F*'
gets '{"count":1}'$'\n''{"_end":{"groups":1,"rows":1}}' \
    'group/o%2F*?since=2026-01-02'

mkfifo rows
"$COLANDER" find o 'o/*' >rows 2>err </dev/null &
{
    read -r line
    run 0 load o 'o/{day}' late.jsonl --partition at:day
    run 0 find o 'o/*' --count
    prints 30003
    { echo "$line"; cat; } >seen
} <rows
wait $!
[ "$(grep -c . seen)" = 30001 ] ||
    complain "a find of one moment has $(grep -c . seen) rows"

# One that is dropped before its first row has none; that which is read goes on.
"$COLANDER" find o 'o/*' >rows 2>err </dev/null &
{
    read -r line
    run 0 drop o o/2026-01-01 --yes
    run 0 drop o o/2026-01-02 --yes
    { echo "$line"; cat; } >seen
} <rows
wait $! || complain "a find fails when a family is dropped: $(cat err)"
[ "$(grep -c . seen)" = 30001 ] && tail -1 seen | grep -q o/2026-01-03 ||
    complain "a find of dropped families has $(grep -c . seen) rows"
stop

finish
