/*
 * A part of rows kept as lists, and its zones.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef TESTS_FILTERS_ZONE_MODEL_H
#define TESTS_FILTERS_ZONE_MODEL_H

#include "filters/zone_values.h"
#include "support/cases.h"

/* The columns of the model, each with one kind of values. */
enum kind {
    KIND_CLUSTERED, /* integers that grow with the row */
    KIND_RANDOM,    /* doubles */
    KIND_WORDS,     /* random strings of 0 to 12 bytes */
    KIND_LABELS,    /* strings that grow with the row */
    KIND_INSTANTS,  /* timestamps that grow with the row */
    KIND_RARE,      /* an integer in one row of 1,000 */
    KIND_STRETCH,   /* strings, only in a fifth of the rows */
    KIND_ARRAY,     /* up to 4 adjacent integers */
    KIND_NULLS,     /* nulls, and integers that grow with the row */
    KIND_MIXED,     /* anything */
    KIND_CONSTANT,  /* true */
    KIND_OUTLIER,   /* large integers that grow, and a rare 0 */
    KIND_DOUBLES,   /* NaN, infinities, zeros, 2^53 */
    KIND_DATES,     /* ISO dates that grow with the row */
    KIND_GAPS,      /* the same, closer together, and a rare empty string */
    KIND_FALLS,     /* dates that fall with the row */
    KIND_STATES,    /* "state-open" or "state-shut" */
    KIND_NAMES,     /* one prefix, small numbers in any order */
    KIND_BLOBS,     /* binaries of any bytes after one prefix */
    KIND_LONG,      /* strings that differ only after 280 bytes */
    KIND_TURN,      /* one prefix in the first half of the part, then others */
    KIND_BOTH,      /* strings and binaries, few bytes, one prefix */
    KIND_LETTERS,   /* few bytes, with or without a prefix; and numbers */
    KIND_LATE,      /* numbers, nulls, empty strings, and names at the end */
    KINDS,
};

#define KIND_ABSENT KINDS /* a column that no row has */

struct item {
    uint32_t row;
    struct colander_value value;
};

struct model_column {
    struct item *items;
    size_t count;
    size_t capacity;
};

struct model {
    struct model_column columns[KINDS];
    uint32_t row_count;
    struct colander_buffer block;
    uint8_t begin[40];
    size_t begin_size;
    bool has_numbers;
};

static struct model model;
static struct zones_builder *builder;
static struct row_ranges ranges; /* of the last find */

static inline void
add_item(enum kind kind, struct colander_value value)
{
    struct model_column *column = &model.columns[kind];

    if (column->count == column->capacity) {
        column->capacity = column->capacity * 2 + 64;
        column->items =
            realloc(column->items, column->capacity * sizeof(column->items[0]));
        assert_non_null(column->items);
    }
    column->items[column->count].row = model.row_count;
    column->items[column->count++].value = value;
    zones_builder_value(builder, 1000 + kind * UINT64_C(0x9e3779b97f4a7c15),
                        &value);
}

/* A text of nine bytes that grows with `number`, stored in `bytes`. */
static inline struct colander_value
label(uint32_t number)
{
    static char texts[1u << 15][10];
    char *text = texts[number % COUNT(texts)];

    (void)snprintf(text, 10, "k%08u", number % 100000000u);
    return colander_text(text);
}

static inline void
add_array(uint32_t row)
{
    for (uint64_t i = below(5); i > 0; i--)
        add_item(KIND_ARRAY,
                 colander_integer((int64_t)(row / 1000 * 1000 + below(9))));
}

static inline void
add_grown(uint32_t row)
{
    int64_t grown = row * INT64_C(3);

    add_item(KIND_CLUSTERED, colander_integer(grown + (int64_t)below(50)));
    add_item(KIND_LABELS, label(row));
    add_item(KIND_INSTANTS,
             colander_timestamp(1600000000 + grown, (uint32_t)below(1000)));
    add_item(KIND_NULLS,
             below(3) == 0 ? colander_integer(grown) : colander_null());
    add_item(KIND_OUTLIER,
             colander_integer(below(1500) == 0 ? 0 : 1500000000 + grown));
}

/* The prefix of the part's strings, followed by up to `most` bytes. */
static inline struct colander_value
begun_text(enum colander_type type, size_t most)
{
    uint8_t text[sizeof(model.begin) + 16];
    size_t size = model.begin_size + (size_t)below(most + 1);

    memcpy(text, model.begin, model.begin_size);
    for (size_t i = model.begin_size; i < size; i++)
        text[i] = (uint8_t)("\0\x01"
                            "ab\xfe\xff"[below(6)]);
    return keep_text(type, text, size);
}

