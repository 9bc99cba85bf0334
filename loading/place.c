/*
 * Place: see place.h.
 *
 * A mark is a row like any other, so that whoever comes across one can read
 * it, and fields may be added.
 *
 * SPDX-License-Identifier: MIT
 */
#include "loading/place.h"
#include "loading/splitter.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <xxhash.h>

#define NAME_PREFIX "load:"

bool
place_is_sound(const struct place *place)
{
    return place->tail_size <= PLACE_TAIL_MAX &&
           place->tail_size <= place->offset &&
           place->line_offset <= place->offset &&
           place->format <= RECORDS_MSGPACK && place->state <= UINT32_MAX;
}

void
place_tail_append(struct place_tail *tail, struct colander_slice text)
{
    size_t kept = tail->size;

    if (text.size > PLACE_TAIL_MAX)
        text = colander_slice_of(text.data + text.size - PLACE_TAIL_MAX,
                                 PLACE_TAIL_MAX);
    if (kept > PLACE_TAIL_MAX - text.size)
        kept = PLACE_TAIL_MAX - text.size;
    memmove(tail->bytes, tail->bytes + tail->size - kept, kept);
    if (text.size > 0)
        memcpy(tail->bytes + kept, text.data, text.size);
    tail->size = kept + text.size;
}

void
place_set_tail(struct place *place, const struct place_tail *tail)
{
    place->tail_size = tail->size;
    place->tail_hash = XXH3_64bits(tail->bytes, tail->size);
}

bool
place_has_tail(const struct place *place, const struct place_tail *tail)
{
    return tail->size == place->tail_size &&
           XXH3_64bits(tail->bytes, tail->size) == place->tail_hash;
}

enum colander_code
place_name(const char *file, struct colander_buffer *name,
           struct colander_error *err)
{
    char *path = strcmp(file, "-") == 0 ? strdup(file) : realpath(file, NULL);
    struct stat status;
    enum colander_code code;

    /* a pipe of /dev/fd is there, though it is in no folder */
    if (path == NULL && errno == ENOENT && stat(file, &status) == 0)
        path = strdup(file);
    if (path == NULL && errno == ENOMEM)
        return COLANDER_FAIL(err, COLANDER_NO_MEMORY, "no memory for its name");
    if (path == NULL)
        return COLANDER_FAIL(err,
                             errno == ENOENT ? COLANDER_NOT_FOUND : COLANDER_IO,
                             "cannot open: %s", strerror(errno));
    colander_buffer_clear(name);
    code = colander_buffer_append(name, NAME_PREFIX, strlen(NAME_PREFIX), err);
    if (code == COLANDER_OK)
        code = colander_buffer_append(name, path, strlen(path), err);
    free(path);
    return code;
}

/* ------------------------------------------------------------- fields --- */

/* A field of the place, and what it is called in the mark. */
struct field {
    const char *name;
    uint64_t *number; /* or else */
    bool *flag;
};

#define FIELD_COUNT 11

static void
list_fields(struct place *place, struct field fields[FIELD_COUNT])
{
    const struct field all[FIELD_COUNT] = {
        {"offset", &place->offset, NULL},
        {"line", &place->line, NULL},
        {"line_offset", &place->line_offset, NULL},
        {"rows", &place->row_count, NULL},
        {"rejects", &place->reject_count, NULL},
        {"rejects_size", &place->rejects_size, NULL},
        {"tail_hash", &place->tail_hash, NULL},
        {"tail_size", &place->tail_size, NULL},
        {"format", &place->format, NULL},
        {"state", &place->state, NULL},
        {"is_end", NULL, &place->is_end},
    };

    memcpy(fields, all, sizeof(all));
}

enum colander_code
place_mark(const struct place *place, struct colander_batch *batch,
           struct colander_family *family, struct colander_slice name,
           struct colander_error *err)
{
    struct colander_row_builder *builder;
    struct colander_slice row = {NULL, 0};
    struct field fields[FIELD_COUNT];
    struct place copy;
    enum colander_code code;

    if (place == NULL)
        return colander_batch_mark(batch, family, name, row, err);
    builder = colander_row_builder_create();
    if (builder == NULL)
        return COLANDER_FAIL(err, COLANDER_NO_MEMORY, "no memory for a mark");
    copy = *place;
    list_fields(&copy, fields);
    for (size_t i = 0; i < FIELD_COUNT; i++)
        colander_row_builder_add(builder, fields[i].name,
                                 fields[i].number != NULL
                                     ? colander_unsigned(*fields[i].number)
                                     : colander_boolean(*fields[i].flag));
    if (place->bulk_key_size > 0)
        colander_row_builder_add(builder, "bulk_key",
                                 colander_binary(colander_slice_of(
                                     place->bulk_key, place->bulk_key_size)));
    code = colander_row_builder_finish(builder, &row, err);
    if (code == COLANDER_OK)
        code = colander_batch_mark(batch, family, name, row, err);
    colander_row_builder_destroy(builder);
    return code;
}

static enum colander_code
read_field(const struct field *field, struct colander_slice row,
           struct colander_error *err)
{
    struct colander_value value;
    enum colander_code code;
    bool found;

    code = colander_row_get(row, field->name, &value, &found, err);
    if (code != COLANDER_OK || !found)
        return code;
    if (field->flag != NULL && value.type == COLANDER_BOOLEAN)
        *field->flag = value.boolean;
    else if (field->number != NULL && (value.type == COLANDER_INTEGER ||
                                       value.type == COLANDER_UNSIGNED))
        *field->number = value.natural;
    else
        code = COLANDER_FAIL(err, COLANDER_CORRUPT,
                             "the place of an earlier load has no '%s'",
                             field->name);
    return code;
}

static enum colander_code
read_bulk_key(struct place *place, struct colander_slice row,
              struct colander_error *err)
{
    struct colander_value value;
    enum colander_code code;
    bool found;

    code = colander_row_get(row, "bulk_key", &value, &found, err);
    if (code != COLANDER_OK || !found || value.type != COLANDER_BINARY ||
        value.bytes.size > sizeof(place->bulk_key))
        return code;
    place->bulk_key_size = value.bytes.size;
    memcpy(place->bulk_key, value.bytes.data, value.bytes.size);
    return COLANDER_OK;
}

enum colander_code
place_read(struct place *place, struct colander_family *family,
           struct colander_slice name, bool *found, struct colander_error *err)
{
    struct colander_buffer mark = COLANDER_BUFFER_EMPTY;
    struct field fields[FIELD_COUNT];
    enum colander_code code;

    memset(place, 0, sizeof(*place));
    code = colander_family_mark(family, name, &mark, found, err);
    if (code == COLANDER_OK && *found)
        code = colander_row_check(colander_buffer_slice(&mark), err);
    list_fields(place, fields);
    for (size_t i = 0; i < FIELD_COUNT && code == COLANDER_OK && *found; i++)
        code = read_field(&fields[i], colander_buffer_slice(&mark), err);
    if (code == COLANDER_OK && *found)
        code = read_bulk_key(place, colander_buffer_slice(&mark), err);
    colander_buffer_release(&mark);
    if (code == COLANDER_OK && *found && !place_is_sound(place))
        code = COLANDER_FAIL(err, COLANDER_CORRUPT,
                             "the place of an earlier load is none");
    return code;
}
