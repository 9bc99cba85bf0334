/*
 * Predicates on spans of values, for times: a text such as a date means one
 * string and many timestamps.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef COLANDER_COLUMNS_PREDICATE_SPANS_H
#define COLANDER_COLUMNS_PREDICATE_SPANS_H

#include "columns/predicates.h"

/* Matches if the scalar at `path` is in none of the spans, each from
 * ends[2 * i] to ends[2 * i + 1], both included. */
COLANDER_CHECKED struct colander_predicate *
predicate_outside(const char *path, const struct colander_value *ends,
                  size_t span_count, struct colander_error *err);

/* Matches if any scalar in any column is from `low` to `high`, of one type. */
COLANDER_CHECKED struct colander_predicate *
predicate_any_between(struct colander_value low, struct colander_value high,
                      struct colander_error *err);

#endif
