/*
 * Finds and gets: rows as answers.
 *
 * Rows are JSON lines, or msgpack maps one after the other, each with its key
 * as "_key". The last frame of a find has no "_key": {"_end":{"rows":5}}, or
 * {"error":{...}} if it failed after it had begun.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef SERVE_FIND_H
#define SERVE_FIND_H

#include "serve/serve_inside.h"

struct parameters;

/* Makes the writer of the rows that meet conditions. The parameters are taken
 * on success. A failure is in the parameter *parameter (NULL: in none), at byte
 * *offset. */
enum colander_code find_rows(struct server *server,
                             struct parameters *parameters,
                             struct writer **writer, const char **parameter,
                             size_t *offset, struct colander_error *err);

/* The same for the row with a key. Its answer has no last frame. */
enum colander_code find_row(struct server *server,
                            struct parameters *parameters,
                            struct writer **writer, const char **parameter,
                            size_t *offset, struct colander_error *err);

#endif
