/*
 * A part that an order is built of, and the rows that its answers lead to.
 *
 * The model has the values of each row, and an entry for each, as a filter's
 * builder has. Hashes of an answer are looked up in these entries, and its
 * groups in the blocks.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef TESTS_FILTERS_ORDER_MODEL_H
#define TESTS_FILTERS_ORDER_MODEL_H

#include "filters/order/order_code.h"

#include "core/array.h"
#include "filters/build/entry_list.h"

#include <inttypes.h>

#include "filters/order_values.h"

#define COLUMNS_MAX 1100
#define BLOCKS_MAX 1024
#define ROWS_MAX 140000

/* A value of a row. */
struct item {
    uint32_t row;
    struct colander_value value;
};

struct items {
    struct item *items;
    size_t count;
    size_t capacity;
};

static struct {
    struct order_builder *builder;
    struct items columns[COLUMNS_MAX];
    uint32_t row_count;
    struct entry_list entries;
    struct colander_buffer blocks[BLOCKS_MAX];
    uint32_t places[BLOCKS_MAX];
    size_t block_count;
    uint64_t counted;    /* rows of values, to find out which are needy */
    bool rows[ROWS_MAX]; /* that an answer leads to */
} model;

/* ---------------------------------------------------------------- model --- */

static bool is_crowded; /* all columns have one place */

static inline uint64_t
path_of(size_t column)
{
    return is_crowded ? column << 4
                      : (column + 7) * UINT64_C(0xd1342543de82ef95);
}

static inline void
clear_model(void)
{
    for (size_t i = 0; i < COLUMNS_MAX; i++)
        model.columns[i].count = 0;
    entry_list_clear(&model.entries);
    for (size_t i = 0; i < model.block_count; i++)
        colander_buffer_clear(&model.blocks[i]);
    model.block_count = model.counted = 0;
    text_size = 0;
    is_crowded = false;
}

static inline int
set_up(void **state)
{
    (void)state;
    model.builder = order_builder_create();
    assert_non_null(model.builder);
    OK(entry_list_init(&model.entries, LOCATOR_HASH_BITS, 16, NULL));
    return 0;
}

static inline int
tear_down(void **state)
{
    (void)state;
    clear_model();
    for (size_t i = 0; i < COLUMNS_MAX; i++) {
        free(model.columns[i].items);
        memset(&model.columns[i], 0, sizeof(model.columns[i]));
    }
    for (size_t i = 0; i < BLOCKS_MAX; i++)
        colander_buffer_release(&model.blocks[i]);
    entry_list_release(&model.entries);
    order_builder_destroy(model.builder);
    return 0;
}

/* Adds an entry, even if there are many of its hash. */
static inline void
add_entry(uint64_t hash, uint32_t row)
{
    struct entry_list *list = &model.entries;

    OK(array_reserve(&list->entries, list->count, &list->capacity, 1, NULL));
    list->entries[list->count++] = locator_entry(hash, 0, row);
}

/* Adds a value to the model, and returns its entry. */
static inline uint64_t
note(size_t column, uint32_t row, struct colander_value value)
{
    struct items *items = &model.columns[column];
    const uint64_t hash = colander_value_hash(&value);

    OK(array_reserve(&items->items, items->count, &items->capacity, 1, NULL));
    items->items[items->count++] = (struct item){row, value};
    add_entry(hash, row);
    return locator_entry(hash, 0, row);
}

static inline void
add(size_t column, uint32_t row, struct colander_value value)
{
    const uint64_t entry = note(column, row, value);

    order_builder_value(model.builder, path_of(column), &value, entry);
}

static inline enum colander_code
take_block(void *context, struct colander_slice block, uint32_t place,
           struct colander_error *err)
{
    (void)context;
    assert_in_range(model.block_count, 0, BLOCKS_MAX - 1);
    assert_true(model.block_count == 0
                    ? place == 0
                    : place > model.places[model.block_count - 1]);
    model.places[model.block_count] = place;
    return colander_buffer_append(&model.blocks[model.block_count++],
                                  block.data, block.size, err);
}

static inline uint64_t
count_listed(void *context, uint64_t hash, unsigned tag, uint64_t most)
{
    const uint64_t rows = entry_list_rows(
        &model.entries, hash, tag, model.row_count / LOCATOR_COMMON, most);

    (void)context;
    model.counted += rows;
    return rows;
}

static inline void
finish_within(uint32_t row_count, uint64_t budget)
{
    const struct order_sink sink = {NULL, count_listed, take_block};

    model.row_count = row_count;
    OK(entry_list_sort(&model.entries, NULL));
    OK(order_builder_finish(model.builder, row_count, budget, &sink, NULL));
}

static inline void
finish(uint32_t row_count)
{
    finish_within(row_count, UINT64_MAX);
}

static inline uint64_t
block_bytes(void)
{
    uint64_t size = 0;

    for (size_t i = 0; i < model.block_count; i++)
        size += model.blocks[i].size;
    return size;
}

/* Returns the block that has the place, and sets *first to where it begins. */
static inline struct colander_slice
block_of(uint32_t place, uint32_t *first)
{
    size_t i = model.block_count - 1;

    while (model.places[i] > place)
        i--;
    *first = model.places[i];
    return colander_buffer_slice(&model.blocks[i]);
}

static inline void
mark_hash(uint64_t hash)
{
    const unsigned drop = 64 - LOCATOR_HASH_BITS;
    uint64_t *entries = model.entries.entries;
    size_t low = 0;
    size_t high = model.entries.count;

    while (low < high) {
        const size_t middle = low + (high - low) / 2;

        if (entries[middle] >> drop < hash >> drop)
            low = middle + 1;
        else
            high = middle;
    }
    for (; low < model.entries.count && entries[low] >> drop == hash >> drop;
         low++)
        model.rows[entries[low] & ((1u << LOCATOR_ROW_BITS) - 1)] = true;
}

