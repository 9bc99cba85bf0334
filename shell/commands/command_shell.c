/*
 * The command shell: runs Lua on a store.
 *
 * SPDX-License-Identifier: MIT
 */
#include "shell/command.h"
#ifdef COLANDER_CLUSTER
#include "shell/cluster_find.h"
#endif
#include "shell/entries.h"
#include "shell/safe_script.h"

#include "loading/load.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#define SCRIPT_SIZE_MAX ((size_t)16 << 20) /* of one that a client sends */

struct task {
    const char *code;         /* of -e; NULL: none */
    const char *const *words; /* the script and its arguments; none: entries */
    size_t word_count;
    bool has_init;
};

/* ---------------------------------------------------------- for clients --- */

/* A file of the client, read from its beginning. */
struct input {
    const struct session_client *client;
    const char *name;
    uint64_t offset;
    struct colander_error err; /* why a read has failed */
};

static ssize_t
read_input(void *context, char *data, size_t size)
{
    struct input *input = context;
    const struct session_client *client = input->client;
    bool is_end = false;
    size_t got = 0;

    while (got == 0 && !is_end) {
        if (client->files->read(client->context, input->name, input->offset,
                                data, size, &got, &is_end,
                                &input->err) != COLANDER_OK) {
            errno = EIO;
            return -1;
        }
    }
    input->offset += got;
    return (ssize_t)got;
}

/* Reads a script whole, and runs it. */
static enum session_exit
run_script(struct entries *entries, const struct task *task, FILE *file,
           const struct input *input)
{
    const char *name = task->words[0];
    struct colander_buffer text = COLANDER_BUFFER_EMPTY;
    enum session_exit status = SESSION_FINE;
    char piece[4096];
    size_t got;

    while (status == SESSION_FINE &&
           (got = fread(piece, 1, sizeof(piece), file)) > 0) {
        if (text.size > SCRIPT_SIZE_MAX ||
            colander_buffer_append(&text, piece, got, NULL) != COLANDER_OK)
            status = session_complain(entries->session, SESSION_FAILED,
                                      "the script '%s' is too large", name);
    }
    if (status == SESSION_FINE && ferror(file) != 0) /* as Lua says it */
        status = session_complain(
            entries->session, SESSION_FAILED, "%.*s %s%s",
            (int)strcspn(input->err.message, ":"), input->err.message, name,
            input->err.message + strcspn(input->err.message, ":"));
    if (status == SESSION_FINE)
        status = interpreter_run_script(
            entries->interpreter, name,
            colander_slice_of(
                text.data == NULL ? (const uint8_t *)"" : text.data, text.size),
            task->words + 1, task->word_count - 1);
    colander_buffer_release(&text);
    return status;
}

/* Runs what a client sends: a script, or entries. */
static enum session_exit
run_input(struct entries *entries, const struct task *task)
{
    struct input input = {
        .client = entries->session->client,
        .name = task->word_count > 0 ? task->words[0] : "-",
    };
    const cookie_io_functions_t functions = {.read = read_input};
    FILE *file = fopencookie(&input, "r", functions);
    enum session_exit status;

    if (file == NULL)
        return session_complain(entries->session, SESSION_FAILED,
                                "no memory for a script");
    if (task->word_count > 0)
        status = run_script(entries, task, file, &input);
    else
        status = entries_run_file(entries, file, NULL);
    (void)fclose(file);
    return status;
}

/* ------------------------------------------------------------------ run --- */

static enum session_exit
run_task(struct entries *entries, void *context)
{
    const struct task *task = context;
    const struct session_client *client = entries->session->client;

    entries->session->command = NULL;
    if (task->code != NULL)
        return entries_run_chunk(entries, task->code, "=-e");
    if (client != NULL && (task->word_count > 0 || !client->in_is_terminal ||
                           !client->out_is_terminal))
        return run_input(entries, task);
    if (client != NULL)
        return entries_run_terminal(entries, false);
    if (task->word_count > 0)
        return interpreter_run_script(entries->interpreter, task->words[0],
                                      colander_slice_of(NULL, 0),
                                      task->words + 1, task->word_count - 1);
    if (isatty(STDIN_FILENO) && isatty(STDOUT_FILENO))
        return entries_run_terminal(entries, task->has_init);
    return entries_run_file(entries, stdin, NULL);
}

/* Runs Lua on the store of a server. */
static enum session_exit
run_for_client(struct session *session, const struct arguments *arguments,
               struct task *task)
{
    if (!session->client->may_run_lua)
        return session_complain(session, SESSION_USAGE,
                                "the server runs no shell for clients from "
                                "elsewhere, unless it is started with --shell, "
                                "or with --lua for one that only reads");
    if (arguments_has(arguments, "safe") ||
        arguments_has(arguments, "readonly"))
        return session_complain(session, SESSION_USAGE,
                                "--safe and --readonly are for a store that no "
                                "other process has open: POST /lua runs "
                                "scripts that read");
    return entries_run_task(session, run_task, task);
}

