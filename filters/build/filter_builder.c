/* SPDX-License-Identifier: MIT */
#include "filters/filter_builder.h"

#include "columns/candidates.h"
#include "core/array.h"
#include "filters/build/entry_list.h"
#include "filters/order.h"
#include "filters/row_keys.h"

#include <stdlib.h>

/* COLANDER_SEGMENT_AUTO keeps the keys of all rows if they take at most one of
 * this many bytes of the rows. Else a segment has this many rows. */
#define AUTO_KEY_SHARE 10
#define AUTO_SEGMENT 16

struct filter_builder {
    struct settings *settings;
    struct filter_writer *writer;
    struct entry_list entries;
    struct order_builder *orders; /* NULL: only a presence is built */
    uint64_t entry_count;         /* of the SST */

    /* The blocks of the SST. */
    struct filter_span *spans;
    size_t span_count;
    size_t span_capacity;
    bool are_spans_known;
    uint64_t rows_before;           /* of earlier parts */
    struct colander_buffer deleted; /* the key of the last delete */
    size_t deleted_span;            /* index of its block, from 1; 0: none */

    /* The part being built. */
    uint32_t row_count;
    struct colander_buffer keys;   /* of its rows: size and bytes of each */
    size_t last;                   /* offset of the last one */
    bool is_row_open;              /* the last key is a row of this part */
    uint64_t row_bytes;            /* of keys and rows */
    uint64_t key_bytes;            /* of the keys, front-coded */
    uint32_t skip_depth;           /* depth of the unfiltered column being
                                    * visited, or 0 */
    unsigned word_tag;             /* of the column being visited */
    enum colander_code visit_code; /* the error of a visit */
    struct colander_error *visit_err;
};

static bool
has_locator(const struct filter_builder *builder)
{
    return builder->settings->options.rows_per_segment != 0;
}

static uint32_t
coarse_of(const struct settings *settings)
{
    uint32_t rows = settings->options.rows_per_segment;

    return rows == 0 || rows == COLANDER_SEGMENT_AUTO ? AUTO_SEGMENT : rows;
}

enum colander_code
filter_builder_create(const char *path, struct settings *settings,
                      struct filter_builder **builder,
                      struct colander_error *err)
{
    struct filter_builder *created = calloc(1, sizeof(*created));
    enum colander_code code;

    *builder = NULL;
    if (created == NULL)
        return COLANDER_FAIL(err, COLANDER_NO_MEMORY,
                             "no memory to build a filter");
    created->settings = settings_ref(settings);
    created->are_spans_known = true;
    code = entry_list_init(&created->entries, settings->options.hash_bits,
                           coarse_of(settings), err);
    if (code == COLANDER_OK && has_locator(created)) {
        created->orders = order_builder_create();
        if (created->orders == NULL)
            code = COLANDER_FAIL(err, COLANDER_NO_MEMORY,
                                 "no memory to build a filter");
    }
    if (code == COLANDER_OK)
        code = filter_writer_create(path, &created->writer, err);
    if (code != COLANDER_OK) {
        filter_builder_destroy(created);
        return code;
    }
    *builder = created;
    return COLANDER_OK;
}

void
filter_builder_destroy(struct filter_builder *builder)
{
    if (builder == NULL)
        return;
    filter_writer_destroy(builder->writer);
    entry_list_release(&builder->entries);
    order_builder_destroy(builder->orders);
    colander_buffer_release(&builder->keys);
    colander_buffer_release(&builder->deleted);
    free(builder->spans);
    settings_unref(builder->settings);
    free(builder);
}

/* -------------------------------------------------------- ending a part --- */

static enum colander_code
sink_locator(void *context, struct colander_slice block, uint32_t first,
             struct colander_error *err)
{
    return filter_writer_block(context, FILTER_LOCATOR, block, first, err);
}

static enum colander_code
sink_keys(void *context, struct colander_slice block, uint32_t first,
          struct colander_error *err)
{
    return filter_writer_block(context, FILTER_KEYS, block, first, err);
}

static enum colander_code
sink_order(void *context, struct colander_slice block, uint32_t first,
           struct colander_error *err)
{
    struct filter_builder *builder = context;

