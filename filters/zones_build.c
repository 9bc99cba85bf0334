/*
 * Zones: how they are built.
 *
 * A value widens the span of its column in the run under way; the end of a run
 * puts those spans away. When the part is over, each column gets the shortest
 * code that still prunes: what that is, is tried on ends of its own spans.
 *
 * Columns are found by a table that is never grown, and beside a list of runs
 * for each of them nothing is allocated.
 *
 * Bytes: filters/FORMAT.md, "Zone blocks"
 *
 * SPDX-License-Identifier: MIT
 */
#include "filters/zones_code.h"
#include "filters/zones_column.h"

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
clear(struct zones_builder *builder)
{
    for (size_t i = 0; i < builder->column_count; i++)
        free(builder->columns[i].runs);
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

/* A column not seen before, to be known by `slot`; NULL: no more fit. */
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
    zone_span_clear(&column->now);
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

void
zones_builder_value(struct zones_builder *builder, uint64_t path_hash,
                    const struct colander_value *value)
{
    struct zones_column *column = column_of(builder, path_hash);
    struct zone_rank rank;

    if (column == NULL)
        return;
    column->is_present = true;
    if (value->type == COLANDER_NULL) {
        column->has_null = true;
    } else if (value->type < COLANDER_ARRAY) {
        rank = zone_rank_of(value);
        zone_span_widen(&column->now, rank, rank);
    }
}

static bool
runs_grow(struct zones_column *column)
{
    uint32_t capacity = column->run_capacity * 2 + 16;
    struct zones_run *grown = realloc(column->runs, capacity * sizeof(*grown));

    if (grown == NULL)
        return false;
    column->runs = grown;
    column->run_capacity = capacity;
    return true;
}

/* Puts the span of the run under way away, which is number `index`. */
static void
column_fold(struct zones_column *column, uint32_t index)
{
    struct zones_run *run;

    if (!column->is_present)
        return;
    column->is_present = false;
    if (column->is_lost ||
        (column->run_count == column->run_capacity && !runs_grow(column))) {
        column->is_lost = true;
        return;
    }
    run = &column->runs[column->run_count++];
    run->low = column->now.low.prefix;
    run->high = column->now.high.prefix;
    run->index = index;
    run->low_type = column->now.low.type;
    run->high_type = column->now.high.type;
    zone_span_clear(&column->now);
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

/* Puts the columns that were kept into `kept`, by their hashes. */
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

/* Appends header and directory, the columns' offsets still open. */
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
