#!/bin/bash
# Why a find found nothing: one line on standard error, and nothing else changes.
#
# SPDX-License-Identifier: MIT
source "$(dirname "$0")/lib"
make_demo
cd "$work" || exit 1
"$COLANDER" shell odd -e 'local rows = db:family("rows")
for i = 1, 500 do
    rows:put(i, {favorite_count = i % 7, at = colander.timestamp("2015-03-24"),
        hashtags = {{text = "tea"}}, links = {{from = 1}}, numbers = {1, 2},
        day = "2015-03-24 10:00", user = {name = "Ann", ["äge"] = 3}, both = i % 2 == 0 and "x" or 1,
        verified = true, note = "a b"})
end
for i = 1, 3 do rows:put("z" .. i, {rare = "x"}) end' || complain 'no store'

hint() { # TEXT ARGUMENT...: finds nothing in rows of odd, and says TEXT
    local wanted=$1
    shift
    run 0 find odd rows "$@"
    prints ''
    says "$wanted"
    case $* in *--order* | *--skip*) return ;; esac # export has none
    run 0 export odd rows "$@"
    says "$wanted"
}

# Names
hint "no row has 'favorit_count': did you mean 'favorite_count'?" favorit_count=1
hint "no row has 'Favorite_Count': did you mean 'favorite_count'?" 'Favorite_Count>1'
hint "no row has 'favroite_count': did you mean 'favorite_count'?" 'favroite_count?'
hint "no row has 'name': did you mean 'user.name'?" name=Ann
hint "no row has 'user.äeg': did you mean 'user.äge'?" user.äeg=3
hint "no row has 'nothing'" nothing~x
hint "no row has 'hashtags.text': did you mean 'hashtags[].text'?" hashtags.text=tea
hint "no row has 'n?w'" 'n\?w=1'
hint "no row has 'lost'" lost=2016-01
hint "no row has 'lost'" verified=true lost=1
hint "no row has 'lost'" verified=false or lost=1

# Types
hint "hashtags holds arrays: hashtags[].text?" hashtags=tea
hint "hashtags holds arrays, 2 is a number" hashtags=2
hint "links holds arrays: links[].from?" links=2
hint "numbers holds arrays: numbers[]?" numbers=2
hint "user holds maps: user.name?" user=Ann
hint "at holds times, 2015 is a number: at~2015 finds those that begin with it" 'at>2015'
hint "at holds times, 2015 is a number: at~2015 finds those that begin with it" at=2015
hint "at holds times, 2016 is a number" at=2016
hint "2015-03 is not a whole value: day~2015-03 finds those that begin with it" day=2015-03
hint "2015 is not a whole value: day~2015 finds those that begin with it" day=2015
hint '' day=2016
hint '' day=2015-04
hint "at holds times, soon is a text" 'at<soon'
# Of several conditions, those that rows meet are not explained.
hint '' 'day>=2015-03' verified=false
hint "2015-03 is not a whole value: day~2015-03 finds those that begin with it" verified=true day=2015-03
hint "at holds times, 2015-09-12T11 is a text" 'at>=2015-03-01' 'at<2015-09-12T11'
hint "at holds times, 2015-09-12T11 is a text" 'at>=2015-03-01' and 'at<2015-09-12T11'
hint "no row has 'lost'" 'at>=2015-03-01' lost=1
hint "favorite_count holds numbers, many is a text" 'favorite_count>many'
hint "verified holds booleans, yes is a text" verified=yes
hint "both holds numbers and texts, true is a boolean" both=true
hint "user.name holds texts, 5 is a number" 'user.name>5'
hint "user.name holds texts, false is a boolean" 'user.name=[true,false]'

# Two conditions in one word
hint "'a favorite_count>1' is one text: write 'favorite_count>1' as a separate word" \
    'note=a favorite_count>1'
hint "'a and favorite_count > 1' is one text: write 'favorite_count > 1' as a separate word" \
    'note=a and favorite_count > 1'

hint "'a or note:b' is one text: write 'note:b' as a separate word" 'note:a or note:b'
hint "'a and not favorite_count:1' is one text: write 'favorite_count:1' as a separate word" \
    'note:a and not favorite_count:1'
hint "no row has 'not note': write 'not' as a separate word" 'not note:a'
hint "no row has 'a or note': write 'note' and what is before it as separate words" 'a or note:b'
hint '' 'note:a note: x' # of a sentence
run 0 delete odd rows 'note:a or note:b'
says_some "^'a or note:b' is one text"
run 0 group odd rows 'note:a or note:b' --by note
says_some "^'a or note:b' is one text"