    return filter_writer_block(builder->writer, FILTER_ORDER, block, first,
                               err);
}

static uint64_t
count_rows(void *context, uint64_t hash, unsigned tag, uint64_t most)
{
    const struct filter_builder *builder = context;

    return entry_list_rows(&builder->entries, hash, tag, most);
}

/* Returns the key at *offset in `keys` and moves *offset past it. */
static struct colander_slice
read_key(const struct colander_buffer *keys, size_t *offset)
{
    struct colander_slice key;
    uint32_t size;

    memcpy(&size, keys->data + *offset, sizeof(size));
    key = colander_slice_of(keys->data + *offset + sizeof(size), size);
    *offset += sizeof(size) + size;
    return key;
}

/* Returns the key of the current row. */
static struct colander_slice
last_key(const struct filter_builder *builder)
{
    size_t offset = builder->last;

    return read_key(&builder->keys, &offset);
}

/* Writes the keys of all rows or, if a unit has more than one, the anchors. */
static enum colander_code
write_keys(struct filter_builder *builder, uint32_t fine,
           struct colander_error *err)
{
    struct colander_slice before = {NULL, 0};
    struct row_keys_coder coder;
    enum colander_code code = COLANDER_OK;
    size_t offset = 0;

    row_keys_coder_init(&coder, sink_keys, builder->writer);
    for (uint32_t i = 0; i < builder->row_count && code == COLANDER_OK; i++) {
        struct colander_slice key = read_key(&builder->keys, &offset);

        if (fine == 1)
            code = row_keys_coder_add(&coder, key, err);
        else if (i % fine == 0)
            code = row_keys_coder_add(
                &coder, i == 0 ? key : row_keys_separator(before, key), err);
        before = key;
    }
    if (code == COLANDER_OK)
        code = row_keys_coder_finish(&coder, err);
    row_keys_coder_release(&coder);
    return code;
}

/* Writes the orders. Entries must be sorted. */
static enum colander_code
write_orders(struct filter_builder *builder, struct colander_error *err)
{
    const uint64_t budget = (uint64_t)((double)builder->row_bytes *
                                       builder->settings->options.order_budget);
    const struct order_sink sink = {builder, count_rows, sink_order};

    if (builder->orders == NULL)
        return COLANDER_OK;
    return order_builder_finish(builder->orders, builder->row_count, budget,
                                &sink, err);
}

/* Writes the presence in blocks of the locator's block size. */
static enum colander_code
write_presence(struct filter_builder *builder, struct filter_part *part,
               struct colander_error *err)
{
    const uint32_t lot = LOCATOR_BLOCK_SIZE * 8 / PRESENCE_BLOCK_BITS;
    struct presence presence;
    enum colander_code code;

    part->presence =
        settings_presence_shape(builder->settings, part->hash_count);
    code = presence_init(&presence, &part->presence, err);
    if (code != COLANDER_OK)
        return code;
    for (size_t i = 0; i < builder->entries.count; i++)
        presence_add(&presence, builder->entries.entries[i]);
    for (uint32_t first = 0;
         first < part->presence.block_count && code == COLANDER_OK;
         first += lot) {
        uint32_t left = part->presence.block_count - first;
        const struct colander_slice block = colander_slice_of(
            presence.words + (size_t)first * PRESENCE_BLOCK_WORDS,
            (size_t)(left < lot ? left : lot) * (PRESENCE_BLOCK_BITS / 8));

        code = filter_writer_block(builder->writer, FILTER_PRESENCE, block,
                                   first, err);
    }
    presence_release(&presence);
    return code;
}

/* Returns the number of rows in a unit of short lists. */
static uint32_t
choose_fine(const struct filter_builder *builder)
{
    uint32_t rows = builder->settings->options.rows_per_segment;

    if (rows != COLANDER_SEGMENT_AUTO)
        return rows;
    return builder->key_bytes * AUTO_KEY_SHARE <= builder->row_bytes
               ? 1
               : AUTO_SEGMENT;
}

static enum colander_code
write_located(struct filter_builder *builder, struct filter_part *part,
              struct colander_error *err)
{
    enum colander_code code;

