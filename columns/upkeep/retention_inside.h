/*
 * Policies of retention, for the files of this room.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef COLANDER_COLUMNS_UPKEEP_RETENTION_INSIDE_H
#define COLANDER_COLUMNS_UPKEEP_RETENTION_INSIDE_H

#include "columns/columns.h"
#include "columns/retention.h"

/* Sets *accepted to `given`. Fails with INVALID if it keeps every row. */
COLANDER_CHECKED enum colander_code
retention_accept(struct colander_retention *accepted,
                 const struct colander_retention *given,
                 struct colander_error *err);

/* Sets *where to the predicate that the policy does not keep a row, whose time
 * is at `path`, because of its age; NULL: it keeps every age. `reference` is
 * the time of the youngest row. */
COLANDER_CHECKED enum colander_code
retention_expired(const struct colander_retention *retention, const char *path,
                  const struct colander_value *reference,
                  struct colander_predicate **where,
                  struct colander_error *err);

/* Creates the predicate that the latest time at `path` compares with `time` as
 * `before` says, LT or LE. */
COLANDER_CHECKED struct colander_predicate *
retention_before(const char *path, enum colander_comparison before,
                 struct colander_value time, struct colander_error *err);

/* Returns the time column for which a policy was set, borrowed from it;
 * colander_family_retention returned it. */
const char *retention_path(const struct colander_retention *kept);

/* Fails with CANCELLED if the family has another policy than `kept`, which
 * colander_family_retention returned, or another time column. */
COLANDER_CHECKED enum colander_code
retention_check_same(struct colander_family *family,
                     const struct colander_retention *kept,
                     struct colander_error *err);

/* Returns the time from which ages count: the newest one, or the clock if that
 * is earlier. */
struct colander_value
retention_reference(const struct colander_retain_options *options,
                    const struct colander_value *newest);

/* Fails with INVALID if the family is that of a pattern (partitions.h), and the
 * policy looks at single rows. */
COLANDER_CHECKED enum colander_code
retention_check_pattern(const struct colander_family *family,
                        const struct colander_retention *retention,
                        struct colander_error *err);

/* Drops the families of the pattern whose rows, with times in `column`, are all
 * too old, and the oldest ones that are too large together. `kept` is the
 * policy of the pattern's own family; NULL: it is another one. */
COLANDER_CHECKED enum colander_code retention_drop_families(
    struct colander_family *pattern, const struct colander_retention *retention,
    const struct colander_retention *kept, const char *column,
    const struct colander_retain_options *options,
    struct colander_retained *done, struct colander_error *err);

/* Sets `path` to the family's time column. Fails with INVALID if it has none.
 */
COLANDER_CHECKED enum colander_code
retention_time_column(struct colander_family *family,
                      struct colander_buffer *path, struct colander_error *err);

#endif
