/*
 * A statement of SQL, put together piece by piece.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BENCH_STATEMENT_H
#define BENCH_STATEMENT_H

#include "bench.h"

struct bench_statement {
    size_t size;
    char text[100000];
};

/* Empty, for the caller to free. */
struct bench_statement *bench_statement_create(void);

/* Appends; ends the program when it gets too long. */
void bench_statement_add(struct bench_statement *statement, const char *format,
                         ...) COLANDER_FORMAT(2, 3);

/* Appends bytes as they stand between single quotes. */
void bench_statement_add_quoted(struct bench_statement *statement,
                                const char *text, size_t size);

#endif
