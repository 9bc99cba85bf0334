/*
 * Zones: builds them.
 *
 * A value widens the span of its column in the current run; the end of a run
 * stores the spans. At the end of the part, each column gets the shortest code
 * that still prunes, which is tested with the ends of its own spans.
 *
 * The common beginning of all strings of a column is known only then. It starts
 * as the first string and is shortened whenever a string begins differently.
 * For ends of spans, the bytes after the beginning of that moment are kept; if
 * it is shortened later, the missing bytes are those that it lost.
 *
 * Columns are found with a table of fixed size. Only the lists of runs are
 * allocated.
 *
 * Bytes: filters/FORMAT.md, "Zone blocks"
 *
 * SPDX-License-Identifier: MIT
 */
#include "filters/zones/zones_code.h"
#include "filters/zones/zones_column.h"

#include <stdlib.h>

#define SLOT_BITS 10 /* at most a quarter full */
#define SLOT_COUNT (1u << SLOT_BITS)

struct zones_builder {
    uint32_t row_count;
    uint32_t column_count;
    bool is_cut;                /* a column is missing */
    uint16_t slots[SLOT_COUNT]; /* number of a column + 1, or 0 */
    struct zones_column columns[ZONES_COLUMNS_MAX];
};

struct zones_builder *
zones_builder_create(void)
{
    return calloc(1, sizeof(struct zones_builder));
}

static void
column_release(struct zones_column *column)
{
    free(column->runs);
    free(column->windows);
}

static void
clear(struct zones_builder *builder)
{
    for (size_t i = 0; i < builder->column_count; i++)
        column_release(&builder->columns[i]);
    builder->row_count = 0;
    builder->column_count = 0;
    builder->is_cut = false;
    memset(builder->slots, 0, sizeof(builder->slots));
}

void
zones_builder_destroy(struct zones_builder *builder)
{
    if (builder == NULL)
        return;
    clear(builder);
    free(builder);
}

/* ---------------------------------------------------------------- rows --- */

/* Adds a column that `slot` will lead to; NULL: there are too many. */
static struct zones_column *
column_add(struct zones_builder *builder, uint64_t path_hash, size_t slot)
{
    struct zones_column *column;

    if (builder->column_count == ZONES_COLUMNS_MAX) {
        builder->is_cut = true;
        return NULL;
    }
    column = &builder->columns[builder->column_count++];
    memset(column, 0, sizeof(*column));
    column->path_hash = path_hash;
    zones_column_clear_span(column);
    builder->slots[slot] = (uint16_t)builder->column_count;
    return column;
}

static inline struct zones_column *
column_of(struct zones_builder *builder, uint64_t path_hash)
{
    size_t slot = path_hash * UINT64_C(0x9e3779b97f4a7c15) >> (64 - SLOT_BITS);

    for (;; slot = (slot + 1) % SLOT_COUNT) {
        unsigned number = builder->slots[slot];

        if (number == 0)
            return column_add(builder, path_hash, slot);
        if (builder->columns[number - 1].path_hash == path_hash)
            return &builder->columns[number - 1];
    }
}

/* Shortens the common beginning to what `text` shares with it. */
static void
column_shorten(struct zones_column *column, struct colander_slice text)
{
    size_t size = 0;

    if (!column->has_text) {
        size = text.size < ZONES_BEGIN_MAX ? text.size : ZONES_BEGIN_MAX;
        memcpy(column->begin, text.data, size);
        column->has_text = true;
    } else {
        while (size < text.size && size < column->begin_size &&
               text.data[size] == column->begin[size])
            size++;
        if (zones_is_text(column->low.type))
            zones_window_deepen(column, column->low.words, column->begin_size,
                                size);
        if (zones_is_text(column->high.type))
            zones_window_deepen(column, column->high.words, column->begin_size,
                                size);
    }
    column->begin_size = (uint8_t)size;
}

static inline bool
column_begins(const struct zones_column *column, struct colander_slice text)
{
    return column->has_text && text.size >= column->begin_size &&
           memcmp(text.data, column->begin, column->begin_size) == 0;
}

