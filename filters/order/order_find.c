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

/* A column of a block. */
struct column {
    enum order_form form;
    unsigned width;
    struct order_scale scale;
    uint64_t low;
    uint64_t high;
    uint32_t value_count;
    uint32_t list_count; /* values or buckets */
    struct colander_slice beginning;
    const uint8_t *list; /* of its form */
};

/* Returns how many bytes the list of a column has. */
static uint64_t
list_size(const struct column *column, uint32_t row_count)
{
    const uint64_t count = column->list_count;

    switch (column->form) {
    case ORDER_FORM_ROWS:
        return 0;
    case ORDER_FORM_RUNS:
        return (uint64_t)order_run_count(row_count) * 2 * column->width;
    case ORDER_FORM_VALUES:
        return count * (column->width + ORDER_HASH_SIZE);
    case ORDER_FORM_BUCKETS:
        return count * column->width;
    }
    return UINT64_MAX;
}

static bool
read_column(struct colander_slice bytes, uint32_t row_count,
            struct column *column)
{
    const uint8_t *at = bytes.data;

    if (bytes.size < ORDER_COLUMN_SIZE)
        return false;
    column->form = (enum order_form)(at[0] & 0xf);
    column->width = at[0] >> 4;
    column->scale.bits = at[1];
    column->beginning = colander_slice_of(at + ORDER_COLUMN_SIZE, at[2]);
    column->value_count = bytes_get_le32(at + 3);
    column->list_count = bytes_get_le32(at + 7);
    column->low = bytes_get_le64(at + 11);
    column->high = bytes_get_le64(at + 19);
    column->scale.base = bytes_get_le64(at + 27);
    column->list = at + ORDER_COLUMN_SIZE + column->beginning.size;
    return column->form <= ORDER_FORM_BUCKETS && column->width >= 1 &&
           column->width <= ORDER_WIDTH_MAX && column->scale.bits >= 1 &&
           column->scale.bits <= 64 &&
           list_size(column, row_count) + column->beginning.size <=
               bytes.size - ORDER_COLUMN_SIZE;
}

/* Finds the column in the directory of the block; *is_there: it has one. */
static enum colander_code
find_column(struct colander_slice block, uint32_t row_count, uint64_t id,
            struct column *column, bool *is_there, struct colander_error *err)
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
                    row_count, column))
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

static uint64_t
step_at(const uint8_t *steps, uint32_t i, unsigned width)
{
    return bytes_get_le(steps + (size_t)i * width, width);
}

/* Returns how many steps of the column's list are below `step` or, `or_equal`,
 * not above it. */
static uint32_t
count_below(const struct column *column, uint64_t step, bool or_equal)
{
    uint32_t low = 0;
    uint32_t high = column->list_count;

    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        const uint64_t other = step_at(column->list, middle, column->width);

        if (other < step || (or_equal && other == step))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Sets the answer to the values or buckets in its range. Very many values, and
 * more than half of the rows, are not worth the search. */
#define VALUES_MAX 4096

static void
answer_hashes(const struct column *column, struct order_answer *answer)
{
    const bool are_values = column->form == ORDER_FORM_VALUES;

    answer->first = count_below(column, answer->low, false);
    answer->end = count_below(column, answer->high, true);
    /* a bucket ends where the next one begins, maybe with the same rank */
    if (!are_values && answer->first > 0)
        answer->first--;
    if (answer->first >= answer->end) {
        answer->where = ORDER_NOWHERE;
        return;
    }
    answer->where =
        answer->end - answer->first >
                (are_values ? VALUES_MAX : column->list_count / 2 + 1)
            ? ORDER_COLUMN
            : ORDER_HASHES;
    answer->value_count = (uint64_t)(answer->end - answer->first) *
                          column->value_count / column->list_count;
    answer->hashes =
        are_values ? column->list + (size_t)column->list_count * column->width
                   : NULL;
}

enum colander_code
order_find(struct colander_slice block, uint32_t row_count, uint64_t path_hash,
           const struct order_span *span, struct order_answer *answer,
           struct colander_error *err)
{
    const uint64_t id = order_id(path_hash, span->low.type);
    struct column column;
    enum colander_code code;
    uint64_t low;
    uint64_t high;
    bool is_there;

    memset(answer, 0, sizeof(*answer));
    answer->column = id;
    code = find_column(block, row_count, id, &column, &is_there, err);
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
    if (low > column.high || high < column.low)
        return COLANDER_OK;
    answer->width = column.width;
    answer->low = order_cut(order_step(&column.scale, low), column.width);
    answer->high = order_cut(order_step(&column.scale, high), column.width);
    if (column.form == ORDER_FORM_ROWS) {
        answer->where = ORDER_COLUMN;
    } else if (column.form == ORDER_FORM_RUNS) {
        answer->where = ORDER_RUNS;
        answer->runs = column.list;
    } else {
        answer_hashes(&column, answer);
    }
    return COLANDER_OK;
}

uint64_t
order_hash(const struct order_answer *answer, uint32_t i)
{
    if (answer->hashes == NULL)
        return order_bucket_hash(answer->column, i);
    return bytes_get_le(answer->hashes + (size_t)i * ORDER_HASH_SIZE,
                        ORDER_HASH_SIZE)
           << (64 - LOCATOR_HASH_BITS);
}

enum colander_code
order_runs(const struct order_answer *answer, uint32_t row_count,
           struct row_ranges *ranges, struct colander_error *err)
{
    const uint32_t run_count = order_run_count(row_count);
    enum colander_code code = COLANDER_OK;

    for (uint32_t run = 0; run < run_count && code == COLANDER_OK; run++) {
        const uint32_t first = run * ORDER_RUN;
        const uint32_t left = row_count - first;

        if (step_at(answer->runs, 2 * run, answer->width) > answer->high ||
            step_at(answer->runs, 2 * run + 1, answer->width) < answer->low)
            continue;
        code = row_ranges_add(
            ranges, first, first + (left < ORDER_RUN ? left : ORDER_RUN), err);
    }
    return code;
}

uint32_t
order_place(uint64_t path_hash, enum colander_type type)
{
    return order_place_of(order_id(path_hash, type));
}
