#!/bin/bash
# Commands from a pipe, and output to a closed pipe or a full disk.
#
# SPDX-License-Identifier: MIT
source "$(dirname "$0")/lib"
make_demo
demo=$work/demo

pipe() { # STATUS TEXT ARG...: the program reads TEXT and exits with STATUS
    local wanted=$1 text=$2 status=0
    shift 2
    last="$text"
    printf '%s' "$text" | "$COLANDER" "$@" >"$work/out" 2>"$work/err" ||
        status=$?
    [ "$status" = "$wanted" ] ||
        complain "'$last' exits $status, not $wanted: $(cat "$work/err")"
}

pipe 0 '-- a comment

tweets:count{user = "Smith"}
  .find tweets user=Smith --count
.find tweets '"'"'user="Smith"'"'"' --count
print(tweets:count{user =
  "Smith"})' shell "$demo" --readonly
[ "$(sort -u "$work/out" | wc -l)" = 1 ] || complain 'equal entries differ'
[ "$(wc -l <"$work/out")" = 4 ] || complain 'an entry was not run'
says ''

pipe 0 '.quit
bogus()' shell "$demo"
pipe 0 '.help' "$demo"
prints_some '^  .find '
pipe 2 '.families --format line

.find tweets user
.families' shell "$demo"
says "colander: line 3: find: 'user' is a column: write 'user?' for rows that have it, or '\"user\"' for the words
    user
    ^"
[ "$(grep -c '^_key = tweets' "$work/out")" = 1 ] ||
    complain 'an entry after the failed one was run'
pipe 2 '.bogus' shell "$demo"
says "colander: line 1: no command '.bogus' (try .help)"
for quote in '"' "'"; do
    pipe 2 ".find tweets ${quote}user" shell "$demo"
    says 'colander: line 1: a quote is not closed'
done
for line in '.\' '.find tweets \' '.find tweets "user\' '.find tweets x\\\'; do
    [ "$line" = '.\' ] && continue # that is Lua
    pipe 2 "$line
.families" shell "$demo"
    says "colander: line 1: nothing follows the last '\\' (a dot command \
is one line)"
done
while read -r words; do # as sh reads them
    pipe 1 ".get tweets $words" shell "$demo"
    says "colander: line 1: get: no row '$(sh -c "printf %s $words")' in family 'tweets'"
done <<'END'
"\$a\b\`\\\""
\$a\b\"\'\ \\x
'\$a\"'"'"'b\\'
x""'y z'"' "w
END
pipe 0 ".find tweets 'user=a\\\\' --count" shell "$demo"
prints 0
pipe 1 '.get tweets nobody' shell "$demo"
says "colander: line 1: get: no row 'nobody' in family 'tweets'"
pipe 2 '.demo x' shell "$demo"
says 'colander: line 1: demo: not available in the shell (run '\''colander demo'\'')'
pipe 1 'x = 1

x = x +
  nothing
x' shell "$demo"
says "colander: line 3: stdin:1: attempt to perform arithmetic on a nil value \
(global 'nothing')"
pipe 1 'for i = 1, 2 do' shell "$demo"
says 'colander: line 1: the chunk that begins here has no end'
pipe 1 'find tweets lang=pl' shell "$demo"
says "colander: line 1: stdin:1: syntax error near 'tweets'
commands begin with a dot: .find"
pipe 2 '.help bogus' shell "$demo"
says "colander: line 1: help: no command 'bogus' (try .help)"

"$COLANDER" find "$demo" tweets 2>"$work/err" | head -n 1 >"$work/out"
[ "${PIPESTATUS[0]}" = 141 ] || complain 'a closed pipe does not exit 141'
last='find into a closed pipe'
says ''
prints_some '^{"_key":"t000000"'
"$COLANDER" find "$demo" tweets >/dev/full 2>"$work/err"
[ $? = 4 ] || complain 'a full disk does not exit 4'
last='find into a full disk'
says_some 'cannot write output: No space left on device'
"$COLANDER" find "$demo" tweets --count >/dev/full 2>"$work/err"
[ $? = 4 ] || complain 'a count into a full disk does not exit 4'

# A script does not notice that its output is not read, but ends all the same.
for code in 'while true do print(1) end' 'while true do io.write("1\n") end'; do
    "$COLANDER" shell "$demo" --readonly -e "$code" 2>"$work/err" |
        head -n 1 >"$work/out"
    [ "${PIPESTATUS[0]}" = 141 ] || complain "'$code' into a closed pipe does not exit 141"
    last=$code
    says ''
