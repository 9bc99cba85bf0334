#!/bin/bash
# Records of topics that patch and delete: what they do, in the order of the
# partition, and which are rejected.
#
# SPDX-License-Identifier: MIT
source "$(dirname "$0")/kafka_lib"

start_brokers 1

# operate TOPIC OPERATION LINE...: puts records with this header.
operate() {
    printf '%s\n' "${@:3}" >"$work/records"
    brokers op "$1" 0 "$work/records" "$2"
}

# rejected TEXT: the family of rejects has this reason.
rejected() {
    rows rows.rejects | grep -qF "\"reason\":\"$1" ||
        complain "no reject '$1' in '$(rows rows.rejects)'"
}

# --- in one chunk, each sees what is before it
brokers topic a 1
put a 0 '{"id":1,"a":1,"b":1}' '{"id":2,"a":1}' '{"id":3,"a":1}' '{"id":4}'
operate a patch '{"id":1,"b":2,"c":2}' '{"id":5,"new":true}' '{"id":3,"b":9}'
operate a delete '{"id":2}' '{"id":3,"more":"ignored"}' '{"id":77}'
put a 0 '{"id":3,"a":3}'
operate a patch '{"id":2,"b":5}'
operate a put '{"id":4,"a":4}'
follow 0 a --key id
says_some '^13 records read; 4 patch records; 3 deletes; 0 records behind'
has rows '{"_key":1,"id":1,"a":1,"b":2,"c":2}' '{"_key":2,"id":2,"b":5}' \
    '{"_key":3,"id":3,"a":3}' '{"_key":4,"id":4,"a":4}' \
    '{"_key":5,"id":5,"new":true}'
operate a delete '{"id":1}' '{"id":4}'
follow 0 a --key id
says_some '^2 records read; 2 deletes; '
has rows '{"_key":2,"id":2,"b":5}' '{"_key":3,"id":3,"a":3}' \
    '{"_key":5,"id":5,"new":true}'

# --- a delete may name the key as it is stored; columns of it count more
operate a put '{"id":6}' '{"id":7}' '{"id":8}'
operate a delete '{"_key":6}' '{"_key":8,"id":7}'
follow 0 a --key id
has rows '{"_key":2,"id":2,"b":5}' '{"_key":3,"id":3,"a":3}' \
    '{"_key":5,"id":5,"new":true}' '{"_key":8,"id":8}'
operate a delete '{"_key":8}'
follow 0 a --key id --type id=integer

# --- what cannot be done is kept
operate a remove '{"id":2}'
operate a patch '{"b":7}' 'no JSON'
operate a delete '{"other":2}'
follow 3 a --key id
says_some "; 4 rejected"
rejected "the header op is 'remove': it may be put, patch, delete, retain or row"
rejected "no column 'id' for the key"
[ "$(rows rows.rejects | grep -c "no column 'id'")" = 2 ] ||
    complain 'a patch or a delete without a key is not rejected'
has rows '{"_key":2,"id":2,"b":5}' '{"_key":3,"id":3,"a":3}' \
    '{"_key":5,"id":5,"new":true}'

# --- a null deletes the rows whose key is the text of its own
store=$work/nulls
brokers topic n 1
put n 0 '{"id":7}' '{"id":"7"}' '{"id":"07"}' '{"id":8}' '{"id":"x"}'
brokers null n 0 7
brokers null n 0 x
brokers null n 0 none
brokers null n 0
follow 3 n --key id
says_some '^9 records read; 1 rejected; 3 deletes; '
has rows '{"_key":8,"id":8}' '{"_key":"07","id":"07"}'
rejected 'the record is null, and it has no key: delete by a record with the header'
put n 0 '{"_key":8,"again":1}' '{"_key":["07",1]}'
brokers null n 0 07
store=$work/own
follow 3 n
rows rows | grep -q '"_key":8,"again":1}' || complain 'a _key is not there'
rows rows | grep -q '"_key":\["07",1\]' || complain 'a longer key was deleted'

