/* SPDX-License-Identifier: MIT */
#include "filters/build/part_rows.h"

#include "columns/candidates.h"
#include "filters/filter_builder.h"
#include "filters/row_keys.h"

/* COLANDER_SEGMENT_AUTO keeps the keys of all rows if they take at most one of
 * this many bytes of the rows. Else a segment has this many rows. */
#define AUTO_KEY_SHARE 10
#define AUTO_SEGMENT 16

static bool
has_locator(const struct part_rows *rows)
{
    return rows->settings->options.rows_per_segment != 0;
}

static uint32_t
coarse_of(const struct settings *settings)
{
    uint32_t rows = settings->options.rows_per_segment;

    return rows == 0 || rows == COLANDER_SEGMENT_AUTO ? AUTO_SEGMENT : rows;
}

enum colander_code
part_rows_init(struct part_rows *rows, struct settings *settings,
               struct colander_error *err)
{
    enum colander_code code;

    memset(rows, 0, sizeof(*rows));
    rows->settings = settings;
    code = entry_list_init(&rows->entries, settings->options.hash_bits,
                           coarse_of(settings), err);
    if (code == COLANDER_OK && has_locator(rows)) {
        rows->orders = order_builder_create();
        if (rows->orders == NULL)
            code = COLANDER_FAIL(err, COLANDER_NO_MEMORY,
                                 "no memory to build a filter");
    }
    if (code != COLANDER_OK)
        part_rows_release(rows);
    return code;
}

void
part_rows_release(struct part_rows *rows)
{
    entry_list_release(&rows->entries);
    order_builder_destroy(rows->orders);
    colander_buffer_release(&rows->keys);
    memset(rows, 0, sizeof(*rows));
}

/* --------------------------------------------------------------- adding --- */

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

struct colander_slice
part_rows_last_key(const struct part_rows *rows)
{
    size_t offset = rows->last;

    return read_key(&rows->keys, &offset);
}

enum colander_code
part_rows_begin_row(struct part_rows *rows, struct colander_slice key,
                    struct colander_error *err)
{
    const uint32_t size = (uint32_t)key.size;
    const size_t start = rows->keys.size;
    size_t shared = 0;
    enum colander_code code;

    if (rows->row_count > 0)
        shared = row_keys_shared(part_rows_last_key(rows), key);
    code = colander_buffer_append(&rows->keys, &size, sizeof(size), err);
    if (code == COLANDER_OK)
        code = colander_buffer_append(&rows->keys, key.data, key.size, err);
    if (code != COLANDER_OK)
        return code;
    rows->last = start;
    rows->row_count++;
    rows->key_bytes += 1 + size - shared;
    rows->row_bytes += size;
    return COLANDER_OK;
}

bool
part_rows_is_full(const struct part_rows *rows)
{
    return rows->row_count >= LOCATOR_ROWS_MAX ||
           rows->entries.count >= FILTER_PART_ENTRIES ||
           (rows->orders != NULL &&
            order_builder_size(rows->orders) >= FILTER_PART_VALUES) ||
           (rows->dictionary != NULL &&
            dictionary_builder_share(rows->dictionary) >= 1) ||
           rows->keys.size >= FILTER_PART_KEY_BYTES;
}

static enum colander_code
add_word(struct part_rows *rows, uint64_t hash)
{
    const size_t before = rows->entries.count;
    enum colander_code code =
        entry_list_add_word(&rows->entries, hash, rows->word_tag,
                            rows->row_count - 1, rows->visit_err);

    rows->word_count += rows->entries.count - before;
    return code;
}

/* Every word is looked up in the dictionary: entries have parts of hashes. */
static void
visit_word(void *context, const struct text_word *word)
{
    struct part_rows *rows = context;
    const size_t size = word->folded.size;

    if (rows->visit_code == COLANDER_OK && !word->is_value)
        rows->visit_code = add_word(rows, word->hash);
    if (rows->visit_code != COLANDER_OK || rows->dictionary == NULL)
        return;
    rows->visit_code = size == 0 || size > DICTIONARY_WORD_MAX
                           ? add_word(rows, DICTIONARY_LONG_HASH)
                           : dictionary_builder_add(
                                 rows->dictionary, word->hash, rows->word_tag,
                                 word->folded, rows->visit_err);
}

