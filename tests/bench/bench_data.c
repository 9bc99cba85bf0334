/*
 * Real rows from files, one by one.
 *
 * SPDX-License-Identifier: MIT
 */
#include "bench_data.h"

#include "loading/numeral.h"

#include <errno.h>
#include <stdlib.h>

#define CSV_COLUMNS_MAX 1000

struct file {
    const char *path;
    FILE *stream;
    bool is_compressed; /* the stream is a pipe */
    char *line;         /* without its end; getline's */
    size_t capacity;
    size_t size;
    unsigned long number;                 /* of the line */
    struct colander_row_builder *builder; /* of rows of CSV */
    struct colander_json_reader *json;
    struct colander_buffer text; /* of a field */
    bench_take_row *take;
    void *context;
};

static bool
ends_with(const char *text, const char *end)
{
    size_t size = strlen(text);

    return size >= strlen(end) && strcmp(text + size - strlen(end), end) == 0;
}

static void
open_file(struct file *file)
{
    char command[5000];

    file->is_compressed = ends_with(file->path, ".gz");
    if (!file->is_compressed) {
        file->stream = fopen(file->path, "re");
    } else {
        if (strchr(file->path, '\'') != NULL || strlen(file->path) > 4096)
            bench_fail("cannot read a file of such a name", file->path);
        (void)snprintf(command, sizeof(command), "gzip -dc -- '%s'",
                       file->path);
        file->stream = popen(command, "re");
    }
    if (file->stream == NULL)
        bench_fail(file->path, strerror(errno));
}

static void
close_file(struct file *file)
{
    if (ferror(file->stream) != 0)
        bench_fail(file->path, "cannot read it");
    if (!file->is_compressed)
        (void)fclose(file->stream);
    else if (pclose(file->stream) != 0)
        bench_fail(file->path, "gzip cannot read it");
    free(file->line);
    colander_buffer_release(&file->text);
    colander_row_builder_destroy(file->builder);
    colander_json_reader_destroy(file->json);
}

static _Noreturn void
fail_line(const struct file *file, const char *message)
{
    char where[4200];

    (void)snprintf(where, sizeof(where), "%s:%lu", file->path, file->number);
    bench_fail(where, message);
}

/* False at the end. */
static bool
read_line(struct file *file)
{
    ssize_t size = getline(&file->line, &file->capacity, file->stream);

    if (size < 0)
        return false;
    file->number++;
    while (size > 0 &&
           (file->line[size - 1] == '\n' || file->line[size - 1] == '\r'))
        file->line[--size] = '\0';
    file->size = (size_t)size;
    return true;
}

static void
read_json(struct file *file)
{
    while (read_line(file)) {
        const struct colander_slice line =
            colander_slice_of(file->line, file->size);
        struct colander_slice key;
        struct colander_slice row;
        struct colander_error err;
        bool has_key;

        if (file->size == 0)
            continue;
        if (colander_json_reader_row(file->json, line, &key, &has_key, &row,
                                     &err) != COLANDER_OK)
            fail_line(file, err.message);
        file->take(file->context, row);
    }
}

/* ----------------------------------------------------------------- CSV --- */

static void
append(struct colander_buffer *buffer, const char *data, size_t size)
{
    struct colander_error err;

    bench_check(colander_buffer_append(buffer, data, size, &err), &err);
}

/* Reads a field that ends before a comma or the end of the line into the text,
 * with a zero byte behind it; gives what is behind the field. */
static const char *
read_field(struct file *file, const char *at, bool *is_quoted)
{
    size_t size = strcspn(at, ",");

    colander_buffer_clear(&file->text);
    *is_quoted = *at == '"';
    if (!*is_quoted) {
        append(&file->text, at, size);
        at += size;
    }
    for (bool is_first = true; *at == '"'; is_first = false) {
        if (!is_first) /* two at once stand for one */
            append(&file->text, "\"", 1);
        size = strcspn(++at, "\"");
        append(&file->text, at, size);
        at += size;
        if (*at++ == '\0')
            fail_line(file, "a quote is not closed on its line");
    }
    append(&file->text, "", 1);
    file->text.size--;
    if (*at != ',' && *at != '\0')
        fail_line(file, "something is behind a quoted field");
    return at;
}

static size_t
read_header(struct file *file, char **names)
{
    const char *at = file->line;
    size_t count = 0;

    for (;; at++) {
        bool is_quoted;

        at = read_field(file, at, &is_quoted);
        if (count == CSV_COLUMNS_MAX)
            fail_line(file, "too many columns");
        names[count] = strdup((const char *)file->text.data);
        if (names[count++] == NULL)
            bench_fail(file->path, "no memory");
        if (*at == '\0')
            return count;
    }
}

static bool
read_number(struct colander_slice text, struct colander_value *value)
{
    struct numeral numeral;

    if (!numeral_scan(text, NUMERAL_JSON, &numeral))
        return false;
    return numeral_integer(&numeral, value) || numeral_double(&numeral, value);
}

static struct colander_value
field_value(const struct file *file, bool is_quoted)
{
    const char *text = (const char *)file->text.data;
    struct colander_value value;

    if (is_quoted)
        return colander_string(colander_buffer_slice(&file->text));
    if (text[0] == '\0' || strcmp(text, "NA") == 0)
        return colander_null();
    if (read_number(colander_buffer_slice(&file->text), &value))
        return value;
    return colander_string(colander_buffer_slice(&file->text));
}

static void
give_row(struct file *file)
{
    struct colander_slice row;
    struct colander_error err;

    if (colander_row_builder_finish(file->builder, &row, &err) != COLANDER_OK)
        fail_line(file, err.message);
    file->take(file->context, row);
}

static void
read_csv(struct file *file)
{
    char **names = bench_allocate(CSV_COLUMNS_MAX, sizeof(*names));
    size_t count = read_line(file) ? read_header(file, names) : 0;

    while (read_line(file)) {
        const char *at = file->line;

        if (file->size == 0)
            continue;
        for (size_t i = 0; i < count; i++) {
            bool is_quoted;

            at = read_field(file, at, &is_quoted);
            colander_row_builder_add(file->builder, names[i],
                                     field_value(file, is_quoted));
            if ((*at == '\0') != (i == count - 1))
                fail_line(file, "it has not as many fields as the header");
            at++;
        }
        give_row(file);
    }
    for (size_t i = 0; i < count; i++)
        free(names[i]);
    free(names);
}

void
bench_data_read(const char *path, bench_take_row *take, void *context)
{
    struct file file = {
        .path = path,
        .builder = colander_row_builder_create(),
        .json = colander_json_reader_create(),
        .take = take,
        .context = context,
    };

    if (file.builder == NULL || file.json == NULL)
        bench_fail(path, "no memory");
    open_file(&file);
    if (ends_with(path, ".jsonl") || ends_with(path, ".jsonl.gz"))
        read_json(&file);
    else if (ends_with(path, ".csv") || ends_with(path, ".csv.gz"))
        read_csv(&file);
    else
        bench_fail(path, "its name does not end in .jsonl, .csv or .gz");
    close_file(&file);
}
