#!/bin/bash
# Real records, loaded as a whole: each is stored as an independent reader reads
# it, values are found where a list of all values has them, and every way of
# loading the same records results in the same family.
#
# With COLANDER_RUNS, as in script/soak, it uses all stations, compares rows
# loaded without a schema or a key as well, and looks for more values.
#
# The files are not part of the project. They are searched for in
# $COLANDER_DATA, or in ../shared/data next to the sources. Without them the
# test is skipped.
#
# SPDX-License-Identifier: MIT
source "$(dirname "$0")/lib"
here=$(cd "$(dirname "$0")" && pwd)
: "${COLANDER_SOURCE:?the folder of the sources}"
data=${COLANDER_DATA:-$COLANDER_SOURCE/../shared/data}
stations=Aotizhongxin
compared=Aotizhongxin
compared_plain=
air_key='station year month day hour'

if [ -n "${COLANDER_RUNS:-}" ]; then
    stations+=' Changping Dingling Dongsi'
    compared=$stations
    compared_plain=$stations
fi

for file in tweets.jsonl wikipedia-edits.jsonl \
    $(printf 'air-%s.csv ' $stations); do
    if [ ! -r "$data/$file.gz" ]; then
        echo "skipped: there is no $data/$file.gz (COLANDER_DATA says where)"
        exit 77
    fi
done
data=$(cd "$data" && pwd)
cd "$work" || exit 1

# Compares all records, and finds fewer values.
found=50
found_plain=10
if [ -n "${COLANDER_RUNS:-}" ]; then
    found=1000
    found_plain=100
fi
export COLANDER_SEED=${COLANDER_SEED:-$(date +%s%N)}
export LUA_PATH="$here/?.lua"
echo "real_data: COLANDER_SEED=$COLANDER_SEED"

# load FAMILY FILE...: loads all of its records, without any message but that
# texts look like times
load() {
    run 0 load s "$@"
    says_some '^[1-9][0-9,]+ rows loaded, '
    [ "$(grep -Evc ' looks? like times: ' err)" = 1 ] || complain "'$last' complains: $(cat err)"
}

# ---- each file, with its schema and without ---------------------------------

tweets=$data/tweets.jsonl.gz
edits=$data/wikipedia-edits.jsonl.gz
load tweets "$tweets" --schema tweet
load tweets_plain "$tweets"
load edits "$edits" --key channel,page,time
load edits_plain "$edits"
for station in $stations; do
    load "air_$station" "$data/air-$station.csv.gz" --schema air-quality
done
for station in $compared_plain; do
    load "air_${station}_plain" "$data/air-$station.csv.gz"
done

# compare FAMILY FILE SCHEMA FINDS [KEY...]: writes its result to FAMILY.said
compare() {
    "$COLANDER" shell s --readonly "$here/real_data.lua" "$@" \
        >"$1.said" 2>&1 </dev/null || touch "$1.failed"
}

# The same in the background, once a core is free.
compare_soon() {
    while [ "$(jobs -rp | wc -l)" -ge 2 ]; do
        wait -n
    done
    compare "$@" &
}

compare_soon edits "$edits" none $found channel page time
for station in $compared; do
    # shellcheck disable=SC2086 # several columns
    compare_soon "air_$station" "$data/air-$station.csv.gz" air-quality $found \
        $air_key
done
compare_soon tweets "$tweets" tweet $found id_str
compare_soon tweets_plain "$tweets" none $found_plain
[ -z "$compared_plain" ] ||
    compare_soon edits_plain "$edits" none $found_plain
for station in $compared_plain; do
    compare_soon "air_${station}_plain" "$data/air-$station.csv.gz" none \
        $found_plain
done
wait
cat ./*.said
for failed in *.failed; do
    [ "$failed" = '*.failed' ] || complain "$(cat "${failed%.failed}.said")"
done

# ---- times, as timestamps and as texts --------------------------------------

# week FAMILY ARG...: the tweets that are found
week() {
    local family=$1
    shift
    run 0 find s "$family" "$@" --select id_str
    sed -E 's/.*"id_str":"([0-9]+)".*/\1/' out | sort
}