    part->shape.fine = choose_fine(builder);
    part->shape.coarse = coarse_of(builder->settings);
    locator_shape_fit(&part->shape, part->hash_count);
    code = locator_build(&part->shape, builder->entries.entries,
                         builder->entries.count, sink_locator, builder->writer,
                         err);
    if (code == COLANDER_OK)
        code = write_keys(builder, part->shape.fine, err);
    return code;
}

static void
begin_part(struct filter_builder *builder)
{
    builder->rows_before += builder->row_count;
    builder->row_count = 0;
    builder->row_bytes = 0;
    builder->key_bytes = 0;
    builder->is_row_open = false;
    colander_buffer_clear(&builder->keys);
    entry_list_clear(&builder->entries);
}

static enum colander_code
end_part(struct filter_builder *builder, struct colander_error *err)
{
    struct filter_part part;
    enum colander_code code;
    size_t offset = 0;

    if (builder->row_count == 0)
        return COLANDER_OK;
    memset(&part, 0, sizeof(part));
    code = entry_list_sort(&builder->entries, err);
    if (code == COLANDER_OK)
        code = write_orders(builder, err);
    if (code != COLANDER_OK)
        return code;
    part.hash_count = entry_list_hashes(&builder->entries);
    part.shape.row_count = builder->row_count;
    part.shape.fine = 1;
    part.shape.coarse = 1;
    part.shape.hash_bits = (uint8_t)builder->settings->options.hash_bits;
    part.first_key = read_key(&builder->keys, &offset);
    part.last_key = last_key(builder);
    code = has_locator(builder) ? write_located(builder, &part, err)
                                : write_presence(builder, &part, err);
    if (code == COLANDER_OK)
        code = filter_writer_part_end(builder->writer, &part, err);
    begin_part(builder);
    return code;
}

/* --------------------------------------------------------------- adding --- */

static void
visit_word(void *context, uint64_t hash)
{
    struct filter_builder *builder = context;

    if (builder->visit_code == COLANDER_OK)
        builder->visit_code =
            entry_list_add_word(&builder->entries, hash, builder->word_tag,
                                builder->row_count - 1, builder->visit_err);
}

static void
visit_value(void *context, const struct row_value *value)
{
    struct filter_builder *builder = context;
    const struct settings *settings = builder->settings;
    const unsigned tag = column_tag(value->path_hash);
    const uint32_t row = builder->row_count - 1;
    const bool is_scalar = value->value.type < COLANDER_ARRAY;
    uint64_t hash;

    if (builder->visit_code != COLANDER_OK)
        return;
    if (settings_skips(settings, value, &builder->skip_depth))
        return;
    builder->visit_code = entry_list_add_column(
        &builder->entries, value->path_hash, tag, row, builder->visit_err);
    if (builder->visit_code != COLANDER_OK)
        return;
    hash = is_scalar ? colander_value_hash(&value->value) : 0;
    if (builder->orders != NULL && value->value.type != COLANDER_NULL)
        order_builder_value(builder->orders, value->path_hash, &value->value,
                            locator_entry(hash, tag, row));
    if (!is_scalar)
        return;
    builder->visit_code =
        entry_list_add(&builder->entries, hash, tag, row, builder->visit_err);
    if (value->value.type == COLANDER_STRING && settings->options.words) {
        builder->word_tag = tag;
        text_words(value->value.bytes, visit_word, builder);
    }
}

static enum colander_code
begin_row(struct filter_builder *builder, struct colander_slice key,
          struct colander_error *err)
{
    const uint32_t size = (uint32_t)key.size;
    const size_t start = builder->keys.size;
    size_t shared = 0;
    enum colander_code code;

    if (builder->row_count > 0)
        shared = row_keys_shared(last_key(builder), key);
    code = colander_buffer_append(&builder->keys, &size, sizeof(size), err);
    if (code == COLANDER_OK)
        code = colander_buffer_append(&builder->keys, key.data, key.size, err);
    if (code != COLANDER_OK)
        return code;
    builder->last = start;
    builder->is_row_open = true;
    builder->row_count++;
    builder->key_bytes += 1 + size - shared;
    builder->row_bytes += size;
    return COLANDER_OK;
}

