/*
 * The command shell: Lua on a store, typed, piped, or as a script.
 *
 * SPDX-License-Identifier: MIT
 */
#include "shell/command_shell.h"
#include "shell/commands.h"
#include "shell/entries.h"
#include "shell/interrupt.h"
#include "shell/safe_script.h"
#include "shell/user_files.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

/* Runs what somebody at a terminal has had done at each start, if anything;
 * what fails in it is told, and no more. */
static void
run_init_file(struct entries *entries)
{
    char *path = user_file_path("XDG_CONFIG_HOME", ".config", "init.lua");
    FILE *file = path == NULL ? NULL : fopen(path, "re");

    if (file != NULL) {
        (void)entries_run_file(entries, file, path);
        (void)fclose(file);
    } else if (path != NULL && errno != ENOENT) {
        session_complain(entries->session, "cannot read '%s': %s", path,
                         strerror(errno));
    }
    free(path);
}

/* Somebody types: what fails was told, and does not make the program fail. */
static enum session_exit
run_terminal(struct entries *entries, bool has_init)
{
    struct session *session = entries->session;

    printf("colander %s: %s%s. Try .help.\n", colander_version(), session->path,
           session->is_read_only ? " (read only)" : "");
    session->is_prompt = true;
    if (has_init) {
        run_init_file(entries);
        interrupt_forget(); /* it was not meant for the prompt */
    }
    return entries->is_ended ? SESSION_FINE : entries_run_terminal(entries);
}

/* What the shell is to run. */
struct task {
    const char *code;         /* of -e; NULL: none */
    const char *const *words; /* the script and what it gets; none: entries */
    size_t word_count;
    bool has_init;
};

static enum session_exit
run_task(struct entries *entries, const struct task *task)
{
    if (task->code != NULL)
        return entries_run_chunk(entries, task->code, "=-e");
    if (task->word_count > 0)
        return interpreter_run_script(entries->interpreter, task->words[0],
                                      colander_slice_of(NULL, 0),
                                      task->words + 1, task->word_count - 1);
    if (isatty(STDIN_FILENO) && isatty(STDOUT_FILENO))
        return run_terminal(entries, task->has_init);
    return entries_run_file(entries, stdin, NULL);
}

static enum session_exit
run_on_store(struct session *session, const struct task *task)
{
    struct interpreter *interpreter = NULL;
    struct entries entries;
    struct colander_error err;
    enum session_exit status;

    if (interpreter_create(session, 0, &interpreter, &err) != COLANDER_OK)
        return session_fail(session, &err);
    session->is_shell = true;
    session->command = NULL;
    entries_init(&entries, session, interpreter);
    status = run_task(&entries, task);
    entries_release(&entries);
    interpreter_destroy(interpreter);
    session->is_shell = false;
    return status;
}

enum session_exit
command_shell_run_code(struct session *session, const char *code)
{
    const struct task task = {.code = code};

    return run_on_store(session, &task);
}

enum session_exit
command_shell_run(struct session *session)
{
    const struct task task = {.has_init = true};

    return run_on_store(session, &task);
}

static enum session_exit
run_shell(struct session *session, const struct arguments *arguments)
{
    const bool is_read_only = arguments_has(arguments, "readonly");
    const struct task task = {
        .code = arguments_value(arguments, "e"),
        .words = arguments->words + 1,
        .word_count = arguments->word_count - 1,
        .has_init = !arguments_has(arguments, "no-init"),
    };
    struct colander_error err;
    enum session_exit status;

    if (task.code != NULL && task.word_count > 0) {
        session_complain(session, "-e and a script do not go together");
        return SESSION_USAGE;
    }
    if (arguments_has(arguments, "safe"))
        return safe_script_run(session, arguments);
    if (arguments_has(arguments, "time") ||
        arguments_has(arguments, "memory") ||
        arguments_has(arguments, "output")) {
        session_complain(session, "--time, --memory and --output are limits "
                                  "of --safe, which is missing");
        return SESSION_USAGE;
    }
    if (session_open(session, arguments->words[0],
                     is_read_only ? COLANDER_OPEN_READ_ONLY
                                  : COLANDER_OPEN_OR_CREATE,
                     &err) != COLANDER_OK)
        return session_fail(session, &err);
    status = run_on_store(session, &task);
    if (session_close(session, &err) != COLANDER_OK) {
        enum session_exit closed = session_fail(session, &err);

        status = status == SESSION_FINE ? closed : status;
    }
    return status;
}

static const struct argument_option options[] = {
    {"e", true, false},        {"readonly", false, false},
    {"no-init", false, false}, {"safe", false, false},
    {"memory", true, false},   {"time", true, false},
    {"output", true, false},   {NULL, false, false},
};

static const char help[] =
    "Opens the store, made if there is none, and runs Lua on it: a script "
    "with\n"
    "its words, the code of -e, or what is typed or piped in, chunk by chunk.\n"
    "What an expression gives is shown; .help at the prompt says what else\n"
    "there is. docs/shell.md tells more, docs/lua.md is the manual of the\n"
    "language.\n"
    "\n"
    "Ctrl-C stops what runs, a second one within a second leaves; so does\n"
    "Ctrl-D at the prompt.\n"
    "\n"
    "options:\n"
    "  -e CODE                 runs this, and shows what it gives\n"
    "  --readonly              nothing is written, and others may read as "
    "well\n"
    "  --no-init               without init.lua, which is else run before the\n"
    "                          first prompt ($XDG_CONFIG_HOME/colander/)\n"
    "  --safe                  runs a script of a stranger: it reads this "
    "store\n"
    "                          and nothing else, in a process with limits\n"
    "  --memory BYTES          of --safe: that Lua may have (64m)\n"
    "  --time SECONDS          of --safe: that it may take (10)\n"
    "  --output BYTES          of --safe: that it may print (16m)\n"
    "\n"
    "A script named - is read from standard input.\n";

const struct command command_shell = {
    "shell",
    "STORE [OPTION...] [SCRIPT [ARG...]]",
    "Lua on a store: typed, piped, or a script",
    help,
    COMMAND_OPENS,
    options,
    1,
    SIZE_MAX - 1,
    2,
    run_shell,
};
