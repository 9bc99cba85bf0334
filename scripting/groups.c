/*
 * Groups: see groups.h.
 *
 * SPDX-License-Identifier: MIT
 */
#include "scripting/groups.h"

#include <stdlib.h>

void
groups_init(struct groups *groups, size_t size_max)
{
    memset(groups, 0, sizeof(*groups));
    groups->size_max = size_max;
}

/* -------------------------------------------------------------- values --- */

static bool
has_bytes(const struct colander_value *value)
{
    return value->type == COLANDER_STRING || value->type == COLANDER_BINARY ||
           value->type == COLANDER_EXTENSION;
}

static void
value_release(struct groups *groups, struct colander_value *value)
{
    if (!has_bytes(value))
        return;
    groups->size -= value->bytes.size;
    free((void *)value->bytes.data);
    *value = colander_null();
}

/* Makes `to`, which has no bytes, a copy. */
static bool
value_copy(struct groups *groups, struct colander_value *to,
           const struct colander_value *from)
{
    uint8_t *bytes;

    *to = *from;
    if (!has_bytes(from))
        return true;
    bytes = malloc(from->bytes.size + 1);
    if (bytes == NULL) {
        *to = colander_null();
        return false;
    }
    if (from->bytes.size > 0)
        memcpy(bytes, from->bytes.data, from->bytes.size);
    to->bytes.data = bytes;
    groups->size += from->bytes.size;
    return true;
}

void
groups_release(struct groups *groups)
{
    for (size_t i = 0; i < groups->count; i++) {
        value_release(groups, &groups->items[i].value);
        value_release(groups, &groups->items[i].least);
        value_release(groups, &groups->items[i].most);
    }
    free(groups->items);
    free(groups->places);
    groups_init(groups, groups->size_max);
}

/* ------------------------------------------------------------- finding --- */

static bool
is_same(const struct colander_value *a, const struct colander_value *b)
{
    return colander_value_compare(a, b) == 0;
}

/* Where the group of `value` is noted, or would be. */
static uint32_t *
place_of(const struct groups *groups, const struct colander_value *value)
{
    size_t at = colander_value_hash(value) & (groups->place_count - 1);

    while (groups->places[at] != 0 &&
           !is_same(&groups->items[groups->places[at] - 1].value, value))
        at = (at + 1) & (groups->place_count - 1);
    return &groups->places[at];
}

static bool
grow(struct groups *groups)
{
    size_t capacity = groups->capacity * 2 + 64;
    size_t place_count = groups->place_count == 0 ? 256 : groups->place_count;
    struct group *items;
    uint32_t *places;

    items = realloc(groups->items, capacity * sizeof(*items));
    if (items == NULL)
        return false;
    groups->items = items;
    groups->capacity = capacity;
    while (place_count < 2 * capacity)
        place_count *= 2;
    places = calloc(place_count, sizeof(*places));
    if (places == NULL)
        return false;
    free(groups->places);
    groups->places = places;
    groups->place_count = place_count;
    for (size_t i = 0; i < groups->count; i++)
        *place_of(groups, &groups->items[i].value) = (uint32_t)i + 1;
    return true;
}

/* ------------------------------------------------------------- counting --- */

static enum colander_code
check_size(const struct groups *groups, struct colander_error *err)
{
    const size_t each = sizeof(struct group) + 4 * sizeof(uint32_t);

    if (groups->size + groups->count * each <= groups->size_max)
        return COLANDER_OK;
    return COLANDER_FAIL(err, COLANDER_LIMIT,
                         "%zu different values take more than %zu bytes "
                         "(colander.memory_limit sets how many they may)",
                         groups->count, groups->size_max);
}

static void
add_number(struct group *group, const struct colander_value *measure)
{
    const bool is_integer = measure->type == COLANDER_INTEGER;
    double number;

    if (is_integer)
        number = (double)measure->integer;
    else if (measure->type == COLANDER_UNSIGNED)
        number = (double)measure->natural;
    else if (measure->type == COLANDER_DOUBLE)
        number = measure->number;
    else
        return;
    group->number_count++;
    group->double_sum += number;
    if (!is_integer ||
        __builtin_add_overflow(group->integer_sum, measure->integer,
                               &group->integer_sum))
        group->is_double = true;
}

static bool
add_extremes(struct groups *groups, struct group *group,
             const struct colander_value *measure)
{
    if (!group->has_extremes) {
        group->has_extremes = true;
        return value_copy(groups, &group->least, measure) &&
               value_copy(groups, &group->most, measure);
    }
    if (colander_value_compare(measure, &group->least) < 0) {
        value_release(groups, &group->least);
        return value_copy(groups, &group->least, measure);
    }
    if (colander_value_compare(measure, &group->most) > 0) {
        value_release(groups, &group->most);
        return value_copy(groups, &group->most, measure);
    }
    return true;
}

enum colander_code
groups_add(struct groups *groups, const struct colander_value *value,
           const struct colander_value *measure, struct colander_error *err)
{
    struct group *group;
    uint32_t *place;
    bool is_done = groups->count < groups->capacity || grow(groups);

    if (!is_done)
        return COLANDER_FAIL(err, COLANDER_NO_MEMORY, "no memory for groups");
    place = place_of(groups, value);
    if (*place == 0) {
        group = &groups->items[groups->count];
        memset(group, 0, sizeof(*group));
        group->value = group->least = group->most = colander_null();
        if (!value_copy(groups, &group->value, value))
            return COLANDER_FAIL(err, COLANDER_NO_MEMORY,
                                 "no memory for groups");
        groups->count++;
        *place = (uint32_t)groups->count;
    }
    group = &groups->items[*place - 1];
    group->row_count++;
    if (measure != NULL) {
        add_number(group, measure);
        if (!add_extremes(groups, group, measure))
            return COLANDER_FAIL(err, COLANDER_NO_MEMORY,
                                 "no memory for groups");
    }
    return check_size(groups, err);
}

static int
compare_groups(const void *a, const void *b, void *context)
{
    bool (*const *stops)(void) = context;
    const struct group *left = a;
    const struct group *right = b;

    if (*stops != NULL && (*stops)())
        return 0;
    return colander_value_compare(&left->value, &right->value);
}

void
groups_finish(struct groups *groups, bool (*stops)(void))
{
    if (groups->count > 0)
        qsort_r(groups->items, groups->count, sizeof(groups->items[0]),
                compare_groups, &stops);
    free(groups->places);
    groups->places = NULL;
    groups->place_count = 0;
}
