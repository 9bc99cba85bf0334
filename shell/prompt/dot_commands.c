/* See dot_commands.h. SPDX-License-Identifier: MIT */
#include "shell/prompt/dot_commands.h"
#include "shell/interrupt.h"
#include "shell/pager.h"
#include "shell/scripts.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <lua.h>
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
    return read_switch(session, arguments, &session->is_timed);
}

/* Files, programs and a terminal are those of the process. `use` is what to add
 * to the command that begins the shell. */
static enum session_exit
refuse_for_client(const struct session *session, const char *use)
{
    return session_complain(session, SESSION_USAGE,
                            "this shell runs in the server, where your files "
                            "and programs are not: run 'colander shell %s %s' "
                            "in another terminal",
                            session->path, use);
}

static enum session_exit
run_pager(struct session *session, const struct arguments *arguments)
{
    struct entries *entries = session->entries;
    const char *word = word_of(arguments);
    char *pager;

    if (session->client != NULL)
        return refuse_for_client(session, "-e CODE | PAGER");
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
    struct output_options options;
    struct colander_error err;

    if (session_format(session, name, OUTPUT_TABLE, &options, &err) !=
        COLANDER_OK)
        return session_misused(session, &err);
    if (name == NULL) {
        fprintf(session_out(session), "%s\n",
                output_format_name(options.format));
        return SESSION_FINE;
    }
    session->has_format = true;
    session->format = options.format;
    return SESSION_FINE;
}

/* Reads a number, or "off" as `off`. */
static enum session_exit
read_number(const struct session *session, const char *word, const char *what,
            uint64_t off, uint64_t *number)
{
    uintmax_t read;
    char *end;

    if (strcmp(word, "off") == 0) {
        *number = off;
        return SESSION_FINE;
    }
    errno = 0;
    read = strtoumax(word, &end, 10);
    if (word[0] == '-' || end == word || *end != '\0' || errno != 0)
        return session_complain(session, SESSION_USAGE,
                                "expected a number of %s, or off", what);
    *number = read;
    return SESSION_FINE;
}

static void
print_number(const struct session *session, uint64_t number, uint64_t off)
{
    if (number == off)
        fprintf(session_out(session), "off\n");
    else
        fprintf(session_out(session), "%" PRIu64 "\n", number);
}

static enum session_exit
run_limit(struct session *session, const struct arguments *arguments)
{
    struct entries *entries = session->entries;
    const char *word = word_of(arguments);
    enum session_exit status;

    if (word == NULL) {
        print_number(session, entries->display.row_limit, UINT64_MAX);
        return SESSION_FINE;
    }
    status = read_number(session, word, "rows", UINT64_MAX,
                         &entries->display.row_limit);
    entries->has_limit = entries->has_limit || status == SESSION_FINE;
    return status;
}

/* The width of tables that the terminal or a file has without .width. */
static size_t
usual_width(const struct entries *entries)
{
    return entries->is_redirected ? OUTPUT_UNCUT : 0;
}

static enum session_exit
run_width(struct session *session, const struct arguments *arguments)
{
    struct entries *entries = session->entries;
    size_t *width = &session->style.width;
    const char *word = word_of(arguments);
    uint64_t number = *width;
    enum session_exit status;

    if (word == NULL) {
        print_number(session, number, usual_width(entries));
        return SESSION_FINE;
    }
    status = read_number(session, word, "characters", 0, &number);
    if (status != SESSION_FINE)
        return status;
    entries->has_width = number > 0;
    *width = entries->has_width ? (size_t)number : usual_width(entries);
    return SESSION_FINE;
}

static enum session_exit
run_nullvalue(struct session *session, const struct arguments *arguments)
{
    struct entries *entries = session->entries;
    const char *word = word_of(arguments);
    char *text;

    if (word == NULL) {
        fprintf(session_out(session), "%s\n",
                entries->null_text == NULL ? "null" : entries->null_text);
        return SESSION_FINE;
    }
    text = strdup(word);
    if (text == NULL)
        return session_complain(session, SESSION_FAILED,
                                "no memory for a word");
    free(entries->null_text);
    session->style.null_text = entries->null_text = text;
    return SESSION_FINE;
}

/* Sets where results go: a file gets all rows, and tables that are not cut. */
static void
set_redirected(struct entries *entries, bool is_redirected)
{
    struct session *session = entries->session;

    if (!entries->has_limit && is_redirected != entries->is_redirected) {
        const uint64_t limit = entries->display.row_limit;

        entries->display.row_limit =
            is_redirected ? UINT64_MAX : entries->shown_limit;
        entries->shown_limit = limit;
    }
    entries->is_redirected = is_redirected;
    if (!entries->has_width)
        session->style.width = usual_width(entries);
}

