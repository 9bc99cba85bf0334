#!/bin/bash
# Groups on the command line and with .group: measures and their names, notes,
# order, conditions on groups, gaps, mistakes.
#
# SPDX-License-Identifier: MIT
source "$(dirname "$0")/lib"
store=$work/store

cat >"$work/rows.jsonl" <<'END'
{"k":1,"at":"2026-03-28T22:30:00Z","s":"a","t":1,"m":{"x":1}}
{"k":2,"at":"2026-03-28T23:30:00Z","s":"a","t":2.5,"count":7}
{"k":3,"at":"2026-03-29T21:59:00Z","s":"b","t":"x","m":{"x":1}}
{"k":4,"at":"2026-03-31T01:00:00Z","s":"a","t":null,"m":{"x":2}}
{"k":5,"s":"a","t":4}
{"k":6,"at":null,"s":"b","t":5}
END
run 0 load "$store" rows "$work/rows.jsonl" --key k --type at=time
run 0 group "$store" rows
prints '{"count":6}'
run 0 group "$store" rows --by s
prints '{"s":"a","count":4}
{"s":"b","count":2}'
run 0 group "$store" rows --by s --sum t --avg t --max t
prints '{"s":"a","sum t":7.5,"avg t":2.5,"max t":4}
{"s":"b","sum t":5,"avg t":5.0,"max t":"x"}'
says '[sum t: 1 value left out: no number]
[avg t: 1 value left out: no number]'
run 0 group "$store" rows --by m.x --by count --count --order count:desc
prints '{"count":7,"count()":1}
{"count()":2}
{"m.x":1,"count()":2}
{"m.x":2,"count()":1}'
run 0 group "$store" rows k=1 --by m.x --by 'm.\x78' --max t --sum '\t'
prints '{"m.x":1,"m.\\x78":1,"max t":1,"sum t":1}' # two spellings of a path
run 0 group "$store" rows --by m.x --count --having 'm.x>1'
prints '{"m.x":2,"count":1}'
run 0 group "$store" rows s=a --by s --having 'count>=3' --having 'sum t<8' --count --sum t
prints '{"s":"a","count":4,"sum t":7.5}'
run 0 group "$store" rows --by s --top 1 --format csv
prints 's,count
a,4'
run 0 group "$store" rows --where 't > 2' --by s --count
prints '{"s":"a","count":2}
{"s":"b","count":1}'
run 0 group "$store" rows --by 'bucket(at,1d,Europe/Berlin)' --format csv --fill 0
prints 'at,count
,1
,1
2026-03-28T00:00:00+01:00,1
2026-03-29T00:00:00+01:00,2
2026-03-30T00:00:00+02:00,0
2026-03-31T00:00:00+02:00,1'
run 0 group "$store" rows --by 'bucket(at,1h,America/New_York),bucket(at,1h)' k=1
prints '{"at":"2026-03-28T18:00:00-04:00","bucket(at,1h)":"2026-03-28T22:00:00Z","count":1}'
TZ=America/New_York run 0 group "$store" rows --by 'bucket(at,1h,local)' k=1
prints '{"at":"2026-03-28T18:00:00-04:00","count":1}'
TZ='' run 0 group "$store" rows --by 'bucket(at,1h,local)' k=1
prints '{"at":"2026-03-28T22:00:00Z","count":1}'
TZ=Mars run 2 group "$store" rows --by 'bucket(at,1h,local)' k=1
run 0 group "$store" rows --by 'bucket(at,1d,Asia/Kolkata),s' --having 'at=2026-03-29T00:00:00+05:30'
prints '{"at":"2026-03-29T00:00:00+05:30","s":"a","count":2}'
run 0 group "$store" rows 'at>=2026-03-29T00:00:00+01:00' --by 'bucket(at,1d,Europe/London)' --format csv
prints 'at,count
2026-03-28T00:00:00Z,1
2026-03-29T00:00:00Z,1
2026-03-31T00:00:00+01:00,1'
"$COLANDER" group "$store" rows k=1 --by 'bucket(at,1d,Asia/Kolkata)' \
    --format msgpack >"$work/buckets"
run 0 load "$work/other" buckets "$work/buckets" --format msgpack
run 0 find "$work/other" buckets at=@2026-03-28T18:30:00Z --count
prints 1
run 0 group "$store" rows --by 'bucket(at,1mo)' --by 'bucket(at,1y)' 'k>0' --key 1
prints '{"at":"2026-03-01T00:00:00Z","bucket(at,1y)":"2026-01-01T00:00:00Z","count":1}'
run 0 group "$store" rows --by 'bucket( at , 1d, Europe/Berlin),s' s=b --avg k,t --format csv
prints 'at,s,avg k,avg t
,b,6.0,5.0
2026-03-29T00:00:00+01:00,b,3.0,'
run 2 group "$store" rows --first t
says_some 'no time column'

# Conditions on groups are those on rows, and columns may have blanks in them.
having()
{
    run 0 group "$store" rows --by s,k --count --sum t --last s --time k \
        --order 'sum t' --having "$1"
    "$COLANDER" group "$store" rows --by s,k --count --sum t --last s --time k \
        --order 'sum t' >"$work/all"
    grep -E "$2" "$work/all" >"$work/some"
    cmp -s "$work/out" "$work/some" || complain "--having '$1'"
}
having 'k>5 or k<2' '"k":[16]'
having 'k > 5 or k < 2' '"k":[16]'
having 'not (k>5 or k<2) and sum t<4' '"k":2'
having '(k=1 or(sum t=5))' '"k":[16]'
having 'k=[1, 6] (s="b" or last s="a b")' '"k":6'
having 'sum t!=null and last s:A' '"k":[125]'
having 'sum t? k>=4 s!="b"' '"k":[45]'
having 's~~a and k>1 or s~~(' '"k":[245]'
run 2 group "$store" rows --having '(count>3'
says_some "--having: '[(]' without '[)]'"
run 2 group "$store" rows --having 'count>3 or'
says_some '--having: expected a condition'
run 2 group "$store" rows --having ''
says_some '--having: expected a condition'

