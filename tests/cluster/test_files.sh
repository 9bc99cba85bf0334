#!/bin/bash
# Backups as objects in a directory: what is sent, what is removed, and what is
# found when objects are damaged.
#
# SPDX-License-Identifier: MIT
source "$(dirname "$0")/lib"

to="$work/a b+c/ü%"
address="file://$work/a%20b+c/ü%25"

sent() { # prints how many objects there are, and their bytes
    find "$to/files" -type f -printf '%s\n' |
        awk '{ size += $1 } END { print NR, size + 0 }'
}

load 1 1000
rows "$store" >"$work/first"
run 0 backup "$store" "$address"
prints_some '^backup +000001, [0-9]+ files of [0-9.]+ kB$'
prints_some '^copied +[0-9]+ files of [0-9.]+ kB$'
read -r count size < <(sent)
load 1001 3000
rows "$store" >"$work/second"
run 0 backup "$store" "$address"
prints_some '^backup +000002, '
prints_some '^copied .*, the others were there already$'

# What it says that it has sent is what there is more of.
said=$(sed -n 's/^copied *\([0-9]*\) .*/\1/p' "$work/out")
read -r more _ < <(sent)
[ $((more - count)) = "$said" ] ||
    complain "$((more - count)) objects are new, and it says $said"

# One without changes sends what every backup has of its own: the ledger.
read -r _ size < <(sent)
run 0 backup "$store" "$address"
read -r _ again < <(sent)
[ $((again - size)) -lt 70000 ] || complain "$((again - size)) bytes sent again"

run 0 backups "$address"
prints_some '^000001 +20[0-9-]+T[0-9:]+Z, [0-9]+ files of '
[ "$(wc -l <"$work/out")" = 3 ] || complain 'three backups are not listed'
run 0 check "$address"
prints_some '^checked +3 backups: [0-9]+ objects of '
prints_some '^found +nothing wrong$'
restores "$address" | cmp -s - "$work/second" || complain 'it has other rows'
run 0 check "$work/restored"
restores "$address" --number 1 | cmp -s - "$work/first" ||
    complain 'the first has other rows'
run 1 restore "$address" "$work/restored"
says_some "cannot restore to '$work/restored': there is a store already$"
run 1 restore "$address" "$work/other" --number 7
says_some "it has no backup 7, but 3 others, from 000001 to 000003$"
[ ! -e "$work/other" ] || complain 'a failed restore leaves a directory'

# ------------------------------------------------------------------ damage ---

# A flipped bit in any object, and one that is cut, longer or missing.
flip() { # FILE BYTE
    local byte
    byte=$(od -An -tu1 -j "$2" -N 1 "$1")
    printf "\\$(printf %03o $((byte ^ 1)))" |
        dd of="$1" bs=1 seek="$2" conv=notrunc status=none
}

