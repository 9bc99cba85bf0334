/*
 * Orders: collects the values of a part, and writes its blocks.
 *
 * SPDX-License-Identifier: MIT
 */
#include "core/array.h"
#include "core/hash_index.h"
#include "filters/order/order_code.h"

#include <stdlib.h>

#define BLOCK_SIZE (4u << 10) /* a block ends before this size, if it can */

/* Texts that do not begin as the column does are kept, up to ODD_MIN and one of
 * ODD_SHARE. Then the beginning is cut so that all but one of ODD_SHARE / 2 of
 * them have it. */
#define ODD_MIN 64
#define ODD_SHARE 16
#define ODD_SIZE_MAX (ORDER_BEGINNING_MAX + 8)

struct order_builder {
    struct order_column *columns;
    size_t column_count;
    size_t column_capacity;
    struct hash_index by_id;
    size_t next; /* the column that followed the last one before */
    size_t item_count;
    bool is_cut; /* a column is missing */
};

struct order_builder *
order_builder_create(void)
{
    return calloc(1, sizeof(struct order_builder));
}

static void
clear(struct order_builder *builder)
{
    for (size_t i = 0; i < builder->column_count; i++) {
        free(builder->columns[i].items);
        colander_buffer_release(&builder->columns[i].odd);
        colander_buffer_release(&builder->columns[i].bytes);
        free(builder->columns[i].repeated);
    }
    hash_index_clear(&builder->by_id);
    builder->column_count = builder->item_count = builder->next = 0;
    builder->is_cut = false;
}

void
order_builder_destroy(struct order_builder *builder)
{
    if (builder == NULL)
        return;
    clear(builder);
    hash_index_release(&builder->by_id);
    free(builder->columns);
    free(builder);
}

size_t
order_builder_size(const struct order_builder *builder)
{
    return builder->item_count;
}

/* ---------------------------------------------------------------- texts --- */

/* A text that does not begin as the column does, in its buffer `odd`. */
struct odd {
    uint32_t item;
    uint16_t size;
    uint16_t shared; /* bytes of the beginning that it has */
};

static struct colander_slice
beginning_of(const struct order_column *column)
{
    return colander_slice_of(column->beginning, column->beginning_size);
}

/* Reads the odd text at *offset, and moves past it. */
static struct odd
read_odd(const struct order_column *column, size_t *offset,
         struct colander_slice *text)
{
    struct odd odd;

    memcpy(&odd, column->odd.data + *offset, sizeof(odd));
    *text =
        colander_slice_of(column->odd.data + *offset + sizeof(odd), odd.size);
    *offset += sizeof(odd) + odd.size;
    return odd;
}

/* Returns how many bytes of the beginning most of the odd texts have. */
static size_t
shared_by_most(const struct order_column *column)
{
    size_t counts[ORDER_BEGINNING_MAX + 1] = {0};
    struct colander_slice text;
    size_t below = 0;
    size_t size = 0;

    for (size_t offset = 0; offset < column->odd.size;)
        counts[read_odd(column, &offset, &text).shared]++;
    while (below + counts[size] <= column->odd_count * 2 / ODD_SHARE)
        below += counts[size++];
    return size;
}

/* Cuts the beginning to `size` bytes. The bytes that it loses come before the
 * ranks so far. */
static void
cut_beginning(struct order_column *column, size_t size)
{
    const struct colander_slice lost = colander_slice_of(
        column->beginning + size, (size_t)column->beginning_size - size);

    for (size_t i = 0; i < column->count; i++) {
        struct order_item *item = &column->items[i];
        uint8_t text[2 * ORDER_WORD_BYTES + 1]; /* behind the new beginning */
        size_t count =
            lost.size < ORDER_WORD_BYTES ? lost.size : ORDER_WORD_BYTES;
        uint8_t word[8];

        if (item->rank == 0)
            continue; /* an empty text */
        memcpy(text, lost.data, count);
        bytes_put_be64(word, item->rank);
        memcpy(text + count, word, ORDER_WORD_BYTES);
        count += (size_t)(word[ORDER_WORD_BYTES] - 1u) + (lost.size > count);
        item->rank = order_word(colander_slice_of(text, count), 0);
    }
    column->beginning_size = (uint8_t)size;
}

