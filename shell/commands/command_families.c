/*
 * The command families: lists the families of a store.
 *
 * SPDX-License-Identifier: MIT
 */
#include "shell/command.h"
#include "shell/output.h"
#include "shell/report.h"

/* Prints the family as a row whose key is its name. */
static enum colander_code
print_family(const struct session *session, const char *name,
             struct colander_row_builder *builder, struct output *output,
             struct colander_error *err)
{
    struct colander_buffer key = COLANDER_BUFFER_EMPTY;
    struct colander_family_sizes sizes;
    struct colander_family *family = NULL;
    struct colander_result result = {.row = {NULL, 0}};
    enum colander_code code;

    code = colander_family_open(session->store, name, &family, err);
    if (code == COLANDER_OK)
        code = colander_family_sizes(family, &sizes, err);
    if (code == COLANDER_OK)
        code = colander_key_text(name, &key, err);
    if (code == COLANDER_OK) {
        fields_add_columns(family_size_fields, &sizes, builder);
        code = colander_row_builder_finish(builder, &result.row, err);
    }
    result.key = colander_buffer_slice(&key);
    if (code == COLANDER_OK)
        code = output_row(output, &result, err);
    colander_buffer_release(&key);
    colander_family_close(family);
    return code;
}

static enum session_exit
run_families(struct session *session, const struct arguments *arguments)
{
    struct output_options options = {.format = OUTPUT_JSONL};
    struct colander_row_builder *builder = colander_row_builder_create();
    struct colander_names names = {NULL, 0};
    struct output *output = NULL;
    struct colander_error err;
    enum colander_code code = COLANDER_OK;

    if (builder == NULL)
        code = COLANDER_FAIL(&err, COLANDER_NO_MEMORY, "no memory for a row");
    if (code == COLANDER_OK)
        code = session_format(session, arguments_value(arguments, "format"),
                              OUTPUT_TABLE, &options.format, &err);
    if (code == COLANDER_OK)
        code = colander_store_families(session->store, &names, &err);
    if (code == COLANDER_OK)
        code = output_create(stdout, &options, &output, &err);
    for (size_t i = 0; i < names.count && code == COLANDER_OK; i++)
        code = print_family(session, names.names[i], builder, output, &err);
    if (code == COLANDER_OK)
        code = output_finish(output, &err);
    output_destroy(output);
    colander_names_release(&names);
    colander_row_builder_destroy(builder);
    return code == COLANDER_OK ? SESSION_FINE : session_misused(session, &err);
}

static const struct argument_option options[] = {
    OPTION_FORMAT("table"),
    OPTIONS_END,
};

const struct command command_families = {
    .name = "families",
    .words = "[OPTION...]",
    .summary = "list the families of a store, with their sizes",
    .help =
        "Lists the families of a store: the approximate number of rows (a\n"
        "row that was overwritten may count twice), the number and the\n"
        "bytes of SST files, and the bytes of rows that are in no SST file\n"
        "yet.\n",
    .examples = "  colander families demo\n"
                "  colander families demo --format csv\n",
    .options = options,
    .store = COMMAND_READS,
    .is_paged = true,
    .run = run_families,
};
