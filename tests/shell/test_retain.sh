#!/bin/bash
# retain deletes the rows that have become old and says how many, sets and shows
# policies, and is paused in a restored store.
#
# SPDX-License-Identifier: MIT
source "$(dirname "$0")/lib"
cd "$work" || exit 1

# 50 days of 20 rows, the last of them days ago, and one row without a time.
for ((day = 0; day < 50; day++)); do
    for ((i = 0; i < 20; i++)); do
        printf '{"_key":%d,"at":"%s","level":"%s"}\n' $((day * 20 + i)) \
            "$(((1600000000 + day * 86400)))" \
            "$( ((i % 2)) && echo debug || echo info)"
    done
done >logs.jsonl
echo '{"_key":"x","at":"yesterday"}' >untimed.jsonl

make_store() {
    rm -rf s
    run 0 load s logs logs.jsonl --type at=time:unix
    run 0 load s logs untimed.jsonl
    run 0 families s logs --time at
}

count() { # WANTED
    run 0 find s logs --count
    prints "$1"
}

newest='; the newest is of 2020-11-01T12:26:40Z'
kept="1 row without a time in 'at' kept"
make_store

# ---- the words ----------------------------------------------------------------

run 0 retain s logs
prints 'state    no retention'
run 0 retain s
says 'colander: retain: no family has a retention: set one with --keep'
run 1 retain s logs --once
says "colander: retain: family 'logs' has no retention: set one with --keep"
run 0 retain s logs --keep 10d --dry-run
says "780 rows would be deleted$newest
1 row without a time in 'at' would stay"
run 0 retain s logs --keep 10d --where level=debug --keep 36h --dry-run
says_some '^870 rows would be deleted'
run 0 retain s logs --where level=debug --where 'at<2020-10-01' --keep 36h --dry-run
says_some '^180 rows would be deleted'
run 0 retain s logs --max-bytes 5k --dry-run
says_some '^[0-9]* rows would be deleted'
count 1001
run 0 retain s logs
prints 'state    no retention'
run 0 retain s logs --keep 45d --once
says "80 rows deleted$newest
$kept"
run 0 retain s logs
prints 'state    no retention'
run 0 retain s logs --keep 40d --where level=debug --where 'at<2020-11-01' --keep 36h --max-bytes 50G
says "490 rows deleted$newest
$kept
retention set: 'colander retain STORE' applies it again"
count 431
run 0 retain s logs
prints "keep     1d12h, where level=debug at<2020-11-01
keep     40d
bytes    53.7 GB at most
state    in force: 'colander retain STORE' applies it"

# ---- what was meant -----------------------------------------------------------

run 0 retain s logs --keep 40d --where level=debug --keep 36h --dry-run
says_some '^keep 1d12h, where level=debug: 20 rows$'
says_some '^keep 40d: 411 rows$'
run 0 retain s logs --once --dry-run
says_some '^keep 1d12h, where level=debug at<2020-11-01: 10 rows$'
refuses() { # TEXT CONDITION
    run 2 retain s logs --keep 1d --where "$2" --keep 9999d
    says_some "$1"
    run 2 retain s logs --keep 1d --where "$2" --keep 9999d --yes
    run 2 retain s logs --keep 1d --where "$2" --keep 9999d --dry-run
    count 431
}
refuses "one condition: 'or' must be a word beside it [(]a text with 'or' in it needs" \
    'level:debug or level:info'
refuses "this is one condition: 'and' must" 'level=debug and at<2020'
refuses "'NOT' must be a word beside it" 'NOT level:debug'
refuses 'expected a condition, not an option$' -i
for lua in 'level == "debug"' 'at~="x" and level ~= "debug"' 'level=="debug" or at'; do
    refuses 'as of find, such as verified=true, not one in Lua$' "$lua"
done
for text in 'level="debug or level:x"' 'level=~debug or x' 'le\ or\ vel=debug' or; do
    "$COLANDER" retain s logs --keep 40d --where level=debug --where "$text" \
        --where level=debug --keep 9999d --dry-run >out 2>err ||
        grep -q 'patterns were not built' err ||
        complain "'--where $text' is refused: $(cat err)"
done

