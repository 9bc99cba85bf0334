/*
 * SQLite: lines as JSON text in one table, scanned, or found by indexes on
 * expressions, on one column or on each (bench_sqlite_rows.h). A search in any
 * column is an OR over all columns. It scans for values in arrays, which no
 * index can have.
 *
 * The integer key ascends, so each row is appended.
 *
 * SPDX-License-Identifier: MIT
 */
#include "bench_lines.h"
#include "bench_peer.h"
#include "bench_sqlite_rows.h"

#include <sqlite3.h>
#include <stdlib.h>

struct peer {
    const struct bench_work *work;
    enum bench_peer_indexes indexes;
    struct bench_sqlite *rows;
    struct bench_sqlite_question *question; /* NULL: none yet */
};

static const struct bench_peer_way ways[] = {
    {"SQLite, scan", BENCH_PEER_NONE, 0, true},
    {"SQLite, index on one", BENCH_PEER_ONE, 0, true},
    {"SQLite, index on all", BENCH_PEER_ALL, 0, true},
};

/* ---------------------------------------------------------- open, close --- */

static void *
open_peer(const char *directory, const struct bench_work *work,
          const struct bench_peer_way *way, const char **reason)
{
    struct peer *peer = bench_allocate(1, sizeof(*peer));

    (void)reason;
    peer->work = work;
    peer->indexes = way->indexes;
    peer->rows = bench_sqlite_open(directory);
    return peer;
}

static void
close_peer(void *it)
{
    struct peer *peer = it;

    bench_sqlite_question_destroy(peer->question);
    bench_sqlite_close(peer->rows);
    free(peer);
}

/* ------------------------------------------------------------- loading --- */

static void
load(void *it, const char *path)
{
    const struct peer *peer = it;
    const struct colander_slice lines = bench_map(path);
    struct colander_slice rest = lines;
    struct colander_slice line;

    while (bench_next_line(&rest, &line))
        bench_sqlite_add(peer->rows, bench_work_key(peer->work, line), line);
    bench_sqlite_commit(peer->rows);
    bench_unmap(lines);
}

static bool
has_array(const char *path)
{
    return strchr(path, BENCH_PATH_ELEMENT) != NULL;
}

static void
make_indexes(void *it)
{
    const struct peer *peer = it;

    if (peer->indexes == BENCH_PEER_ONE)
        bench_sqlite_index(peer->rows, peer->work->chosen);
    if (peer->indexes == BENCH_PEER_ONE &&
        peer->work->about == BENCH_WORK_OF_NUMBERS)
        bench_sqlite_index(peer->rows, peer->work->other);
    for (size_t i = 0;
         peer->indexes == BENCH_PEER_ALL && i < peer->work->path_count; i++) {
        if (!has_array(peer->work->paths[i]))
            bench_sqlite_index(peer->rows, peer->work->paths[i]);
    }
}

static void
settle(void *it)
{
    const struct peer *peer = it;

    bench_sqlite_settle(peer->rows);
}

static bool
add_column(void *it, const char *column)
{
    const struct peer *peer = it;

    if (peer->indexes == BENCH_PEER_NONE)
        return false;
    bench_sqlite_index(peer->rows, column);
    return true;
}

/* -------------------------------------------------------------- asking --- */

static void
prepare(void *it, const struct bench_work_question *example)
{
    const char *column = example->column;
    struct peer *peer = it;
    const struct bench_work *work = peer->work;

    bench_sqlite_question_destroy(peer->question);
    if (example->how == BENCH_WORK_FROM_TO) {
        peer->question = bench_sqlite_range_prepare(peer->rows, column, true);
        return;
    }
    peer->question = column != NULL
                         ? bench_sqlite_question_prepare(peer->rows, &column, 1)
                         : bench_sqlite_question_prepare(
                               peer->rows, (const char *const *)work->paths,
                               work->has_arrays ? 0 : work->path_count);
}

static uint64_t
ask(void *it, const struct bench_work_question *question)
{
    const struct peer *peer = it;
    const struct colander_value value = colander_text(question->value);

    if (question->how == BENCH_WORK_FROM_TO) {
        const struct colander_value ends[] = {
            colander_integer(strtoll(question->value, NULL, 10)),
            colander_integer(strtoll(question->to, NULL, 10)),
        };

        return bench_sqlite_read(peer->question, ends, 2, NULL, NULL);
    }
    return bench_sqlite_ask(peer->question, &value);
}

const struct bench_peer bench_peer_sqlite = {
    .ways = ways,
    .way_count = sizeof(ways) / sizeof(ways[0]),
    .version = "SQLite " SQLITE_VERSION,
    .open = open_peer,
    .load = load,
    .index = make_indexes,
    .settle = settle,
    .prepare = prepare,
    .ask = ask,
    .add_column = add_column,
    .close = close_peer,
};
