#!/bin/bash
# delete and update change exactly the rows that find prints, and nothing with
# --dry-run.
#
# With COLANDER_RUNS, as in script/soak, this many random conditions.
#
# SPDX-License-Identifier: MIT
source "$(dirname "$0")/lib"
cd "$work" || exit 1
RANDOM=${COLANDER_SEED:=$(date +%s)}
echo "change: COLANDER_SEED=$COLANDER_SEED"

# ---- the words ----------------------------------------------------------------

cat >people.jsonl <<'END'
{"_key":"ann","city":"Lyon","trips":3,"draft":true,"place":{"zip":1}}
{"_key":"bob","city":"Oslo","trips":5}
{"_key":"cem","city":"Lyon","trips":9,"at":"2026-11-01"}
{"_key":["x",1],"city":"Rome"}
END
run 0 load s people people.jsonl
run 0 update s people city=Lyon --set 'city="Paris"' --set place.name=Nord \
    --set 'tags=["a",{"b":1}]' --unset draft
says '2 rows updated'
run 0 find s people
prints '{"_key":"ann","city":"Paris","trips":3,"place":{"zip":1,"name":"Nord"},"tags":["a",{"b":1}]}
{"_key":"bob","city":"Oslo","trips":5}
{"_key":"cem","city":"Paris","trips":9,"at":"2026-11-01","place":{"name":"Nord"},"tags":["a",{"b":1}]}
{"_key":["x",1],"city":"Rome"}'
run 0 update s people --key '["x",1]' --set at=@2026-11-25 --set city=
run 0 find s people at=@2026-11-25
prints '{"_key":["x",1],"city":"","at":"2026-11-25T00:00:00Z"}'
run 0 update s people nothing=7 --set city=Nowhere
says "no row has 'nothing'
0 rows updated"
run 0 delete s people city=Paris --where 'trips > 5'
says '1 row deleted'
run 0 delete s people --all --reverse --limit 1
run 0 find s people --select trips
prints '{"_key":"ann","trips":3}
{"_key":"bob","trips":5}'
run 0 delete s people --key bob
run 0 delete s people --all
says '1 row deleted'
run 0 find s people --count
prints 0

# ---- put -----------------------------------------------------------------------

run 0 put s notes '{"id":7,"n":{"a":1}}' '{"id":8,"n":{"a":2}}' --key n.a,id
prints '[1,7]
[2,8]'
run 0 put s notes '{"_key":"k","text":"one"}'
run 0 put s notes '{"_key":"k","text":"two"}'
prints k
run 0 put s notes '{"text":"new"}'
[ "$(wc -c <out)" = 27 ] || complain "a new key is $(cat out)"
run 0 find s notes text=two
prints '{"_key":"k","text":"two"}'
run 0 find s notes --count
prints 4
run 2 put s notes '{"_key":"x"}' '{"a":}'
says_some '^colander: put: .*JSON|^colander: put: '
tail -1 err | grep -qx '         ^' || complain "no caret: $(cat err)"
run 2 put s notes '{"_key":"x"}' '{"b":1}' --key a
says "colander: put: no column 'a' for the key"
run 2 put s notes '{"a":{}}' --key a
says_some '^colander: put: --key: '
run 2 put s notes
run 0 find s notes --count
prints 4

# ---- what is refused ------------------------------------------------------------

run 0 load s people people.jsonl
run 2 delete s people
says 'colander: delete: no condition: --all means every row of the family'
run 2 delete s people --scan
says 'colander: delete: no condition: --all means every row of the family'
run 2 delete s people city=Lyon --all
says 'colander: delete: --all excludes conditions and keys'
run 2 update s people city=Lyon
says 'colander: update: --set or --unset is missing'
run 2 update s people city=Lyon --set a=null
says 'colander: update: --set: null removes a column: say so with --unset
    a=null
      ^'
run 2 update s people city=Lyon --set a=1 --unset 'b[]'
says_some 'update: --unset: elements of an array cannot be set'
run 2 update s people city=Lyon --set _key=1
says_some '_key'
run 2 delete s people city
says_some "'city' is a column"
run 1 delete s nobody city=Lyon
says_some "no family 'nobody'"
run 1 delete nostore people city=Lyon
[ ! -e nostore ] || complain 'a store was created'
run 0 find s people --count
prints 4
run 2 delete s people --where 'error("no")'
says_some "^colander: delete: row 'ann'"
says_some '^0 rows deleted$'

# In the shell the store stays open; one that is open for reading refuses.
echo '.delete people city=Oslo' | "$COLANDER" shell s >out 2>err ||
    complain "$(cat err)"
last=.delete
says '1 row deleted'
echo '.update people --all --set seen=true' |
    "$COLANDER" shell s --readonly >out 2>err &&
    complain 'a store that is open for reading was changed'
says_some 'open for reading only'

# ---- drop -----------------------------------------------------------------------

run 0 put s old '{"_key":1}'
run 1 drop s olds
says "colander: drop: no family 'olds' in 's': did you mean 'old'?"
run 1 drop s nothing
says "colander: drop: no family 'nothing' in 's': its families are 'notes', 'old', 'people'"
run 0 drop s old
run 1 find s old
echo 'old = db:family("notes")
.drop notes
print(pcall(old.count, old))
print(notes)' | "$COLANDER" shell s >out 2>err || complain "$(cat err)"
last=.drop
prints_some 'was dropped'
prints_some '^nil$'

# ---- rename ---------------------------------------------------------------------