static inline struct colander_value
long_text(uint32_t row)
{
    char text[290];

    memset(text, 'u', sizeof(text));
    (void)snprintf(text + 280, 10, "%09u", row % 1000000000u);
    return keep_text(COLANDER_STRING, text, 289);
}

static inline struct colander_value
late_text(uint32_t row, uint32_t row_count)
{
    char name[16];

    if (row / (row_count / 5 + 1) == 0)
        return colander_integer((int64_t)row - 500);
    if (row / (row_count / 5 + 1) < 3)
        return below(2) == 0 ? colander_null() : colander_text("");
    (void)snprintf(name, sizeof(name), "late-%07u", row % 10000000);
    return keep_text(below(2) == 0 ? COLANDER_STRING : COLANDER_BINARY, name,
                     12);
}

static inline void
add_texts(uint32_t row, uint32_t row_count)
{
    struct colander_value date =
        iso_date(row * UINT64_C(60), (unsigned)below(1000));
    char name[16];

    add_item(KIND_DATES, date);
    add_item(KIND_GAPS, below(20000) == 0 ? colander_text("")
                                          : iso_date(row * UINT64_C(11), 0));
    add_item(KIND_FALLS, iso_date((90000 - row) * UINT64_C(11), 0));
    add_item(KIND_STATES,
             colander_text(below(2) == 0 ? "state-open" : "state-shut"));
    (void)snprintf(name, sizeof(name), "sens-%05u", (unsigned)below(700));
    add_item(KIND_NAMES, keep_text(COLANDER_STRING, name, 10));
    add_item(KIND_LATE, late_text(row, row_count));
    add_item(KIND_BLOBS, begun_text(COLANDER_BINARY, 12));
    if (row % 50 == 0)
        add_item(KIND_LONG, long_text(row));
    add_item(KIND_TURN,
             row < row_count / 2 ? date : any_bytes(COLANDER_STRING));
    add_item(KIND_BOTH,
             begun_text(below(2) == 0 ? COLANDER_STRING : COLANDER_BINARY, 3));
    add_item(KIND_LETTERS, model.has_numbers && below(400) == 0
                               ? any_number()
                               : begun_text(COLANDER_STRING, 5));
}

static inline void
add_row(uint32_t row, uint32_t row_count)
{
    add_grown(row);
    add_array(row);
    add_texts(row, row_count);
    add_item(KIND_RANDOM, colander_double((double)below(1000000)));
    add_item(KIND_CONSTANT, colander_boolean(true));
    add_item(KIND_WORDS, any_bytes(COLANDER_STRING));
    add_item(KIND_MIXED, any_scalar());
    add_item(KIND_DOUBLES, colander_double(doubles[below(COUNT(doubles))]));
    if (below(1000) == 0)
        add_item(KIND_RARE, any_number());
    if (row / (row_count / 5 + 1) == 2)
        add_item(KIND_STRETCH, any_bytes(COLANDER_STRING));
    model.row_count++;
    zones_builder_row_end(builder);
}

static inline void
release_model(void)
{
    for (size_t i = 0; i < KINDS; i++)
        free(model.columns[i].items);
    colander_buffer_release(&model.block);
    memset(&model, 0, sizeof(model));
    text_size = 0;
}

/* A part of `rows` rows, and its zones. */
static inline void
make_model(uint32_t row_count)
{
    release_model();
    model.begin_size =
        below(2) == 0 ? 0 : (size_t)below(sizeof(model.begin) + 1);
    model.has_numbers = below(2) == 0;
    for (size_t i = 0; i < model.begin_size; i++)
        model.begin[i] = (uint8_t)("\0a-\xff"[below(4)]);
    for (uint32_t row = 0; row < row_count; row++)
        add_row(row, row_count);
    OK(zones_builder_finish(builder, &model.block, NULL));
}

/* Asserts that the ranges of the last find ascend and do not touch. */
static inline void
assert_proper(uint32_t row_count)
{
    for (size_t i = 0; i < ranges.count; i++) {
        assert_true(ranges.ranges[i].first < ranges.ranges[i].end);
        assert_true(ranges.ranges[i].end <= row_count);
        if (i > 0)
            assert_true(ranges.ranges[i - 1].end < ranges.ranges[i].first);
    }
}

