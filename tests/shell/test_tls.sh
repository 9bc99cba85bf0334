#!/bin/bash
# TLS: certificates of an authority that is made here, clients that trust it,
# and clients that do not.
#
# SPDX-License-Identifier: MIT
source "$(dirname "$0")/lib"
docs=$(cd "$(dirname "$0")/../../docs" && pwd)/serve.md
has_server || finish
command -v openssl >/dev/null || finish
cd "$work" || exit 1

# certify NAME SUBJECT-NAMES DAYS: a key and a certificate of the authority.
certify() {
    {
        openssl req -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes \
            -keyout "$1.key" -out "$1.csr" -subj "/CN=$1" &&
            openssl x509 -req -in "$1.csr" -CA ca.pem -CAkey ca.key -days "$3" \
                -CAcreateserial -out "$1.pem" \
                -extfile <(echo "subjectAltName=$2")
    } >openssl.out 2>&1 || complain "openssl: $(cat openssl.out)"
}

openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes \
    -keyout ca.key -out ca.pem -subj '/CN=Made here' -days 30 2>openssl.out ||
    complain "openssl: $(cat openssl.out)"
certify good IP:127.0.0.1,DNS:localhost 30
certify other DNS:store.example 30
printf '%s\n' 0123456789abcdef >token
chmod 600 token
export COLANDER_TOKEN_FILE=token COLANDER_CA_FILE=ca.pem
unset SSL_CERT_FILE
seq 20000 | sed 's/.*/{"_key":&,"n":&,"text":"some words of row &"}/' >rows.jsonl
run 0 load data rows rows.jsonl
run 0 find data rows
cp out whole

# A key that others can read is none.
for mode in 644 604 660; do
    chmod $mode good.key
    run 2 serve data --listen 127.0.0.1:0 --token-file token --cert good.pem \
        --key good.key
    says "colander: serve: others may read the key 'good.key': chmod 600 it"
done
chmod 640 good.key

# The same commands, rows, output and status as without.
serve data --listen 127.0.0.1:0 --token-file token --cert good.pem --key good.key
[[ $url == https://127.0.0.1:* ]] || complain "$(cat serve.out)"
run 0 find "$url" rows
cmp -s out whole || complain 'rows differ by TLS'
run 0 find "$url" rows n=77 --select n
prints '{"_key":77,"n":77}'
run 0 load "$url" more rows.jsonl --key n
run 0 find "$url" more --count
prints 20000
run 0 find "https://localhost:${url##*:}" rows n=5 --count
prints 1
run 1 find "$url" none
says_some "no family 'none'"
for version in 1 1_1; do
    openssl s_client "-tls$version" -cipher DEFAULT@SECLEVEL=0 \
        -connect "${url#https://}" </dev/null >openssl.out 2>&1 &&
        complain "TLS $version is spoken"
done
openssl s_client -tls1_2 -connect "${url#https://}" </dev/null >openssl.out \
    2>&1 || complain 'TLS 1.2 is not spoken'
curl -sS --cacert ca.pem -H 'Authorization: Bearer 0123456789abcdef' \
    "$url/find/rows" >lines 2>&1
[ "$(sed '$d' lines)" = "$(cat whole)" ] || complain 'curl gets other rows'
curl -sS --cacert ca.pem -H 'Accept: text/html' "$url/" >page.html
grep -q '^<!doctype html>' page.html || complain 'no page by TLS'

# The Host may be a name: browsers ask only for those of the certificate. An
# Origin is of this server, and has its scheme.
status() {
    curl -sS -o /dev/null -w '%{http_code}' --cacert ca.pem "$@" "$url/health"
}
[ "$(status -H 'Host: store.example')" = 200 ] || complain 'a Host is refused'
[ "$(status -H "Origin: $url")" = 200 ] || complain 'its own Origin is refused'
[ "$(status -H "Origin: http${url#https}")" = 403 ] ||
    complain 'an Origin without TLS is let in'
[ "$(status -H 'Origin: https://other.example')" = 403 ] ||
    complain 'another Origin is let in'

# Many clients at once, some of which leave, and some speak no TLS.
for i in $(seq 8); do
    curl -sS --cacert ca.pem -H 'Authorization: Bearer 0123456789abcdef' \
        "$url/find/rows?reverse=$((i % 2))" >"got.$i" 2>&1 &
    clients[i]=$!
    curl -s --cacert ca.pem -H 'Authorization: Bearer 0123456789abcdef' \
        "$url/find/rows" | head -c 100 >/dev/null
    (
        trap '' PIPE # the server may close the connection first
        exec 9<>"/dev/tcp/127.0.0.1/${url##*:}"
        printf 'GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n' >&9
    ) 2>/dev/null
done
wait "${clients[@]}"
for i in $(seq 8); do
    tail -1 "got.$i" | grep -q '^{"_end":{"rows":20000}}$' ||
        complain "a client gets $(tail -c 200 "got.$i")"
done

# Clients that do not trust it send nothing.
COLANDER_CA_FILE= run 1 find "$url" rows
says_some "cannot reach 'https://127.0.0.1:[0-9]*': SSL certificate problem: "
COLANDER_CA_FILE=good.csr run 1 find "$url" rows
says_some "cannot reach '.*': error setting certificate file: good.csr"
run 1 find "http${url#https}" rows
says_some "cannot reach 'http://127.0.0.1:[0-9]*'"
stop
serve data --listen 127.0.0.1:0 --token-file token --cert other.pem --key other.key
run 1 find "$url" rows
says_some "cannot reach '.*': SSL: no alternative certificate subject name"
stop
serve data --listen 127.0.0.1:0 --token-file token
run 1 find "https${url#http}" rows
says_some "cannot reach 'https:"
stop

# What cannot be used is said before anything is served.
serves_not() { # STATUS TEXT ARG...
    local status=$1 text=$2

    shift 2
    run "$status" serve data --listen 127.0.0.1:0 --token-file token "$@"
    says_some "$text"
}
serves_not 2 '--cert and --key need each other' --cert good.pem
serves_not 2 '--cert and --key need each other' --key good.key
run 2 serve data --cert good.pem --key good.key
says_some '--cert and --key need each other, and --listen'
serves_not 4 "cannot read 'none.pem': No such file" --cert none.pem --key good.key
serves_not 2 "'good.key' has no 'BEGIN CERTIFICATE': it must be in PEM" \
    --cert good.key --key good.key
cp good.pem certificate.key
chmod 600 certificate.key
serves_not 2 "'certificate.key' has no 'PRIVATE KEY'" --cert good.pem \
    --key certificate.key
serves_not 2 'cannot start to listen with this certificate and key' \
    --cert good.pem --key other.key
# GnuTLS forgets to free such a certificate, which a sanitizer would report.
head -3 good.pem >half.pem
ASAN_OPTIONS=${ASAN_OPTIONS:-}:detect_leaks=0 serves_not 2 'cannot start to listen with this certificate and key' \
    --cert half.pem --key good.key
run 0 find data rows --count
prints 20000

# The certificate of docs/serve.md, which signs itself.
command=$(sed -n 's/^    \(openssl req .*\)$/\1/p' "$docs" |
    sed 's/IP:[0-9.]*/IP:127.0.0.1/')
eval "$command" 2>openssl.out || complain "'$command': $(cat openssl.out)"
serve data --listen 127.0.0.1:0 --token-file token --cert cert.pem --key key.pem
COLANDER_CA_FILE=cert.pem
run 0 find "$url" rows n=77 --count
prints 1
stop
finish
