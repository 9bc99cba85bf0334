#!/bin/bash
# Backups in S3 as any server keeps them: $S3_SERVER names one, or it is our
# own. script/test-cluster runs this with others.
#
# SPDX-License-Identifier: MIT
source "$(dirname "$0")/lib"

start_server
COLANDER_OBJECTS="s3://bucket/objects +ü" "$CLUSTER_OBJECTS" \
    >"$work/out" 2>&1 || complain "$(cat "$work/out")"
for address in s3://bucket "s3://bucket/a b+c/ünï~/(1)=,;@:$'&" \
    's3://bucket/%20/*?#[]{}|^"<>' 's3://bucket/日本/\'; do
    rm -rf "$store"
    load 1 500
    rows "$store" >"$work/first"
    run 0 backup "$store" "$address"
    load 501 1000
    rows "$store" >"$work/second"
    run 0 backup "$store" "$address"
    prints_some '^backup +000002, '
    prints_some '^copied .*, the others were there already$'
    run 0 check "$address"
    prints_some '^checked +2 backups: '
    restores "$address" --number 1 | cmp -s - "$work/first" ||
        complain "'$address': the first has other rows"
    run 0 backup "$store" "$address" --keep 1
    prints_some '^removed +2 older backups$'
    run 0 backups "$address"
    [ "$(wc -l <"$work/out")" = 1 ] || complain "'$address': old backups stay"
    restores "$address" | cmp -s - "$work/second" ||
        complain "'$address': it has other rows"
done
AWS_SECRET_ACCESS_KEY=wrong run 4 backups s3://bucket
says_some ' 403, SignatureDoesNotMatch'
finish
