/*
 * Orders: finds where values of a range are.
 *
 * SPDX-License-Identifier: MIT
 */
#include "filters/order/order_code.h"

static enum colander_code
fail_damaged(struct colander_error *err)
{
    return COLANDER_FAIL(err, COLANDER_CORRUPT, "an order block is damaged");
}

/* Returns how many bytes the lists of a column have. */
static uint64_t
lists_size(const struct order_column_view *column, uint32_t row_count)
{
    switch (column->form) {
    case ORDER_FORM_ROWS:
        return 0;
    case ORDER_FORM_RUNS:
        return (uint64_t)order_run_count(row_count) * 2 * column->width;
    case ORDER_FORM_LISTS:
        return (uint64_t)column->value_count *
                   (column->width + ORDER_HASH_SIZE) +
               (uint64_t)column->group_count * column->width;
    }
    return UINT64_MAX;
}

static bool
read_column(struct colander_slice bytes, uint32_t row_count,
            enum colander_type type, struct order_column_view *column)
{
    const uint8_t *at = bytes.data;

    if (bytes.size < ORDER_COLUMN_SIZE)
        return false;
    column->form = (enum order_form)(at[0] & 0xf);
    column->width = at[0] >> 4;
    column->scale.bits = at[1];
    column->scale.mask = order_mask(type);
    column->beginning = colander_slice_of(at + ORDER_COLUMN_SIZE, at[2]);
    column->item_count = bytes_get_le32(at + 3);
    column->grouped_count = bytes_get_le32(at + 7);
    column->value_count = bytes_get_le32(at + 11);
    column->group_count = bytes_get_le32(at + 15);
    column->group_start = bytes_get_le32(at + 19);
    column->low = bytes_get_le64(at + 23);
    column->high = bytes_get_le64(at + 31);
    column->scale.base = bytes_get_le64(at + 39);
    column->lists = at + ORDER_COLUMN_SIZE + column->beginning.size;
    column->groups = column->lists + (size_t)column->value_count *
                                         (column->width + ORDER_HASH_SIZE);
    return column->form <= ORDER_FORM_LISTS && column->width >= 1 &&
           column->width <= ORDER_WIDTH_MAX && column->scale.bits >= 1 &&
           column->scale.bits <= 64 &&
           column->group_start < ORDER_GROUP_PLACE &&
           column->group_count < ORDER_GROUP_PLACE - column->group_start &&
           column->grouped_count <= column->item_count &&
           lists_size(column, row_count) + column->beginning.size <=
               bytes.size - ORDER_COLUMN_SIZE;
}

enum colander_code
order_column_find(struct colander_slice block, uint32_t row_count, uint64_t id,
                  struct order_column_view *column, bool *is_there,
                  struct colander_error *err)
{
    uint32_t low = 0;
    uint32_t high = 0;

