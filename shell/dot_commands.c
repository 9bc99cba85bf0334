/*
 * Dot commands: see dot_commands.h.
 *
 * SPDX-License-Identifier: MIT
 */
#include "shell/dot_commands.h"
#include "shell/commands.h"
#include "shell/interrupt.h"
#include "shell/pager.h"

#include <errno.h>
#include <fcntl.h>
#include <histedit.h>
#include <inttypes.h>
#include <stdlib.h>
#include <unistd.h>

#define READ_DEPTH_MAX 16

/* Words of a dot command: the first is its name. */
struct words {
    const char *const *items;
    size_t count;
};

struct dot_command {
    const char *name;
    const char *words; /* as the usage shows them */
    const char *summary;
    size_t word_count_max; /* behind the name */
    enum session_exit (*run)(struct entries *entries,
                             const struct words *words);
};

static enum session_exit
misuse(const struct entries *entries, const char *problem)
{
    session_complain(entries->session, "%s", problem);
    return SESSION_USAGE;
}

/* Reads "on" or "off"; without a word it is the other one than before. */
static enum session_exit
read_switch(const struct entries *entries, const struct words *words, bool *is)
{
    if (words->count == 1)
        *is = !*is;
    else if (strcmp(words->items[1], "on") == 0)
        *is = true;
    else if (strcmp(words->items[1], "off") == 0)
        *is = false;
    else
        return misuse(entries, "expected on or off");
    return SESSION_FINE;
}

/* ------------------------------------------------------------- settings --- */

static enum session_exit
run_explain(struct entries *entries, const struct words *words)
{
    return read_switch(entries, words, &entries->display.explains);
}

static enum session_exit
run_timer(struct entries *entries, const struct words *words)
{
    return read_switch(entries, words, &entries->is_timed);
}

static enum session_exit
run_pager(struct entries *entries, const struct words *words)
{
    char *pager;

    if (words->count == 1 || strcmp(words->items[1], "on") == 0 ||
        strcmp(words->items[1], "off") == 0)
        return read_switch(entries, words, &entries->is_paged);
    pager = strdup(words->items[1]);
    if (pager == NULL) {
        session_complain(entries->session, "no memory for a word");
        return SESSION_FAILED;
    }
    free(entries->pager);
    entries->pager = pager;
    entries->is_paged = true;
    return SESSION_FINE;
}

