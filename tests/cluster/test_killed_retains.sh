#!/bin/bash
# Follows that are killed while retains delete: as without, rows go that are
# older than a retain and came before it, and late rows stay until the next one.
#
# COLANDER_RUNS says how many are killed, COLANDER_SEED repeats a run.
#
# SPDX-License-Identifier: MIT
source "$(dirname "$0")/kafka_lib"

runs=${COLANDER_RUNS:-16}
seed=${COLANDER_SEED:-$RANDOM$RANDOM}
RANDOM=$((seed % 32768))
start_brokers 1
brokers topic t 1
: >"$work/all"

# send_some: rows of any of 90 days, then a retain, and some rows after it.
send_some() {
    local day=$((1 + RANDOM % 80)) part
    for part in 3000 300; do
        awk -v n="$part" -v seed="$RANDOM" 'BEGIN { srand(seed)
            for (i = 0; i < n; i++) {
                day = int(rand() * 90)
                printf "{\"id\":%d,\"at\":\"2026-%02d-%02d\"}\n",
                    rand() * 8000, 1 + day / 28, 1 + day % 28 } }' \
            >"$work/records"
        cat "$work/records" >>"$work/all"
        brokers put t 0 "$work/records"
        [ "$part" = 3000 ] || continue
        printf '{"time":"at","before":"2026-%02d-%02d"}\n' \
            $((1 + day / 28)) $((1 + day % 28)) >"$work/records"
        cat "$work/records" >>"$work/all"
        brokers op t 0 "$work/records" retain
    done
}

for ((i = 0; i < runs; i++)); do
    "$COLANDER" follow "$store" rows "kafka://$brokers/t" --key id \
        --type at=time >"$work/out" 2>"$work/err" &
    follower=$!
    send_some
    sleep "0.$((RANDOM % 3))$((RANDOM % 10))"
    kill -9 "$follower" 2>/dev/null
    wait "$follower" 2>/dev/null
    status=$?
    [ "$status" = 137 ] || complain "it ends by itself: $(cat "$work/err")"
done
follow 0 t --key id --type at=time
run 0 export "$store" rows --select id,at
sed -E 's/T00:00:00Z//; s/"_key":[0-9]+,//' "$work/out" | sort >"$work/got"
awk -F'"' '$2 == "time" { for (id in at) if (at[id] < $8) delete at[id]; next }
    { id = $3; gsub(/[^0-9]/, "", id); at[id] = $6 }
    END { for (id in at) printf "{\"id\":%s,\"at\":\"%s\"}\n", id, at[id] }' \
    "$work/all" | sort >"$work/wanted"
cmp -s "$work/wanted" "$work/got" || complain "other rows: \
$(diff "$work/wanted" "$work/got" | head -n 5)"
run 0 check "$store"
echo "seed $seed: $runs follows killed, $(wc -l <"$work/got") rows left"
finish
