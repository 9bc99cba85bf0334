/*
 * The command get: shows the row under a key.
 *
 * SPDX-License-Identifier: MIT
 */
#include "shell/commands.h"
#include "shell/literals.h"
#include "shell/output.h"
#include "shell/selection.h"

/* Shows the one row. */
static enum colander_code
show(const struct output_options *options, struct colander_slice key,
     struct colander_slice row, struct colander_error *err)
{
    struct colander_result result;
    struct output *output = NULL;
    enum colander_code code;

    memset(&result, 0, sizeof(result));
    result.key = key;
    result.row = row;
    code = output_create(stdout, options, &output, err);
    if (code == COLANDER_OK)
        code = output_row(output, &result, err);
    if (code == COLANDER_OK)
        code = output_finish(output, err);
    output_destroy(output);
    return code;
}

/* Reads and shows the row; NOT_FOUND when there is none. */
static enum colander_code
get(const struct session *session, const struct arguments *arguments,
    const struct output_options *options, struct colander_slice key,
    struct colander_error *err)
{
    struct colander_read read = {NULL, options->paths, options->path_count};
    struct colander_buffer row = COLANDER_BUFFER_EMPTY;
    struct colander_family *family = NULL;
    enum colander_code code;
    bool found = false;

    code = session_family(session, arguments->words[0], &family, err);
    if (code == COLANDER_OK)
        code = colander_family_get(family, key, &read, &row, &found, err);
    if (code == COLANDER_OK && found)
        code = show(options, key, colander_buffer_slice(&row), err);
    else if (code == COLANDER_OK)
        code = COLANDER_FAIL(err, COLANDER_NOT_FOUND, "no row '%s' in '%s'",
                             arguments->words[1], arguments->words[0]);
    colander_buffer_release(&row);
    colander_family_close(family);
    return code;
}

static enum session_exit
run_get(struct session *session, const struct arguments *arguments)
{
    struct output_options options = {.format = OUTPUT_JSONL};
    struct selection selection = SELECTION_EMPTY;
    struct colander_buffer key = COLANDER_BUFFER_EMPTY;
    enum session_exit status = SESSION_FINE;
    struct colander_error err;
    enum colander_code code;
    size_t offset = 0;

    code = literals_parse_key(arguments->words[1], &key, &offset, &err);
    if (code != COLANDER_OK) {
        status = session_misread(session, arguments->words[1], offset, &err);
        goto done;
    }
    code = selection_parse(&selection, arguments, "select", &err);
    options.paths = selection.paths;
    options.path_count = selection.count;
    if (code == COLANDER_OK)
        code = session_format(session, arguments_value(arguments, "format"),
                              OUTPUT_LINE, &options.format, &err);
    if (code == COLANDER_OK)
        code = get(session, arguments, &options, colander_buffer_slice(&key),
                   &err);
    if (code != COLANDER_OK)
        status = session_misused(session, &err);
done:
    selection_release(&selection);
    colander_buffer_release(&key);
    return status;
}

static const struct argument_option options[] = {
    {"select", true, true},
    {"format", true, false},
    {NULL, false, false},
};

static const char help[] =
    "Shows the row under KEY: a value such as t1 or 5, or for a key of\n"
    "several parts a list such as '[\"sensor-7\",1600000000]'.\n"
    "\n"
    "options:\n"
    "  --select COL[,COL]      only these columns\n"
    "  --format FORMAT         jsonl, json, csv, msgpack, table or line (on a\n"
    "                          terminal: line, else: jsonl)\n";

const struct command command_get = {
    "get",
    "FAMILY KEY [OPTION...]",
    "the row under a key",
    help,
    COMMAND_READS,
    options,
    2,
    2,
    SIZE_MAX,
    run_get,
};
