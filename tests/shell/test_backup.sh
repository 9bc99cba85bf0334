#!/bin/bash
# Backups of a store, how they are restored, and what is rejected.
#
# SPDX-License-Identifier: MIT
source "$(dirname "$0")/lib"

store=$work/store
backups=$work/backups

# load FIRST LAST: loads rows with these numbers.
load() {
    seq "$1" "$2" | sed 's/.*/{"_key":&,"n":&,"text":"row &"}/' > "$work/rows"
    run 0 load "$store" rows "$work/rows"
}

# rows STORE: prints the number of rows.
rows() {
    run 0 find "$1" rows --count
    cat "$work/out"
}

load 1 1000
run 0 backup "$store" "$backups"
prints_some '^backup +000001, [0-9]+ files of [0-9.]+ k?[Bb]'
prints_some '^copied +[0-9]+ files of '
load 1001 3000
run 0 backup "$store" "$backups"
prints_some '^backup +000002, '
prints_some '^copied .*, the others are shared with the previous backup$'

# Each of them is a store.
[ "$(rows "$backups/000001")" = 1000 ] || complain 'the first has other rows'
[ "$(rows "$backups/000002")" = 3000 ] || complain 'the second has other rows'
run 0 check "$backups/000002"
prints_some '^found +nothing wrong$'
run 0 export "$store" rows
cp "$work/out" "$work/all"

run 0 restore "$backups" "$work/newest"
prints_some '^restored +backup 000002, [0-9]+ files of '
run 0 export "$work/newest" rows
cmp -s "$work/out" "$work/all" || complain 'a restored store has other rows'
run 0 restore "$backups" "$work/first" --number 1
[ "$(rows "$work/first")" = 1000 ] || complain 'the first was not restored'
run 0 restore "$backups/000002" "$work/second"
[ "$(rows "$work/second")" = 3000 ] || complain 'the second was not restored'

run 0 backup "$store" "$backups" --keep 1
prints_some '^removed +2 older backups$'
[ "$(ls "$backups")" = $'000003\nBACKUPS' ] || complain "$(ls "$backups") stay"

# Errors, which leave everything unchanged.
run 1 restore "$backups" "$work/newest"
says "colander: restore: cannot restore to '$work/newest': there is a store already"
run 1 restore "$backups" "$work/other" --number 1
says_some "it has no backup 1, but 1 others?, from 000003 to 000003$"
run 1 restore "$work/nowhere" "$work/other"
says_some "cannot restore from '$work/nowhere': there is no such directory$"
mkdir "$work/letters"
touch "$work/letters/a"
run 1 backup "$store" "$work/letters"
says_some "it is not a directory of backups: it has files, but no 'BACKUPS'$"
run 1 backup "$work/nowhere" "$backups"
run 2 backup "$store" "$backups" --keep 0
run 2 backup "$store" "$backups" --keep many
run 2 backup "$store"
run 2 restore "$backups" "$work/other" --number 0

if ! has_cluster; then
    run 1 backup "$store" "file://$work/objects"
    says_some 'it is an address, and not a directory: only the program takes '
    run 1 restore s3://bucket/prefix "$work/other"
    says_some 'it is an address, and not a directory: '
    run 2 backups s3://bucket/prefix
fi

sst=$(find "$backups/000003" -name '*.sst' -size +8k | head -n 1)
printf 'XXXX' | dd of="$sst" bs=1 seek=5000 conv=notrunc status=none
run 4 restore "$backups" "$work/other"
says_some "$(basename "$sst")"
[ -z "$(ls -A "$work/other")" ] || complain 'a damaged backup leaves files'
sst=$(find "$store" -name '*.sst' -size +8k | head -n 1)
printf 'XXXX' | dd of="$sst" bs=1 seek=5000 conv=notrunc status=none
rm -r "$backups/000003"
run 4 backup "$store" "$backups"
says_some "$(basename "$sst")"
[ "$(ls "$backups")" = BACKUPS ] || complain 'a damaged store has a backup'

finish