/* Ranks the odd texts. Those that still do not begin as the column does stay
 * odd, and rank before or after all others. */
static void
rank_odd(struct order_column *column)
{
    const size_t end = column->odd.size;
    struct colander_slice text;
    size_t offset = 0;

    column->odd.size = 0;
    column->odd_count = 0;
    while (offset < end) {
        const size_t begin = offset;
        const struct odd odd = read_odd(column, &offset, &text);
        const struct order_value value = {.type = column->type, .bytes = text};

        column->items[odd.item].rank = order_rank(&value, beginning_of(column));
        if (odd.shared >= column->beginning_size)
            continue;
        memmove(column->odd.data + column->odd.size, column->odd.data + begin,
                offset - begin);
        column->odd.size += offset - begin;
        column->odd_count++;
    }
}

/* Ranks the text of the last item. The empty one comes before all others,
 * however they begin. */
static void
add_text(struct order_column *column, struct order_item *item,
         struct colander_slice text)
{
    const struct order_value value = {.type = column->type, .bytes = text};
    struct odd odd = {(uint32_t)(column->count - 1), 0, 0};

    column->text_size += text.size;
    if (text.size == 0) {
        item->rank = 0;
        return;
    }
    if (!column->has_beginning) {
        column->has_beginning = true;
        column->beginning_size =
            (uint8_t)(text.size < ORDER_BEGINNING_MAX ? text.size
                                                      : ORDER_BEGINNING_MAX);
        memcpy(column->beginning, text.data, column->beginning_size);
    }
    item->rank = order_rank(&value, beginning_of(column));
    while (odd.shared < column->beginning_size && odd.shared < text.size &&
           text.data[odd.shared] == column->beginning[odd.shared])
        odd.shared++;
    if (odd.shared == column->beginning_size)
        return;
    odd.size = (uint16_t)(text.size < ODD_SIZE_MAX ? text.size : ODD_SIZE_MAX);
    if (colander_buffer_append(&column->odd, &odd, sizeof(odd), NULL) !=
            COLANDER_OK ||
        colander_buffer_append(&column->odd, text.data, odd.size, NULL) !=
            COLANDER_OK)
        column->is_lost = true;
    else if (++column->odd_count > ODD_MIN + column->count / ODD_SHARE)
        order_column_settle(column);
}

void
order_column_settle(struct order_column *column)
{
    if (column->odd_count <= column->count / ODD_SHARE)
        return;
    cut_beginning(column, shared_by_most(column));
    rank_odd(column);
}

/* --------------------------------------------------------------- values --- */

/* Adds a column; NULL: that is not possible. */
static struct order_column *
add_column(struct order_builder *builder, uint64_t id, enum colander_type type)
{
    struct order_column *column;

    /* values of one that could not be added have been passed over */
    if (builder->is_cut || builder->column_count == ORDER_COLUMNS_MAX ||
        array_reserve(&builder->columns, builder->column_count,
                      &builder->column_capacity, 1, NULL) != COLANDER_OK ||
        hash_index_reserve(&builder->by_id, NULL) != COLANDER_OK) {
        builder->is_cut = true;
        return NULL;
    }
    hash_index_add(&builder->by_id, (uint32_t)id,
                   (uint32_t)builder->column_count);
    column = &builder->columns[builder->column_count++];
    memset(column, 0, sizeof(*column));
    column->id = id;
    column->type = type;
    return column;
}

static struct order_column *
column_of(struct order_builder *builder, uint64_t path_hash,
          enum colander_type type)
{
    const uint64_t id = order_id(path_hash, type);
    size_t at = HASH_INDEX_START;
    size_t i = builder->next;

    /* most rows have the same columns in the same order */
    if (i >= builder->column_count || builder->columns[i].id != id) {
        do {
            i = hash_index_next(&builder->by_id, (uint32_t)id, &at);
        } while (i != HASH_INDEX_NONE && builder->columns[i].id != id);
        if (i == HASH_INDEX_NONE)
            return add_column(builder, id, type);
    }
    builder->next = i + 1;
    return &builder->columns[i];
}

