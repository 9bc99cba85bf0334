/* See key_columns.h. SPDX-License-Identifier: MIT */
#include "loading/key_columns.h"

#include <stdlib.h>
#include <sys/stat.h>

/* The family's first key decides: integers are before strings. If there are
 * integers, a text that is one must be one, too. */
static enum colander_code
ask_family(struct colander_family *family, struct colander_schema *schema,
           struct colander_error *err)
{
    struct colander_value parts[COLANDER_KEY_PARTS_MAX];
    struct colander_buffer scratch = COLANDER_BUFFER_EMPTY;
    struct colander_cursor *cursor = NULL;
    struct colander_result result;
    struct colander_query query;
    enum colander_code code;
    size_t count = 0;
    bool is_row = false;

    colander_query_init(&query);
    query.keys_only = true;
    query.limit = 1;
    code = colander_family_find(family, &query, &cursor, err);
    if (code == COLANDER_OK)
        code = colander_cursor_next(cursor, &is_row, &result, err);
    if (code == COLANDER_OK && is_row)
        code = colander_key_decode(result.key, parts, &count, &scratch, err);
    for (size_t i = 0; i < schema->key.count && i < count; i++)
        schema->key_kinds[i] =
            colander_type_is_number(parts[i].type) ? COLUMN_WHOLE : COLUMN_TEXT;
    colander_buffer_release(&scratch);
    colander_cursor_close(cursor);
    return code;
}

/* Whether it can be read twice. */
static bool
is_regular(const char *file, const struct colander_load_files *elsewhere)
{
    struct stat status;
    uint64_t size = UINT64_MAX;
    char *path = NULL;

    if (elsewhere == NULL)
        return stat(file, &status) == 0 && S_ISREG(status.st_mode);
    if (elsewhere->look(elsewhere->context, file, &size, &path, NULL) !=
        COLANDER_OK)
        size = UINT64_MAX;
    free(path);
    return size != UINT64_MAX;
}

/* Adds what the key columns of a file are in its first records. */
static enum colander_code
see_file(const char *file, const struct colander_load_options *options,
         const atomic_bool *is_cancelled, uint8_t *seen,
         struct colander_error *err)
{
    enum colander_code code = COLANDER_OK;
    struct colander_error ignored;
    struct source source;

    if (!is_regular(file, options->elsewhere) ||
        source_open(&source, file, options, is_cancelled, NULL, &ignored) !=
            COLANDER_OK)
        return COLANDER_OK;
    if (source.header != NULL)
        code = csv_header_check_key(source.header, options->schema, err);
    if (code != COLANDER_OK)
        colander_error_context(err, "%s", file);
    for (size_t i = 0; i < options->schema->key.count && source.header != NULL;
         i++)
        seen[i] |= (uint8_t)csv_header_key_seen(source.header, i);
    source_close(&source);
    return code;
}

enum colander_code
key_columns_inspect(struct colander_family *family,
                    const struct colander_load_options *options,
                    struct colander_schema *schema,
                    const atomic_bool *is_cancelled, const char *const *files,
                    size_t count, struct colander_error *err)
{
    uint8_t seen[COLANDER_KEY_PARTS_MAX] = {0};
    enum colander_code code = COLANDER_OK;

    if (schema->key.count > 0)
        code = ask_family(family, schema, err);
    for (size_t i = 0; i < count && schema->key.count > 0 &&
                       code == COLANDER_OK && !atomic_load(is_cancelled);
         i++)
        code = see_file(files[i], options, is_cancelled, seen, err);
    for (size_t i = 0; i < schema->key.count; i++) {
        if (schema->key_kinds[i] == COLUMN_GUESSED && seen[i] != 0)
            schema->key_kinds[i] = (uint8_t)column_kind_decide(seen[i], true);
    }
    return code;
}

enum colander_code
key_columns_take(const struct source *source, struct colander_schema *schema,
                 struct colander_error *err)
{
    if (source->header == NULL)
        return COLANDER_OK;
    for (size_t i = 0; i < schema->key.count; i++) {
        const unsigned seen = csv_header_key_seen(source->header, i);

        if (schema->key_kinds[i] == COLUMN_GUESSED && seen != 0)
            schema->key_kinds[i] = (uint8_t)column_kind_decide(seen, true);
    }
    return csv_header_check_key(source->header, schema, err);
}