/* Marks the rows that the order leads to, and returns where. */
static inline enum order_where
ask(size_t column, const struct order_span *span)
{
    struct row_ranges ranges = ROW_RANGES_EMPTY;
    struct order_answer answer;
    uint32_t first;

    memset(model.rows, 0, sizeof(model.rows));
    OK(order_find(block_of(order_place(path_of(column)), &first),
                  path_of(column), span, &answer, NULL));
    if (answer.where == ORDER_COLUMN) {
        for (size_t i = 0; i < model.columns[column].count; i++)
            model.rows[model.columns[column].items[i].row] = true;
    } else if (answer.where == ORDER_LISTS) {
        for (uint32_t i = answer.first_value; i < answer.end_value; i++)
            mark_hash(order_hash(&answer, i));
        for (uint32_t i = answer.first_group; i < answer.end_group; i++) {
            const struct colander_slice block =
                block_of(order_group_place(&answer, i), &first);

            OK(order_group(&answer, i, block, first, model.row_count, &ranges,
                           NULL));
        }
    }
    for (size_t i = 0; i < ranges.count; i++)
        for (uint32_t k = ranges.ranges[i].first; k < ranges.ranges[i].end; k++)
            model.rows[k] = true;
    row_ranges_release(&ranges);
    return answer.where;
}

static inline uint64_t
rows_read(void)
{
    uint64_t count = 0;

    for (uint32_t row = 0; row < model.row_count; row++)
        count += model.rows[row];
    return count;
}

static inline bool
has_type(const struct colander_value *value, enum colander_type type)
{
    return value->type == type || (colander_type_is_number(type) &&
                                   colander_type_is_number(value->type));
}

/* Whether the value is from `low` to `high`; NULL: to the end of the type. */
static inline bool
is_within(const struct colander_value *value, const struct colander_value *low,
          const struct colander_value *high)
{
    return has_type(value, low == NULL ? high->type : low->type) &&
           (low == NULL || colander_value_compare(value, low) >= 0) &&
           (high == NULL || colander_value_compare(value, high) <= 0);
}

static inline bool
begins(const struct colander_value *value, const struct colander_value *prefix)
{
    return value->type == prefix->type &&
           value->bytes.size >= prefix->bytes.size &&
           (prefix->bytes.size == 0 ||
            memcmp(value->bytes.data, prefix->bytes.data, prefix->bytes.size) ==
                0);
}

/* How many rows an answer leads to, and how many are wanted. */
struct counts {
    uint64_t read;
    uint64_t wanted; /* values; a row may have several */
    enum order_where where;
};

static inline struct counts
count_rows(size_t column, const struct colander_value *low,
           const struct colander_value *high, bool is_prefix)
{
    const struct order_span span =
        is_prefix ? order_span_of_prefix(low) : order_span_of(low, high);
    const struct items *items = &model.columns[column];
    struct counts counts = {0, 0, ask(column, &span)};

    for (size_t i = 0; i < items->count; i++) {
        const struct item *item = &items->items[i];

        if (is_prefix ? !begins(&item->value, low)
                      : !is_within(&item->value, low, high))
            continue;
        counts.wanted++;
        assert_true(model.rows[item->row]);
    }
    counts.read = rows_read();
    return counts;
}

static inline struct counts
count_between(size_t column, struct colander_value low,
              struct colander_value high)
{
    return count_rows(column, &low, &high, false);
}

static inline struct counts
count_prefix(size_t column, const char *prefix)
{
    const struct colander_value value = colander_text(prefix);

    return count_rows(column, &value, NULL, true);
}

#define ORDER_TEST(name) TEST_WITH(void *state, name, set_up, tear_down)

/* ----------------------------------------------------------- any values --- */

/* A value that the column of that number has. */
static inline struct colander_value
value_for(size_t column, uint32_t row)
{
    struct colander_value end;
    char text[40];
    size_t size;

    switch (column) {
    case 0: /* anything */
        return any_scalar();
    case 1: /* few values */
        return colander_integer((int64_t)below(20) * 1000);
    case 2: /* many */
        return colander_double((double)below(1000000) / 64);
    case 3: /* near each other */
        return colander_integer(row * INT64_C(3) + (int64_t)below(50));
    case 4: /* half numbers, half texts */
        if (below(2) == 0)
            return colander_unsigned(random_next(random_state()));
        (void)snprintf(text, sizeof(text), "https://example.org/%06u",
                       (unsigned)below(900000));
        break;
    case 5: /* times, with one far away now and then */
        return colander_timestamp(below(500) == 0 ? INT64_MIN
                                                  : (int64_t)below(1u << 25),
                                  (uint32_t)below(1000000000));
    case 6: /* dates that ascend, and empty texts */
        if (below(9) == 0)
            return colander_text("");
        return iso_date(row * UINT64_C(600), (unsigned)below(1000));
    case 7: /* most begin alike, and less so after some rows */
        size = row % 16 == 7 ? below(20) : row < 2000 ? 20 : 9;
        memcpy(text, bytes, size);
        end = any_bytes(COLANDER_STRING);
        memcpy(text + size, end.bytes.data, end.bytes.size);
        return keep_text(COLANDER_STRING, text, size + end.bytes.size);
    default: /* any bytes */
        return any_bytes(column == 8 ? COLANDER_STRING : COLANDER_BINARY);
    }
    return keep_text(COLANDER_STRING, text, strlen(text));
}

#define KINDS 10

#endif
