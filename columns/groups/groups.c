/* See columns/groups.h. SPDX-License-Identifier: MIT */
#include "columns/groups/groups_inside.h"
#include "core/sized.h"

#include <stdlib.h>

void
colander_grouping_init_sized(struct colander_grouping *grouping,
                             size_t struct_size)
{
    const struct colander_grouping all = {.size_max = SIZE_MAX,
                                          .limit = UINT64_MAX};

    sized_return(grouping, struct_size, &all, sizeof(all));
    memcpy(grouping, &struct_size, sizeof(struct_size));
}

enum colander_code
colander_groups_create(const struct colander_grouping *grouping,
                       struct colander_groups **groups,
                       struct colander_error *err)
{
    struct colander_groups *created = calloc(1, sizeof(*created));
    enum colander_code code;

    *groups = NULL;
    if (created == NULL)
        return COLANDER_FAIL(err, COLANDER_NO_MEMORY, "no memory for groups");
    colander_grouping_init(&created->asked);
    code = sized_accept(&created->asked, sizeof(created->asked), grouping,
                        "members of the grouping", err);
    if (code == COLANDER_OK)
        code = group_plan_init(&created->plan, &created->asked, err);
    created->budget.size_max = created->asked.size_max;
    if (code == COLANDER_OK)
        code = group_table_init(&created->table, &created->plan,
                                &created->budget, err);
    if (code != COLANDER_OK) {
        colander_groups_destroy(created);
        return code;
    }
    *groups = created;
    return COLANDER_OK;
}

void
colander_groups_destroy(struct colander_groups *groups)
{
    if (groups == NULL)
        return;
    group_list_release(&groups->list);
    group_table_release(&groups->table);
    group_plan_release(&groups->plan);
    free(groups);
}

static enum colander_code
check_open(const struct colander_groups *groups, struct colander_error *err)
{
    if (!groups->is_finished)
        return COLANDER_OK;
    return COLANDER_FAIL(err, COLANDER_INVALID,
                         "no rows can be added to groups that were returned");
}

enum colander_code
colander_groups_add(struct colander_groups *groups,
                    const struct colander_result *row,
                    const struct colander_value *const *given,
                    struct colander_error *err)
{
    enum colander_code code = check_open(groups, err);

    return code == COLANDER_OK
               ? group_table_add(&groups->table, row, given, err)
               : code;
}

enum colander_code
colander_groups_merge(struct colander_groups *groups,
                      struct colander_groups *from, struct colander_error *err)
{
    enum colander_code code = check_open(groups, err);

    if (code == COLANDER_OK)
        code = check_open(from, err);
    if (code == COLANDER_OK && !group_plan_equal(&groups->plan, &from->plan))
        code = COLANDER_FAIL(err, COLANDER_INVALID,
                             "groups with other keys or measures cannot be "
                             "added");
    if (code == COLANDER_OK)
        code = group_table_merge(&groups->table, &from->table, err);
    from->is_finished = true;
    return code;
}

/* Without keys there is always one group. */
static enum colander_code
finish(struct colander_groups *groups, struct colander_error *err)
{
    enum colander_code code = COLANDER_OK;
    size_t index;
    bool is_new;

    groups->is_finished = true;
    if (groups->plan.key_count == 0)
        code = group_table_find(&groups->table, NULL, 0, &index, &is_new, err);
    return code == COLANDER_OK ? group_list_make(groups, err) : code;
}

enum colander_code
colander_groups_next(struct colander_groups *groups, bool *is_group,
                     struct colander_slice *row, struct colander_error *err)
{
    enum colander_code code = COLANDER_OK;

    *is_group = false;
    *row = colander_slice_of(NULL, 0);
    if (groups->list.indexes == NULL)
        code = finish(groups, err);
    return code == COLANDER_OK ? group_list_next(groups, is_group, row, err)
                               : code;
}

size_t
colander_groups_count(const struct colander_groups *groups)
{
    size_t count = 0;

    for (size_t i = 0; i < groups->table.count; i++)
        count += group_table_record(&groups->table, i)->filled == 0;
    return count;
}

size_t
colander_groups_size(const struct colander_groups *groups)
{
    return atomic_load(&groups->budget.used);
}

uint64_t
colander_groups_left_out(const struct colander_groups *groups, const char *name)
{
    const struct group_plan *plan = &groups->plan;

    for (size_t i = 0; i < plan->key_count; i++) {
        if (strcmp(plan->keys[i].name, name) == 0)
            return groups->table.keys_left_out[i];
    }
    for (size_t i = 0; i < plan->measure_count; i++) {
        if (strcmp(plan->measures[i].name, name) == 0)
            return groups->table.slots_left_out[plan->measures[i].slot];
    }
    return 0;
}

int32_t
colander_groups_offset(const struct colander_groups *groups, const char *name,
                       int64_t second)
{
    const struct group_plan *plan = &groups->plan;

    for (size_t i = 0; i < plan->key_count; i++) {
        if (strcmp(plan->keys[i].name, name) == 0)
            return zone_period(plan->keys[i].bucket.zone, second).offset;
    }
    return 0;
}
