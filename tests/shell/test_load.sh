#!/bin/bash
# Loading files of records with each option: what is loaded, what is rejected
# and reported, and the exit status.
#
# SPDX-License-Identifier: MIT
source "$(dirname "$0")/lib"
cd "$work" || exit 1

# load STATUS ARG...: into the store s; the summary's figures become N
load() {
    local status=$1
    shift
    run "$status" load s "$@"
    sed -i -E 's/, [0-9.]+ MB in .*MB\/s\)//' err
}

# has FAMILY ROWS: the exported rows of a family
has() {
    run 0 find s "$1"
    prints "$2"
}

# ---- formats, recognized by name and content ---------------------------------

cat >people.jsonl <<'END'
{"_key":"ann","age":41,"tags":["tea",{"x":null}],"id":9007199254740993}

{"_key":["b",2],"big":18446744073709551615,"text":"caf\u00e9 \ud83d\ude00","empty":{}}
END
people='{"_key":"ann","age":41,"tags":["tea",{"x":null}],"id":9007199254740993}
{"_key":["b",2],"big":18446744073709551615,"text":"café 😀","empty":{}}'
load 0 lines people.jsonl
says '2 rows loaded'
has lines "$people"

printf '[%s]' "$(sed '/^$/d' people.jsonl | paste -sd,)" >people.json
load 0 array people.json
has array "$people"
printf 'window.YTD.people.part0 = %s;\n' "$(cat people.json)" >people.js
load 0 archive people.js
has archive "$people"
sed 's/,"/,\n  "/g' people.jsonl >pretty
load 0 pretty pretty
has pretty "$people"

gzip -k people.jsonl
load 0 gz people.jsonl.gz
has gz "$people"
mv people.jsonl.gz without_a_name
load 0 unnamed without_a_name
has unnamed "$people"

printf '\357\273\277name,"a ""b""",n\r\nann,"x\ny",007\r\nbob,,1.50\r\n' >t.csv
load 0 csv t.csv --key name
says '2 rows loaded'
has csv '{"_key":"ann","name":"ann","a \"b\"":"x\ny","n":"007"}
{"_key":"bob","name":"bob","n":"1.50"}'
printf 'name\tn\nann\tNA\nbob\t-\n' >t.tsv
load 0 tsv t.tsv --key name --null NA --null -
has tsv '{"_key":"ann","name":"ann","n":null}
{"_key":"bob","name":"bob","n":null}'
load 0 texts t.csv --key name --no-guess
has texts '{"_key":"ann","name":"ann","a \"b\"":"x\ny","n":"007"}
{"_key":"bob","name":"bob","n":"1.50"}'
printf 'a|b\n1|2\n' >t.txt
load 0 bars t.txt --format csv --delimiter '|' --key a
has bars '{"_key":1,"a":1,"b":2}'

run 0 export s lines --format msgpack
cp out lines.msgpack
load 0 packed lines.msgpack
has packed "$people"

# several files, with different columns, into one family
load 3 many people.jsonl t.csv t.tsv --key name
says "colander: load: people.jsonl:1:1: no column 'name' for the key
colander: load: 1 more record without a column for the key
6 records read: 2 rows new, 2 replaced; 2 rejected"
load 3 many people.jsonl --key age
says "colander: load: people.jsonl:3:1: no column 'age' for the key
1 row loaded; 1 rejected"

printf 'PM2.5,a\n7,1\n' >point.csv
load 2 point t.tsv point.csv --key PM2.5
says "colander: load: t.tsv: the header has no column 'PM2.5' for the key"
load 2 point point.csv --key PM2.5
says "colander: load: point.csv: the header has no column 'PM2.5' for the \
key: write a point in a name as \\."
load 0 point point.csv --key 'PM2\.5'
has point '{"_key":7,"PM2.5":7,"a":1}'
echo '{"a":[1],"b":{"c":1}}' >nested.jsonl
load 3 nested nested.jsonl --key a
says "colander: load: nested.jsonl:1:1: column 'a' for the key is of \
type array
0 rows loaded; 1 rejected"
load 3 nested nested.jsonl --key b
says_some "'b' for the key is of type map"
load 0 nested nested.jsonl --key b.c
has nested '{"_key":1,"a":[1],"b":{"c":1}}'

# ---- filters ------------------------------------------------------------------