static inline bool
end_is_below(const struct zones_end *a, const struct zones_end *b)
{
    if (a->type != b->type)
        return a->type < b->type;
    for (size_t i = 0; i < ZONES_WINDOW_WORDS - 1; i++) {
        if (a->words[i] != b->words[i])
            return a->words[i] < b->words[i];
    }
    return a->words[ZONES_WINDOW_WORDS - 1] < b->words[ZONES_WINDOW_WORDS - 1];
}

static inline void
column_widen(struct zones_column *column, const struct zones_end *end)
{
    if (end_is_below(end, &column->low))
        column->low = *end;
    if (end_is_below(&column->high, end))
        column->high = *end;
}

static inline void
column_text(struct zones_column *column, uint8_t type,
            struct colander_slice text)
{
    struct zones_end end;

    if (text.size == 0) {
        column->empties |=
            type == COLANDER_STRING ? ZONES_EMPTY_STRING : ZONES_EMPTY_BINARY;
        return;
    }
    if (!column_begins(column, text))
        column_shorten(column, text);
    text.data += column->begin_size;
    text.size -= column->begin_size;
    end.type = type;
    end.words[0] = zones_word(text.data, text.size);
    /* In most cases this shows that the value widens nothing. */
    if (type == column->low.type && type == column->high.type &&
        end.words[0] > column->low.words[0] &&
        end.words[0] < column->high.words[0])
        return;
    for (size_t i = 1; i < ZONES_WINDOW_WORDS; i++)
        end.words[i] = text.size <= 8 * i
                           ? 0
                           : zones_word(text.data + 8 * i, text.size - 8 * i);
    column_widen(column, &end);
}

/* The first word is the whole value, so the rest is not compared. */
static inline void
column_other(struct zones_column *column, const struct colander_value *value)
{
    struct zones_point point = zones_point_of(value);
    struct zones_point low = {column->low.type, column->low.words[0]};
    struct zones_point high = {column->high.type, column->high.words[0]};
    struct zones_end end = {point.type, {point.prefix}};

    if (zones_point_is_below(point, low))
        column->low = end;
    if (zones_point_is_below(high, point))
        column->high = end;
}

void
zones_builder_value(struct zones_builder *builder, uint64_t path_hash,
                    const struct colander_value *value)
{
    struct zones_column *column = column_of(builder, path_hash);

    if (column == NULL)
        return;
    column->is_present = true;
    if (value->type == COLANDER_NULL)
        column->has_null = true;
    else if (zones_is_text(value->type))
        column_text(column, (uint8_t)value->type, value->bytes);
    else
        column_other(column, value);
}

/* Makes room for the windows of `capacity` runs. */
static bool
windows_grow(struct zones_column *column, uint32_t capacity)
{
    struct zones_windows *grown =
        realloc(column->windows, capacity * sizeof(*grown));

    if (grown == NULL)
        return false;
    if (column->windows == NULL) {
        memset(grown, 0, column->run_count * sizeof(*grown));
        for (size_t i = 0; i < column->run_count; i++) {
            grown[i].low[0] = column->runs[i].low;
            grown[i].high[0] = column->runs[i].high;
        }
    }
    column->windows = grown;
    return true;
}

/* Makes room for one more run. */
static bool
runs_grow(struct zones_column *column)
{
    uint32_t capacity = column->run_capacity * 2 + 16;
    struct zones_run *grown;

    if (column->run_count < column->run_capacity)
        return !column->has_text || column->windows != NULL ||
               windows_grow(column, column->run_capacity);
    grown = realloc(column->runs, capacity * sizeof(*grown));
    if (grown == NULL)
        return false;
    column->runs = grown;
    if (column->has_text && !windows_grow(column, capacity))
        return false;
    column->run_capacity = capacity;
    return true;
}

/* Stores the span of the current run, which is number `index`. */
static void
column_fold(struct zones_column *column, uint32_t index)
{
    struct zones_run *run;

    if (!column->is_present)
        return;
    column->is_present = false;
    if (column->is_lost || !runs_grow(column)) {
        column->is_lost = true;
        return;
    }
    if (column->windows != NULL) {
        struct zones_windows *windows = &column->windows[column->run_count];

        memcpy(windows->low, column->low.words, sizeof(windows->low));
        memcpy(windows->high, column->high.words, sizeof(windows->high));
    }
    run = &column->runs[column->run_count++];
    run->low = column->low.words[0];
    run->high = column->high.words[0];
    run->index = index;
    run->low_type = column->low.type;
    run->high_type = column->high.type;
    run->begin_size = column->begin_size;
    run->empties = column->empties;
    zones_column_clear_span(column);
}

