/* See group_plan.h. SPDX-License-Identifier: MIT */
#include "columns/groups/group_plan.h"
#include "columns/groups/state.h"

#include <stdio.h>
#include <stdlib.h>

static enum colander_code
copy_text(const char *text, char **copy, struct colander_error *err)
{
    *copy = strdup(text);
    return *copy != NULL ? COLANDER_OK
                         : COLANDER_FAIL(err, COLANDER_NO_MEMORY,
                                         "no memory for a grouping");
}

/* -------------------------------------------------------------- sources --- */

/* Whether a row may have several values at the path. */
static bool
has_elements(const struct path *path)
{
    for (size_t i = 0; i < path->count; i++) {
        if (path->steps[i].is_element)
            return true;
    }
    return false;
}

/* Fails if the source has several values of a row, but not here. */
static enum colander_code
check_single(const struct group_plan *plan, size_t source, const char *text,
             struct colander_error *err)
{
    if (!has_elements(&plan->sources[source].path))
        return COLANDER_OK;
    return COLANDER_FAIL(err, COLANDER_INVALID,
                         "'%.100s' leads to several values of a row: only one "
                         "key, and no measure, can have a path with []",
                         text);
}

/* Finds or adds the source of `path`; NULL adds the next given one. */
static enum colander_code
add_source(struct group_plan *plan, const char *path, size_t *given_count,
           size_t *index, struct colander_error *err)
{
    struct plan_source *source = &plan->sources[plan->source_count];
    enum colander_code code;

    if (path == NULL) {
        source->given = (*given_count)++;
        *index = plan->source_count++;
        return COLANDER_OK;
    }
    code = colander_path_parse(path, &source->path, err);
    if (code != COLANDER_OK) {
        colander_error_context(err, "'%.100s'", path);
        return code;
    }
    *index = 0; /* a path can be written in several ways */
    while (*index < plan->source_count &&
           path_compare(&plan->sources[*index].path, &source->path) != 0)
        ++*index;
    if (*index < plan->source_count) {
        path_release(&source->path);
        return COLANDER_OK;
    }
    if (source->path.count == 1) {
        struct plan_column *column = &plan->columns[plan->column_count++];

        column->name = source->path.steps[0].name;
        column->word = bytes_get_le(
            column->name.data, column->name.size < 8 ? column->name.size : 8);
        column->source = *index;
        plan->column_sizes |= UINT64_C(1) << column->name.size % 64;
    }
    plan->source_count++;
    return COLANDER_OK;
}

/* ---------------------------------------------------- keys and measures --- */

static enum colander_code
add_key(struct group_plan *plan, const struct colander_group_key *key,
        size_t *given_count, struct colander_error *err)
{
    struct plan_key *added = &plan->keys[plan->key_count];
    enum colander_code code = COLANDER_OK;

    if (key->bucket != NULL)
        code = bucket_parse(&added->bucket, key->bucket, key->zone, err);
    else if (key->zone != NULL)
        code = COLANDER_FAIL(err, COLANDER_INVALID,
                             "key '%.100s' has a time zone, but no bucket",
                             key->name);
    if (code != COLANDER_OK)
        return code;
    added->is_bucket = key->bucket != NULL;
    plan->key_count++;
    code = copy_text(key->name, &added->name, err);
    if (code == COLANDER_OK && key->zone != NULL)
        code = copy_text(key->zone, &added->zone, err);
    if (code == COLANDER_OK)
        code = add_source(plan, key->path, given_count, &added->source, err);
    if (code != COLANDER_OK ||
        !has_elements(&plan->sources[added->source].path))
        return code;
    if (plan->many_key != SIZE_MAX)
        return check_single(plan, added->source, key->path, err);
    plan->many_key = plan->key_count - 1;
    return COLANDER_OK;
}

static enum slot_kind
kind_of(const struct colander_measure *measure)
{
    switch (measure->aggregate) {
    case COLANDER_COUNT:
        return measure->path == NULL ? SLOT_ROWS : SLOT_PRESENT;
    case COLANDER_SUM:
    case COLANDER_AVG:
        return SLOT_SUM;
    case COLANDER_MIN:
        return SLOT_LEAST;
    case COLANDER_MAX:
        return SLOT_GREATEST;
    case COLANDER_FIRST:
        return SLOT_FIRST;
    case COLANDER_LAST:
        return SLOT_LAST;
    case COLANDER_DISTINCT:
        return SLOT_SET;
    case COLANDER_APPROX_DISTINCT:
        return SLOT_ESTIMATE;
    case COLANDER_QUANTILE:
        break;
    }
    return SLOT_QUANTILES;
}

