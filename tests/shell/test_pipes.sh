#!/bin/bash
# Commands from a pipe, and output into one that closes or a disk that is full.
#
# SPDX-License-Identifier: MIT
source "$(dirname "$0")/lib"
make_demo
demo=$work/demo

pipe() { # STATUS TEXT ARG...: the program reads TEXT and exits so
    local wanted=$1 text=$2 status=0
    shift 2
    last="$text"
    printf '%s' "$text" | "$COLANDER" "$@" >"$work/out" 2>"$work/err" ||
        status=$?
    [ "$status" = "$wanted" ] ||
        complain "'$last' exits $status, not $wanted: $(cat "$work/err")"
}

pipe 0 "# a comment

find tweets user=Smith --count
  find tweets 'user=\"Smith\"' --count
find tweets \"user=Smith\" --count" shell "$demo" --readonly
[ "$(sort -u "$work/out" | wc -l)" = 1 ] || complain 'quotes are not as in sh'
[ "$(wc -l <"$work/out")" = 3 ] || complain 'a line was not run'
says ''

pipe 0 'quit
bogus' shell "$demo"
pipe 0 'help' "$demo"
prints_some '^  find '
pipe 1 'families --format line

find tweets user
families' shell "$demo"
says "colander: line 3: find: expected =, !=, <, <=, >, >=, ~, ? or ! after the column
    user
        ^"
[ "$(grep -c '^_key = tweets' "$work/out")" = 1 ] ||
    complain 'a line behind the failed one was run'
pipe 1 'bogus' shell "$demo"
says "colander: line 1: no command 'bogus'; there is help"
pipe 1 'find tweets "user' shell "$demo"
says 'colander: line 1: a quote is not closed'
pipe 1 'get tweets nobody' shell "$demo"
says "colander: line 1: get: no row 'nobody' in 'tweets'"
pipe 1 'demo x' shell "$demo"
says 'colander: line 1: demo: not within the shell'

"$COLANDER" find "$demo" tweets 2>"$work/err" | head -n 1 >"$work/out"
[ "${PIPESTATUS[0]}" = 141 ] || complain 'a closed pipe is no 141'
last='find into a closed pipe'
says ''
prints_some '^{"_key":"t000000"'
"$COLANDER" find "$demo" tweets >/dev/full 2>"$work/err"
[ $? = 4 ] || complain 'a full disk is no 4'
last='find into a full disk'
says_some 'cannot write output: No space left on device'
"$COLANDER" find "$demo" tweets --count >/dev/full 2>"$work/err"
[ $? = 4 ] || complain 'a count into a full disk is no 4'

# Ctrl-C while the output waits for its reader.
mkfifo "$work/fifo"
"$COLANDER" find "$demo" tweets >"$work/fifo" 2>"$work/err" &
exec 3<"$work/fifo"
read -r -u 3 row
kill -INT $!
rest=$(wc -l <&3)
wait $!
[ $? = 130 ] || complain 'an interrupted find is no 130'
[ "$rest" -lt 99999 ] || complain 'an interrupted find goes on to its end'
last='an interrupted find'
says_some '^colander: find: interrupted$'
exec 3<&-

# Damage in a store is told apart from other failures.
first=$(find "$demo" -name '*.sst' -size +1000k | sort | head -n 1)
printf 'damage' | dd of="$first" bs=1 seek=600000 conv=notrunc status=none
total=0
for family in tweets sensors; do
    "$COLANDER" find "$demo" $family >/dev/null 2>"$work/err"
    total=$((total + $?))
done
[ $total = 4 ] || complain "damage exits $total, not 4: $(cat "$work/err")"
finish