# --- with a type, the text is read as one of it
store=$work/typed
follow 0 n --key id --type id=string --max-errors 99
has rows '{"_key":"8","id":"8"}'
store=$work/parts
brokers topic p 1
put p 0 '{"id":1,"at":2}'
brokers null p 0 1
follow 3 p --key id,at
rejected 'the record is null, and keys of rows have several parts: delete by'
has rows '{"_key":[1,2],"id":1,"at":2}'
operate p delete '{"id":1,"at":2}'
follow 0 p --key id,at
has rows
store=$work/hashes
follow 3 p --key :hash
rejected 'the record is null, and keys of rows are hashes: '
has rows
put p 0 '{"id":3,"at":4}'
follow 0 p --key :hash
hash=$(rows rows | cut -d '"' -f 4)
operate p delete "{\"_key\":\"$hash\"}"
follow 0 p --key :hash
has rows

# --- a retain deletes the rows before it that are old
brokers topic r 1
store=$work/retained
put r 0 '{"id":1,"at":"2026-01-01T10:00:00Z"}' '{"id":2,"at":"2026-02-01"}' \
    '{"id":3}' '{"id":4,"at":"2026-01-31T23:59:59Z"}'
operate r retain '{"time":"at","before":"2026-02-01T00:00:00Z"}'
put r 0 '{"id":5,"at":"2026-01-01T10:00:00Z"}'
follow 0 r --key id --type at=time
says_some '^6 records read; 1 retain record, which deleted 2 rows; 0 records'
has rows '{"_key":2,"id":2,"at":"TIME"}' '{"_key":3,"id":3}' \
    '{"_key":5,"id":5,"at":"TIME"}'
operate r retain '{"time":"at"}' '{"before":"2026-01-01"}' 'at' '[]' \
    '{"time":"at","before":"@now"}' '{"time":"at","before":7}' \
    '{"time":"at[","before":"2026-02-01"}' \
    '{"time":"at","before":"2026-02-01","keep":"1d"}' \
    "{\"time\":\"at\",\"before\":\"2026-02-01\"$(printf '%5000s')}"
put r 0 '{"id":6}'
follow 3 r --key id --type at=time
says_some '^10 records read; 9 rejected; 0 records'
rejected 'a retain names its column as \"time\"'
rejected '\"before\" of a retain must be a time, such as 2026-01-31T12:00:00Z'
rejected 'a retain has the texts \"time\", a column, and \"before\", a time'
rejected 'a retain has at most 4096 bytes'
[ "$(rows rows | wc -l)" = 4 ] || complain 'a bad retain deletes rows'
store=$work/days
run 3 follow "$store" 'days/{day}' "kafka://$brokers/r" --once \
    --partition at:day --type at=time
says_some 'rows are in families by time, which are dropped as a whole$'

# --- a row is put as it is stored
brokers topic w 1
store=$work/stored
printf '\x82\xa4_key\x07\xa1n\xa15\n' >"$work/records" # a line is a record
brokers op w 0 "$work/records" row
put w 0 '{"_key":8,"n":"5"}'
operate w row '{"_key":9}'
printf '\x81\xa1n\xa15\n' >"$work/records"
brokers op w 0 "$work/records" row
printf '\x82\xa4_key\x0b\xa1t\xda\x05\x01%01281d\n' 0 >"$work/records" # no byte is 0
brokers op w 0 "$work/records" row # as rows may grow
put w 0 "{\"_key\":12,\"t\":\"$(printf %01280d 0)\"}"
follow 3 w --type n=integer --record-size 1k
says_some '^3 rows loaded; 3 rejected; '
rejected 'the row has no _key'
rejected 'the record has 1298 bytes, more than the record size of 1024 bytes'
rows rows.rejects | grep -q '"size":1298,' || complain 'it has another size'
[ "$(rows rows | grep -c '"_key":11,')" = 1 ] ||
    complain 'a row that is larger than records may be is lost'
run 0 delete "$store" rows --key 11
has rows '{"_key":7,"n":"5"}' '{"_key":8,"n":5}'

# --- if rows that are there stay, a delete makes room
brokers topic k 1
put k 0 '{"id":1,"a":1}' '{"id":1,"a":2}'
operate k delete '{"id":1}'
put k 0 '{"id":1,"a":3}' '{"id":1,"a":4}'
operate k patch '{"id":1,"b":5}'
for what in keep error patch; do
    store=$work/$what
    status=0
    [ "$what" != error ] || status=3
    follow "$status" k --key id --on-duplicate "$what"
    wanted='{"_key":1,"id":1,"a":3,"b":5}'
    [ "$what" != patch ] || wanted='{"_key":1,"id":1,"a":4,"b":5}'
    has rows "$wanted"
done
finish