# same_week ARG...: both families have the same tweets
same_week() {
    week tweets "$@" >with
    week tweets_plain "$@" >without
    cmp -s with without || complain "'$*' finds others without the schema"
    [ "$(wc -l <with)" -gt 0 ] || complain "'$*' finds nothing"
}
run 0 families s tweets_plain --time created_at
run 0 shell s --readonly -e 'local times = {}
    for _, row in db:family("tweets"):find():select("created_at") do
        times[#times + 1] = row.created_at
    end
    table.sort(times)
    local middle = times[#times // 2]
    print(middle:date("%Y-%m"), middle:date(), (middle + 7 * 86400):date())
    print((tostring(middle):gsub("T", " "):gsub("Z", " +0000")))'
read -r month day after <out
time=$(sed -n 2p out)
same_week "created_at>=$day" "created_at<$after"
same_week --since "$day" --until "$after"
same_week "created_at~$month"
same_week "created_at~$day"
same_week "created_at=$time"
same_week --any "$time"

# ---- all ways to the same family ------------------------------------------

# packed FAMILY: prints all of it, each value as it is stored
packed() {
    [ -f "$1.packed" ] ||
        run 0 export s "$1" --format msgpack --output "$1.packed"
}

# same FAMILY LOAD_ARG...: loading this way results in the family
same() {
    local family=$1
    shift
    load copy "$@"
    packed "$family"
    run 0 export s copy --format msgpack --output copy.packed
    cmp -s "$family.packed" copy.packed || complain "another family: load $*"
    run 0 shell s -e 'db:family("copy"):drop()'
}

gzip -dc "$tweets" >tweets.jsonl
same tweets tweets.jsonl --schema tweet
same tweets "$tweets" --schema tweet --bulk
run 0 export s tweets --output exported.jsonl
same tweets exported.jsonl --schema tweet
if command -v zstd >/dev/null; then
    zstd -q tweets.jsonl
    same tweets tweets.jsonl.zst --schema tweet
    zstd -q exported.jsonl
    same tweets exported.jsonl.zst --schema tweet --bulk
else
    echo 'there is no zstd, so nothing was compressed with it'
fi
same tweets tweets.packed
same tweets tweets.packed --bulk

# JSON has no times: without the schema they stay texts; all else is equal.
load copy exported.jsonl
run 0 export s copy --output copied.jsonl
gzip -dc "$tweets" | "$COLANDER" load s piped --schema tweet 2>err ||
    complain 'a pipe is not loaded'
run 0 export s piped --output piped.jsonl
cmp -s copied.jsonl piped.jsonl || complain 'JSON has changed'
run 0 find s tweets --where 'colander.type(created_at) == "timestamp"' --count
times=$(cat out)
run 0 find s copy --where 'colander.type(created_at) == "string"' --count
prints "$times"
run 0 shell s -e 'db:family("copy"):drop()'

packed edits_plain
same edits_plain edits_plain.packed
run 0 export s edits_plain --output exported
same edits_plain exported
same edits "$edits" --key channel,page,time --bulk

air=()
for station in $stations; do
    air+=("$data/air-$station.csv.gz")
    packed "air_$station"
    cat "air_$station.packed" >>all_air.packed
done
same all_air "${air[@]}" --schema air-quality
same all_air "${air[@]}" --schema air-quality --bulk
same all_air all_air.packed

# ---- differences are noticed ------------------------------------------------

# wrong CODE TEXT: after CODE has changed the row of a tweet, a comparison
# reports TEXT
wrong() {
    run 0 shell s -e "local tweets = db:family('tweets')
        local key, row = tweets:find():skip(3000):first()
        $1"
    compare tweets "$tweets" tweet 0 id_str
    grep -Fq "$2" tweets.said || complain "'$2' is not reported: $(cat tweets.said)"
}
wrong 'tweets:delete(key)' 'tweets has 6965 rows of 6966 records'
wrong 'row.user.id = row.user.id + 0.0; tweets:put(row)' \
    'user.id: stored is double 233232425.0, and integer 233232425 was read'

finish
