#!/bin/bash
# The scripts of scripting/examples print what is in the files next to them, in
# the shell and in stock Lua; and the census counts what the program counts.
#
# SPDX-License-Identifier: MIT
source "$(dirname "$0")/lib"
examples=$(cd "$(dirname "$0")/../../scripting/examples" && pwd)
make_demo
cd "$work" || exit 1

# The arguments of scripts, if they have any.
declare -A arguments=(
    [census]=sensors
    [daily_averages]='temperature sensor-7'
)

expects() { # NAME: the last run prints the expected text
    diff -u "$examples/$1.expected" "$work/out" ||
        complain "'$last' prints something else than $1.expected"
}

count=0
for script in "$examples"/*.lua; do
    name=$(basename "$script" .lua)
    read -r -a words <<<"${arguments[$name]-}"
    run 0 shell demo --readonly "$script" "${words[@]}"
    expects "$name"
    says ''
    count=$((count + 1))
    [ -n "${STOCK_LUA-}" ] || continue
    last="$STOCK_LUA $name.lua"
    LUA_CPATH="$COLANDER_MODULE/?.so" "$STOCK_LUA" "$script" demo \
        "${words[@]}" >"$work/out" || complain "'$last' fails"
    expects "$name"
done
[ "$count" -ge 5 ] || complain "only $count scripts are in $examples"

# Without their arguments they say so, and create nothing.
if [ -n "${STOCK_LUA-}" ]; then
    for script in "$examples"/*.lua; do
        LUA_CPATH="$COLANDER_MODULE/?.so" "$STOCK_LUA" "$script" \
            2>"$work/err" && complain "'$script' needs no store"
        grep -q 'usage: ' "$work/err" || complain "'$script' shows no usage"
    done
fi
run 1 shell demo --readonly "$examples/census.lua"
says_some '^colander: usage: census.lua '

# Both censuses, as lines of path, rows and types.
"$COLANDER" shell odd -e 'local rows = db:family("rows")
rows:put(0, {[""] = {x = 1, [""] = {2}}})
rows:put(1, {x = 1, ["a.b"] = 1, a = {b = "x"}, list = {1, {2, {c = 3}}}, [""] = 0})
rows:put(2, {a = colander.null, list = {}, b = colander.binary("x")})
rows:put(3, {a = true, when = colander.timestamp(0), list = {4}})' ||
    complain 'no store with odd rows'
places=('demo sensors' 'odd rows' ${COLANDER_RUNS:+'demo tweets'})
for place in "${places[@]}"; do
    read -r -a words <<<"$place"
    run 0 columns "${words[@]}" --all
    sed -E 's/\{"column":"(.*)","rows":([0-9]+),"types":\{([^}]*)\}.*/\1 \2 \3/
        s/"//g; s/\\\\/\\/g' "$work/out" | sort >"$work/counted"
    run 0 shell "${words[0]}" --readonly "$examples/census.lua" "${words[1]}"
    sed -E -e '$d' -e 's/ +([0-9]+)  ([^ ]+).*/ \1 \2/' "$work/out" |
        sort >"$work/census"
    diff -u "$work/counted" "$work/census" ||
        complain "the censuses of $place differ"
    [ -s "$work/counted" ] || complain "nothing is counted in $place"
done
finish
