#!/bin/bash
# Backups that are opened where they are: the same rows as of the store, few
# requests, and servers that fail, are slow, or lie.
#
# SPDX-License-Identifier: MIT
source "$(dirname "$0")/lib"

start_server
export AWS_MAX_ATTEMPTS=3 COLANDER_CACHE=$work/cache TMPDIR=$work/temporary
mkdir "$TMPDIR"
address=s3://bucket/a+b

faults() { # JSON: makes the next requests fail
    curl -sf --noproxy '*' -X PUT -d "$1" "$AWS_ENDPOINT_URL/.faults" ||
        complain 'the server takes no faults'
}
gets() { # prints how many GET requests there were
    curl -sf --noproxy '*' "$AWS_ENDPOINT_URL/.counts" |
        sed -n 's/.*"GET": \([0-9]*\).*/\1/p'
}
cold() { rm -rf "$COLANDER_CACHE"; }

# costs MOST WORD...: the command takes at most so many GET requests.
costs() {
    local most=$1 before after
    shift
    has_filters || most=1000000 # then a find reads all rows
    before=$(gets)
    run 0 "$@"
    after=$(gets)
    [ $((after - before)) -le "$most" ] ||
        complain "'$last' takes $((after - before)) requests, not $most"
}

# Many small files, each with a part of the rows.
run 0 shell "$work/none" -e "
    local store = require('colander').open('$store', {sst_size = 65536, compression = 'none'})
    store:close()"
seq 1 3000 | awk -v seed=7 'BEGIN {srand(seed)} {
    pad = ""
    for (i = 0; i < 70; i++) pad = pad sprintf("%09x", int(rand() * 2^36))
    printf "{\"_key\":%d,\"n\":%d,\"k\":\"x%d\",\"fifth\":%d,", $1, $1, $1,
           ($1 * 7919) % 600
    printf "\"text\":\"row %d\",\"pad\":\"%s\"}\n", $1, pad}' >"$work/rows"
run 0 load "$store" rows "$work/rows" --bulk
files=$(find "$store" -name '*.sst' | wc -l)
[ "$files" -ge 20 ] || complain "only $files files"
run 0 backup "$store" "$address"
run 0 get "$store" rows 1500
expected=$(cat "$work/out")

# ------------------------------------------------------------- requests ---

# An open takes a list and the small files; 40 are also enough with 4,096 parts
# (docs/objects.md). What was read once is not read again, except the list.
cold
costs 40 find "$address" rows n=999999 --explain
[ ! -s "$work/out" ] || complain 'there is no such row'
if has_filters; then
    says_some '^files +([0-9]+): \1 pruned by the hierarchy'
    says_some '^objects +[0-9.]+ kB fetched by [0-9]+ reads, '
fi
costs 1 find "$address" rows n=999999
cold
costs 60 find "$address" rows fifth=119
[ "$(wc -l <"$work/out")" = 5 ] || complain 'it finds not five rows'
costs 1 find "$address" rows fifth=119
cold
costs 40 get "$address" rows 1500
prints "$expected"

# ---------------------------------------------------------- other commands ---

for words in 'get 1500' 'find n>=1490 n<1510' 'find --count' \
    'scan --limit 50' 'group --by fifth --count' 'export' 'columns'; do
    set -- $words
    command=$1
    shift
    [ "$command" != scan ] || command=find
    run 0 "$command" "$store" rows "$@"
    cp "$work/out" "$work/wanted"
    run 0 "$command" "$address" rows "$@"
    cmp -s "$work/out" "$work/wanted" ||
        complain "'$last' prints other rows"
done
run 0 columns "$address" rows --rows 100
says_some 'in a sample of [0-9,]+ rows: see --rows'
run 0 families "$address" rows
! grep -q '"rows":' "$work/out" || complain 'rows are counted that are not known'
run 0 stats "$address" rows
prints_some '^rows +not known without reading all files$'
prints_some '^files +[0-9]+ SST files'
prints_some '^filters +of a backup: they are read as far as finds need$'
! grep -q 'about 0\|: 0 bytes\|0 parts\|old filter' "$work/out" ||
    complain "unknown numbers are printed: $(cat "$work/out")"
run 0 stats "$address" rows --json
! grep -q '"_key":"rows","rows"\|"filters"\|"order"\|"store"' "$work/out" ||
    complain "unknown numbers are printed: $(cat "$work/out")"
run 0 families "$address"
run 0 shell "$address" -e 'print(db.rows:count())'
prints 3000
run 1 put "$address" rows '{"_key":1}'
says "colander: put: '$address' is an address of backups or of a cluster, \
which this cannot change: 'colander restore' makes a store of a backup, and \
'colander load' sends rows, or with --op changes to them, to a cluster"
run 1 shell "$address" -e 'db.rows:put(1, {n = 1})'