    *is_there = false;
    if (block.size >= ORDER_HEAD_SIZE)
        high = bytes_get_le16(block.data + 1);
    if (block.size < ORDER_HEAD_SIZE + (size_t)high * ORDER_ENTRY_SIZE)
        return fail_damaged(err);
    while (low < high && !*is_there) {
        const uint32_t middle = low + (high - low) / 2;
        const uint8_t *entry =
            block.data + ORDER_HEAD_SIZE + (size_t)middle * ORDER_ENTRY_SIZE;
        const uint64_t other = bytes_get_le64(entry);
        const uint32_t offset = bytes_get_le32(entry + 8);

        if (other == id) {
            if (offset > block.size ||
                !read_column(
                    colander_slice_of(block.data + offset, block.size - offset),
                    row_count, (enum colander_type)(id & 15), column))
                return fail_damaged(err);
            *is_there = true;
        } else if (other < id) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return COLANDER_OK;
}

/* Returns how many of `count` steps are below `step` or, `or_equal`, not above
 * it. */
static uint32_t
count_below(const uint8_t *steps, uint32_t count, unsigned width, uint64_t step,
            bool or_equal)
{
    uint32_t low = 0;
    uint32_t high = count;

    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        const uint64_t other = order_step_at(steps, middle, width);

        if (other < step || (or_equal && other == step))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* More are not worth the search. */
#define VALUES_MAX 4096

/* Sets the answer to the values and groups in its range. */
static void
answer_lists(const struct order_column_view *column,
             struct order_answer *answer)
{
    const unsigned width = column->width;
    const uint64_t known = ~UINT64_C(0) << order_shift(width);
    const uint64_t low = answer->low & known;
    const uint64_t high = answer->high & known;
    const uint32_t value_count = column->value_count;
    const uint32_t group_count = column->group_count;
    uint32_t values;
    uint32_t groups;

    answer->hashes = column->lists + (size_t)value_count * width;
    answer->groups = column->groups;
    answer->group_start = column->group_start;
    answer->group_count = group_count;
    answer->first_value =
        count_below(column->lists, value_count, width, low, false);
    answer->end_value =
        count_below(column->lists, value_count, width, high, true);
    answer->first_group =
        count_below(answer->groups, group_count, width, low, false);
    answer->end_group =
        count_below(answer->groups, group_count, width, high, true);
    /* a group ends where the next one begins, maybe with the same step */
    if (answer->first_group > 0)
        answer->first_group--;
    if (answer->end_value < answer->first_value ||
        answer->end_group < answer->first_group) { /* damaged */
        answer->where = ORDER_COLUMN;
        return;
    }
    values = answer->end_value - answer->first_value;
    groups = answer->end_group - answer->first_group;
    if (values > 0)
        answer->item_count += (uint64_t)values *
                              (column->item_count - column->grouped_count) /
                              value_count;
    if (groups > 0)
        answer->item_count +=
            (uint64_t)groups * column->grouped_count / group_count;
    if (values > VALUES_MAX || groups > group_count / 2 + 2)
        answer->where = ORDER_COLUMN;
    else if (values > 0 || groups > 0)
        answer->where = ORDER_LISTS;
}

enum colander_code
order_find(struct colander_slice block, uint32_t row_count, uint64_t path_hash,
           const struct order_span *span, struct order_answer *answer,
           struct colander_error *err)
{
    const uint64_t id = order_id(path_hash, span->low.type);
    struct order_column_view column = {.width = 1};
    enum colander_code code;
    uint64_t low;
    uint64_t high;
    bool is_there;

    memset(answer, 0, sizeof(*answer));
    code = order_column_find(block, row_count, id, &column, &is_there, err);
    if (code != COLANDER_OK)
        return code;
    answer->where = ORDER_NOWHERE;
    if (!is_there) {
        if (block.data[0] != 0)
            answer->where = ORDER_COLUMN; /* columns are missing */
        return COLANDER_OK;
    }
    low = order_rank(&span->low, column.beginning);
    high = order_rank(&span->high, column.beginning);
    if (low > column.high || high < column.low || low > high)
        return COLANDER_OK;
    answer->width = column.width;
    answer->low = order_step(&column.scale, low);
    answer->high = order_step(&column.scale, high);
    if (column.form == ORDER_FORM_ROWS) {
        answer->where = ORDER_COLUMN;
    } else if (column.form == ORDER_FORM_RUNS) {
        answer->where = ORDER_RUNS;
        answer->runs = column.lists;
    } else {
        answer_lists(&column, answer);
    }
    return COLANDER_OK;
}

uint64_t
order_hash(const struct order_answer *answer, uint32_t i)
{
    return bytes_get_le(answer->hashes + (size_t)i * ORDER_HASH_SIZE,
                        ORDER_HASH_SIZE)
           << (64 - LOCATOR_HASH_BITS);
}

uint32_t
order_group_place(const struct order_answer *answer, uint32_t i)
{
    return ORDER_GROUP_PLACE + answer->group_start + i;
}

bool
order_has_group(struct colander_slice block, uint32_t first_place,
                uint32_t place)
{
    return block.size >= 2 && place >= first_place &&
           place - first_place < bytes_get_le16(block.data);
}

/* Adds the rows of the next `count` items of a group, of a cell. */
static enum colander_code
add_cell(struct bit_reader *bits, unsigned rice, uint64_t count, bool is_wanted,
         uint32_t row_count, struct row_ranges *ranges,
         struct colander_error *err)
{
    enum colander_code code = COLANDER_OK;
    uint64_t row = 0;

    for (uint64_t i = 0; i < count && code == COLANDER_OK; i++) {
        row += bit_take_rice(bits, rice);
        if (bit_overran(bits) || row >= row_count)
            return fail_damaged(err);
        if (is_wanted)
            code =
                row_ranges_add(ranges, (uint32_t)row, (uint32_t)row + 1, err);
    }
    return code;
}

/* Reads where all cells but the first begin, and the fraction of the last item.
 */
static void
take_fractions(struct bit_reader *bits, size_t cell_count, uint64_t *fractions)
{
    const uint64_t last = bit_take(bits, ORDER_FRACTION_BITS);
    const unsigned rice =
        bits_rice_parameter((uint32_t)last, (uint32_t)cell_count);
    uint64_t fraction = 0;

    for (size_t i = 0; i + 1 < cell_count; i++)
        fractions[i] = fraction += bit_take_rice(bits, rice);
    fractions[cell_count - 1] = last;
}

/* Adds the rows of a group that may have a step from `low` to `high`. */
static enum colander_code
add_rows(struct bit_reader *bits, const struct order_bounds *bounds,
         uint64_t low, uint64_t high, uint32_t row_count,
         struct row_ranges *ranges, struct colander_error *err)
{
    uint64_t left = bit_take(bits, ORDER_ITEMS_BITS) + 1;
    const unsigned rice = (unsigned)bit_take(bits, ORDER_RICE_BITS);
    const size_t cell_count = order_cell_count(left);
    const unsigned first = order_fraction(bounds, low);
    const unsigned last = order_fraction(bounds, high);
    uint64_t fractions[ORDER_CELLS]; /* at which the next cell begins */
    enum colander_code code = COLANDER_OK;

    if (cell_count > 1)
        take_fractions(bits, cell_count, fractions);
    for (size_t i = 0; i < cell_count && code == COLANDER_OK; i++) {
        const uint64_t count = left < ORDER_CELL ? left : ORDER_CELL;

        if (i > 0 && fractions[i - 1] > last)
            break; /* so have all later cells */
        code = add_cell(bits, rice, count,
                        cell_count == 1 || fractions[i] >= first, row_count,
                        ranges, err);
        left -= count;
    }
    return code;
}

enum colander_code
order_group(const struct order_answer *answer, uint32_t i,
            struct colander_slice block, uint32_t first_place,
            uint32_t row_count, struct row_ranges *ranges,
            struct colander_error *err)
{
    const uint32_t place = order_group_place(answer, i);
    const unsigned width = answer->width;
    struct bit_reader bits = {.data = block.data, .size = block.size};
    const struct order_bounds bounds = {
        order_step_at(answer->groups, i, width),
        i + 1 < answer->group_count
            ? order_step_at(answer->groups, i + 1, width)
            : ~UINT64_C(0) << order_shift(width),
        width};
    size_t at;

    if (!order_has_group(block, first_place, place) ||
        bounds.next < bounds.begin)
        return fail_damaged(err);
    at = 2 + 2 * (size_t)(place - first_place);
    if (at + 2 > block.size)
        return fail_damaged(err);
    bits.at = UINT64_C(8) * bytes_get_le16(block.data + at);
    bits.end = UINT64_C(8) * block.size;
    return add_rows(&bits, &bounds, answer->low, answer->high, row_count,
                    ranges, err);
}

enum colander_code
order_runs(const struct order_answer *answer, uint32_t row_count,
           struct row_ranges *ranges, struct colander_error *err)
{
    const uint32_t run_count = order_run_count(row_count);
    const unsigned width = answer->width;
    const uint64_t known = ~UINT64_C(0) << order_shift(width);
    const uint64_t low = answer->low & known;
    const uint64_t high = answer->high & known;
    enum colander_code code = COLANDER_OK;

    for (uint32_t run = 0; run < run_count && code == COLANDER_OK; run++) {
        const uint32_t first = run * ORDER_RUN;
        const uint32_t left = row_count - first;

        if (order_step_at(answer->runs, 2 * (size_t)run, width) > high ||
            order_step_at(answer->runs, 2 * (size_t)run + 1, width) < low)
            continue;
        code = row_ranges_add(
            ranges, first, first + (left < ORDER_RUN ? left : ORDER_RUN), err);
    }
    return code;
}
