#!/bin/bash
# A command that writes prints the same, exits with the same status and leaves
# the same rows, whether the store is closed, held by a server, or behind an
# address.
#
# SPDX-License-Identifier: MIT
source "$(dirname "$0")/lib"
has_server || finish
cd "$work" || exit 1

mkdir files
cd files || exit 1
printf '%s\n' '{"id":1,"n":"a"}' '{"id":2,"n":"b"}' bad '{"id":3,"n":' \
    '{"n":"no key"}' '{"n":"none"}' '{"id":4}' >a.jsonl
printf 'id,name,at\n1,Ann,2026-01-02\n02,Bob,2026-01-03\n7,"C\nD",x\n' >b.csv
printf 'id,name\n8,Eve\n9,"Fay\n' >unclosed.csv
printf '[{"id":10,"x":[1,2,{"y":null}]},{"id":11}]' >c.json
printf '[{"id":12},{"id":13]' >broken.json
gzip -k a.jsonl
zstd -qk b.csv
head -c 60 a.jsonl.gz >cut.jsonl.gz
: >empty
printf 'hello\n' >strange
for i in {1..9000}; do
    echo "{\"id\":$i,\"text\":\"the text number $i, of some length\",\"m\":$((i % 7))}"
done >many.jsonl
# more than is asked for at once, and cut in the middle of a record
head -c 300000 many.jsonl >part.jsonl
head -2000 many.jsonl | sed 's/,"m":3/,,/' >holes.jsonl
printf 'return { key = { "id" }, columns = { at = "time" } }\n' >good.lua
printf 'return { keys = 1 }\n' >bad.lua
printf '{"id":%d,"at":"2026-01-%02dT10:00:00Z"}\n' 1 1 2 1 3 2 4 9 >days.jsonl
mkdir directory
cd .. || exit 1

