/*
 * The result of a grouping: gaps filled, groups in order, each as a row.
 *
 * A gap is filled with a record of its own, which has no rows and says where
 * its values come from.
 *
 * SPDX-License-Identifier: MIT
 */
#include "columns/groups/groups_inside.h"
#include "columns/groups/state.h"
#include "columns/groups/value_set.h"

#include <stdlib.h>

/* What `filled` of a record says. */
#define FILLED_EMPTY 1
#define FILLED_FROM(index) ((uint64_t)(index) + 2)

/* ---------------------------------------------------------------- order --- */

static struct record *
record_of(const struct colander_groups *groups, uint32_t index)
{
    return group_table_record(&groups->table, index);
}

static bool
is_missing(const struct record *record, size_t key)
{
    return (record->missing >> key & 1) != 0;
}

/* A missing value comes first. */
static int
compare_key(const struct record *left, const struct record *right, size_t key)
{
    if (is_missing(left, key) || is_missing(right, key))
        return is_missing(right, key) - is_missing(left, key);
    return any_value_compare(&left->keys[key], &right->keys[key]);
}

static int
compare_keys(const struct colander_groups *groups, const struct record *left,
             const struct record *right)
{
    int order = 0;

    for (size_t i = 0; i < groups->plan.key_count && order == 0; i++)
        order = compare_key(left, right, i);
    return order;
}

/* In series: groups whose other keys are equal side by side, in the order of
 * their buckets. After a cancellation the order is undefined, so that a sort
 * ends soon. */
static int
compare_series(const void *a, const void *b, void *context)
{
    const struct colander_groups *groups = context;
    const struct record *left = record_of(groups, *(const uint32_t *)a);
    const struct record *right = record_of(groups, *(const uint32_t *)b);
    const size_t bucket = groups->plan.fill_key;
    int order = 0;

    if (groups_is_cancelled(groups))
        return 0;
    for (size_t i = 0; i < groups->plan.key_count && order == 0; i++) {
        if (i != bucket)
            order = compare_key(left, right, i);
    }
    return order != 0 ? order : compare_key(left, right, bucket);
}

static int
compare_results(const void *a, const void *b, void *context)
{
    const struct colander_groups *groups = context;
    const struct colander_value *values = groups->list.ordered_by;
    const uint32_t i = *(const uint32_t *)a;
    const uint32_t j = *(const uint32_t *)b;
    int order = 0;

    if (groups_is_cancelled(groups))
        return 0;
    if (values != NULL) {
        const bool is_null = values[i].type == COLANDER_NULL;

        if (is_null != (values[j].type == COLANDER_NULL))
            return is_null ? 1 : -1;
        order = any_value_compare(&values[i], &values[j]);
        if (groups->asked.is_descending)
            order = -order;
    }
    if (order != 0)
        return order;
    order = compare_keys(groups, record_of(groups, i), record_of(groups, j));
    return values == NULL && groups->asked.is_descending ? -order : order;
}

static enum colander_code
check_cancelled(const struct colander_groups *groups,
                struct colander_error *err)
{
    if (!groups_is_cancelled(groups))
        return COLANDER_OK;
    return COLANDER_FAIL(err, COLANDER_CANCELLED, "the grouping was cancelled");
}

/* Lists all records, sorted. */
static enum colander_code
sort(struct colander_groups *groups,
     int (*compare)(const void *, const void *, void *),
     struct colander_error *err)
{
    const size_t count = groups->table.count;
    struct group_list *list = &groups->list;

    free(list->indexes);
    list->indexes = malloc((count + 1) * sizeof(*list->indexes));
    if (list->indexes == NULL)
        return COLANDER_FAIL(err, COLANDER_NO_MEMORY,
                             "no memory to order groups");
    list->count = count;
    for (size_t i = 0; i < count; i++)
        list->indexes[i] = (uint32_t)i;
    qsort_r(list->indexes, count, sizeof(*list->indexes), compare, groups);
    return check_cancelled(groups, err);
}

/* ----------------------------------------------------------------- gaps --- */

/* A series whose gaps are filled. */
struct gaps {
    struct colander_groups *groups;
    size_t key;   /* the bucket */
    int64_t from; /* the first bucket of all groups */
    int64_t last;
};

