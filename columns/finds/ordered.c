/*
 * Ordered rows: all that were added, or a heap of the first ones, with the last
 * of these at its top.
 *
 * SPDX-License-Identifier: MIT
 */
#include "columns/columns.h"
#include "columns/path.h"
#include "core/array.h"
#include "core/heap.h"
#include "core/sized.h"

#include <stdlib.h>

struct ordered_row {
    struct colander_value value; /* in the row's bytes */
    bool has_value;
    uint64_t number; /* in the order of adding */
    size_t key_size;
    size_t row_size;
    uint8_t bytes[]; /* the key, then the row */
};

struct colander_ordered {
    struct colander_order order; /* its path is not used */
    struct path path;
    struct ordered_row **rows; /* a heap once `limit` of them are held */
    size_t count;
    size_t capacity;
    uint64_t added_count;
    size_t size; /* bytes of all rows */
    size_t next; /* to be returned */
    bool is_sorted;
};

/* ----------------------------------------------------------------- life --- */

void
colander_order_init_sized(struct colander_order *order, size_t struct_size)
{
    const struct colander_order all = {.limit = UINT64_MAX,
                                       .size_max = SIZE_MAX};

    sized_return(order, struct_size, &all, sizeof(all));
    memcpy(order, &struct_size, sizeof(struct_size));
}

enum colander_code
colander_ordered_create(const struct colander_order *order,
                        struct colander_ordered **ordered,
                        struct colander_error *err)
{
    struct colander_ordered *created = calloc(1, sizeof(*created));
    enum colander_code code;

    *ordered = NULL;
    if (created == NULL)
        return COLANDER_FAIL(err, COLANDER_NO_MEMORY, "cannot order rows");
    colander_order_init(&created->order);
    code = sized_accept(&created->order, sizeof(created->order), order,
                        "members of the order", err);
    if (code == COLANDER_OK)
        code = colander_path_parse(created->order.path, &created->path, err);
    if (code != COLANDER_OK) {
        colander_ordered_destroy(created);
        return code;
    }
    *ordered = created;
    return COLANDER_OK;
}

void
colander_ordered_destroy(struct colander_ordered *ordered)
{
    if (ordered == NULL)
        return;
    for (size_t i = 0; i < ordered->count; i++)
        free(ordered->rows[i]);
    free(ordered->rows);
    path_release(&ordered->path);
    free(ordered);
}

/* ---------------------------------------------------------------- order --- */

static bool
is_cancelled(const struct colander_ordered *ordered)
{
    return ordered->order.is_cancelled != NULL && ordered->order.is_cancelled();
}

/* After a cancellation the order is undefined, so that a sort ends soon. */
static int
compare_rows(const struct ordered_row *left, const struct ordered_row *right,
             const struct colander_ordered *ordered)
{
    int order = 0;

    if (is_cancelled(ordered))
        return 0;
    if (left->has_value != right->has_value)
        return left->has_value ? -1 : 1;
    if (left->has_value)
        order = colander_value_compare(&left->value, &right->value);
    if (ordered->order.is_descending)
        order = -order;
    return order != 0 ? order : left->number < right->number ? -1 : 1;
}

static int
compare_pointers(const void *a, const void *b, void *context)
{
    return compare_rows(*(struct ordered_row *const *)a,
                        *(struct ordered_row *const *)b, context);
}

static bool
comes_later(const void *a, const void *b, const void *context)
{
    return compare_rows(*(struct ordered_row *const *)a,
                        *(struct ordered_row *const *)b, context) > 0;
}

/* --------------------------------------------------------------- adding --- */

static size_t
size_of(const struct ordered_row *row)
{
    return sizeof(*row) + sizeof(row) + row->key_size + row->row_size;
}

static struct ordered_row *
copy_row(const struct ordered_row *header, const struct colander_result *result)
{
    struct ordered_row *row =
        malloc(sizeof(*row) + result->key.size + result->row.size);

    if (row == NULL)
        return NULL;
    *row = *header;
    memcpy(row->bytes, result->key.data, result->key.size);
    memcpy(row->bytes + row->key_size, result->row.data, result->row.size);
    if (row->has_value && colander_type_has_bytes(row->value.type))
        row->value.bytes.data = row->bytes + row->key_size +
                                (header->value.bytes.data - result->row.data);
    return row;
}

/* Takes the first value at the path. */
static bool
take_value(void *context, const struct colander_value *value, size_t offset)
{
    struct ordered_row *header = context;

    (void)offset;
    header->value = *value;
    header->has_value = true;
    return false;
}

/* Puts the row, which is taken, among those that are held. */
static void
hold(struct colander_ordered *ordered, struct ordered_row *row)
{
    ordered->size += size_of(row);
    if (ordered->count == ordered->order.limit) {
        ordered->size -= size_of(ordered->rows[0]);
        free(ordered->rows[0]);
        ordered->rows[0] = row;
        heap_sift_down(ordered->rows, sizeof(row), ordered->count, 0,
                       comes_later, ordered);
        return;
    }
    ordered->rows[ordered->count++] = row;
    if (ordered->count == ordered->order.limit)
        heap_build(ordered->rows, sizeof(row), ordered->count, comes_later,
                   ordered);
}

enum colander_code
colander_ordered_add(struct colander_ordered *ordered,
                     const struct colander_result *result,
                     struct colander_error *err)
{
    struct ordered_row header = {
        .number = ordered->added_count++,
        .key_size = result->key.size,
        .row_size = result->row.size,
    };
    const bool is_full = ordered->count == ordered->order.limit;
    struct ordered_row *row;
    enum colander_code code =
        path_visit(&ordered->path, result->row, take_value, &header, err);

    if (code != COLANDER_OK || ordered->order.limit == 0)
        return code;
    if (is_full && compare_rows(&header, ordered->rows[0], ordered) >= 0)
        return COLANDER_OK;
    row = copy_row(&header, result);
    if (row == NULL ||
        array_reserve(&ordered->rows, ordered->count, &ordered->capacity, 1,
                      NULL) != COLANDER_OK) {
        free(row);
        return COLANDER_FAIL(err, COLANDER_NO_MEMORY,
                             "no memory to order rows");
    }
    hold(ordered, row);
    if (ordered->size > ordered->order.size_max)
        return COLANDER_FAIL(err, COLANDER_LIMIT,
                             "%zu rows to order take more than %zu bytes (with "
                             "a limit fewer are held)",
                             ordered->count, ordered->order.size_max);
    return COLANDER_OK;
}

/* ------------------------------------------------------------ returning --- */

enum colander_code
colander_ordered_next(struct colander_ordered *ordered, bool *is_row,
                      struct colander_result *result,
                      struct colander_error *err)
{
    const struct ordered_row *row;

    memset(result, 0, sizeof(*result));
    *is_row = false;
    if (!ordered->is_sorted && ordered->count > 0)
        qsort_r(ordered->rows, ordered->count, sizeof(ordered->rows[0]),
                compare_pointers, ordered);
    ordered->is_sorted = true;
    if (is_cancelled(ordered))
        return COLANDER_FAIL(err, COLANDER_CANCELLED, "cancelled");
    if (ordered->next == ordered->count)
        return COLANDER_OK;
    row = ordered->rows[ordered->next++];
    result->key = colander_slice_of(row->bytes, row->key_size);
    result->row = colander_slice_of(row->bytes + row->key_size, row->row_size);
    *is_row = true;
    return COLANDER_OK;
}
