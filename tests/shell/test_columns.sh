#!/bin/bash
# The columns of a family: of a sample of all keys, or of all rows.
#
# SPDX-License-Identifier: MIT
source "$(dirname "$0")/lib"
cd "$work" || exit 1
"$COLANDER" shell store -e 'local rows, batch = db:family("rows"), db:batch()
for i = 1, 30000 do
    local row = {n = i, user = {name = "u" .. i % 7, ["a.b"] = 1}}
    if i > 24000 then row.late = {i} end
    if i % 2 == 0 then row.even = i % 4 == 0 and "x" or colander.null end
    batch:put(rows, i, row)
    if i % 10000 == 0 then batch:commit() rows:flush() end
end
db:family("few"):put(1, {text = ("long"):rep(100) .. "é", Text = "s"})' ||
    complain 'no store'

paths() { # PATHS ARGUMENT...: the columns, in this order
    local wanted=$1
    shift
    run 0 columns store "$@"
    sed -E 's/^\{"column":"([^"]*)".*/\1/' "$work/out" >"$work/paths"
    [ "$(paste -sd ' ' "$work/paths")" = "$wanted" ] ||
        complain "'$last' lists '$(paste -sd ' ' "$work/paths")', not '$wanted'"
}

# A sample is spread over all keys, and says so.
paths 'n user user.a\\.b user.name even late late[]' rows
says_some '^\[in a sample of (9,[0-9]{3}|10,000) rows of about 30,000: see --rows\]$'
prints_some '^\{"column":"late","rows":(1[5-9]|2[0-9]|3[0-5])[0-9]{2},'
paths 'n user user.a\\.b user.name even late late[]' rows --rows 100
paths 'n user user.a\\.b user.name even late late[]' rows --all
says ''
prints_some '^\{"column":"n","rows":30000,"types":\{"integer":30000\},"example":1,"smallest":1,"largest":30000\}$'
prints_some '^\{"column":"even","rows":15000,"types":\{"null":7500,"string":7500\},"example":"x","smallest":"x","largest":"x"\}$'
prints_some '^\{"column":"user.name","rows":30000,"types":\{"string":30000\},"example":"u1","smallest":"u0","largest":"u6"\}$'
prints_some '^\{"column":"late\[\]","rows":6000,"types":\{"integer":6000\},"example":24001,"smallest":24001,"largest":30000\}$'
prints_some '^\{"column":"user","rows":30000,"types":\{"map":30000\}\}$'
paths 'n user user.a\\.b user.name even late late[]' rows --rows 40000
says ''

# Some of them
paths 'n user even late' rows --depth 1
paths 'user user.a\\.b user.name' rows --like USER
paths 'user' rows --like user --depth 1
paths '' rows --like nothing

# Long values are cut, between characters.
run 0 columns store few
prints_some '^\{"column":"text","rows":1,"types":\{"string":1\},"example":"(long){50}",'
run 2 columns store few --depth x
finish
