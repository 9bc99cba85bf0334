/*
 * Schema: see schema.h.
 *
 * SPDX-License-Identifier: MIT
 */
#include "loading/schema.h"

#include <stdlib.h>

#include "loading/column_path.h"
#include "loading/times.h"

struct schema *
schema_create(void)
{
    struct schema *schema = calloc(1, sizeof(*schema));

    if (schema == NULL)
        return NULL;
    schema->guesses = true;
    schema->rows_per_segment = UINT32_MAX;
    return schema;
}

void
schema_texts_release(struct schema_texts *texts)
{
    for (size_t i = 0; i < texts->count; i++)
        free(texts->texts[i]);
    free(texts->texts);
    memset(texts, 0, sizeof(*texts));
}

static void
column_release(struct schema_column *column)
{
    free(column->path);
    free((char *)column->reading.time_format);
}

void
schema_destroy(struct schema *schema)
{
    if (schema == NULL)
        return;
    for (size_t i = 0; i < schema->column_count; i++)
        column_release(&schema->columns[i]);
    free(schema->columns);
    schema_texts_release(&schema->key);
    schema_texts_release(&schema->nulls);
    schema_texts_release(&schema->left_out);
    free(schema->name);
    free(schema->record);
    free(schema);
}

static enum colander_code
no_memory(struct colander_error *err)
{
    return COLANDER_FAIL(err, COLANDER_NO_MEMORY, "cannot keep a schema");
}

enum colander_code
schema_texts_add(struct schema_texts *texts, const char *text,
                 struct colander_error *err)
{
    char **grown =
        realloc(texts->texts, (texts->count + 1) * sizeof(*texts->texts));

    if (grown == NULL)
        return no_memory(err);
    texts->texts = grown;
    grown[texts->count] = strdup(text);
    if (grown[texts->count] == NULL)
        return no_memory(err);
    texts->count++;
    return COLANDER_OK;
}

/* Gives the path as a C string in the one way of writing it, owned. */
static enum colander_code
normalize_path(const char *text, char **normal, struct colander_error *err)
{
    struct colander_buffer buffer = COLANDER_BUFFER_EMPTY;
    struct column_path path = COLUMN_PATH_EMPTY;
    enum colander_code code = column_path_parse(text, &path, err);

    *normal = NULL;
    if (code == COLANDER_OK)
        code = column_path_text(&path, &buffer, err);
    column_path_release(&path);
    if (code != COLANDER_OK) {
        colander_buffer_release(&buffer);
        return code;
    }
    *normal = (char *)buffer.data;
    return COLANDER_OK;
}

enum colander_code
schema_check_path(const char *path, struct colander_error *err)
{
    struct column_path parsed;
    enum colander_code code = column_path_parse(path, &parsed, err);

    column_path_release(&parsed);
    return code;
}

/* Fills what a column owns; `column` is empty. */
static enum colander_code
fill_column(struct schema_column *column, const char *path,
            const struct value_reading *reading, struct colander_error *err)
{
    const char *format = reading->time_format;
    enum colander_code code = normalize_path(path, &column->path, err);

    if (code == COLANDER_OK && reading->type == VALUE_TIME && format != NULL)
        code = times_check_format(format, err);
    if (code != COLANDER_OK)
        return code;
    column->reading.type = reading->type;
    if (reading->type != VALUE_TIME || format == NULL)
        return COLANDER_OK;
    column->reading.time_format = strdup(format);
    return column->reading.time_format == NULL ? no_memory(err) : COLANDER_OK;
}

static bool
has_column(const struct schema *schema, const char *path)
{
    for (size_t i = 0; i < schema->column_count; i++) {
        if (strcmp(schema->columns[i].path, path) == 0)
            return true;
    }
    return false;
}

static enum colander_code
append_column(struct schema *schema, const struct schema_column *column,
              struct colander_error *err)
{
    struct schema_column *grown;

    if (has_column(schema, column->path))
        return COLANDER_FAIL(err, COLANDER_INVALID,
                             "column '%.200s' is there already", column->path);
    grown = realloc(schema->columns,
                    (schema->column_count + 1) * sizeof(*schema->columns));
    if (grown == NULL)
        return no_memory(err);
    schema->columns = grown;
    grown[schema->column_count++] = *column;
    return COLANDER_OK;
}

enum colander_code
schema_add_column(struct schema *schema, const char *path,
                  const struct value_reading *reading,
                  struct colander_error *err)
{
    struct schema_column column = {NULL, {VALUE_GUESSED, NULL}};
    enum colander_code code = fill_column(&column, path, reading, err);

    if (code == COLANDER_OK)
        code = append_column(schema, &column, err);
    if (code != COLANDER_OK)
        column_release(&column);
    return code;
}

const struct value_reading *
schema_csv_column(const struct schema *schema, struct colander_slice name)
{
    for (size_t i = 0; i < schema->column_count; i++) {
        if (column_path_is_name(schema->columns[i].path, name))
            return &schema->columns[i].reading;
    }
    return NULL;
}
