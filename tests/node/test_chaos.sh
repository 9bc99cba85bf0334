#!/bin/bash
# Chaos: nodes with real brokers and a real S3 server, while loaders send and
# everything is killed, stopped, cut off and lost at random. In the end each node
# has every acknowledged record exactly once and no other, and each reject once;
# meanwhile each answer is exact for a prefix of each partition, or an error.
# chaos.lua says what is right.
#
# COLANDER_SECONDS says how long, COLANDER_SEED repeats what is done and when, as
# far as processes are as fast. Links are cut where namespaces of networks are
# permitted.
#
# SPDX-License-Identifier: MIT
if [ -z "${KAFKA_JARS:-}" ] || [ -z "${S3PROXY_JARS:-}" ]; then
    echo 'skipped: script/test-cluster runs it, with real servers'
    exit 77
fi
if [ -z "${COLANDER_LINKS:-}" ] && command -v ip nsenter >/dev/null; then
    for how in 'unshare -n' 'unshare -rn'; do
        if $how ip link add name try type bridge 2>/dev/null; then
            COLANDER_LINKS=1 exec $how "$0"
        fi
    done
fi
source "$COLANDER_SOURCE/tests/cluster/lib"
source "$COLANDER_SOURCE/tests/cluster/kafka_lib"

seconds=${COLANDER_SECONDS:-60}
round=300 # seconds after which all is healed and compared
seed=${COLANDER_SEED:-$RANDOM$RANDOM}
RANDOM=$((seed % 32768))
lost=8 # seconds
nodes=()   # their processes, by number
holders=() # of their namespaces
loaders=()
expected=() # nodes that end because they were told to
heals=()    # "TIME COMMAND", to be done then
askers=()
declare -A counts # of what was done
partitions=6

# NUMBER: its process, unless it has ended.
is_running() {
    [ -n "${1:-}" ] && kill -0 "$1" 2>/dev/null
}

end_all() {
    local pid
    touch "$work/stop"
    exec 2>/dev/null # the shell tells of each process that is killed
    for pid in "$server" "$mock_pid" "${nodes[@]}" "${holders[@]}" \
        "${loaders[@]}" "${askers[@]}" "${kafka_pids[@]}"; do
        kill -9 "$pid" 2>/dev/null
    done
    [ ! -e "$work/load.pid" ] || kill -9 "$(cat "$work/load.pid")" 2>/dev/null
    wait 2>/dev/null
    [ -z "${COLANDER_KEEP:-}" ] || cp -a "$work" "$COLANDER_KEEP"
    rm -rf "$work"
    [ "$failures" = 0 ] || exit 1
}
trap end_all EXIT

# ---------------------------------------------------------------- servers ---

if [ -n "${COLANDER_LINKS:-}" ]; then
    kafka_host=10.7.0.253
    s3_host=10.7.0.254
    ip link set lo up
    ip link add name lan type bridge
    ip address add $kafka_host/24 dev lan
    ip address add $s3_host/24 dev lan
    ip link set lan up
else
    echo 'no links are cut: namespaces of networks are not permitted here'
fi

# link NUMBER: connects a namespace of its own.
link() {
    [ -n "${COLANDER_LINKS:-}" ] && [ -z "${holders[$1]:-}" ] || return 0
    unshare -n sleep infinity &
    holders[$1]=$!
    while [ "$(readlink "/proc/${holders[$1]}/ns/net")" = \
        "$(readlink /proc/self/ns/net)" ]; do
        sleep 0.01
    done
    ip link add name "n$1" type veth peer name lan netns "${holders[$1]}"
    ip link set "n$1" master lan up
    inside "$1" ip link set lo up
    inside "$1" ip address add "10.7.0.$1/24" dev lan
    inside "$1" ip link set lan up
}

# become NODE COMMAND...: the shell becomes the command, where the node is.
become() {
    if [ -n "${holders[$1]:-}" ]; then
        exec nsenter -t "${holders[$1]}" -n "${@:2}"
    fi
    exec "${@:2}"
}

# inside NODE COMMAND...
inside() {
    (become "$@")
}

