#!/bin/bash
# --order, --skip and --limit print the rows that a stable sort of all rows
# gives, also with conditions, expressions and the columns that matched.
#
# With COLANDER_RUNS, as in script/soak, this many random finds.
#
# SPDX-License-Identifier: MIT
source "$(dirname "$0")/lib"
make_demo
cd "$work" || exit 1
RANDOM=${COLANDER_SEED:=$(date +%s)}
echo "order: COLANDER_SEED=$COLANDER_SEED"

cat >rows.jsonl <<'END'
{"_key":"a","v":2}
{"_key":"b","v":"x","t":[3,1]}
{"_key":"c","t":[1,9]}
{"_key":"d","v":1,"t":[2]}
{"_key":"e","v":2.0,"a:desc":1}
{"_key":"f","v":null}
END
run 0 load s rows rows.jsonl

# keys KEYS ARG...: find prints the rows with these keys
keys() {
    local wanted=$1
    shift
    run 0 find s rows "$@"
    [ "$(sed -E 's/^\{"_key":"(.)".*/\1/' out | tr -d '\n')" = "$wanted" ] ||
        complain "'$last' prints $(cat out), not $wanted"
}

keys fdaebc --order v
keys fdaebc --order v:asc
keys baedfc --order v:desc
keys fdeabc --order v --reverse
keys da --order v --skip 1 --limit 2
keys c --order v --skip 5
keys '' --order v --skip 6
keys '' --order v --limit 0
keys cdbaef --order 't[]'
keys fedcba --order _key:desc
keys ab --order _key --limit 2
keys abcdef --order _key:desc --reverse
keys cd --skip 2 --limit 2
keys ed --reverse --skip 1 --limit 2
keys eabcdf --order a:desc:asc
keys ae --order v 'v>1' --select v
keys cd --order t --where 'v == 2 or t' --skip 1 --limit 2
run 0 find s rows --order v --any 2 --select t
prints '{"_key":"d","t":[2],"_matched":["t[]"]}
{"_key":"a","_matched":["v"]}
{"_key":"e","_matched":["v"]}'
run 0 find s rows --order v:desc --skip 4 --count
prints 2
run 2 find s rows --order 'v['
says_some '^colander: find: --order: path'
run 2 find s rows --order v --order t
for order in '' :desc :asc; do
    run 2 find s rows --order "$order"
    says 'colander: find: --order has an empty column'
done
run 2 find s rows --order v,t
says_some "^colander: find: --order takes one column, not 'v,t'"
run 0 find s rows --order 'v\,t' --limit 1
says_some "no row has 'v\\\\,t'"
run 2 find s rows --order --limit 2
says "colander: find: --order needs a value before '--limit' (or write --order=--limit)"
run 0 find s rows --limit 1 --order=--limit
says "no row has '--limit'"

# The demo's tweets, each of which has likes.
"$COLANDER" find demo tweets --select lang,likes >all
for ((i = ${COLANDER_RUNS:-12}; i > 0; i--)); do
    skip=$((RANDOM % 50)) limit=$((RANDOM % 500)) language=en reverse=
    direction=asc
    ((RANDOM % 2)) || direction=desc reverse=r
    ((RANDOM % 2)) || language=pl
    run 0 find demo tweets "lang=$language" --order "likes:$direction" \
        --select lang,likes --skip $skip --limit $limit
    grep "\"$language\"" all | sort -s -t : -k "4,4n$reverse" |
        tail -n +$((skip + 1)) | head -n $limit | cmp -s - out ||
        complain "'$last' is not what a sort prints"
done

# Filters lead to the first rows, in a store that was just opened, too.
if has_filters; then
    for order in likes:desc user _key user:desc; do
        run 0 find demo tweets --order $order --limit 5 --skip 2 --explain
        says_some '^work +5 rows: (read [0-9,]{1,5} of about|scanned 7 rows)'
        grep -q '^matched' "$work/err" && complain "'$last' matched a column"
    done
    for words in '' lang=en '--where likes>2'; do
        run 0 find demo tweets --order likes:desc --limit 5 $words --explain
        says_some '^plan +candidates'
        mv out wanted
        run 0 find demo tweets --order likes:desc --limit 5 $words --explain \
            --scan
        says_some '^plan +scan'
        says_some 'scanned 100,000 rows'
        grep -q '^order' "$work/err" && complain "'$last' has an order"
        cmp -s wanted out || complain "'$last' does not print $(cat wanted)"
    done
    run 0 group demo tweets --min likes --max likes --explain
    says_some '^plan +candidates'
    mv out wanted
    run 0 group demo tweets --min likes --max likes --explain --scan
    says_some '^plan +scan'
    cmp -s wanted out || complain "'$last' does not print $(cat wanted)"
fi
finish
