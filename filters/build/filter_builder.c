/* SPDX-License-Identifier: MIT */
#include "filters/filter_builder.h"

#include "columns/candidates.h"
#include "core/array.h"
#include "core/thread.h"
#include "filters/build/part_rows.h"

#include <stdlib.h>

/* A dictionary is written with the part that fills this share of it. The words
 * of another part would probably be too many. */
#define DICTIONARY_ENOUGH 0.75

struct filter_builder {
    struct settings *settings;
    struct filter_writer *writer;
    uint64_t entry_count; /* of the SST */

    /* The blocks of the SST. */
    struct filter_span *spans;
    size_t span_count;
    size_t span_capacity;
    bool are_spans_known;
    uint64_t rows_before;           /* of earlier parts */
    struct colander_buffer deleted; /* the key of the last delete */
    size_t deleted_span;            /* index of its block, from 1; 0: none */

    /* One part is filled while the one before is written, maybe with its
     * dictionary: then the next one has the other. */
    struct part_rows parts[2];
    struct part_rows *filling;
    struct dictionary_builder *dictionaries[2];
    bool is_row_open;          /* the last key is a row of this part */
    struct part_rows *written; /* by the thread; NULL: there is none */
    pthread_t thread;
    double words_size; /* of the thread while there is one, as what follows */
    enum colander_code write_code;
    struct colander_error write_err;
};

/* Returns whether words of texts are collected. */
static bool
has_dictionary(const struct settings *settings)
{
    return settings->options.words && settings->options.rows_per_segment != 0;
}

/* Gives the part the dictionary that `before` (NULL: none) does not end. */
static enum colander_code
give_dictionary(struct filter_builder *builder, struct part_rows *part,
                const struct part_rows *before, struct colander_error *err)
{
    struct dictionary_builder **chosen = &builder->dictionaries[0];

    if (!has_dictionary(builder->settings))
        return COLANDER_OK;
    if (before != NULL)
        chosen += (before->dictionary == *chosen) == before->ends_dictionary;
    if (*chosen == NULL)
        *chosen = dictionary_builder_create();
    part->dictionary = *chosen;
    if (*chosen == NULL)
        return COLANDER_FAIL(err, COLANDER_NO_MEMORY,
                             "no memory to build a filter");
    return COLANDER_OK;
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
    created->filling = &created->parts[0];
    code = part_rows_init(created->filling, settings, err);
    if (code == COLANDER_OK)
        code = give_dictionary(created, created->filling, NULL, err);
    if (code == COLANDER_OK)
        code = filter_writer_create(path, &created->writer, err);
    if (code != COLANDER_OK) {
        filter_builder_destroy(created);
        return code;
    }
    *builder = created;
    return COLANDER_OK;
}

/* -------------------------------------------------------- writing parts --- */

static void *
write_run(void *context)
{
    struct filter_builder *builder = context;

    builder->write_code =
        part_rows_write(builder->written, builder->writer, &builder->words_size,
                        &builder->write_err);
    return NULL;
}

/* Waits until the part before is written. */
static enum colander_code
await_part(struct filter_builder *builder, struct colander_error *err)
{
    if (builder->written == NULL)
        return COLANDER_OK;
    pthread_join(builder->thread, NULL);
    builder->written = NULL;
    if (builder->write_code != COLANDER_OK && err != NULL)
        *err = builder->write_err;
    return builder->write_code;
}

/* Has the full part written by a thread, and begins another. */
static enum colander_code
end_part(struct filter_builder *builder, struct colander_error *err)
{
    struct part_rows *full = builder->filling;
    struct part_rows *next = &builder->parts[full == &builder->parts[0]];
    enum colander_code code = await_part(builder, err);

    full->ends_dictionary =
        full->dictionary != NULL &&
        dictionary_builder_share(full->dictionary) >= DICTIONARY_ENOUGH;
    if (code == COLANDER_OK && next->settings == NULL)
        code = part_rows_init(next, builder->settings, err);
    if (code == COLANDER_OK)
        code = give_dictionary(builder, next, full, err);
    if (code != COLANDER_OK)
        return code;
    builder->rows_before += full->row_count;
    builder->is_row_open = false;
    builder->written = full;
    if (thread_create(&builder->thread, write_run, builder) != 0) {
        builder->written = NULL;
        return part_rows_write(full, builder->writer, &builder->words_size,
                               err);
    }
    builder->filling = next;
    return COLANDER_OK;
}

void
filter_builder_destroy(struct filter_builder *builder)
{
    if (builder == NULL)
        return;
    (void)await_part(builder, NULL);
    filter_writer_destroy(builder->writer);
    part_rows_release(&builder->parts[0]);
    part_rows_release(&builder->parts[1]);
    dictionary_builder_destroy(builder->dictionaries[0]);
    dictionary_builder_destroy(builder->dictionaries[1]);
    colander_buffer_release(&builder->deleted);
    free(builder->spans);
    settings_unref(builder->settings);
    free(builder);
}

/* --------------------------------------------------------------- adding --- */

/* Notes the block that the entry is in. The rows that begin in it are counted
 * from here on. */
static enum colander_code
note_block(struct filter_builder *builder, const struct sst_entry *entry,
           struct colander_error *err)
{
    const uint64_t rows = builder->rows_before + builder->filling->row_count;
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
    bool is_same =
        builder->is_row_open &&
        colander_slice_equal(entry->key, part_rows_last_key(builder->filling));

    builder->entry_count++;
    if (code == COLANDER_OK && !entry->is_put)
        return note_delete(builder, entry->key, err);
    if (code == COLANDER_OK && !is_same && part_rows_is_full(builder->filling))
        code = end_part(builder, err);
    if (code == COLANDER_OK && !is_same)
        code = part_rows_begin_row(builder->filling, entry->key, err);
    if (code != COLANDER_OK)
        return code;
    if (!is_same)
        note_row(builder, entry->key);
    builder->is_row_open = true;
    return part_rows_add_values(builder->filling, entry->value, err);
}

enum colander_code
filter_builder_finish(struct filter_builder *builder,
                      const uint8_t tag[SST_TAG_SIZE], uint64_t entry_count,
                      struct colander_error *err)
{
    const struct path_list *lists = builder->settings->lists;
    struct filter_head head;
    enum colander_code code = await_part(builder, err);

    builder->filling->ends_dictionary = has_dictionary(builder->settings);
    if (code == COLANDER_OK)
        code = part_rows_write(builder->filling, builder->writer,
                               &builder->words_size, err);
    if (code != COLANDER_OK)
        return code;
    memset(&head, 0, sizeof(head));
    memcpy(head.tag, tag, SST_TAG_SIZE);
    head.entry_count = entry_count != 0 ? entry_count : builder->entry_count;
    head.hash_version = COLANDER_HASH_VERSION;
    head.words_version = builder->settings->options.words ? TEXT_WORDS_VERSION
                         : builder->settings->adds_words_later
                             ? FILTER_WORDS_LATER
                             : 0;
    head.words_size = (uint64_t)builder->words_size;
    head.word_column_count = lists[LIST_WORD_COLUMNS].count;
    memcpy(head.word_columns, lists[LIST_WORD_COLUMNS].hashes,
           sizeof(head.word_columns));
    head.unfiltered_count = lists[LIST_UNFILTERED].count;
    memcpy(head.unfiltered, lists[LIST_UNFILTERED].hashes,
           sizeof(head.unfiltered));
    return filter_writer_finish(
        builder->writer, &head, builder->spans,
        builder->are_spans_known ? builder->span_count : 0, err);
}
