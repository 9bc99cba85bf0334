/* SPDX-License-Identifier: MIT */
#include "loading/load_options.h"
#include "core/sized.h"
#include "loading/added_columns.h"
#include "loading/influx_rows.h"

#include <stdlib.h>

#define RECORD_SIZE_MIN 1024

static enum colander_code
check_key(const char *const *key, size_t count, size_t index,
          struct colander_error *err)
{
    const char *path = key[index];

    if (strcmp(path, COLANDER_LOAD_HASH) == 0)
        return count == 1 ? COLANDER_OK
                          : COLANDER_FAIL(err, COLANDER_INVALID,
                                          "the key %s is not a part of another",
                                          COLANDER_LOAD_HASH);
    for (size_t i = 0; i < index; i++) {
        if (strcmp(key[i], path) == 0)
            return COLANDER_FAIL(err, COLANDER_INVALID,
                                 "key column '%s' is listed twice", path);
    }
    if (strcmp(path, COLANDER_KEY_COLUMN) == 0)
        return COLANDER_FAIL(err, COLANDER_INVALID,
                             "key column '%s': a record that has it needs no "
                             "key columns",
                             path);
    if (strstr(path, "[]") != NULL)
        return COLANDER_FAIL(err, COLANDER_INVALID,
                             "key column '%s' may be many values, a key has "
                             "one",
                             path);
    return column_path_check(path, err);
}

static enum colander_code
check(const struct colander_load_options *options, struct colander_error *err)
{
    const uint8_t delimiter = (uint8_t)options->delimiter;
    enum colander_code code = COLANDER_OK;

    if (options->record_size < RECORD_SIZE_MIN ||
        options->record_size > COLANDER_JSON_SIZE_MAX)
        return COLANDER_FAIL(err, COLANDER_INVALID,
                             "the record size must be %d to %u bytes, not %zu",
                             RECORD_SIZE_MIN, COLANDER_JSON_SIZE_MAX,
                             options->record_size);
    if (delimiter >= 0x80 ||
        (delimiter != 0 && strchr("\"\r\n", delimiter) != NULL))
        return COLANDER_FAIL(err, COLANDER_INVALID,
                             "the delimiter must be an ASCII character, "
                             "neither a quote nor a line end");
    if (options->key_count > COLANDER_KEY_PARTS_MAX)
        return COLANDER_FAIL(err, COLANDER_INVALID,
                             "a key has at most %d columns, not %zu",
                             COLANDER_KEY_PARTS_MAX, options->key_count);
    if (options->elsewhere != NULL && options->follows)
        return COLANDER_FAIL(err, COLANDER_INVALID,
                             "only a file of this machine can be followed, by "
                             "the process that has the store open");
    if (options->is_bulk &&
        (options->resumes || options->duplicates != COLANDER_LOAD_REPLACE))
        return COLANDER_FAIL(err, COLANDER_INVALID,
                             "a bulk load cannot be resumed, and always "
                             "replaces rows with the same key");
    if (options->stream != NULL &&
        (options->is_bulk || options->resumes || options->follows ||
         options->rejects != NULL))
        return COLANDER_FAIL(err, COLANDER_INVALID,
                             "a stream is neither a bulk load nor a file that "
                             "is followed, knows itself where it continues, "
                             "and has a family of rejects");
    if (options->sink != NULL &&
        (options->is_bulk || options->follows || options->stream != NULL ||
         options->partition != NULL ||
         options->duplicates != COLANDER_LOAD_REPLACE))
        return COLANDER_FAIL(err, COLANDER_INVALID,
                             "records that go elsewhere are those of files "
                             "that end, and replace no rows");
    if (options->is_bulk && options->follows)
        return COLANDER_FAIL(err, COLANDER_INVALID,
                             "a bulk load cannot follow a file: its rows "
                             "appear at its end");
    if (options->is_bulk && options->partition != NULL)
        return COLANDER_FAIL(err, COLANDER_INVALID,
                             "a bulk load fills one family");
    if (options->partition != NULL && strstr(options->partition, "[]") != NULL)
        return COLANDER_FAIL(err, COLANDER_INVALID,
                             "column '%s' may be many times, a row has one",
                             options->partition);
    if (options->partition != NULL)
        code = column_path_check(options->partition, err);
    for (size_t i = 0; i < options->key_count && code == COLANDER_OK; i++)
        code = check_key(options->key, options->key_count, i, err);
    return code == COLANDER_OK ? added_columns_check(options, err) : code;
}

