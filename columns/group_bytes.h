/*
 * Groups as bytes, so that rows are grouped where they are: what is asked of
 * another process, and what it knows of its rows then. For the layers above
 * only: exported, but not installed.
 *
 * What is known of each group (its count, sums, sketches) is merged with that
 * of others, exactly as groups of threads are: the result is the same as if all
 * rows had been added in one place.
 *
 * Bytes from elsewhere are not trusted. They are maps with a version, limited
 * as rows are (limits.h); groups made of them take the memory that the grouping
 * allows.
 *
 * Bytes:  columns/FORMAT.md, "Groups"
 * Life:   colander_grouping_encode -> there: colander_grouping_decode, rows are
 *         added, colander_groups_encode, ... -> here: colander_groups_add_bytes
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef COLANDER_COLUMNS_GROUP_BYTES_H
#define COLANDER_COLUMNS_GROUP_BYTES_H

#include "columns/groups.h"

/* Returns whether another process groups rows as this one does. It does not if
 * the caller gives values, or if a bucket is of the zone "local". */
COLANDER_API bool
colander_groups_may_move(const struct colander_groups *groups);

/* Appends the keys, measures and limit of memory. After a failure nothing is
 * appended. */
COLANDER_API COLANDER_CHECKED enum colander_code
colander_grouping_encode(const struct colander_groups *groups,
                         struct colander_buffer *bytes,
                         struct colander_error *err);

/* Creates groups of the same keys and measures. They may take `size_max` bytes,
 * or fewer if the other process allows fewer. `is_cancelled` may be NULL. Fails
 * with INVALID or LIMIT for bytes that no encoding writes. */
COLANDER_API COLANDER_CHECKED enum colander_code colander_grouping_decode(
    struct colander_slice bytes, size_t size_max, bool (*is_cancelled)(void),
    struct colander_groups **groups, struct colander_error *err);

/* Creates groups without rows, with the same keys, measures, limit of memory
 * and cancellation. The groups may move. */
COLANDER_API COLANDER_CHECKED enum colander_code
colander_groups_create_like(const struct colander_groups *groups,
                            struct colander_groups **like,
                            struct colander_error *err);

/* Where the next bytes begin. Starts zeroed. */
struct colander_groups_place {
    size_t group;
    size_t measure;
    size_t value;
    bool is_end; /* all groups were encoded */
};

/* Appends what is known of the next groups: some 64 KiB, or what one measure of
 * one group needs. Fails with LIMIT if that is more than a row may have. After
 * a failure nothing is appended. No rows may be added meanwhile. */
COLANDER_API COLANDER_CHECKED enum colander_code colander_groups_encode(
    struct colander_groups *groups, struct colander_groups_place *place,
    struct colander_buffer *bytes, struct colander_error *err);

/* Adds what was encoded, of groups with the same keys and measures. Fails as
 * colander_groups_add does, and with INVALID for other bytes; after a failure
 * the groups can only be destroyed. */
COLANDER_API COLANDER_CHECKED enum colander_code
colander_groups_add_bytes(struct colander_groups *groups,
                          struct colander_slice bytes,
                          struct colander_error *err);

/* Returns what `is_cancelled` of the grouping does; false without one. */
COLANDER_API bool
colander_groups_is_cancelled(const struct colander_groups *groups);

#endif
