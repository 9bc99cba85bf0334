#!/bin/bash
# What stats tells, and what refilter does: filters change, finds do not.
#
# SPDX-License-Identifier: MIT
source "$(dirname "$0")/lib"
make_demo
demo=$work/demo

bytes() { # NAME: the number under that name in the JSON that was printed
    grep -Eo "\"$1\":[0-9]+" "$work/out" | tail -n 1 | cut -d : -f 2
}

run 0 stats "$demo"
prints_some '^family   sensors$'
prints_some '^family   tweets$'
prints_some '^rows     about 100,000$'
prints_some '^files    [0-9]+ SST files?, [0-9,]+ bytes; '
run 0 stats "$demo" sensors
[ "$(grep -c '^family' "$work/out")" = 1 ] || complain 'stats tells of others'
run 1 stats "$demo" bogus
says "colander: stats: no family 'bogus' in '$demo': there are 'sensors', 'tweets'"
run 0 stats "$demo" --json
[ "$(cut -d , -f 1 "$work/out")" = '{"_key":"sensors"
{"_key":"tweets"' ] || complain 'stats --json is no line for each family'
run 0 stats "$demo" tweets --json
prints_some '^{"_key":"tweets","rows":100000,"sst_files":[1-9]'
size=$(find "$demo" -name '*.sst' -printf '%s\n' | sort -n | tail -n 1)
[ "$(bytes sst_bytes)" = "$size" ] || complain 'stats tells another SST size'
printf '.stats tweets\n.stats --json\n' | "$COLANDER" shell "$demo" |
    grep -q '^family   tweets$' || complain 'no stats in the shell'

if ! has_filters; then
    grep -q filter "$work/out" && complain 'stats tells of filters: none is there'
    finish
fi

# The parts are the whole, but for heads and the like.
sum=0
for kind in locator presence keys zones; do
    sum=$((sum + $(bytes ${kind}_bytes)))
done
all=$(grep -Eo '"bytes":[0-9]+' "$work/out" | cut -d : -f 2)
[ "$sum" -gt $((all * 9 / 10)) ] && [ "$sum" -le "$all" ] ||
    complain "filters of $all bytes have $sum in their parts"
prints_some '"files":1,"loaded_files":1,'
prints_some '"rows_per_segment":"auto",'

refilter() { # ARG...: finds find what they found
    run 0 refilter "$demo" tweets "$@"
    cp "$work/out" "$work/told"
    for where in user=Smith 'likes>=990' '--any Houston7'; do
        # shellcheck disable=SC2086
        "$COLANDER" find "$demo" tweets $where
    done >"$work/found"
    cmp -s "$work/found" "$work/wanted" || complain "after '$last' finds differ"
    cp "$work/told" "$work/out"
}

for where in user=Smith 'likes>=990' '--any Houston7'; do
    # shellcheck disable=SC2086
    "$COLANDER" find "$demo" tweets $where --scan
done >"$work/wanted"
refilter
prints_some '^done     the filters of 1 SST file were made anew$'
prints_some '^filters  of 1 SST file: [0-9,]+ bytes, [0-9.]+ % of '

# What is given changes, the rest stays.
refilter --rows-per-segment 64 --noindex text --noindex profile \
    --bits-per-value 8.5
prints_some '^options  on, rows per segment 64, 32 hash bits, 8.5 bits for a value, slices in up to 67,108,864 bytes; not indexed: text, profile$'
run 0 stats "$demo" tweets --json
smaller=$(bytes locator_bytes)
[ "$smaller" -lt "$all" ] || complain 'columns left out take as much'
prints_some '"rows_per_segment":64,.*"bits_per_value":8.5,.*"noindex":\["text","profile"\]'
refilter --hierarchy tree --tree-order 4 --fp-rate=0.1 --memory-budget 1000000
prints_some '^options  on, rows per segment 64, 32 hash bits, 0.1 wrong maybes, tree of order 4 in up to 1,000,000 bytes; not indexed: text, profile$'
refilter --noindex '' --filter-bits 20000 --hash-bits 24 --rows-per-segment 0
prints_some '^options  on, rows per segment 0, 24 hash bits, 20,000 bits for a file, tree of order 4 in up to 1,000,000 bytes$'
grep -q '^locator' "$work/out" && complain 'files only, and yet a locator'
refilter --rows-per-segment 1
prints_some '^options  on, rows per segment 1, 24 hash bits, '
refilter --off
prints_some '^done     filters are off'
refilter --on --rows-per-segment auto --hierarchy slices --fp-rate 0.01
prints_some '^options  on, rows per segment auto, 24 hash bits, 0.01 wrong maybes, slices in '
prints_some '^locator  [0-9,]+ bytes, [0-9.]+ %$'

mistake() { # MESSAGE ARG...
    local message=$1
    shift
    run 2 refilter "$demo" tweets "$@"
    says "colander: refilter: $message"
}

mistake "--hash-bits takes a number from 0 up, not 'x'" --hash-bits x
mistake '--tree-order is too large: 4294967296' --tree-order 4294967296
mistake '--rows-per-segment is too large: 4294967295' \
    --rows-per-segment 4294967295
mistake "--fp-rate takes a number such as 0.01, not 'nan'" --fp-rate nan
mistake "no hierarchy 'forest': there are slices and tree" --hierarchy forest
run 2 refilter "$demo" tweets --rows-per-segment 3
says_some 'rows_per_segment is 0 or a power of two'
run 2 refilter "$demo" tweets --noindex 'a[b'
run 1 refilter "$demo" bogus
says "colander: refilter: no family 'bogus' in '$demo': there are 'sensors', 'tweets'"
run 0 stats "$demo" tweets --json
prints_some '"rows_per_segment":"auto","hash_bits":24,'

# A damaged filter costs time, and is told.
for filter in "$demo"/filters/*; do
    [ -s "$filter" ] && printf damage |
        dd of="$filter" bs=1 seek=1000 conv=notrunc status=none
done
run 0 find "$demo" tweets user=Smith --count
prints 15
finish
