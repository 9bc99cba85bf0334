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

#define TEXT_MAX (ORDER_BEGINNING_MAX + ORDER_SYMBOLS)

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
    for (size_t i = 0; i < ends->made; i++)
        free(ends->ends[i]);
    free(ends->ends);
    ends->ends = NULL;
    ends->count = ends->made = ends->capacity = 0;
}

/* Sets the text of a rank: of the least or, ascending, the greatest text that
 * may have it. Returns false if there is none. */
static bool
set_text(struct order_end *end, uint64_t rank, bool is_descending,
         const struct order_column_view *column)
{
    const struct colander_slice beginning = column->beginning;
    size_t size;

    if (rank == 0 && is_descending) {
        end->text_size = 0; /* it may begin otherwise */
        return true;
    }
    if (!is_descending && (rank += UINT64_C(1) << 8) < UINT64_C(1) << 8)
        return false;
    if (beginning.size > 0)
        memcpy(end->text, beginning.data, beginning.size);
    size = order_text_of_word(rank, !is_descending, column->is_coded,
                              end->text + beginning.size);
    end->text_size = (uint16_t)(beginning.size + size);
    return size != SIZE_MAX;
}

/* Sets the end at a step: its least value or, ascending, its greatest. */
static bool
set_end(struct order_end *end, const struct order_ends *ends,
        const struct order_column_view *column, uint64_t step)
{
    const unsigned skip = order_skip(column->low, column->high);
    const unsigned shift = order_shift(column->width);
    const uint64_t place =
        step << shift | (ends->is_descending ? 0 : bits_mask(shift));

    end->rank = place >> 8 * skip;
    if (skip > 0) /* what all have in common */
        end->rank |= column->low & ~(UINT64_MAX >> 8 * skip);
    if (end->rank < column->low)
        end->rank = column->low;
    if (end->rank > column->high)
        end->rank = column->high;
    return !has_texts(ends) ||
           set_text(end, end->rank, ends->is_descending, column);
}

static int
compare_ends(const struct order_ends *ends, const struct order_end *left,
             const struct order_end *right)
{
    int order = (left->rank > right->rank) - (left->rank < right->rank);

    if (has_texts(ends))
        order = colander_slice_compare(
            colander_slice_of(left->text, left->text_size),
            colander_slice_of(right->text, right->text_size));
    return ends->is_descending ? -order : order;
}

/* Makes one more end. */
static enum colander_code
make_end(struct order_ends *ends, struct colander_error *err)
{
    enum colander_code code =
        array_reserve(&ends->ends, ends->made, &ends->capacity, 1, err);

    if (code != COLANDER_OK)
        return code;
    ends->ends[ends->made] = malloc(sizeof(struct order_end));
    if (ends->ends[ends->made] == NULL)
        return COLANDER_FAIL(err, COLANDER_NO_MEMORY, "no memory for a find");
    ends->made++;
    return COLANDER_OK;
}

/* Adds an end. Sets *is_beyond if there are enough before it. */
static enum colander_code
add_end(struct order_ends *ends, const struct order_end *end, bool *is_beyond,
        struct colander_error *err)
{
    enum colander_code code = COLANDER_OK;
    size_t at = ends->count;
    struct order_end *added;

    while (at > 0 && compare_ends(ends, end, ends->ends[at - 1]) < 0)
        at--;
    *is_beyond = at == ends->count && ends->total >= ends->wanted;
    if (*is_beyond)
        return COLANDER_OK;
    if (ends->count == ends->made)
        code = make_end(ends, err);
    if (code != COLANDER_OK)
        return code;
    added = ends->ends[ends->count];
    *added = *end;
    memmove(ends->ends + at + 1, ends->ends + at,
            (ends->count++ - at) * sizeof(struct order_end *));
    ends->ends[at] = added;
    ends->total += end->count;
    while (ends->total - ends->ends[ends->count - 1]->count >= ends->wanted)
        ends->total -= ends->ends[--ends->count]->count;
    return COLANDER_OK;
}

/* Adds values or groups. The items of a group lie up to the step of the next
 * one. */
static enum colander_code
add_entries(struct order_ends *ends, const struct order_column_view *column,
            const struct order_entries *entries, struct colander_error *err)
{
    const bool are_groups = entries == &column->groups;
    const uint32_t count = entries->count;
    const uint64_t last =
        order_place_of(column->high, order_skip(column->low, column->high),
                       column->type) >>
        order_shift(column->width);
    enum colander_code code = COLANDER_OK;
    bool is_beyond = false;
    struct order_end end;

    for (uint32_t i = 0; i < count && !is_beyond && code == COLANDER_OK; i++) {
        const uint32_t at = ends->is_descending ? count - 1 - i : i;
        uint64_t step = order_entry_step(entries, at);

        end.count = order_entry_count(entries, at);
        if (are_groups && !ends->is_descending && end.count > 1)
            step = at + 1 < count ? order_entry_step(entries, at + 1) : last;
        if (set_end(&end, ends, column, step))
            code = add_end(ends, &end, &is_beyond, err);
    }
    return code;
}

enum colander_code
order_ends_add(struct order_ends *ends, struct colander_slice block,
               uint64_t path_hash, struct colander_error *err)
{
    struct order_column_view column;
    struct order_end end;
    bool is_there;
    bool is_beyond;
    enum colander_code code = order_column_find(
        block, order_id(path_hash, ends->type), &column, &is_there, err);

    if (code != COLANDER_OK || !is_there)
        return code;
    if (column.width > 0) {
        code = add_entries(ends, &column, &column.values, err);
        if (code == COLANDER_OK)
            code = add_entries(ends, &column, &column.groups, err);
        return code;
    }
    end.count = column.item_count;
    end.rank = ends->is_descending ? column.low : column.high;
    if (!has_texts(ends) ||
        set_text(&end, end.rank, ends->is_descending, &column))
        code = add_end(ends, &end, &is_beyond, err);
    return code;
}

bool
order_ends_bound(const struct order_ends *ends, struct colander_value *bound)
{
    const struct order_end *end;

    if (ends->count == 0)
        return false;
    end = ends->ends[ends->count - 1];
    return order_value_of_rank(ends->type, end->rank, ends->is_descending,
                               colander_slice_of(end->text, end->text_size),
                               bound);
}
