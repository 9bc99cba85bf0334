/*
 * The command families: lists the families of a store.
 *
 * SPDX-License-Identifier: MIT
 */
#include "shell/commands.h"
#include "shell/output.h"

/* Makes the row that tells of one family. */
static enum colander_code
describe(const struct session *session, const char *name,
         struct colander_row_builder *builder, struct colander_slice *row,
         struct colander_error *err)
{
    struct colander_family_sizes sizes;
    struct colander_family *family = NULL;
    enum colander_code code;

    code = colander_family_open(session->store, name, &family, err);
    if (code == COLANDER_OK)
        code = colander_family_sizes(family, &sizes, err);
    colander_family_close(family);
    if (code != COLANDER_OK)
        return code;
    colander_row_builder_add(builder, "rows",
                             colander_unsigned(sizes.key_count));
    colander_row_builder_add(builder, "sst_files",
                             colander_unsigned(sizes.sst_count));
    colander_row_builder_add(builder, "sst_bytes",
                             colander_unsigned(sizes.sst_size));
    colander_row_builder_add(builder, "unflushed_bytes",
                             colander_unsigned(sizes.unflushed_size));
    return colander_row_builder_finish(builder, row, err);
}

/* Shows each family as a row whose key is its name. */
static enum colander_code
show(const struct session *session, const struct colander_names *names,
     struct output *output, struct colander_error *err)
{
    struct colander_row_builder *builder = colander_row_builder_create();
    struct colander_buffer key = COLANDER_BUFFER_EMPTY;
    enum colander_code code = COLANDER_OK;

    if (builder == NULL)
        return COLANDER_FAIL(err, COLANDER_NO_MEMORY, "no memory for a row");
    for (size_t i = 0; i < names->count && code == COLANDER_OK; i++) {
        struct colander_result result;

        memset(&result, 0, sizeof(result));
        code = colander_key_text(names->names[i], &key, err);
        if (code == COLANDER_OK)
            code =
                describe(session, names->names[i], builder, &result.row, err);
        result.key = colander_buffer_slice(&key);
        if (code == COLANDER_OK)
            code = output_row(output, &result, err);
    }
    if (code == COLANDER_OK)
        code = output_finish(output, err);
    colander_buffer_release(&key);
    colander_row_builder_destroy(builder);
    return code;
}

static enum session_exit
run_families(struct session *session, const struct arguments *arguments)
{
    struct output_options options = {.format = OUTPUT_JSONL};
    struct colander_names names = {NULL, 0};
    struct output *output = NULL;
    struct colander_error err;
    enum colander_code code;

    code = session_format(session, arguments_value(arguments, "format"),
                          OUTPUT_TABLE, &options.format, &err);
    if (code == COLANDER_OK)
        code = colander_store_families(session->store, &names, &err);
    if (code == COLANDER_OK)
        code = output_create(stdout, &options, &output, &err);
    if (code == COLANDER_OK)
        code = show(session, &names, output, &err);
    output_destroy(output);
    colander_names_release(&names);
    return code == COLANDER_OK ? SESSION_FINE : session_misused(session, &err);
}

static const struct argument_option options[] = {
    {"format", true, false},
    {NULL, false, false},
};

static const char help[] =
    "Lists the families of a store: about how many rows each has (one that\n"
    "was overwritten may count twice), its SST files and their bytes, and the\n"
    "bytes of rows that are in no SST file yet.\n"
    "\n"
    "options:\n"
    "  --format FORMAT         jsonl, json, csv, msgpack, table or line (on a\n"
    "                          terminal: table, else: jsonl)\n";

const struct command command_families = {
    "families",
    "[OPTION...]",
    "the families of a store, and their sizes",
    help,
    COMMAND_READS,
    options,
    0,
    0,
    SIZE_MAX,
    run_families,
};
