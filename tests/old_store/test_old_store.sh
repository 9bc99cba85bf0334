#!/bin/bash
# A store written by an old release, whose process was killed, can be opened,
# answers as it did then, continues its loads, and passes check.
#
# SPDX-License-Identifier: MIT
here=$(cd "$(dirname "$0")" && pwd)
source "$here/../shell/lib"
cd "$work" || exit 1

# unpack DIRECTORY: unpacks the old store as STORE in it.
unpack() {
    mkdir "$1" && tar -xzf "$here/store.tar.gz" -C "$1" || exit 1
}

unpack asked
"$here/ask" "$COLANDER" asked/store < "$here/questions" > answers ||
    complain 'a question fails'
diff "$here/answers" answers > differences ||
    complain "other answers: $(head -n 20 differences)"
run 0 check asked/store

# Even if it is first opened for reading.
unpack checked
run 0 check checked/store
"$here/ask" "$COLANDER" checked/store < "$here/questions" |
    cmp -s - "$here/answers" || complain 'other answers after a check'

# Old filters know no columns, and are asked for one when they are loaded.
unpack filtered
versions() { # STORE: of the filters
    for filter in "$1"/filters/*.filter; do
        od -An -tu4 -j8 -N4 "$filter"
    done | sort -u | tr -d ' \n'
}
run 0 shell --readonly filtered/store -e 'local bulk = db:family("bulk") pcall(bulk.await_filters, bulk)
    print(bulk:find{"fault?"}:count() .. " " .. bulk:find{"fault?", "humidity?"}:count())'
prints '10 10'
[ "$(versions filtered/store)" = 2 ] ||
    complain "filters of version $(versions filtered/store) in the store"

# They are rebuilt while the store is open for writing.
if has_filters; then
    run 0 shell filtered/store -e 'db:family("bulk"):await_filters()
        print(db:family("bulk"):find{"fault?"}:count())'
    prints 10
    [ "$(versions filtered/store)" = 7 ] ||
        complain "filters of version $(versions filtered/store) after a while"
fi

# Those of version 4 know words, and have no dictionaries to find pieces by.
pieces() { # STORE: the numbers of rows that some searches find
    for sought in text~~ousto 'text:caf*' 'text~~n col' id_str~~00050 text:houston; do
        "$COLANDER" find "$1" tweets "$sought" --count
        "$COLANDER" find "$1" tweets "$sought" --count --scan
    done | paste - - | tr '\t' ' '
}
tar -xzf "$here/filters_4.tar.gz" || exit 1
pieces store > before
[ "$(awk '$1 == $2 && $1 > 0' before | wc -l)" = 5 ] ||
    complain "pieces without dictionaries: $(cat before)"
if has_filters; then
    [ "$(versions store)" = 4 ] ||
        complain "filters of version $(versions store) in the store"
    run 0 shell store -e 'db:family("tweets"):await_filters()'
    [ "$(versions store)" = 7 ] ||
        complain "filters of version $(versions store) after a while"
    pieces store | cmp -s - before || complain 'other pieces in new filters'
    run 0 find store tweets id_str~~00050 --explain --count
    says_some '^words    [*]00050[*] [(]1 word of dictionaries'
fi

# Those of version 6 know the order of columns as those of today do.
rm -rf store
tar -xzf "$here/filters_6.tar.gz" || exit 1
ranges() { # STORE: the numbers of rows of some ranges
    for range in 'n>=1200000 n<1300000' word~wab 'd>2000' 'd>1.5 d<2.5' 'n>3900500'; do
        # shellcheck disable=SC2086 # several conditions
        "$COLANDER" find "$1" rows $range --count
        # shellcheck disable=SC2086
        "$COLANDER" find "$1" rows $range --count --scan
    done | paste - - | tr '\t' ' '
}
ranges store > before
printf '%s\n' '43 43' '17 17' '94 94' '117 117' '19 19' | cmp -s - before ||
    complain "ranges of filters of version 6: $(cat before)"
if has_filters; then
    [ "$(versions store)" = 6 ] ||
        complain "filters of version $(versions store) in the store"
    run 0 find store rows n\>3900500 --explain --count
    says_some '^order    n in order'
    run 0 shell store -e 'db.rows:await_filters()'
    [ "$(versions store)" = 7 ] ||
        complain "filters of version $(versions store) after a while"
    ranges store | cmp -s - before || complain 'other ranges in new filters'
fi

# Only what the last load had not read; rows deleted since stay deleted.
unpack resumed
cd resumed
lua5.4 "$here/records.lua" tweets 1 510 |
    "$COLANDER" load store tweets - --schema tweet --resume 2>err ||
    complain "cannot resume: $(cat err)"
run 0 find store tweets --count
prints 509
set -- --from '"900000000000000501"' --to '"900000000000000510"'
run 0 find store tweets "$@" --count
prints 10
run 0 find store tweets --key '"900000000000000018"' --count
prints 0
run 0 check store

finish
