#!/bin/bash
# A load that shares its store: other commands use it meanwhile. One that shares
# nothing does not load by another process either.
#
# SPDX-License-Identifier: MIT
source "$(dirname "$0")/lib"
has_server || finish
cd "$work" || exit 1

client=
end_client() { # STATUS
    local status=0

    wait "$client" || status=$?
    client=
    [ "$status" = "$1" ] || complain "a load exits $status: $(cat load.err)"
}
trap '[ -z "$client" ] || kill -9 "$client"; rm -rf "$work"
      [ "$failures" = 0 ] || exit 1' EXIT

# A find before the load has the store would have it, and the load fail.
await_rows() { # COUNT
    until [ -S data/SOCKET ] &&
        [ "$("$COLANDER" find data rows --count 2>err)" = "$1" ]; do
        kill -0 "$client" || {
            complain "a load ends early: $(cat load.err)"
            finish
        }
        sleep 0.05
    done
}

run 0 put data first '{"_key":1}'
mkfifo fifo
"$COLANDER" load data rows fifo --key id --share >load.out 2>load.err &
client=$!
exec 3>fifo
printf '{"id":%s}\n' 1 2 3 >&3
await_rows 3
run 0 find data rows id=2
prints '{"_key":2,"id":2}'
run 0 put data first '{"_key":2}'
while read -r -a words; do
    run 1 "${words[@]}" --no-share
    says_some 'the store is held by process'
    prints ''
done <<'END'
load data rows fifo
put data first {"_key":3}
find data rows id=2
export data rows
families data
delete data rows --all --yes
check data
shell data -e 1
END
run 0 find data rows --count
prints 3
run 1 shell data --no-share -e 1
run 0 check data # in the process that loads
run 1 serve data
says_some 'the store is held by process'
printf '{"id":%s}\n' 5 6 >&3
await_rows 5
exec 3>&-
end_client 0
[ ! -e data/SOCKET ] || complain 'a load leaves its socket'
run 0 find data rows --count
prints 5
run 0 find data first --count
prints 2

# What that would mean for an address, or together with --share.
run 2 find http://127.0.0.1:1 rows --no-share
says "colander: find: --no-share is for the directory of a store, and 'http://127.0.0.1:1' is the address of a server"
run 2 shell http://127.0.0.1:1 --no-share -e 1
run 2 check http://127.0.0.1:1 --no-share
run 2 load data rows fifo --share --no-share
says 'colander: load: --share and --no-share exclude each other'

# All have it that would run in another process, and only these.
for command in find group get export put delete update retain drop rename \
    copy families columns stats load refilter check backup shell; do
    run 0 "$command" --help
    prints_some '^  --no-share '
done
for command in serve salvage demo completion; do
    run 0 "$command" --help
    ! grep -q no-share out || complain "'$command' has --no-share"
    run 2 "$command" data --no-share
done

# Without --share no one else gets in.
"$COLANDER" load data rows fifo --key id --no-share >load.out 2>load.err &
client=$!
exec 3>fifo
printf '{"id":7}\n' >&3
until [ -e data/rocksdb/LOCK ] && ! "$COLANDER" find data rows >out 2>err; do
    sleep 0.05
done
last='a find beside a load'
says_some 'the store is held by process'
[ ! -e data/SOCKET ] || complain 'a load that shares nothing has a socket'
exec 3>&-
end_client 0

# A load that follows can share, too. SIGTERM ends it.
echo '{"id":8}' >lines.jsonl
"$COLANDER" load data rows lines.jsonl --key id --follow --share >load.out \
    2>load.err &
client=$!
await_rows 7
echo '{"id":9}' >>lines.jsonl
await_rows 8

# A load of the same file that resumes waits for it.
"$COLANDER" load data rows lines.jsonl --key id --resume >out.later 2>&1 &
later=$!
echo '{"id":10}' >>lines.jsonl
await_rows 9
sleep 1 # in which it would end
kill -0 "$later" || complain "a load does not wait: $(cat out.later)"
kill "$client"
end_client 0
wait "$later"
run 0 find data rows --count
prints 9

# A family that the load created stays if others have filled it.
echo bad >bad.jsonl
"$COLANDER" load data vain fifo --format jsonl --share >load.out 2>load.err &
client=$!
exec 3>fifo
until "$COLANDER" put data vain '{"_key":1}' 2>err; do
    sleep 0.05
done
cat bad.jsonl >&3
exec 3>&-
end_client 3
run 0 get data vain 1
finish
