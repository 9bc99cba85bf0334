#!/bin/bash
# What keeps a store (check, refilter, backup) prints the same and does the
# same, whether the store is closed, held by a server, or behind an address; and
# what clients of an address may not do.
#
# SPDX-License-Identifier: MIT
source "$(dirname "$0")/lib"
has_server || finish
cd "$work" || exit 1
export COLANDER_TOKEN_FILE=$work/token
printf '%s\n' 0123456789abcdef0123456789abcdef >token
chmod 600 token

seq 1 3000 | sed 's/.*/{"_key":&,"n":&,"text":"row &"}/' >rows
run 0 load closed rows rows
run 0 load closed others rows

cat >commands <<'END'
check
check --repair
check --bogus
backup copies
backup copies
backup
backup copies --keep 0
backup copies --keep many
put rows {"_key":4000,"text":"new"}
check
backup copies
END
! has_filters || cat >>commands <<'END'
refilter rows --unfiltered text
refilter rows --off
refilter rows --on --fp-rate 0.1
refilter rows --words nothing
refilter rows --fp-rate x
refilter rows --rows-per-segment 3
refilter nothing
refilter
check
END
echo salvage new >>commands

# collect NAME STORE: what each command prints, in a directory of its own. Sizes
# depend on what is flushed when.
collect() {
    local status words

    cd "$1.d" || exit 1
    while read -r -a words; do
        status=0
        echo "$ ${words[*]}"
        "$COLANDER" "${words[0]}" "$2" "${words[@]:1}" >out 2>err || status=$?
        sed -E -e "s|$2|STORE|g" -e 's/[0-9][0-9,.]*/N/g' -e 's/ [kM]?B/ B/g' \
            -e 's/ (bytes|B)\b/ bytes/g' -e 's/(file|filter|row|value)s\b/\1/g' \
            -e "s|$PWD|HERE|g" out
        echo 'says:'
        sed -E -e "s|$2|STORE|g" -e "s|$PWD|HERE|g" err
        echo "status $status"
    done <../commands >"../$1.said"
    cd .. || exit 1
    rm -rf "$1.d/new"
}

# An empty name is none, and not the directory of the client.
run 4 backup closed ''
says_some "cannot create ''"
mkdir closed.d held.d addressed.d
cp -a closed held
cp -a closed addressed
collect closed ../closed
serve held
collect held ../held
stop
cd addressed.d || exit 1
serve ../addressed --listen 127.0.0.1:0 --token-file "$work/token" \
    --backup-to copies --backup-max 4
cd .. || exit 1
collect addressed "$url"
[ "$(grep -c '^status' closed.said)" = "$(wc -l <commands)" ] ||
    complain 'a command is missing'
# only a store that no one has open is salvaged
sed -n '/^\$ salvage/,$p' held.said >salvage
grep -q 'STORE. is open in another process: salvage is for stores that cannot be opened' \
    salvage || complain "salvage: $(cat salvage)"
sed -i '/^\$ salvage/,$d' closed.said
for name in held addressed; do
    sed -n '/^\$ salvage/,$p' $name.said | diff salvage - >differences ||
        complain "$name: $(cat differences)"
    sed -i '/^\$ salvage/,$d' $name.said
    diff closed.said $name.said >differences ||
        complain "$name, against a store that is closed: $(head -30 differences)"
    [ "$(ls $name.d/copies)" = $'000001\n000002\n000003\nBACKUPS' ] ||
        complain "$name has other backups: $(ls $name.d/copies)"
    run 0 find $name.d/copies/000003 rows text:new --count
    prints 1
    run 0 check $name.d/copies/000002
done

# What clients of an address may not do: choose a place, remove backups, make
# any number of them, take any amount of memory.
cd addressed.d || exit 1
run 1 backup "$url" other
says 'colander: backup: backups for clients of an address go where the server was told by --backup-to: copies'
run 1 backup "$url" copies --keep 1
says 'colander: backup: only clients of the socket remove backups'
run 0 backup "$url" copies
run 1 backup "$url" copies
says 'colander: backup: the server was told by --backup-max to have no more than 4 backups there: remove old ones'
curl -s -H "Authorization: Bearer $(cat ../token)" -X POST "$url/backup" >out
grep -q '"message":"the server was told by --backup-max' out ||
    complain "a request makes a backup: $(cat out)"
[ "$(ls copies)" = $'000001\n000002\n000003\n000004\nBACKUPS' ] ||
    complain "backups: $(ls copies)"
rm -r copies/000001
run 0 backup "$url" copies
if has_filters; then
    run 2 refilter "$url" rows --memory-budget 2g
    says 'colander: refilter: --memory-budget: in a server the filters of a family take at most 1g'
fi
run 0 backup ../addressed "$PWD/copies" --keep 1 # the user of the server
[ "$(ls copies)" = $'000006\nBACKUPS' ] || complain "backups: $(ls copies)"
curl -s --unix-socket ../addressed/SOCKET http://x/command \
    -d 'word=backup&word=x&word=relative' | tr '\000' '.' >out
grep -q "'relative' is neither an absolute path nor an address" out ||
    complain "a relative place: $(cat out)"
cd .. || exit 1
stop

# A server that only reads makes backups and checks, and repairs nothing.
serve addressed --read-only --listen 127.0.0.1:0 --token-file token
for store in addressed "$url"; do
    run 0 check "$store"
    run 1 check "$store" --repair
    says 'colander: check: the server has opened the store to read'
    ! has_filters || run 1 refilter "$store" rows
done
run 1 backup "$url" copies
says 'colander: backup: backups for clients of an address go where the server was told by --backup-to: nowhere'
run 0 backup addressed read
stop

# Damage is found, with the same words.
sst=$(find closed/rocksdb -name '*.sst' -printf '%s %p\n' | sort -n | tail -1)
sst=${sst#* }
dd if=/dev/zero of="$sst" bs=1 seek=$(($(stat -c %s "$sst") / 2)) count=64 \
    conv=notrunc status=none
run 4 check closed
sed 's/[0-9][0-9,.]*/N/g' out >wanted
serve closed --read-only --listen 127.0.0.1:0 --token-file token
for store in closed "$url"; do
    run 4 check "$store"
    sed 's/[0-9][0-9,.]*/N/g' out | diff wanted - >differences ||
        complain "$store: $(cat differences)"
done
run 4 backup closed damaged
stop
finish