/* Returns what the settings say about an order of the column. */
static enum order_wish
wish_of(struct part_rows *rows, const struct row_value *value)
{
    const bool is_ordered = settings_lists(rows->settings, LIST_ORDERED, value,
                                           &rows->ordered_depth);

    if (settings_lists(rows->settings, LIST_UNORDERED, value,
                       &rows->unordered_depth))
        return ORDER_NEVER;
    return is_ordered ? ORDER_ALWAYS : ORDER_IF_CHEAP;
}

static void
visit_value(void *context, const struct row_value *value)
{
    struct part_rows *rows = context;
    const struct settings *settings = rows->settings;
    const unsigned tag = column_tag(value->path_hash);
    const uint32_t row = rows->row_count - 1;
    const bool is_scalar = value->value.type < COLANDER_ARRAY;
    bool has_words;
    uint64_t hash;

    if (rows->visit_code != COLANDER_OK)
        return;
    if (settings_lists(settings, LIST_UNFILTERED, value, &rows->skip_depth))
        return;
    has_words = settings_has_words(settings, value, &rows->words_depth);
    rows->visit_code = entry_list_add_column(&rows->entries, value->path_hash,
                                             tag, row, rows->visit_err);
    if (rows->visit_code != COLANDER_OK)
        return;
    hash = is_scalar ? colander_value_hash(&value->value) : 0;
    if (rows->orders != NULL && value->value.type != COLANDER_NULL) {
        order_builder_wish(rows->orders, wish_of(rows, value));
        order_builder_value(rows->orders, value->path_hash, &value->value,
                            locator_entry(hash, tag, row));
    }
    if (!is_scalar)
        return;
    rows->visit_code =
        entry_list_add(&rows->entries, hash, tag, row, rows->visit_err);
    if (value->value.type == COLANDER_STRING && has_words) {
        rows->word_tag = tag;
        text_words(value->value.bytes, visit_word, rows);
    }
}

enum colander_code
part_rows_add_values(struct part_rows *rows, struct colander_slice row,
                     struct colander_error *err)
{
    enum colander_code code;

    rows->row_bytes += row.size;
    rows->visit_code = COLANDER_OK;
    rows->visit_err = err;
    rows->skip_depth = 0;
    rows->words_depth = rows->ordered_depth = rows->unordered_depth = 0;
    code = row_values(row, visit_value, rows, err);
    return code == COLANDER_OK ? rows->visit_code : code;
}

/* -------------------------------------------------------------- writing --- */

/* Returns the number of rows in a unit of short lists. */
static uint32_t
choose_fine(const struct part_rows *rows)
{
    const uint32_t fine = rows->settings->options.rows_per_segment;

    if (fine != COLANDER_SEGMENT_AUTO)
        return fine;
    return rows->key_bytes * AUTO_KEY_SHARE <= rows->row_bytes ? 1
                                                               : AUTO_SEGMENT;
}

/* Where blocks of the rows are written. */
struct target {
    const struct part_rows *rows;
    struct filter_writer *writer;
    uint64_t locator_size; /* so far */
    uint32_t listed_max;   /* rows of a long list */
};

static enum colander_code
sink_locator(void *context, struct colander_slice block, uint32_t first,
             struct colander_error *err)
{
    struct target *target = context;

    target->locator_size += block.size;
    return filter_writer_block(target->writer, FILTER_LOCATOR, block, first,
                               err);
}

static enum colander_code
sink_dictionary(void *context, struct colander_slice block, uint32_t first,
                struct colander_error *err)
{
    return filter_writer_block(context, FILTER_DICTIONARY, block, first, err);
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
    const struct target *target = context;

    return filter_writer_block(target->writer, FILTER_ORDER, block, first, err);
}

static uint64_t
count_rows(void *context, uint64_t hash, unsigned tag, uint64_t most)
{
    const struct target *target = context;

    return entry_list_rows(&target->rows->entries, hash, tag,
                           target->listed_max, most);
}

/* Writes the keys of all rows or, if a unit has more than one, the anchors. */
static enum colander_code
write_keys(const struct part_rows *rows, uint32_t fine,
           struct filter_writer *writer, struct colander_error *err)
{
    struct colander_slice before = {NULL, 0};
    struct row_keys_coder coder;
    enum colander_code code = COLANDER_OK;
    size_t offset = 0;

