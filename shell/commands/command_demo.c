/*
 * The command demo: creates a store to try things on, and queries it.
 *
 * SPDX-License-Identifier: MIT
 */
#include "shell/command.h"
#include "shell/entries.h"
#include "shell/scripts.h"

#include <stdio.h>
#include <unistd.h>

#define RECORD_COUNT 100000 /* of each kind, as in demo.lua */

/* Entries of the shell. Words are quoted as a command line needs it. */
static const struct example {
    const char *comment;
    const char *entry;
} examples[] = {
    {"rows with a value in one column",
     ".find tweets user=Smith --select user,likes,text --limit 3"},
    {"rows with a value in any column, and in which",
     ".find tweets --any Houston --select user,place,text --limit 5"},
    {"several conditions, one of them a range",
     ".find tweets 'likes>=900' lang=pl --select user,likes,text --limit 3"},
    {"how many rows have a value inside maps and arrays",
     ".find tweets 'entities.hashtags[].text=coffee' --count"},
    {"rows with a word in a text, and a condition that filters know",
     ".find tweets rain 'likes>=990' --select likes,text --limit 3"},
    {"groups of rows, with the average and a percentile of a column",
     ".group tweets --by lang --count --avg likes --p95 likes"},
    {"ten minutes of one station, by the key alone",
     ".find sensors --from '[\"sensor-7\",1600000000]' --to "
     "'[\"sensor-7\",1600000600]'"},
    {"rows that have a column that others lack",
     ".find sensors 'fault?' --limit 3"},
    {"how many rows have a value in any column",
     ".find tweets --any Smith --count"},
    {"the same by reading every row, to compare",
     ".find tweets --any Smith --count --scan"},
    {"a value that no row has", ".find tweets user=Unknown"},
    {"in Lua: rows in the order of a column",
     "tweets:find{user = \"Smith\"}:order(\"likes\", \"desc\")"
     ":select(\"likes\", \"text\"):limit(3)"},
    {"the tweets of each language with a word",
     "tweets:search(\"rain\"):group(\"lang\"):count()"},
    {"the mean temperature of one station",
     "sensors:scan{prefix = {\"sensor-7\"}}:avg(\"temperature\")"},
};

/* --------------------------------------------------------------- create --- */

/* What demo.lua is asked. */
struct question {
    const char *task;
    bool answer;
};

/* Asks demo.lua. */
static int
call_script(lua_State *L)
{
    struct question *question = lua_touserdata(L, 1);

    scripts_load(L, "demo");
    lua_pushstring(L, question->task);
    lua_pushboolean(L, isatty(STDERR_FILENO));
    lua_call(L, 2, 1);
    question->answer = lua_toboolean(L, -1);
    return 0;
}

static enum session_exit
run_script(struct entries *entries, void *context)
{
    lua_State *L = interpreter_state(entries->interpreter);

    lua_pushcfunction(L, call_script);
    lua_pushlightuserdata(L, context);
    return interpreter_call(entries->interpreter, 1, INTERPRETER_MESSAGE);
}

/* Runs a task of demo.lua on the open store. */
static enum session_exit
ask(struct session *session, const char *task, bool *answer)
{
    struct question question = {task, false};
    enum session_exit status = entries_run_task(session, run_script, &question);

    *answer = question.answer;
    return status;
}

/* Creates the store, or loads all records again if it lacks some. */
static enum session_exit
make(struct session *session, const char *path)
{
    struct colander_error err;
    enum session_exit status;
    bool answer;

    if (session_open(session, path, COLANDER_OPEN_OR_CREATE, &err) !=
        COLANDER_OK)
        return session_fail(session, &err);
    status = ask(session, "is_demo", &answer);
    if (status == SESSION_FINE && !answer)
        status = session_complain(
            session, SESSION_FAILED,
            "'%s' is another store, which demo does not change", path);
    if (status == SESSION_FINE)
        status = ask(session, "load", &answer);
    return session_finish(session, status);
}

