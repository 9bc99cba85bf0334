#!/bin/bash
# A log whose end is missing, or that is damaged before it: what was not yet on
# disk when the machine failed is reported once. What was lost otherwise, or is
# followed by rows, is not ignored.
#
# SPDX-License-Identifier: MIT
source "$(dirname "$0")/lib"

# A store whose rows are only in its log: its writer is killed.
make_killed() { # STORE
    "$COLANDER" shell "$1" -e 'local f = db:family("f")
for i = 1, 3 do f:put(i, {x = i}) end
os.execute("kill -9 $PPID")' 2> /dev/null &
    wait $! || true
}

make_killed "$work/torn"
log=$(find "$work/torn/rocksdb" -name '*.log' -size +0 | sort | tail -n 1)
truncate -s -2 "$log"
for command in find shell; do
    run 4 $command "$work/torn" f
    says_some "^colander: $command: cannot open store '$work/torn': ${log##*/} is corrupt: it has [0-9]+ bytes of whole records, and [0-9]+ were written\$"
done
rm "$work/torn/LEDGER" # as a power failure may lose it
reported="colander: find: '$work/torn': dropped [0-9]+ bytes at the end of ${log##*/}: its last write is incomplete"
for _ in 1 2; do # reading a store changes nothing
    run 0 find "$work/torn" f
    prints '{"_key":1,"x":1}
{"_key":2,"x":2}'
    says_some "^$reported\$"
done
run 0 shell "$work/torn" -e 'print(db:family("f"):count())'
prints 2
says_some 'its last write is incomplete'
run 0 shell "$work/torn" -e 'print(db:family("f"):count())'
prints 2
says ''

# A report that could not be printed is left to the next open: here standard
# error is a pipe that is full.
make_killed "$work/unread"
log=$(find "$work/unread/rocksdb" -name '*.log' -size +0 | sort | tail -n 1)
printf 'torn' >> "$log"
mkfifo "$work/pipe"
exec 9<> "$work/pipe"
dd if=/dev/zero of="$work/pipe" bs=4096 oflag=nonblock status=none 2> /dev/null
"$COLANDER" shell "$work/unread" -e 'print(1)' > /dev/null 2>&9 &
sleep 1
kill -9 $!
wait $! 2> /dev/null
exec 9>&-
run 0 find "$work/unread" f --count
says_some "dropped 4 bytes at the end of ${log##*/}: its last write is incomplete\$"

# A script that opens a store prints the report, and can ask for it.
make_killed "$work/script"
log=$(find "$work/script/rocksdb" -name '*.log' -size +0 | sort | tail -n 1)
printf 'torn' >> "$log"
run 0 shell "$work/empty" -e "local db <close> = colander.open('$work/script')
local found = db:recovery()
print(found.dropped_size)
print(found.has_gap)
print(found.dropped_file == '${log##*/}')
print(found.message)"
prints "4
false
true
dropped 4 bytes at the end of ${log##*/}: its last write is incomplete"
says "colander: '$work/script': dropped 4 bytes at the end of ${log##*/}: its last write is incomplete"
run 0 shell "$work/script" -e 'print(db:recovery())'
prints nil
says ''

make_killed "$work/damaged"
log=$(find "$work/damaged/rocksdb" -name '*.log' -size +0 | sort | tail -n 1)
printf 'x' | dd of="$log" bs=1 seek=12 conv=notrunc status=none
run 4 find "$work/damaged" f
says "colander: find: cannot open store '$work/damaged': ${log##*/} is corrupt at byte 0, with valid records after it"
run 4 shell "$work/damaged" -e 'print(1)'

# A file system may leave a hole after what was written. It is not read.
for name in '*.log' 'MANIFEST-*'; do
    rm -rf "$work/long"
    make_killed "$work/long"
    file=$(find "$work/long/rocksdb" -name "$name" -size +0 | sort | tail -n 1)
    truncate -s +4T "$file"
    run 0 find "$work/long" f --count
    prints 3
    says_some "dropped 4398046511104 bytes at the end of ${file##*/}: "
    run 0 check "$work/long"
    run 0 shell "$work/long" -e 'print(db:family("f"):count())'
    prints 3
    says_some "dropped 4398046511104 bytes at the end of ${file##*/}: "
    run 0 check "$work/long"
    says ''
done
finish