load 0 wordless people.jsonl --no-words
run 0 stats s wordless
! has_filters || prints_some '^options .*, no words$'
load 0 wordless people.jsonl --words name,user
run 0 stats s wordless
! has_filters || prints_some '; only these have words: name, user$'
if has_filters; then
    load 2 wordless people.jsonl --words name --no-words
    says 'colander: load: --words and --no-words exclude each other'
fi
load 0 worded people.jsonl
run 0 stats s worded
! has_filters || prints_some '^options .*, order budget [0-9.]+$'

# ---- standard input -----------------------------------------------------------

"$COLANDER" load s piped <people.jsonl 2>err || complain 'a pipe is not loaded'
has piped "$people"
"$COLANDER" load s piped - --format jsonl <people.jsonl 2>err ||
    complain 'a pipe is not loaded'
load 0 substituted <(cat people.jsonl)
has substituted "$people"
cat people.jsonl | "$COLANDER" load s named /dev/stdin 2>err ||
    complain 'a pipe that has a name is not loaded'
has named "$people"
: >nothing
load 0 none nothing
says '0 rows loaded'

# ---- rejects -------------------------------------------------------------------

cat >bad.jsonl <<'END'
{"_key":1}
{"_key":2,
{"_key":3}
5
END
printf '{"_key":"\377"}\n{"_key":"\\ud800"}\n{"_key":4}\0\n{"a":1,"a":2}' \
    >>bad.jsonl
load 3 bad bad.jsonl --rejects rejects
says "colander: load: bad.jsonl:2:11: a name must begin here, with a quote
colander: load: bad.jsonl:4:1: text is not an object
colander: load: bad.jsonl:5:10: text is not UTF-8
colander: load: bad.jsonl:6:10: half of a surrogate pair is not a character
colander: load: bad.jsonl:7:11: text continues after its object
colander: load: bad.jsonl:8:1: column 'a': name appears twice
2 rows loaded; 6 rejected"
has bad '{"_key":1}
{"_key":3}'
sed -e 1d -e 3d bad.jsonl >expected
echo >>expected
cmp -s rejects expected || complain "rejects are not as they were: $(cat rejects)"
load 0 bad bad.jsonl --max-errors 6
load 3 stopped bad.jsonl --max-errors 1
says_some '^colander: load: .*bad.jsonl: more than 1 rejected$'
load 2 bad bad.jsonl --rejects bad.jsonl
says "colander: load: the file for rejects, 'bad.jsonl', is one of the files to load"

printf 'a,b\n1,2\n3\n"4,5\n6,7\n"8"x,9\n10,11\n' >bad.csv
load 3 badcsv bad.csv --key a --rejects rejects
run 0 find s badcsv --count
prints 3
[ "$(cat rejects)" = 'a,b
3
"4,5
"8"x,9' ] || complain "rejects of CSV are not as they were: $(cat rejects)"
sed -e 's/^3/3,3/' -e 's/"//g' -e 's/x//' rejects >repaired
load 0 badcsv repaired --format csv --key a
run 0 find s badcsv --count
prints 6

seq 1 100 >numbers.jsonl
load 3 bad numbers.jsonl
[ "$(grep -c 'text is not an object' err)" = 10 ] || complain 'not just 10 rejects are reported'
says_some '^colander: load: 90 more records were rejected$'

# ---- keys with existing rows -----------------------------------------------------

printf '{"k":1,"a":1}\n{"k":2,"a":1}\n' >first.jsonl
printf '{"k":2,"b":2}\n{"k":3,"b":2}\n{"k":3,"b":3}\n' >second.jsonl
for way in replace keep patch error; do
    load 0 "$way" first.jsonl --key k
done
load 0 replace second.jsonl --key k
has replace '{"_key":1,"k":1,"a":1}
{"_key":2,"k":2,"b":2}
{"_key":3,"k":3,"b":3}'
load 0 keep second.jsonl --key k --on-duplicate keep
says '1 row loaded; 2 skipped (key exists)'
has keep '{"_key":1,"k":1,"a":1}
{"_key":2,"k":2,"a":1}
{"_key":3,"k":3,"b":2}'
load 0 patch second.jsonl --key k --on-duplicate patch
has patch '{"_key":1,"k":1,"a":1}
{"_key":2,"k":2,"a":1,"b":2}
{"_key":3,"k":3,"b":3}'
load 3 error second.jsonl --key k --on-duplicate error --rejects rejects
says "colander: load: second.jsonl:1:1: there is already a row with the key 2
colander: load: second.jsonl:3:1: there is already a row with the key 3
1 row loaded; 2 rejected"
[ "$(cat rejects)" = "$(sed 2d second.jsonl)" ] || complain 'wrong rejects'

# ---- new and replaced rows --------------------------------------------------------

seq 4000 | sed 's/.*/{"k":&}/' >sorted.jsonl
seq 4000 -1 1 | sed 's/.*/{"k":&}/' >reversed.jsonl
load 0 sorted sorted.jsonl --key k
says '4,000 rows loaded'
load 0 reversed reversed.jsonl second.jsonl --key k
says '4,003 records read: 4,000 rows new, 3 replaced'
load 0 reversed second.jsonl --key k --on-duplicate patch
says '3 records read: 0 rows new, 3 patched'
run 0 shell s -e 'reversed:flush()'
load 0 reversed sorted.jsonl --key k
says '4,000 records read; the family has 4,000 rows'
seq 4001 8000 | sed 's/.*/{"k":&}/' >later.jsonl
load 0 reversed later.jsonl --key k
says '4,000 rows loaded'
load 0 all reversed.jsonl second.jsonl --key k --bulk
says '4,003 records read: 4,000 rows new, 3 replaced'

# ---- records without the key -------------------------------------------------------

sed 's/k/id/' sorted.jsonl >ids.jsonl
load 2 vain ids.jsonl sorted.jsonl --key di
says_some "^colander: load: ids.jsonl: the first 1,000 records have no column 'di' for the key$"
load 2 vain ids.jsonl --key ids --rejects rejects
says_some "^colander: load: ids.jsonl: the first 1,000 records have no column 'ids' for the key: did you mean 'id'.$"
says_some '^0 rows loaded; 1,000 rejected$'
[ "$(wc -l <rejects)" = 1000 ] || complain 'not 1,000 records are rejected'
load 2 vain ids.jsonl --key ids --bulk
load 2 vain ids.jsonl --key ids --on-duplicate patch
load 3 vain first.jsonl --key ids
echo 'return { key = "k", time = "t", filters = { fp_rate = 0.01 } }' >rated.lua
printf '[1, 2]' >bad.json
printf 'a\n"\n' >bad.csv
for words in 'bad.json' 'bad.csv' 'bad.json --bulk' 'first.jsonl none.jsonl' \
    'bad.json --schema rated.lua' 'bad.csv --schema rated.lua' \
    'first.jsonl --schema none.lua' 'first.jsonl --type a=b' '.' \
    'bad.csv --key a --rejects bad.csv'; do
    # shellcheck disable=SC2086 # the words have no blanks
    "$COLANDER" load s vain $words 2>err && complain "'load $words' succeeds"
done
run 0 families s
! grep -q vain out || complain 'a load without a row leaves a family'
(head -n 999 ids.jsonl; cat first.jsonl; cat ids.jsonl) >late.jsonl
load 3 late late.jsonl --key k
says_some '^2 rows loaded; 4,999 rejected$'

# ---- types and columns of CSV -----------------------------------------------------

printf 'id,v\n1e5,1\n100000,2\n10e4,3\n12e3,4\n12000,5\n007,6\n7,7\n' >ids.csv
load 0 ids ids.csv --key id
says '7 rows loaded'
for id in 1e5 100000 10e4 12e3 12000 007 7; do
    row='{"_key":"'$id'","id":"'$id'","v":'
    for words in "find s ids id=$id" "find s ids id=\"$id\"" "get s ids $id" \
        "find s ids --key $id" "find s ids --any $id" "get s ids \"$id\"" \
        "find s ids --from $id --to $id"; do
        # shellcheck disable=SC2086 # the words have no blanks
        run 0 $words
        [[ $(cat out) == "$row"[1-7][,}]* ]] || complain "'$words' prints $(cat out)"
    done
    run 0 find s ids "id!=$id" --count
    prints 6
done
load 0 numbers <(echo '{"_key":1,"n":100000}')
run 0 find s numbers n=1e5 --count
prints 1
run 0 find s numbers --any 1e5 --count
prints 1
run 0 find s numbers 'n!=1e5' --count
prints 0

printf 'id,s,i,n,b,t,d\n07,1,+5,1e5,yes,2020-02-29,24.12.2020\n' >types.csv
load 0 types types.csv --type id=string --type s=string --type i=integer \
    --type n=number --type b=boolean --type t=time --type 'd=time:%d.%m.%Y' --key id
says '1 row loaded'
has types '{"_key":"07","id":"07","s":"1","i":5,"n":100000.0,"b":true,"t":"2020-02-29T00:00:00Z","d":"2020-12-24T00:00:00Z"}'
echo 'return { types = { i = "string", n = "string" } }' >strings.lua
load 0 types types.csv --schema strings.lua --type i=guess --type n=number --key id
says '1 record read: 0 rows new, 1 replaced'
has types '{"_key":"07","id":"07","s":1,"i":"+5","n":100000.0,"b":"yes","t":"2020-02-29","d":"24.12.2020"}'
load 0 typed first.jsonl --type a=string --key k
has typed '{"_key":1,"k":1,"a":"1"}
{"_key":2,"k":2,"a":"1"}'
load 0 named types.csv --type i=string --type idd=string --type 'n=number' --key id
says_some "^no row has 'idd'"
grep -q "'i'" err && complain 'a column that rows have is said to be missing'

# records without the key: one line for all
seq 30 | sed 's/.*/{"id": &}/' >keyless.jsonl
load 3 keyless keyless.jsonl --key idd
says "colander: load: keyless.jsonl:1:1: no column 'idd' for the key: did you mean 'id'?
colander: load: 29 more records without a column for the key
0 rows loaded; 30 rejected"
load 1 keyless nowhere.jsonl
says 'colander: load: nowhere.jsonl: cannot open: No such file or directory'

# values that are not of their type, in CSV and JSON, and where the first is
(echo 'id,n,b'; seq 2000 | sed 's/.*/&,&,yes/'; printf '2001,"a\nb",no\n2002,x,\n') >misfits.csv
load 0 misfits misfits.csv --key id --type n=integer --type b=boolean
says '2,002 rows loaded
column '\''n'\'': 2 of 2,002 values are not integers and stayed as they were, such as "a\nb" (misfits.csv:2002)'
cat >misfits.jsonl <<'END'
{"a": {"b": 1}, "t": ["2020-02-29"], "i": null}
{"a": {"b": "12"}, "t": ["2020", 5], "i": 1.0}

{"a": {"b": "x"}, "t": [{"u": 1}], "i": true, "s": {"deep": "0123456789012345678901234567890123456789012345678901234567890"}}
END
load 0 misfits2 misfits.jsonl misfits.csv --type a.b=number --type 't[]=time' \
    --type i=integer --type s=string --type n=string
says "2,005 rows loaded
column 'a.b': 1 of 3 values are not numbers and stayed as they were, such as \"x\" (misfits.jsonl:4)
column 't[]': 3 of 4 values are not times and stayed as they were, such as \"2020\" (misfits.jsonl:2)
column 'i': 1 of 2 values are not integers and stayed as they were, such as true (misfits.jsonl:4)
1 more column has values that are not of its type"
load 0 misfits3 misfits.jsonl --type s=string
says_some 'such as \{"deep":"[0-9]{51}\.\.\. \(misfits\.jsonl:4\)$'

# texts that look like times
printf 'id,at,day,n\n1,2020-02-29 10:00,29.02.2020,2020-01-01\n2,2021-02-28T10:00:00Z,28.02.2020,\n3,,,x\n' >times.csv
load 0 times times.csv --key id
says '3 rows loaded
at and 1 other column look like times: add --type at=time to ask by time'
load 0 times times.csv --key id --type at=time
says_some "^day looks like times: add --type day=time:%d.%m.%Y to ask by time$"
load 0 times times.csv --key id --type at=string --type day=string
says '3 records read: 0 rows new, 3 replaced'
echo '{"at": "Wed Aug 27 13:08:45 +0000 2008"}' >api.jsonl
load 0 api api.jsonl
says_some "^at looks like times: add --type 'at=time:%a %b %d %H:%M:%S %z %Y' to ask by time$"
load 0 api api.jsonl --type 'at=time:%a %b %d %H:%M:%S %z %Y'
echo '{"at": ["2020-01-01"], "other": {"time": "2020-01-01"}, "text": "2020"}' >api.jsonl
load 0 api3 api.jsonl --schema ./strings.lua
says '1 row loaded'

load 2 types types.csv --type i
says_some "^colander: load: --type must be COL=TYPE, not 'i'$"
load 2 types types.csv --type i=text
says_some "^colander: load: --type: unknown type 'text': use string,"
load 2 types types.csv --type d=time:%Q
load 2 types types.csv --type 'a[=string'

(echo 'id,n.n,x,y,z'; seq 1100 | sed 's/.*/&,&,true,-,&/'
 printf 'a,NA,1,-,0.5\nb,NA,0.5,-,007\n') >mixed.csv
load 0 mixed mixed.csv --key id
says "1,102 rows loaded
column 'id' has 1,100 integers and 2 strings: --type id=string keeps them as they are
column 'n\\.n' has 1,100 integers and 2 strings 'NA': --null NA stores them as null
column 'x' has 1,100 booleans and 2 strings: --type x=string keeps them as they are
1 more column has values of several types"
load 0 mixed2 mixed.csv --key id --type id=string --type 'n\.n=string' \
    --type x=string --type z=string
says '1,102 rows loaded'
cat mixed.csv | "$COLANDER" load s mixed3 --key id 2>err ||
    complain 'CSV from a pipe is not loaded'
run 0 export s mixed
cp out mixed.jsonl
run 0 export s mixed3
cmp -s out mixed.jsonl || complain 'CSV from a pipe is read in another way'

# ---- following a log ----------------------------------------------------------------

# follow STATUS COUNT FAMILY FILE: follows until the family has COUNT rows, and
# ends it each time as a service is ended.
follow()
{
    local status

    for delay in 0.5 0.5 1 2 4 8 16; do
        "$COLANDER" load s "$3" "$4" --follow >out 2>err &
        sleep "$delay"
        kill -TERM $!
        wait $! && status=0 || status=$?
        run 0 find s "$3" --count
        [ "$(cat out)" -lt "$2" ] || break
    done
    prints "$2"
    [ "$status" = "$1" ] || complain "following exits with $status, not $1"
}
printf '{"n":1}\n{"n":2}\n{"n"' >app.log
follow 0 2 app app.log
printf ':3}\n{"n":4}\n' >>app.log
mv app.log app.log.1
printf '{"n":5}\n' >app.log
follow 0 5 app app.log
cp app.log app.log.0
printf '{"n":6}\nx\n' >app.log
follow 3 6 app app.log
load 0 app app.log --resume
printf '{"n":7}\n' >>app.log
follow 0 7 app app.log
load 2 app --follow
says_some '^colander: load: a load follows one file, which has a name$'
load 2 app app.log app.log.1 --follow
load 2 app app.log --follow --bulk
load 1 vain none/a.log --follow
says_some '^colander: load: none/a.log: cannot open its folder: No such file or directory$'
"$COLANDER" load s vain none.log --follow 2>err &
while ! grep -q 'none.log does not exist yet: waiting for it' err; do sleep 0.1; done
kill -TERM $!
wait $! || complain 'waiting for a log does not end well'
says 'none.log does not exist yet: waiting for it
0 rows loaded'
run 0 families s
! grep -q vain out || complain 'a log that does not exist leaves a family'

# ---- added columns -----------------------------------------------------------------

mkdir -p posts
printf 'id,t\n1,a\n' >posts/cats.csv
printf '{"id":1,"t":"b"}\n' | gzip >posts/dogs.v2.jsonl.gz
load 0 posts posts/* --add-file-name topic --add source=archive --add year=2020 \
    --add 'a\.b="7"' --add e=1e5 --key topic,id
says '2 rows loaded'
has posts '{"_key":["cats",1],"id":1,"t":"a","source":"archive","year":2020,"a.b":"7","e":100000.0,"topic":"cats"}
{"_key":["dogs.v2",1],"id":1,"t":"b","source":"archive","year":2020,"a.b":"7","e":100000.0,"topic":"dogs.v2"}'
load 2 added posts/cats.csv --add t=1
says "colander: load: posts/cats.csv: the header has the column 't' already: add it under another name"
load 3 added posts/dogs.v2.jsonl.gz --add id=1
says_some "the record has the column 'id' already: add it under another name$"
load 2 added posts/cats.csv --add x
load 2 added posts/cats.csv --add 'x=[1]'
load 2 added posts/cats.csv --add x=1 --add x=2
load 2 added posts/cats.csv --add x.y=1
load 2 added posts/cats.csv --add _key=1
load 2 added posts/cats.csv --add x=1 --add-file-name x

# ---- resuming ------------------------------------------------------------------

printf '{"_key":1}\n{"_key":2}\n' >log.jsonl
load 0 log log.jsonl --resume
says '2 rows loaded'
load 0 log log.jsonl --resume
says '0 rows loaded; 1 file loaded before'
printf '{"_key":3}\n' >>log.jsonl
load 0 log log.jsonl nothing --resume
says '1 row loaded'
sed -i 's/1/7/' log.jsonl
load 2 log log.jsonl --resume
says_some 'log.jsonl: cannot resume at byte 33: the file has changed'
load 0 log log.jsonl
says '3 records read: 1 row new, 2 replaced'
seq 10000 10999 | sed 's/.*/{"_key":&}/' >long.jsonl # the end counts, too
load 0 long long.jsonl --resume
sed -i 's/10998/10000/' long.jsonl
load 2 long long.jsonl --resume
says_some 'long.jsonl: cannot resume at byte 15000: the file has changed'
load 1 log log.jsonl nowhere --resume
says 'colander: load: nowhere: cannot open: No such file or directory'
run 0 shell s -e 'log:drop()'
load 0 log log.jsonl --resume
says '3 rows loaded'

# the empty file has a header now
: >growing.csv
load 0 growing growing.csv
printf 'a,b\n1,2\n' >>growing.csv
load 0 growing growing.csv --resume
says '1 row loaded'

# rejects are written after the name of each file
printf 'a,b\n1\n' >one.csv
printf 'x,y\n2\n' >two.csv
load 0 headers first.jsonl
load 3 headers one.csv two.csv --rejects rejects
echo 3 >>one.csv
load 3 headers one.csv two.csv --rejects rejects --resume
[ "$(paste -sd' ' rejects)" = 'a,b 1 x,y 2 a,b 3' ] ||
    complain "rejects have other names: $(cat rejects)"
echo 4 >>one.csv
rm rejects
load 3 headers one.csv two.csv --rejects rejects --resume
[ "$(paste -sd' ' rejects)" = 'a,b 4' ] ||
    complain "rejects of a new file have no names: $(cat rejects)"

printf '{"_key":1}\n{"_key":2' >half.jsonl
load 3 half half.jsonl --rejects rejects
says 'colander: load: half.jsonl:2:10: an object continues with , or }
1 row loaded; 1 rejected'
printf '2}\n{"_key":3}' >>half.jsonl
load 0 half half.jsonl --resume --rejects rejects
says '2 rows loaded'
[ ! -s rejects ] || complain 'half a line stays rejected'
printf '\n{"_key":4}\n' >>half.jsonl
load 0 half half.jsonl --resume
says '1 row loaded'
has half '{"_key":1}
{"_key":3}
{"_key":4}
{"_key":22}'

# ---- all at once ----------------------------------------------------------------

load 0 bulk people.jsonl t.csv --bulk
run 0 find s bulk --count
prints 4
load 2 bulk people.jsonl --bulk
says "colander: load: family 'bulk' has rows: a bulk needs a family without rows"
load 2 other people.jsonl --bulk --resume
load 0 bulk people.jsonl t.csv --resume
says '0 rows loaded; 2 files loaded before'

# ---- mistakes -------------------------------------------------------------------

load 1 x nowhere.jsonl
says_some "^colander: load: nowhere.jsonl: cannot open"
load 2 x people.jsonl --format xml
says_some "xml"
load 2 x people.jsonl --on-duplicate never
load 2 x people.jsonl --key 'a['
load 2 x people.jsonl --key ,
load 2 x people.jsonl --delimiter ab
load 2 x people.jsonl --record-size 1
load 2 x people.jsonl --schema nothing
run 2 load s
echo precious >kept
load 1 x people.jsonl nowhere.jsonl --rejects kept
[ "$(cat kept)" = precious ] || complain 'a load that cannot begin cut a file'
head -c 40 without_a_name >cut.gz
load 4 x cut.gz
says_some '^colander: load: cut.gz: '
load 4 x people.jsonl --rejects /dev/full --key nothing
says_some "^colander: load: .*/dev/full.*No space left"
printf 'a\r1\r2\r' >macintosh.csv
load 2 x macintosh.csv
says_some 'carriage return'
load 2 x people.jsonl --key _key
load 2 x people.jsonl --key 'tags[]'
(gzip -c people.jsonl && echo garbage) >tail.gz
load 4 tail tail.gz
has tail "$people"
"$COLANDER" load s x - --rejects people.jsonl <people.jsonl 2>err &&
    complain 'standard input may be the file of rejects'
[ -s people.jsonl ] || complain 'a file that was to be loaded was emptied'
printf '\377\376a\0' >utf16
load 2 x utf16
says_some 'UTF-16'

finish
