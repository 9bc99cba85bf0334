#!/bin/bash
# Finds on the demo store: conditions, keys, mistakes and formats.
#
# SPDX-License-Identifier: MIT
source "$(dirname "$0")/lib"
make_demo
demo=$work/demo

count() { # NUMBER CONDITION...: NUMBER tweets match
    local wanted=$1
    shift
    run 0 find "$demo" tweets --count "$@"
    prints "$wanted"
}

mistake() { # MESSAGE OFFSET WORD...: with a caret there, below the last word
    local message=$1 offset=$2
    shift 2
    run 2 find "$demo" tweets "$@"
    says "colander: find: $message
    ${*: -1}
    $(printf '%*s' "$offset" '')^"
    prints ''
}

# The counts agree with those of another program over all rows.
"$COLANDER" find "$demo" tweets >"$work/all"
lines() { grep -Ec -- "$1" "$work/all"; }
count 100000
count "$(lines '"user":"Smith"')" user=Smith
count "$(lines '"user":"(Smith|Jones)"')" 'user=["Smith","Jones"]'
count "$(lines '"user":"Smith[0-9]*"')" user~Smith
count "$(lines '"likes":0,|"likes":0}')" likes=0
count "$(lines '"likes":9[0-9][0-9][,}]')" 'likes>=900' 'likes<1000'
count "$(lines '"likes":9[0-9][0-9][,}]')" 'likes>899' 'likes<=999.5'
count 0 'likes="0"'
count "$(lines '"lang":"[^e]|"lang":"es')" lang!=en
count "$(lines '"place"')" 'place?'
count "$((100000 - $(lines '"place"')))" 'place!'
count 0 place=null
count "$(lines '"city":"Houston"')" profile.city=Houston
count "$(lines '"hashtags":.*"text":"coffee"')" \
    'entities.hashtags[].text=coffee'
count "$(lines '"Houston"')" --any Houston
count "$(lines '"Houston"[^_]*"lang":"pl"|"lang":"pl".*"Houston"')" \
    --any Houston --any pl
count "$(lines '"place":"Houston"')" --any Houston place=Houston

# Keys
run 0 find "$demo" tweets --key t000007 --select lang
prints "$(grep '"t000007"' "$work/all" |
    sed -E 's/.*"lang":"(..)".*/{"_key":"t000007","lang":"\1"}/')"
run 0 find "$demo" tweets --key t000007 lang=xx
prints ''
run 0 find "$demo" sensors --prefix '["sensor-7"]' --count
prints 1000
run 0 find "$demo" sensors --prefix sensor-7 --count
prints 1000
run 0 find "$demo" sensors --count \
    --from '["sensor-7",1600000060]' --to '["sensor-7",1600000180]'
prints 3
run 0 find "$demo" tweets --reverse --limit 1 --select lang
prints_some '^{"_key":"t099999","lang":"..."?}$|^{"_key":"t099999","lang":".."}$'
run 0 find "$demo" tweets --limit 0
prints ''
run 0 get "$demo" tweets t000007
prints "$(grep '"t000007"' "$work/all")"
run 0 get "$demo" sensors '["sensor-7",1600000060]' --select humidity
prints_some '^{"_key":\["sensor-7",1600000060\],"humidity":[0-9]+}$'
run 1 get "$demo" tweets nobody
says "colander: get: no row 'nobody' in family 'tweets'"
run 1 find "$demo" bogus
says "colander: find: no family 'bogus' in '$demo': its families are 'sensors', 'tweets'"

# Mistakes
mistake 'expected a condition: COL=VALUE, COL<VALUE, COL~TEXT, COL?, or a word' 0 ''
mistake "expected a column before '>='" 0 '>=5'
mistake "unexpected text after '?' (another condition, ( and ) are words of their own; --search is for texts with signs)" 5 \
    'user?x'
mistake '( and ) are words of their own (a name that begins so needs a backslash before it)' \
    0 '(user=Smith'
run 0 find "$demo" tweets '\(user=Smith' --count
mistake 'a text or time in an array needs double quotes: no value begins here' 6 'user=[x]'
mistake 'unexpected single quote (write texts in double quotes)' 5 "user='Smith'"
mistake 'unexpected single quote (write texts in double quotes)' 0 --any "'Smith'"
mistake "unexpected space before '=' (a name that ends in a space needs a backslash before it)" \
    5 'likes = 1'
mistake 'the key is not a column: use --key, --prefix, --from or --to' \
    0 _key=t000007
