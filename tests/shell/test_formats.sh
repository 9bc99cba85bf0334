#!/bin/bash
# Rows in JSON and CSV have the contents of the JSON lines, as read by other
# programs if available.
#
# SPDX-License-Identifier: MIT
source "$(dirname "$0")/lib"
make_demo
demo=$work/demo

run 0 find "$demo" tweets --limit 50000
cp "$work/out" "$work/lines"
run 0 find "$demo" tweets --limit 50000 --format json
{
    echo '['
    sed '$!s/$/,/' "$work/lines"
    echo ']'
} | cmp -s - "$work/out" || complain 'the JSON is not that of the lines'
run 0 find "$demo" tweets user=Nobody --format json
prints '[]'

# same_as_lines: the CSV in $work/out has the contents of $work/lines.
same_as_lines() {
    command -v python3 >/dev/null && python3 -c '' 2>/dev/null || return 0
    python3 - "$work/lines" "$work/out" <<'END' || complain "'$last' loses something"
import csv, json, sys

def field(value):
    if value is None:
        return ""
    if isinstance(value, str):
        return value
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False)

with open(sys.argv[1], encoding="utf-8") as lines, \
     open(sys.argv[2], encoding="utf-8", newline="") as table:
    rows = csv.DictReader(table, strict=True)
    for line in lines:
        row = next(rows)
        want = {name: field(value) for name, value in json.loads(line).items()}
        got = {name: value for name, value in row.items()
               if value != "" or name in want}
        assert got == want, (got, want)
    assert next(rows, None) is None
END
}

for words in '--limit 50000' '--any Houston' 'likes>=900 --reverse'; do
    # shellcheck disable=SC2086
    run 0 find "$demo" tweets $words
    cp "$work/out" "$work/lines"
    # shellcheck disable=SC2086
    run 0 find "$demo" tweets $words --format csv
    same_as_lines
done
run 0 find "$demo" sensors --limit 1000
cp "$work/out" "$work/lines"
run 0 find "$demo" sensors --limit 1000 --format csv
same_as_lines
run 0 find "$demo" tweets --key t000001 --select user,likes --format csv
prints '_key,user,likes
t000001,Okafor70,313'
run 0 get "$demo" tweets t000001 --select user,likes --format json
prints '[
{"_key":"t000001","user":"Okafor70","likes":313}
]'

# Selected columns come as they were selected, and are called what they are.
"$COLANDER" shell "$work/odd" -e 'db:family("rows"):put(1, {["a.b"] = 1, a = {b = 2, c = {x = 3}},
    ["c[]"] = {{d = 4, e = 5}}, f = "F"})' </dev/null || complain 'no store'
run 0 find "$work/odd" rows --select 'f,c\[\][].e,a\.b,a.c,c\[\][].d,a.b,nothing'
prints '{"_key":1,"f":"F","c[]":[{"d":4,"e":5}],"a.b":1,"a":{"b":2,"c":{"x":3}}}'
run 0 find "$work/odd" rows --select 'f,a\.b' --any 4 --where 'f'
prints '{"_key":1,"f":"F","a.b":1,"_matched":["c\\[\\][].d"]}'
run 0 get "$work/odd" rows 1 --select 'f,_key,a\.b'
prints '{"_key":1,"f":"F","a.b":1}'
run 0 find "$work/odd" rows --select 'f,a\.b,c\[\],a.c.x' --format csv
prints '_key,f,a.b,c[],a.c.x
1,F,1,"[{""d"":4,""e"":5}]",3'
cp "$work/out" "$work/again.csv"
run 0 load "$work/odd" again "$work/again.csv"
run 0 find "$work/odd" again --select 'a\.c\.x,a\.b,f'
prints '{"_key":1,"a.c.x":3,"a.b":1,"f":"F"}'
run 0 find "$work/odd" rows --select 'a\.b,a.b,f' --format csv
prints '_key,a\.b,a.b,f
1,1,2,F'
run 0 find "$work/odd" rows --select 'f,a\.b' --format line
prints '_key = 1
f = F
a.b = 1'
run 0 families "$demo" --format csv
prints_some '^_key,rows,sst_files,'
run 0 find "$demo" tweets user=Nobody --format csv --select user,likes
prints '_key,user,likes'

# An interrupted find writes the rows so far, and a valid end.
for format in csv json; do
    mkfifo "$work/fifo"
    # --select: otherwise rows wait, and the start of the find is not visible
    "$COLANDER" find "$demo" tweets --select user,text --format $format \
        >"$work/fifo" 2>"$work/err" &
    exec 3<"$work/fifo"
    read -r -u 3 first
    kill -INT $!
    cat <&3 >"$work/rest"
    wait $!
    [ $? = 130 ] || complain "an interrupted $format does not exit 130"
    [ "$(wc -l <"$work/rest")" -lt 99999 ] ||
        complain "an interrupted $format continues to its end"
    exec 3<&-
    rm "$work/fifo"
done
[ "$(tail -n 1 "$work/rest")" = ']' ] || complain 'interrupted JSON has no end'

"$COLANDER" find "$demo" tweets --format csv 2>"$work/err" | head -n 1 >"$work/out"
[ "${PIPESTATUS[0]}" = 141 ] || complain 'CSV into a closed pipe does not exit 141'
last='CSV into a closed pipe'
says ''
prints_some '^_key,user,'
"$COLANDER" find "$demo" tweets --format csv >/dev/full 2>"$work/err"
[ $? = 4 ] || complain 'CSV into a full disk does not exit 4'
finish