static inline enum colander_code
find(struct colander_slice block, enum kind kind, const struct zone_span *span)
{
    row_ranges_clear(&ranges);
    return zones_find(block, model.row_count,
                      1000 + kind * UINT64_C(0x9e3779b97f4a7c15), span, &ranges,
                      NULL);
}

/* What is searched for: values from `low` to `high`. */
struct ask {
    enum kind kind;
    bool is_prefix; /* of `low` */
    struct colander_value low;
    struct colander_value high;
};

static inline bool
is_asked_for(const struct ask *ask, const struct colander_value *value)
{
    struct colander_slice begin = value->bytes;

    if (!ask->is_prefix)
        return colander_value_compare(value, &ask->low) >= 0 &&
               colander_value_compare(value, &ask->high) <= 0;
    if (value->type != ask->low.type || begin.size < ask->low.bytes.size)
        return false;
    begin.size = ask->low.bytes.size;
    return colander_slice_equal(begin, ask->low.bytes);
}

static inline struct zone_span
span_of(const struct ask *ask)
{
    struct zone_span span = {zone_rank_of(&ask->low), zone_rank_of(&ask->high)};

    if (ask->is_prefix)
        span.high = zone_rank_of_prefix_end(&ask->low);
    return span;
}

/* A string or binary close to `value`: shorter, longer, or with one other byte.
 * Valid until four more have been created. */
static inline struct colander_value
near_text(struct colander_value value)
{
    static uint8_t places[4][512];
    static size_t turn;
    uint8_t *place = places[turn++ % COUNT(places)];
    size_t size = value.bytes.size;

    assert_true(size + 8 <= sizeof(places[0]));
    if (size > 0)
        memcpy(place, value.bytes.data, size);
    if (below(3) == 0)
        size = (size_t)below(size + 1);
    else if (below(2) == 0)
        place[size++] = (uint8_t)below(256);
    if (size > 0 && below(2) == 0)
        place[below(size)] += (uint8_t)(below(2) == 0 ? 1 : below(256));
    value.bytes = colander_slice_of(place, size);
    return value;
}

/* A value of the column or close to one, or any. */
static inline struct colander_value
end_for(enum kind kind)
{
    const struct model_column *column = &model.columns[kind];
    const struct colander_value *value;

    if (column->count == 0 || below(5) == 0)
        return any_scalar();
    value = &column->items[below(column->count)].value;
    return (value->type == COLANDER_STRING || value->type == COLANDER_BINARY) &&
                   below(2) == 0
               ? near_text(*value)
               : *value;
}

static inline struct ask
any_ask(void)
{
    struct ask ask = {(enum kind)below(KINDS), false, colander_null(),
                      colander_null()};

    ask.low = end_for(ask.kind);
    ask.high = below(4) == 0 ? ask.low : end_for(ask.kind);
    if (colander_value_compare(&ask.low, &ask.high) > 0) {
        struct colander_value low = ask.low;

        ask.low = ask.high;
        ask.high = low;
    }
    if ((ask.low.type == COLANDER_STRING || ask.low.type == COLANDER_BINARY) &&
        below(2) == 0) {
        ask.is_prefix = true;
        ask.low.bytes.size -= (size_t)below(ask.low.bytes.size + 1);
    }
    return ask;
}

/* Every row with a value that is searched for is in a range. */
static inline void
check_ask(const struct ask *ask)
{
    const struct model_column *column = &model.columns[ask->kind];
    size_t place = 0;

    for (size_t i = 0; i < column->count; i++) {
        const struct item *item = &column->items[i];

        if (!is_asked_for(ask, &item->value))
            continue;
        while (place < ranges.count && ranges.ranges[place].end <= item->row)
            place++;
        assert_true(place < ranges.count);
        assert_true(ranges.ranges[place].first <= item->row);
    }
}

/* Searches a block. */
static inline enum colander_code
find_ask(struct colander_slice block, const struct ask *ask)
{
    const struct zone_span span = span_of(ask);

    return find(block, ask->kind, &span);
}

static inline int
model_setup(void **state)
{
    fill_bytes();
    builder = zones_builder_create();
    return 0;
}

static inline int
model_teardown(void **state)
{
    row_ranges_release(&ranges);
    zones_builder_destroy(builder);
    release_model();
    return 0;
}

#define MODEL_TEST(name)                                                       \
    TEST_WITH(void *state, name, model_setup, model_teardown)

#endif
