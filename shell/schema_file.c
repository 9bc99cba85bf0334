/*
 * Schema files: see schema_file.h.
 *
 * SPDX-License-Identifier: MIT
 */
#include "shell/schema_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "shell/known_schemas.h"
#include "shell/schema_reader.h"
#include "shell/schema_state.h"
#include "shell/text.h"

#define FILE_SIZE_MAX ((size_t)1 << 20)
#define NAME_SHOWN 200

/* ------------------------------------------------------------- reading --- */

/* Drops the mark with which some editors begin a file. */
static struct colander_slice
without_mark(struct colander_slice text)
{
    if (text.size >= 3 && memcmp(text.data, "\xEF\xBB\xBF", 3) == 0)
        return colander_slice_of(text.data + 3, text.size - 3);
    return text;
}

/* Makes a schema of the text; *line is where it is none, or 0. */
static enum colander_code
read_text(struct colander_slice text, struct schema *schema, size_t *line,
          struct colander_error *err)
{
    struct schema_reader reader = {.text = without_mark(text),
                                   .schema = schema,
                                   .joined = COLANDER_BUFFER_EMPTY};
    enum colander_code code;

    *line = 0;
    if (text.size > 0 && text.data[0] == 0x1b)
        return COLANDER_FAIL(err, COLANDER_INVALID,
                             "is compiled Lua, a schema is text");
    code = schema_state_run(reader.text, schema_read_table, &reader, line, err);
    colander_buffer_release(&reader.joined);
    if (code != COLANDER_OK || reader.code == COLANDER_OK)
        return code;
    *line = reader.line;
    if (err != NULL)
        *err = reader.err;
    return reader.code;
}

/* Puts name and line before the message, which may have any bytes in it. */
static void
tell_place(const char *name, size_t line, struct colander_error *err)
{
    struct colander_buffer shown = COLANDER_BUFFER_EMPTY;

    if (text_append_printable(&shown, colander_slice_text(err->message),
                              NULL) == COLANDER_OK)
        (void)snprintf(err->message, sizeof(err->message), "%.*s",
                       (int)shown.size, (const char *)shown.data);
    colander_buffer_release(&shown);
    if (line == 0)
        colander_error_context(err, "%.*s", NAME_SHOWN, name);
    else
        colander_error_context(err, "%.*s:%zu", NAME_SHOWN, name, line);
}

/* Makes a schema called `name`. */
static enum colander_code
make_schema(const char *name, struct colander_slice text,
            struct schema **schema, struct colander_error *err)
{
    struct schema *made = schema_create();
    enum colander_code code;
    size_t line;

    if (made != NULL)
        made->name = strdup(name);
    if (made == NULL || made->name == NULL) {
        schema_destroy(made);
        return COLANDER_FAIL(err, COLANDER_NO_MEMORY, "cannot keep a schema");
    }
    code = read_text(text, made, &line, err);
    if (code != COLANDER_OK) {
        schema_destroy(made);
        tell_place(name, line, err);
        return code;
    }
    *schema = made;
    return COLANDER_OK;
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

/* Appends what there is, up to one byte more than is allowed. */
static enum colander_code
read_bytes(int descriptor, const char *path, struct colander_buffer *bytes,
           struct colander_error *err)
{
    enum colander_code code =
        colander_buffer_reserve(bytes, FILE_SIZE_MAX + 1, err);

    while (code == COLANDER_OK && bytes->size <= FILE_SIZE_MAX) {
        ssize_t got = read(descriptor, bytes->data + bytes->size,
                           FILE_SIZE_MAX + 1 - bytes->size);

        if (got == 0)
            return COLANDER_OK;
        if (got > 0)
            bytes->size += (size_t)got;
        else if (errno != EINTR)
            return fail_errno(path, err);
    }
    if (code != COLANDER_OK)
        return code;
    return COLANDER_FAIL(err, COLANDER_INVALID,
                         "schema '%.*s' has more than %zu MiB", NAME_SHOWN,
                         path, FILE_SIZE_MAX >> 20);
}

static enum colander_code
read_file(const char *path, struct schema **schema, struct colander_error *err)
{
    struct colander_buffer bytes = COLANDER_BUFFER_EMPTY;
    int descriptor = open(path, O_RDONLY | O_CLOEXEC);
    enum colander_code code;

    if (descriptor < 0)
        return fail_errno(path, err);
    code = read_bytes(descriptor, path, &bytes, err);
    close(descriptor);
    if (code == COLANDER_OK)
        code = make_schema(path, colander_buffer_slice(&bytes), schema, err);
    colander_buffer_release(&bytes);
    return code;
}

/* --------------------------------------------------------------- names --- */

const char *
schema_file_known(size_t index)
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
                         "no schema is called '%.*s': there are %s (a file has "
                         "a slash in its name, or ends in .lua)",
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
schema_file_read(const char *name_or_file, struct schema **schema,
                 struct colander_error *err)
{
    struct colander_error own;

    *schema = NULL;
    if (err == NULL)
        err = &own;
    if (is_file(name_or_file))
        return read_file(name_or_file, schema, err);
    for (const struct known_schema *known = known_schemas; known->name != NULL;
         known++) {
        if (strcmp(known->name, name_or_file) == 0)
            return make_schema(known->name,
                               colander_slice_of(known->text, known->size),
                               schema, err);
    }
    return fail_unknown(name_or_file, err);
}
