/*
 * Tally: how often each column matched.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef SHELL_TALLY_H
#define SHELL_TALLY_H

#include "colander.h"

#define TALLY_COLUMNS_MAX 64 /* columns told by name; the rest together */

struct tally {
    struct tally_column {
        char *path;
        uint64_t count;
    } columns[TALLY_COLUMNS_MAX];
    size_t column_count;
    uint64_t other_count;
};

COLANDER_CHECKED enum colander_code
tally_add(struct tally *tally, const struct colander_columns *columns,
          struct colander_error *err);

/* Appends "user 3, text 1"; "nothing" when nothing was added. */
COLANDER_CHECKED enum colander_code tally_append(const struct tally *tally,
                                                 struct colander_buffer *text,
                                                 struct colander_error *err);

void tally_release(struct tally *tally);

#endif