# A column that no row has: those that it should keep would go.
doubt="no row has 'levl': did you mean 'level'?"
run 2 retain s logs --keep 1d --where levl=debug --keep 9999d
says "$doubt
colander: retain: no row deleted, and no retention set: --yes takes such conditions"
count 431
run 0 retain s logs
prints_some '^keep     40d$'
run 0 retain s logs --keep 40d --where levl=debug --keep 9999d --dry-run
says_some "^no row has 'levl': did you mean 'level'[?]$"
says_some '^keep 9999d, where levl=debug: 0 rows$'
says_some '^keep 40d: 431 rows$'
run 0 retain s logs --keep 40d --where levl=debug --keep 9999d --once --yes
says_some "^no row has 'levl': did you mean 'level'[?]$"
says_some '^0 rows deleted'

# So below a not, beside an or, and in a rule that no row meets while others go
# sooner.
refuses_unmet() { # LINE CONDITION...
    local line=$1 word words=()
    shift
    for word; do words+=(--where "$word"); done
    run 2 retain s logs --keep 1d "${words[@]}" --keep 9999d
    says_some "^$line"
    count 431
    run 0 retain s logs --keep 1d "${words[@]}" --keep 9999d --dry-run
    says_some "^$line"
}
refuses_unmet "no row has 'levl': did you mean 'level'[?]$" not levl=debug
refuses_unmet "no row has 'levl': did you mean 'level'[?]$" 'levl!'
refuses_unmet "no row has 'levl': did you mean 'level'[?]$" level=debug or levl=x
refuses_unmet "no row meets 'level=debgu'$" level=debgu
refuses_unmet "no row meets 'level=debgu' and what follows" level=debgu 'level?'
run 0 retain s logs --keep 40d --where level=debgu --keep 1d --once # sooner

# So for the time column, which may be set before its rows come.
run 0 put s typo '{"_key":1,"created_at":"x"}'
run 0 families s typo --time creatd_at
says "no row has 'creatd_at': did you mean 'created_at'?"
for dry in '' --dry-run; do
    run 0 retain s typo --keep 1d $dry
    says_some "^no row has 'creatd_at': did you mean 'created_at'[?]$"
done
run 0 families s typo --time created_at
says ''
run 0 drop s typo

# ---- applied again ---------------------------------------------------------------

run 0 put s other '{"_key":1}'
run 0 load s logs logs.jsonl --type at=time:unix
run 0 retain s --dry-run
says "logs: 570 rows would be deleted$newest" # all are known to be small enough
count 1001
run 0 retain s
says "logs: 570 rows deleted$newest"
count 431
run 0 retain s logs --once --yes
says_some "^0 rows deleted"
run 0 retain s logs --keep 40d
run 0 retain s
says "logs: 0 rows deleted$newest" # rows that stay are not counted again
run 0 rename s logs renamed
run 0 retain s renamed
prints_some '^keep     40d$'
run 0 copy s renamed logs
run 0 retain s logs
prints 'state    no retention'
run 0 drop s logs --dry-run
says "family 'logs' of about 431 rows would be dropped"
run 0 drop s logs
says "family 'logs' of about 431 rows dropped"
run 0 rename s renamed logs

# A row of the future does not make the others old.
run 0 put s logs '{"_key":"future"}'
run 0 update s logs --key future --set at=@2099-01-01
run 0 retain s logs --once --dry-run
says_some 'deleted; the newest is of 2099-01-01T00:00:00Z, in the future: ages count from now$'
run 0 delete s logs --key future

# ---- copies ----------------------------------------------------------------------

run 0 backup s backups
for copy in restored salvaged; do
    case $copy in
    restored) run 0 restore backups $copy ;;
    salvaged) run 0 salvage s $copy ;;
    esac
    rows=$("$COLANDER" find $copy logs --count)
    run 1 retain $copy
    says "colander: retain: the retention of family 'logs' is paused, as this is a restored or salvaged store: set it again, or remove it with --off"
    run 1 retain $copy --dry-run
    run 1 retain $copy logs --once
    run 0 retain $copy logs
    prints 'keep     40d
state    paused until it is set again: this is a restored or salvaged store'
    run 0 retain $copy logs --keep 20d
    says_some '^[1-9][0-9]* rows deleted'
    [ "$("$COLANDER" find $copy logs --count)" -lt "$rows" ] ||
        complain "nothing was deleted in $copy"
    run 0 retain $copy
    run 0 retain $copy logs --off
    run 0 retain $copy
    says 'colander: retain: no family has a retention: set one with --keep'
done
run 0 retain s logs
prints_some '^state    in force'
run 0 families s logs --time level
run 1 retain s
says_some 'is paused, as the family had another time column'
run 0 families s logs --time at
run 0 retain s