static bool
has_bucket(const struct gaps *gaps, const struct record *record)
{
    return !is_missing(record, gaps->key) &&
           record->keys[gaps->key].type == COLANDER_TIMESTAMP;
}

static bool
is_same_series(const struct gaps *gaps, uint32_t a, uint32_t b)
{
    const struct record *left = record_of(gaps->groups, a);
    const struct record *right = record_of(gaps->groups, b);

    for (size_t i = 0; i < gaps->groups->plan.key_count; i++) {
        if (i != gaps->key && compare_key(left, right, i) != 0)
            return false;
    }
    return true;
}

/* Returns whether there is a bucket at all. */
static bool
find_ends(struct gaps *gaps)
{
    bool found = false;

    for (size_t i = 0; i < gaps->groups->table.count; i++) {
        const struct record *record = record_of(gaps->groups, (uint32_t)i);
        int64_t second;

        if (!has_bucket(gaps, record))
            continue;
        second = record->keys[gaps->key].second;
        gaps->from = !found || second < gaps->from ? second : gaps->from;
        gaps->last = !found || second > gaps->last ? second : gaps->last;
        found = true;
    }
    return found;
}

/* Adds the buckets from `from` until before `until` to the series of `like`,
 * with the values of the record `before` (UINT32_MAX: none). */
static enum colander_code
fill(const struct gaps *gaps, uint32_t like, uint32_t before, int64_t from,
     int64_t until, struct colander_error *err)
{
    struct group_table *table = &gaps->groups->table;
    const struct bucket *bucket = &gaps->groups->plan.keys[gaps->key].bucket;
    struct colander_value keys[COLANDER_GROUP_KEYS_MAX];
    const uint32_t missing = record_of(gaps->groups, like)->missing;
    enum colander_code code = COLANDER_OK;
    size_t index;
    bool is_new;

    memcpy(keys, record_of(gaps->groups, like)->keys,
           gaps->groups->plan.key_count * sizeof(keys[0]));
    while (from < until && code == COLANDER_OK) {
        keys[gaps->key] = colander_timestamp(from, 0);
        code = group_table_find(table, keys, missing, &index, &is_new, err);
        if (code == COLANDER_OK)
            code = check_cancelled(gaps->groups, err);
        if (code == COLANDER_OK && is_new)
            group_table_record(table, index)->filled =
                before == UINT32_MAX ? FILLED_EMPTY : FILLED_FROM(before);
        from = bucket_of(bucket, from).until;
    }
    return code;
}

/* Fills the gaps of the series that begins at `*at` in the list, and moves
 * `*at` behind it. */
static enum colander_code
fill_series(const struct gaps *gaps, size_t *at, struct colander_error *err)
{
    const struct group_list *list = &gaps->groups->list;
    const struct bucket *bucket = &gaps->groups->plan.keys[gaps->key].bucket;
    int64_t next = gaps->from;
    uint32_t before = UINT32_MAX;
    enum colander_code code = COLANDER_OK;

    do {
        const uint32_t index = list->indexes[(*at)++];
        const struct record *record = record_of(gaps->groups, index);
        int64_t second;

        if (!has_bucket(gaps, record))
            continue;
        second = record->keys[gaps->key].second;
        code = fill(gaps, index, before, next, second, err);
        next = bucket_of(bucket, second).until;
        before = index;
    } while (code == COLANDER_OK && *at < list->count &&
             is_same_series(gaps, list->indexes[*at - 1], list->indexes[*at]));
    if (code == COLANDER_OK && before != UINT32_MAX)
        code = fill(gaps, before, before, next, gaps->last + 1, err);
    return code;
}

static enum colander_code
fill_gaps(struct colander_groups *groups, struct colander_error *err)
{
    struct gaps gaps = {.groups = groups, .key = groups->plan.fill_key};
    enum colander_code code;
    size_t at = 0;

    if (gaps.key == SIZE_MAX || !find_ends(&gaps))
        return COLANDER_OK;
    code = sort(groups, compare_series, err);
    while (code == COLANDER_OK && at < groups->list.count)
        code = fill_series(&gaps, &at, err);
    return code;
}

