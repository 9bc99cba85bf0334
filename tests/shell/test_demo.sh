#!/bin/bash
# The demo: creates its store once, always the same, and overwrites no other.
#
# SPDX-License-Identifier: MIT
source "$(dirname "$0")/lib"

run 0 demo "$work/one"
prints_some "^the demo store '$work/one' is ready: 100000 tweets"
prints_some "^\\$ colander find $work/one tweets 'entities"
says_some '^[0-9]+ rows?: scanned [0-9,]+ rows? \([0-9,]+ bytes\) in'

# Its purpose: a find by any value reads a few rows instead of all.
grep '^15 rows: ' "$work/err" >"$work/smith"
if has_filters; then
    few='read [0-9]{1,3} of about 100,000 rows'
else
    few='scanned 100,000 rows'
fi
sed -n 1p "$work/smith" | grep -Eq ": $few \(" ||
    complain "finding a value in any column takes $(head -n 1 "$work/smith")"
sed -n 2p "$work/smith" | grep -q ': scanned 100,000 rows (' ||
    complain "the demo does not compare with a scan: $(cat "$work/err")"
[ "$(grep -c '^\$ colander find' "$work/out")" -ge 6 ] ||
    complain 'the demo shows too few finds'
prints_some 'not installed.* script/run find'
cp "$work/out" "$work/first"
run 0 demo "$work/one"
prints_some "^the demo store '$work/one' exists already"
[ "$(tail -n +2 "$work/out")" = "$(tail -n +2 "$work/first")" ] ||
    complain 'the second run shows something else'
for family in tweets sensors; do
    run 0 find "$work/one" $family --count
    prints 100000
done

run 0 demo "$work/two"
for family in tweets sensors; do
    "$COLANDER" find "$work/one" $family >"$work/a"
    "$COLANDER" find "$work/two" $family >"$work/b"
    cmp -s "$work/a" "$work/b" || complain "two demos differ in $family"
done

# A command that the demo shows prints what the demo showed.
grep -A 1 '^\$ colander find.*--count' "$work/first" | tail -n 1 >"$work/shown"
line=$(grep '^\$ colander find.*--count' "$work/first" | tail -n 1 |
    sed 's/^\$ colander//')
eval "\"\$COLANDER\" $line" >"$work/out" 2>/dev/null
cmp -s "$work/out" "$work/shown" || complain 'a find shown cannot be repeated'

# So does the Lua that it shows.
count=0
while IFS= read -r line; do
    eval "\"\$COLANDER\" ${line#'$ colander '}" >"$work/out" 2>"$work/err" ||
        complain "'$line' fails: $(cat "$work/err")"
    [ -s "$work/out" ] || complain "'$line' shows nothing"
    count=$((count + 1))
done < <(grep '^\$ colander shell' "$work/first")
[ "$count" -ge 3 ] || complain 'the demo shows too little Lua'
tail -n 3 "$work/first" | head -n 1 >"$work/shown"
cmp -s "$work/out" "$work/shown" || complain 'Lua shown cannot be repeated'
[ "$(tail -n 1 "$work/first")" = '# load your own records: see colander load --help' ] ||
    complain 'the demo does not end with load'
run 0 load --help

# Without a name it is ./demo.
(mkdir "$work/here" && cd "$work/here" &&
    "$COLANDER" demo >/dev/null 2>&1 </dev/null && [ -d demo ]) ||
    complain 'the demo is not created in ./demo'
mkdir "$work/file" && echo text >"$work/file/text"
run 1 demo "$work/file"
[ "$(ls "$work/file")" = text ] || complain 'the demo writes among files'
finish
