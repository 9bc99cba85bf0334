/*
 * Resume point: see resume_point.h.
 *
 * A mark is encoded like a row, so that it can be read and extended.
 *
 * SPDX-License-Identifier: MIT
 */
#include "loading/resume_point.h"
#include "loading/load.h"
#include "loading/splitter.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <xxhash.h>

#define NAME_PREFIX "load:"

bool
resume_point_is_sound(const struct resume_point *point)
{
    return point->tail_size <= RESUME_TAIL_MAX &&
           point->tail_size <= point->offset &&
           point->head_size <= RESUME_TAIL_MAX &&
           point->head_size <= point->offset &&
           point->line_offset <= point->offset &&
           point->sample_size <= RESUME_SAMPLE_MAX &&
           point->format <= RECORDS_ITEMS && point->state <= UINT32_MAX;
}

void
resume_point_tail_append(struct resume_point_bytes *tail,
                         struct colander_slice text)
{
    size_t kept = tail->size;

    if (text.size > RESUME_TAIL_MAX)
        text = colander_slice_of(text.data + text.size - RESUME_TAIL_MAX,
                                 RESUME_TAIL_MAX);
    if (kept > RESUME_TAIL_MAX - text.size)
        kept = RESUME_TAIL_MAX - text.size;
    memmove(tail->bytes, tail->bytes + tail->size - kept, kept);
    if (text.size > 0)
        memcpy(tail->bytes + kept, text.data, text.size);
    tail->size = kept + text.size;
}

void
resume_point_head_append(struct resume_point_bytes *head,
                         struct colander_slice text)
{
    const size_t room = RESUME_TAIL_MAX - head->size;
    const size_t size = text.size < room ? text.size : room;

    if (size > 0)
        memcpy(head->bytes + head->size, text.data, size);
    head->size += size;
}

void
resume_point_set_head(struct resume_point *point,
                      const struct resume_point_bytes *head)
{
    point->head_size = head->size;
    point->head_hash = XXH3_64bits(head->bytes, head->size);
}

bool
resume_point_has_head(const struct resume_point *point,
                      struct colander_slice text)
{
    return point->head_size == 0 ||
           (text.size >= point->head_size &&
            XXH3_64bits(text.data, (size_t)point->head_size) ==
                point->head_hash);
}

void
resume_point_set_tail(struct resume_point *point,
                      const struct resume_point_bytes *tail)
{
    point->tail_size = tail->size;
    point->tail_hash = XXH3_64bits(tail->bytes, tail->size);
}

bool
resume_point_has_tail(const struct resume_point *point,
                      const struct resume_point_bytes *tail)
{
    return tail->size == point->tail_size &&
           XXH3_64bits(tail->bytes, tail->size) == point->tail_hash;
}

/* Sets the name to that of the file `base` in a folder, or of a whole path. */
static enum colander_code
set_name(struct colander_buffer *name, const char *path, const char *base,
         struct colander_error *err)
{
    const bool has_slash = *base == '\0' || strcmp(path, "/") == 0;
    const char *parts[] = {NAME_PREFIX, path, has_slash ? "" : "/", base};
    enum colander_code code = COLANDER_OK;

    colander_buffer_clear(name);
    for (size_t i = 0; i < 4 && code == COLANDER_OK; i++)
        code = colander_buffer_append(name, parts[i], strlen(parts[i]), err);
    return code;
}

enum colander_code
resume_point_name(const char *file, const struct colander_load_files *elsewhere,
                  struct colander_buffer *name, struct colander_error *err)
{
    struct stat status;
    enum colander_code code;
    uint64_t size;
    char *path;

    if (elsewhere != NULL) {
        path = NULL;
        code = elsewhere->look(elsewhere->context, file, &size, &path, err);
        if (code == COLANDER_OK)
            code = set_name(name, path, "", err);
        free(path);
        return code;
    }
    path = strcmp(file, "-") == 0 ? strdup(file) : realpath(file, NULL);
    /* a pipe of /dev/fd exists, though it is in no directory */
    if (path == NULL && errno == ENOENT && stat(file, &status) == 0)
        path = strdup(file);
    if (path == NULL && errno == ENOMEM)
        return COLANDER_FAIL(err, COLANDER_NO_MEMORY, "no memory for its name");
    if (path == NULL)
        return COLANDER_FAIL(err,
                             errno == ENOENT ? COLANDER_NOT_FOUND : COLANDER_IO,
                             "cannot open: %s", strerror(errno));
    code = set_name(name, path, "", err);
    free(path);
    return code;
}

enum colander_code
resume_point_log_name(const char *file, struct colander_buffer *name,
                      struct colander_error *err)
{
    const char *slash = strrchr(file, '/');
    const size_t size = slash == NULL ? 0 : (size_t)(slash - file) + 1;
    char *given = size == 0 ? strdup(".") : strndup(file, size);
    char *folder = given == NULL ? NULL : realpath(given, NULL);
    enum colander_code code;

    if (folder != NULL)
        code = set_name(name, folder, file + size, err);
    else if (given == NULL || errno == ENOMEM)
        code = COLANDER_FAIL(err, COLANDER_NO_MEMORY, "no memory for its name");
    else
        code = COLANDER_FAIL(err,
                             errno == ENOENT ? COLANDER_NOT_FOUND : COLANDER_IO,
                             "cannot open its folder: %s", strerror(errno));
    free(folder);
    free(given);
    return code;
}

