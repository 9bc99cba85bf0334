#!/bin/bash
# Backups in S3: names, addresses, and servers that fail, are slow, or lie.
#
# SPDX-License-Identifier: MIT
source "$(dirname "$0")/lib"

start_server --pages 3
export AWS_MAX_ATTEMPTS=3
address="s3://bucket/a b+c/ünï~/%20&=?#'()"

faults() { # JSON: makes the next requests fail
    curl -sf --noproxy '*' -X PUT -d "$1" "$AWS_ENDPOINT_URL/.faults" ||
        complain 'the server takes no faults'
}
faults_left() { # fails unless all of them were used
    [ "$(curl -sf --noproxy '*' "$AWS_ENDPOINT_URL/.faults")" = '[]' ] ||
        complain "'$last' does not meet all faults"
}
counts() { # FIELD
    curl -sf --noproxy '*' "$AWS_ENDPOINT_URL/.counts" |
        sed -n "s/.*\"$1\": \([0-9]*\).*/\1/p"
}

load 1 1000
rows "$store" >"$work/first"
run 0 backup "$store" "$address"
sent=$(counts sent)
load 1001 3000
rows "$store" >"$work/second"
run 0 backup "$store" "$address"
prints_some '^copied .*, the others were there already$'

# A backup that has nothing new sends few bytes: its ledger and its list.
before=$(counts sent)
run 0 backup "$store" "$address"
again=$(($(counts sent) - before))
[ "$again" -lt 70000 ] || complain "$again bytes sent again, of $sent"
run 0 check "$address"
prints_some '^checked +3 backups: '
restores "$address" | cmp -s - "$work/second" || complain 'it has other rows'
restores "$address" --number 1 | cmp -s - "$work/first" ||
    complain 'the first has other rows'
run 0 backup "$store" "$address" --keep 1
prints_some '^removed +3 older backups$'
run 0 backups "$address"
[ "$(wc -l <"$work/out")" = 1 ] || complain 'old backups stay'

# Names of buckets before the host.
printf '[default]\nregion = us-east-1\ns3 =\n  addressing_style = virtual\n' \
    >"$work/config"
AWS_ENDPOINT_URL=http://localhost:$port run 0 backup "$store" s3://other
rm "$work/config"
run 0 check s3://other/
restores s3://other | cmp -s - "$work/second" || complain 'it has other rows'

# ------------------------------------------------------------------ faults ---

# kinds WORD... -- WORD...: the first ones, and in script/soak also the others.
kinds() {
    local words=" $* "

    if [ -n "${COLANDER_RUNS:-}" ]; then
        echo "${words/ -- / }"
    else
        echo "${words%% -- *}"
    fi
}

# What passes when it is tried again.
for what in $(kinds 500 drop slow -- 503 429 408 empty); do
    for on in PUT GET; do
        faults "[{\"on\": \"$on\", \"what\": \"$what\", \"times\": 2}]"
        run 0 backup "$store" "s3://bucket/$what-$on"
        faults_left
    done
    run 0 check "s3://bucket/$what-PUT"
done
for what in $(kinds cut short liar whole -- 500 503 drop slow long); do
    faults "[{\"on\": \"GET\", \"match\": \"/files/\", \"what\": \"$what\",
              \"times\": 2}]"
    restores "$address" | cmp -s - "$work/second" ||
        complain "after '$what' it has other rows"
    faults_left
done

# What does not pass is an error, and never a wrong store.
for what in $(kinds drop cut short liar long 404 416 flip -- 500 503 403); do
    faults "[{\"on\": \"GET\", \"match\": \"/files/\", \"what\": \"$what\",
              \"times\": 1000000}]"
    refuses 4 "$address"
    says_some "'files/[0-9a-f]+-[0-9]+-[0-9a-f]+'"
done
for what in 500 xml loop error-in-200 403 404; do
    faults "[{\"match\": \"prefix=\", \"what\": \"$what\", \"times\": 1000000}]"
    refuses 4 "$address"
    run 4 backup "$store" "$address"
done
for what in $(kinds 500 -- drop 403); do
    faults "[{\"on\": \"PUT\", \"match\": \"/backups/\", \"what\": \"$what\",
              \"times\": 1000000}]"
    run 4 backup "$store" "$address"
    faults '[]'
    run 0 backups "$address"
    [ "$(wc -l <"$work/out")" = 1 ] || complain "'$what' leaves a backup"
done

# Large objects are sent in parts. A part that fails is sent again; of what
# cannot be put together nothing stays.
export COLANDER_OBJECTS="s3://bucket/large ü+"
for what in $(kinds lost -- 500 drop); do
    faults "[{\"match\": \"partNumber=2\", \"what\": \"$what\"},
             {\"match\": \"uploads=\", \"what\": \"$what\"},
             {\"match\": \"?uploadId=\", \"on\": \"POST\",
              \"what\": \"$what\"}]"
    "$CLUSTER_OBJECTS" >"$work/out" 2>&1 || complain "$(cat "$work/out")"
    faults_left
done
# An error with status 200 is sent again, too, as any answer without XML.
for what in $(kinds error-in-200 -- xml empty); do
    for match in '?uploadId=' '?uploads='; do
        faults "[{\"match\": \"$match\", \"on\": \"POST\", \"times\": 2,
                  \"what\": \"$what\"}]"
        "$CLUSTER_OBJECTS" >"$work/out" 2>&1 || complain "$(cat "$work/out")"
        faults_left
    done
    faults "[{\"match\": \"prefix=\", \"what\": \"$what\", \"times\": 2}]"
    run 0 backups "$address"
    faults_left
done
for what in $(kinds error-in-200 -- 400); do
    faults "[{\"match\": \"?uploadId=\", \"on\": \"POST\",
              \"what\": \"$what\", \"times\": 1000000}]"
    ! "$CLUSTER_OBJECTS" >"$work/out" 2>&1 || complain "'$what' is ignored"
    grep -q "files/large'" "$work/out" || complain "$(cat "$work/out")"
done

faults '[{"what": "region", "times": 1000000}]'
run 1 backup "$store" "$address"
says_some "the bucket is in region 'eu-west-1', and not in 'us-east-1': "
faults '[]'
run 1 backup "$store" s3://no-such
says_some 'the server has no such bucket$'
AWS_SECRET_ACCESS_KEY=wrong run 4 backup "$store" "$address"
says_some '403, SignatureDoesNotMatch: not signed by the key "AKIDEXAMPLE"$'
AWS_ENDPOINT_URL=https://127.0.0.1:$port AWS_MAX_ATTEMPTS=1 \
    run 4 backup "$store" "$address"
run 0 check "$address"

# A server that is not there, and comes back.
stop_server
AWS_MAX_ATTEMPTS=1 run 4 check "$address"
says_some "127.0.0.1:$port: "

# TLS, with a certificate that only AWS_CA_BUNDLE knows.
if command -v openssl >/dev/null; then
    openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=test \
        -addext 'subjectAltName=IP:127.0.0.1' -keyout "$work/key" \
        -out "$work/certificate" 2>"$work/hello" || complain 'no certificate'
    cat "$work/key" "$work/certificate" >"$work/both"
    scheme=https
    start_server --certificate "$work/both"
    AWS_MAX_ATTEMPTS=2 run 4 backup "$store" s3://bucket/tls
    says_some 'certificate'
    export AWS_CA_BUNDLE=$work/certificate
    run 0 backup "$store" s3://bucket/tls
    restores s3://bucket/tls | cmp -s - "$work/second" ||
        complain 'it has other rows'
    stop_server
fi

[ ! -s "$work/server" ] || complain "the server says $(cat "$work/server")"
finish