for case in "count>1 &&|write 'and' instead of '&&'" "count>1 && k=1|write 'and' instead of '&&'" \
    "count>1, k=1|write 'and' instead of ','" \
    "count>abc|'count' is a number: compare it with one, by .* not '>abc'" \
    "count~1|'count' is a number: .* not '~1'" "count:1|'count' is a number" \
    'count="5"|.count. is a number' "sum t = x|'sum t' is a number" \
    "avg t>5|the groups have no 'avg t': add --avg t" \
    "k=1 and p95 x y > 5|the groups have no 'p95 x y': add --p95 x y"; do
    run 2 group "$store" rows --by k --count --sum t --having "${case%%|*}"
    says_some "^colander: group: --having: ${case#*|}"
done
run 2 group "$store" rows --by k --having 'k=1 || count>1'
says_some "write 'or' instead of '[|][|]'"
run 0 group "$store" rows --by k --count --sum t --having 'sum t=null or count=[1,2] or k="a,"'

# Names are shown without backslashes, and both are understood.
printf 'PM2.5,a=b,"c,d",Temp (C)\n5,x,1,9\n7,y,2,8\n' >"$work/names.csv"
run 0 load "$store" names "$work/names.csv"
run 0 group "$store" names --by 'PM2\.5,c\,d,Temp (C)' --max 'a\=b,c\,d' --format csv
prints 'PM2.5,"c,d",Temp (C),max a=b,"max c,d"
5,1,9,x,1
7,2,8,y,2'
for name in PM2.5 'PM2\.5'; do
    run 0 group "$store" names --by 'PM2\.5' --max 'a\=b' --order "$name:desc" \
        --having "$name>4 and max a=b~x"
    prints '{"PM2.5":5,"max a=b":"x"}'
done
run 0 families "$store" rows --time at
run 0 group "$store" rows --first t --last t --last s --since 2026-03-28T23:00:00Z
prints '{"first t":2.5,"last t":"x","last s":"a"}'
run 0 group "$store" rows --by s --explain
says_some '2 groups'
says_some 'plan     scan'
run 0 group "$store" rows s=z --by s
prints ''
run 0 group "$store" rows --by S
says_some "did you mean 's'?"
run 0 group "$store" rows --where 'k == "z"'
says 'k holds numbers, z is a text'
run 0 group "$store" rows --where 'kk == 5'
says "no row has 'kk'"
run 0 group "$store" rows k=1 or kk=2 --by s --max t
says "no row has 'kk'"
run 0 group "$store" rows k=1 or kk=2 --max tt
says "no row has 'kk'
no row has 'tt'"
run 0 group "$store" rows k=1 or t=2 or count=8 --by s
says ''

for mistake in "--by bucket(at,1x)|not the size of a bucket" \
    "--by bucket(at)|expected a column, or bucket" \
    "--by bucket(at,1d,UTC,x)|expected a column, or bucket" \
    "--by bucket(at,1d|expected a column, or bucket" \
    '--by s,,k|--by has an empty column' '--max ,t|--max has an empty column' \
    '--by _key|the key is not a column' '--max _key.x|the key is not a column' \
    '--by s,k --order s,k|--order takes one column' \
    "--by bucket(at,1d,Nowhere)|time zone 'Nowhere'" \
    '--max m[]|only one key, and no measure, can have a path with' \
    '--by m[] --by k[]|only one key, and no measure' '--having nothing>1|condition on a column of the groups, such as .count>5., not .nothing>1.' \
    '--fill 0|exactly one key' '--fill 1|expected null, prev or 0' \
    '--top 1 --limit 2|--top excludes' "--by s --max t --order t|no column 't' to order them by, but 's', 'max t'\$" \
    '--by s --by s|two columns'; do
    read -r -a given <<<"${mistake%%|*}"
    run 2 group "$store" rows "${given[@]}"
    says_some "${mistake#*|}"
done
run 0 group "$store" rows --by "$(seq -s, 16)" --max "$(seq -s, 64)"
for many in "--by $(seq -s, 17)" "--max $(seq -s, 65)"; do
    read -r -a given <<<"$many"
    run 1 group "$store" rows "${given[@]}"
    says_some 'at most 16 columns to group by, and 64 measures'
done
run 1 group "$store" rows --by k --memory 1
says 'colander: group: --memory: groups take more than 1 bytes: group by fewer columns or larger buckets, add conditions, or raise the limit'
run 1 group "$store" rows --distinct k --memory 1k
says 'colander: group: --memory: groups take more than 1024 bytes: group by fewer columns or larger buckets, add conditions, count values approximately, or raise the limit'

# In the shell.
printf '.group rows --by s\nrows:find():group("s"):agg{n = count()}\n' |
    "$COLANDER" shell "$store" >"$work/out" 2>"$work/err" ||
    complain 'no groups in the shell'
last='.group'
prints '{"s":"a","count":4}
{"s":"b","count":2}
{"s":"a","n":4}
{"s":"b","n":2}'
finish
