/*
 * Orders: finds where values of a range are.
 *
 * SPDX-License-Identifier: MIT
 */
#include "core/array.h"
#include "filters/order/order_code.h"

/* More are not worth the search: values of the list, and groups and items if
 * less than one of LEFT is out of the range. */
#define VALUES_MAX 4096
#define LEFT 8

static enum colander_code
fail_damaged(struct colander_error *err)
{
    return COLANDER_FAIL(err, COLANDER_CORRUPT, "an order block is damaged");
}

/* -------------------------------------------------------------- columns --- */

/* Reads entries of values or groups, and moves past them. */
static bool
read_entries(struct colander_slice *bytes, uint32_t count, unsigned width,
             unsigned more, struct order_entries *entries)
{
    const uint64_t size = (uint64_t)count * (width + more);

    *entries = (struct order_entries){bytes->data, count, width + more, width};
    if (size > bytes->size || (width == 0 && count > 0))
        return false;
    *bytes = colander_slice_of(bytes->data + size, bytes->size - size);
    return true;
}

static bool
read_column(struct colander_slice bytes, struct order_column_view *column)
{
    const uint8_t *at = bytes.data;
    const size_t head = ORDER_COLUMN_SIZE;

    if (bytes.size < head || bytes.size - head < at[1])
        return false;
    column->width = at[0] & 0xf;
    column->grain = at[0] >> ORDER_GRAIN_SHIFT & 7;
    column->has_zeros = (at[0] & ORDER_HAS_ZEROS) != 0;
    column->beginning = colander_slice_of(at + head, at[1]);
    column->item_count = bytes_get_le32(at + 2) & ~ORDER_IS_CODED;
    column->is_coded = (bytes_get_le32(at + 2) & ORDER_IS_CODED) != 0;
    column->first_group = bytes_get_le32(at + 14);
    column->low = bytes_get_le64(at + 18);
    column->high = bytes_get_le64(at + 26);
    bytes = colander_slice_of(at + head + at[1], bytes.size - head - at[1]);
    return column->width <= ORDER_WIDTH_MAX &&
           (column->width == 0 || column->grain > 0) &&
           read_entries(&bytes, bytes_get_le32(at + 6), column->width,
                        ORDER_COUNT_SIZE + ORDER_HASH_SIZE, &column->values) &&
           read_entries(&bytes, bytes_get_le32(at + 10), column->width,
                        ORDER_COUNT_SIZE, &column->groups) &&
           column->first_group < ORDER_GROUP_PLACE &&
           column->groups.count < ORDER_GROUP_PLACE - column->first_group;
}

enum colander_code
order_column_find(struct colander_slice block, uint64_t id,
                  struct order_column_view *column, bool *is_there,
                  struct colander_error *err)
{
    const uint8_t *entries = block.data + ORDER_HEAD_SIZE;
    size_t count = 0;
    uint32_t offset;
    size_t i;

    *is_there = false;
    if (block.size >= ORDER_HEAD_SIZE)
        count = bytes_get_le16(block.data + 1);
    if (block.size < ORDER_HEAD_SIZE + count * ORDER_ENTRY_SIZE ||
        (block.data[0] & ORDER_MARK) == 0)
        return fail_damaged(err);
    array_search(i, count, bytes_get_le64(entries + i * ORDER_ENTRY_SIZE) < id);
    if (i == count || bytes_get_le64(entries + i * ORDER_ENTRY_SIZE) != id)
        return COLANDER_OK;
    offset = bytes_get_le32(entries + i * ORDER_ENTRY_SIZE + 8);
    column->type = (enum colander_type)(id & 15);
    if (offset > block.size ||
        !read_column(
            colander_slice_of(block.data + offset, block.size - offset),
            column))
        return fail_damaged(err);
    *is_there = true;
    return COLANDER_OK;
}

/* Returns why a column has neither values nor groups. */
static enum order_reason
reason_of(const struct order_column_view *column)
{
    if (column->width > 0)
        return ORDER_HAS_SOME;
    if (column->grain == ORDER_CODE_REFUSED)
        return ORDER_REFUSED;
    if (column->item_count < ORDER_FEW_VALUES)
        return ORDER_FEW;
    return column->grain == ORDER_CODE_NO_BUDGET ? ORDER_NO_BUDGET
                                                 : ORDER_OVER_BUDGET;
}

enum colander_code
order_look(struct colander_slice block, uint64_t path_hash,
           enum colander_type type, struct order_column_view *column,
           enum order_reason *reason, struct colander_error *err)
{
    bool is_there;
    enum colander_code code = order_column_find(
        block, order_id(path_hash, type), column, &is_there, err);

    if (code != COLANDER_OK)
        return code;
    if (is_there)
        *reason = reason_of(column);
    else
        *reason =
            (block.data[0] & ~ORDER_MARK) != 0 ? ORDER_UNKNOWN : ORDER_ABSENT;
    return COLANDER_OK;
}

/* --------------------------------------------------------------- ranges --- */

