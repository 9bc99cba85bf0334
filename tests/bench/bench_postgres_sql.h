/*
 * What PostgreSQL is told and asked about rows of jsonb: statements for the
 * table rows(key bigint, doc jsonb).
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BENCH_POSTGRES_SQL_H
#define BENCH_POSTGRES_SQL_H

#include "bench_statement.h"
#include "bench_work.h"

enum bench_postgres_way {
    BENCH_POSTGRES_SCAN,
    BENCH_POSTGRES_BTREE, /* of an expression */
    BENCH_POSTGRES_BRIN,  /* the same, a Bloom filter for each run of pages */
    BENCH_POSTGRES_BLOOM, /* the extension: a signature of each row */
    BENCH_POSTGRES_GIN,   /* of whole documents */
};

/* All indexes that the way has for the columns known beforehand. */
void bench_postgres_add_indexes(struct bench_statement *statement,
                                enum bench_postgres_way way,
                                const struct bench_work *work);

/* Whether one of them answers questions about the column; NULL: about any. */
bool bench_postgres_has_index(enum bench_postgres_way way,
                              const struct bench_work *work,
                              const char *column);

/* One more, for a column. */
void bench_postgres_add_index(struct bench_statement *statement,
                              enum bench_postgres_way way, const char *column);

/* The question for the value $1 in a column; NULL: in any, at any depth. */
void bench_postgres_add_question(struct bench_statement *statement,
                                 enum bench_postgres_way way,
                                 const struct bench_work *work,
                                 const char *column);

#endif