/* --------------------------------------------------------------- values --- */

static struct colander_value
measure_value(const struct colander_groups *groups, const struct record *record,
              const struct plan_measure *measure)
{
    if (record->filled != 0 && groups->asked.fill == COLANDER_FILL_ZERO)
        return colander_integer(0);
    if (record->filled != 0 && (record->filled == FILLED_EMPTY ||
                                groups->asked.fill == COLANDER_FILL_NULL))
        return colander_null();
    if (record->filled != 0)
        record = record_of(groups, (uint32_t)(record->filled - 2));
    return state_value(
        measure, group_table_state(record, &groups->plan.slots[measure->slot]));
}

/* Sets what groups are ordered by, if it is not all keys. */
static enum colander_code
set_order(struct colander_groups *groups, struct colander_error *err)
{
    const struct group_plan *plan = &groups->plan;
    const size_t count = groups->table.count;
    struct colander_value *values;

    if (plan->order == SIZE_MAX)
        return COLANDER_OK;
    values = malloc((count + 1) * sizeof(*values));
    if (values == NULL)
        return COLANDER_FAIL(err, COLANDER_NO_MEMORY,
                             "no memory to order groups");
    groups->list.ordered_by = values;
    for (size_t i = 0; i < count; i++) {
        const struct record *record = record_of(groups, (uint32_t)i);

        values[i] =
            plan->order < plan->key_count
                ? record->keys[plan->order]
                : measure_value(groups, record,
                                &plan->measures[plan->order - plan->key_count]);
    }
    return group_table_charge(&groups->table, count * sizeof(*values), err);
}

enum colander_code
group_list_make(struct colander_groups *groups, struct colander_error *err)
{
    enum colander_code code = fill_gaps(groups, err);

    if (code == COLANDER_OK)
        code = set_order(groups, err);
    if (code == COLANDER_OK)
        code = group_table_charge(&groups->table,
                                  groups->table.count * sizeof(uint32_t), err);
    if (code == COLANDER_OK)
        code = sort(groups, compare_results, err);
    groups->list.builder = colander_row_builder_create();
    if (code == COLANDER_OK && groups->list.builder == NULL)
        code = COLANDER_FAIL(err, COLANDER_NO_MEMORY, "no memory for a group");
    if (code != COLANDER_OK) /* the next call tries, and fails, again */
        group_list_release(&groups->list);
    return code;
}

static enum colander_code
build_row(struct colander_groups *groups, const struct record *record,
          struct colander_slice *row, struct colander_error *err)
{
    struct colander_row_builder *builder = groups->list.builder;
    const struct group_plan *plan = &groups->plan;

    for (size_t i = 0; i < plan->key_count; i++) {
        if (!is_missing(record, i))
            colander_row_builder_add(builder, plan->keys[i].name,
                                     record->keys[i]);
    }
    for (size_t i = 0; i < plan->measure_count; i++)
        colander_row_builder_add(
            builder, plan->measures[i].name,
            measure_value(groups, record, &plan->measures[i]));
    return colander_row_builder_finish(builder, row, err);
}

enum colander_code
group_list_next(struct colander_groups *groups, bool *is_group,
                struct colander_slice *row, struct colander_error *err)
{
    struct group_list *list = &groups->list;
    enum colander_code code = COLANDER_OK;
    bool is_match = false;

    while (code == COLANDER_OK && !is_match && list->next < list->count &&
           list->returned < groups->asked.limit) {
        code = check_cancelled(groups, err);
        if (code == COLANDER_OK)
            code = build_row(groups,
                             record_of(groups, list->indexes[list->next++]),
                             row, err);
        is_match = groups->asked.having == NULL;
        if (code == COLANDER_OK && !is_match)
            code = colander_predicate_evaluate(groups->asked.having, *row,
                                               &is_match, NULL, err);
    }
    *is_group = code == COLANDER_OK && is_match;
    list->returned += *is_group;
    return code;
}

void
group_list_release(struct group_list *list)
{
    free(list->indexes);
    free(list->ordered_by);
    colander_row_builder_destroy(list->builder);
    memset(list, 0, sizeof(*list));
}
