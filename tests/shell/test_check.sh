#!/bin/bash
# What check finds in a damaged store, and what it repairs.
#
# SPDX-License-Identifier: MIT
source "$(dirname "$0")/lib"

# copy: creates a new copy of the store.
copy() {
    rm -rf "$work/copy"
    cp -a "$work/store" "$work/copy"
}

# largest DIRECTORY GLOB: prints the path of the largest such file of the copy.
largest() {
    find "$work/copy/$1" -name "$2" -printf '%s %p\n' | sort -n | tail -n 1 |
        cut -d ' ' -f 2
}

# damage FILE: changes a byte in its middle.
damage() {
    local at=$(($(stat -c %s "$1") / 2)) byte

    byte=$(od -An -tu1 -j "$at" -N 1 "$1")
    # shellcheck disable=SC2059
    printf "\\x$(printf %x $(((byte + 1) % 256)))" |
        dd of="$1" bs=1 seek="$at" conv=notrunc status=none
}

in_store() {
    echo "${1#"$work/copy/"}"
}

for family in small large; do
    seq 1 20000 | sed 's/.*/{"_key":&,"n":&,"text":"row &"}/' |
        "$COLANDER" load "$work/store" $family --format jsonl \
            > "$work/out" 2> "$work/err" || complain "$(cat "$work/err")"
done

copy
run 0 check "$work/copy"
prints_some '^checked +[0-9]+ SST files of [0-9,]+ rows \([0-9.]+ .B\)'
prints_some '^found +nothing wrong$'
diff -r "$work/store" "$work/copy" > /dev/null || complain 'check changes a store'
run 0 check "$work/copy" --repair
prints_some '^found +nothing wrong$'

copy
sst=$(largest rocksdb '*.sst')
damage "$sst"
for repair in '' --repair; do
    run 4 check "$work/copy" $repair
    prints_some "^$(in_store "$sst"): .*(mismatch|orrupt)"
    prints_some '^found +1 damaged file$'
done

unfinished='of unfinished writes: the next open for writing removes or rebuilds them'

# What a killed bulk load leaves.
copy
mkdir "$work/copy/bulk-BPqZee"
cp "$(largest rocksdb '*.sst')" "$work/copy/bulk-BPqZee/1.sst"
run 0 check "$work/copy"
prints_some '^bulk-BPqZee: is of a bulk load that did not finish$'
prints_some "^found +nothing wrong, 1 leftover $unfinished\$"
run 0 check "$work/copy" --repair
prints_some '^found +nothing wrong$'
[ ! -e "$work/copy/bulk-BPqZee" ] || complain 'a leftover is still there'

if has_filters; then
    copy
    filter=$(largest filters '*.filter')
    damage "$filter"
    run 4 check "$work/copy"
    prints_some "^$(in_store "$filter"): .*damaged"
    prints_some '^found +1 damaged file$'
    run 0 check "$work/copy" --repair # unless an open for writing did so first
    run 0 check "$work/copy"
    prints_some '^found +nothing wrong$'

    # As a killed process may leave them: the next open for writing repairs both.
    copy
    filter=$(largest filters '*.filter')
    cp "$filter" "$work/copy/filters/999999-1.filter"
    rm "$filter"
    run 0 check "$work/copy"
    prints_some "^$(in_store "$filter"): is missing$"
    prints_some '^filters/999999-1.filter: belongs to no SST$'
    prints_some "^found +nothing wrong, 2 leftovers $unfinished\$"
    run 0 check "$work/copy" --repair
    run 0 check "$work/copy"
    prints_some '^found +nothing wrong$'
fi

copy
rm "$(largest rocksdb '*.sst')"
run 4 check "$work/copy"
says_some "^colander: check: cannot open store '.*/copy': .*[0-9]+\.sst"

# CURRENT is rebuilt, but not for a MANIFEST that is no longer used, as a crash
# may leave it: newer rows would be lost with that one.
copy
old=$(cd "$work/copy/rocksdb" && echo MANIFEST-*)
cp "$work/copy/rocksdb/$old" "$work/old"
printf 'garbage' > "$work/copy/rocksdb/CURRENT"
run 0 check "$work/copy" --repair
prints_some '^rocksdb/CURRENT: it names no MANIFEST: rebuilt'
seq 1 100 | sed 's/.*/{"_key":&}/' > "$work/rows"
run 0 load "$work/copy" newer "$work/rows"
rm "$work/copy/rocksdb"/MANIFEST-*
cp "$work/old" "$work/copy/rocksdb/$old"
ls "$work/copy/rocksdb"/*.sst > "$work/before"
run 4 check "$work/copy" --repair
says_some 'CURRENT names MANIFEST-[0-9]+, which is missing$'
ls "$work/copy/rocksdb"/*.sst | cmp -s - "$work/before" ||
    complain 'a repair removed rows'

# The record is rebuilt only in a store.
copy
rm "$work/copy/COLANDER"
run 0 check "$work/copy" --repair
prints_some '^COLANDER: it is missing: rebuilt'
mkdir -p "$work/other/rocksdb"
touch "$work/other/rocksdb/notes"
run 1 check "$work/other" --repair
says_some "it is not a store: it has neither 'COLANDER' nor 'LEDGER'$"
[ "$(ls "$work/other")" = rocksdb ] || complain 'a repair created another store'

run 1 check "$work/none"
says_some '^colander: check: cannot open store'
run 2 check
run 2 check "$work/store" extra
finish
