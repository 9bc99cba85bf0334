/* See family_load.h. SPDX-License-Identifier: MIT */
#include "node/family_load.h"

#include <string.h>

static enum colander_code
open_schema(struct family_load *load, const struct cluster_family *family,
            struct colander_error *err)
{
    enum colander_code code =
        family->schema == NULL
            ? colander_schema_create(&load->schema, err)
            : colander_schema_open_text("schema",
                                        colander_slice_text(family->schema),
                                        &load->schema, err);

    for (size_t i = 0; i < family->types.count && code == COLANDER_OK; i++) {
        const char *pair = family->types.items[i];
        const char *equals = strchr(pair, '=');
        struct colander_buffer path = COLANDER_BUFFER_EMPTY;

        while (equals > pair && equals[-1] == '\\')
            equals = strchr(equals + 1, '=');
        code =
            colander_buffer_append(&path, pair, (size_t)(equals - pair), err);
        if (code == COLANDER_OK)
            code = colander_buffer_append(&path, "", 1, err);
        if (code == COLANDER_OK)
            code = colander_schema_set_type(
                load->schema, (const char *)path.data, equals + 1, err);
        colander_buffer_release(&path);
    }
    return code;
}

static enum colander_code
read_duplicates(struct family_load *load, const struct cluster_family *family,
                struct colander_error *err)
{
    static const char *const names[] = {"replace", "keep", "patch", "error"};

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        if (strcmp(names[i], family->on_duplicate) == 0) {
            load->options.duplicates = (enum colander_load_duplicates)i;
            return COLANDER_OK;
        }
    }
    return COLANDER_FAIL(err, COLANDER_INVALID,
                         "on_duplicate cannot be '%s': it is replace, keep, "
                         "patch or error",
                         family->on_duplicate);
}

enum colander_code
family_load_init(struct family_load *load, const struct cluster_family *family,
                 struct colander_error *err)
{
    enum colander_code code;

    load->schema = NULL;
    colander_load_options_init(&load->options);
    code = open_schema(load, family, err);
    load->options.schema = load->schema;
    load->options.key = (const char *const *)family->key.items;
    load->options.key_count = family->key.count;
    load->options.record_size =
        family->record_size > 0 ? family->record_size : CLUSTER_RECORD_SIZE;
    load->options.format =
        strcmp(family->format, "json") == 0 ? "jsonl" : family->format;
    if (code == COLANDER_OK)
        code = read_duplicates(load, family, err);
    if (code != COLANDER_OK)
        colander_error_context(err, "family '%s' of the cluster", family->name);
    return code;
}

void
family_load_release(struct family_load *load)
{
    colander_schema_close(load->schema);
    load->schema = NULL;
}
