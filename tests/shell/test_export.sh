#!/bin/bash
# Exports: every format, of whole families and by conditions; files that are
# complete or absent; memory that does not grow with the family.
#
# SPDX-License-Identifier: MIT
source "$(dirname "$0")/lib"
reader=$(cd "$(dirname "$0")" && pwd)/msgpack_rows.lua
make_demo
demo=$work/demo

# An export writes what a find shows in that format.
for format in jsonl json csv msgpack; do
    for words in tweets 'tweets user=Smith' 'tweets --any Houston' \
        'tweets likes>=990 --select user,likes' 'tweets --limit 0' \
        'sensors --prefix sensor-7' 'sensors --key ["sensor-7",1600000000]' \
        'tweets --from t000100 --to t000110' 'tweets --key nobody'; do
        read -r -a given <<<"$words"
        run 0 export "$demo" "${given[@]}" --format $format
        says ''
        cp "$work/out" "$work/exported"
        case "$words" in *--any*) continue ;; esac # a find adds _matched
        run 0 find "$demo" "${given[@]}" --format $format
        cmp "$work/out" "$work/exported" ||
            complain "an export of '$words' differs from a find in $format"
    done
done
run 0 export "$demo" tweets --any Houston --select user
grep -q _matched "$work/out" && complain 'an export shows which columns matched'
run 0 export "$demo" tweets --where 'likes > 990 and lang == "pl"' --format csv
cp "$work/out" "$work/exported"
run 0 find "$demo" tweets --where 'likes > 990 and lang == "pl"' --format csv
cmp "$work/out" "$work/exported" || complain "'$last' finds other rows"
run 0 export "$demo" tweets --limit 1 --select user
prints '{"_key":"t000000","user":"Yilmaz1"}'

# Whatever the shell's output format, an export is for programs.
printf '.mode table\n.export tweets user=Smith --limit 1 --select user\n' |
    "$COLANDER" shell "$demo" >"$work/out" || complain 'no export in the shell'
last='.export'
prints '{"_key":"t008443","user":"Smith"}'

# Keys and values of every type, read by another msgpack implementation.
"$COLANDER" shell "$work/odd" -e 'local rows = db:family("rows")
rows:put("text", {a = 1, b = -200, c = 1.5, d = "ż\n", e = true, f = colander.null})
rows:put(colander.timestamp(1600000000, 5), {t = colander.timestamp(-1, 999999999)})
rows:put(colander.binary("\0\xff"), {b = colander.binary(("\0"):rep(300))})
rows:put({"list", 5.5, colander.timestamp(7)}, {list = {1, {x = {}}, colander.array {}}})
rows:put(colander.unsigned("18446744073709551615"), {u = colander.unsigned("9223372036854775808")})
rows:put(true, {e = colander.extension(5, "abc"), [""] = 0, ["a.b"] = {["_key"] = 1}})
rows:put(-70000, {})
local wide = {}
for i = 1, 100 do wide["column" .. i] = i * 1000003 end
rows:put({"wide", 1}, wide)
db:family("empty"):create()' || complain 'no store with odd rows'
limit=$(enough 3000)
for place in 'odd rows 8' 'odd empty 0' "demo tweets $limit" \
    "demo sensors $limit"; do
    read -r -a words <<<"$place"
    run 0 export "$work/${words[0]}" "${words[1]}" --format msgpack \
        --limit "$limit" --output "$work/rows.msgpack"
    run 0 shell "$work/${words[0]}" --readonly "$reader" "${words[1]}" \
        "$work/rows.msgpack" "$limit"
    prints "${words[2]}"
done
run 0 find "$work/odd" rows --any 5.5 --format msgpack
prints ''
run 0 find "$work/odd" rows --any 1.5 --select c --format msgpack
[ "$(od -An -tx1 "$work/out" | tr -d ' \n')" = \
    83a45f6b6579a474657874a163cb3ff8000000000000a85f6d61746368656491a163 ] ||
    complain 'the msgpack of a find lacks the column that matched'
run 0 export "$work/odd" rows --key '"text"' --select a,c --format csv
prints '_key,a,c
text,1,1.5'

# An empty result is exported, too.
run 0 export "$work/odd" empty
prints ''
run 0 export "$work/odd" empty --format json
prints '[]'
run 0 export "$work/odd" empty --format csv
prints '_key'
run 0 export "$work/odd" empty --format msgpack
prints ''
run 1 export "$work/odd" none --output "$work/none"
says "colander: export: no family 'none' in '$work/odd': its families are 'empty', 'rows'"
[ ! -e "$work/none" ] || complain 'an export of no family leaves a file'

# Mistakes
for format in table line; do
    run 2 export "$demo" tweets --format $format
    says "colander: export: '$format' is for people: an export is jsonl, json, csv, tsv or msgpack"
done
run 2 export "$demo" tweets --format xml
run 2 export "$demo" tweets user
run 2 export "$demo" tweets --count
run 2 export "$demo"
if command -v script >/dev/null; then
    script -qec "'$COLANDER' export '$demo' tweets --format msgpack" /dev/null \
        >"$work/out" </dev/null
    [ $? = 2 ] || complain 'msgpack on a terminal does not exit 2'
    last='msgpack on a terminal'
    prints_some 'msgpack is not for a terminal: export it with --output FILE'
    [ "$(wc -l <"$work/out")" = 1 ] || complain "$last is written"