static bool
is_part_full(const struct filter_builder *builder)
{
    return builder->row_count >= LOCATOR_ROWS_MAX ||
           builder->entries.count >= FILTER_PART_ENTRIES ||
           (builder->orders != NULL &&
            order_builder_size(builder->orders) >= FILTER_PART_VALUES) ||
           builder->keys.size >= FILTER_PART_KEY_BYTES;
}

/* Notes the block that the entry is in. The rows that begin in it are counted
 * from here on. */
static enum colander_code
note_block(struct filter_builder *builder, const struct sst_entry *entry,
           struct colander_error *err)
{
    const uint64_t rows = builder->rows_before + builder->row_count;
    enum colander_code code;

    if (!builder->are_spans_known ||
        (builder->span_count > 0 &&
         builder->spans[builder->span_count - 1].offset == entry->block))
        return COLANDER_OK;
    if (entry->block == SST_BLOCK_UNKNOWN || rows > FILTER_SPAN_ROWS_MAX) {
        builder->are_spans_known = false;
        return COLANDER_OK;
    }
    code = array_reserve(&builder->spans, builder->span_count,
                         &builder->span_capacity, 1, err);
    if (code == COLANDER_OK)
        builder->spans[builder->span_count++] = (struct filter_span){
            entry->block, (uint32_t)rows, filter_key_sum(entry->key)};
    return code;
}

static enum colander_code
note_delete(struct filter_builder *builder, struct colander_slice key,
            struct colander_error *err)
{
    if (builder->deleted_span != 0 &&
        colander_slice_equal(colander_buffer_slice(&builder->deleted), key))
        return COLANDER_OK;
    builder->deleted_span = builder->span_count;
    colander_buffer_clear(&builder->deleted);
    return colander_buffer_append(&builder->deleted, key.data, key.size, err);
}

/* A row is looked for in the block with the newest version of its key. If that
 * is a delete in an earlier block, the row counts as begun there. */
static void
note_row(struct filter_builder *builder, struct colander_slice key)
{
    if (builder->deleted_span == 0 ||
        !colander_slice_equal(colander_buffer_slice(&builder->deleted), key))
        return;
    for (size_t i = builder->span_count; i > builder->deleted_span; i--)
        builder->spans[i - 1].first_row++;
}

enum colander_code
filter_builder_add(struct filter_builder *builder,
                   const struct sst_entry *entry, struct colander_error *err)
{
    enum colander_code code = note_block(builder, entry, err);
    bool is_same = builder->is_row_open &&
                   colander_slice_equal(entry->key, last_key(builder));

    builder->entry_count++;
    if (code == COLANDER_OK && !entry->is_put)
        return note_delete(builder, entry->key, err);
    if (code == COLANDER_OK && !is_same && is_part_full(builder))
        code = end_part(builder, err);
    if (code == COLANDER_OK && !is_same)
        code = begin_row(builder, entry->key, err);
    if (code != COLANDER_OK)
        return code;
    if (!is_same)
        note_row(builder, entry->key);
    builder->row_bytes += entry->value.size;
    builder->visit_code = COLANDER_OK;
    builder->visit_err = err;
    builder->skip_depth = 0;
    code = row_values(entry->value, visit_value, builder, err);
    return code == COLANDER_OK ? builder->visit_code : code;
}

enum colander_code
filter_builder_finish(struct filter_builder *builder,
                      const uint8_t tag[SST_TAG_SIZE], uint64_t entry_count,
                      struct colander_error *err)
{
    struct filter_head head;
    enum colander_code code = end_part(builder, err);

    if (code != COLANDER_OK)
        return code;
    memset(&head, 0, sizeof(head));
    memcpy(head.tag, tag, SST_TAG_SIZE);
    head.entry_count = entry_count != 0 ? entry_count : builder->entry_count;
    head.hash_version = COLANDER_HASH_VERSION;
    head.words_version =
        builder->settings->options.words ? TEXT_WORDS_VERSION : 0;
    head.unfiltered_count = builder->settings->unfiltered_count;
    memcpy(head.unfiltered, builder->settings->unfiltered,
           sizeof(head.unfiltered));
    return filter_writer_finish(
        builder->writer, &head, builder->spans,
        builder->are_spans_known ? builder->span_count : 0, err);
}