# No row happens to match: there is nothing to explain.
hint '' favorite_count=9
hint '' 'at>2016-01-01'
hint '' 'at=2015-03-25' 'note?'
hint '' both=y
hint '' 'user.name=[5,6]' # numbers also mean texts
hint '' rare=y # none of the sampled rows may have it
hint '' note=null
hint '' 'note=x y=1' # y is no column
hint '' lost=1 --limit 0
hint '' not 'at?' 'note?'
hint '' --any nothing
hint "no row has 'lost'" not note=x lost=1 # the word after it is another matter

# A column in one of several conditions, though others find rows
run 0 find odd rows note='a b' or lost=1 --limit 1 --select note
prints '{"_key":1,"note":"a b"}'
says "no row has 'lost'"
run 0 find odd rows rare=x or '(' 'hashtag[].text=tea' not 'at?' ')' --select rare --limit 1
says "no row has 'hashtag[].text': did you mean 'hashtags[].text'?"
run 0 find odd rows rare=y or 'hashtags?' or note=x or numbers=3 or 'hashtags[].text=x' --limit 1 --select at
says ''
run 0 find odd rows note='a b' nots=1 or rare=x --count
says "no row has 'nots': did you mean 'note'?"
run 0 delete odd rows --dry-run favorite_count=100 or nots=x or rare=x
says "no row has 'nots': did you mean 'note'?
3 rows would be deleted"
run 0 export odd rows rare=x or lost=1
says "no row has 'lost'"

# The output is that of any empty result.
run 0 find odd rows lost=1 --count
prints 0
says "no row has 'lost'"
run 0 find odd rows lost=1 --format json
prints '[]'
run 0 find odd rows lost=1 --format csv
prints _key
run 1 find odd bogus lost=1

# Expressions
hint "no row has 'nots': did you mean 'note'?" --where 'nots == "a b"'
hint "no row has 'user.nam': did you mean 'user.name'?" --where 'user and user.nam == [[x]]'
hint '' --where 'note == "nots" and note:find("x") and #hashtags == lower(user.name)'
hint '' --where 'both == "nots lost=1 \" lost"'
hint 'favorite_count holds numbers, "5" is a text' --where 'favorite_count == "5"'
hint "note holds texts, 5 is a number" --where 'at and row.note == 5'
hint "verified holds booleans, yes is a text" verified=false --where 'verified == "yes"'
hint "at holds times, 2015-03-24 is a text" --where 'at == "2015-03-24"'
hint '' --where 'at > "2015-03-25" or favorite_count < -1 or both == 2 or both == "y"'
hint '' --where '#numbers == 5 or note:find("note == 5") or note == "a" .. "x"'
hint '' --where '#hashtags > 5 or user.name == "Bob" or favorite_count == 99'
run 2 find odd rows --where 'PM2.5 > 100'
says_some '\(for a dot in a name write row\["PM2\.5"\]\)$'
run 2 find odd rows --where 'at and row.PM2\.5 > 100'
says_some '\(for a dot in a name write row\["PM2\.5"\]\)$'

# Of several families
for family in 1 2; do
    run 0 put odd "we/$family" "{\"_key\":1,\"channel\":\"x\",\"of$family\":1}"
done
run 0 put odd we/2 '{"_key":2,"channel":"y"}'
several() { # TEXT ARG...
    local wanted=$1
    shift
    run 0 "$1" odd 'we/*' "${@:2}"
    says "$wanted"
}
several "no row has 'chanel': did you mean 'channel'?" find chanel=x
several "no row has 'chanel': did you mean 'channel'?" find --select chanel --limit 1
several "channel holds texts, 5 is a number" find 'channel>5'
several '' find of1=2
several '' find of2=2
several '' find channel=z --select _family
several "no row has 'chanel': did you mean 'channel'?" group --by chanel
several '' group --by of1
several "no row has 'chanel': did you mean 'channel'?
no row has 'off1': did you mean 'of1'?" group --by chanel --sum off1 --max chanel
run 2 group odd 'we/*' --by _family
says_some '^colander: group: --by _family: rows have no column with the name'

# Columns that are selected
run 0 find odd rows --key 1 --select nots,note
prints '{"_key":1,"note":"a b"}'
says "no row has 'nots': did you mean 'note'?"
run 0 find odd rows --key 1 --select _key,note,rare
says ''

# Orders that are written in another way
for order in note:dsc 'note desc' note:DESC 'note Descending' note:des; do
    run 2 find odd rows --order "$order"
    says "colander: find: --order: '$order': write 'note:desc', or '$order:asc' if that is the column"
done
run 2 find odd rows --order note:Asc
says_some "write 'note:asc'"
run 0 find odd rows --order note:de:asc --limit 1 --select note
says "no row has 'note:de'"
run 0 find odd rows --order x:disk --limit 1 --select note
says "no row has 'x:disk'"

