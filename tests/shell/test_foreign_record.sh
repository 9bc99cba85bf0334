#!/bin/bash
# COLANDER of another store is not taken for the store's own: RocksDB would
# delete the rows of a leveled store by the size limit of a FIFO store.
#
# SPDX-License-Identifier: MIT
source "$(dirname "$0")/lib"

# make STORE OPTIONS: creates a store of 30 large rows in three SST files.
make() {
    run 0 shell "$work/empty" -e "local db <close> = colander.open('$work/$1', $2)
local f = db:family('f')
for i = 1, 30 do
    local text = {}
    for j = 1, 20000 do text[j] = math.random(1 << 40) end
    f:put(i, {x = table.concat(text, ' ')})
    if i % 10 == 0 then f:flush() end
end"
}

rows() { # STORE
    run 0 find "$1" f --count
    cat "$work/out"
}

make leveled '{}'
make fifo '{compaction = "fifo", fifo_size = 1 << 20}'
[ "$(rows "$work/leveled")" = 30 ] || complain 'a leveled store loses rows'

# Put back a foreign record, in a store and in a backup of it.
run 0 backup "$work/leveled" "$work/backups"
cp -a "$work/leveled" "$work/swapped"
cp "$work/fifo/COLANDER" "$work/swapped"
cp "$work/fifo/COLANDER" "$work/backups/000001"
foreign="the record 'COLANDER' is of another store: it has the identity [0-9a-f-]{36}, and 'rocksdb/IDENTITY' has [0-9a-f-]{36}"
printf '{"_key":31}\n' > "$work/row"
for command in "find $work/swapped f" "load $work/swapped f $work/row" \
    "check $work/swapped" "backup $work/swapped $work/more" \
    "restore $work/swapped $work/new" "restore $work/backups $work/new"; do
    # shellcheck disable=SC2086
    run 4 $command
    says_some ": $foreign\$"
done
run 4 salvage "$work/swapped" "$work/salvaged"
prints_some "^COLANDER: $foreign: options are the defaults\$"
[ "$(rows "$work/salvaged")" = 30 ] || complain 'salvage loses rows'

# The record is rebuilt as one of the store.
run 0 check "$work/swapped" --repair
prints_some "^COLANDER: $foreign: rebuilt, with the default options\$"
run 0 load "$work/swapped" f "$work/row"
[ "$(rows "$work/swapped")" = 31 ] || complain 'a repaired store loses rows'
grep -qx "identity $(cat "$work/leveled/rocksdb/IDENTITY")" \
    "$work/swapped/COLANDER" || complain 'a repair writes another identity'

# Copies, backups and restored stores keep the identity, and the options.
rm -r "$work/backups"
run 0 backup "$work/fifo" "$work/backups"
run 0 restore "$work/backups" "$work/restored"
cp -r "$work/fifo" "$work/copied"
for store in "$work/backups/000001" "$work/restored" "$work/copied"; do
    run 0 check "$store"
    cmp -s "$work/fifo/COLANDER" "$store/COLANDER" ||
        complain "$store has another record"
    run 0 shell "$store" -e 'print(1)' # opens it for writing
    cmp -s "$work/fifo/COLANDER" "$store/COLANDER" ||
        complain "the record of $store has changed"
    cp "$work/leveled/COLANDER" "$store"
    run 4 find "$store" f
    says_some ": $foreign\$"
done

# An identity that is lost is rebuilt.
for lost in rm 'truncate -s 0'; do
    $lost "$work/leveled/rocksdb/IDENTITY"
    run 0 find "$work/leveled" f --count
    run 0 shell "$work/leveled" -e 'print(1)'
    grep -qx "identity $(cat "$work/leveled/rocksdb/IDENTITY")" \
        "$work/leveled/COLANDER" || complain "after $lost: another identity"
done

# A store of 0.1.0 has no identity in its record. A backup made by 0.1.0 has no
# IDENTITY either.
old_record() { # STORE
    {
        sed -e 's/^colander store 2$/colander store 1/' \
            -e '/^identity /d' -e '/^checksum /d' "$work/leveled/COLANDER"
        echo 'checksum 1c7497bc7f682eb3'
    } > "$work/record"
    cp "$work/record" "$1/COLANDER"
}
old_record "$work/leveled"
run 0 find "$work/leveled" f --count
run 0 backup "$work/leveled" "$work/old"
rm -f "$work/old/000001/rocksdb/IDENTITY"
run 0 restore "$work/old" "$work/young"
cmp -s "$work/record" "$work/young/COLANDER" || complain 'a restore has an identity'
for store in "$work/leveled" "$work/young"; do
    run 0 load "$store" f "$work/row"
    [ "$(rows "$store")" = 31 ] || complain 'an old store loses rows'
    grep -qx "identity $(cat "$store/rocksdb/IDENTITY")" "$store/COLANDER" ||
        complain 'an old store gets no identity'
done
finish