one=file://$work/one
run 0 backup "$store" "$one"
for object in "$work"/one/files/*; do
    name=files/$(basename "$object")
    size=$(stat -c %s "$object")
    cp -p "$object" "$work/whole"
    damage() { # WHAT
        run 4 check "$one"
        prints_some "^$name: .*$1"
        prints_some '^found +1 damaged object$'
        refuses 4 "$one"
        says_some "'$name' .*$1"
        cp -p "$work/whole" "$object"
    }
    flip "$object" $((size * 2 / 3))
    damage 'do not have the hash'
    truncate -s -1 "$object"
    damage "has $((size - 1)) bytes, and had $size"
    printf x >>"$object"
    damage "has more than $size bytes"
    rm "$object"
    damage 'is missing'
done
run 0 check "$one"
list=$(echo "$work"/one/backups/*)
flip "$list" 20
run 4 check "$one"
prints_some '^backups/0+1-[0-9a-f]{16}: .*its checksum is wrong'
refuses 4 "$one"
says_some 'its checksum is wrong'
says_some 'no list there can be read$'
# A damaged list does not prevent the next backup, nor hide others, and can be
# left behind. As long as it is there, no one knows which objects it needs.
run 4 backup "$store" "$one" --keep 2
says_some 'backup 000002 was made, but .*is wrong; delete this object'
run 4 backups "$one"
prints_some "^000001 +20[0-9-]+T[0-9:]+Z, 'backups/0+1-[0-9a-f]{16}' is damaged: "
prints_some '^000002 +20[0-9-]+T[0-9:]+Z, [0-9]+ files of '
restores "$one" | cmp -s - "$work/second" || complain 'it has other rows'
run 4 restore "$one" "$work/other" --number 1
says_some 'the newest backup whose list can be read is 000002$'
run 0 backup "$store" "$one" --keep 1
run 0 check "$one"
restores "$one" | cmp -s - "$work/second" || complain 'it has other rows'

# A damaged store is not backed up.
cp -a "$store" "$work/bad"
sst=$(find "$work/bad" -name '*.sst' -size +8k | head -n 1)
printf 'XXXX' | dd of="$sst" bs=1 seek=5000 conv=notrunc status=none
run 4 backup "$work/bad" "file://$work/empty"
says_some "$(basename "$sst")"
[ -z "$(find "$work"/empty/{backups,making} -type f 2>/dev/null)" ] ||
    complain 'a damaged store has a backup'
run 1 restore "file://$work/empty" "$work/other"
says_some 'it has no backups$'
# So has an address with what others, or a killed first backup, have left.
mkdir -p "$work/left/backups"
for name in 000.part 00000000000000000001-0123456789abcdef.part-abcdef; do
    printf x >"$work/left/backups/$name"
    for number in '' '--number 1'; do
        run 1 restore "file://$work/left" "$work/other" $number
        says_some 'it has no backups$'
    done
    run 1 check "file://$work/left"
    run 0 backups "file://$work/left"
done

# ---------------------------------------------------------------- identity ---

# A restored store goes on at its address. Another store is refused there before
# it sends anything, and also if the newest list is damaged.
shared=file://$work/shared
cp -a "$store" "$work/kept"
run 0 backup "$store" "$shared"
restores "$shared" >"$work/got"
run 0 load "$work/restored" rows "$work/rows"
run 0 backup "$work/restored" "$shared"
run 0 backup "$work/kept" "$shared"
prints_some '^backup +000003, '
run 0 load "$work/another" rows "$work/rows"
printf bad >"$work/shared/backups/00000000000000000004-0123456789abcdef"
find "$work/shared" -type f >"$work/first-files"
run 1 backup "$work/another" "$shared" --keep 1
says_some 'the backups there are of another store, .*: choose an address for each store$'
mv "$work/kept/rocksdb/IDENTITY" "$work/identity"
run 4 backup "$work/kept" "$shared"
says_some "a command that writes to the store rebuilds it$"
find "$work/shared" -type f | cmp -s - "$work/first-files" ||
    complain 'a store that is refused changes what is there'
run 0 load "$work/kept" rows "$work/rows"
run 0 backup "$work/kept" "$shared"

# ----------------------------------------------------------------- removal ---

old() { # FILE...: makes them 25 hours old
    touch -d '25 hours ago' "$@"
}

# Objects that no backup has are removed when they are old, and others stay.
run 0 backup "$store" "$address" --keep 2
prints_some '^removed +2 older backups$'
unused=$to/files/00000000000000000000000000000000-1-0123456789abcdef
printf x >"$unused"
printf x >"$unused.part-abcdef"
printf x >"$to/files/notes"
old "$to"/files/*
printf x >"$to/files/11111111111111111111111111111111-1-0123456789abcdef"
mkdir -p "$to/making"
printf x >"$to/making/0123456789abcdef"
run 0 backup "$store" "$address" --keep 1
[ -e "$unused" ] || complain 'objects are removed under a backup in the making'
old "$to/making/0123456789abcdef"
run 0 backup "$store" "$address" --keep 1
[ ! -e "$unused" ] || complain 'an old object that no backup has stays'
[ ! -e "$unused.part-abcdef" ] || complain 'what a killed process left stays'
[ ! -e "$to/making/0123456789abcdef" ] || complain 'a dead maker stays'
[ -e "$to/files/notes" ] || complain 'a file of others is removed'
ls "$to"/files/1111* >/dev/null || complain 'a young object is removed'
run 0 check "$address"
restores "$address" | cmp -s - "$work/second" || complain 'it has other rows'

# What a killed backup has sent is used, unless it may be removed soon: then it
# is sent again, under another name.
rm "$to"/backups/*
touch -d '11 hours ago' "$to"/files/*
run 0 backup "$store" "$address"
prints_some '^copied +[0-9] files .* already$'
rm "$to"/backups/*
touch -d '13 hours ago' "$to"/files/*
read -r count _ < <(sent)
run 0 backup "$store" "$address"
files=$(sed -n 's/^copied *\([0-9]*\) files of [^,]*$/\1/p' "$work/out")
read -r more _ < <(sent)
[ -n "$files" ] && [ $((more - count)) = "$files" ] ||
    complain 'old objects are used'

# An object of the last backup is used however old it is; one that has gone is
# sent again.
old "$to"/files/*
run 0 backup "$store" "$address"
prints_some '^copied +[0-9] files .* already$'
rm "$to"/files/*-[0-9][0-9][0-9][0-9]-*
run 0 backup "$store" "$address"
restores "$address" | cmp -s - "$work/second" || complain 'it has other rows'

# ------------------------------------------------------------------- names ---

# What is damaged is named by its object, and not where it was for a moment.
mkdir "$work/temporary"
export TMPDIR=$work/temporary
export COLANDER_CACHE_SIZE=0
rm -rf "$one" "$work/one"
run 0 backup "$store" "$one"
named=0
for object in "$work"/one/files/*; do
    cp -p "$object" "$work/whole"
    [ "$(stat -c %s "$object")" -gt 100 ] || continue
    flip "$object" $(($(stat -c %s "$object") - 1))
    "$COLANDER" find "$one" rows >"$work/out" 2>"$work/err"
    grep -q "$TMPDIR" "$work/err" && complain "an error is: $(cat "$work/err")"
    grep -q "its footer.* is damaged: in $one/files/$(basename "$object")" \
        "$work/err" && named=$((named + 1))
    cp -p "$work/whole" "$object"
done
[ "$named" -gt 0 ] || complain 'no SST was damaged'
run 1 shell "$one" -e 'db:family("other"):put(1, {})'
says_some "'$one'"
unset TMPDIR COLANDER_CACHE_SIZE

# ----------------------------------------------------------------- signals ---

# ended SIGNAL STATUS WORD...: the command, once it has printed a line, is ended
# by the signal, and leaves nothing.
mkfifo "$work/given"
ended() {
    local signal=$1 wanted=$2 status=0
    shift 2
    : >"$work/out"
    TMPDIR=$work/temporary "$COLANDER" "$@" <>"$work/given" >"$work/out" \
        2>"$work/err" &
    until [ -s "$work/out" ] || ! kill -0 $!; do
        sleep 0.02
    done
    kill -"$signal" $!
    wait $! || status=$?
    [ "$status" = "$wanted" ] ||
        complain "'$*' exits $status at $signal: $(cat "$work/err")"
    [ -z "$(ls -A "$work/temporary")" ] || complain "'$*' leaves a directory"
}
ending='print(1) io.stdout:flush()'
for signal in 'INT 130' 'TERM 143' 'HUP 129'; do
    # shellcheck disable=SC2086
    ended $signal shell "$address" -e "$ending while true do end"
done
# A read that waits ends, too.
ended TERM 143 shell "$address" -e "$ending io.read()"
if "$COLANDER" serve --help >/dev/null 2>&1; then
    ended TERM 0 serve "$address" --read-only
    ended HUP 0 serve "$address" --read-only
fi

# ------------------------------------------------------------------ errors ---

run 1 backup "$store" ftp://host/path
says_some "'ftp://host/path': it is neither file:///PATH nor s3://BUCKET/PREFIX$"
run 1 backup "$store" file://relative
run 1 backups "$work"
says_some "'$work' is neither file:///PATH nor s3://BUCKET/PREFIX: backups in a directory are listed by ls$"
run 1 backup "$store" 'file:///a%2'
says_some "'%' must be written '%25'$"
run 1 backup "$store" s3://bucket
says_some 'there are no credentials: set AWS_ACCESS_KEY_ID and '
run 1 backup "$store" s3://x/y
says_some 'there must be the name of a bucket'
run 2 backup "$store" "$address" --keep 0
run 2 check "$address" --repair
run 1 check "file://$work/nothing"
says_some 'it has no backups$'

finish
