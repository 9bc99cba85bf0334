/*
 * PostgreSQL for texts: jsonb in one table, on a private server, and GIN of the
 * words of one column (to_tsvector, which here splits words as Colander does),
 * of the words of all texts of a row, whose column is then compared, or of the
 * trigrams of one column. Without an index for a question it scans. A column
 * that came later gets an index of its own, unless it is in that of all texts.
 *
 * SPDX-License-Identifier: MIT
 */
#include "bench_peer.h"
#include "bench_postgres_rows.h"

#include <stdlib.h>

enum way { WORDS, ALL_WORDS, TRIGRAMS };

#define ALL "jsonb_to_tsvector('simple', doc, '[\"string\"]')"
#define QUERY "phraseto_tsquery('simple', $1)"

struct peer {
    const struct bench_work *work;
    enum way way;
    struct pg_conn *connection;
};

static const struct bench_peer_way ways[] = {
    {"PostgreSQL, GIN of words", BENCH_PEER_ONE, WORDS, false},
    {"PostgreSQL, GIN of all words", BENCH_PEER_ALL, ALL_WORDS, false},
    {"PostgreSQL, GIN of trigrams", BENCH_PEER_ONE, TRIGRAMS, false},
};

static void *
open_peer(const char *directory, const struct bench_work *work,
          const struct bench_peer_way *way, const char **reason)
{
    struct peer *peer = bench_allocate(1, sizeof(*peer));

    peer->work = work;
    peer->way = (enum way)way->number;
    peer->connection = bench_postgres_open(directory, reason);
    if (peer->connection != NULL)
        return peer;
    free(peer);
    return NULL;
}

static void
close_peer(void *it)
{
    struct peer *peer = it;

    bench_postgres_close(peer->connection);
    free(peer);
}

static void
load(void *it, const char *path)
{
    const struct peer *peer = it;

    bench_postgres_load(peer->connection, peer->work, path);
}

static bool
add_column(void *it, const char *column)
{
    const struct peer *peer = it;
    struct colander_buffer statement = COLANDER_BUFFER_EMPTY;

    if (peer->way == ALL_WORDS) { /* it has what it needs, unmerged */
        bench_postgres_run(peer->connection,
                           "SELECT gin_clean_pending_list('all_words')");
        return true;
    }
    bench_print(&statement,
                peer->way == WORDS
                    ? "CREATE INDEX ON rows USING gin "
                      "(to_tsvector('simple', doc->>'%s'))"
                    : "CREATE INDEX ON rows USING gin ((doc->>'%s') "
                      "gin_trgm_ops)",
                column);
    bench_postgres_run_made(peer->connection, &statement);
    return true;
}

static void
make_indexes(void *it)
{
    const struct peer *peer = it;

    if (peer->way == ALL_WORDS)
        bench_postgres_run(peer->connection,
                           "CREATE INDEX all_words ON rows USING gin (" ALL
                           ")");
    else {
        bench_postgres_run(peer->connection,
                           "CREATE EXTENSION IF NOT EXISTS pg_trgm");
        (void)add_column(it, BENCH_WORK_TEXT_COLUMN);
    }
}

static void
settle(void *it)
{
    const struct peer *peer = it;

    bench_postgres_settle(peer->connection);
}

static uint64_t
size_of(void *it)
{
    const struct peer *peer = it;

    return bench_postgres_size(peer->connection);
}

static void
prepare(void *it, const struct bench_work_question *example)
{
    const struct peer *peer = it;
    struct colander_buffer statement = COLANDER_BUFFER_EMPTY;

    bench_print(&statement, "DEALLOCATE ALL;"
                            "PREPARE question(text) AS SELECT doc FROM rows "
                            "WHERE ");
    if (peer->way == TRIGRAMS || example->how == BENCH_WORK_HAS_PIECE) {
        bench_print(&statement, "doc->>'%s' ILIKE '%%' || $1 || '%%'",
                    example->column);
    } else {
        if (peer->way == ALL_WORDS)
            bench_print(&statement, ALL " @@ " QUERY " AND ");
        bench_print(&statement, "to_tsvector('simple', doc->>'%s') @@ " QUERY,
                    example->column);
    }
    bench_postgres_run_made(peer->connection, &statement);
}

static uint64_t
ask(void *it, const struct bench_work_question *question)
{
    const struct peer *peer = it;

    return bench_postgres_ask(peer->connection, "question", question);
}

const struct bench_peer bench_peer_postgres_texts = {
    .is_server = true,
    .ways = ways,
    .way_count = sizeof(ways) / sizeof(ways[0]),
    .version = bench_postgres_version,
    .open = open_peer,
    .load = load,
    .index = make_indexes,
    .settle = settle,
    .size = size_of,
    .prepare = prepare,
    .ask = ask,
    .add_column = add_column,
    .close = close_peer,
};