# where NUMBER: the address of a node.
where() {
    if [ -n "${COLANDER_LINKS:-}" ]; then
        echo "10.7.0.$1:7411"
    else
        echo "127.0.0.1:$((31000 + $$ % 1000 + $1))"
    fi
}

start_node() {
    ! is_running "${nodes[$1]:-}" || return 0
    link "$1"
    : >"$work/out$1"
    become "$1" "$COLANDER" serve s3://bucket/c --dir "$work/node$1" \
        --name "n$1" --listen "$(where "$1")" --token-file "$work/token" \
        --lost-after ${lost}s --checkpoint 5s \
        >"$work/out$1" 2>>"$work/err$1" </dev/null &
    nodes[$1]=$!
    unset "expected[$1]"
}

start_loader() {
    ! is_running "${loaders[$1]:-}" || return 0
    "$CHAOS_LOADER" "$brokers" c.rows "$work/journal.$1" "$1" "$seed" \
        "${COLANDER_RATE:-100}" 2>>"$work/loader$1" &
    loaders[$1]=$!
}

# feed: `colander load` of one small file after another, from where it was before,
# each until it is loaded as a whole; it is killed, too.
feed() {
    local k file
    for ((k = $(cat "$work/line_count") / 300; ; k++)); do
        file=$work/lines/$k
        [ ! -e "$work/stop" ] || break
        seq $((k * 300)) $((k * 300 + 299)) |
            sed 's/.*/{"id":&,"text":"line &"}/' >"$file"
        until "$COLANDER" load "kafka://$brokers/c.lines" "$file" --key id \
            --resume --place "$work/place" --set linger.ms=20 \
            --set batch.num.messages=20 >"$work/load.out" 2>&1 &
            echo $! >"$work/load.pid"
            wait $!; do
            sleep 0.5
        done
        rm "$file"
        echo $(((k + 1) * 300)) >"$work/line_count"
        sleep 0.2
    done
}

# -------------------------------------------------------------- questions ---

make_query() {
    local first=$((1000 + RANDOM % 1300))
    case $((RANDOM % 9)) in
    0 | 1 | 2) echo all ;;
    3) echo "city city-$((RANDOM % 11))" ;;
    4) echo "any city-$((RANDOM % 11))" ;;
    5) echo "range $first $((first + RANDOM % 200))" ;;
    6) echo "key $first" ;;
    7) echo "limit $((1 + RANDOM % 50))" ;;
    8) echo "reverse $((1 + RANDOM % 50))" ;;
    esac
}

# words KIND ARG...: of a query, as options of find.
words() {
    case $1 in
    all) ;;
    city) echo "city=$2" ;;
    any) echo "--any $2" ;;
    range) echo "--from $2 --to $3" ;;
    key) echo "--key $2" ;;
    limit) echo "--limit $2" ;;
    reverse) echo "--reverse --limit $2" ;;
    esac
}

# ask NUMBER: asks nodes until it is stopped.
ask() {
    local i query node status time
    RANDOM=$(((seed + $1) % 32768))
    for ((i = 0; ; i++)); do
        [ ! -e "$work/stop" ] || break
        node=$((1 + RANDOM % 5))
        query=$(make_query)
        time=${EPOCHREALTIME/[.,]/}
        status=0
        # shellcheck disable=SC2046 # they are words
        timeout 60 "$COLANDER" find "http://$(where "$node")" rows \
            $(words $query) >"$work/answers/$1-$i.out" 2>"$work/asked$1" ||
            status=$?
        if [ "$status" = 0 ]; then
            sed -i 's/,"_matched":.*/}/' "$work/answers/$1-$i.out"
        else
            rm "$work/answers/$1-$i.out"
        fi
        case $status in
        0 | 1 | 4) ;;
        124) echo "node $node does not answer" >"$work/asked$1" ;;
        *) echo "find exits $status" ;;
        esac >>"$work/asker$1"
        [ "$status" = 0 ] || cat "$work/asked$1" >>"$work/reasons$1"
        echo "$((time / 1000)) $status $node $query" >"$work/answers/$1-$i.ask"
        sleep "0.$((RANDOM % 4))"
    done
}

# ------------------------------------------------------------------ chaos ---

