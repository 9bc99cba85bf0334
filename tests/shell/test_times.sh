#!/bin/bash
# Times that were printed can be pasted back: as a condition, in a list, with
# --any, as a key, in get, and in Lua. Times are found by dates, by --since and
# --until, with and without a schema.
#
# With COLANDER_RUNS, as in script/soak, this many times in each form that a
# schema reads.
#
# SPDX-License-Identifier: MIT
source "$(dirname "$0")/lib"
here=$(cd "$(dirname "$0")" && pwd)
cd "$work" || exit 1
export COLANDER_SEED=${COLANDER_SEED:-$(date +%s)}
echo "times: COLANDER_SEED=$COLANDER_SEED"

# The number of each row in JSON lines.
numbers() {
    sed -E 's/.*"n":([0-9]+)(,"_matched.*)?\}$/\1/'
}

# ---- every form --------------------------------------------------------------

run 0 shell s "$here/times.lua" make "${COLANDER_RUNS:-40}"
forms=$(cat out)
[ "$(echo "$forms" | wc -l)" = 10 ] || complain "there are not 10 forms: $forms"
for form in $forms; do
    run 0 load s "$form" "$form.jsonl" --schema "./$form.lua"
    run 0 load s "plain_$form" "$form.jsonl" --key n
    run 0 find s "$form" --where 'colander.type(at) ~= "timestamp"' --count
    prints 0
    run 0 export s "$form" --output "$form.out"
    run 0 shell s --readonly "$here/times.lua" paste "$form"
    "$COLANDER" shell s --readonly <"$form.in" >pasted 2>err ||
        complain "$form: $(head -5 err)"
    # the number of each row, in the order of the entries
    numbers <pasted >numbers
    cmp -s numbers "$form.expected" ||
        complain "$form: a time that was pasted does not find its row:
$(diff numbers "$form.expected" | head -5)"
done

# ---- dates, and texts ----------------------------------------------------------

cat >visits.jsonl <<'END'
{"k":"door","at":"2026-10-31T23:59:59Z","n":1}
{"k":"door","at":"2026-11-01T00:00:00Z","n":2}
{"k":"door","at":"2026-11-01T09:30:00.250+01:00","n":3}
{"k":"door","at":"today","n":4}
{"k":"gate","at":"2026-11-02T07:00:00Z","n":5,"user":"@ann"}
END
cat >visits.lua <<'END'
return { key = { "k", "at" }, time = "at" }
END
run 0 load s visits visits.jsonl --schema ./visits.lua

# finds NUMBERS ARG...: the rows that are found
finds() {
    local numbers=$1
    shift
    run 0 find s visits "$@" --select n
    [ "$(numbers <out | tr -d '\n')" = "$numbers" ] ||
        complain "'$last' finds $(cat out), not $numbers"
}
finds 23 at=2026-11-01
finds 23 at=@2026-11-01
finds 235 'at=["2026-11-01","2026-11-02","x"]'
finds 415 'at!=2026-11-01'
finds 1 'at<2026-11-01'
finds 235 'at>=@2026-11-01'
finds 5 'at>@2026-11-01'
finds 123 'at<=2026-11-01'
finds 235 'at~2026-11'
finds 3 'at~2026-11-01T08:3'
finds 4 'at=today'
finds 5 'user=@ann'
finds 23 --any 2026-11-01
finds 5 --any @ann
finds 123 'at<@now-0s' 'k=door'
finds 41 'k=door' not at=2026-11-01
finds 41 'at<2026-11-01' or at=today
finds 23 --since 2026-11-01 --until 2026-11-02
finds 235 --since @2026-11-01
finds '' --since 1h --until @now
finds 123 --until 0s k=door
finds 4 --key '["door","today"]'
finds 2 --key '["door","2026-11-01"]'
finds 5 --from '["gate","2026-11-01"]'
finds 5 --prefix '["gate","2026-11-02T07:00:00Z"]'
finds 23 --from '["door","@2026-11-01"]' --to '["door","@2026-11-01"]'
run 0 export s visits --since @2026-11-02 --select n
prints '{"_key":["gate","2026-11-02T07:00:00Z"],"n":5}'

# Which kind of key --from means is not known, as 'door' has a text, too.
run 2 find s visits --from '["door","2026-11-01"]'
says "colander: find: --from: part 2 is a time, and keys have texts and times \
there: write @ before it if you mean times
    [\"door\",\"2026-11-01\"]
    ^"
run 2 find s visits --prefix '["gate","2026-11-02"]'
says_some 'keys have several times of that date'
run 2 find s visits 'at>@2026-13-01'
says_some 'expected a time such as'
run 2 find s visits --since yesterday
says_some '^colander: find: --since: expected a time, a date or a duration'
run 2 find s visits --since 2015
says_some '--since: expected .* not a number alone [(]a year is written 2015-01-01[)]$'
run 1 get s visits '["gate","2026-11-02"]'
says "colander: get: no row '[\"gate\",\"2026-11-02\"]' in family 'visits'"

# A text is found before a timestamp, and @ finds the timestamp.
run 0 shell s -e 'local f = db:family("both")
    f:put("2026-11-01", {n = 1})
    f:put(colander.timestamp("2026-11-01"), {n = 2})'
run 0 get s both 2026-11-01 --format jsonl
prints '{"_key":"2026-11-01","n":1}'
run 0 get s both @2026-11-01 --format jsonl
prints '{"_key":"2026-11-01T00:00:00Z","n":2}'
run 0 put s both '{"_key": "@2026-11-01", "n": 3}'
run 0 get s both '"@2026-11-01"' --format jsonl
prints '{"_key":"@2026-11-01","n":3}'
run 0 get s both 2026-11-01T00:00:00Z --format jsonl
prints '{"_key":"2026-11-01T00:00:00Z","n":2}'

# ---- the time column -----------------------------------------------------------

run 0 families s visits --format jsonl
prints_some '"_key":"visits",.*"time_column":"at","oldest":"2026-10-31T23:59:59Z","newest":"2026-11-02T07:00:00Z"\}$'
run 0 families s visits --exact
prints_some '"exact_rows":5,"time_column":"at"'
run 2 find s plain_rfc3339 --since 1h
says "colander: find: family 'plain_rfc3339' has no time column for --since and \
--until: set one with 'colander families STORE plain_rfc3339 --time COLUMN'"
run 0 families s plain_rfc3339 --time at
run 0 find s plain_rfc3339 --since 0001-01-01 --count
prints "${COLANDER_RUNS:-40}"
run 0 families s visits --time n
run 0 load s visits visits.jsonl --schema ./visits.lua
run 0 families s visits
prints_some '"time_column":"n"\}$' # the user's stays
# That of a file that is followed is there at once.
head -n 1 visits.jsonl >grows.jsonl
for ((tries = 1; tries <= 20; tries++)); do
    "$COLANDER" load s grows grows.jsonl --follow --schema ./visits.lua \
        >out 2>err &
    follower=$!
    sleep $((tries / 5)).$((tries % 5 * 2))
    kill -9 "$follower"
    wait "$follower" 2>/dev/null
    [ "$("$COLANDER" find s grows --count 2>/dev/null)" != 1 ] || break
done
run 0 families s grows
prints_some '"time_column":"at"'
run 0 families s visits --time ''
run 0 families s visits
[[ $(cat out) != *time_column* ]] || complain 'the time column is still there'
run 2 families s --time at
says 'colander: families: --time needs the name of a family'
run 2 families s visits --time 'a['
run 1 families s nobody --time at
run 1 families s nobody
finish