/* Redirects standard output, so that everything printed goes to the file. */
static enum session_exit
run_output(struct session *session, const struct arguments *arguments)
{
    int *stdout_fd = &session->entries->stdout_fd;
    const char *name = word_of(arguments);
    int fd;

    if (session->client != NULL)
        return refuse_for_client(session, "-e CODE >FILE");
    (void)fflush(stdout);
    session->entries->is_once = false;
    if (name == NULL) {
        if (*stdout_fd >= 0)
            (void)dup2(*stdout_fd, STDOUT_FILENO);
        set_redirected(session->entries, false);
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
    set_redirected(session->entries, true);
    return SESSION_FINE;
}

static enum session_exit
run_once(struct session *session, const struct arguments *arguments)
{
    enum session_exit status = run_output(session, arguments);

    session->entries->is_once = status == SESSION_FINE;
    return status;
}

void
dot_commands_end_once(struct entries *entries)
{
    const struct arguments none = {.words = NULL};

    if (entries->is_once)
        (void)run_output(entries->session, &none);
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

    if (session->client != NULL)
        return refuse_for_client(session, "<FILE");
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
        .options = options_none, .store = COMMAND_ALONE, .is_dot = true,       \
        .word_count_min = (least), .word_count_max = (most), .run = (function) \
    }

const struct command dot_commands[] = {
    DOT_COMMAND("explain", "[on|off]", 0, 1, run_explain,
                "print how rows were found"),
    DOT_COMMAND("limit", "[ROWS|off]", 0, 1, run_limit,
                "limit the rows printed of a result"),
    DOT_COMMAND("mode", "[MODE]", 0, 1, run_mode,
                "print rows as table, box, line, pretty, json, csv, ..."),
    DOT_COMMAND("nullvalue", "[TEXT]", 0, 1, run_nullvalue,
                "print TEXT for null"),
    DOT_COMMAND("once", "FILE", 1, 1, run_once,
                "write the next result to a file"),
    DOT_COMMAND("output", "[FILE]", 0, 1, run_output,
                "write results to a file; without one, here again"),
    DOT_COMMAND("pager", "[on|off|PROGRAM]", 0, 1, run_pager,
                "send long results through a pager"),
    DOT_COMMAND("quit", "", 0, 0, run_quit, "leave (so does Ctrl-D)"),
    DOT_COMMAND("read", "FILE", 1, 1, run_read, "run the entries in a file"),
    DOT_COMMAND("timer", "[on|off]", 0, 1, run_timer,
                "print how long each chunk takes"),
    DOT_COMMAND("width", "[CHARACTERS|off]", 0, 1, run_width,
                "set the width of tables; off: that of the terminal"),
    {.name = NULL},
};

/* ------------------------------------------------------------------ run --- */

/* Pushes the help on a word of Lua, or nil. */
static int
describe_word(lua_State *L)
{
    scripts_push(L, "words");
    lua_pushstring(L, lua_touserdata(L, 1));
    lua_call(L, 1, 1);
    return 1;
}

/* Prints the help on a word of Lua. Returns false if it is none. */
static bool
help_with_word(const struct entries *entries, const char *word)
{
    lua_State *L = interpreter_state(entries->interpreter);
    bool is_word;

    lua_pushcfunction(L, describe_word);
    lua_pushlightuserdata(L, (void *)word);
    is_word = lua_pcall(L, 1, 1, 0) == LUA_OK && lua_isstring(L, -1);
    if (is_word)
        fprintf(session_out(entries->session), "%s\n", lua_tostring(L, -1));
    lua_settop(L, 0);
    return is_word;
}

static enum session_exit
run_words(struct entries *entries, int argc, const char **argv)
{
    const bool was_once = entries->is_once;
    const struct command *command = command_by_name(entries->session, argv[0]);
    enum session_exit status;

    if (argc == 2 && strcmp(argv[0], "help") == 0 && argv[1][0] != '.' &&
        help_with_word(entries, argv[1])) {
        if (command_by_name(entries->session, argv[1]) == NULL)
            return SESSION_FINE;
        fprintf(session_out(entries->session), "\n"); /* and a command */
    }
    if (entries->is_paged && command != NULL && command->is_paged)
        pager_begin(entries->pager);
    status = command_run(entries->session, argc, argv);
    pager_end();
    if (was_once)
        dot_commands_end_once(entries);
    return status;
}

/* Splits the line into words, in place and as sh does: quotes and backslashes
 * are interpreted, nothing else. `words` has room for all. Returns what is
 * wrong, or NULL. */
static const char *
split(char *line, const char **words, int *count)
{
    static const char spaces[] = " \t\n";
    char *end = line; /* of the words so far */

    *count = 0;
    while (*(line += strspn(line, spaces)) != '\0') {
        char quote = '\0';

        words[(*count)++] = end;
        for (; *line != '\0' && (quote != '\0' || !strchr(spaces, *line));
             line++) {
            if (quote != '\0' ? *line == quote : *line == '\'' || *line == '"')
                quote = quote == '\0' ? *line : '\0';
            else if (*line != '\\' || quote == '\'' ||
                     (quote == '"' && strchr("\"\\$`", line[1]) == NULL))
                *end++ = *line;
            else if (line[1] == '\0')
                return "nothing follows the last '\\' (a dot command is one "
                       "line)";
            else
                *end++ = *++line;
        }
        if (quote != '\0')
            return "a quote is not closed";
        line += *line != '\0';
        *end++ = '\0';
    }
    return NULL;
}

enum session_exit
dot_commands_run(struct entries *entries, const char *line)
{
    struct session *session = entries->session;
    enum session_exit status;
    char *text = strdup(line + 1); /* after the dot */
    const char **words = calloc(strlen(line) + 2, sizeof(*words));
    const char *mistake;
    int count;

    if (text == NULL || words == NULL) {
        status =
            session_complain(session, SESSION_FAILED, "no memory for words");
    } else {
        mistake = split(text, words, &count);
        status = mistake != NULL
                     ? session_complain(session, SESSION_USAGE, "%s", mistake)
                     : run_words(entries, count, words);
    }
    free(text);
    free(words);
    return status;
}