fi

# A file is complete, or unchanged.
leftovers() { # NAME...: the directory has exactly these
    [ "$(ls -A "$work/files" | xargs)" = "$*" ] ||
        complain "'$last' leaves '$(ls -A "$work/files" | xargs)', not '$*'"
}

mkdir "$work/files"
run 0 export "$demo" tweets user=Smith --output "$work/files/rows"
prints ''
says_some '^exported 15 rows, [0-9.]+ (kB|bytes) in [0-9.]+ s$'
leftovers rows
[ "$(wc -l <"$work/files/rows")" = 15 ] || complain 'the file lacks rows'
chmod 640 "$work/files/rows"
ln -s rows "$work/files/link"
run 0 export "$demo" tweets user=Smith --limit 1 --output "$work/files/link"
says_some '^exported 1 row, [0-9.]+ bytes in [0-9.]+ s$'
leftovers link rows
[ -L "$work/files/link" ] && [ "$(wc -l <"$work/files/rows")" = 1 ] &&
    [ "$(stat -c %a "$work/files/rows")" = 640 ] ||
    complain 'a file is not replaced where it is'
run 2 export "$demo" tweets --where 'likes + {}' --output "$work/files/rows"
leftovers link rows
[ "$(wc -l <"$work/files/rows")" = 1 ] || complain 'a failure replaces a file'
run 4 export "$demo" tweets --output "$work/nowhere/rows"
says "colander: export: cannot write '$work/nowhere/rows': No such file or directory"
run 4 export "$demo" tweets --output "$work/files"
leftovers link rows
for words in '--format jsonl' '--format csv' '--format json' \
    '--format msgpack'; do
    # shellcheck disable=SC2086
    run 4 export "$demo" tweets $words --output /dev/full
    says 'colander: export: cannot write output: No space left on device'
    # shellcheck disable=SC2086
    "$COLANDER" export "$demo" tweets $words >/dev/full 2>"$work/err"
    [ $? = 4 ] || complain "an export with $words into a full disk does not exit 4"
    says 'colander: export: cannot write output: No space left on device'
    # shellcheck disable=SC2086
    "$COLANDER" export "$demo" tweets $words 2>"$work/err" | head -c 100 \
        >"$work/out"
    [ "${PIPESTATUS[0]}" = 141 ] ||
        complain "an export with $words into a closed pipe does not exit 141"
    says ''
done
(
    ulimit -f 2000 # kB
    trap '' XFSZ
    "$COLANDER" export "$demo" tweets --output "$work/files/rows" 2>"$work/err"
)
[ $? = 4 ] || complain 'a file that is too large does not exit 4'
last='an export that is too large'
leftovers link rows
[ "$(wc -l <"$work/files/rows")" = 1 ] || complain "$last replaces the file"

# Ctrl-C leaves no file under the name, and no end of the output.
"$COLANDER" shell "$work/odd" -e 'local slow = db:family("slow")
for i = 1, 2000 do slow:put(i, {n = i}) end'
for format in jsonl csv msgpack; do
    "$COLANDER" export "$work/odd" slow --format $format \
        --where '#string.rep("x", 20000000) > 0' \
        --output "$work/files/stopped" 2>"$work/err" &
    until ls "$work/files" | grep -q part || ! kill -0 $! 2>/dev/null; do
        sleep 0.05
    done
    kill -INT $!
    wait $!
    [ $? = 130 ] || complain "an interrupted export in $format does not exit 130"
    last="an interrupted export in $format"
    says 'colander: export: interrupted'
    leftovers link rows
done
mkfifo "$work/fifo"
"$COLANDER" export "$demo" tweets --format json >"$work/fifo" 2>"$work/err" &
exec 3<"$work/fifo"
read -r -u 3 _
kill -INT $!
cat <&3 >"$work/rest"
wait $!
[ $? = 130 ] || complain 'an interrupted export does not exit 130'
exec 3<&-
[ "$(tail -n 1 "$work/rest")" != ']' ] || complain 'half an array has an end'

# A pipe with the name is written to, and not replaced.
"$COLANDER" export "$demo" tweets --output "$work/fifo" 2>/dev/null &
[ "$(wc -l <"$work/fifo")" = 100000 ] || complain 'a named pipe gets no rows'
wait $!
[ -p "$work/fifo" ] || complain 'a named pipe is replaced'

# Memory does not grow with the size of the output.
peak() { # BYTES WORD...: kB in use after writing BYTES
    local size=$1
    shift
    last=$*
    "$COLANDER" "$@" >"$work/fifo" &
    exec 3<"$work/fifo"
    head -c "$size" <&3 >/dev/null # it is blocked in the middle of writing
    grep VmHWM "/proc/$!/status" | tr -dc 0-9
    cat <&3 >/dev/null
    exec 3<&-
    wait $! || complain "'$last' fails"
}

if [ "${COLANDER_SANITIZED:-0}" = 0 ]; then
    early=$(peak 500000 export "$demo" tweets)
    for format in jsonl csv msgpack; do
        late=$(peak 15500000 export "$demo" tweets --format $format)
        [ "$late" -lt $((early + 9000)) ] ||
            complain "$format takes $early kB of memory at first and $late later"
    done
fi
finish
