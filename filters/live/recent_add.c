/*
 * Adds the values of rows that are about to be written to the recent rows of
 * their family.
 *
 * SPDX-License-Identifier: MIT
 */
#include "core/engine.h"
#include "filters/live.h"

#include <stdlib.h>

/* A row with this many values needs no allocation. */
#define VALUES_INLINE 32

struct candidate_write {
    struct filters *filters;
    struct recent_write recent;
    unsigned epoch; /* that counts this write */

    /* Of the last row; most writes have one family. */
    uint32_t family_id;
    struct family_filters *family;
    struct settings *settings;
    uint32_t skip_depth;  /* of the unfiltered column being visited, or 0 */
    uint32_t words_depth; /* of the column with words, or 0 */
    bool is_short;        /* memory was short */
    unsigned tag;         /* of the column being visited */

    struct recent_value *values;
    size_t value_count;
    size_t value_capacity;
    struct recent_value inline_values[VALUES_INLINE];
};

static struct candidate_write *
begin_write(struct filters *filters)
{
    struct candidate_write *created = malloc(sizeof(*created));

    if (created == NULL)
        return NULL;
    memset(created, 0, offsetof(struct candidate_write, inline_values));
    created->filters = filters;
    created->values = created->inline_values;
    created->value_capacity = VALUES_INLINE;
    /* Counts the write in the current epoch, not in one that has ended in the
     * meantime. */
    for (;;) {
        created->epoch = atomic_load(&filters->epoch) & 1;
        atomic_fetch_add(&filters->writes[created->epoch], 1);
        if ((atomic_load(&filters->epoch) & 1) == created->epoch)
            return created;
        atomic_fetch_sub(&filters->writes[created->epoch], 1);
    }
}

static bool
grow_values(struct candidate_write *write)
{
    const size_t capacity = 4 * write->value_capacity;
    const size_t size = capacity * sizeof(struct recent_value);
    struct recent_value *grown;

    if (write->values != write->inline_values) {
        grown = realloc(write->values, size);
    } else {
        grown = malloc(size);
        if (grown != NULL)
            memcpy(grown, write->inline_values, sizeof(write->inline_values));
    }
    if (grown == NULL)
        return false;
    write->values = grown;
    write->value_capacity = capacity;
    return true;
}

static void
add_hash(struct candidate_write *write, uint64_t hash)
{
    if (write->is_short ||
        (write->value_count == write->value_capacity && !grow_values(write))) {
        write->is_short = true;
        return;
    }
    write->values[write->value_count++] =
        (struct recent_value){.hash = hash, .tag = write->tag};
}

/* Pieces of words are looked for in the rows. */
static void
add_word(void *context, const struct text_word *word)
{
    if (!word->is_value)
        add_hash(context, word->hash);
}

static void
visit_value(void *context, const struct row_value *value)
{
    struct candidate_write *write = context;
    const struct settings *settings = write->settings;
    bool has_words;

    if (settings_lists(settings, LIST_UNFILTERED, value, &write->skip_depth))
        return;
    has_words = settings_has_words(settings, value, &write->words_depth);
    if (value->value.type >= COLANDER_ARRAY)
        return;
    write->tag = column_tag(value->path_hash);
    add_hash(write, colander_value_hash(&value->value));
    if (value->value.type == COLANDER_STRING && has_words)
        text_words(value->value.bytes, add_word, write);
}

/* Switches to the family of the next row. */
static bool
turn_to(struct candidate_write *write, uint32_t family_id)
{
    struct registry *registry = &write->filters->registry;

    if (write->family != NULL && write->family_id == family_id)
        return true;
    settings_unref(write->settings);
    write->settings = NULL;
    write->family = registry_family(registry, family_id, &write->settings);
    write->family_id = family_id;
    return write->family != NULL;
}

enum colander_code
recent_add_row(void *context, struct candidate_write **write,
               struct engine_family *family, struct colander_slice key,
               struct colander_slice row, struct colander_error *err)
{
    struct candidate_write *adding = *write;
    enum colander_code code;

    if (adding == NULL)
        adding = *write = begin_write(context);
    if (adding == NULL || !turn_to(adding, engine_family_id(family)))
        return COLANDER_FAIL(err, COLANDER_NO_MEMORY, "no memory for a write");
    if (!adding->settings->options.is_on)
        return COLANDER_OK;
    /* The key itself: a version of the row in a file may be older. */
    adding->values[0] = (struct recent_value){
        .hash = engine_key_hash(key),
        .is_key = true,
    };
    adding->value_count = 1;
    adding->skip_depth = 0;
    adding->words_depth = 0;
    adding->is_short = false;
    code =
        row.size == 0 ? COLANDER_OK : row_values(row, visit_value, adding, err);
    if (code == COLANDER_OK && adding->is_short)
        code = COLANDER_FAIL(err, COLANDER_NO_MEMORY, "no memory for a write");
    if (code == COLANDER_OK)
        code = recent_add(adding->family->recent, &adding->recent, key,
                          adding->values, adding->value_count, err);
    return code;
}

void
recent_add_end(void *context, struct candidate_write *write, bool is_written)
{
    struct filters *filters = context;

    if (write == NULL)
        return;
    recent_write_end(&write->recent, is_written,
                     is_written ? engine_sequence(filters->engine) : 0);
    atomic_fetch_sub(&filters->writes[write->epoch], 1);
    settings_unref(write->settings);
    if (write->values != write->inline_values)
        free(write->values);
    free(write);
}

/* Adds every row of a cursor, as one write. */
static enum colander_code
add_all(struct filters *filters, struct engine_family *family,
        struct engine_cursor *cursor, struct colander_error *err)
{
    struct candidate_write *write = NULL;
    enum colander_code code = COLANDER_OK;

    for (;;) {
        struct colander_slice key;
        struct colander_slice row;
        bool is_row;

        code = engine_cursor_next(cursor, &is_row, &key, &row, err);
        if (code != COLANDER_OK || !is_row)
            break;
        code = recent_add_row(filters, &write, family, key, row, err);
        if (code != COLANDER_OK)
            break;
    }
    recent_add_end(filters, write, code == COLANDER_OK);
    return code;
}

enum colander_code
recent_add_log(struct filters *filters, struct engine_family *family,
               struct family_filters *found, struct colander_error *err)
{
    const struct engine_cursor_options all = {.is_reverse = false};
    struct engine_cursor *cursor;
    enum colander_code code = COLANDER_OK;

    pthread_mutex_lock(&filters->change_mutex);
    if (!atomic_load(&found->is_recent_all)) {
        code = engine_unflushed_cursor_open(family, &all, &cursor, err);
        if (code == COLANDER_OK)
            code = add_all(filters, family, cursor, err);
        /* the cursor does not show deletes */
        atomic_store(&found->knows_recent_keys,
                     engine_family_is_flushed(family));
        if (code == COLANDER_OK)
            atomic_store(&found->is_recent_all, true);
        engine_cursor_close(cursor);
    }
    pthread_mutex_unlock(&filters->change_mutex);
    return code;
}