/* Finds or adds a slot. */
static size_t
add_slot(struct group_plan *plan, enum slot_kind kind, size_t source)
{
    size_t index = 0;

    for (; index < plan->slot_count; index++) {
        if (plan->slots[index].kind == kind &&
            plan->slots[index].source == source)
            return index;
    }
    plan->slots[index].kind = kind;
    plan->slots[index].source = source;
    plan->slots[index].offset = plan->record_size;
    plan->record_size += state_size(kind);
    plan->slot_count++;
    return index;
}

static enum colander_code
add_measure(struct group_plan *plan, const struct colander_measure *measure,
            size_t *given_count, struct colander_error *err)
{
    struct plan_measure *added = &plan->measures[plan->measure_count];
    const enum slot_kind kind = kind_of(measure);
    size_t source = PLAN_NO_SOURCE;
    enum colander_code code;

    if (measure->aggregate > COLANDER_QUANTILE)
        return COLANDER_FAIL(err, COLANDER_INVALID, "unknown aggregate %d",
                             (int)measure->aggregate);
    if (kind == SLOT_QUANTILES &&
        !(measure->quantile >= 0 && measure->quantile <= 1))
        return COLANDER_FAIL(err, COLANDER_INVALID,
                             "a quantile is 0 to 1, not %g", measure->quantile);
    if ((kind == SLOT_FIRST || kind == SLOT_LAST) &&
        plan->time_source == PLAN_NO_SOURCE)
        return COLANDER_FAIL(err, COLANDER_INVALID,
                             "the first and the last value need a time column");
    added->aggregate = measure->aggregate;
    added->quantile = measure->quantile;
    plan->measure_count++;
    code = copy_text(measure->name, &added->name, err);
    if (code == COLANDER_OK && kind != SLOT_ROWS)
        code = add_source(plan, measure->path, given_count, &source, err);
    if (code == COLANDER_OK && source != PLAN_NO_SOURCE)
        code = check_single(plan, source, measure->path, err);
    added->slot = add_slot(plan, kind, source);
    return code;
}

/* --------------------------------------------------------------- result --- */

static const char *
name_at(const struct group_plan *plan, size_t column)
{
    return column < plan->key_count
               ? plan->keys[column].name
               : plan->measures[column - plan->key_count].name;
}

static enum colander_code
check_names(const struct group_plan *plan, struct colander_error *err)
{
    const size_t count = plan->key_count + plan->measure_count;

    for (size_t i = 0; i < count; i++) {
        for (size_t j = 0; j < i; j++) {
            if (strcmp(name_at(plan, i), name_at(plan, j)) == 0)
                return COLANDER_FAIL(err, COLANDER_INVALID,
                                     "two columns are called '%.100s'",
                                     name_at(plan, i));
        }
    }
    return COLANDER_OK;
}

/* The error names the columns that there are, as far as they fit. */
static enum colander_code
fail_order(const struct group_plan *plan, const char *order,
           struct colander_error *err)
{
    const size_t count = plan->key_count + plan->measure_count;
    char names[300] = "";
    size_t size = 0;

    for (size_t i = 0; i < count && size < sizeof(names); i++)
        size += (size_t)snprintf(names + size, sizeof(names) - size, "%s'%s'",
                                 i == 0 ? "" : ", ", name_at(plan, i));
    return COLANDER_FAIL(err, COLANDER_INVALID,
                         "groups have no column '%.100s' to order them by, but "
                         "%s%s",
                         order, count == 0 ? "none" : names,
                         size < sizeof(names) ? "" : "...");
}

static enum colander_code
set_order(struct group_plan *plan, const char *order,
          struct colander_error *err)
{
    const size_t count = plan->key_count + plan->measure_count;
    size_t column = 0;

    plan->order = SIZE_MAX;
    if (order == NULL)
        return COLANDER_OK;
    while (column < count && strcmp(name_at(plan, column), order) != 0)
        column++;
    plan->order = column;
    return column < count ? COLANDER_OK : fail_order(plan, order, err);
}

static enum colander_code
set_fill(struct group_plan *plan, enum colander_fill fill,
         struct colander_error *err)
{
    size_t bucket_count = 0;

    plan->fill_key = SIZE_MAX;
    if (fill == COLANDER_FILL_NOTHING)
        return COLANDER_OK;
    for (size_t i = 0; i < plan->key_count; i++) {
        if (plan->keys[i].is_bucket) {
            plan->fill_key = i;
            bucket_count++;
        }
    }
    if (bucket_count != 1 || fill > COLANDER_FILL_ZERO)
        return COLANDER_FAIL(err, COLANDER_INVALID,
                             "gaps can be filled if exactly one key is a "
                             "bucket; %zu are",
                             bucket_count);
    return COLANDER_OK;
}