static void
run_end(struct zones_builder *builder)
{
    uint32_t index = (builder->row_count - 1) / ZONES_RUN;

    for (size_t i = 0; i < builder->column_count; i++)
        column_fold(&builder->columns[i], index);
}

void
zones_builder_row_end(struct zones_builder *builder)
{
    builder->row_count++;
    if (builder->row_count % ZONES_RUN == 0)
        run_end(builder);
}

/* -------------------------------------------------------------- coding --- */

static uint8_t *
put_little(uint8_t *bytes, uint64_t bits, size_t size)
{
    for (size_t i = 0; i < size; i++)
        bytes[i] = (uint8_t)(bits >> (8 * i));
    return bytes + size;
}

static int
hash_order(const void *a, const void *b)
{
    const struct zones_column *const *left = a;
    const struct zones_column *const *right = b;
    uint64_t left_hash = (*left)->path_hash;
    uint64_t right_hash = (*right)->path_hash;

    return (left_hash > right_hash) - (left_hash < right_hash);
}

/* Lists the columns that were kept in `kept`, by their hashes. */
static size_t
columns_sort(struct zones_builder *builder, struct zones_column **kept)
{
    size_t count = 0;

    for (size_t i = 0; i < builder->column_count; i++) {
        if (builder->columns[i].is_lost)
            builder->is_cut = true;
        else
            kept[count++] = &builder->columns[i];
    }
    qsort(kept, count, sizeof(kept[0]), hash_order);
    return count;
}

/* Appends header and directory. The columns' offsets are set later. */
static enum colander_code
append_head(const struct zones_builder *builder, size_t column_count,
            struct colander_buffer *block, struct colander_error *err)
{
    size_t size = ZONES_HEADER_SIZE + column_count * ZONES_ENTRY_SIZE;
    enum colander_code code = colander_buffer_reserve(block, size, err);
    uint8_t *end;

    if (code != COLANDER_OK)
        return code;
    end = block->data + block->size;
    *end++ = builder->is_cut ? ZONES_HEADER_IS_CUT : 0;
    *end++ = (uint8_t)__builtin_ctz(ZONES_RUN);
    end = put_little(end, column_count, 2);
    (void)put_little(end, builder->row_count, 4);
    block->size += size;
    return COLANDER_OK;
}

static enum colander_code
append_block(struct zones_builder *builder, struct colander_buffer *block,
             struct colander_error *err)
{
    uint32_t run_count = (builder->row_count + ZONES_RUN - 1) / ZONES_RUN;
    struct zones_column *columns[ZONES_COLUMNS_MAX];
    size_t column_count = columns_sort(builder, columns);
    size_t start = block->size;
    size_t entry = start + ZONES_HEADER_SIZE;
    enum colander_code code = append_head(builder, column_count, block, err);

    for (size_t i = 0; code == COLANDER_OK && i < column_count; i++) {
        uint8_t *end;

        code = colander_buffer_reserve(
            block, zones_column_size_max(columns[i], run_count), err);
        if (code != COLANDER_OK)
            break;
        end = put_little(block->data + entry, columns[i]->path_hash, 8);
        (void)put_little(end, block->size - start, 4);
        entry += ZONES_ENTRY_SIZE;
        end =
            zones_column_put(block->data + block->size, columns[i], run_count);
        block->size = (size_t)(end - block->data);
    }
    if (code != COLANDER_OK)
        block->size = start;
    return code;
}

enum colander_code
zones_builder_finish(struct zones_builder *builder,
                     struct colander_buffer *block, struct colander_error *err)
{
    enum colander_code code;

    if (builder->row_count % ZONES_RUN != 0)
        run_end(builder);
    code = append_block(builder, block, err);
    clear(builder);
    return code;
}