static bool
is_format(const struct colander_load_options *options, const char *format)
{
    return options->format != NULL && strcmp(options->format, format) == 0;
}

/* Checks what only some formats have. */
static enum colander_code
check_format(const struct colander_load_options *options,
             struct colander_schema *schema, struct colander_error *err)
{
    if (options->precision != NULL &&
        !influx_unit_read(options->precision, &schema->time_unit))
        return COLANDER_FAIL(err, COLANDER_INVALID,
                             "the precision must be ns, us, ms, s, m or h, not "
                             "'%s'",
                             options->precision);
    if (options->precision != NULL && options->format != NULL &&
        !is_format(options, "influx"))
        return COLANDER_FAIL(err, COLANDER_INVALID,
                             "only times of the format influx have a "
                             "precision");
    if (options->stream != NULL && options->format != NULL &&
        !is_format(options, "json") && !is_format(options, "jsonl") &&
        !is_format(options, "msgpack"))
        return COLANDER_FAIL(err, COLANDER_INVALID,
                             "the format of records that come one by one is "
                             "json or msgpack, not '%s'",
                             options->format);
    if (is_format(options, "elasticsearch") && options->sink != NULL)
        return COLANDER_FAIL(err, COLANDER_INVALID,
                             "items of the format elasticsearch are not "
                             "records that can go elsewhere");
    if (is_format(options, "elasticsearch") && options->partition != NULL)
        return COLANDER_FAIL(err, COLANDER_INVALID,
                             "items of the format elasticsearch are not put "
                             "into families by time");
    if (is_format(options, "elasticsearch") &&
        (options->is_bulk || options->resumes ||
         options->duplicates != COLANDER_LOAD_REPLACE))
        return COLANDER_FAIL(err, COLANDER_INVALID,
                             "items of the format elasticsearch say themselves "
                             "what is done with a row that is there, and are "
                             "neither resumed nor a bulk load");
    return COLANDER_OK;
}

/* Appends the nulls of the options to those of the schema. */
static enum colander_code
merge_nulls(const struct colander_load_options *options,
            struct colander_schema *schema, struct colander_error *err)
{
    const struct schema_texts given = schema->nulls;
    const size_t count = given.count + options->null_count;

    schema->nulls = (struct schema_texts){NULL, 0, 0};
    if (count == 0)
        return COLANDER_OK;
    schema->nulls.texts = calloc(count, sizeof(*schema->nulls.texts));
    if (schema->nulls.texts == NULL)
        return COLANDER_FAIL(err, COLANDER_NO_MEMORY, "no memory for a schema");
    for (size_t i = 0; i < given.count; i++)
        schema->nulls.texts[i] = given.texts[i];
    for (size_t i = 0; i < options->null_count; i++)
        schema->nulls.texts[given.count + i] = (char *)options->nulls[i];
    schema->nulls.count = count;
    return COLANDER_OK;
}

enum colander_code
load_options_read(const struct colander_load_options *given,
                  struct colander_load_options *options,
                  struct colander_schema *schema, struct colander_error *err)
{
    enum colander_code code = COLANDER_OK;

    schema_init(schema);
    colander_load_options_init(options);
    if (given != NULL)
        code =
            sized_accept(options, sizeof(*options), given, "load options", err);
    if (code == COLANDER_OK)
        code = check(options, err);
    if (code != COLANDER_OK)
        return code;
    if (options->schema != NULL)
        *schema = *options->schema;
    options->resumes |= options->follows;
    schema->hashes = options->key_count > 0 &&
                     strcmp(options->key[0], COLANDER_LOAD_HASH) == 0;
    if (options->key_count > 0)
        schema->key = (struct schema_texts){
            (char **)options->key, schema->hashes ? 0 : options->key_count, 0};
    if (options->delimiter != 0)
        schema->delimiter = options->delimiter;
    schema->guesses = schema->guesses && options->guesses;
    code = check_format(options, schema, err);
    for (size_t i = 0; i < schema->key.count; i++)
        schema->key_is_added[i] =
            added_columns_have(options, schema->key.texts[i]);
    options->schema = schema;
    return code == COLANDER_OK ? merge_nulls(options, schema, err) : code;
}

void
load_options_release(struct colander_schema *schema)
{
    free(schema->nulls.texts);
}

enum colander_code
colander_load_options_check(const struct colander_load_options *options,
                            struct colander_error *err)
{
    struct colander_load_options read;
    struct colander_schema schema;
    const enum colander_code code =
        load_options_read(options, &read, &schema, err);

    load_options_release(&schema);
    return code;
}
