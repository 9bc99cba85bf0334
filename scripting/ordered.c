/* SPDX-License-Identifier: MIT */
#include "scripting/ordered.h"

#include "core/array.h"
#include "core/heap.h"

struct ordered_row {
    struct colander_value value; /* in the row's bytes */
    bool has_value;
    uint64_t number; /* in the order of adding */
    size_t key_size;
    size_t row_size;
    uint8_t bytes[]; /* the key, then the row */
};

void
ordered_release(struct ordered *ordered)
{
    for (size_t i = 0; i < ordered->count; i++)
        free(ordered->rows[i]);
    free(ordered->rows);
    memset(ordered, 0, sizeof(*ordered));
}

static int
compare_rows(const struct ordered_row *left, const struct ordered_row *right,
             const struct ordered *ordered)
{
    int order = 0;

    if (ordered->is_cancelled != NULL && ordered->is_cancelled())
        return 0;
    if (left->has_value != right->has_value)
        return left->has_value ? -1 : 1;
    if (left->has_value)
        order = colander_value_compare(&left->value, &right->value);
    if (ordered->is_descending)
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

enum colander_code
ordered_add(struct ordered *ordered, const struct colander_result *result,
            const struct colander_value *value, struct colander_error *err)
{
    struct ordered_row header = {
        .value = value != NULL ? *value : colander_null(),
        .has_value = value != NULL,
        .number = ordered->added_count++,
        .key_size = result->key.size,
        .row_size = result->row.size,
    };
    const bool is_full = ordered->count >= ordered->wanted;
    struct ordered_row *row;

    if (is_full && (ordered->wanted == 0 ||
                    compare_rows(&header, ordered->rows[0], ordered) >= 0))
        return COLANDER_OK;
    row = copy_row(&header, result);
    if (row == NULL ||
        array_reserve(&ordered->rows, ordered->count, &ordered->capacity, 1,
                      NULL) != COLANDER_OK) {
        free(row);
        return COLANDER_FAIL(err, COLANDER_NO_MEMORY,
                             "no memory to order rows");
    }
    ordered->size += size_of(row);
    if (is_full) {
        ordered->size -= size_of(ordered->rows[0]);
        free(ordered->rows[0]);
        ordered->rows[0] = row;
        heap_sift_down(ordered->rows, sizeof(row), ordered->count, 0,
                       comes_later, ordered);
    } else {
        ordered->rows[ordered->count++] = row;
        if (ordered->count == ordered->wanted)
            heap_build(ordered->rows, sizeof(row), ordered->count, comes_later,
                       ordered);
    }
    if (ordered->size > ordered->size_max)
        return COLANDER_FAIL(err, COLANDER_LIMIT,
                             "%zu rows to order take more than %zu bytes "
                             "(colander.memory_limit sets the limit; a query "
                             "with a limit holds fewer)",
                             ordered->count, ordered->size_max);
    return COLANDER_OK;
}

void
ordered_finish(struct ordered *ordered)
{
    if (ordered->count > 0)
        qsort_r(ordered->rows, ordered->count, sizeof(ordered->rows[0]),
                compare_pointers, ordered);
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
