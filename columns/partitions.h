/*
 * Partitions: rows that are in families by their times, one for each hour, day
 * or month.
 *
 * A pattern is a name with {hour}, {day} or {month} in it. Rows of 26 November
 * 2026 belong to the family "logs/2026-11-26" of the pattern "logs/{day}", to
 * "logs/2026-11-26T13" of "logs/{hour}", and to "logs/2026-11" of
 * "logs/{month}". All is in UTC. Names in byte order are in the order of time.
 *
 * The family whose own name is the pattern has no rows. It has what is common
 * to all: the time column, filter options, resume points of loads, and a policy
 * of retention, which drops families as a whole.
 *
 * A family is found by its name alone: a program that writes a row into another
 * family than that of its time finds it only there.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef COLANDER_PARTITIONS_H
#define COLANDER_PARTITIONS_H

#include "core/core.h"

#ifdef __cplusplus
extern "C" {
#endif

struct colander_store;

/* Returns "hour", "day" or "month" if the name is a pattern, else NULL. */
COLANDER_API const char *colander_partition_unit(const char *name);

/* Fails with INVALID if the time, in seconds since 1970, is not of a year from
 * 1970 to 2199: it is probably wrong. */
COLANDER_API COLANDER_CHECKED enum colander_code
colander_partition_check(int64_t second, struct colander_error *err);

/* Sets `name` to the name of the family for rows of this time, a C string.
 * Fails with INVALID if it is not a pattern, or as colander_partition_check. */
COLANDER_API COLANDER_CHECKED enum colander_code
colander_partition_family(const char *pattern, int64_t second,
                          struct colander_buffer *name,
                          struct colander_error *err);

/* Returns whether `name` is that of a family of the pattern. Its times are then
 * from second *from on, and before second *until. */
COLANDER_API bool colander_partition_times(const char *pattern,
                                           const char *name, int64_t *from,
                                           int64_t *until);

/* Returns whether the name selects families by their names: it is a pattern, or
 * has a `*` in it. */
COLANDER_API bool colander_name_selects(const char *name);

/* Returns whether the name is the text, in which each `*` is any bytes, also
 * none. */
COLANDER_API bool colander_name_is_like(const char *name, const char *text);

/* Keeps those of `names` that are selected, in their order: a pattern selects
 * its families, another name those that are like it. Names that are patterns
 * are never selected. */
COLANDER_API void colander_names_select(struct colander_names *names,
                                        const char *selector);

#ifdef __cplusplus
}
#endif

#endif