/* Returns how many steps are below `step` or, `or_equal`, not above it. */
static uint32_t
count_below(const struct order_entries *entries, uint64_t step, bool or_equal)
{
    size_t i;

    array_search(i, entries->count,
                 order_entry_step(entries, i) < step ||
                     (or_equal && order_entry_step(entries, i) == step));
    return (uint32_t)i;
}

/* Returns the items of entries from `first` to before `end`. Sets *are_more if
 * one of these may have more. */
static uint64_t
count_items(const struct order_entries *entries, uint32_t first, uint32_t end,
            bool *are_more)
{
    uint64_t total = 0;

    for (uint32_t i = first; i < end; i++) {
        const uint32_t count = order_entry_count(entries, i);

        total += count;
        *are_more |= count == ORDER_COUNT_MAX;
    }
    return total;
}

/* Sets the number of items in the range of an answer: if a value has more than
 * is known, of all but those out of the range. */
static void
count_answer(struct order_answer *answer)
{
    const struct order_column_view *column = &answer->column;
    bool are_more = false;
    uint64_t others;

    answer->item_count = count_items(&column->values, answer->first_value,
                                     answer->end_value, &are_more) +
                         count_items(&column->groups, answer->first_group,
                                     answer->end_group, &are_more);
    if (!are_more)
        return;
    others = count_items(&column->values, 0, answer->first_value, &are_more) +
             count_items(&column->values, answer->end_value,
                         column->values.count, &are_more) +
             count_items(&column->groups, 0, answer->first_group, &are_more) +
             count_items(&column->groups, answer->end_group,
                         column->groups.count, &are_more);
    if (others < column->item_count &&
        column->item_count - others > answer->item_count)
        answer->item_count = column->item_count - others;
}

static bool
are_nearly_all(uint64_t some, uint64_t all)
{
    return some > all - all / LEFT;
}

/* Sets the answer to the values and groups in its range. */
static void
answer_lists(struct order_answer *answer)
{
    const struct order_entries *values = &answer->column.values;
    const struct order_entries *groups = &answer->column.groups;
    const unsigned shift = order_shift(answer->column.width);
    const uint64_t low = answer->low >> shift;
    const uint64_t high = answer->high >> shift;

    answer->first_value = count_below(values, low, false);
    answer->end_value = count_below(values, high, true);
    answer->first_group = count_below(groups, low, false);
    answer->end_group = count_below(groups, high, true);
    /* a group ends where the next one begins, maybe with the same step */
    if (answer->first_group > 0)
        answer->first_group--;
    answer->where = ORDER_COLUMN;
    if (answer->end_value < answer->first_value ||
        answer->end_group < answer->first_group || /* it is damaged, */
        answer->end_value - answer->first_value > VALUES_MAX)
        return; /* or these are too many */
    count_answer(answer);
    if (answer->item_count == 0)
        answer->where = ORDER_NOWHERE;
    else if (!are_nearly_all(answer->end_group - answer->first_group,
                             groups->count) ||
             !are_nearly_all(answer->item_count, answer->column.item_count))
        answer->where = ORDER_LISTS;
}

enum colander_code
order_find(struct colander_slice block, uint64_t path_hash,
           const struct order_span *span, struct order_answer *answer,
           struct colander_error *err)
{
    const uint64_t id = order_id(path_hash, span->low.type);
    struct order_column_view *column = &answer->column;
    enum colander_code code;
    uint64_t low;
    uint64_t high;
    unsigned skip;
    bool is_there;

    memset(answer, 0, sizeof(*answer));
    code = order_column_find(block, id, column, &is_there, err);
    if (code != COLANDER_OK)
        return code;
    answer->where = ORDER_NOWHERE;
    if (!is_there) {
        if ((block.data[0] & ~ORDER_MARK) != 0)
            answer->where = ORDER_COLUMN; /* columns are missing */
        return COLANDER_OK;
    }
    low = order_rank(&span->low, column->beginning, column->has_zeros,
                     column->is_coded);
    high = order_rank(&span->high, column->beginning, column->has_zeros,
                      column->is_coded);
    if (low > column->high || high < column->low || low > high)
        return COLANDER_OK;
    if (column->width == 0) {
        answer->where = ORDER_COLUMN;
        return COLANDER_OK;
    }
    skip = order_skip(column->low, column->high);
    answer->low = order_place_of(low < column->low ? column->low : low, skip,
                                 column->type);
    answer->high = order_place_of(high > column->high ? column->high : high,
                                  skip, column->type);
    answer_lists(answer);
    return COLANDER_OK;
}

uint64_t
order_hash(const struct order_answer *answer, uint32_t i)
{
    const struct order_entries *values = &answer->column.values;

    return bytes_get_le(values->data + (size_t)(i + 1) * values->size -
                            ORDER_HASH_SIZE,
                        ORDER_HASH_SIZE)
           << (64 - LOCATOR_HASH_BITS);
}

/* --------------------------------------------------------------- groups --- */

uint32_t
order_group_place(const struct order_answer *answer, uint32_t i)
{
    return ORDER_GROUP_PLACE + answer->column.first_group + i;
}

bool
order_has_group(struct colander_slice block, uint32_t first_place,
                uint32_t place)
{
    return block.size >= 2 && place >= first_place &&
           place - first_place < bytes_get_le16(block.data);
}

