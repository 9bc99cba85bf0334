#!/bin/bash
# Words, phrases, pieces and patterns on the command line and in dot commands.
#
# SPDX-License-Identifier: MIT
source "$(dirname "$0")/lib"
make_demo
demo=$work/demo
"$COLANDER" find "$demo" tweets --to t009999 >"$work/all"

count() { # NUMBER CONDITION...: NUMBER of the first 10,000 tweets match
    local wanted=$1
    shift
    run 0 find "$demo" tweets --to t009999 --count "$@"
    prints "$wanted"
}

# The counts agree with those of grep over all rows. A word of the demo's texts
# is between blanks or quotes.
text() { # REGEX: the rows whose text matches
    sed -E 's/.*"text":"([^"]*)","lang.*/\1/' "$work/all" | grep -Ecw -- "$@"
}
rain=$(text rain)
[ "$rain" -gt 100 ] || complain "the demo has $rain rows with rain"
count "$rain" text:rain
count "$rain" text:RAIN
count "$rain" 'text:"rain"'
count "$(text 'fresh bread')" 'text:"fresh bread"'
count "$(text 'rai[a-z]*')" 'text:rai*'
count "$(text '.*rain.*|.*train.*')" 'text~~rain'
count 0 'text~~RAIN'
count "$(text '.*rain.*|.*train.*')" -i 'text~~RAIN'
count "$(grep -c 'oust' "$work/all")" '~~oust'
count 0 '~~OUST'
count "$(grep -c 'oust' "$work/all")" -i '~~OUST' '~~o'
count "$((10000 - rain))" not text:rain
count "$(grep -Eciw 'rain' "$work/all")" rain
count "$(grep -Eciw 'houston' "$work/all")" --search houston
count "$(grep -c '"Houston"' "$work/all")" -i --any houston
count "$(grep -c '"user":"Smith"' "$work/all")" -i user=sMITH
count 0 user=sMITH
count "$rain" --search rain --search rain 'likes>=0'
if ! "$COLANDER" find "$demo" tweets text=~x --limit 0 2>&1 |
    grep -q 'patterns were not built'; then
    count "$(text '.*[^a-z]r[ai]+n$')" 'text=~[^a-z]r[ai]+n$'
    count "$((10000 - $(text '.*[^a-z]r[ai]+n$')))" 'text!~[^a-z]r[ai]+n$'
    count "$(text '.*[^a-z]r[ai]+n$')" -i 'text=~[^A-Z]R[ai]+N$'
    count "$(grep -cE ':"H[a-z]+on"' "$work/all")" '=~^H[a-z]+on$'
fi

# Dot commands, exports and changes read the same.
echo ".find tweets --to t009999 -i user=SMITH 'text:rain' --count" |
    "$COLANDER" shell "$demo" >"$work/out" 2>"$work/err"
prints "$(grep '"user":"Smith"' "$work/all" | grep -c '\brain\b')"
run 0 export "$demo" tweets rain --search rain -i user=SMITH --format jsonl
cp "$work/out" "$work/exported"
run 0 find "$demo" tweets rain user=Smith
sed 's/,"_matched":\[[^]]*\]}$/}/' "$work/out" |
    cmp -s - "$work/exported" || complain 'an export has other rows'
run 0 delete "$demo" tweets --to t000099 'text:"no such phrase"' --dry-run
grep -q '^0 ' "$work/out" "$work/err" ||
    complain "'$last' prints '$(cat "$work/out" "$work/err")'"

# Which columns matched is printed, as for --any.
run 0 find "$demo" tweets houston --limit 1 --select _key,_matched \
    --format table
prints_some '^_key +_matched$'
run 0 find "$demo" tweets 'text:rain' --limit 1 --select _key
prints_some '^{"_key":"t[0-9]+"}$'
run 0 find "$demo" tweets houston --explain --count
run 0 find "$demo" tweets okafor70 --explain --count
if has_filters; then
    says_some "^plan     candidates of family 'tweets' in key order$"
    says_some '^words    okafor70$'
    says_some '^verified [0-9,]+ candidates, .*: [0-9,]+ returned'
fi
run 0 find "$demo" tweets 'text~~ousto' --explain --count
! has_filters || says_some \
    '^words    [*]ousto[*] [(]1 word of dictionaries, such as houston[)]$'
run 0 find "$demo" tweets 'text~~!' --explain --count
says_some "^plan     scan of family 'tweets' in key order$"
says_some '^because  no (condition that value filters know|value filters)$'
run 0 find "$demo" tweets houston --explain --count
says_some '^matched  .*place [0-9,]+'
run 0 find "$demo" tweets rain user=Smith --explain --count
! has_filters || says_some '^plan     candidates'

# A word that is a column has two readings.
refused() { # WORD WORD...: the first is a column
    run 2 find "$demo" tweets "${@:2}" --count
    says "colander: find: '$1' is a column: write '$1?' for rows that have it, or '\"$1\"' for the words
    $1
    ^"
}
refused lang lang
refused lang rain not lang
refused profile.city profile.city
refused lang user=Smith -i '(' rain or lang ')'
count 0 '"lang"'
count 0 --search lang
count 10000 'lang?'
run 1 find "$demo" nobody lang
says "colander: find: no family 'nobody' in '$demo': its families are 'sensors', 'tweets'"

mistake() { # MESSAGE OFFSET WORD...
    local message=$1 offset=$2
    shift 2
    run 2 find "$demo" tweets "$@"
    says "colander: find: $message
    ${*: -1}
    $(printf '%*s' "$offset" '')^"
}
mistake 'only the last word may end in *' 8 'text:rai* storm'
mistake 'only the last word may end in *' 3 --search 'rai* storm'
for words in '*ain' 'r*in' 'text:*ain'; do
    at=${words%%\**}
    mistake 'a * can only end the last word: ~~TEXT and COL~~TEXT find a piece of a word (--search is for texts with signs)' \
        ${#at} "$words"
done
count 0 --search '*ain' # a sign before the word "ain"
mistake 'it has no words: ~~TEXT and COL~~TEXT find other texts' 0 --search '...'
mistake 'expected a word' 5 'text:'
mistake "'[' must be followed by ']' (a[] is any element of a)" 4 'żółw[:x'

# A column that holds other values is named.
run 0 find "$demo" tweets likes:5
says 'likes holds numbers, "5" is a text'
run 0 find "$demo" tweets txet:rain
says "no row has 'txet': did you mean 'text'?"

# Words with a colon in them are read as COL:WORDS.
run 0 find "$demo" tweets 12:30
says "no row has '12': write --search '12:30' to look for words in any column"
run 0 find "$demo" tweets https://example.org/rain
says "no row has 'https': write --search 'https://example.org/rain' to look for words in any column"
run 0 group "$demo" tweets 12:30 --by lang
says "no row has '12': write --search '12:30' to look for words in any column"
mistake 'unexpected text after '"'?'"' (another condition, ( and ) are words of their own; --search is for texts with signs)' 23 \
    'https://example.org/it?a=b'
finish
