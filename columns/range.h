/*
 * Key ranges as the engine takes them: the first key, and the first after the
 * range, as bytes.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef COLANDER_COLUMNS_RANGE_H
#define COLANDER_COLUMNS_RANGE_H

#include "columns/columns.h"

struct byte_range {
    struct colander_buffer from;  /* empty: no bound */
    struct colander_buffer until; /* empty: no bound */
    bool is_empty;                /* no key is in it */
};

/* Copies the bounds. Fails with INVALID if one is not a key. The caller
 * releases `bytes`. */
COLANDER_CHECKED enum colander_code
byte_range_init(struct byte_range *bytes,
                const struct colander_key_range *range,
                struct colander_error *err);

void byte_range_release(struct byte_range *bytes);

#endif
