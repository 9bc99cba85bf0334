#!/bin/bash
# What stats reports, and what refilter does: filters change, finds do not.
#
# SPDX-License-Identifier: MIT
source "$(dirname "$0")/lib"
make_demo
demo=$work/demo

bytes() { # NAME: the number with that name in the JSON that was printed
    grep -Eo "\"$1\":[0-9]+" "$work/out" | tail -n 1 | cut -d : -f 2
}

run 0 stats "$demo"
prints_some '^family   sensors$'
prints_some '^family   tweets$'
prints_some '^rows     about 100,000$'
prints_some '^files    [0-9]+ SST files?, [0-9,]+ bytes; '
run 0 stats "$demo" sensors
[ "$(grep -c '^family' "$work/out")" = 1 ] || complain 'stats reports other families'
run 1 stats "$demo" bogus
says "colander: stats: no family 'bogus' in '$demo': its families are 'sensors', 'tweets'"
run 0 stats "$demo" --json
[ "$(cut -d , -f 1 "$work/out")" = '{"_key":"sensors"
{"_key":"tweets"' ] || complain 'stats --json has not one line per family'
run 0 stats "$demo" tweets --json
prints_some '^{"_key":"tweets","rows":100000,"sst_files":[1-9]'
size=$(find "$demo" -name '*.sst' -printf '%s\n' | sort -n | tail -n 1)
[ "$(bytes sst_bytes)" = "$size" ] || complain 'stats reports another SST size'
printf '.stats tweets\n.stats --json\n' | "$COLANDER" shell "$demo" |
    grep -q '^family   tweets$' || complain 'no stats in the shell'

# Files by level are all files.
run 0 stats "$demo" sensors
prints_some '^levels   L[0-6] 1 \([0-9.]+ MB\)$'
"$COLANDER" shell "$work/store" -e 'local f = db:family("rows")
for i = 1, 600 do f:put(i, {a = i}) end
f:compact()
for i = 601, 812 do f:put(i, {a = i, b = "x"}) end
f:flush()
for i = 813, 820 do f:put(i, {a = 1.5}) end
db:family("empty"):create()
local split = db:family("split")
for i = 1, 30000 do
    split:put({"k", i}, i <= 15000 and {first = i, both = i} or
        {last = tostring(i), both = i % 2 == 0 and i or "x"})
end
local wide = db:family("wide")
for i = 1, 30 do wide:put(i, {["c" .. i] = {x = 1}}) end
wide:put("long", {[("n"):rep(100)] = 1, ["a\nb"] = 1})
db:family("marks"):put(1, {["\u{200e}"] = 1})
local many = db:family("many")
for i = 1, 30 do
    local row = {}
    for k = 1, 500 do row["c" .. i .. "x" .. k] = 1 end
    many:put(i, row)
end' || complain 'no store to report on'
run 0 stats "$work/store" rows
prints_some '^levels   (L[0-6] [0-9]+ \([0-9.]+ (kB|bytes)\)(, )?)+$'
run 0 stats "$work/store" marks # no cells, but one as printed
prints_some $'^         \xef\xbf\xbd  100\\.0 %  integer(;|$)'
run 0 stats "$work/store" rows --json
prints_some '"levels":\[\{"level":[0-6],"sst_files":[1-9]'
sizes=$(sed -E 's/.*"levels":\[([^]]*)\].*/\1/' "$work/out" |
    grep -Eo '"sst_bytes":[0-9]+' | cut -d : -f 2 | paste -sd +)
[ $((sizes)) = "$(grep -Eo '"sst_bytes":[0-9]+' "$work/out" | head -n 1 |
    cut -d : -f 2)" ] ||
    complain 'the levels do not have all files'
run 0 stats "$work/store" empty
grep -q ^levels "$work/out" && complain 'no files have levels'
prints_some '^columns  0 in all 0 rows$'
run 0 stats "$work/store" empty --json
prints_some '"levels":\[\],'
prints_some '"sampled_rows":0,"sampled_all":true,"column_count":0,"columns_cut":false,"columns":\[\]\}$'

# Columns of all rows if there are few, otherwise of a sample of all keys.
run 0 stats "$work/store" rows
prints_some '^columns  2 in all 820 rows$'
prints_some '^         a  100.0 %  integer, double(;|$)'
prints_some '^         b   25.9 %  string(;|$)'
run 0 stats "$work/store" rows --json
prints_some '"sampled_rows":820,"sampled_all":true,"column_count":2,"columns_cut":false,"columns":\[\{"column":"a","rows":820,"types":\{"integer":812,"double":8\},"share":1.0.*\},\{"column":"b","rows":212,"types":\{"string":212\},"share":0.2585'
run 0 stats "$work/store" split
prints_some '^columns  3 in a sample of (9,[0-9]{3}|10,000) rows of about 30,000$'
prints_some '^         both   100.0 %  integer, string(;|$)'
prints_some '^         first   (4[5-9]|5[0-5])\.[0-9] %  integer(;|$)'
prints_some '^         last    (4[5-9]|5[0-5])\.[0-9] %  string(;|$)'
run 0 stats "$demo" tweets
prints_some '^columns  13 in a sample of 10,000 rows of about 100,000$'
prints_some '^         place +(29|30|31)\.[0-9] %  string(;|$)'
run 0 stats "$work/store" wide
prints_some '^columns  62 in all 31 rows$'
prints_some '^         and 42 more$'
[ "$(grep -c '^         c' "$work/out")" = 20 ] || complain 'not 20 columns are shown'
run 0 stats "$work/store" wide --json
prints_some '"column_count":62,"columns_cut":false,'
[ "$(grep -o '"column":' "$work/out" | wc -l)" = 62 ] ||
    complain 'not all columns are reported'
run 0 stats "$work/store" many
prints_some '^columns  more than 10,000 in a sample of [0-9]+ rows of about 30$'
run 0 stats "$work/store" many --json
prints_some '"column_count":10000,"columns_cut":true,'
[ "$(grep -o '"column":' "$work/out" | wc -l)" = 1000 ] ||
    complain 'more than a thousand columns are reported'
run 0 stats "$demo" tweets --json

if ! has_filters; then
    grep -q -e filter -e false_pos "$work/out" && complain 'stats reports filters, but there are none'
    finish
fi

# The parts add up to the whole, except for headers and the like.
sum=0
for kind in locator presence keys order; do
    sum=$((sum + $(bytes ${kind}_bytes)))
done
all=$(grep -Eo '"bytes":[0-9]+' "$work/out" | head -n 1 | cut -d : -f 2)
[ "$sum" -gt $((all * 9 / 10)) ] && [ "$sum" -le "$all" ] ||
    complain "filters of $all bytes have $sum in their parts"
prints_some '"files":1,"loaded_files":1,'
prints_some '"rows_per_segment":"auto",'

# Filters have the configured error rate; those on disk are hardly ever wrong.
run 0 stats "$demo" tweets
prints_some '^false positives [0-9.e-]+ % \([0-9,]+ of [0-9,]+ probes\)(, 0 of [0-9,]+ after the on-disk filter)?$'
run 0 stats "$demo" tweets --json
prints_some '"maybes":\{"values":10000,"parts":[0-9]+,"wrong":[0-9]+,"followed":[0-9]+,"let_through":0,"wrong_rate":0\.0'
[ "$(bytes wrong)" -le 150 ] || complain 'more than 1 % are wrong'
prints_some '"false_positives":\{"values":10000,"parts":[0-9]+,"count":[0-9]+,"followed":[0-9]+,"passed":0,"rate":0\.0'
run 0 stats "$work/store" empty --json
prints_some '"rate":null,"passed_rate":null\}'
prints_some '"wrong_rate":null,"let_through_rate":null\}'
run 0 stats "$demo" tweets --json

# Filters of some of the rows.
part=$work/part
"$COLANDER" export "$demo" tweets --limit "$(enough 20000)" |
    "$COLANDER" load "$part" tweets - --format jsonl 2>"$work/err" ||
    complain "no rows to refilter: $(cat "$work/err")"
"$COLANDER" shell "$part" -e 'db:family("tweets"):compact()'
count=$("$COLANDER" find "$part" tweets user=Smith --count)
[ "$count" -gt 0 ] || complain "no rows of Smith"
all=$("$COLANDER" stats "$part" tweets --json | grep -Eo '"locator_bytes":[0-9]+' |
    cut -d : -f 2)

refilter() { # ARG...: finds still find the same
    run 0 refilter "$part" tweets "$@"
    cp "$work/out" "$work/stats"
    for where in user=Smith 'likes>=990' '--any Houston7'; do
        # shellcheck disable=SC2086
        "$COLANDER" find "$part" tweets $where
    done >"$work/found"
    cmp -s "$work/found" "$work/wanted" || complain "after '$last' finds differ"
    cp "$work/stats" "$work/out"
}

for where in user=Smith 'likes>=990' '--any Houston7'; do
    # shellcheck disable=SC2086
    "$COLANDER" find "$part" tweets $where --scan
done >"$work/wanted"
refilter
prints_some '^done     rebuilt the filters of 1 SST file$'
prints_some '^filters  of 1 SST file: [0-9,]+ bytes, [0-9.]+ % of '

# Options that are given change, the others stay.
refilter --rows-per-segment 64 --unfiltered text --unfiltered profile \
    --bits-per-value 8.5
prints_some '^options  on, rows per segment 64, 32 hash bits, 8.5 bits per value, slices in up to 134,217,728 bytes, order budget 0.036; unfiltered: text, profile$'
run 0 stats "$part" tweets --json
smaller=$(bytes locator_bytes)
[ "$smaller" -lt "$all" ] || complain 'unindexed columns take as much'
prints_some '"rows_per_segment":64,.*"bits_per_value":8.5,.*"unfiltered":\["text","profile"\],"noindex":\["text","profile"\]'
refilter --hierarchy tree --tree-order 4 --fp-rate=0.1 --memory-budget 1m
prints_some '^options  on, rows per segment 64, 32 hash bits, false-positive rate 0.1, tree of order 4 in up to 1,048,576 bytes, order budget 0.036; unfiltered: text, profile$'
refilter --unfiltered '' --filter-bits 4000 --hash-bits 24 --rows-per-segment 0
prints_some '^options  on, rows per segment 0, 24 hash bits, 4,000 bits per file, tree of order 4 in up to 1,048,576 bytes, order budget 0.036$'
refilter --noindex user # its name in 0.1
prints_some '^options  .*; unfiltered: user$'
refilter --words text,user.name
prints_some '; only these have words: text, user.name'
refilter --words off
prints_some ', no words'
refilter --words '\on' --words text
prints_some '; only these have words: \\on, text'
refilter --words on
prints_some ', order budget 0.036; unfiltered: user$'
run 2 refilter "$part" tweets --words a,,b
says 'colander: refilter: --words has an empty column (write columns as a,b)'
run 2 refilter "$part" tweets --words true
says "colander: refilter: --words must be on, off or columns, not 'true' (a column that is called so is written \\true)"
refilter --rows-per-segment auto --words txet
prints_some '^words    none: no row has a text in the columns that have words$'
says "no row has 'txet': did you mean 'text'?"
run 0 families "$part" tweets --words 'nothing such,text'
says "no row has 'nothing such': columns have commas between them"
run 0 families "$part" tweets --format json
prints_some '"words":"nothing such,text"'
run 2 families "$part" tweets --words of
says_some "must be on, off or columns, not 'of' [(]a column that is called so is written .of[)]$"
refilter --rows-per-segment auto --ordered text --unordered likes,lang
prints_some '; always in order: text; never in order: likes, lang'
run 0 stats "$part" tweets
prints_some '^ +likes .*; no order: refused by --unordered$'
prints_some '^ +text .*; in order: [0-9,]+ bytes .[0-9,]+ values?, [0-9,]+ groups?.$'
run 0 stats "$part" tweets --json
prints_some '"ordered":\["text"\]'
prints_some '"column":"lang",.*"order":.*"refused":1,'
run 0 find "$part" tweets 'likes>990' 'text~my' --explain --count
says_some '^order    likes no order: refused by --unordered$'
says_some '^order    text in order: [0-9,]+ bytes'
run 0 families "$part" tweets --format json
prints_some '"ordered":"text","unordered":"likes,lang"'
run 2 families "$part" tweets --ordered on
says_some "must be none or columns, not 'on'"
run 0 families "$part" tweets --unordered none --ordered none
run 0 families "$part" tweets --format json
grep -q ordered "$work/out" && complain 'columns in order that are none'
refilter --order-budget 0
run 0 find "$part" tweets 'likes>990' --explain --count
says_some '^order    likes no order: the budget was 0$'
refilter --order-budget 0.036
refilter --rows-per-segment 0
run 2 families "$part" --words text
says 'colander: families: --words needs the name of a family'
run 0 families "$part" tweets --words text
run 0 stats "$part" tweets --json
prints_some '"words":true,.*"word_columns":\["text"\]'
run 0 families "$part" tweets --words on
refilter --unfiltered ''
grep -q '^locator' "$work/out" && complain 'a locator without locators'
run 0 stats "$part" tweets
prints_some '^false positives (100|99\.[0-9]) % \([0-9,]+ of [0-9,]+ probes\), [0-9,]+ of [0-9,]+ after the on-disk filter$'
refilter --rows-per-segment 1
prints_some '^options  on, rows per segment 1, 24 hash bits, '
refilter --off
prints_some '^done     filters are off'
refilter --on --rows-per-segment auto --hierarchy slices --fp-rate 0.01
prints_some '^options  on, rows per segment auto, 24 hash bits, false-positive rate 0.01, slices in '
prints_some '^locator  [0-9,]+ bytes, [0-9.]+ %$'

mistake() { # MESSAGE ARG...
    local message=$1
    shift
    run 2 refilter "$part" tweets "$@"
    says "colander: refilter: $message"
}

mistake '--off and --on exclude each other' --on --off
mistake '--filter-bits and --fp-rate exclude each other' \
    --filter-bits 20000 --fp-rate 0.1
mistake "--hash-bits must be a number, not 'x'" --hash-bits x
mistake '--tree-order is too large: 4294967296' --tree-order 4294967296
mistake '--rows-per-segment is too large: 4294967295' \
    --rows-per-segment 4294967295
mistake "--fp-rate must be a number such as 0.01, not 'nan'" --fp-rate nan
mistake "--hierarchy must be slices or tree, not 'forest'" --hierarchy forest
run 2 refilter "$part" tweets --rows-per-segment 3
says_some 'rows_per_segment must be 0 or a power of two'
run 2 refilter "$part" tweets --memory-budget 1
says_some 'memory_budget must be at least 65536, not 1$'
mistake "--memory-budget must be a number of bytes such as 1000000 or 64m, not '64q'" \
    --memory-budget 64q
run 2 refilter "$part" tweets --unfiltered 'a[b'
run 1 refilter "$part" bogus
says "colander: refilter: no family 'bogus' in '$part': its families are 'tweets'"
run 0 stats "$part" tweets --json
prints_some '"rows_per_segment":"auto","hash_bits":24,'

# A damaged filter costs time, and is reported.
for filter in "$part"/filters/*; do
    [ -s "$filter" ] && printf damage |
        dd of="$filter" bs=1 seek=1000 conv=notrunc status=none
done
run 0 find "$part" tweets user=Smith --count
prints "$count"
finish
