/* See dot_commands.h. SPDX-License-Identifier: MIT */
#include "shell/prompt/dot_commands.h"
#include "shell/command.h"
#include "shell/interrupt.h"
#include "shell/pager.h"

#include <errno.h>
#include <fcntl.h>
#include <histedit.h>
#include <inttypes.h>
#include <stdlib.h>
#include <unistd.h>

/* The words of a dot command; the first is its name. */
struct words {
    const char *const *items;
    size_t count;
};

struct dot_command {
    const char *name;
    const char *words; /* as the usage shows them */
    const char *summary;
    size_t word_count_max; /* after the name */
    enum session_exit (*run)(struct entry_settings *settings,
                             const struct words *words);
};

static enum session_exit
misuse(const struct entry_settings *settings, const char *problem)
{
    session_complain(settings->session, "%s", problem);
    return SESSION_USAGE;
}

/* Reads "on" or "off"; without a word changes from one to the other. */
static enum session_exit
read_switch(const struct entry_settings *settings, const struct words *words,
            bool *is)
{
    if (words->count == 1)
        *is = !*is;
    else if (strcmp(words->items[1], "on") == 0)
        *is = true;
    else if (strcmp(words->items[1], "off") == 0)
        *is = false;
    else
        return misuse(settings, "expected on or off");
    return SESSION_FINE;
}

/* ------------------------------------------------------------- settings --- */

static enum session_exit
run_explain(struct entry_settings *settings, const struct words *words)
{
    return read_switch(settings, words, &settings->display.explains);
}

static enum session_exit
run_timer(struct entry_settings *settings, const struct words *words)
{
    return read_switch(settings, words, &settings->is_timed);
}

static enum session_exit
run_pager(struct entry_settings *settings, const struct words *words)
{
    char *pager;

    if (words->count == 1 || strcmp(words->items[1], "on") == 0 ||
        strcmp(words->items[1], "off") == 0)
        return read_switch(settings, words, &settings->is_paged);
    pager = strdup(words->items[1]);
    if (pager == NULL) {
        session_complain(settings->session, "no memory for a word");
        return SESSION_FAILED;
    }
    free(settings->pager);
    settings->pager = pager;
    settings->is_paged = true;
    return SESSION_FINE;
}