count() {
    counts[$1]=$((${counts[$1]:-0} + 1))
    echo "$EPOCHREALTIME $1: node ${node:-}, broker ${broker:-}" >>"$work/strikes"
}

now_ms() {
    local now=${EPOCHREALTIME/[.,]/}
    echo $((now / 1000))
}

# after MILLISECONDS COMMAND...
after() {
    heals+=("$(($(now_ms) + $1)) ${*:2}")
}

# heal [all]: does what is due, or all.
heal() {
    local i now
    now=$(now_ms)
    for i in "${!heals[@]}"; do
        if [ -n "${1:-}" ] || [ "${heals[i]%% *}" -le "$now" ]; then
            eval "${heals[i]#* }"
            unset "heals[$i]"
        fi
    done
}

# kill_process PID: and waits for it.
kill_process() {
    is_running "${1:-}" || return 0
    kill -9 "$1"
    wait "$1" 2>/dev/null
}

# pause_process PID MILLISECONDS
pause_process() {
    is_running "${1:-}" || return 0
    kill -STOP "$1"
    after "$2" "kill -CONT $1 2>/dev/null"
}

start_s3() {
    ! is_running "$server" || return 0
    start_s3proxy >"$work/server" 2>&1 &
    server=$!
}

start_broker() {
    is_running "${kafka_pids[$1]:-}" || start_kafka_broker "$1"
}

kill_node() {
    expected[$1]=1
    kill_process "${nodes[$1]:-}"
    nodes[$1]=
}

# cut NODE ADDRESS MILLISECONDS: what the node sends there is lost.
cut() {
    inside "$1" ip neighbour replace "$2" lladdr 02:00:00:00:00:01 dev lan \
        nud permanent || complain 'a link cannot be cut'
    after "$3" "inside $1 ip neighbour del $2 dev lan 2>/dev/null"
}

cut_some() {
    local node=$1 other=$((1 + RANDOM % 5)) time=$((500 + RANDOM % 8000))
    [ -n "${holders[$node]:-}" ] || return 0
    count 'links cut'
    case $((RANDOM % 4)) in
    0)
        ip link set "n$node" nomaster
        after $time "ip link set n$node master lan"
        ;;
    1) cut "$node" $kafka_host $time ;;
    2) cut "$node" $s3_host $time ;;
    3) [ "$other" = "$node" ] || cut "$node" "10.7.0.$other" $time ;;
    esac
}

# strike: does one thing.
strike() {
    local node=$((1 + RANDOM % 5)) broker=$((1 + RANDOM % 3))
    local loader=$((1 + RANDOM % 3)) time=$((500 + RANDOM % 5000))
    [ $((RANDOM % 4)) != 0 ] || time=$((time + lost * 1000 + RANDOM % 4000))
    case $((RANDOM % 17)) in
    0 | 1 | 2)
        count 'nodes killed'
        kill_node $node
        after $((time / 2)) "start_node $node"
        ;;
    3 | 4 | 5)
        count 'nodes stopped'
        pause_process "${nodes[$node]:-}" $time
        [ -z "${expected[$node]:-}" ] || expected[$node]=stopped
        ;;
    6)
        count 'directories removed'
        kill_node $node
        rm -rf "$work/node$node"
        after $((time / 2)) "start_node $node"
        ;;
    7)
        count 'nodes ended'
        [ "${expected[$node]:-}" = stopped ] || expected[$node]=1
        is_running "${nodes[$node]:-}" && kill -TERM "${nodes[$node]}"
        ;;
    8)
        if is_running "${nodes[6]:-}"; then
            count 'nodes removed'
            kill_node 6
            rm -rf "$work/node6"
        else
            count 'nodes added'
            start_node 6
        fi
        ;;
    9)
        count 'brokers killed'
        kill_process "${kafka_pids[$broker]:-}"
        after $((time / 2)) "start_broker $broker"
        ;;
    10)
        count 'brokers stopped'
        pause_process "${kafka_pids[$broker]:-}" $time
        ;;
    11)
        count 'S3 killed'
        kill_process "$server"
        after $((time / 2)) start_s3
        ;;
    12)
        count 'S3 stopped'
        pause_process "$server" $time
        ;;
    13 | 14)
        count 'loaders killed'
        if [ "$loader" = 3 ]; then
            kill -9 "$(cat "$work/load.pid" 2>/dev/null)" 2>/dev/null
        else
            kill_process "${loaders[$loader]:-}"
            after $((time / 2)) "start_loader $loader"
        fi
        ;;
    *) cut_some $node ;;
    esac
}