void
order_builder_value(struct order_builder *builder, uint64_t path_hash,
                    const struct colander_value *value, uint64_t entry)
{
    const struct order_value of = order_value_of(value);
    const bool is_text =
        of.type == COLANDER_STRING || of.type == COLANDER_BINARY;
    struct order_column *column = column_of(builder, path_hash, of.type);
    struct order_item *item;

    if (column == NULL || column->is_lost)
        return;
    if (of.type == COLANDER_ARRAY) {
        column->count++;
        return;
    }
    /* an array may repeat a number; another one may have its hash */
    if (!is_text && column->count > 0 &&
        column->items[column->count - 1].entry == entry &&
        column->items[column->count - 1].rank == of.word)
        return;
    if (builder->item_count == ORDER_VALUES_MAX ||
        array_reserve(&column->items, column->count, &column->capacity, 1,
                      NULL) != COLANDER_OK) {
        column->is_lost = true;
        return;
    }
    item = &column->items[column->count++];
    item->entry = entry;
    builder->item_count++;
    if (is_text)
        add_text(column, item, of.bytes);
    else
        item->rank = of.word;
}

/* ------------------------------------------------------------ finishing --- */

/* The one that needs lists more comes first; those whose values are all
 * repeated come last. */
static int
compare_need(const void *a, const void *b)
{
    const struct order_column *left = *(struct order_column *const *)a;
    const struct order_column *right = *(struct order_column *const *)b;
    const double left_need = order_column_need(left);
    const double right_need = order_column_need(right);

    if ((left->single_count == 0) != (right->single_count == 0))
        return left->single_count == 0 ? 1 : -1;
    return (left_need < right_need) - (left_need > right_need);
}

static bool
has_repeated_only(const struct order_column *column)
{
    return column->form == ORDER_FORM_LISTS && column->single_count == 0;
}

/* Codes the columns. Those that need it most get of the budget what they need;
 * those whose values are all repeated, equal shares of the rest. */
static enum colander_code
code_columns(struct order_column **columns, size_t count,
             struct order_groups *groups, uint64_t left,
             struct colander_error *err)
{
    enum colander_code code = COLANDER_OK;
    size_t waiting = 0;

    qsort(columns, count, sizeof(*columns), compare_need);
    for (size_t i = 0; i < count; i++)
        waiting += has_repeated_only(columns[i]);
    for (size_t i = 0; i < count && code == COLANDER_OK; i++) {
        uint64_t share = left;

        if (has_repeated_only(columns[i]))
            share /= waiting--;
        left -= share;
        code = order_column_code(columns[i], groups, &share, err);
        left += share;
    }
    return code;
}

#define BLOCK_COLUMNS (BLOCK_SIZE / ORDER_COLUMN_SIZE + 1)

/* A block being made. */
struct block {
    struct order_column *columns[BLOCK_COLUMNS];
    uint32_t ends[BLOCK_COLUMNS]; /* in `bytes` */
    size_t count;
    uint32_t first_place;
    struct colander_buffer bytes; /* of the columns */
    struct colander_buffer whole;
    bool is_cut;
};

static enum colander_code
end_block(struct block *block, const struct order_sink *sink,
          struct colander_error *err)
{
    const size_t head = ORDER_HEAD_SIZE + block->count * ORDER_ENTRY_SIZE;
    enum colander_code code;
    uint8_t *at;

    colander_buffer_clear(&block->whole);
    code =
        colander_buffer_reserve(&block->whole, head + block->bytes.size, err);
    if (code != COLANDER_OK)
        return code;
    at = block->whole.data;
    at[0] = block->is_cut;
    bytes_put_le16(at + 1, (uint16_t)block->count);
    at += ORDER_HEAD_SIZE;
    for (size_t i = 0; i < block->count; i++) {
        bytes_put_le64(at, block->columns[i]->id);
        bytes_put_le32(at + 8,
                       (uint32_t)head + (i == 0 ? 0 : block->ends[i - 1]));
        at += ORDER_ENTRY_SIZE;
    }
    if (block->bytes.size > 0)
        memcpy(at, block->bytes.data, block->bytes.size);
    block->whole.size = head + block->bytes.size;
    code = sink->block(sink->context, colander_buffer_slice(&block->whole),
                       block->first_place, err);
    block->count = 0;
    colander_buffer_clear(&block->bytes);
    return code;
}

static int
compare_ids(const void *a, const void *b)
{
    const uint64_t left = (*(struct order_column *const *)a)->id;
    const uint64_t right = (*(struct order_column *const *)b)->id;

    return (left > right) - (left < right);
}

