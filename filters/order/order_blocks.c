/*
 * Orders: writes the blocks of a part.
 *
 * SPDX-License-Identifier: MIT
 */
#include "filters/order/order_code.h"

#define BLOCK_SIZE (4u << 10) /* a block ends before this size, if it can */
#define BLOCK_COLUMNS (BLOCK_SIZE / ORDER_COLUMN_SIZE + 1)
#define BLOCK_GROUPS (BLOCK_SIZE / 2)

/* A block being made. */
struct block {
    uint64_t ids[BLOCK_COLUMNS];
    uint32_t begins[BLOCK_GROUPS]; /* in `bytes`, of columns or groups */
    size_t count;
    uint32_t first_place;
    struct colander_buffer bytes; /* of these */
    struct colander_buffer whole;
    bool is_cut;
    const struct order_sink *sink;
};

/* Passes the head and the bytes to the sink, and begins the next block. */
static enum colander_code
end_block(struct block *block, const uint8_t *head, size_t head_size,
          uint32_t next_place, struct colander_error *err)
{
    enum colander_code code;

    colander_buffer_clear(&block->whole);
    code = colander_buffer_append(&block->whole, head, head_size, err);
    if (code == COLANDER_OK)
        code = colander_buffer_append(&block->whole, block->bytes.data,
                                      block->bytes.size, err);
    if (code == COLANDER_OK)
        code = block->sink->block(block->sink->context,
                                  colander_buffer_slice(&block->whole),
                                  block->first_place, err);
    block->count = 0;
    block->first_place = next_place;
    colander_buffer_clear(&block->bytes);
    return code;
}

/* -------------------------------------------------------------- columns --- */

/* Appends a number; if memory was short before, nothing. */
static void
put(struct colander_buffer *bytes, uint64_t number, size_t size,
    enum colander_code *code, struct colander_error *err)
{
    uint8_t coded[8];

    bytes_put_le64(coded, number);
    if (*code == COLANDER_OK)
        *code = colander_buffer_append(bytes, coded, size, err);
}

static void
put_entry(const struct order_part *part, unsigned width,
          struct colander_buffer *bytes, enum colander_code *code,
          struct colander_error *err)
{
    put(bytes, part->step, width, code, err);
    put(bytes, part->count < ORDER_COUNT_MAX ? part->count : ORDER_COUNT_MAX,
        ORDER_COUNT_SIZE, code, err);
}

static size_t
column_size(const struct order_column *column)
{
    const size_t width = column->width;

    return ORDER_COLUMN_SIZE + column->beginning_size +
           column->values.count * (width + ORDER_COUNT_SIZE + ORDER_HASH_SIZE) +
           column->groups.count * (width + ORDER_COUNT_SIZE);
}

static enum colander_code
put_column(const struct order_column *column, struct colander_buffer *bytes,
           struct colander_error *err)
{
    const uint64_t numbers[] = {
        column->count | (column->is_coded ? ORDER_IS_CODED : 0),
        column->values.count, column->groups.count, column->first_group};
    enum colander_code code = COLANDER_OK;

    put(bytes,
        column->width | column->grain << ORDER_GRAIN_SHIFT |
            (column->has_zeros ? ORDER_HAS_ZEROS : 0),
        1, &code, err);
    put(bytes, column->beginning_size, 1, &code, err);
    for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
        put(bytes, numbers[i], 4, &code, err);
    put(bytes, column->low, 8, &code, err);
    put(bytes, column->high, 8, &code, err);
    if (code == COLANDER_OK)
        code = colander_buffer_append(bytes, column->beginning,
                                      column->beginning_size, err);
    for (size_t i = 0; i < column->values.count; i++) {
        put_entry(&column->values.parts[i], column->width, bytes, &code, err);
        put(bytes, column->values.parts[i].hash, ORDER_HASH_SIZE, &code, err);
    }
    for (size_t i = 0; i < column->groups.count; i++)
        put_entry(&column->groups.parts[i], column->width, bytes, &code, err);
    return code;
}

