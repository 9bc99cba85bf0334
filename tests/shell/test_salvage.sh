#!/bin/bash
# What can be read from damaged stores, and what check --repair rebuilds.
#
# SPDX-License-Identifier: MIT
source "$(dirname "$0")/lib"

store=$work/store

# copy: creates a new copy of the store, and removes what was salvaged.
copy() {
    rm -rf "$work/copy" "$work/out"
    cp -a "$store" "$work/copy"
}

# same: the salvaged store has all rows.
same() {
    run 0 export "$work/new" rows
    cmp -s "$work/out" "$work/all" || complain "'$last' has other rows"
    rm -rf "$work/new"
}

seq 1 5000 | sed 's/.*/{"_key":&,"n":&,"text":"row &"}/' > "$work/rows"
run 0 load "$store" rows "$work/rows"
run 0 load "$store" others "$work/rows"
! has_filters || run 0 refilter "$store" rows --unfiltered text
run 0 export "$store" rows
cp "$work/out" "$work/all"

copy
run 0 salvage "$work/copy" "$work/new"
prints_some '^copied +10,000 rows \([0-9.]+ .B\) of 2 families$'
prints_some '^lost +nothing$'
diff -r "$store" "$work/copy" > /dev/null || complain 'salvage changes a store'
# Options of filters, and the resume points of loads, which are marks.
if has_filters; then
    run 0 stats "$work/new" rows
    prints_some '^options .*; unfiltered: text$'
    run 0 stats "$work/new" others
    grep -q unfiltered "$work/out" && complain 'options of another family'
fi
for family in rows others; do
    run 0 load "$work/new" $family "$work/rows" --resume
    says_some '^0 rows loaded; 1 file loaded before$'
done
same

# The same if they are still in a log, and if they are damaged.
if has_filters; then
    copy
    run 0 refilter "$work/copy" rows --unfiltered n
    sst=$(grep -l 'record/filters' "$work"/copy/rocksdb/*.sst | tail -n 1)
    run 0 salvage "$work/copy" "$work/new"
    run 0 stats "$work/new" rows
    prints_some '^options .*; unfiltered: n$'
    same
    printf 'XXXX' | dd of="$sst" bs=1 seek=20 conv=notrunc status=none
    run 4 salvage "$work/copy" "$work/new"
    prints_some "^rocksdb/$(basename "$sst"): .* marks and filter options of any family may be missing, or old$"
    same
fi

# A block of an SST.
copy
sst=$(find "$work/copy/rocksdb" -name '*.sst' -size +8k | sort | head -n 1)
printf 'XXXX' | dd of="$sst" bs=1 seek=500 conv=notrunc status=none
run 4 salvage "$work/copy" "$work/new"
prints_some "^rocksdb/$(basename "$sst"): [0-9]+ bytes at 0 cannot be read: its checksum is wrong: rows of family '[a-z]+' with keys from 1 up to [0-9]+ may be missing, or old$"
prints_some '^lost +1 part, listed above$'
run 0 check "$work/new"
prints_some '^found +nothing wrong$'
run 1 salvage "$work/copy" "$work/new"
says_some "there is a store already$"
rm -rf "$work/new"

# Other kinds of files in place of files.
copy
sst=$(find "$work/copy/rocksdb" -name '*.sst' -size +8k | sort | head -n 1)
rm "$sst"
mkdir "$sst"
mkfifo "$work/copy/rocksdb/009999.log"
run 4 salvage "$work/copy" "$work/new"
prints_some "^rocksdb/$(basename "$sst"): it is not a regular file: rows of family '[a-z]+' with keys from 1 up to [0-9]+ may be missing, or old$"
prints_some '^rocksdb/009999.log: .* is not a regular file: '
prints_some '^lost +2 parts, listed above$'
rm -rf "$work/new"

# Files that only refer to the others.
for file in COLANDER rocksdb/CURRENT; do
    copy
    rm "$work/copy/$file"
    run 4 salvage "$work/copy" "$work/new"
    prints_some "^$file: "
    same
    run 0 check "$work/copy" --repair
    prints_some "^$file: .*: rebuilt"
    prints_some '^found +1 damaged file, 1 repaired$'
    run 0 export "$work/copy" rows
    cmp -s "$work/out" "$work/all" || complain "$file: rows changed"
done
copy
rm "$work/copy"/rocksdb/MANIFEST-*
run 4 salvage "$work/copy" "$work/new"
prints_some '^rocksdb/MANIFEST-[0-9]+: it cannot be read to its end: .* rows may be missing, or old, in any family$'
same

# An existing file is not overwritten, and there is nothing to salvage.
run 1 salvage "$work" "$work/new"
says_some "it is not a store: it has no 'rocksdb', where rows would be$"
run 1 salvage "$work/nowhere" "$work/new"
says_some "there is no such store$"
[ ! -e "$work/new" ] || complain 'a store was created from nothing'
mkdir "$work/letters"
touch "$work/letters/a"
run 1 salvage "$store" "$work/letters"
says_some "it has files, but no 'COLANDER'$"
run 1 salvage "$store" "$store/new"
says_some "'$store/new' is in the store, where nothing is written$"
[ ! -e "$store/new" ] || complain 'a store was created in the store'
run 2 salvage "$store"
run 1 check "$work/nowhere" --repair
run 1 check "$work/letters" --repair
[ "$(ls -A "$work/letters")" = a ] || complain 'letters became a store'

finish
