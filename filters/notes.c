/*
 * Notes: the values of rows that are about to be written go into the recent
 * rows of their family.
 *
 * SPDX-License-Identifier: MIT
 */
#include "filters/context.h"

#include <stdlib.h>

/* Values of a row for which no memory has to be asked. */
#define VALUES_INLINE 32

struct candidate_write {
    struct filters *filters;
    struct recent_write recent;
    unsigned epoch; /* in which it is counted */

    /* of the row noted last: mostly all are of one family */
    uint32_t family_id;
    struct family_filters *family;
    struct settings *settings;
    uint32_t skip_depth; /* inside a column left out; 0: not */
    bool is_short;       /* of memory */

    struct recent_value *values;
    size_t value_count;
    size_t value_capacity;
    struct recent_value inline_values[VALUES_INLINE];
};

static struct candidate_write *
begin_write(struct filters *filters)
{
    struct candidate_write *made = malloc(sizeof(*made));

    if (made == NULL)
        return NULL;
    memset(made, 0, offsetof(struct candidate_write, inline_values));
    made->filters = filters;
    made->values = made->inline_values;
    made->value_capacity = VALUES_INLINE;
    /* counted in the epoch that is, and not in one that has ended meanwhile */
    for (;;) {
        made->epoch = atomic_load(&filters->epoch) & 1;
        atomic_fetch_add(&filters->writes[made->epoch], 1);
        if ((atomic_load(&filters->epoch) & 1) == made->epoch)
            return made;
        atomic_fetch_sub(&filters->writes[made->epoch], 1);
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
visit_value(void *context, const struct row_value *value)
{
    struct candidate_write *write = context;
    const struct settings *settings = write->settings;
    struct recent_value *note;

    if (write->skip_depth != 0) {
        if (value->depth > write->skip_depth)
            return;
        write->skip_depth = 0;
    }
    if (settings->left_out_count > 0 &&
        settings_is_left_out(settings->left_out, settings->left_out_count,
                             value->path_hash)) {
        write->skip_depth = value->depth;
        return;
    }
    if (value->value.type >= COLANDER_ARRAY || write->is_short)
        return;
    if (write->value_count == write->value_capacity && !grow_values(write)) {
        write->is_short = true;
        return;
    }
    note = &write->values[write->value_count++];
    note->hash = colander_value_hash(&value->value);
    note->tag = column_tag(value->path_hash);
}

/* Turns to the family of the next row. */
static bool
turn_to(struct candidate_write *write, uint32_t family_id)
{
    struct registry *registry = &write->filters->registry;

    if (write->family != NULL && write->family_id == family_id)
        return true;
    settings_unref(write->settings);
    write->settings = NULL;
    write->family =
        registry_family_settings(registry, family_id, &write->settings);
    write->family_id = family_id;
    return write->family != NULL;
}

enum colander_code
notes_row(void *context, struct candidate_write **write,
          struct colander_engine_family *family, struct colander_slice key,
          struct colander_slice row, struct colander_error *err)
{
    struct candidate_write *noting = *write;
    enum colander_code code;

    if (noting == NULL)
        noting = *write = begin_write(context);
    if (noting == NULL || !turn_to(noting, colander_engine_family_id(family)))
        return COLANDER_FAIL(err, COLANDER_NO_MEMORY, "no memory for a write");
    if (!noting->settings->options.is_on)
        return COLANDER_OK;
    noting->value_count = 0;
    noting->skip_depth = 0;
    noting->is_short = false;
    code = row_values(row, visit_value, noting, err);
    if (code == COLANDER_OK && noting->is_short)
        code = COLANDER_FAIL(err, COLANDER_NO_MEMORY, "no memory for a write");
    if (code == COLANDER_OK)
        code = recent_note(noting->family->recent, &noting->recent, key,
                           noting->values, noting->value_count, err);
    return code;
}

void
notes_end(void *context, struct candidate_write *write, bool is_written)
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

/* Notes every row that a cursor gives, as one write. */
static enum colander_code
note_all(struct filters *filters, struct colander_engine_family *family,
         struct colander_engine_cursor *cursor, struct colander_error *err)
{
    struct candidate_write *write = NULL;
    enum colander_code code = COLANDER_OK;

    for (;;) {
        struct colander_slice key;
        struct colander_slice row;

        code = colander_engine_cursor_next(cursor, &key, &row, err);
        if (code != COLANDER_OK || key.data == NULL)
            break;
        code = notes_row(filters, &write, family, key, row, err);
        if (code != COLANDER_OK)
            break;
    }
    notes_end(filters, write, code == COLANDER_OK);
    return code;
}

enum colander_code
notes_of_log(struct filters *filters, struct colander_engine_family *family,
             struct family_filters *found, struct colander_error *err)
{
    const struct colander_engine_cursor_options all = {.is_reverse = false};
    struct colander_engine_cursor *cursor;
    enum colander_code code = COLANDER_OK;

    pthread_mutex_lock(&filters->change_mutex);
    if (!atomic_load(&found->is_recent_all)) {
        code = engine_unflushed_cursor_open(family, &all, &cursor, err);
        if (code == COLANDER_OK)
            code = note_all(filters, family, cursor, err);
        if (code == COLANDER_OK)
            atomic_store(&found->is_recent_all, true);
        colander_engine_cursor_close(cursor);
    }
    pthread_mutex_unlock(&filters->change_mutex);
    return code;
}
