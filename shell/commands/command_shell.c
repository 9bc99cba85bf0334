/*
 * The command shell: runs Lua on a store.
 *
 * SPDX-License-Identifier: MIT
 */
#include "shell/command.h"
#include "shell/entries.h"
#include "shell/safe_script.h"

#include <unistd.h>

struct task {
    const char *code;         /* of -e; NULL: none */
    const char *const *words; /* the script and its arguments; none: entries */
    size_t word_count;
    bool has_init;
};

static enum session_exit
run_task(struct entries *entries, void *context)
{
    const struct task *task = context;

    entries->session->command = NULL;
    if (task->code != NULL)
        return entries_run_chunk(entries, task->code, "=-e");
    if (task->word_count > 0)
        return interpreter_run_script(entries->interpreter, task->words[0],
                                      colander_slice_of(NULL, 0),
                                      task->words + 1, task->word_count - 1);
    if (isatty(STDIN_FILENO) && isatty(STDOUT_FILENO))
        return entries_run_terminal(entries, task->has_init);
    return entries_run_file(entries, stdin, NULL);
}

static enum session_exit
run_shell(struct session *session, const struct arguments *arguments)
{
    const bool is_read_only = arguments_has(arguments, "readonly") ||
                              session_is_address(arguments->words[0]);
    struct task task = {
        .code = arguments_value(arguments, "e"),
        .words = arguments->words + 1,
        .word_count = arguments->word_count - 1,
        .has_init = !arguments_has(arguments, "no-init"),
    };
    struct colander_error err;

    if (task.code != NULL && task.word_count > 0)
        return session_complain(session, SESSION_USAGE,
                                "-e and a script exclude each other");
    if (arguments_has(arguments, "safe"))
        return safe_script_run(session, arguments);
    if (arguments_has(arguments, "time") ||
        arguments_has(arguments, "memory") ||
        arguments_has(arguments, "output"))
        return session_complain(session, SESSION_USAGE,
                                "--time, --memory and --output need --safe");
    if (session_open(session, arguments->words[0],
                     is_read_only ? COLANDER_OPEN_READ_ONLY
                                  : COLANDER_OPEN_OR_CREATE,
                     &err) != COLANDER_OK)
        return session_fail(session, &err);
    return session_finish(session, entries_run_task(session, run_task, &task));
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
        "Ctrl-C stops what runs, or discards what was typed. Twice within a\n"
        "second, it leaves the shell, as Ctrl-D does at the prompt.\n",
    .examples =
        "  colander shell demo\n"
        "  colander shell demo -e 'tweets:find{lang = \"pl\"}:limit(3)'\n",
    .options = options,
    .store = COMMAND_OPENS,
    .word_count_min = 1,
    .word_count_max = SIZE_MAX - 1,
    .option_words = 2,
    .run = run_shell,
};
