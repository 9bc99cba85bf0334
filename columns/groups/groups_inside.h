/*
 * Groups, as the files of this folder know them.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef COLANDER_COLUMNS_GROUPS_GROUPS_INSIDE_H
#define COLANDER_COLUMNS_GROUPS_GROUPS_INSIDE_H

#include "columns/group_bytes.h"
#include "columns/groups/group_table.h"

/* The groups in their order. */
struct group_list {
    uint32_t *indexes; /* of records; owned */
    size_t count;
    struct colander_value *ordered_by; /* of each record; NULL: keys; owned */
    size_t next;
    uint64_t returned;
    struct colander_row_builder *builder;
};

struct colander_groups {
    struct group_plan plan;
    struct budget budget;
    struct group_table table;
    struct colander_grouping asked; /* its texts are not used */
    struct group_list list;
    bool is_finished; /* no rows can be added */
};

static inline bool
groups_is_cancelled(const struct colander_groups *groups)
{
    return groups->asked.is_cancelled != NULL && groups->asked.is_cancelled();
}

/* Adds the rows that decide the groups, if these are the least and the greatest
 * values of columns without any condition, and the store knows these without a
 * scan: *is_done. */
COLANDER_CHECKED enum colander_code
group_ends(struct colander_family *family, const struct colander_query *query,
           struct colander_groups *groups, struct colander_explain *explain,
           bool *is_done, struct colander_error *err);

#define GROUPS_VERSION 1 /* of groupings and groups as bytes */

/* Appends what was built, unless `code` is a failure. Destroys the builder. */
COLANDER_CHECKED enum colander_code
groups_finish_bytes(struct colander_row_builder *builder,
                    enum colander_code code, struct colander_buffer *bytes,
                    struct colander_error *err);

/* Puts all groups in order, and fills gaps. */
COLANDER_CHECKED enum colander_code
group_list_make(struct colander_groups *groups, struct colander_error *err);

/* Returns the next group as a row. */
COLANDER_CHECKED enum colander_code
group_list_next(struct colander_groups *groups, bool *is_group,
                struct colander_slice *row, struct colander_error *err);

void group_list_release(struct group_list *list);

#endif