/* ------------------------------------------------------------- fields --- */

/* Members, and their names in the mark. */
static const struct field {
    const char *name;
    size_t offset;
    bool is_flag; /* else a uint64_t */
} fields[] = {
#define FIELD(name, member) name, offsetof(struct resume_point, member)
    {FIELD("offset", offset), false},
    {FIELD("line", line), false},
    {FIELD("line_offset", line_offset), false},
    {FIELD("rows", row_count), false},
    {FIELD("rejects", reject_count), false},
    {FIELD("rejects_size", rejects_size), false},
    {FIELD("tail_hash", tail_hash), false},
    {FIELD("tail_size", tail_size), false},
    {FIELD("head_hash", head_hash), false},
    {FIELD("head_size", head_size), false},
    {FIELD("format", format), false},
    {FIELD("state", state), false},
    {FIELD("sample", sample_size), false},
    {FIELD("inode", inode), false},
    {FIELD("id", id), false},
    {FIELD("spread", spread), false},
    {FIELD("record_size", record_size), false},
    {FIELD("size", size), false},
    {FIELD("changed", changed_ns), false},
    {FIELD("is_end", is_end), true},
#undef FIELD
};

#define FIELD_COUNT (sizeof(fields) / sizeof(fields[0]))

enum colander_code
resume_point_mark(const struct resume_point *point,
                  struct colander_batch *batch, struct colander_bulk *run,
                  struct colander_family *family, struct colander_slice name,
                  struct colander_error *err)
{
    struct colander_row_builder *builder;
    struct colander_slice row = {NULL, 0};
    enum colander_code code;

    if (point == NULL)
        return colander_batch_mark(batch, family, name, row, err);
    builder = colander_row_builder_create();
    if (builder == NULL)
        return COLANDER_FAIL(err, COLANDER_NO_MEMORY, "no memory for a mark");
    for (size_t i = 0; i < FIELD_COUNT; i++) {
        const void *member = (const uint8_t *)point + fields[i].offset;

        colander_row_builder_add(
            builder, fields[i].name,
            fields[i].is_flag ? colander_boolean(*(const bool *)member)
                              : colander_unsigned(*(const uint64_t *)member));
    }
    code = colander_row_builder_finish(builder, &row, err);
    if (code == COLANDER_OK && run != NULL)
        code = colander_run_mark(run, name, row, err);
    else if (code == COLANDER_OK)
        code = colander_batch_mark(batch, family, name, row, err);
    colander_row_builder_destroy(builder);
    return code;
}

static enum colander_code
read_field(const struct field *field, struct colander_slice row,
           struct resume_point *point, struct colander_error *err)
{
    void *member = (uint8_t *)point + field->offset;
    struct colander_value value;
    enum colander_code code;
    bool found;

    code = colander_row_get(row, field->name, &value, &found, err);
    if (code != COLANDER_OK || !found)
        return code;
    if (field->is_flag && value.type == COLANDER_BOOLEAN)
        *(bool *)member = value.boolean;
    else if (!field->is_flag && (value.type == COLANDER_INTEGER ||
                                 value.type == COLANDER_UNSIGNED))
        *(uint64_t *)member = value.natural;
    else
        code = COLANDER_FAIL(err, COLANDER_CORRUPT,
                             "the resume point of an earlier load has no valid "
                             "'%s'",
                             field->name);
    return code;
}

static enum colander_code
read_bulk_key(struct resume_point *point, struct colander_slice row,
              struct colander_error *err)
{
    struct colander_value value;
    enum colander_code code;
    bool found;

    code = colander_row_get(row, "bulk_key", &value, &found, err);
    if (code != COLANDER_OK || !found || value.type != COLANDER_BINARY ||
        value.bytes.size > sizeof(point->bulk_key))
        return code;
    point->bulk_key_size = value.bytes.size;
    memcpy(point->bulk_key, value.bytes.data, value.bytes.size);
    return COLANDER_OK;
}

enum colander_code
resume_point_read(struct resume_point *point, struct colander_family *family,
                  struct colander_slice name, bool *found,
                  struct colander_error *err)
{
    struct colander_buffer mark = COLANDER_BUFFER_EMPTY;
    enum colander_code code;

    memset(point, 0, sizeof(*point));
    code = colander_family_mark(family, name, &mark, found, err);
    if (code == COLANDER_OK && *found)
        code = colander_row_check(colander_buffer_slice(&mark), err);
    for (size_t i = 0; i < FIELD_COUNT && code == COLANDER_OK && *found; i++)
        code = read_field(&fields[i], colander_buffer_slice(&mark), point, err);
    if (code == COLANDER_OK && *found)
        code = read_bulk_key(point, colander_buffer_slice(&mark), err);
    colander_buffer_release(&mark);
    if (code == COLANDER_OK && *found && !resume_point_is_sound(point))
        code = COLANDER_FAIL(err, COLANDER_CORRUPT,
                             "the resume point of an earlier load is invalid");
    return code;
}
