/* See dot_commands.h. SPDX-License-Identifier: MIT */
#include "shell/prompt/dot_commands.h"
#include "shell/interrupt.h"
#include "shell/pager.h"

#include <errno.h>
#include <fcntl.h>
#include <histedit.h>
#include <inttypes.h>
#include <stdlib.h>
#include <unistd.h>

#define READ_DEPTH_MAX 16 /* of .read within .read */

/* Returns the one argument, or NULL. */
static const char *
word_of(const struct arguments *arguments)
{
    return arguments->word_count == 0 ? NULL : arguments->words[0];
}

/* Reads "on" or "off"; without a word changes from one to the other. */
static enum session_exit
read_switch(const struct session *session, const struct arguments *arguments,
            bool *is)
{
    const char *word = word_of(arguments);

    if (word != NULL && strcmp(word, "on") != 0 && strcmp(word, "off") != 0)
        return session_complain(session, SESSION_USAGE, "expected on or off");
    *is = word == NULL ? !*is : strcmp(word, "on") == 0;
    return SESSION_FINE;
}

static enum session_exit
run_explain(struct session *session, const struct arguments *arguments)
{
    return read_switch(session, arguments, &session->entries->display.explains);
}

static enum session_exit
run_timer(struct session *session, const struct arguments *arguments)
{
    return read_switch(session, arguments, &session->entries->is_timed);
}

static enum session_exit
run_pager(struct session *session, const struct arguments *arguments)
{
    struct entries *entries = session->entries;
    const char *word = word_of(arguments);
    char *pager;

    if (word == NULL || strcmp(word, "on") == 0 || strcmp(word, "off") == 0)
        return read_switch(session, arguments, &entries->is_paged);
    pager = strdup(word);
    if (pager == NULL)
        return session_complain(session, SESSION_FAILED,
                                "no memory for a word");
    free(entries->pager);
    entries->pager = pager;
    entries->is_paged = true;
    return SESSION_FINE;
}

static enum session_exit
run_mode(struct session *session, const struct arguments *arguments)
{
    const char *name = word_of(arguments);
    enum output_format format;
    struct colander_error err;

    if (session_format(session, name, OUTPUT_TABLE, &format, &err) !=
        COLANDER_OK)
        return session_misused(session, &err);
    if (name == NULL) {
        printf("%s\n", output_format_name(format));
        return SESSION_FINE;
    }
    session->has_format = true;
    session->format = format;
    return SESSION_FINE;
}

static enum session_exit
run_limit(struct session *session, const struct arguments *arguments)
{
    uint64_t *limit = &session->entries->display.row_limit;
    const char *word = word_of(arguments);
    uintmax_t number;
    char *end;

    if (word == NULL) {
        if (*limit == UINT64_MAX)
            printf("off\n");
        else
            printf("%" PRIu64 "\n", *limit);
        return SESSION_FINE;
    }
    if (strcmp(word, "off") == 0) {
        *limit = UINT64_MAX;
        return SESSION_FINE;
    }
    errno = 0;
    number = strtoumax(word, &end, 10);
    if (word[0] == '-' || end == word || *end != '\0' || errno != 0)
        return session_complain(session, SESSION_USAGE,
                                "expected a number of rows, or off");
    *limit = number;
    return SESSION_FINE;
}

/* Redirects standard output, so that everything printed goes to the file. */
static enum session_exit
run_output(struct session *session, const struct arguments *arguments)
{
    int *stdout_fd = &session->entries->stdout_fd;
    const char *name = word_of(arguments);
    int fd;

    (void)fflush(stdout);
    if (name == NULL) {
        if (*stdout_fd >= 0)
            (void)dup2(*stdout_fd, STDOUT_FILENO);
        return SESSION_FINE;
    }
    if (*stdout_fd < 0)
        *stdout_fd = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    fd = open(name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (fd < 0 || *stdout_fd < 0 || dup2(fd, STDOUT_FILENO) < 0) {
        session_complain(session, SESSION_FINE, "cannot write '%s': %s", name,
                         strerror(errno));
        if (fd >= 0)
            close(fd);
        return SESSION_DAMAGED;
    }
    close(fd);
    return SESSION_FINE;
}

static enum session_exit
run_quit(struct session *session, const struct arguments *arguments)
{
    (void)arguments;
    session->entries->is_ended = true;
    return SESSION_FINE;
}

static enum session_exit
run_read(struct session *session, const struct arguments *arguments)
{
    struct entries *entries = session->entries;
    enum session_exit status;

    if (entries->depth == READ_DEPTH_MAX)
        return session_complain(session, SESSION_USAGE,
                                "files that read files are nested too deeply");
    entries->depth++;
    status = entries_run_path(entries, arguments->words[0]);
    entries->depth--;
    return status;
}

#define DOT_COMMAND(text, arguments, least, most, function, about)             \
    {                                                                          \
        .name = (text), .words = (arguments), .summary = (about),              \
        .options = options_none, .store = COMMAND_ALONE,                       \
        .word_count_min = (least), .word_count_max = (most), .run = (function) \
    }

const struct command dot_commands[] = {
    DOT_COMMAND("explain", "[on|off]", 0, 1, run_explain,
                "print how rows were found"),
    DOT_COMMAND("limit", "[ROWS|off]", 0, 1, run_limit,
                "limit the rows printed of a result"),
    DOT_COMMAND("mode", "[MODE]", 0, 1, run_mode,
                "print rows as table, line, json, jsonl, csv or msgpack"),
    DOT_COMMAND("output", "[FILE]", 0, 1, run_output,
                "write results to a file; without one, here again"),
    DOT_COMMAND("pager", "[on|off|PROGRAM]", 0, 1, run_pager,
                "send long results through a pager"),
    DOT_COMMAND("quit", "", 0, 0, run_quit, "leave (so does Ctrl-D)"),
    DOT_COMMAND("read", "FILE", 1, 1, run_read, "run the entries in a file"),
    DOT_COMMAND("timer", "[on|off]", 0, 1, run_timer,
                "print how long each chunk takes"),
    {.name = NULL},
};

/* ------------------------------------------------------------------ run --- */

/* Whether nothing follows the last backslash. The tokenizer would read past the
 * end of such a line. */
static bool
ends_in_escape(const char *line)
{
    size_t size = strlen(line);
    size_t count = 0;

    while (count < size && line[size - count - 1] == '\\')
        count++;
    return count % 2 == 1;
}

static enum session_exit
run_words(struct entries *entries, int argc, const char *const *argv)
{
    const struct command *command = command_by_name(entries->session, argv[0]);
    enum session_exit status;

    if (entries->is_paged && command != NULL && command->is_paged)
        pager_begin(entries->pager);
    status = command_run(entries->session, argc, argv);
    pager_end();
    return status;
}

enum session_exit
dot_commands_run(struct entries *entries, const char *line)
{
    struct session *session = entries->session;
    Tokenizer *tokenizer = tok_init(NULL);
    enum session_exit status;
    const char **argv = NULL;
    int argc = 0;

    if (tokenizer == NULL)
        return session_complain(session, SESSION_FAILED, "no memory for words");
    line++; /* the dot */
    if (ends_in_escape(line)) {
        status =
            session_complain(session, SESSION_USAGE,
                             "nothing follows the last '\\' (a dot command "
                             "is one line)");
    } else if (tok_str(tokenizer, line, &argc, &argv) != 0) {
        status =
            session_complain(session, SESSION_USAGE, "a quote is not closed");
    } else {
        status = run_words(entries, argc, argv);
    }
    tok_end(tokenizer);
    return status;
}
