#!/bin/bash
# Map and reduce in Lua over nodes: where a node was started with --lua, its rows
# do not travel, and the answer is that of one store, also where a function fails
# or has no end, or where a node has no Lua or is gone.
#
# SPDX-License-Identifier: MIT
source "$COLANDER_SOURCE/tests/node/nodes_lib"

create_cluster
for family in rows twice; do
    create_family $family 8 --key id \
        --replicas "$([ $family = rows ] && echo 1 || echo 2)"
    rows 0 800 >"$work/rows"
    run 0 load "kafka://$brokers/c.$family" "$work/rows" --key id
    run 0 follow "$store" $family "kafka://$brokers/c.$family" --key id --once
done

# sent NUMBER: how many rows a node has sent so far.
sent() {
    curl -sS -H "Authorization: Bearer $(cat "$work/token")" \
        "$(node "$1")/metrics" | sed -n 's/^colander_rows_total //p'
}

# settles FAMILY COUNT NUMBER...: waits until these nodes have that number of partitions
# of the family, each some.
settles() {
    local tries counts node total
    for ((tries = 0; tries < 300; tries++)); do
        [ "$tries" = 0 ] || sleep 0.1
        total=0
        for node in "${@:3}"; do
            counts=$(find "$work/node$node" -mindepth 2 -maxdepth 2 \
                -path "*/$1/00??" 2>"$work/why" | wc -l)
            [ "$counts" != 0 ] || continue 2
            total=$((total + counts))
        done
        [ "$total" != "$2" ] || break
    done
    [ "$total" = "$2" ] || complain "there are $total partitions, not $2"
    await 1 800
}

# reduces NUMBER CODE: a shell of a node prints what one of the store does.
reduces() {
    run 0 shell "$store" -e "return $2"
    cp "$work/out" "$work/wanted"
    run 0 shell "$(node "$1")" -e "return $2"
    cmp -s "$work/out" "$work/wanted" || complain "node $1: '$2' prints \
'$(head -c 300 "$work/out")', not '$(head -c 300 "$work/wanted")'"
}

# posts NUMBER TEXT [QUERY]: the same as a script of a request.
posts() {
    curl -sS -H "Authorization: Bearer $(cat "$work/token")" \
        "$(node "$1")/lua${3-}" --data-binary "$2" >"$work/out"
}

number='"function(row) return row.n end"'
add='"function(a, b) return a + b end"'
sum=":map($number):reduce($add)"
all_reduces() { # NUMBER FAMILY
    reduces "$1" "$2$sum"
    reduces "$1" "$2:find {city = 'city-3'}$sum"
    reduces "$1" "$2:find {id = 17}$sum"
    reduces "$1" "$2:reverse()$sum"
    reduces "$1" "$2:map 'function() end':reduce($add)"
    reduces "$1" "$2:map 'function(row) if row.id == 9 then return row.city end end':reduce($add)"
    reduces "$1" "$2:map 'function(row) return {[row.city] = 1.5} end':reduce [[
        function(a, b)
            for city, n in pairs(b) do a[city] = (a[city] or 0) + n end
            return a
        end]]"
    reduces "$1" "$2:map 'function(row) return {row.id} end':reduce [[
        function(a, b)
            for _, id in ipairs(b) do table.insert(a, id) end
            table.sort(a)
            return a
        end]]"
}

# --- two nodes with Lua: no row is sent from one to the other
start_node 1 --lua --shell
start_node 2 --lua
settles rows 8 1 2
before=$(sent 2)
all_reduces 1 rows
[ "$(sent 2)" = "$before" ] ||
    complain "node 2 has sent $(($(sent 2) - before)) rows"
# also to a request script, whose table.insert takes plain tables
posts 1 'return #rows:map "function(row) return {row.id} end":reduce [[
    function(a, b) for _, id in ipairs(b) do table.insert(a, id) end return a end]]'
prints '{"value":800}
{"_end":{"lines":1}}'
[ "$(sent 2)" = "$before" ] ||
    complain "node 2 has sent $(($(sent 2) - before)) rows"