mistake "'[' must be followed by ']' (a[] is any element of a)" 4 'żółw[=1'
run 2 find "$demo" tweets 'user="Smith"x'
says_some '^                \^$'
mistake 'null has no order: use = or !=' 5 'user<null'
mistake '--key: key has no parts' 0 --key '[]'
run 2 find "$demo" tweets --from '[1,]'
says_some '^colander: find: --from: '
says_some '^       \^$'
mistake "any column takes one value, not a list (write a text that begins with '[' in double quotes)" \
    0 --any '[1]'
run 2 find "$demo" tweets --limit -1
says "colander: find: --limit must be a number, not '-1'"
run 2 find "$demo" tweets --select user,
says 'colander: find: --select has an empty column (write columns as a,b)'
run 2 find "$demo" tweets --format xml
says "colander: find: no format 'xml': use jsonl, json, csv, tsv, msgpack, table, box, markdown, line or pretty"
run 2 find "$demo" tweets --key t000001 --from t000001
says 'colander: find: --key excludes --prefix, --from and --to'

# Formats
run 0 find "$demo" tweets --any Houston user=Houston --limit 1 --select user
prints_some '^{"_key":"t[0-9]+","user":"Houston","_matched":\["user"[],]'
run 0 find "$demo" tweets --any Houston user=Houston --limit 1 \
    --select _key,_matched,user --format table
prints_some '^_key +_matched +user$'
run 0 find "$demo" tweets --limit 1 --select _key --format table
prints '_key
-------
t000000'
run 0 find "$demo" tweets --limit 1 --select _key
prints '{"_key":"t000000"}'
run 0 find "$demo" sensors --limit 2 --select humidity --format line
prints_some '^_key = \["sensor-0",1600000000\]$'
prints_some '^humidity = [0-9]+$'
prints_some '^$'
COLUMNS=40 run 0 find "$demo" tweets --limit 3 --format table
prints_some '^_key +user '
prints_some '…'
[ "$(LC_ALL=C.UTF-8 wc -L <"$work/out")" -le 40 ] ||
    complain 'a table is wider than the terminal'

# A find explains itself on standard error, and the figures add up.
adds_up() { # LABEL: the count of that line is the sum of those after it
    grep "^$1 " "$work/err" | sed 's/, [0-9,]* read directly//; s/ (.*//' |
        tr -d , | awk '{
        for (i = 3; i <= NF; i++)
            if ($i ~ /^[0-9]+$/) sum += $i
        if (sum != $2 + 0 || NF < 4) exit 1
    }' || complain "'$last' does not add up: $(cat "$work/err")"
}

scan() { # ROWS
    says_some "^plan     scan of family 'tweets' in key order$"
    says_some "^work     $1: scanned 100,000 rows \\([0-9.]+ [kM]B\\) in [0-9.]+ m?s\$"
}

run 0 find "$demo" tweets user=Nobody --explain
prints ''
if has_filters; then
    says_some "^plan     candidates of family 'tweets' in key order$"
    says_some '^because  value filters '
    says_some '^work     0 rows: read none of about 100,000 rows in [0-9.]+ m?s$'
else
    scan '0 rows'
    says_some '^because  no value filters$'
fi
grep -q '^matched' "$work/err" && complain 'no row matched, but one is counted'
run 0 find "$demo" tweets user=Smith --limit 2 --explain
says_some '^matched  user 2$'
run 0 find "$demo" tweets 'lang!=en' --explain --count
scan '[0-9,]+ rows'
says_some '^because  no '
for where in user=Smith 'user=["Smith","Jones7"]' 'likes>=990' user=Smith7 \
    'user=Smith likes>=100' '--any Houston7' 'user=Smith --limit 3'; do
    # shellcheck disable=SC2086
    run 0 find "$demo" tweets $where --explain
    cp "$work/out" "$work/found"
    if has_filters; then
        adds_up files
        adds_up verified
    fi
    # shellcheck disable=SC2086
    run 0 find "$demo" tweets $where --scan
    cmp -s "$work/out" "$work/found" || complain "'$last' finds other rows"
done
run 0 find "$demo" tweets user=Smith --count --explain --scan
scan '15 rows'
says_some '^matched  user 15$'

run 0 families "$demo"
prints_some '^{"_key":"sensors","rows":[0-9]+,"sst_files":[1-9]'
prints_some '^{"_key":"tweets","rows":[0-9]+,"sst_files":[1-9]'
finish