# look_after: starts what has ended, and complains if it should not have.
look_after() {
    local i status
    for i in "${!nodes[@]}"; do
        [ -n "${nodes[i]}" ] && ! is_running "${nodes[i]}" || continue
        status=0
        wait "${nodes[i]}" 2>/dev/null || status=$?
        case $status,$(cat "$work/out$i"),${expected[i]:-} in
        # its servers are down; or it was ended, maybe at its beginning, or
        # stood still for so long meanwhile that its alarm has ended it
        [14],,* | [014],*,?* | 143,*,?* | 142,*,stopped) ;;
        *) complain "node $i exits $status: $(tail -n 5 "$work/err$i")" ;;
        esac
        nodes[i]=
        after 500 "start_node $i"
    done
    for i in 1 2; do
        [ -n "${loaders[i]}" ] && ! is_running "${loaders[i]}" || continue
        wait "${loaders[i]}" 2>/dev/null
        after 500 "start_loader $i"
        loaders[i]=
    done
}

# -------------------------------------------------------------------- end ---

# same NODE NUMBER QUERY: a node answers it as the model does.
same() {
    local status=0
    # shellcheck disable=SC2046 # they are words
    timeout 120 "$COLANDER" find "http://$(where "$1")" rows $(words $3) \
        2>"$work/why" >"$work/got" || status=$?
    sed -i 's/,"_matched":.*/}/' "$work/got"
    [ "$status" = 0 ] && cmp -s "$work/got" "$work/wanted.$2"
}

explain() {
    echo "$(cat "$work/why") $(diff "$work/got" "$1" | head -n 6)"
}

# check_all: heals everything, and compares.
check_all() {
    local i tries query number until
    heal all
    start_s3
    for i in 1 2 3; do start_broker $i; done
    for i in 1 2; do start_loader $i; done
    for i in 1 2 3; do await_kafka_broker $i; done
    touch "$work/stop"
    for i in 1 2; do
        for ((tries = 0; tries < 5; tries++)); do # until all are acknowledged
            kill -TERM "${loaders[i]}"
            ! wait "${loaders[i]}" || break
            start_loader $i
            sleep 1
        done
        loaders[i]=
    done
    wait "${askers[@]}" "$feeder"
    for i in 1 2; do
        ! grep -q . "$work/asker$i" || complain "$(head -n 3 "$work/asker$i")"
    done
    kcat -C -q -e -b "$brokers" -t c.rows -o beginning -X check.crcs=true \
        -f '%p\t%o\t%k\t%h\t%S\t%s\n' >"$work/log" 2>"$work/why" ||
        complain "kcat: $(cat "$work/why")"
    for ((i = 0; i < 12; i++)); do make_query; done >"$work/queries"
    lua5.4 "$COLANDER_SOURCE/tests/node/chaos.lua" "$work" ||
        complain 'the model says so'
    [ -n "${COLANDER_KEEP:-}" ] || rm -f "$work"/answers/*

    for i in 1 2 3 4 5; do
        for ((until = SECONDS + 600; SECONDS < until;)); do
            look_after
            heal
            ! same $i all all || break
            sleep 0.3
        done
        same $i all all || complain "node $i: $(explain "$work/wanted.all") \
$(tail -n 3 "$work/err$i")"
        number=0
        while read -r query; do
            number=$((number + 1))
            same $i $number "$query" ||
                complain "node $i, '$query': $(explain "$work/wanted.$number")"
        done <"$work/queries"
        run 0 find "http://$(where $i)" rows --count
        prints "$(wc -l <"$work/wanted.all")"
        run 0 find "http://$(where $i)" rows.rejects --select record
        cmp -s "$work/out" "$work/wanted.rejects" ||
            complain "node $i, rejects: $(diff "$work/out" "$work/wanted.rejects" | head -n 5)"
        for ((until = SECONDS + 300; SECONDS < until;)); do
            run 0 find "http://$(where $i)" lines --count
            [ "$(cat "$work/out")" != "$(cat "$work/line_count")" ] || break
            sleep 0.3
        done
        prints "$(cat "$work/line_count")"
        # it is there once there is a reject
        "$COLANDER" find "http://$(where $i)" lines.rejects >"$work/out" 2>&1
        grep -Eq "no family|^$" "$work/out" || prints ''
    done
}

# check_stores: of nodes that have ended, each is exact for a prefix, and all
# partitions are twice there as a whole.
check_stores() {
    local i number path whole status
    for i in "${!nodes[@]}"; do
        is_running "${nodes[i]}" || continue
        kill -TERM "${nodes[i]}"
        status=0
        wait "${nodes[i]}" || status=$?
        case $status in
        0) ;;
        4) count 'last checkpoints not made' ;; # S3 has not answered in time
        *) complain "node $i ends with $status: $(tail -n 3 "$work/err$i")" ;;
        esac
        nodes[i]=
    done
    for ((number = 0; number < partitions; number++)); do
        whole=0
        for path in "$work"/node*/rows/000$number; do
            run 0 find "$path" rows
            cp "$work/out" "$work/stores/p$number-$(basename "$(dirname "$(dirname "$path")")").out"
            echo "$(now_ms) 0 $path all" \
                >"$work/stores/p$number-$(basename "$(dirname "$(dirname "$path")")").ask"
            ! cmp -s "$work/out" "$work/wanted.p$number" || whole=$((whole + 1))
        done
        [ "$whole" -ge 2 ] || complain "$whole stores have all of partition $number"
    done
    lua5.4 "$COLANDER_SOURCE/tests/node/chaos.lua" "$work" ||
        complain 'a store has what no prefix gives'
}