# and the explanation says who was asked
printf '.explain on\nreturn rows%s\n' "$sum" |
    "$COLANDER" shell "$(node 1)" >"$work/out" 2>"$work/err"
cat "$work/out" "$work/err" | grep -E '^nodes  *1 asked$' >"$work/why" ||
    complain "it says '$(cat "$work/out" "$work/err")'"

# --- what depends on the rows before, or on the script, is asked for rows
reduces 1 "rows:limit(30)$sum"
reduces 1 "rows:skip(790)$sum"
reduces 1 "rows:order('n'):limit(7)$sum"
reduces 1 "rows:find():where(function(row) return row.n % 2 == 0 end)$sum"
[ "$(sent 2)" != "$before" ] || complain 'no row was sent for a limit'

# --- a function that fails does so as in one store
for code in 'rows:map "function(row)\n return row.x.y end"' \
    'rows:map "function(row) if row.id == 444 then error(row.city) end end"' \
    'rows:map "function(row) return {row.id, at = row.id} end"' \
    'rows:map "function(row) kept = row.id end"'; do
    run 1 shell "$store" -e "return $code:reduce($add)"
    cp "$work/err" "$work/wanted"
    grep -Eq '(map|reduce):[12]: .*, in row [0-9]+$' "$work/wanted" ||
        complain "'$code' says '$(cat "$work/wanted")'"
    run 1 shell "$(node 1)" -e "return $code:reduce($add)"
    cmp -s "$work/err" "$work/wanted" ||
        complain "'$code' says '$(cat "$work/err")', not '$(cat "$work/wanted")'"
done
# without rows; with more memory than a node gives; and what the methods of texts
# do only where scripts are trusted
reduces 1 "rows:find {city = 'nowhere'}$sum"
reduces 1 "rows:find {city = 'city-3'}:limit(5):map('function() end'):reduce($add)"
reduces 1 "rows:map 'function(row) if row.id % 100 == 7 then return \
#string.rep([[x]], 100 << 20) end end':reduce($add)"
reduces 1 "rows:map 'function(row) return row.city:find([[%d+]]) end':reduce($add)"
reduces 1 "rows:map 'function(row) return #row.city:gsub([[%d]], [[]]) end':reduce($add)"

# --- a node waits for one row only so long, and sends its rows then; a call that
# has no end ends with its client, and leaves room for others
before=$(sent 2)
posts 1 "rows:map 'function(row) while true do end end':reduce($add)" \
    '?timeout=8s'
grep -q '"error"' "$work/out" || complain "$(cat "$work/out")"
[ "$(sent 2)" != "$before" ] || complain 'node 2 goes on with one row'
for ((tries = 0; tries < 6; tries++)); do
    posts 1 "rows:map 'function(row) while true do end end':reduce($add)" \
        '?timeout=1s'
    grep -q '"error"' "$work/out" || complain "$(cat "$work/out")"
done
for ((tries = 0; tries < 100; tries++)); do # until the last has ended
    before=$(sent 2)
    run 0 shell "$(node 1)" -e "return rows$sum"
    [ "$(sent 2)" != "$before" ] || break
    sleep 0.1
done
[ "$(sent 2)" = "$before" ] || complain 'node 2 sends rows after endless calls'

# --- a node without Lua sends its rows, and the others do not
start_node 3
settles rows 8 1 2 3
for ((tries = 0; tries < 300; tries++)); do # until it is asked
    [ "$(sent 3)" = 0 ] || break
    "$COLANDER" find "$(node 1)" rows >"$work/out" 2>"$work/why"
    sleep 0.1
done
before="$(sent 2) $(sent 3)"
all_reduces 1 rows
[ "$(sent 3)" != "${before#* }" ] || complain 'node 3 has sent no row'
[ "$(sent 2)" = "${before% *}" ] || complain 'node 2 has sent rows'

# --- a node is killed: what it is asked for is asked of the second place
settles twice 16 1 2 3
all_reduces 1 twice
kill_node 2
all_reduces 1 twice
