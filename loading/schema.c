/* SPDX-License-Identifier: MIT */
#include "loading/schema.h"
#include "core/array.h"

#include <stdlib.h>

#include "loading/times.h"

void
schema_init(struct colander_schema *schema)
{
    memset(schema, 0, sizeof(*schema));
    schema->guesses = true;
    schema->time_unit = 1;
    schema->rows_per_segment = UINT32_MAX;
}

struct colander_schema *
schema_create(void)
{
    struct colander_schema *schema = malloc(sizeof(*schema));

    if (schema != NULL)
        schema_init(schema);
    return schema;
}

static void
texts_release(struct schema_texts *texts)
{
    for (size_t i = 0; i < texts->count; i++)
        free(texts->texts[i]);
    free(texts->texts);
}

void
colander_schema_close(struct colander_schema *schema)
{
    if (schema == NULL)
        return;
    column_tree_destroy(schema->columns);
    texts_release(&schema->key);
    texts_release(&schema->nulls);
    texts_release(&schema->unfiltered);
    colander_buffer_release(&schema->text);
    free(schema->name);
    free(schema->record);
    free(schema->time);
    free(schema);
}

enum colander_code
schema_texts_add(struct schema_texts *texts, const char *text,
                 struct colander_error *err)
{
    enum colander_code code =
        array_reserve(&texts->texts, texts->count, &texts->capacity, 1, err);

    if (code != COLANDER_OK)
        return code;
    texts->texts[texts->count] = strdup(text);
    if (texts->texts[texts->count] == NULL)
        return COLANDER_FAIL(err, COLANDER_NO_MEMORY, "cannot keep a schema");
    texts->count++;
    return COLANDER_OK;
}

enum colander_code
schema_add_column(struct colander_schema *schema, const char *path,
                  const struct value_reading *reading, bool replaces,
                  struct colander_error *err)
{
    enum colander_code code = COLANDER_OK;

    if (reading->type == VALUE_TIME && reading->time_format != NULL)
        code = times_check_format(reading->time_format, err);
    if (code == COLANDER_OK)
        code = column_tree_add(&schema->columns, path, reading, replaces, err);
    return code;
}

enum colander_code
colander_schema_create(struct colander_schema **schema,
                       struct colander_error *err)
{
    *schema = schema_create();
    return *schema == NULL ? COLANDER_FAIL(err, COLANDER_NO_MEMORY,
                                           "no memory for a schema")
                           : COLANDER_OK;
}

enum colander_code
colander_schema_set_type(struct colander_schema *schema, const char *path,
                         const char *type, struct colander_error *err)
{
    const size_t size = strcspn(type, ":");
    struct value_reading reading = {.type = VALUE_GUESSED};

    if (type[size] == ':')
        reading.time_format = type + size + 1;
    if (!value_type_parse(colander_slice_of(type, size), &reading.type) ||
        (reading.time_format != NULL && reading.type != VALUE_TIME))
        return COLANDER_FAIL(err, COLANDER_INVALID,
                             "unknown type '%.200s': use string, integer, "
                             "number, boolean, time, time:FORMAT or guess",
                             type);
    return schema_add_column(schema, path, &reading, true, err);
}

const struct value_reading *
schema_csv_column(const struct colander_schema *schema,
                  struct colander_slice name)
{
    const struct column_node *node = NULL;

    if (schema->columns != NULL)
        node = column_node_child(schema->columns, name);
    return node == NULL ? NULL : node->reading;
}