static enum session_exit
open_and_run(struct session *session, const struct arguments *arguments,
             struct task *task)
{
    const bool is_read_only = arguments_has(arguments, "readonly") ||
                              session_is_address(arguments->words[0]);
    enum session_exit status = SESSION_FINE;
    struct colander_error err;
    enum colander_code code;

    if (command_is_elsewhere(arguments->words[0])) {
        (void)command_run_elsewhere(session, arguments, &status);
        return status;
    }
    if (arguments_has(arguments, "safe"))
        return safe_script_run(session, arguments);
    code = session_open(
        session, arguments->words[0],
        is_read_only ? COLANDER_OPEN_READ_ONLY : COLANDER_OPEN_OR_CREATE, &err);
    if (command_may_be_elsewhere(code) &&
        command_run_elsewhere(session, arguments, &status))
        return status;
#ifdef COLANDER_CLUSTER
    if (code == COLANDER_NOT_FOUND && session_is_address(arguments->words[0])) {
        const enum cluster_find found =
            cluster_find(session, arguments, true, &status);

        if (found == CLUSTER_FIND_RAN)
            return status;
        if (found == CLUSTER_FIND_OPEN)
            code = COLANDER_OK;
    }
#endif
    if (code != COLANDER_OK)
        return session_fail(session, &err);
    return session_finish(session, entries_run_task(session, run_task, task));
}

static enum session_exit
run_shell(struct session *session, const struct arguments *arguments)
{
    struct task task = {
        .code = arguments_value(arguments, "e"),
        .words = arguments->words + 1,
        .word_count = arguments->word_count - 1,
        .has_init = !arguments_has(arguments, "no-init"),
    };

    if (task.code != NULL && task.word_count > 0)
        return session_complain(session, SESSION_USAGE,
                                "-e and a script exclude each other");
    if (!arguments_has(arguments, "safe") &&
        (arguments_has(arguments, "time") ||
         arguments_has(arguments, "memory") ||
         arguments_has(arguments, "output")))
        return session_complain(session, SESSION_USAGE,
                                "--time, --memory and --output need --safe");
    return session->client != NULL ? run_for_client(session, arguments, &task)
                                   : open_and_run(session, arguments, &task);
}

static const struct argument_option options[] = {
    OPTION("e", "CODE", "run this chunk, and print its values"),
    OPTION_FLAG("readonly", "write nothing; others may read the store too"),
    OPTION_FLAG("no-init", "do not run init.lua before the first prompt\n"
                           "($XDG_CONFIG_HOME/colander/init.lua)"),
    OPTION_GROUP("scripts that you do not trust"),
    OPTION_FLAG("safe", "run the script in a process with limits, which can\n"
                        "read this store and nothing else"),
    OPTION("memory", "BYTES", "that Lua may use (64m)"),
    OPTION("time", "SECONDS", "after which it is killed (10)"),
    OPTION("output", "BYTES", "that it may print (16m)"),
    OPTIONS_END,
};

const struct command command_shell = {
    .name = "shell",
    .words = "STORE [OPTION...] [SCRIPT [ARG...]]",
    .summary = "run Lua on a store: typed, piped, or a script",
    .help =
        "Opens the store, which is created if it does not exist, and runs\n"
        "Lua on it: the code of -e, a script (- is standard input) with its\n"
        "arguments, or what is typed or piped in, chunk by chunk. The\n"
        "values of a chunk are printed. .help at the prompt lists its\n"
        "commands. docs/shell.md describes the shell, docs/lua.md the\n"
        "language, docs/cookbook.md common tasks (in share/doc/colander).\n"
        "\n"
        "If a server has the store open, it runs the code of -e, a script,\n"
        "a pipe or what is typed. There files, other programs and os.exit\n"
        "are missing (docs/serve.md).\n"
        "\n"
        "Ctrl-C stops what runs, or discards what was typed. Twice within a\n"
        "second, it leaves the shell, as Ctrl-D does at the prompt.\n",
    .examples =
        "  colander shell demo\n"
        "  colander shell demo -e 'tweets:find{lang = \"pl\"}:limit(3)'\n",
    .options = options,
    .store = COMMAND_OPENS,
    .goes_elsewhere = true,
    .reads_clusters = true,
    .word_count_min = 1,
    .word_count_max = SIZE_MAX - 1,
    .option_words = 2,
    .run = run_shell,
};
