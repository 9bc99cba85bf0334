/*
 * The command get: prints the row with a key.
 *
 * SPDX-License-Identifier: MIT
 */
#include "shell/command.h"
#include "shell/output.h"

static enum colander_code
show(FILE *file, const struct output_options *options,
     struct colander_slice key, struct colander_slice row,
     struct colander_error *err)
{
    const struct colander_result result = {.key = key, .row = row};
    struct output *output = NULL;
    enum colander_code code;

    code = output_create(file, options, &output, err);
    if (code == COLANDER_OK)
        code = output_row(output, &result, err);
    if (code == COLANDER_OK)
        code = output_finish(output, err);
    output_destroy(output);
    return code;
}

/* Fails with NOT_FOUND if there is no row. */
static enum colander_code
get(struct colander_family *family, const char *text, FILE *file,
    const struct output_options *options, struct colander_slice key,
    struct colander_error *err)
{
    struct colander_read read = {NULL, options->paths, options->path_count};
    struct colander_buffer row = COLANDER_BUFFER_EMPTY;
    enum colander_code code;
    bool found = false;

    code = colander_family_get(family, key, &read, &row, &found, err);
    if (code == COLANDER_OK && found)
        code = show(file, options, key, colander_buffer_slice(&row), err);
    else if (code == COLANDER_OK)
        code =
            COLANDER_FAIL(err, COLANDER_NOT_FOUND, "no row '%s' in family '%s'",
                          text, colander_family_name(family));
    colander_buffer_release(&row);
    return code;
}

static enum session_exit
run_get(struct session *session, const struct arguments *arguments)
{
    struct output_options options = {.format = OUTPUT_JSONL};
    struct argument_list selection = {NULL, NULL, 0};
    struct colander_buffer key = COLANDER_BUFFER_EMPTY;
    const char *text = arguments->words[1];
    struct colander_family *family = NULL;
    enum session_exit status = SESSION_FINE;
    struct colander_error err;
    enum colander_code code;
    size_t offset = 0;

    if (session_family(session, arguments->words[0], &family, &err) !=
        COLANDER_OK)
        return session_misused(session, &err);
    code = colander_family_read_key(family, text, COLANDER_KEY_EXACT, &key,
                                    &offset, &err);
    if (code != COLANDER_OK) {
        status = session_misread(session, text, offset, &err);
        goto done;
    }
    code = arguments_list(arguments, "select", &selection, &err);
    options.paths = selection.paths;
    options.path_count = selection.count;
    if (code == COLANDER_OK)
        code = session_format(session, arguments_value(arguments, "format"),
                              OUTPUT_LINE, &options, &err);
    if (code == COLANDER_OK)
        code = get(family, text, session_out(session), &options,
                   colander_buffer_slice(&key), &err);
    if (code != COLANDER_OK)
        status = session_misused(session, &err);
done:
    argument_list_release(&selection);
    colander_buffer_release(&key);
    colander_family_close(family);
    return status;
}

static const struct argument_option options[] = {
    OPTION_SELECT,
    OPTION_FORMAT("line"),
    OPTIONS_END,
};

const struct command command_get = {
    .name = "get",
    .words = "FAMILY KEY [OPTION...]",
    .summary = "print the row with a key",
    .help = "Prints the row with the key KEY: a value such as t1 or 5, or a\n"
            "list of values if the key has several parts.\n",
    .examples = "  colander get demo tweets t000001\n"
                "  colander get demo sensors '[\"sensor-7\",1600000000]'\n",
    .options = options,
    .store = COMMAND_READS,
    .word_count_min = 2,
    .is_paged = true,
    .run = run_get,
};