static enum session_exit
run_mode(struct entries *entries, const struct words *words)
{
    struct session *session = entries->session;
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
run_limit(struct entries *entries, const struct words *words)
{
    uint64_t *limit = &entries->display.row_limit;
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
        return misuse(entries, "expected a number of rows, or off");
    *limit = number;
    return SESSION_FINE;
}

/* Standard output is another file, so that all that prints goes there. */
static enum session_exit
run_output(struct entries *entries, const struct words *words)
{
    int fd;

    (void)fflush(stdout);
    if (words->count == 1) {
        if (entries->stdout_fd >= 0)
            (void)dup2(entries->stdout_fd, STDOUT_FILENO);
        return SESSION_FINE;
    }
    if (entries->stdout_fd < 0)
        entries->stdout_fd =
            fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    fd = open(words->items[1], O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (fd < 0 || entries->stdout_fd < 0 || dup2(fd, STDOUT_FILENO) < 0) {
        session_complain(entries->session, "cannot write '%s': %s",
                         words->items[1], strerror(errno));
        if (fd >= 0)
            close(fd);
        return SESSION_DAMAGED;
    }
    close(fd);
    return SESSION_FINE;
}

/* ---------------------------------------------------------------- others ---
 */

static enum session_exit
run_quit(struct entries *entries, const struct words *words)
{
    (void)words;
    entries->is_ended = true;
    return SESSION_FINE;
}

static enum session_exit
run_read(struct entries *entries, const struct words *words)
{
    enum session_exit status;
    FILE *file;

    if (words->count == 1)
        return misuse(entries, "expected the name of a file");
    if (entries->depth == READ_DEPTH_MAX)
        return misuse(entries, "files that read files go too deep");
    file = fopen(words->items[1], "re");
    if (file == NULL) {
        session_complain(entries->session, "cannot read '%s': %s",
                         words->items[1], strerror(errno));
        return SESSION_FAILED;
    }
    entries->depth++;
    entries->session->command = NULL;
    status = entries_run_file(entries, file, words->items[1]);
    entries->depth--;
    (void)fclose(file);
    return status;
}

static enum session_exit run_help(struct entries *entries,
                                  const struct words *words);

static const struct dot_command dot_commands[] = {
    {"explain", "[on|off]", "tell how rows were found", 1, run_explain},
    {"help", "[COMMAND]", "this, or more about one command", 1, run_help},
    {"limit", "[ROWS|off]", "show so many rows of a result at most", 1,
     run_limit},
    {"mode", "[MODE]", "show rows as table, line, json, jsonl, csv or msgpack",
     1, run_mode},
    {"output", "[FILE]", "write results to a file; without one, here again", 1,
     run_output},
    {"pager", "[on|off|PROGRAM]", "show long results with a pager", 1,
     run_pager},
    {"quit", "", "leave (so does Ctrl-D)", 0, run_quit},
    {"read", "FILE", "run what is in a file as if it were typed here", 1,
     run_read},
    {"timer", "[on|off]", "tell how long things take", 1, run_timer},
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
dot_commands_name(size_t index)
{
    return index < DOT_COUNT ? dot_commands[index].name
                             : commands_shell_name(index - DOT_COUNT);
}

static const char overview[] =
    "Lua, each line or as many as it takes; what an expression gives is "
    "shown:\n"
    "  tweets:find{user = \"Smith\"}     rows of the family tweets\n"
    "  tweets:find{likes = gt(900)}:select(\"user\", \"likes\"):limit(3)\n"
    "  tweets:find_value(\"Houston\")    a value in any column\n"
    "  tweets:find():group(\"lang\"):count()\n"
    "  tweets:put(\"key\", {user = \"Wu\"})   db:family(\"new\"):put{...}\n"
    "\n"
    "Ctrl-C stops what runs, Tab completes names; docs/shell.md and "
    "docs/lua.md\n"
    "have it all.\n"
    "\n";

/* ".help find" as ".help .find". */
static enum session_exit
help_about(struct entries *entries, const char *name)
{
    const char *argv[] = {"help", name + (name[0] == '.')};
    const struct dot_command *found = find_dot_command(argv[1]);

    if (found == NULL)
        return commands_run(entries->session, 2, argv);
    printf("usage: .%s %s\n\n%s\n", found->name, found->words, found->summary);
    return SESSION_FINE;
}

static enum session_exit
run_help(struct entries *entries, const struct words *words)
{
    if (words->count > 1)
        return help_about(entries, words->items[1]);
    fputs(overview, stdout);
    for (size_t i = 0; i < DOT_COUNT; i++)
        printf("  .%-9s %s\n", dot_commands[i].name, dot_commands[i].summary);
    commands_print_shell();
    printf("\n.help COMMAND tells more.\n");
    return SESSION_FINE;
}

/* ------------------------------------------------------------------ run --- */

static enum session_exit
run_words(struct entries *entries, const struct words *words)
{
    const struct dot_command *found = find_dot_command(words->items[0]);
    enum session_exit status;

    if (found == NULL) /* it is one of the program */
        return commands_run(entries->session, (int)words->count, words->items);
    entries->session->command = found->name;
    if (words->count - 1 > found->word_count_max)
        status = misuse(entries, "too many words");
    else
        status = found->run(entries, words);
    entries->session->command = NULL;
    return status;
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

/* Whether what the command prints goes through the pager. */
static bool
is_paged(const struct entries *entries, const char *name)
{
    static const char *const paged[] = {"find",     "get",     "help",
                                        "families", "columns", "stats"};

    for (size_t i = 0; i < sizeof(paged) / sizeof(paged[0]); i++) {
        if (strcmp(name, paged[i]) == 0)
            return entries->is_paged;
    }
    return false;
}

enum session_exit
dot_commands_run(struct entries *entries, const char *line)
{
    Tokenizer *tokenizer = tok_init(NULL);
    enum session_exit status;
    const char **argv = NULL;
    int argc = 0;

    if (tokenizer == NULL) {
        session_complain(entries->session, "no memory for words");
        return SESSION_FAILED;
    }
    line++; /* the dot */
    if (ends_in_escape(line)) {
        status = misuse(entries, "nothing stands behind the last '\\' (a dot "
                                 "command is one line)");
    } else if (tok_str(tokenizer, line, &argc, &argv) != 0) {
        status = misuse(entries, "a quote is not closed");
    } else {
        const struct words words = {argv, (size_t)argc};

        if (is_paged(entries, argv[0]))
            pager_begin(entries->pager);
        status = run_words(entries, &words);
        pager_end();
    }
    tok_end(tokenizer);
    return status;
}
