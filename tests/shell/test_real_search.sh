#!/bin/bash
# Words, phrases, pieces and patterns of real records: each finds the records
# that a second definition, in Python, finds in the source.
#
# With COLANDER_RUNS, as in script/soak, in all records, and more of them.
# Without the files of real data, or without the Python that has the version of
# Unicode, the test is skipped.
#
# SPDX-License-Identifier: MIT
source "$(dirname "$0")/lib"
here=$(cd "$(dirname "$0")" && pwd)
data=${COLANDER_DATA:-${COLANDER_SOURCE:?the folder of the sources}/../shared/data}
rows=1000
count=50
if [ -n "${COLANDER_RUNS:-}" ]; then
    rows=100000
    count=500
fi
export COLANDER_SEED=${COLANDER_SEED:-$(date +%s%N)}
echo "real_search: COLANDER_SEED=$COLANDER_SEED"

cat >"$work/ask.lua" <<'END'
local rows = db:family(family_name)
local number_of = {}
local count = 0
for key in rows:scan():keys() do
    count = count + 1
    number_of[key] = count
end
local makers = {words = words, phrase = phrase, piece = contains,
                pattern = regex}
local asked, found = 0, 0

function ask(how, is_folded, sought, expected)
    local condition = makers[how](sought)
    if is_folded then condition = icase(condition) end
    local is_fine, query = pcall(rows.find, rows, any_column(condition))
    if not is_fine then
        if how == "pattern" and tostring(query):find("not built") then return end
        error(query, 0)
    end
    local i = 0
    for key in query:keys() do
        i = i + 1
        assert(number_of[key] == expected[i],
            ("%s %q: record %s, not %s"):format(how, sought, number_of[key],
                                                expected[i]))
    end
    assert(i == #expected, ("%s %q: %d records, not %d"):format(how, sought, i,
                                                             #expected))
    asked, found = asked + 1, found + i
end
END

for file in tweets wikipedia-edits; do
    source=$data/$file.jsonl.gz
    if [ ! -r "$source" ] || ! command -v python3 >/dev/null; then
        echo "skipped: there is no $source, or no python3"
        exit 77
    fi
    gzip -dc "$source" 2>/dev/null | head -n "$rows" >"$work/$file.jsonl"
    run 0 load "$work/s" "$file" "$work/$file.jsonl" --format jsonl
    {
        echo "family_name = '$file'"
        cat "$work/ask.lua"
        python3 "$here/real_search.py" "$source" "$rows" "$count" || exit 77
        echo "assert(asked > 50 and found > 50)"
        echo "print(asked .. ' questions, ' .. found .. ' records')"
    } >"$work/$file.lua" || exit 77
    run 0 shell "$work/s" --readonly "$work/$file.lua"
    cat "$work/out"
done
finish