/* Returns where group `i` of `count` begins in a block. */
static uint64_t
group_begin(struct colander_slice block, uint32_t i)
{
    if (i >= bytes_get_le16(block.data) || 2 * (size_t)i + 4 > block.size)
        return block.size;
    return bytes_get_le16(block.data + 2 + 2 * (size_t)i);
}

uint64_t
order_groups_size(struct colander_slice block, uint32_t first_place,
                  uint32_t place, uint32_t end)
{
    if (block.size < 2 || end <= first_place || end <= place)
        return 0;
    if (place < first_place)
        place = first_place;
    return group_begin(block, end - first_place) -
           group_begin(block, place - first_place);
}

static struct order_bounds
bounds_of(const struct order_answer *answer, uint32_t i)
{
    const struct order_column_view *column = &answer->column;
    const unsigned shift = order_shift(column->width);

    return order_bounds_of(
        order_entry_step(&column->groups, i) << shift,
        i + 1 < column->groups.count
            ? order_entry_step(&column->groups, i + 1) << shift
            : order_place_of(column->high,
                             order_skip(column->low, column->high),
                             column->type),
        column->width, column->grain);
}

/* Adds runs of rows. */
static enum colander_code
add_runs(struct bit_reader *bits, uint32_t row_count, struct row_ranges *ranges,
         struct colander_error *err)
{
    const uint32_t count = bit_take_gamma(bits);
    enum colander_code code = COLANDER_OK;
    uint64_t end = 0;

    for (uint32_t i = 0; i < count && code == COLANDER_OK; i++) {
        const uint64_t first = end + bit_take_gamma(bits) - 1;

        end = first + bit_take_gamma(bits);
        if (bit_overran(bits) || end > row_count)
            return fail_damaged(err);
        code = row_ranges_add(ranges, (uint32_t)first, (uint32_t)end, err);
    }
    return code;
}

/* Adds those of the next `count` items whose fraction is from `low` to `high`;
 * if they have none, all. */
static enum colander_code
add_rows(struct bit_reader *bits, uint32_t count, unsigned grain, uint64_t low,
         uint64_t high, uint32_t row_count, struct row_ranges *ranges,
         struct colander_error *err)
{
    uint64_t row = bit_take_gamma(bits) - 1;
    const unsigned rice = (unsigned)bit_take(bits, ORDER_RICE_BITS);
    enum colander_code code = COLANDER_OK;

    for (uint32_t i = 0; i < count && code == COLANDER_OK; i++) {
        uint64_t fraction = low;

        row += bit_take_rice(bits, rice);
        if (grain > 0)
            fraction = bit_take(bits, grain);
        if (bit_overran(bits) || row >= row_count)
            return fail_damaged(err);
        if (fraction >= low && fraction <= high)
            code =
                row_ranges_add(ranges, (uint32_t)row, (uint32_t)row + 1, err);
    }
    return code;
}

/* Returns whether the cuts do not descend. */
static bool
take_cuts(struct bit_reader *bits, struct order_bounds *bounds)
{
    uint8_t before = 0;

    bounds->cut_count = order_cut_count(bounds->grain);
    for (unsigned i = 0; i < bounds->cut_count; i++) {
        bounds->cuts[i] = (uint8_t)bit_take(bits, ORDER_PIECE_BITS);
        if (bounds->cuts[i] < before)
            return false;
        before = bounds->cuts[i];
    }
    return true;
}

enum colander_code
order_group(const struct order_answer *answer, uint32_t i,
            struct colander_slice block, uint32_t first_place,
            uint32_t row_count, struct row_ranges *ranges,
            struct colander_error *err)
{
    const struct order_column_view *column = &answer->column;
    struct order_bounds bounds = bounds_of(answer, i);
    const unsigned shift = order_shift(column->width);
    const uint32_t place = order_group_place(answer, i);
    struct bit_reader bits = {.data = block.data, .size = block.size};
    enum order_group_kind kind;
    size_t at;

    if (!order_has_group(block, first_place, place))
        return fail_damaged(err);
    at = 2 + 2 * (size_t)(place - first_place);
    if (at + 2 > block.size)
        return fail_damaged(err);
    bits.at = UINT64_C(8) * bytes_get_le16(block.data + at);
    bits.end = UINT64_C(8) * block.size;
    kind = (enum order_group_kind)bit_take(&bits, ORDER_KIND_BITS);
    if (kind == ORDER_GROUP_RUNS)
        return add_runs(&bits, row_count, ranges, err);
    if (kind == ORDER_GROUP_VALUE &&
        bounds.begin >> shift < answer->low >> shift)
        return COLANDER_OK;
    if (kind == ORDER_GROUP_CUTS && !take_cuts(&bits, &bounds))
        return fail_damaged(err);
    return add_rows(&bits, order_entry_count(&column->groups, i),
                    kind == ORDER_GROUP_VALUE ? 0 : column->grain,
                    order_fraction(&bounds, answer->low),
                    order_fraction(&bounds, answer->high), row_count, ranges,
                    err);
}