# ---- what is refused ---------------------------------------------------------------

run 1 retain nostore
run 1 retain s nothing --keep 1d
says_some "no family 'nothing'"
run 2 retain s other --keep 1d
says "colander: retain: family 'other' has no time column, by which rows are old: set one with 'colander families STORE other --time COLUMN'"
run 2 retain s --keep 1d
says 'colander: retain: FAMILY is missing'
run 2 retain s --off
run 2 retain s --once
run 2 retain s logs --off --keep 1d
says 'colander: retain: --off excludes other options'
run 2 retain s logs --yes
run 2 retain s logs --keep 1d --keep 2d
says 'colander: retain: --keep is there twice without a --where before it'
run 2 retain s logs --keep 1d --where level=debug
says_some ' --where needs a --keep after it'
run 2 retain s logs --keep 30
says "colander: retain: --keep: expected a duration such as 30d or 12h, not '30'"
run 2 retain s logs --keep 0d
run 2 retain s logs --where level --keep 1d
says_some "'level' is a column"
run 2 retain s logs --where 'a=[' --keep 1d
tail -1 err | grep -qx '       ^' || complain "no caret: $(cat err)"
run 2 retain s logs --where 'at<@now-1d' --keep 1d
says_some '@now cannot be used here'
run 0 retain s logs --where 'x=ann@nowhere' --where 'y="@nowadays"' --keep 1d --dry-run
run 2 retain s logs --max-bytes 5x
run 1 retain s logs --max-bytes 5
says "colander: retain: family 'logs': the rows without a time in 'at' have 17 bytes, more than the 5 that may be kept"
run 1 retain s logs --max-bytes 50
says_some 'the rows of the newest time alone have [0-9]* bytes'
run 0 retain s logs
prints_some '^keep     40d$'
count 431

# In the shell the store stays open; a store that is open elsewhere refuses.
printf '.retain logs\n.retain logs --keep 9d\n.retain\n' | "$COLANDER" shell s >out 2>err ||
    complain "$(cat err)"
last=.retain
prints_some '^keep     40d$'
says_some '^[1-9][0-9]* rows deleted'
says_some '^logs: 0 rows deleted'
echo '.retain logs --keep 1d' | "$COLANDER" shell s --readonly >out 2>err &&
    complain 'a store that is open for reading was changed'
says_some 'open for reading only'
"$COLANDER" shell s --readonly -e 'os.execute(os.getenv("COLANDER") .. " retain s logs >out 2>err")' >shell.out
last='retain s logs'
prints_some '^state    in force'
"$COLANDER" shell s -e 'os.execute(os.getenv("COLANDER") .. " retain s logs >out 2>err")' >shell.out
last='retain s logs'
says_some 'the store is held by process [0-9]* \(colander\)'

# ---- those that hold a store for long ------------------------------------------------

# holds COMMAND...: it deletes the old rows when it starts, and ends by SIGTERM.
holds() {
    local holder status=0

    make_store
    run 0 retain s logs --keep 10d
    run 0 load s logs logs.jsonl --type at=time:unix
    count 1001
    : >held.err
    "$COLANDER" "$@" >held.out 2>held.err </dev/null &
    holder=$!
    until grep -q 'logs: 780 rows deleted' held.err; do
        if ! kill -0 $holder 2>/dev/null; then
            complain "'$*' ends: $(cat held.err)"
            return
        fi
        sleep 0.05
    done
    kill $holder
    wait $holder || status=$?
    [ $status = 0 ] || complain "'$*' exits $status: $(cat held.err)"
    count 221
}

touch new.jsonl
holds load s new new.jsonl --follow
if has_server; then
    holds serve s
    run 0 retain s logs --keep 9d
    run 0 load s logs logs.jsonl --type at=time:unix
    : >held.out
    "$COLANDER" serve s --read-only >held.out 2>held.err </dev/null &
    until [ -s held.out ]; do
        kill -0 $! 2>/dev/null || break
        sleep 0.05
    done
    kill $!
    wait $!
    count 1001
    run 0 restore backups old
    : >held.err
    "$COLANDER" serve old >held.out 2>held.err </dev/null &
    until grep -q 'is paused' held.err; do
        kill -0 $! 2>/dev/null || break
        sleep 0.05
    done
    kill $!
    wait $!
    last='serve old'
    cp held.err err
    says "colander: serve: the retention of family 'logs' is paused, as this is a restored or salvaged store: set it again, or remove it with --off"
fi
finish
