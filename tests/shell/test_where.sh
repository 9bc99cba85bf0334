#!/bin/bash
# Finds with --where: they find the same rows as conditions, and accept the
# other options of a find.
#
# SPDX-License-Identifier: MIT
source "$(dirname "$0")/lib"
make_demo
demo=$work/demo

same() { # EXPRESSION CONDITION...: both find the same rows
    local expression=$1
    shift
    run 0 find "$demo" tweets --where "$expression"
    cp "$work/out" "$work/found"
    run 0 find "$demo" tweets "$@"
    cmp -s "$work/out" "$work/found" ||
        complain "'--where $expression' finds other rows than '$*'"
}

same 'user == "Smith"' user=Smith
same 'likes >= 900 and likes < 1000' 'likes>=900' 'likes<1000'
same 'lang == "pl" or lang == "de"' 'lang=["pl","de"]'
same 'lang and lang ~= "en"' 'lang!=en'
same 'place' 'place?'
same 'not place' 'place!'
same 'place < "K"' 'place<K'
same 'place < 5' 'place<5'
same 'profile.city == "Houston"' profile.city=Houston
same 'text:sub(1, 4) == "rain"' text~rain
same '(function()
    for _, tag in ipairs(entities.hashtags) do
        if tag.text == "coffee" then return true end
    end
end)()' 'entities.hashtags[].text=coffee'

# With conditions, which still determine what is read.
run 0 find "$demo" tweets user=Smith 'likes>100'
cp "$work/out" "$work/found"
run 0 find "$demo" tweets user=Smith --where 'likes > 100' --explain
cmp -s "$work/out" "$work/found" || complain "'$last' finds other rows"
rows=$(wc -l <"$work/out")
says_some "^where    $rows rows accepted, $((15 - rows)) rejected in "
if has_filters; then
    says_some '^plan     candidates '
    says_some "^work     $rows rows: read 15 of about 100,000 rows "
fi
run 0 find "$demo" tweets user=Smith --where 'likes > 100' --count
prints "$rows"
run 0 find "$demo" tweets user=Smith --where 'likes > 100' \
    --where 'likes > 1000000' --count
prints 0

# Limits count accepted rows; the expression sees columns that are not selected.
"$COLANDER" find "$demo" tweets 'likes>=900' --select user >"$work/found"
run 0 find "$demo" tweets --where 'likes >= 900' --limit 3 --select user
prints "$(head -n 3 "$work/found")"
run 0 find "$demo" tweets --where 'likes >= 900' --limit 3 --count
prints 3
run 0 find "$demo" tweets --where 'likes >= 900' --limit 0
prints ''
run 0 find "$demo" tweets --where 'likes >= 900' --limit 3 --select user --reverse
prints "$(tail -n 3 "$work/found" | tac)"
run 0 find "$demo" tweets --where '_key >= "t000010"' --limit 1 --select _key
prints '{"_key":"t000010"}'
run 0 find "$demo" sensors --where '_key[1] == "sensor-7"' --count
prints 1000
run 0 find "$demo" tweets --any Houston --where 'likes > 900' --limit 1 \
    --select likes --format csv
prints_some '^_key,_matched,likes$'

# One row by its key.
run 0 find "$demo" tweets --key t000001 --where 'likes == 313' --select likes
prints '{"_key":"t000001","likes":313}'
run 0 find "$demo" tweets --key t000001 --where 'likes == 314' --explain
prints ''
says_some '^where    0 rows accepted, 1 rejected in '
run 0 find "$demo" tweets --key t000001 likes=313 --explain
says_some '^because  only one key is in the range$'
run 0 find "$demo" tweets --key t000001 --where true --limit 0
prints ''

# Functions, and methods of what may be missing
run 0 find "$demo" tweets place=Houston --count
houstons=$(cat "$work/out")
[ "$houstons" -gt 100 ] || complain 'no tweets from Houston'
for expression in 'lower(place) == "houston"' 'contains(place, "oust")' \
    'place:find("oust")' 'contains (lower(place), "houst")' \
    'place:lower():find("h", 1, true) and place == "Houston"'; do
    run 0 find "$demo" tweets --where "$expression" --count
    prints "$houstons"
done
run 0 find "$demo" tweets --where 'likes:find("x") or lower(likes) or contains(nothing, "")' --count
prints 0
"$COLANDER" shell "$work/times" -e 'local rows = db:family("rows")
rows:put(1, {time = colander.timestamp("2015-03-24T10:00Z"), lower = "A.B"})
rows:put(2, {time = colander.null, lower = 5})'
run 0 find "$work/times" rows --where 'time > "2015-03-24T09:00Z"' --select _key
prints '{"_key":1}'
run 0 find "$work/times" rows --where 'row.time - time("2015-03-24") == 36000' --select _key
prints '{"_key":1}'
run 0 find "$work/times" rows --where 'lower:lower() == "a.b" and contains(lower, ".")' --select _key
prints '{"_key":1}'

# Mistakes
run 2 find "$demo" tweets --where true --where 'likes = 5'
says "colander: find: --where: unexpected '=' after the expression (write == for equal)
    likes = 5
          ^"
run 2 find "$demo" tweets --where
says 'colander: find: --where needs a value'
run 2 find "$demo" tweets --where 'likes > 0 and likes.more()'
says "colander: find: row 't000001': attempt to call a nil value (field 'more'): \
in --where 'likes > 0 and likes.more()'"
prints ''
run 2 find "$demo" tweets --where 'text:fnd("x")'
says "colander: find: row 't000000': attempt to call a nil value (method 'fnd'): \
in --where 'text:fnd(\"x\")'"

# The examples of the manual work as they are.
count=0
while IFS= read -r line; do
    last=$line
    (cd "$work" && eval "\"\$COLANDER\" ${line#    colander }") >"$work/out" \
        2>"$work/err" || complain "'$last' fails: $(cat "$work/err")"
    prints_some '^([0-9]+|\{.*)$'
    count=$((count + 1))
done < <(grep '^    colander find .*--where' \
    "$(dirname "$0")/../../docs/queries.md")
[ "$count" -ge 5 ] || complain "only $count examples"

# Ctrl-C ends a find whose expression does not end, after the rows before.
mkfifo "$work/fifo"
"$COLANDER" find "$demo" tweets --select user \
    --where '_key < "t001000" or (function() while true do end end)()' \
    >"$work/fifo" 2>"$work/err" &
exec 3<"$work/fifo"
for _ in {1..800}; do
    read -r -u 3 row
done
sleep 0.1 # it has nothing more to wait for
kill -INT $!
rest=$(wc -l <&3)
wait $!
[ $? = 130 ] || complain 'an endless expression does not exit 130'
[ "$rest" = 200 ] || complain "$rest rows, not 200, come last of 1000"
last='an endless expression'
says_some '^colander: find: interrupted$'
exec 3<&-
finish