# -------------------------------------------------------------------- run ---

mkdir "$work/answers" "$work/stores" "$work/lines"
head -c 32 /dev/urandom | od -An -tx1 | tr -d ' \n' >"$work/token"
chmod 600 "$work/token"
export COLANDER_TOKEN_FILE=$work/token
export AWS_MAX_ATTEMPTS=3
S3_SERVER=s3proxy start_server
start_brokers 3
for i in 1 2 3; do await_kafka_broker $i; done
[ "$failures" = 0 ] || exit 1
brokers topic c-members 1
brokers topic c.rows $partitions
brokers topic c.lines 2
run 0 cluster create s3://bucket/c --log "kafka://$brokers" --name c \
    --topic c-members
run 0 cluster family s3://bucket/c rows --partitions $partitions \
    --replicas 2 --key id --topic c.rows
run 0 cluster family s3://bucket/c lines --partitions 2 --replicas 2 \
    --key id --on-duplicate error --topic c.lines
[ "$failures" = 0 ] || exit 1
for i in 1 2 3 4 5; do start_node $i; done
echo 0 >"$work/line_count"

end=$((SECONDS + seconds))
while [ $SECONDS -lt $end ]; do
    round_end=$((SECONDS + round < end ? SECONDS + round : end))
    rm -f "$work/stop"
    for i in 1 2; do
        : >"$work/asker$i"
        start_loader $i
        ask $i &
        askers[i]=$!
    done
    feed 2>/dev/null &
    feeder=$!
    next=$(($(now_ms) + 3000))
    while [ $SECONDS -lt $round_end ]; do
        look_after
        heal
        if [ "$(now_ms)" -ge $next ]; then
            strike
            next=$(($(now_ms) + 1000 + RANDOM % 4000))
        fi
        sleep 0.2
    done
    check_all
    [ "$failures" = 0 ] || break
done
check_stores
for what in "${!counts[@]}"; do echo -n "${counts[$what]} $what, "; done
echo "seed $seed, $seconds s"
sed -E 's/[0-9]+/N/g' "$work"/reasons* 2>/dev/null | sort | uniq -c | sort -rn |
    head -n 20
[ "$failures" = 0 ] || {
    echo "COLANDER_SEED=$seed; the last of what was done:"
    tail -n 30 "$work/strikes"
} >&2
finish
