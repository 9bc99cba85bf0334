#!/bin/bash
# Pipes, devices and directories in place of files of a store: no command waits
# for one or reads it. Each fails and names it, or does without it.
#
# SPDX-License-Identifier: MIT
source "$(dirname "$0")/lib"

command_ends='timeout -s KILL 60' # one that waits would wait for ever

# replace FILE KIND: FILE of a new copy of the store becomes something else.
replace() {
    rm -rf "$work/copy" "$work/new"
    cp -a "$work/store" "$work/copy"
    rm -f "$work/copy/$1"
    case $2 in
    pipe) mkfifo "$work/copy/$1" ;;
    device) ln -s /dev/zero "$work/copy/$1" ;;
    directory) mkdir "$work/copy/$1" ;;
    esac
}

# ends WANTED FILE COMMAND...: the command works or fails, as wanted. If it does
# not work, it names the file and what is wrong with it.
ends() {
    local wanted=$1 file=$2 status=0
    shift 2
    $command_ends "$COLANDER" "$@" > "$work/out" 2> "$work/err" < /dev/null ||
        status=$?
    case $wanted:$status in
    works:0 | any:0) ;;
    fails:4 | any:4)
        grep -Eq "${file##*/}'? is not a regular file|^$file: |'${file##*/}': Is a directory" \
            "$work/out" "$work/err" ||
            complain "$file, $kind: '$*' says '$(cat "$work/err" "$work/out")'"
        ;;
    *) complain "$file, $kind: '$*' exits $status: $(cat "$work/err")" ;;
    esac
}

seq 1 2000 | sed 's/.*/{"_key":&,"n":&}/' > "$work/rows"
run 0 load "$work/store" rows "$work/rows"
"$COLANDER" shell "$work/store" -e 'db:family("rows"):put(0, {n = 0})
os.execute("kill -9 $PPID")' 2> /dev/null & # leaves a row in a log
wait $! || true
in_store() {
    (cd "$work/store" && find "$@" | sort | head -n 1)
}

for kind in pipe device directory; do
    for file in COLANDER LEDGER LOCK DROPPED rocksdb/CURRENT rocksdb/IDENTITY \
        "$(in_store rocksdb -name 'MANIFEST-*')" rocksdb/099999.log \
        "$(in_store rocksdb -name '*.log' -size +0)" \
        "$(in_store rocksdb -name '*.sst')"; do
        replace "$file" $kind
        ends fails "$file" find "$work/copy" rows
        ends fails "$file" load "$work/copy" rows "$work/rows"
        ends any "$file" salvage "$work/copy" "$work/new"
        ends any "$file" check "$work/copy" --repair
    done
    for file in LEDGER rocksdb/CURRENT "$(in_store rocksdb -name '*.sst')"; do
        replace "$file" $kind
        ends fails "$file" backup "$work/copy" "$work/new"
        [ $kind = directory ] && [ "$file" != LEDGER ] ||
            ends fails "$file" restore "$work/copy" "$work/restored"
    done
    replace rocksdb/LOCK $kind
    ends works rocksdb/LOCK find "$work/copy" rows
    ends fails rocksdb/LOCK load "$work/copy" rows "$work/rows"
    for file in rocksdb/LOG rocksdb/OPTIONS-000007; do
        replace $file $kind
        ends works $file load "$work/copy" rows "$work/rows"
    done
    if has_filters; then
        file=$(in_store filters -name '*.filter')
        replace "$file" $kind
        ends works "$file" find "$work/copy" rows --any 7
        ends any "$file" check "$work/copy"
        ends any "$file" check "$work/copy" --repair
    fi
done
[ "$(stat -L -c %a /dev/zero)" = 666 ] || complain 'a device became private'

# A link to a file is as good as the file.
for file in COLANDER LEDGER rocksdb/CURRENT "$(in_store rocksdb -name '*.sst')"; do
    replace "$file" link
    cp "$work/store/$file" "$work/elsewhere"
    ln -s "$work/elsewhere" "$work/copy/$file"
    ends works "$file" find "$work/copy" rows
    ends works "$file" load "$work/copy" rows "$work/rows"
    ends works "$file" check "$work/copy"
done

# The mark of a directory of backups.
run 0 backup "$work/store" "$work/backups"
file=BACKUPS
kind=pipe
rm "$work/backups/BACKUPS"
mkfifo "$work/backups/BACKUPS"
ends fails BACKUPS backup "$work/store" "$work/backups"
ends fails BACKUPS restore "$work/backups" "$work/restored"
finish
