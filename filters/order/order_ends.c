/*
 * Orders: the values at one end of a column, over many parts.
 *
 * An end is a value with about how many items lie between the end before it and
 * this one. So the ends lead to a value within which a number of rows lie.
 *
 * SPDX-License-Identifier: MIT
 */
#include "core/array.h"
#include "filters/order/order_code.h"

#include <stdlib.h>

#define TEXT_MAX (ORDER_BEGINNING_MAX + 8)

struct order_end {
    uint64_t rank;  /* of a type without bytes */
    uint64_t count; /* of items */
    uint16_t text_size;
    uint8_t text[TEXT_MAX];
};

static bool
has_texts(const struct order_ends *ends)
{
    return ends->type == COLANDER_STRING || ends->type == COLANDER_BINARY;
}

void
order_ends_release(struct order_ends *ends)
{
    free(ends->ends);
    ends->ends = NULL;
    ends->count = ends->capacity = 0;
}

/* Sets the text of a rank: of the least or, ascending, the greatest text that
 * may have it. Returns false if there is none. */
static bool
set_text(struct order_end *end, uint64_t rank, bool is_descending,
         struct colander_slice beginning)
{
    if (rank == 0 && is_descending) {
        end->text_size = 0; /* it may begin otherwise */
        return true;
    }
    if (!is_descending && (rank += UINT64_C(1) << 8) < UINT64_C(1) << 8)
        return false;
    if (beginning.size > 0)
        memcpy(end->text, beginning.data, beginning.size);
    bytes_put_be64(end->text + beginning.size, rank);
    end->text_size = (uint16_t)(beginning.size + ORDER_WORD_BYTES);
    while (end->text_size > beginning.size &&
           end->text[end->text_size - 1] == 0)
        end->text_size--;
    return true;
}

/* Adds an end for `count` items whose steps are `step` or, with `width` bytes
 * known, those behind it. */
static enum colander_code
add_end(struct order_ends *ends, const struct order_column_view *column,
        uint64_t step, uint64_t count, struct colander_error *err)
{
    const unsigned shift = 64 - column->scale.bits;
    const uint64_t unknown = column->width == ORDER_WIDTH_MAX
                                 ? 0
                                 : ~UINT64_C(0) >> 8 * column->width;
    struct order_end *end;
    enum colander_code code =
        array_reserve(&ends->ends, ends->count, &ends->capacity, 1, err);

    if (code != COLANDER_OK)
        return code;
    end = &ends->ends[ends->count];
    end->count = count;
    if (!ends->is_descending)
        step |= unknown | ~column->scale.mask;
    end->rank = column->scale.base + (step >> shift);
    if (ends->is_descending && step == 0)
        end->rank = column->low;
    if (!ends->is_descending && step == UINT64_MAX)
        end->rank = column->high;
    if (!has_texts(ends) ||
        set_text(end, end->rank, ends->is_descending, column->beginning))
        ends->count++;
    return COLANDER_OK;
}

/* ---------------------------------------------------------------- forms --- */

static enum colander_code
add_runs(struct order_ends *ends, const struct order_column_view *column,
         uint32_t row_count, struct colander_error *err)
{
    const uint32_t run_count = order_run_count(row_count);
    enum colander_code code = COLANDER_OK;

    for (size_t i = 0; i < run_count && code == COLANDER_OK; i++) {
        const uint64_t low = order_step_at(column->lists, 2 * i, column->width);
        const uint64_t high =
            order_step_at(column->lists, 2 * i + 1, column->width);

        if (low <= high)
            code =
                add_end(ends, column, ends->is_descending ? high : low, 1, err);
    }
    return code;
}

static enum colander_code
add_lists(struct order_ends *ends, const struct order_column_view *column,
          struct colander_error *err)
{
    const uint32_t count = column->value_count;
    const unsigned width = column->width;
    enum colander_code code = COLANDER_OK;
    uint64_t total = 0;

    for (uint32_t i = 0;
         i < count && total < ends->wanted && code == COLANDER_OK; i++) {
        code = add_end(ends, column,
                       order_step_at(column->lists,
                                     ends->is_descending ? count - 1 - i : i,
                                     width),
                       ORDER_REPEATED_MIN, err);
        total += ORDER_REPEATED_MIN;
    }
    total = 0;
    for (uint32_t i = 0;
         i < column->group_count && total < ends->wanted && code == COLANDER_OK;
         i++) {
        const uint64_t items = order_group_items(total);
        /* items of a group lie up to the step of the next one */
        const uint32_t group =
            ends->is_descending ? column->group_count - 1 - i : i + (items > 1);
        const uint64_t step = group < column->group_count
                                  ? order_step_at(column->groups, group, width)
                                  : column->scale.mask;

        code = add_end(ends, column, step, items, err);
        total += items;
    }
    return code;
}

/* --------------------------------------------------------------- adding --- */

static int
compare_ends(const void *a, const void *b, void *context)
{
    const struct order_ends *ends = context;
    const struct order_end *left = a;
    const struct order_end *right = b;
    int order = (left->rank > right->rank) - (left->rank < right->rank);

    if (has_texts(ends))
        order = colander_slice_compare(
            colander_slice_of(left->text, left->text_size),
            colander_slice_of(right->text, right->text_size));
    return ends->is_descending ? -order : order;
}

/* Keeps the first ends, as many as are wanted. */
static void
trim(struct order_ends *ends)
{
    uint64_t total = 0;
    size_t kept = 0;

    qsort_r(ends->ends, ends->count, sizeof(*ends->ends), compare_ends, ends);
    while (kept < ends->count && total < ends->wanted)
        total += ends->ends[kept++].count;
    ends->count = kept;
    ends->total = total;
}

enum colander_code
order_ends_add(struct order_ends *ends, struct colander_slice block,
               uint32_t row_count, uint64_t path_hash,
               struct colander_error *err)
{
    struct order_column_view column;
    bool is_there;
    enum colander_code code =
        order_column_find(block, row_count, order_id(path_hash, ends->type),
                          &column, &is_there, err);

    if (code != COLANDER_OK || !is_there)
        return code;
    if (column.form == ORDER_FORM_LISTS)
        code = add_lists(ends, &column, err);
    else if (column.form == ORDER_FORM_RUNS)
        code = add_runs(ends, &column, row_count, err);
    else
        code = add_end(ends, &column, ends->is_descending ? 0 : UINT64_MAX,
                       column.item_count, err);
    if (code == COLANDER_OK && ends->count > 0)
        trim(ends);
    return code;
}

bool
order_ends_bound(const struct order_ends *ends, struct colander_value *bound)
{
    const struct order_end *end;

    if (ends->count == 0)
        return false;
    end = &ends->ends[ends->count - 1];
    return order_value_of_rank(ends->type, end->rank, ends->is_descending,
                               colander_slice_of(end->text, end->text_size),
                               bound);
}
