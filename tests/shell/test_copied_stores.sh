#!/bin/bash
# Copies of a store: those that share its files by hard links, those that are
# made while it is written, those with a file of a store that was the same once,
# and those that cannot be written.
#
# SPDX-License-Identifier: MIT
source "$(dirname "$0")/lib"

# put STORE FROM TO TEXT: writes rows, and closes the store.
put() {
    run 0 shell "$1" -e "local f = db:family('f')
for i = $2, $3 do f:put(i, {text = '$4' .. i}) end"
}

# rows STORE COUNT
rows() {
    run 0 shell "$1" -e 'print(db:family("f"):find():count())'
    prints "$2"
    says ''
    run 0 check "$1"
}

put "$work/store" 1 1000 old

# Neither store changes a file of the other.
cp -al "$work/store" "$work/linked"
put "$work/linked" 2001 2100 linked
rows "$work/store" 1000
put "$work/store" 3001 3010 own
rows "$work/linked" 1100
rows "$work/store" 1010

# An SST of the same size, and a filter and a LEDGER, of a copy that has lived
# on. The error names the file.
for copy in one other; do
    cp -a "$work/store" "$work/$copy"
done
put "$work/one" 4001 4100 abcd
put "$work/other" 4001 4100 abdc
sst=$(cd "$work/one" && find rocksdb -name '*.sst' | sort | tail -n 1)
[ "$(stat -c %s "$work/one/$sst")" = "$(stat -c %s "$work/other/$sst")" ] ||
    complain 'the SST files have different sizes'
if has_filters; then
    cp -a "$work/one" "$work/mixed"
    cp "$work/other/filters/"* "$work/mixed/filters/"
    run 0 find "$work/mixed" f --any abcd4050 --count
    prints 1
    rm -r "$work/mixed"
fi
for file in $sst LEDGER; do
    cp -a "$work/one" "$work/mixed"
    cp "$work/other/$file" "$work/mixed/$file"
    run 4 find "$work/mixed" f --count
    says_some "${file##*/}"
    rm -r "$work/mixed"
done

# Each copy of a store that is written has all rows up to one, or is refused.
"$COLANDER" shell "$work/written" -e 'local f = db:family("f")
for i = 1, 1e9 do
    f:put(i, {text = ("x"):rep(i % 400)})
    if i % 997 == 0 then f:flush() end
    if i % 5003 == 0 then f:compact() end
end' 2> /dev/null &
while [ ! -e "$work/written/COLANDER" ]; do sleep 0.1; done
for _ in 1 2 3 4 5; do
    rm -rf "$work/copied"
    cp -a "$work/written" "$work/copied" 2> /dev/null # some are deleted
    status=0
    "$COLANDER" shell "$work/copied" -e 'local count, last = 0, 0
for key in db:family("f"):find() do count, last = count + 1, key end
assert(count == last, count .. " rows up to " .. last)' \
        > "$work/out" 2> "$work/err" || status=$?
    [ "$status" = 0 ] || [ "$status" = 4 ] ||
        complain "a copy: $status, $(cat "$work/err")"
done
kill -9 $!
wait $! 2> /dev/null

# A file system for reading only, if that can be had.
"$COLANDER" shell "$work/killed" -e 'local f = db:family("f")
for i = 1, 3 do f:put(i, {x = i}) end
os.execute("kill -9 $PPID")' 2> /dev/null &
wait $! || true
mkdir "$work/mounted"
if unshare -rm sh -c 'mount --bind "$1" "$2" && mount -o remount,bind,ro "$2" &&
    ! touch "$2/new"' sh "$work/killed" "$work/mounted" 2> /dev/null; then
    program=$COLANDER
    on_mounted() {
        unshare -rm sh -c 'mount --bind "$1" "$2" && mount -o remount,bind,ro "$2" &&
            shift 2 && exec "$@"' sh "$work/killed" "$work/mounted" "$program" "$@"
    }
    COLANDER=on_mounted
    run 0 find "$work/mounted" f --count
    prints 3
    run 0 check "$work/mounted"
    run 0 backup "$work/mounted" "$work/backups"
    run 0 salvage "$work/mounted" "$work/salvaged"
    run 4 shell "$work/mounted" -e 'print(1)'
    says "colander: shell: cannot open store '$work/mounted': cannot open 'LOCK': Read-only file system"
    COLANDER=$program
    rows "$work/salvaged" 3
fi
finish
