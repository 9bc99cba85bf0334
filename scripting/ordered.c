/*
 * Ordered rows: see ordered.h.
 *
 * SPDX-License-Identifier: MIT
 */
#include "scripting/ordered.h"

#include <stdlib.h>

struct ordered_row {
    struct colander_value value; /* in the row's bytes */
    bool has_value;
    bool is_descending;
    uint64_t number; /* among those that came */
    size_t key_size;
    size_t row_size;
    uint8_t bytes[]; /* the key, then the row */
};

void
ordered_init(struct ordered *ordered, bool is_descending, uint64_t wanted,
             size_t size_max, bool (*stops)(void))
{
    memset(ordered, 0, sizeof(*ordered));
    ordered->is_descending = is_descending;
    ordered->wanted = wanted;
    ordered->size_max = size_max;
    ordered->stops = stops;
}

void
ordered_release(struct ordered *ordered)
{
    for (size_t i = 0; i < ordered->count; i++)
        free(ordered->rows[i]);
    free(ordered->rows);
    memset(ordered, 0, sizeof(*ordered));
}

static int
compare_rows(const void *a, const void *b, void *context)
{
    const struct ordered *ordered = context;
    const struct ordered_row *left = *(struct ordered_row *const *)a;
    const struct ordered_row *right = *(struct ordered_row *const *)b;
    int order = 0;

    if (ordered->stops != NULL && ordered->stops())
        return 0;
    if (left->has_value != right->has_value)
        return left->has_value ? -1 : 1;
    if (left->has_value)
        order = colander_value_compare(&left->value, &right->value);
    if (left->is_descending)
        order = -order;
    if (order == 0)
        order = left->number < right->number ? -1 : 1;
    return order;
}

static size_t
size_of(const struct ordered_row *row)
{
    return sizeof(*row) + sizeof(row) + row->key_size + row->row_size;
}

static void
sort(struct ordered *ordered)
{
    if (ordered->count > 0)
        qsort_r(ordered->rows, ordered->count, sizeof(ordered->rows[0]),
                compare_rows, ordered);
    while (ordered->count > ordered->wanted) {
        struct ordered_row *row = ordered->rows[--ordered->count];

        ordered->size -= size_of(row);
        free(row);
    }
}

static bool
grow(struct ordered *ordered)
{
    size_t capacity = ordered->capacity * 2 + 64;
    struct ordered_row **grown =
        realloc(ordered->rows, capacity * sizeof(struct ordered_row *));

    if (grown == NULL)
        return false;
    ordered->rows = grown;
    ordered->capacity = capacity;
    return true;
}

enum colander_code
ordered_add(struct ordered *ordered, const struct colander_result *result,
            const struct colander_value *value, struct colander_error *err)
{
    struct ordered_row *row;

    if (ordered->wanted < SIZE_MAX / 4 &&
        ordered->count >= 2 * ordered->wanted + 1000)
        sort(ordered);
    row = malloc(sizeof(*row) + result->key.size + result->row.size);
    if (row == NULL ||
        (ordered->count == ordered->capacity && !grow(ordered))) {
        free(row);
        return COLANDER_FAIL(err, COLANDER_NO_MEMORY,
                             "no memory to order rows");
    }
    row->key_size = result->key.size;
    row->row_size = result->row.size;
    row->number = ordered->number++;
    row->is_descending = ordered->is_descending;
    row->has_value = value != NULL;
    memcpy(row->bytes, result->key.data, result->key.size);
    memcpy(row->bytes + row->key_size, result->row.data, result->row.size);
    if (value != NULL) {
        row->value = *value;
        if (value->type >= COLANDER_STRING && value->type != COLANDER_TIMESTAMP)
            row->value.bytes.data = row->bytes + row->key_size +
                                    (value->bytes.data - result->row.data);
    }
    ordered->rows[ordered->count++] = row;
    ordered->size += size_of(row);
    if (ordered->size > ordered->size_max && ordered->count > ordered->wanted)
        sort(ordered);
    if (ordered->size > ordered->size_max)
        return COLANDER_FAIL(err, COLANDER_LIMIT,
                             "%zu rows to order take more than %zu bytes "
                             "(colander.memory_limit sets how many they may; "
                             "a limit makes it fewer)",
                             ordered->count, ordered->size_max);
    return COLANDER_OK;
}

void
ordered_finish(struct ordered *ordered)
{
    sort(ordered);
    ordered->next = 0;
}

bool
ordered_next(struct ordered *ordered, struct colander_result *result)
{
    const struct ordered_row *row;

    if (ordered->next == ordered->count)
        return false;
    row = ordered->rows[ordered->next++];
    memset(result, 0, sizeof(*result));
    result->key = colander_slice_of(row->bytes, row->key_size);
    result->row = colander_slice_of(row->bytes + row->key_size, row->row_size);
    return true;
}