    row_keys_coder_init(&coder, sink_keys, writer);
    for (uint32_t i = 0; i < rows->row_count && code == COLANDER_OK; i++) {
        struct colander_slice key = read_key(&rows->keys, &offset);

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
write_orders(struct part_rows *rows, struct filter_writer *writer,
             struct colander_error *err)
{
    const uint64_t budget = (uint64_t)((double)rows->row_bytes *
                                       rows->settings->options.order_budget);
    struct target target = {
        .rows = rows,
        .writer = writer,
        .listed_max =
            choose_fine(rows) == 1 ? rows->row_count / LOCATOR_COMMON : 0,
    };
    const struct order_sink sink = {&target, count_rows, sink_order};

    if (rows->orders == NULL)
        return COLANDER_OK;
    return order_builder_finish(rows->orders, rows->row_count, budget, &sink,
                                err);
}

/* Writes the presence in blocks of the locator's block size. */
static enum colander_code
write_presence(const struct part_rows *rows, struct filter_part *part,
               struct filter_writer *writer, struct colander_error *err)
{
    const uint32_t lot = LOCATOR_BLOCK_SIZE * 8 / PRESENCE_BLOCK_BITS;
    struct presence presence;
    enum colander_code code;

    part->presence = settings_presence_shape(rows->settings, part->hash_count);
    code = presence_init(&presence, &part->presence, err);
    if (code != COLANDER_OK)
        return code;
    for (size_t i = 0; i < rows->entries.count; i++)
        presence_add(&presence, rows->entries.entries[i]);
    for (uint32_t first = 0;
         first < part->presence.block_count && code == COLANDER_OK;
         first += lot) {
        uint32_t left = part->presence.block_count - first;
        const struct colander_slice block = colander_slice_of(
            presence.words + (size_t)first * PRESENCE_BLOCK_WORDS,
            (size_t)(left < lot ? left : lot) * (PRESENCE_BLOCK_BITS / 8));

        code = filter_writer_block(writer, FILTER_PRESENCE, block, first, err);
    }
    presence_release(&presence);
    return code;
}

/* `added` entries were sorted. */
static enum colander_code
write_located(const struct part_rows *rows, size_t added,
              struct filter_part *part, struct filter_writer *writer,
              double *words_size, struct colander_error *err)
{
    struct target target = {.rows = rows, .writer = writer};
    enum colander_code code;

    part->shape.fine = choose_fine(rows);
    part->shape.coarse = coarse_of(rows->settings);
    locator_shape_fit(&part->shape, part->hash_count);
    code = locator_build(&part->shape, rows->entries.entries,
                         rows->entries.count, sink_locator, &target, err);
    if (added > 0)
        *words_size += (double)target.locator_size * (double)rows->word_count /
                       (double)added;
    if (code == COLANDER_OK)
        code = write_keys(rows, part->shape.fine, writer, err);
    return code;
}

static enum colander_code
write_part(struct part_rows *rows, struct filter_writer *writer,
           double *words_size, struct colander_error *err)
{
    const size_t added = rows->entries.count;
    struct filter_part part;
    enum colander_code code;
    size_t offset = 0;

    memset(&part, 0, sizeof(part));
    code = entry_list_sort(&rows->entries, err);
    if (code == COLANDER_OK)
        code = write_orders(rows, writer, err);
    if (code != COLANDER_OK)
        return code;
    part.hash_count = entry_list_hashes(&rows->entries);
    part.shape.row_count = rows->row_count;
    part.shape.fine = 1;
    part.shape.coarse = 1;
    part.shape.hash_bits = (uint8_t)rows->settings->options.hash_bits;
    part.first_key = read_key(&rows->keys, &offset);
    part.last_key = part_rows_last_key(rows);
    code = has_locator(rows)
               ? write_located(rows, added, &part, writer, words_size, err)
               : write_presence(rows, &part, writer, err);
    if (code == COLANDER_OK && rows->ends_dictionary)
        code = dictionary_builder_write(rows->dictionary, sink_dictionary,
                                        writer, err);
    return code == COLANDER_OK ? filter_writer_part_end(writer, &part, err)
                               : code;
}

enum colander_code
part_rows_write(struct part_rows *rows, struct filter_writer *writer,
                double *words_size, struct colander_error *err)
{
    enum colander_code code;

    if (rows->row_count == 0)
        return COLANDER_OK;
    code = write_part(rows, writer, words_size, err);
    rows->row_count = 0;
    rows->row_bytes = 0;
    rows->key_bytes = 0;
    rows->word_count = 0;
    colander_buffer_clear(&rows->keys);
    entry_list_clear(&rows->entries);
    return code;
}