/* Sets the column that is the only key, if nothing else needs its value. */
static void
set_only_key(struct group_plan *plan)
{
    const size_t source = plan->keys[0].source;
    size_t column = 0;

    plan->only_key = SIZE_MAX;
    while (column < plan->column_count &&
           plan->columns[column].source != source)
        column++;
    if (plan->key_count != 1 || column == plan->column_count ||
        plan->time_source == source)
        return;
    for (size_t i = 0; i < plan->slot_count; i++) {
        if (plan->slots[i].source == source)
            return;
    }
    plan->only_key = column;
}

enum colander_code
group_plan_init(struct group_plan *plan,
                const struct colander_grouping *grouping,
                struct colander_error *err)
{
    size_t given_count = 0;
    enum colander_code code = COLANDER_OK;

    memset(plan, 0, sizeof(*plan));
    plan->time_source = PLAN_NO_SOURCE;
    plan->many_key = SIZE_MAX;
    if (grouping->key_count > COLANDER_GROUP_KEYS_MAX ||
        grouping->measure_count > COLANDER_GROUP_MEASURES_MAX)
        return COLANDER_FAIL(err, COLANDER_LIMIT,
                             "a grouping has at most %d keys and %d measures",
                             COLANDER_GROUP_KEYS_MAX,
                             COLANDER_GROUP_MEASURES_MAX);
    plan->record_size = sizeof(struct record) +
                        grouping->key_count * sizeof(struct colander_value);
    if (grouping->time_path != NULL)
        code = add_source(plan, grouping->time_path, &given_count,
                          &plan->time_source, err);
    if (code == COLANDER_OK && grouping->time_path != NULL)
        code = check_single(plan, plan->time_source, grouping->time_path, err);
    for (size_t i = 0; i < grouping->key_count && code == COLANDER_OK; i++)
        code = add_key(plan, &grouping->keys[i], &given_count, err);
    for (size_t i = 0; i < grouping->measure_count && code == COLANDER_OK; i++)
        code = add_measure(plan, &grouping->measures[i], &given_count, err);
    if (code == COLANDER_OK)
        code = check_names(plan, err);
    if (code == COLANDER_OK)
        code = set_order(plan, grouping->order, err);
    if (code == COLANDER_OK)
        code = set_fill(plan, grouping->fill, err);
    set_only_key(plan);
    return code;
}

void
group_plan_release(struct group_plan *plan)
{
    for (size_t i = 0; i < plan->key_count; i++) {
        free(plan->keys[i].name);
        free(plan->keys[i].zone);
        bucket_release(&plan->keys[i].bucket);
    }
    for (size_t i = 0; i < plan->measure_count; i++)
        free(plan->measures[i].name);
    for (size_t i = 0; i < plan->source_count; i++)
        path_release(&plan->sources[i].path);
    memset(plan, 0, sizeof(*plan));
}

static bool
equal_text(const char *a, const char *b)
{
    return a == NULL || b == NULL ? a == b : strcmp(a, b) == 0;
}

/* Whether both read the same value. */
static bool
equal_source(const struct group_plan *a, size_t a_index,
             const struct group_plan *b, size_t b_index)
{
    const struct plan_source *left;
    const struct plan_source *right;

    if (a_index == PLAN_NO_SOURCE || b_index == PLAN_NO_SOURCE)
        return a_index == b_index;
    left = &a->sources[a_index];
    right = &b->sources[b_index];
    return path_compare(&left->path, &right->path) == 0 &&
           left->given == right->given;
}

bool
group_plan_equal(const struct group_plan *a, const struct group_plan *b)
{
    bool is_equal = a->key_count == b->key_count &&
                    a->slot_count == b->slot_count &&
                    a->record_size == b->record_size &&
                    equal_source(a, a->time_source, b, b->time_source);

    for (size_t i = 0; is_equal && i < a->key_count; i++)
        is_equal = a->keys[i].is_bucket == b->keys[i].is_bucket &&
                   a->keys[i].bucket.unit == b->keys[i].bucket.unit &&
                   a->keys[i].bucket.size == b->keys[i].bucket.size &&
                   equal_text(a->keys[i].zone, b->keys[i].zone) &&
                   equal_source(a, a->keys[i].source, b, b->keys[i].source);
    for (size_t i = 0; is_equal && i < a->slot_count; i++)
        is_equal = a->slots[i].kind == b->slots[i].kind &&
                   equal_source(a, a->slots[i].source, b, b->slots[i].source);
    return is_equal;
}