static enum session_exit
run_mode(struct entry_settings *settings, const struct words *words)
{
    struct session *session = settings->session;
    const char *name = words->count > 1 ? words->items[1] : NULL;
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
run_limit(struct entry_settings *settings, const struct words *words)
{
    uint64_t *limit = &settings->display.row_limit;
    uintmax_t number;
    char *end;

    if (words->count == 1) {
        if (*limit == UINT64_MAX)
            printf("off\n");
        else
            printf("%" PRIu64 "\n", *limit);
        return SESSION_FINE;
    }
    if (strcmp(words->items[1], "off") == 0) {
        *limit = UINT64_MAX;
        return SESSION_FINE;
    }
    errno = 0;
    number = strtoumax(words->items[1], &end, 10);
    if (words->items[1][0] == '-' || end == words->items[1] || *end != '\0' ||
        errno != 0)
        return misuse(settings, "expected a number of rows, or off");
    *limit = number;
    return SESSION_FINE;
}

/* Redirects standard output, so that everything printed goes to the file. */
static enum session_exit
run_output(struct entry_settings *settings, const struct words *words)
{
    int fd;

    (void)fflush(stdout);
    if (words->count == 1) {
        if (settings->stdout_fd >= 0)
            (void)dup2(settings->stdout_fd, STDOUT_FILENO);
        return SESSION_FINE;
    }
    if (settings->stdout_fd < 0)
        settings->stdout_fd =
            fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    fd = open(words->items[1], O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (fd < 0 || settings->stdout_fd < 0 || dup2(fd, STDOUT_FILENO) < 0) {
        session_complain(settings->session, "cannot write '%s': %s",
                         words->items[1], strerror(errno));
        if (fd >= 0)
            close(fd);
        return SESSION_DAMAGED;
    }
    close(fd);
    return SESSION_FINE;
}

/* --------------------------------------------------------------- others --- */

static enum session_exit
run_quit(struct entry_settings *settings, const struct words *words)
{
    (void)words;
    settings->is_ended = true;
    return SESSION_FINE;
}

static enum session_exit
run_read(struct entry_settings *settings, const struct words *words)
{
    if (words->count == 1)
        return misuse(settings, "expected the name of a file");
    settings->read_name = strdup(words->items[1]);
    return settings->read_name == NULL
               ? misuse(settings, "no memory for a name")
               : SESSION_FINE;
}

static enum session_exit run_help(struct entry_settings *settings,
                                  const struct words *words);

static const struct dot_command dot_commands[] = {
    {"explain", "[on|off]", "print how rows were found", 1, run_explain},
    {"help", "[COMMAND]", "list the commands, or describe one", 1, run_help},
    {"limit", "[ROWS|off]", "limit the rows printed of a result", 1, run_limit},
    {"mode", "[MODE]", "print rows as table, line, json, jsonl, csv or msgpack",
     1, run_mode},
    {"output", "[FILE]", "write results to a file; without one, here again", 1,
     run_output},
    {"pager", "[on|off|PROGRAM]", "send long results through a pager", 1,
     run_pager},
    {"quit", "", "leave (so does Ctrl-D)", 0, run_quit},
    {"read", "FILE", "run the entries in a file", 1, run_read},
    {"timer", "[on|off]", "print how long each chunk takes", 1, run_timer},
};

#define DOT_COUNT (sizeof(dot_commands) / sizeof(dot_commands[0]))

static const struct dot_command *
find_dot_command(const char *name)
{
    for (size_t i = 0; i < DOT_COUNT; i++) {
        if (strcmp(dot_commands[i].name, name) == 0)
            return &dot_commands[i];
    }
    return NULL;
}

const char *
dot_commands_name(const struct session *session, size_t index)
{
    return index < DOT_COUNT ? dot_commands[index].name
                             : command_shell_name(session, index - DOT_COUNT);
}

static const char overview[] =
    "Type Lua, in as many lines as it takes. The values of an expression are\n"
    "printed:\n"
    "  tweets:find{user = \"Smith\"}     rows of the family tweets\n"
    "  tweets:find{likes = gt(900)}:select(\"user\", \"likes\"):limit(3)\n"
    "  tweets:any_column(\"Houston\")    a value in any column\n"
    "  tweets:find():group(\"lang\"):count()\n"
    "  tweets:put(\"key\", {user = \"Wu\"})   db:family(\"new\"):put{...}\n"
    "\n"
    "Ctrl-C stops what runs, Tab completes names. docs/shell.md and "
    "docs/lua.md\n"
    "are the manuals.\n"
    "\n";

/* ".help find" as ".help .find". */
static enum session_exit
help_about(struct entry_settings *settings, const char *name)
{
    const char *argv[] = {"help", name + (name[0] == '.')};
    const struct dot_command *found = find_dot_command(argv[1]);

    if (found == NULL)
        return command_run(settings->session, 2, argv);
    printf("usage: .%s %s\n\n%s\n", found->name, found->words, found->summary);
    return SESSION_FINE;
}

static enum session_exit
run_help(struct entry_settings *settings, const struct words *words)
{
    if (words->count > 1)
        return help_about(settings, words->items[1]);
    fputs(overview, stdout);
    for (size_t i = 0; i < DOT_COUNT; i++)
        printf("  .%-9s %s\n", dot_commands[i].name, dot_commands[i].summary);
    command_print_shell(settings->session);
    printf("\n.help COMMAND describes a command.\n");
    return SESSION_FINE;
}

/* ------------------------------------------------------------------ run --- */

static enum session_exit
run_words(struct entry_settings *settings, const struct words *words)
{
    const struct dot_command *found = find_dot_command(words->items[0]);
    enum session_exit status;

    if (found == NULL) /* a command of the program */
        return command_run(settings->session, (int)words->count, words->items);
    settings->session->command = found->name;
    if (words->count - 1 > found->word_count_max)
        status = misuse(settings, "too many words");
    else
        status = found->run(settings, words);
    settings->session->command = NULL;
    return status;
}

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

/* Whether the output of the command goes through the pager. */
static bool
is_paged(const struct entry_settings *settings, const char *name)
{
    static const char *const paged[] = {"find",     "get",     "help",
                                        "families", "columns", "stats"};

    for (size_t i = 0; i < sizeof(paged) / sizeof(paged[0]); i++) {
        if (strcmp(name, paged[i]) == 0)
            return settings->is_paged;
    }
    return false;
}

enum session_exit
dot_commands_run(struct entry_settings *settings, const char *line)
{
    Tokenizer *tokenizer = tok_init(NULL);
    enum session_exit status;
    const char **argv = NULL;
    int argc = 0;

    if (tokenizer == NULL) {
        session_complain(settings->session, "no memory for words");
        return SESSION_FAILED;
    }
    line++; /* the dot */
    if (ends_in_escape(line)) {
        status =
            misuse(settings, "nothing follows the last '\\' (a dot command "
                             "is one line)");
    } else if (tok_str(tokenizer, line, &argc, &argv) != 0) {
        status = misuse(settings, "a quote is not closed");
    } else {
        const struct words words = {argv, (size_t)argc};

        if (is_paged(settings, argv[0]))
            pager_begin(settings->pager);
        status = run_words(settings, &words);
        pager_end();
    }
    tok_end(tokenizer);
    return status;
}
