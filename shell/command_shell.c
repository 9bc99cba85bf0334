/*
 * The command shell: runs commands line by line, typed or piped.
 *
 * SPDX-License-Identifier: MIT
 */
#include "shell/command_shell.h"
#include "shell/commands.h"
#include "shell/interrupt.h"
#include "shell/line_input.h"

#include <histedit.h>
#include <unistd.h>

static bool
is_blank(const char *line)
{
    char first = line[strspn(line, " \t")];

    return first == '\0' || first == '#';
}

/* Whether the last backslash has nothing to hide. The tokenizer would read on
 * behind such a line. */
static bool
ends_in_escape(const char *line)
{
    size_t size = strlen(line);
    size_t count = 0;

    while (count < size && line[size - count - 1] == '\\')
        count++;
    return count % 2 == 1;
}

/* Runs one line; *is_end tells whether it was the last. */
static enum session_exit
run_line(struct session *session, Tokenizer *words, const char *line,
         bool *is_end)
{
    const char **argv = NULL;
    int argc = 0;

    *is_end = false;
    if (is_blank(line))
        return SESSION_FINE;
    if (ends_in_escape(line)) {
        session_complain(session, "nothing stands behind the last '\\' (a "
                                  "command is one line)");
        return SESSION_USAGE;
    }
    tok_reset(words);
    if (tok_str(words, line, &argc, &argv) != 0) {
        session_complain(session, "a quote is not closed");
        return SESSION_USAGE;
    }
    if (argc == 0)
        return SESSION_FINE;
    *is_end = strcmp(argv[0], "quit") == 0 || strcmp(argv[0], "exit") == 0;
    return *is_end ? SESSION_FINE
                   : commands_run(session, argc, (const char *const *)argv);
}

/* A line did not come: Ctrl-C at the prompt only asks for a new one. */
static enum session_exit
stop_reading(const struct session *session, const struct colander_error *err,
             bool *is_end)
{
    *is_end = true;
    if (err->code != COLANDER_CANCELLED || !session->is_prompt)
        return session_fail(session, err);
    fputc('\n', stdout);
    *is_end = false;
    return SESSION_FINE;
}

static enum session_exit
run_lines(struct session *session, struct line_input *input, Tokenizer *words)
{
    enum session_exit status = SESSION_FINE;
    bool is_end = false;

    while (!is_end && (status == SESSION_FINE || session->is_prompt)) {
        struct colander_error err;
        const char *line;

        if (line_input_read(input, &line, &err) != COLANDER_OK) {
            status = stop_reading(session, &err, &is_end);
        } else if (line == NULL) {
            if (session->is_prompt)
                fputc('\n', stdout);
            break;
        } else {
            if (session->is_prompt)
                interrupt_forget(); /* it was not meant for this line */
            else
                session->line++;
            status = run_line(session, words, line, &is_end);
        }
        if (session->is_prompt)
            interrupt_forget();
    }
    return session->is_prompt && is_end ? SESSION_FINE : status;
}

enum session_exit
command_shell_run(struct session *session)
{
    struct line_input *input = NULL;
    Tokenizer *words = tok_init(NULL);
    struct colander_error err;
    enum session_exit status;

    session->is_shell = true;
    session->is_prompt = isatty(STDIN_FILENO) && isatty(STDOUT_FILENO);
    session->command = NULL;
    if (words == NULL) {
        session_complain(session, "no memory for words");
        return SESSION_FAILED;
    }
    if (session->is_prompt)
        printf("colander %s: %s. Try help.\n", colander_version(),
               session->path);
    if (line_input_open(session->is_prompt, &input, &err) == COLANDER_OK)
        status = run_lines(session, input, words);
    else
        status = session_fail(session, &err);
    line_input_close(input);
    tok_end(words);
    session->is_shell = false;
    if (session->is_prompt)
        return SESSION_FINE; /* whoever typed has seen what failed */
    return status;
}

static enum session_exit
run_shell(struct session *session, const struct arguments *arguments)
{
    struct colander_error err;
    enum session_exit status;

    if (session_open(session, arguments->words[0], COLANDER_OPEN_READ_ONLY,
                     &err) != COLANDER_OK)
        return session_fail(session, &err);
    status = command_shell_run(session);
    if (session_close(session, &err) != COLANDER_OK) {
        enum session_exit closed = session_fail(session, &err);

        status = status == SESSION_FINE ? closed : status;
    }
    return status;
}

static const struct argument_option options[] = {
    {"readonly", false, false}, /* says what is done anyway */
    {NULL, false, false},
};

static const char help[] =
    "Opens the store and runs commands: find, get, families, stats, help,\n"
    "quit. They are those of the program, without STORE; words are split and\n"
    "quoted as in sh. Ctrl-C stops a find, Ctrl-D leaves.\n"
    "\n"
    "Lines that come from a file or pipe run until one fails; blank lines and\n"
    "those that begin with # are skipped.\n"
    "\n"
    "options:\n"
    "  --readonly              what is done anyway: no command writes\n";

const struct command command_shell = {
    "shell",
    "STORE [--readonly]",
    "commands on a store, typed or piped",
    help,
    COMMAND_OPENS,
    options,
    1,
    1,
    run_shell,
};
