#!/bin/bash
# A server as a service of systemd: it answers at a socket that it is given, and
# says when it is ready and when it ends.
#
# SPDX-License-Identifier: MIT
here=$(cd "$(dirname "$0")" && pwd)
source "$here/lib"
has_server || finish
python3 -c '' 2>/dev/null || finish
cd "$work" || exit 1

trap 'kill -9 "$(cat service.pid 2>/dev/null)" 2>/dev/null; rm -rf "$work"
      [ "$failures" = 0 ] || exit 1' EXIT
run 0 put data rows '{"_key":1,"n":7}'
printf 0123456789abcdef >token
chmod 600 token
export COLANDER_TOKEN_FILE=token

# service COUNT LINES ARG...: starts one, and waits for COUNT lines.
service() {
    local count=$1 lines=$2

    shift 2
    rm -f notify service.pid
    : >said
    python3 "$here/passed_socket.py" "$count" "$COLANDER" serve data "$@" \
        >said 2>serve.err </dev/null &
    service=$!
    until [ "$(grep -vc '^serving' said)" -ge "$lines" ]; do
        kill -0 "$service" 2>/dev/null || {
            complain "the service ends: $(cat serve.err)"
            finish
        }
        sleep 0.02
    done
}

# ends_service WORDS: after SIGTERM it has said this.
ends_service() {
    local said

    kill "$(cat service.pid)"
    wait "$service" || complain "the service exits $?: $(cat serve.err)"
    said=$(grep -v '^serving\|^127' said | paste -sd ' ')
    [ "$said" = "$1" ] || complain "the service says '$said', not '$1'"
}

service 1 2 --token-file token
run 0 find "http://$(head -1 said)" rows
prints '{"_key":1,"n":7}'
run 0 find data rows
prints '{"_key":1,"n":7}'
grep -q "^serving data at http://$(head -1 said)\$" said ||
    complain "it is announced as $(cat said)"
ends_service 'READY=1 STOPPING=1'

# Without a socket it only says how it is.
service 0 1
run 0 find data rows --count
ends_service 'READY=1 STOPPING=1'

# The units that docs/serve.md shows: systemd takes them, and so does serve.
docs=$here/../../docs/serve.md
sed -n '/^    \[Service\]$/,/^$/s/^    //p' "$docs" |
    sed "s|/usr/local/bin/colander|$COLANDER|" >colander.service
printf '[Socket]\n%s\n' "$(grep -o 'ListenStream=[0-9.:]*' "$docs" | head -1)" \
    >colander.socket
if [ -n "$(type -P systemd-analyze)" ]; then
    systemd-analyze verify --man=no "$work/colander.service" \
        "$work/colander.socket" >out 2>&1 ||
        complain "systemd-analyze: $(cat out)"
    ! grep -F "$work/colander." out >&2 || complain 'the units have mistakes'
fi
read -ra words <<<"$(sed -n 's|^ExecStart=.* serve /srv/data ||p' \
    colander.service | sed 's|%d|.|; s|/var/log/colander/||')"
service 1 2 "${words[@]}"
run 0 find "http://$(head -1 said)" rows --count
ends_service 'READY=1 STOPPING=1'
grep -q '"command":"find"' requests.jsonl ||
    complain "the log of a service is $(cat requests.jsonl)"

refuses() { # TEXT COUNT ARG...
    local text=$1 count=$2 status=0

    shift 2
    rm -f notify
    python3 "$here/passed_socket.py" "$count" "$COLANDER" serve data "$@" \
        >said 2>serve.err </dev/null || status=$?
    [ "$status" = 2 ] || complain "serve $* exits $status"
    grep -qe "$text" serve.err || complain "serve $* says $(cat serve.err)"
}
refuses 'systemd passes 2 sockets: the unit must have one ListenStream' 2 \
    --token-file token
finish
