/* See load.h. SPDX-License-Identifier: MIT */
#include "loading/known_schemas.h"
#include "loading/load.h"
#include "loading/schema_lua.h"

#include <errno.h>
#include <stdio.h>

#define FILE_SIZE_MAX ((size_t)1 << 20)
#define NAME_SHOWN 200

/* ------------------------------------------------------------- reading --- */

/* Drops the byte order mark with which some editors begin a file. */
static struct colander_slice
without_mark(struct colander_slice text)
{
    if (text.size >= 3 && memcmp(text.data, "\xEF\xBB\xBF", 3) == 0)
        return colander_slice_of(text.data + 3, text.size - 3);
    return text;
}

/* Reads the text of a schema called `name`. */
static enum colander_code
read_text(const char *name, struct colander_slice text,
          struct colander_schema **schema, struct colander_error *err)
{
    struct colander_schema *created = schema_create();
    enum colander_code code;
    size_t line = 0;

    if (created != NULL)
        created->name = strdup(name);
    if (created == NULL || created->name == NULL)
        code = COLANDER_FAIL(err, COLANDER_NO_MEMORY, "no memory for a schema");
    else if (text.size > 0 && text.data[0] == 0x1b)
        code = COLANDER_FAIL(err, COLANDER_INVALID,
                             "is compiled Lua, a schema is text");
    else
        code = schema_lua_read(without_mark(text), created, &line, err);
    if (code == COLANDER_OK)
        code =
            colander_buffer_append(&created->text, text.data, text.size, err);
    if (code == COLANDER_OK) {
        *schema = created;
        return COLANDER_OK;
    }
    colander_schema_close(created);
    if (line == 0)
        colander_error_context(err, "%.*s", NAME_SHOWN, name);
    else
        colander_error_context(err, "%.*s:%zu", NAME_SHOWN, name, line);
    return code;
}

/* --------------------------------------------------------------- files --- */

static enum colander_code
fail_errno(const char *path, struct colander_error *err)
{
    const int error = errno;

    return COLANDER_FAIL(
        err, error == ENOENT ? COLANDER_NOT_FOUND : COLANDER_IO,
        "cannot read schema '%.*s': %s", NAME_SHOWN, path, strerror(error));
}

static enum colander_code
fail_too_large(const char *path, struct colander_error *err)
{
    return COLANDER_FAIL(err, COLANDER_INVALID,
                         "schema '%.*s' is larger than %zu MiB", NAME_SHOWN,
                         path, FILE_SIZE_MAX >> 20);
}

/* Says what of a schema could not be opened. */
static enum colander_code
fail_elsewhere(const char *path, struct colander_error *err)
{
    const struct colander_error failure = *err;
    const char *reason = failure.message;

    if (strncmp(reason, "cannot open: ", 13) == 0 ||
        strncmp(reason, "cannot read: ", 13) == 0)
        reason += 13;
    return COLANDER_FAIL(err, failure.code, "cannot read schema '%.*s': %s",
                         NAME_SHOWN, path, reason);
}

static enum colander_code
read_elsewhere(const char *path, const struct colander_load_files *files,
               struct colander_schema **schema, struct colander_error *err)
{
    struct colander_buffer bytes = COLANDER_BUFFER_EMPTY;
    enum colander_code code =
        colander_buffer_reserve(&bytes, FILE_SIZE_MAX + 1, err);
    bool is_end = false;

    while (code == COLANDER_OK && !is_end && bytes.size <= FILE_SIZE_MAX) {
        size_t got = 0;

        code = files->read(files->context, path, bytes.size,
                           bytes.data + bytes.size,
                           FILE_SIZE_MAX + 1 - bytes.size, &got, &is_end, err);
        bytes.size += got;
    }
    if (code != COLANDER_OK)
        code = fail_elsewhere(path, err);
    else if (bytes.size > FILE_SIZE_MAX)
        code = fail_too_large(path, err);
    else
        code = read_text(path, colander_buffer_slice(&bytes), schema, err);
    colander_buffer_release(&bytes);
    return code;
}

static enum colander_code
read_file(const char *path, struct colander_schema **schema,
          struct colander_error *err)
{
    struct colander_buffer bytes = COLANDER_BUFFER_EMPTY;
    enum colander_code code =
        colander_buffer_reserve(&bytes, FILE_SIZE_MAX + 1, err);
    FILE *file = fopen(path, "re");

    if (code == COLANDER_OK && file != NULL)
        bytes.size = fread(bytes.data, 1, FILE_SIZE_MAX + 1, file);
    if (file == NULL || ferror(file))
        code = fail_errno(path, err);
    else if (bytes.size > FILE_SIZE_MAX)
        code = fail_too_large(path, err);
    else if (code == COLANDER_OK)
        code = read_text(path, colander_buffer_slice(&bytes), schema, err);
    if (file != NULL)
        (void)fclose(file);
    colander_buffer_release(&bytes);
    return code;
}

/* --------------------------------------------------------------- names --- */

const char *
colander_schema_known(size_t index)
{
    for (size_t i = 0; known_schemas[i].name != NULL; i++) {
        if (i == index)
            return known_schemas[i].name;
    }
    return NULL;
}

static enum colander_code
fail_unknown(const char *name, struct colander_error *err)
{
    char known[300] = "";
    size_t size = 0;

    for (size_t i = 0; known_schemas[i].name != NULL && size < sizeof(known);
         i++)
        size += (size_t)snprintf(known + size, sizeof(known) - size, "%s%s",
                                 i == 0 ? "" : ", ", known_schemas[i].name);
    return COLANDER_FAIL(err, COLANDER_INVALID,
                         "no schema is called '%.*s': there are %s (the name "
                         "of a file has a slash in it, or ends with .lua)",
                         NAME_SHOWN, name, known);
}

static bool
is_file(const char *name)
{
    const char suffix[] = ".lua";
    size_t size = strlen(name);

    return strchr(name, '/') != NULL ||
           (size >= strlen(suffix) &&
            strcmp(name + size - strlen(suffix), suffix) == 0);
}

enum colander_code
colander_schema_open(const char *name_or_file, struct colander_schema **schema,
                     struct colander_error *err)
{
    return colander_schema_open_elsewhere(name_or_file, NULL, schema, err);
}

enum colander_code
colander_schema_open_elsewhere(const char *name_or_file,
                               const struct colander_load_files *elsewhere,
                               struct colander_schema **schema,
                               struct colander_error *err)
{
    struct colander_error own;

    *schema = NULL;
    if (err == NULL)
        err = &own;
    if (is_file(name_or_file))
        return elsewhere != NULL
                   ? read_elsewhere(name_or_file, elsewhere, schema, err)
                   : read_file(name_or_file, schema, err);
    for (const struct known_schema *known = known_schemas; known->name != NULL;
         known++) {
        if (strcmp(known->name, name_or_file) == 0)
            return read_text(known->name,
                             colander_slice_of(known->text, known->size),
                             schema, err);
    }
    return fail_unknown(name_or_file, err);
}

enum colander_code
colander_schema_open_text(const char *name, struct colander_slice text,
                          struct colander_schema **schema,
                          struct colander_error *err)
{
    struct colander_error own;

    *schema = NULL;
    return read_text(name, text, schema, err == NULL ? &own : err);
}

struct colander_slice
colander_schema_text(const struct colander_schema *schema)
{
    return colander_buffer_slice(&schema->text);
}

const char *
colander_schema_key(const struct colander_schema *schema, size_t index)
{
    return index < schema->key.count ? schema->key.texts[index] : NULL;
}

const char *
colander_schema_time(const struct colander_schema *schema)
{
    return schema->time;
}
