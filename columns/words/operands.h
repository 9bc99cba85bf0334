/*
 * Operands: what values mean that were written, and their comparison with the
 * values at a path. A text that is a time means a string and timestamps. A
 * number that was written means that number and a string.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef COLANDER_COLUMNS_WORDS_OPERANDS_H
#define COLANDER_COLUMNS_WORDS_OPERANDS_H

#include "columns/words.h"

struct operand {
    struct colander_value value;  /* if has_value; borrowed */
    struct colander_times times;  /* if has_times */
    struct colander_slice digits; /* of a number, as written; else empty */
    bool has_value;
    bool has_times;
};

/* Returns the operand of a value that is not after an @. */
struct operand operand_of(struct colander_value value);

/* Creates the predicate that the scalars at `path` compare so with the
 * operands; with `is_folded`, texts whatever their case. `path` is NULL with
 * COLANDER_OPERATOR_ANY. */
COLANDER_CHECKED struct colander_predicate *
operands_compare(const char *path, enum colander_operator how, bool is_folded,
                 const struct operand *operands, size_t count,
                 struct colander_error *err);

#endif