done
"$COLANDER" shell "$demo" --readonly -e 'print(1)' >/dev/full 2>"$work/err"
[ $? = 4 ] || complain 'a print into a full disk does not exit 4'
says_some '^colander: (shell: )?cannot write output'
"$COLANDER" shell "$demo" --safe -e 'print(1)' >/dev/full 2>"$work/err"
[ $? = 4 ] || complain 'a safe print into a full disk does not exit 4'
last='a safe print into a full disk'
says 'colander: shell: cannot write output: No space left on device'
run 0 shell "$demo" --readonly -e '
local w = coroutine.wrap(function() error("first", 0) end)
local _, first = pcall(w)
local _, second = pcall(w)
local co = coroutine.create(function()
    local x <close> = setmetatable({}, {__close = function() error("closed", 0) end})
    coroutine.yield()
end)
coroutine.resume(co)
return first, second, coroutine.close(co)'
prints "$(printf 'first\tcannot resume dead coroutine\tfalse\tclosed')"
printf 'print(1)\rprint(2)\r\nprint(3)\r\n' |
    "$COLANDER" shell "$demo" --readonly >"$work/out"
last='lines with carriage returns'
prints "$(printf '1\n2\n3')"
printf '#!/bin/sh\n1 + 1' | "$COLANDER" shell "$demo" --readonly >"$work/out"
prints 2

# Ctrl-C while the output is blocked.
mkfifo "$work/fifo"
"$COLANDER" find "$demo" tweets >"$work/fifo" 2>"$work/err" &
exec 3<"$work/fifo"
read -r -u 3 row
kill -INT $!
rest=$(wc -l <&3)
wait $!
[ $? = 130 ] || complain 'an interrupted find does not exit 130'
[ "$rest" -lt 99999 ] || complain 'an interrupted find continues to its end'
last='an interrupted find'
says_some '^colander: find: interrupted$'
exec 3<&-

# .load is load without STORE, with the same options and exit status.
loads() { # STATUS TEXT ARG...: prints a summary, with any time
    pipe "$@"
    sed -i -E 's/, [0-9.]+ MB in .*MB\/s\)//' "$work/err"
}
printf '{"_key":"a","x":1}\n\n{"x":[2,{"y":null}]}\n{"x":}\n{"x":3}\n' \
    >"$work/rows.jsonl"
loads 3 ".load things '$work/rows.jsonl'
bogus()" shell "$work/new"
says "colander: line 1: load: $work/rows.jsonl:4:6: no value begins here
3 rows loaded; 1 rejected"
pipe 0 'things:count(), things:get("a").x' shell "$work/new"
prints "$(printf '3\t1')"
loads 0 ".load things '$work/rows.jsonl' --key x --max-errors 2
things:count()" shell "$work/new"
prints 5
says_some '^2 rows loaded; 2 rejected$'
loads 1 '.load things nothing' shell "$work/new"
says_some '^colander: line 1: load: nothing: cannot open: No such file or dir'
loads 1 ".load things '$work/rows.jsonl'" shell "$work/new" --readonly
says_some 'is open for reading only'
pipe 2 '.load things' shell "$work/new"
says 'colander: line 1: load: FILE is missing'
pipe 2 ".load things '$work/rows.jsonl' --bogus" shell "$work/new"
says_some '^colander: line 1: load: .*--bogus'

# A shell that reads allows other readers; one that writes is exclusive.
for word in --readonly ''; do
    mkfifo "$work/commands"
    "$COLANDER" shell "$demo" $word <"$work/commands" >"$work/shell" 2>&1 &
    exec 3>"$work/commands"
    echo 'print(tweets:count{user = "Nobody"}) io.stdout:flush()' >&3
    until [ -s "$work/shell" ] || ! kill -0 $! 2>/dev/null; do
        sleep 0.05
    done
    if [ "$word" = --readonly ]; then
        run 0 find "$demo" tweets user=Nobody --count
        prints 0
        run 0 demo "$demo"
    else
        run 1 find "$demo" tweets user=Nobody --count
        says_some "is held by process $!"
    fi
    exec 3>&-
    wait $! || complain "a shell during a find: $(cat "$work/shell")"
    rm "$work/commands" "$work/shell"
done

# If its descriptors are closed, output does not end up in files of a store.
last='a demo with closed descriptors'
"$COLANDER" demo "$work/closed" <&- >&- 2>&- || complain "$last fails"
echo .families | "$COLANDER" shell "$work/closed" >&- 2>&- ||
    complain 'a shell with closed descriptors fails'
grep -rq 'demo store' "$work/closed" && complain "$last prints into its store"
run 0 find "$work/closed" tweets --count
prints 100000

# Damage to a store has its own exit status.
first=$(find "$demo" -name '*.sst' -size +1000k | sort | head -n 1)
printf 'damage' | dd of="$first" bs=1 seek=600000 conv=notrunc status=none
total=0
for family in tweets sensors; do
    "$COLANDER" find "$demo" $family >/dev/null 2>"$work/err"
    total=$((total + $?))
done
[ $total = 4 ] || complain "damage exits $total, not 4: $(cat "$work/err")"
finish