static enum colander_code
end_columns(struct block *block, uint32_t next_place,
            struct colander_error *err)
{
    const size_t size = ORDER_HEAD_SIZE + block->count * ORDER_ENTRY_SIZE;
    uint8_t head[ORDER_HEAD_SIZE + BLOCK_COLUMNS * ORDER_ENTRY_SIZE];
    uint8_t *at = head + ORDER_HEAD_SIZE;

    head[0] = ORDER_MARK | block->is_cut;
    bytes_put_le16(head + 1, (uint16_t)block->count);
    for (size_t i = 0; i < block->count; i++, at += ORDER_ENTRY_SIZE) {
        bytes_put_le64(at, block->ids[i]);
        bytes_put_le32(at + 8, (uint32_t)size + block->begins[i]);
    }
    return end_block(block, head, size, next_place, err);
}

/* All columns of a place are in one block; those that it has no room for are
 * missing. */
static enum colander_code
put_columns(struct block *block, struct order_column *const *columns,
            size_t count, struct colander_error *err)
{
    enum colander_code code = COLANDER_OK;

    for (size_t i = 0; i < count && code == COLANDER_OK; i++) {
        const uint32_t place = order_place(columns[i]->id);

        if (block->count > 0 &&
            block->bytes.size + column_size(columns[i]) > BLOCK_SIZE &&
            order_place(columns[i - 1]->id) != place)
            code = end_columns(block, place, err);
        if (block->count == BLOCK_COLUMNS) {
            block->is_cut = true;
            continue;
        }
        block->ids[block->count] = columns[i]->id;
        block->begins[block->count++] = (uint32_t)block->bytes.size;
        if (code == COLANDER_OK)
            code = put_column(columns[i], &block->bytes, err);
    }
    return code == COLANDER_OK ? end_columns(block, ORDER_GROUP_PLACE, err)
                               : code;
}

/* --------------------------------------------------------------- groups --- */

static enum colander_code
end_groups(struct block *block, struct colander_error *err)
{
    const size_t size = 2 * (1 + block->count);
    uint8_t head[2 * (1 + BLOCK_GROUPS)];

    bytes_put_le16(head, (uint16_t)block->count);
    for (size_t i = 0; i < block->count; i++)
        bytes_put_le16(head + 2 * (1 + i), (uint16_t)(size + block->begins[i]));
    return end_block(block, head, size,
                     block->first_place + (uint32_t)block->count, err);
}

static enum colander_code
put_groups(struct block *block, const struct order_column *column,
           struct colander_error *err)
{
    const uint8_t *at = column->bits.bytes.data;
    enum colander_code code = COLANDER_OK;

    for (size_t i = 0; i < column->groups.count && code == COLANDER_OK; i++) {
        const uint32_t size = column->groups.parts[i].size;

        block->begins[block->count++] = (uint32_t)block->bytes.size;
        code = colander_buffer_append(&block->bytes, at, size, err);
        at += size;
        if (code == COLANDER_OK &&
            (block->bytes.size >= BLOCK_SIZE || block->count == BLOCK_GROUPS))
            code = end_groups(block, err);
    }
    return code;
}

enum colander_code
order_blocks_put(struct order_column *const *columns, size_t count, bool is_cut,
                 const struct order_sink *sink, struct colander_error *err)
{
    struct block block = {.is_cut = is_cut, .sink = sink};
    enum colander_code code;
    uint32_t group = 0;

    for (size_t i = 0; i < count; i++) {
        columns[i]->first_group = group;
        group += (uint32_t)columns[i]->groups.count;
    }
    code = put_columns(&block, columns, count, err);
    for (size_t i = 0; i < count && code == COLANDER_OK; i++)
        code = put_groups(&block, columns[i], err);
    if (code == COLANDER_OK && block.count > 0)
        code = end_groups(&block, err);
    colander_buffer_release(&block.bytes);
    colander_buffer_release(&block.whole);
    return code;
}