# The backup of a number; what came later is only in the newest one.
run 0 put "$store" rows '{"_key":9000,"n":9000}'
run 0 backup "$store" "$address"
run 0 find "$address" rows n=9000
prints '{"_key":9000,"n":9000}'
run 0 find "$address#1" rows n=9000
prints ''
run 1 find "$address#3" rows n=9000
says_some "it has no backup 3, but 2 others, from 000001 to 000002"
run 1 find "$address#0" rows n=9000
says_some "it has no backup 0: the first one is 1"
run 1 backup "$store" "$address#3"
says_some "#3': with # and a number at its end it is one of the backups there"

# -------------------------------------------------------------- all finds ---

seed=${COLANDER_SEED:-$RANDOM}
echo "COLANDER_SEED=$seed"
finds=$COLANDER_SOURCE/tests/cluster/finds.lua
run 0 shell "$store" "$finds" "$seed" 2000
cp "$work/out" "$work/wanted"
[ "$(wc -l <"$work/wanted")" = 2000 ] || complain 'there are not 2,000 finds'
grep -q ' [0-9]*:' "$work/wanted" || complain 'no find has found a row'
cold
run 0 shell "$address" "$finds" "$seed" 2000
cmp -s "$work/out" "$work/wanted" || complain 'finds have other rows'

# The same in a directory, with a cache that is too small, and with none.
run 0 backup "$store" "file://$work/objects"
for size in 1 0; do
    cold
    COLANDER_CACHE_SIZE=$size run 0 shell "file://$work/objects" "$finds" \
        "$seed" 300
    head -300 "$work/wanted" | cmp -s - "$work/out" ||
        complain "with a cache of $size MiB finds have other rows"
done

# Filters that know the words of some columns only.
printf '{"_key":1,"text":"wet snow","user":"ann lee"}\n' >"$work/few"
run 0 load "$work/few.store" rows "$work/few" --words text
run 0 backup "$work/few.store" "file://$work/few.objects"
for word in snow lee user:ann; do
    run 0 find "file://$work/few.objects" rows "$word" --count
    prints 1
done

# Several processes with one cache.
cold
pids=
for i in 1 2 3; do
    "$COLANDER" shell "$address" "$finds" "$seed" 300 >"$work/out$i" 2>&1 &
    pids="$pids $!"
done
for pid in $pids; do wait "$pid" || complain 'a process fails'; done
for i in 1 2 3; do
    head -300 "$work/wanted" | cmp -s - "$work/out$i" ||
        complain 'of several processes one finds other rows'
done

# Pieces on the local disk that are damaged, or of another object.
find "$COLANDER_CACHE" -type f | while read -r piece; do
    printf 'x' | dd of="$piece" bs=1 seek=300 conv=notrunc 2>/dev/null
done
run 0 find "$address" rows n=1500
prints "$expected"

# ---------------------------------------------------------------- faults ---

# What passes when it is tried again.
kinds() { # WORD... -- WORD...: the first ones, and in script/soak all
    local words=" $* "

    if [ -n "${COLANDER_RUNS:-}" ]; then
        echo "${words/ -- / }"
    else
        echo "${words%% -- *}"
    fi
}
for what in $(kinds 500 cut liar -- 503 drop slow short); do
    cold
    faults "[{\"on\": \"GET\", \"match\": \"/files/\", \"what\": \"$what\",
              \"times\": 2}]"
    run 0 find "$address" rows n=1500
    prints "$expected"
done
# What does not pass: the rows, or an error that names the object.
for what in $(kinds cut short long 404 416 flip -- drop liar whole 403 500); do
    for after in $(kinds 0 12 -- 10 13 16 20); do
        cold
        run 0 find "$address" rows n=1 # what an open needs is there
        [ "$after" != 0 ] || cold
        faults "[{\"on\": \"GET\", \"match\": \"/files/\", \"what\": \"slow\",
                  \"times\": $((after > 9 ? after - 9 : 0))},
                 {\"on\": \"GET\", \"match\": \"/files/\", \"what\": \"$what\",
                  \"times\": 1000000}]"
        status=0
        "$COLANDER" find "$address" rows n=1500 >"$work/out" 2>"$work/err" ||
            status=$?
        faults '[]'
        if [ "$status" = 0 ]; then
            prints "$expected"
        else
            last="find after $after with $what"
            [ "$status" = 4 ] || complain "'$last' exits $status"
            [ ! -s "$work/out" ] || complain "'$last' prints rows"
            says_some "'?files/[0-9a-f]+-[0-9]+-[0-9a-f]+"
        fi
    done
done
run 0 find "$address" rows n=1500
prints "$expected"

# A store is closed with all that it has downloaded.
[ -z "$(ls "$TMPDIR")" ] || complain "there are leftovers: $(ls "$TMPDIR")"