run 0 put s old '{"_key":1}'
run 0 rename s old new
run 0 get s new 1
run 1 get s old 1
run 2 rename s new people
says "colander: rename: family 'new': there is a family 'people'"
run 1 rename s nothing other
run 2 rename s new $'a\nb'
run 2 rename s new
echo 'print(new:rename("newer"):name(), new, newer:count(), db.newer:name())
.rename newer new
print(newer, new:name())' | "$COLANDER" shell s >out 2>err || complain "$(cat err)"
last=.rename
prints $'newer\tnil\t1\tnewer\nnil\tnew'
run 0 drop s new

# ---- copy -----------------------------------------------------------------------

run 0 put s old '{"_key":1,"at":"x"}' '{"_key":2}'
run 0 families s old --time at
run 0 copy s old new
says '2 rows copied'
run 0 families s new --exact
prints_some '"exact_rows":2,"time_column":"at"\}$'
run 0 find s new
prints '{"_key":1,"at":"x"}
{"_key":2}'
run 2 copy s old new
says_some "^colander: copy: family 'new'"
run 1 copy s nothing other
run 2 copy s old ''
run 2 copy s old old
run 0 delete s new --all
run 0 copy s old new # an empty family, as a killed copy leaves
run 0 families s
[[ $(cat out) != *other* ]] || complain 'a failed copy leaves a family'
if has_filters; then
    run 0 refilter s old --unfiltered at
    run 0 copy s old third
    run 0 stats s third --json
    prints_some '"unfiltered": ?\["at"\]'
fi

# ---- compared with find ---------------------------------------------------------

# The words without --all, which find does not have.
words_of_find() {
    printf '%s\n' "${words[@]}" | grep -vx -e --all
}

state() { # all rows, in the order of keys
    "$COLANDER" export "$1" rows
}

sums() {
    find "$1" -type f ! -name LOG ! -name 'LOG.old.*' ! -name LOCK \
        -exec sha256sum {} + | sort -k2
}

for ((i = 0; i < 3000; i++)); do
    echo "{\"_key\":$i,\"a\":$((RANDOM % 7)),\"b\":\"t$((RANDOM % 50))\",\"c\":[$((RANDOM % 9)),true]}"
done >rows.jsonl

condition() {
    local all=("a=$((RANDOM % 8))" "a<$((RANDOM % 4))" "b=t$((RANDOM % 50))"
        "b~t$((RANDOM % 5))" "c[]=$((RANDOM % 9))" "a!=$((RANDOM % 7))"
        "a=$((RANDOM % 7)) or b=t$((RANDOM % 50))"
        "not ( a>2 c[]<$((RANDOM % 9)) )" "a=[1,$((RANDOM % 7))] b>t2"
        "--any t$((RANDOM % 50))" "a=2 --limit $((RANDOM % 99))"
        "a>1 --reverse --limit $((RANDOM % 99))"
        "--from $((RANDOM % 3000)) --to $((RANDOM % 3000))"
        "--prefix $((RANDOM % 3000))" "--where a+c[1]==$((RANDOM % 15))"
        "b=t1 --where a>=3 --limit 5" "--all --order b:desc --limit $((RANDOM % 99))"
        "a>1 --order c[] --skip $((RANDOM % 99)) --limit $((RANDOM % 99))"
        "--all --order a --skip 2990")

    echo "${all[RANDOM % ${#all[@]}]}"
}

run 0 load r rows rows.jsonl
state r >before
for ((i = ${COLANDER_RUNS:-12}; i > 0; i--)); do
    read -r -a words <<<"$(condition)"
    mapfile -t found <<<"$(words_of_find)"
    "$COLANDER" find r rows "${found[@]}" >found || complain "find fails"
    # without its key, and with it as a regular expression of the line
    count=$(wc -l <found)
    sums r >sums
    run 0 delete r rows "${words[@]}" --dry-run
    says_some "^$(sed ':a;s/\B[0-9]\{3\}\>/,&/;ta' <<<"$count") rows? would be deleted$"
    sums r | cmp -s - sums || complain "'$last' changes a file"
    sed 's/,"_matched":.*/}/' found | sort >found.sorted
    if ((RANDOM % 3 > 0)); then
        run 0 update r rows "${words[@]}" --set a=$((RANDOM % 7)) --unset new
        state r >after
        sort before | comm -23 - found.sorted >kept
        sort after | comm -23 kept - >lost
        [ ! -s lost ] || complain "'$last' changes others: $(head -3 lost)"
        sort after | comm -13 kept - | cut -d, -f1 >changed
        cut -d, -f1 found.sorted | cmp -s - changed ||
            complain "'$last' changes other rows than find prints"
    else
        run 0 delete r rows "${words[@]}"
        state r >after
        sort before | comm -23 - found.sorted | cmp -s - <(sort after) ||
            complain "'$last' deletes other rows than find prints"
        run 0 load r rows rows.jsonl
        state r >after
    fi
    mv after before
done

# An order by a column that no row has would pick others than the first rows.
run 2 delete r rows --all --order zz --limit 2
says "no row has 'zz'
colander: delete: no row deleted: --yes takes such an order"
state r >after
cmp -s before after || complain 'rows were deleted'

# Every row meets 'zz!', also if it was typed as a word.
for condition in 'zz!' 'not zz=1' 'n=1 or zz!'; do
    # shellcheck disable=SC2086
    run 2 delete r rows $condition
    says "no row has 'zz'
colander: delete: no row deleted: --yes takes such a condition"
    state r >after
    cmp -s before after || complain 'rows were deleted'
done
run 0 update r rows 'zz!' --set zz=1
run 0 delete r rows 'zy!' --yes
run 0 find r rows
prints ''
finish