/* Puts the column into the block, or into the next one. All columns of a place
 * are in one; those that it has no room for are missing. */
static enum colander_code
put_column(struct block *block, struct order_column *column,
           const struct order_sink *sink, struct colander_error *err)
{
    const struct colander_slice bytes = colander_buffer_slice(&column->bytes);
    const uint32_t place = order_place(column->id);
    enum colander_code code = COLANDER_OK;

    if (block->count > 0 && block->bytes.size + bytes.size > BLOCK_SIZE &&
        order_place(block->columns[block->count - 1]->id) != place) {
        code = end_block(block, sink, err);
        block->first_place = place;
    }
    if (block->count == BLOCK_COLUMNS) {
        block->is_cut = true;
        return code;
    }
    if (code == COLANDER_OK)
        code =
            colander_buffer_append(&block->bytes, bytes.data, bytes.size, err);
    block->columns[block->count] = column;
    block->ends[block->count++] = (uint32_t)block->bytes.size;
    return code;
}

static enum colander_code
put_columns(const struct order_builder *builder, struct order_column **columns,
            size_t count, const struct order_sink *sink,
            struct colander_error *err)
{
    struct block block = {.count = 0, .is_cut = builder->is_cut};
    enum colander_code code = COLANDER_OK;

    qsort(columns, count, sizeof(*columns), compare_ids);
    for (size_t i = 0; i < count && code == COLANDER_OK; i++)
        code = put_column(&block, columns[i], sink, err);
    if (code == COLANDER_OK)
        code = end_block(&block, sink, err);
    colander_buffer_release(&block.bytes);
    colander_buffer_release(&block.whole);
    return code;
}

/* Measures all columns that have all of their values, and lists them. Sets
 * *longest to the most items of one. */
static enum colander_code
measure(struct order_builder *builder, uint32_t row_count,
        struct order_column **columns, size_t *count, size_t *longest,
        struct colander_error *err)
{
    enum colander_code code = COLANDER_OK;

    *count = *longest = 0;
    for (size_t i = 0; i < builder->column_count && code == COLANDER_OK; i++) {
        struct order_column *column = &builder->columns[i];

        if (column->is_lost) {
            builder->is_cut = true;
            continue;
        }
        order_column_settle(column);
        columns[(*count)++] = column;
        if (column->count > *longest)
            *longest = column->count;
        code = order_column_measure(column, row_count, err);
    }
    return code;
}

static enum colander_code
sort(struct order_column **columns, size_t count, struct order_item *spare,
     const struct order_sink *sink, struct colander_error *err)
{
    enum colander_code code = COLANDER_OK;

    for (size_t i = 0; i < count && code == COLANDER_OK; i++) {
        if (columns[i]->form == ORDER_FORM_LISTS)
            code = order_lists_sort(columns[i], spare, sink, err);
    }
    return code;
}

enum colander_code
order_builder_finish(struct order_builder *builder, uint32_t row_count,
                     uint64_t budget, const struct order_sink *sink,
                     struct colander_error *err)
{
    struct order_column **columns =
        malloc((builder->column_count + 1) * sizeof(struct order_column *));
    struct order_groups groups = {.row_count = row_count};
    enum colander_code code;
    size_t longest;
    size_t count;

    if (columns == NULL)
        return COLANDER_FAIL(err, COLANDER_NO_MEMORY,
                             "no memory to build a filter");
    code = measure(builder, row_count, columns, &count, &longest, err);
    if (code == COLANDER_OK) {
        groups.spare = malloc((longest + 1) * sizeof(*groups.spare));
        if (groups.spare == NULL)
            code = COLANDER_FAIL(err, COLANDER_NO_MEMORY,
                                 "no memory to build a filter");
    }
    if (code == COLANDER_OK)
        code = sort(columns, count, groups.spare, sink, err);
    if (code == COLANDER_OK)
        code = code_columns(columns, count, &groups, budget, err);
    if (code == COLANDER_OK)
        code = put_columns(builder, columns, count, sink, err);
    if (code == COLANDER_OK)
        code = order_groups_put(&groups, sink, err);
    colander_buffer_release(&groups.bits.bytes);
    free(groups.begins);
    free(groups.spare);
    free(columns);
    clear(builder);
    return code;
}