/* Opens the store for reading, after creating it if it does not exist: so
 * several programs can use an existing one. */
static enum session_exit
prepare(struct session *session, const char *path)
{
    enum session_exit status = SESSION_FINE;
    struct colander_error err;
    bool is_ready = false;
    enum colander_code code =
        session_open(session, path, COLANDER_OPEN_READ_ONLY, &err);

    if (code == COLANDER_OK)
        status = ask(session, "is_complete", &is_ready);
    else if (code != COLANDER_NOT_FOUND)
        return session_fail(session, &err);
    if (status == SESSION_FINE && !is_ready) {
        status = session_finish(session, status);
        if (status == SESSION_FINE)
            status = make(session, path);
        if (status == SESSION_FINE &&
            session_open(session, path, COLANDER_OPEN_READ_ONLY, &err) !=
                COLANDER_OK)
            status = session_fail(session, &err);
    }
    if (status == SESSION_FINE)
        printf("the demo store '%s' %s: %d tweets, %d sensor readings\n"
               "(if colander is not installed, use script/run instead: "
               "script/run find ...)\n",
               path, is_ready ? "exists already" : "is ready", RECORD_COUNT,
               RECORD_COUNT);
    return status;
}

/* ----------------------------------------------------------------- show --- */

/* Prints an entry as a command line, its path quoted for a shell. */
static void
print_command(const char *path, const char *entry)
{
    const size_t name_size = entry[0] == '.' ? strcspn(entry, " ") - 1 : 0;
    const char *quote = strpbrk(path, " []<>\"?*&|;$()!~\\") == NULL ? "" : "'";

    if (name_size > 0)
        printf("$ colander %.*s %s%s%s%s\n", (int)name_size, entry + 1, quote,
               path, quote, entry + 1 + name_size);
    else
        printf("$ colander shell %s%s%s -e '%s'\n", quote, path, quote, entry);
}

static enum session_exit
show_examples(struct entries *entries, void *context)
{
    enum session_exit status = SESSION_FINE;

    (void)context;
    for (size_t i = 0;
         i < sizeof(examples) / sizeof(examples[0]) && status == SESSION_FINE;
         i++) {
        printf("\n# %s\n", examples[i].comment);
        print_command(entries->session->path, examples[i].entry);
        status = entries_run_entry(entries, examples[i].entry);
    }
    return status;
}

static enum session_exit
run_prompt(struct entries *entries, void *context)
{
    (void)context;
    entries->session->command = NULL;
    return entries_run_terminal(entries, true);
}

static enum session_exit
show_demo(struct session *session)
{
    enum session_exit status;

    session->is_demo = true;
    status = entries_run_task(session, show_examples, NULL);
    if (status == SESSION_FINE)
        printf("\n# load your own records: see colander load --help\n");
    session->is_demo = false;
    if (status == SESSION_FINE && isatty(STDIN_FILENO) &&
        isatty(STDOUT_FILENO)) {
        printf("\nNow type Lua, such as the code in quotes after -e; or .help, "
               "or .quit:\n");
        status = entries_run_task(session, run_prompt, NULL);
    }
    return status;
}

static enum session_exit
run_demo(struct session *session, const struct arguments *arguments)
{
    const char *path = arguments->word_count > 0 ? arguments->words[0] : "demo";
    enum session_exit status = prepare(session, path);

    if (status == SESSION_FINE)
        status = show_demo(session);
    return session_finish(session, status);
}

const struct command command_demo = {
    .name = "demo",
    .words = "[STORE]",
    .summary = "create a store to try things on, and query it",
    .help =
        "Creates a store (./demo without an argument) with 100,000\n"
        "generated tweets and as many sensor readings; an existing demo\n"
        "store is reused. Then runs some finds, and prints what each of them\n"
        "had to read. On a terminal it continues as the shell, for reading\n"
        "only.\n",
    .examples = "  colander demo\n",
    .options = options_none,
    .store = COMMAND_OPENS,
    .word_count_max = 1,
    .run = run_demo,
};
