/*
 * Reductions: rows that a server maps and reduces for another one, by functions
 * of a client, so that only the result is sent.
 *
 * The functions run as request scripts do, and see less. Whatever is wrong with
 * them, the rows are sent instead: so this decides nothing, and a function
 * fails where its script runs. Memory is limited, the time for each row, and
 * for all.
 *
 * Threads: any, one reduction each
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef SHELL_REDUCTION_H
#define SHELL_REDUCTION_H

#include "serve/serve.h"

/* Is server_reduce. */
bool reduction_run(struct colander_cursor *cursor, const char *map,
                   const char *reduce, bool (*is_over)(void),
                   struct colander_buffer *row);

#endif
