/*
 * The command put: writes rows that are given as JSON.
 *
 * SPDX-License-Identifier: MIT
 */
#include "shell/command.h"
#include "shell/text.h"

struct put_job {
    struct colander_family *family;
    struct colander_batch *batch; /* all rows are written, or none */
    struct colander_json_reader *reader;
    struct argument_list columns; /* of the key */
    struct colander_buffer key;
    struct colander_buffer keys; /* a line for each row */
};

/* Makes the key from the columns of --key. */
static enum colander_code
make_key(struct put_job *job, struct colander_slice row,
         struct colander_error *err)
{
    struct colander_value parts[COLANDER_KEY_PARTS_MAX];
    enum colander_code code = COLANDER_OK;
    bool found = true;
    size_t count = 0;

    if (job->columns.count > COLANDER_KEY_PARTS_MAX)
        return COLANDER_FAIL(err, COLANDER_INVALID,
                             "a key has at most %u columns",
                             COLANDER_KEY_PARTS_MAX);
    for (; count < job->columns.count && code == COLANDER_OK && found; count++)
        code = colander_row_get(row, job->columns.paths[count], &parts[count],
                                &found, err);
    if (code == COLANDER_OK && !found)
        return COLANDER_FAIL(err, COLANDER_INVALID,
                             "no column '%s' for the key",
                             job->columns.paths[count - 1]);
    if (code != COLANDER_OK)
        return code;
    code = colander_key_encode(parts, count, &job->key, err);
    if (code != COLANDER_OK)
        colander_error_context(err, "--key");
    return code;
}

/* Adds the row to the batch, and its key to the lines that are printed. */
static enum colander_code
add_row(struct put_job *job, const char *text, struct colander_error *err)
{
    struct colander_slice key, row;
    enum colander_code code;
    bool has_key;

    code = colander_json_reader_row(job->reader, colander_slice_text(text),
                                    &key, &has_key, &row, err);
    if (code == COLANDER_OK && job->columns.count > 0)
        code = make_key(job, row, err);
    else if (code == COLANDER_OK && !has_key)
        code = colander_key_generate(&job->key, err);
    if (code == COLANDER_OK && (job->columns.count > 0 || !has_key))
        key = colander_buffer_slice(&job->key);
    if (code == COLANDER_OK)
        code = colander_batch_put(job->batch, job->family, key, row, err);
    if (code == COLANDER_OK)
        code = text_append_key(&job->keys, key, err);
    if (code == COLANDER_OK)
        code = colander_buffer_append(&job->keys, "\n", 1, err);
    return code;
}

/* Reads the rows, which are the words after the family. */
static enum session_exit
add_rows(struct put_job *job, const struct session *session,
         const struct arguments *arguments)
{
    struct colander_error err;

    for (size_t i = 1; i < arguments->word_count; i++) {
        const char *text = arguments->words[i];
        size_t offset;

        if (add_row(job, text, &err) == COLANDER_OK)
            continue;
        return colander_json_reader_fault(job->reader, &offset)
                   ? session_misread(session, text, offset, &err)
                   : session_misused(session, &err);
    }
    return SESSION_FINE;
}

static enum session_exit
write_rows(struct put_job *job, const struct session *session)
{
    struct colander_error err;
    enum colander_code code = colander_batch_commit(job->batch, NULL, &err);

    if (code != COLANDER_OK)
        return session_fail(session, &err);
    (void)fwrite(job->keys.data, 1, job->keys.size, session_out(session));
    code = output_flush(session_out(session), &err);
    return code == COLANDER_OK ? SESSION_FINE : session_fail(session, &err);
}

static enum session_exit
run_put(struct session *session, const struct arguments *arguments)
{
    struct put_job job = {.reader = colander_json_reader_create()};
    enum session_exit status = SESSION_FINE;
    struct colander_error err;
    enum colander_code code = COLANDER_OK;

    if (job.reader == NULL)
        code = COLANDER_FAIL(&err, COLANDER_NO_MEMORY, "cannot read JSON");
    else if (colander_partition_unit(arguments->words[0]) != NULL)
        code = COLANDER_FAIL(&err, COLANDER_INVALID,
                             "'%s' is a family for each %s: put the row into "
                             "one of them, or use load --partition",
                             arguments->words[0],
                             colander_partition_unit(arguments->words[0]));
    if (code == COLANDER_OK)
        code = arguments_list(arguments, "key", &job.columns, &err);
    if (code == COLANDER_OK)
        code = colander_family_open(session->store, arguments->words[0],
                                    &job.family, &err);
    if (code == COLANDER_OK)
        code = colander_batch_create(session->store, &job.batch, &err);
    if (code != COLANDER_OK)
        status = session_misused(session, &err);
    if (status == SESSION_FINE)
        status = add_rows(&job, session, arguments);
    if (status == SESSION_FINE)
        status = write_rows(&job, session);
    colander_batch_destroy(job.batch);
    colander_family_close(job.family);
    argument_list_release(&job.columns);
    colander_json_reader_destroy(job.reader);
    colander_buffer_release(&job.key);
    colander_buffer_release(&job.keys);
    return status;
}

static const struct argument_option options[] = {
    OPTION_LIST("key", "COL[,COL]",
                "columns that make the key (default: _key, or a new\n"
                "key that sorts by time)"),
    OPTIONS_END,
};

const struct command command_put = {
    .name = "put",
    .words = "FAMILY JSON... [OPTION...]",
    .summary = "write rows that are given as JSON",
    .help =
        "Writes rows, each given as a JSON object, and prints their keys.\n"
        "A row replaces the one that the key has. All rows are written, or\n"
        "none. The family is created if it does not exist.\n",
    .examples =
        "  colander put data tweets '{\"id\": 7, \"text\": \"hello\"}' --key "
        "id\n"
        "  colander put data tweets '{\"_key\": \"t8\", \"text\": \"new\"}'\n",
    .options = options,
    .store = COMMAND_WRITES,
    .word_count_min = 2,
    .word_count_max = SIZE_MAX - 1,
    .run = run_put,
};