cat >commands <<'END'
load f a.jsonl --key id
load f a.jsonl --key id
load f a.jsonl.gz --key id --on-duplicate keep
load f a.jsonl --key id --on-duplicate error
load f a.jsonl --key id --on-duplicate patch --add seen=1
load f b.csv c.json a.jsonl --key id
load g b.csv.zst --key id --type at=time
load g unclosed.csv --key id
load g b.csv --schema ./good.lua
load g b.csv --schema ./bad.lua
load g b.csv --schema ./none.lua
load g b.csv --schema nothing
load g b.csv --schema directory/
load h --key id <files/a.jsonl
load h - --key id <files/b.csv
cat files/many.jsonl | load pipe --key id
load h cut.jsonl.gz --key id
load h broken.json --key id
load h broken.json --key id --resume
load h empty
load new empty
load new strange
load new none.jsonl
load new a.jsonl none.jsonl
load new directory
load new a.jsonl --key nothing
load new b.csv --key nme
load new a.jsonl --rejects rejects --max-errors 100
load new a.jsonl --rejects a.jsonl
load new a.jsonl --rejects none/rejects
load new a.jsonl holes.jsonl --rejects rejects --max-errors 3 --key id
load new a.jsonl holes.jsonl --rejects rejects --key id --resume --max-errors 9999
load many part.jsonl --key id
load many part.jsonl --key id --resume
load many many.jsonl --key id --bulk
load bulk many.jsonl --key id --bulk
load bulk many.jsonl --key id --sync
load hash many.jsonl a.jsonl --key :hash
load hash many.jsonl a.jsonl --key :hash
load hash b.csv --key :hash,id
load other b.csv --delimiter ';' --no-guess
load other b.csv --null Ann --add-file-name file --key id
load other b.csv --on-duplicate never
load other b.csv --type at
load other a.jsonl --record-size 10
load other a.jsonl --format xml
load other a.jsonl --follow-me
load
load ''
put f '{"_key":"p1","a":[1,2]}' '{"_key":"p2"}'
put f '{"id":"p3"}' --key id
put f '{"id":}' --key id
put f '{"x":1}' --key id
put f
update f n=a --set n=z --set 'm.k=5'
update f n=z --unset m --dry-run
update f n=z --set n
update f n=z
update none n=z --set n=1
update f --set n=1
update f --key 4 --set at=2026-01-01T00:00:00Z
delete f id=1 --dry-run
delete f id=1
delete f id=1
delete f 'id>'
delete f idd=1
delete f
delete f --key p1
delete pipe m=3 --limit 100
delete pipe --where 'm == 2 and id < 100'
delete pipe m=4 --order id:desc --limit 3
delete none --all
copy f copied
copy f copied
copy none x
rename copied renamed
rename copied renamed
drop renamed --yes
drop renamed --yes
drop renamed
load 'days/{day}' days.jsonl
load 'days/{day}' days.jsonl --partition at:day --key id
load 'days/{day}' days.jsonl --partition at:day --key id --resume
find 'days/*' --since 2026-01-02
find 'days/{day}' --count
find 'none/*'
group 'days/*' --by 'bucket(at,1d)' --count
update 'days/*' 'id>1' --set n=1 --until 2026-01-05
delete 'days/*' id=2
retain 'days/*' --keep 7d --dry-run
retain 'days/*' --keep 7d
retain 'days/*'
find 'days/*'
families g --time at
families g --time nothing[
families none --time at
END

# What takes time is printed, and sizes.
# shellcheck disable=SC2317
usual() { # STORE
    sed -E -e "s|$1|STORE|g" -e 's/[0-9.]+ MB in [0-9.]+ s \([^)]*\)/SPEED/' \
        -e 's/the process [0-9]+/the process N/'
}

# collect NAME STORE: what each command prints, its status, and the files and
# rows that are there in the end.
collect() {
    local line words status input

    mkdir "$1.d"
    cp -r files "$1.d/files"
    cd "$1.d/files" || exit 1
    while IFS= read -r line; do
        printf '$ %s\n' "$line"
        input=/dev/null
        case $line in
        *'<files/'*) input=${line##*<files/} line=${line%%<*} ;;
        esac
        eval "words=(${line#cat files/many.jsonl |})"
        status=0
        case $line in
        'cat '*)
            cat many.jsonl | COLUMNS=70 "$COLANDER" "${words[0]}" "$2" \
                "${words[@]:1}" >../out 2>../err || status=$?
            ;;
        *)
            COLUMNS=70 "$COLANDER" "${words[0]}" "$2" "${words[@]:1}" \
                >../out 2>../err <"$input" || status=$?
            ;;
        esac
        usual "$2" <../out
        printf 'says:\n'
        usual "$2" <../err
        printf 'status %s\n' "$status"
    done <../../commands >"../../$1"
    cksum -- * 2>/dev/null | sort >>"../../$1"
    cd "$work" || exit 1
}

# show NAME STORE: the rows, without generated keys.
show() {
    for family in bulk f g h hash many new other pipe; do
        echo "family $family"
        "$COLANDER" export "$2" "$family" 2>&1 |
            sed -E 's/"_key":"01[0-9A-HJKMNP-TV-Z]{24}"/"_key":"KEY"/' | cksum
    done >>"$1"
}

"$COLANDER" put closed '' 2>/dev/null
run 0 put closed first '{"_key":1}'
cp -r closed held
cp -r closed addressed
collect 1 "$work/closed"
show 1 closed
serve held --lua
collect 2 "$work/held"
show 2 held
stop
serve addressed --listen 127.0.0.1:0 --token-file token --lua
export COLANDER_TOKEN_FILE=$work/token
collect 3 "$url"
show 3 "$url"
[ "$(grep -c '^status' 1)" = "$(wc -l <commands)" ] ||
    complain 'a command is missing'
for name in 2 3; do
    diff 1 $name >differences ||
        complain "$name, against a store that is closed: $(head -30 differences)"
done

# What a server does not do.
run 2 load "$url" f files/a.jsonl --follow
says 'colander: load: only a file of this machine can be followed, by the process that has the store open'
stop

# A server that only reads.
serve held --read-only --listen 127.0.0.1:0 --token-file token
for command in 'load f files/a.jsonl' "put f {}" 'delete f id=1' \
    'update f id=1 --set a=1' 'drop f --yes' 'families f --time at'; do
    eval "words=($command)"
    for store in held "$url"; do
        run 1 "${words[0]}" "$store" "${words[@]:1}"
        says "colander: ${words[0]}: the server has opened the store to read"
    done
done
run 0 delete "$url" f n=z --dry-run
stop
finish
