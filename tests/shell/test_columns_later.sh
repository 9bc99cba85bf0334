#!/bin/bash
# Columns added later: existing rows and filters are not rewritten, and the new
# columns can be found immediately.
#
# SPDX-License-Identifier: MIT
source "$(dirname "$0")/lib"
cd "$work" || exit 1

# Lists files of rows and of filters by size, time of change and checksum.
old_files() {
    find s -name '*.sst' -o -name '*.filter' | sort >files
    xargs stat -c '%n %s %y %i' <files
    xargs sha256sum <files
}

# untouched: all files that existed are unchanged
untouched() {
    [ -s before ] || complain 'there is nothing to compare'
    xargs stat -c '%n %s %y %i' <before_files >after 2>&1
    xargs sha256sum <before_files >>after 2>&1
    cmp -s before after || complain "$1: $(diff before after)"
}

# by_candidates CONDITION...: finds use candidates, and agree with a scan
by_candidates() {
    run 0 find s stations --scan "$@"
    cp out scanned
    run 0 find s stations --explain "$@"
    cmp -s out scanned || complain "'$last' finds something else than a scan"
    has_filters || return
    says_some '^plan +candidates'
    says_some '^files .*, 1 read'
}

# Prints the figure of `stats --json` from a line of the shell's output.
figure() { # LINE NAME
    sed -n "$1p" out | grep -o "\"$2\":[0-9]*" | head -n 1 | cut -d : -f 2
}

seq 0 19999 | sed 's/.*/{"_key":&,"name":"station &","celsius":&.5}/' >old.jsonl
seq 20000 24999 | sed 's/.*/{"_key":&,"name":"station &","ozone":{"max":&},"operator":"operator &"}/' \
    >new.jsonl

# ---- the files of the old rows -------------------------------------------------

run 0 load s stations old.jsonl
old_files >before
cp files before_files
if has_filters; then
    grep -q filter before_files || complain 'there is no filter'
fi
run 0 load s stations new.jsonl
untouched 'new columns touch what was there'
old_files >/dev/null
[ "$(wc -l <files)" -gt "$(wc -l <before_files)" ] ||
    complain 'the new rows are in no file'

by_candidates operator='operator 20007' --select operator
prints '{"_key":20007,"operator":"operator 20007"}'
by_candidates ozone.max=24000 --select ozone.max
prints '{"_key":24000,"ozone":{"max":24000}}'
by_candidates --any 'operator 24999' --select operator
prints_some '^\{"_key":24999,"operator":"operator 24999","_matched":\["operator"\]\}$'
run 0 find s stations ozone! --count
prints 20000
run 0 find s stations operator? celsius? --count
prints 0

# ---- an old row gets a new column ---------------------------------------------

printf '{"_key":7,"operator":"NILU"}\n' >patch.jsonl
run 0 load s stations patch.jsonl --on-duplicate patch
untouched 'a patch touches what was there'
by_candidates operator=NILU
prints '{"_key":7,"name":"station 7","celsius":7.5,"operator":"NILU"}'

# ---- and is found before it is in a file ----------------------------------------

printf '{"_key":8,"operator":"CNR"}\n' >second.jsonl
"$COLANDER" shell s >out 2>err <<'END' || complain "a shell fails: $(cat err)"
.load stations second.jsonl --on-duplicate patch
.find stations operator=CNR --explain
END
last='a shell that patches'
prints '{"_key":8,"name":"station 8","celsius":8.5,"operator":"CNR"}'
if has_filters; then
    says_some '^plan +candidates'
    says_some '^recent +1 candidate among rows in no SST file yet'
fi

# ---- one process, so that changes of filters can be counted ---------------------
# (Without a find: releasing its snapshot lets RocksDB compact old files.)

"$COLANDER" shell t >out 2>err <<'END' || complain "a shell fails: $(cat err)"
.load stations old.jsonl
local f = db:family("stations"):flush()
.stats stations --json
.load stations new.jsonl
.load stations patch.jsonl --on-duplicate patch
local f = db:family("stations"):flush()
.stats stations --json
END
last='a shell that loads'
if has_filters; then
    for name in rebuilt damaged errors; do
        for line in 1 2; do
            [ "$(figure $line $name)" = 0 ] ||
                complain "$name: $(figure $line $name)"
        done
    done
    for line in 1 2; do
        [ "$(figure $line built)" = $line ] ||
            complain "built: $(figure $line built), not $line"
    done
fi
finish