# Names of two letters
hint "no row has 'ta': did you mean 'at'?" ta=1
hint "no row has 'ay': did you mean 'at'?" ay=1
hint "no row has 'att': did you mean 'at'?" att=1
hint "no row has 'bt'" bt=1
hint "no row has 'a'" a=1

# A column that rows are ordered by, and rows that --skip leaves out
run 0 find odd rows --order nots --limit 1 --select note
prints '{"_key":1,"note":"a b"}'
says "no row has 'nots': did you mean 'note'?"
run 0 find odd rows --order rare --skip 5 --limit 1 --select note
says ''
run 0 find odd rows note='a b' --skip 10000
says ''
run 0 find odd rows --order rare:desc --skip 10 --limit 1 --select rare
says ''

# Rows that are deleted or updated
run 0 delete odd rows favorit_count=1
says "no row has 'favorit_count': did you mean 'favorite_count'?
0 rows deleted"
run 0 update odd rows user=Ann --set x=1 --dry-run
says 'user holds maps: user.name?
0 rows would be updated'
run 0 update odd rows --where 'nots == "a b"' --set x=1
says "no row has 'nots': did you mean 'note'?
0 rows updated"
# A column of times that gets something else
run 0 update odd rows --key 1 --set at=tomorrow --set note=x --dry-run
says 'at holds times, tomorrow is a text: a time is written @2015-03-24 or @now
1 row would be updated'
cp -a odd changed
run 0 update changed rows at=2015-03-24 --set at=2015-03-25
says 'at holds times, 2015-03-25 is a text: a time is written @2015-03-24 or @now
500 rows updated'
run 0 update odd rows --key 1 --set at=@now --set new=tomorrow --set rare=5 --unset day --dry-run
says '1 row would be updated'
run 0 delete odd rows note=x
says '0 rows deleted'
run 0 delete odd rows --all --order nots --limit 1 --dry-run
says "no row has 'nots': did you mean 'note'?
1 row would be deleted"

# A column that a sample lacks: filters know whether it is anywhere.
run 0 find demo tweets 'lkies>5'
says "no row has 'lkies': did you mean 'likes'?"
run 0 find demo tweets 'profile.cty=Houston' --count
prints 0
says "no row has 'profile.cty': did you mean 'profile.city'?"

# Lua whose values are printed: each chunk explains one query.
lua() { # TEXT CODE
    run 0 shell odd --readonly -e "$2"
    says "$1"
}
lua "no row has 'favorit_count': did you mean 'favorite_count'?" 'rows:find{favorit_count = 1}'
prints ''
lua "no row has 'lost'" 'rows:count{lost = 1}'
prints 0
lua "no row has 'lost'" 'rows:find{lost = 1}:first()'
prints ''
lua "no row has 'lost'" 'rows:find{lost = 1}:all()'
lua "no row has 'lost'" 'for _ in rows:find{lost = 1} do end for _ in rows:find{other = 1} do end'
lua "at holds times, 2015 is a number: at~2015 finds those that begin with it" 'rows:find{at = gt(2015)}:group("note"):count()'
lua "no row has 'nots': did you mean 'note'?" 'rows:find{"nots=1", "or", "rare=x"}:limit(1)'
lua '' 'rows:find{"rare=x", "or", "hashtags?", "hashtags[].text=x"}:limit(1)'
lua "no row has 'nots': did you mean 'note'?" 'rows:find():order("nots"):limit(1)'
prints_some '^\{"_key":1,'
lua "no row has 'nots': did you mean 'note'?" 'rows:find():group("nots"):count()'
lua "no row has 'nots': did you mean 'note'?" 'rows:find():group("note"):sum("nots")'
lua "no row has 'nots': did you mean 'note'?" 'rows:find():distinct("nots")'
lua "no row has 'nots': did you mean 'note'?" 'rows:find():sum("nots")'
prints 0
lua "no row has 'nots': did you mean 'note'?" 'rows:find():limit(2):select("nots", "note")'
lua "hashtags holds arrays: hashtags[].text?" 'rows:find():group("hashtags"):count()'
lua '' 'rows:find{favorite_count = 9}'
lua '' 'rows:find():skip(10000)'
lua '' 'rows:find():where(function() return false end)'
lua '' 'rows:find{note = "a b"}:order("rare"):limit(1)' # others have it
"$COLANDER" shell odd --readonly >"$work/out" 2>"$work/err" <<'END'
rows:count{lost = 1}
rows:count{other = 1}
.find rows lost=1 --count
END
last='three entries'
prints $'0\n0\n0'
says $'no row has \'lost\'\nno row has \'other\'\nno row has \'lost\''

# A script that finds nothing knows what it does.
echo 'print(db:family("rows"):count{lost = 1})' >script.lua
run 0 shell odd --readonly script.lua
prints 0
says ''
finish
