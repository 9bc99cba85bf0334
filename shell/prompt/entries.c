/* See entries.h. SPDX-License-Identifier: MIT */
#include "shell/entries.h"
#include "core/clock.h"
#include "shell/command.h"
#include "shell/interrupt.h"
#include "shell/line_input.h"
#include "shell/pager.h"
#include "shell/prompt/chunk.h"
#include "shell/prompt/completion.h"
#include "shell/prompt/dot_commands.h"
#include "shell/text.h"

#include "scripting/scripting.h"

#include <ctype.h>
#include <errno.h>
#include <lua.h>
#include <stdlib.h>
#include <unistd.h>

#define PROMPT "colander> "
#define PROMPT_MORE "      ... "
#define ENTRY_SIZE_MAX (16u << 20) /* about */
#define TRIED_SIZE 4000 /* bytes; a longer entry waits for its brackets */
#define FAMILIES_GREETED 10
#define BLANKS " \t"
#define TYPED "=stdin" /* the name of typed text in messages */

void
entries_init(struct entries *entries, struct session *session,
             struct interpreter *interpreter)
{
    memset(entries, 0, sizeof(*entries));
    session->dot_commands = dot_commands;
    session->entries = entries;
    entries->session = session;
    entries->interpreter = interpreter;
    entries->display.session = session;
    entries->display.row_limit = entries->shown_limit = UINT64_MAX;
    entries->stdout_fd = -1;
}

void
entries_release(struct entries *entries)
{
    report_release(&entries->display.notes);
    free(entries->pager);
    free(entries->null_text);
    entries->session->style.null_text = NULL;
    entries->session->is_timed = false;
    if (entries->stdout_fd >= 0)
        close(entries->stdout_fd);
    entries->session->dot_commands = NULL;
    entries->session->entries = NULL;
}

/* -------------------------------------------------------------- chunks --- */

/* Prints its arguments after the first, which is the display. */
static int
show(lua_State *L)
{
    display_show(L, lua_touserdata(L, 1), 2);
    return 0;
}

/* Prints the values on the stack, and removes them. */
static enum session_exit
show_results(struct entries *entries)
{
    lua_State *L = interpreter_state(entries->interpreter);
    const int count = lua_gettop(L);
    struct colander_error err;
    enum session_exit status;

    if (entries->is_paged)
        pager_begin(entries->pager);
    lua_pushcfunction(L, show);
    lua_insert(L, 1);
    lua_pushlightuserdata(L, &entries->display);
    lua_insert(L, 2);
    status =
        interpreter_call(entries->interpreter, count + 1, INTERPRETER_MESSAGE);
    pager_end();
    lua_settop(L, 0);
    display_print_notes(&entries->display);
    if (status == SESSION_FINE &&
        output_flush(session_out(entries->session), &err) != COLANDER_OK)
        status = session_fail(entries->session, &err);
    return status;
}

/* Calls the chunk on the stack, and prints its values. */
static enum session_exit
run_loaded(struct entries *entries, enum interpreter_detail detail)
{
    lua_State *L = interpreter_state(entries->interpreter);
    const double start = clock_seconds();
    enum session_exit status;

    entries->display.wants_hint = true;
    entries->display.explained = 0;
    scripting_set_ended(
        L, entries->display.explains ? display_explain_ended : NULL,
        &entries->display);
    status = interpreter_call(entries->interpreter, 0, detail);
    if (status == SESSION_FINE && lua_gettop(L) > 0)
        status = show_results(entries);
    lua_settop(L, 0);
    scripting_set_ended(L, NULL, NULL);
    entries->display.wants_hint = false;
    display_print_notes(&entries->display);
    dot_commands_end_once(entries);
    if (entries->session->is_timed) {
        (void)fflush(session_out(entries->session));
        fprintf(session_err(entries->session), "time: %s\n",
                TIME_OF((uint64_t)((clock_seconds() - start) * 1e6)));
    }
    return status;
}

/* Whether the line is a dot command: `.5` is a number. */
static bool
is_dot_command(const char *line)
{
    line += strspn(line, BLANKS);
    return line[0] == '.' && isalpha((unsigned char)line[1]);
}

enum session_exit
entries_run_chunk(struct entries *entries, const char *text, const char *name)
{
    lua_State *L = interpreter_state(entries->interpreter);
    enum session_exit status;

    switch (chunk_load(L, colander_slice_text(text), name)) {
    case CHUNK_READY:
        break;
    case CHUNK_UNFINISHED:
        return session_complain(entries->session, SESSION_FAILED,
                                "%s: the end is missing", name + 1);
    case CHUNK_WRONG:
        status = interpreter_fail(entries->interpreter);
        if (is_dot_command(text))
            fprintf(session_err(entries->session),
                    "commands that begin with a dot are for the "
                    "prompt: without it they are commands of "
                    "colander, or pipe them to 'colander shell'\n");
        return status;
    }
    return run_loaded(entries, INTERPRETER_TRACEBACK);
}

enum session_exit
entries_run_entry(struct entries *entries, const char *line)
{
    return line[0] == '.' ? dot_commands_run(entries, line)
                          : entries_run_chunk(entries, line, "=-e");
}

enum session_exit
entries_run_task(struct session *session,
                 enum session_exit (*task)(struct entries *, void *),
                 void *context)
{
    struct interpreter *interpreter = NULL;
    struct entries entries;
    struct colander_error err;
    enum session_exit status;

    if (interpreter_create(session, 0, &interpreter, &err) != COLANDER_OK)
        return session_fail(session, &err);
    entries_init(&entries, session, interpreter);
    scripting_set_missed(interpreter_state(interpreter), display_explain_missed,
                         &entries.display);
    status = task(&entries, context);
    scripting_set_missed(interpreter_state(interpreter), NULL, NULL);
    entries_release(&entries);
    interpreter_destroy(interpreter);
    return status;
}

/* -------------------------------------------------------------- entries --- */

struct entry {
    struct colander_buffer text; /* without the last newline */
    unsigned long line;          /* of its first line */
    struct brackets brackets;    /* that its lines leave open */
};

/* Returns the dot command for words that new users type. */
static const char *
as_meant(const struct entries *entries, const char *line)
{
    if (!entries->session->is_prompt)
        return line;
    if (strcmp(line, "help") == 0)
        return ".help";
    return strcmp(line, "quit") == 0 || strcmp(line, "exit") == 0 ? ".quit"
                                                                  : line;
}

static enum colander_code
add_line(struct entry *entry, const char *line, struct colander_error *err)
{
    enum colander_code code = COLANDER_OK;

    if (entry->text.size > ENTRY_SIZE_MAX)
        return COLANDER_FAIL(err, COLANDER_LIMIT,
                             "an entry of more than %u bytes", ENTRY_SIZE_MAX);
    if (entry->text.size > 0)
        code = colander_buffer_append(&entry->text, "\n", 1, err);
    else
        entry->brackets = (struct brackets)BRACKETS_NONE;
    brackets_add(&entry->brackets, colander_slice_text(line));
    if (code == COLANDER_OK)
        code = colander_buffer_append(&entry->text, line, strlen(line), err);
    return code;
}

/* If a chunk that is not Lua begins with a command, hints. `limit =` is Lua. */
static void
hint_at_command(const struct session *session, struct colander_slice text)
{
    const struct command *command;

    for (size_t i = 0; (command = command_at(session, i)) != NULL; i++) {
        const size_t size = strlen(command->name);

        if (text.size > size + 1 && text.data[size] == ' ' &&
            text.data[size + 1] != '=' &&
            memcmp(text.data, command->name, size) == 0)
            fprintf(session_err(session), "commands begin with a dot: .%s\n",
                    command->name);
    }
}

/* Whether the text begins like SQL, or like a command of another shell. */
static bool
is_other_language(const struct session *session, struct colander_slice text)
{
    static const char *const words[] = {"select", "show",   "use",
                                        "insert", "update", "delete",
                                        "create", "drop",   "describe"};

    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        const size_t size = strlen(words[i]);

        if (text.size > size && text.data[size] == ' ' &&
            strncasecmp((const char *)text.data, words[i], size) == 0)
            return memcmp(text.data, words[i], size) != 0 ||
                   command_by_name(session, words[i]) == NULL;
    }
    return false;
}

/* Says what to type instead, about one of the families. */
static enum session_exit
answer_other_language(const struct entries *entries)
{
    struct colander_names names = {NULL, 0};
    enum session_exit status;

    if (colander_store_families(entries->session->store, &names, NULL) !=
        COLANDER_OK)
        names.count = 0;
    status = session_complain(
        entries->session, SESSION_FAILED, "this is Lua: %s:find():limit(10)",
        names.count == 0 ? "family" : names.names[names.count - 1]);
    colander_names_release(&names);
    return status;
}

/* Runs the entry if it is complete, and empties it. */
static enum session_exit
try_entry(struct entries *entries, struct line_input *input,
          struct entry *entry)
{
    lua_State *L = interpreter_state(entries->interpreter);
    const struct colander_slice text = colander_buffer_slice(&entry->text);
    enum chunk_state state;
    enum session_exit status;

    /* loading a long entry after each line would take quadratic time */
    if (entry->text.size > TRIED_SIZE && brackets_are_open(&entry->brackets))
        return SESSION_FINE;
    state = chunk_load(L, text, TYPED);
    if (state == CHUNK_UNFINISHED)
        return SESSION_FINE;
    line_input_remember(input, colander_buffer_slice(&entry->text));
    entry->text.size = 0;
    if (state != CHUNK_WRONG)
        return run_loaded(entries, INTERPRETER_MESSAGE);
    if (is_other_language(entries->session, text)) {
        lua_pop(L, 1);
        return answer_other_language(entries);
    }
    status = interpreter_fail(entries->interpreter);
    hint_at_command(entries->session, text);
    return status;
}

/* Adds the line, and runs the entry if that completes it. */
static enum session_exit
run_line(struct entries *entries, struct line_input *input, struct entry *entry,
         const char *line)
{
    struct session *session = entries->session;
    const unsigned long here = session->line;
    enum session_exit status;
    struct colander_error err;

    if (entry->text.size == 0 && line[strspn(line, BLANKS)] == '\0')
        return SESSION_FINE;
    if (entry->text.size == 0) {
        entry->line = here;
        line = as_meant(entries, line);
    }
    if (add_line(entry, line, &err) != COLANDER_OK)
        return session_fail(session, &err);
    session->line = entry->line;
    if (is_dot_command(line) && entry->text.size == strlen(line)) {
        line_input_remember(input, colander_buffer_slice(&entry->text));
        entry->text.size = 0;
        status = dot_commands_run(entries, line + strspn(line, BLANKS));
    } else {
        status = try_entry(entries, input, entry);
    }
    session->line = here;
    return status;
}

/* At the end of the input, the last entry must be complete. */
static enum session_exit
end_input(const struct entries *entries, const struct entry *entry)
{
    if (entry->text.size == 0)
        return SESSION_FINE;
    entries->session->line = entry->line;
    return session_complain(entries->session, SESSION_FAILED,
                            "the chunk that begins here has no end");
}

/* ------------------------------------------------------------- terminal --- */

/* No line was read. A Ctrl-C at the prompt only discards the entry; the second
 * one without an entry leaves. The program of a client counts them. */
static enum session_exit
stop_typing(struct entries *entries, struct line_input *input, bool is_new,
            const struct colander_error *err)
{
    line_input_end_line(input);
    if (err->code == COLANDER_CANCELLED &&
        !(entries->session->client == NULL
              ? interrupt_ended_by() != 0 ||
                    line_input_is_second_interrupt(input, is_new)
              : interrupt_happened()))
        return SESSION_FINE;
    entries->is_ended = true;
    if (err->code != COLANDER_CANCELLED)
        return session_fail(entries->session, err);
    return SESSION_INTERRUPTED;
}

static enum session_exit
run_typed(struct entries *entries, struct line_input *input)
{
    struct entry entry = {.brackets = BRACKETS_NONE};
    enum session_exit status = SESSION_FINE;

    while (!entries->is_ended && interrupt_ended_by() == 0) {
        const bool is_new = entry.text.size == 0;
        struct colander_error err;
        const char *line;

        if (line_input_read(input, is_new ? PROMPT : PROMPT_MORE, is_new, &line,
                            &err) != COLANDER_OK) {
            entry.text.size = 0;
            status = stop_typing(entries, input, is_new, &err);
        } else if (line == NULL) {
            line_input_end_line(input);
            break;
        } else {
            interrupt_forget(); /* it was meant for the last line */
            interrupt_count_again();
            (void)run_line(entries, input, &entry, line);
            interrupt_count_again(); /* it stopped what ran */
        }
        interrupt_forget();
    }
    colander_buffer_release(&entry.text);
    return status;
}

/* ---------------------------------------------------------------- files --- */

static enum session_exit
run_lines(struct entries *entries, struct line_input *input)
{
    struct entry entry = {.brackets = BRACKETS_NONE};
    struct session *session = entries->session;
    enum session_exit status = SESSION_FINE;

    while (status == SESSION_FINE && !entries->is_ended) {
        struct colander_error err;
        const char *line;

        if (line_input_read(input, NULL, false, &line, &err) != COLANDER_OK) {
            status = session_fail(session, &err);
        } else if (line == NULL) {
            status = end_input(entries, &entry);
            break;
        } else {
            if (session->line++ == 0 && line[0] == '#')
                continue; /* #! */
            status = run_line(entries, input, &entry, line);
        }
    }
    colander_buffer_release(&entry.text);
    return status;
}

enum session_exit
entries_run_file(struct entries *entries, FILE *file, const char *name)
{
    struct session *session = entries->session;
    const unsigned long line_before = session->line;
    const char *file_before = session->file;
    const char *command_before = session->command;
    struct line_input *input = NULL;
    struct colander_error err;
    enum session_exit status;

    session->line = 0;
    session->file = name;
    session->command = NULL;
    if (line_input_open_file(file, &input, &err) == COLANDER_OK)
        status = run_lines(entries, input);
    else
        status = session_fail(session, &err);
    line_input_close(input);
    session->line = line_before;
    session->file = file_before;
    session->command = command_before;
    return status;
}

enum session_exit
entries_run_path(struct entries *entries, const char *name)
{
    FILE *file = fopen(name, "re");
    enum session_exit status;

    if (file == NULL)
        return session_complain(entries->session, SESSION_FAILED,
                                "cannot read '%s': %s", name, strerror(errno));
    status = entries_run_file(entries, file, name);
    (void)fclose(file);
    return status;
}

/* Runs init.lua, if there is one. */
static void
run_init_file(struct entries *entries)
{
    char *path = user_file_path("XDG_CONFIG_HOME", ".config", "init.lua");

    if (path != NULL && (access(path, F_OK) == 0 || errno != ENOENT))
        (void)entries_run_path(entries, path);
    free(path);
}

/* Prints "2 families: sensors (about 100,000 rows), tweets (empty)". */
static void
print_families(const struct session *session)
{
    struct colander_names names = {NULL, 0};
    struct report report = REPORT_EMPTY;

    if (colander_store_families(session->store, &names, NULL) != COLANDER_OK)
        return;
    if (names.count == 0 && session->client != NULL)
        report_add(&report,
                   "no families: try 'colander load %s FAMILY FILE --key "
                   "COLUMN' in another terminal",
                   session->path);
    else if (names.count == 0)
        report_add(&report, "no families: try .load FAMILY FILE --key COLUMN");
    else
        report_add(&report, "%s%s: ", THOUSANDS(names.count),
                   names.count == 1 ? " family" : " families");
    for (size_t i = 0; i < names.count && i < FAMILIES_GREETED; i++) {
        struct colander_family *family = NULL;
        struct colander_family_sizes sizes = {.key_count = 0};

        if (colander_family_open(session->store, names.names[i], &family,
                                 NULL) == COLANDER_OK)
            (void)!colander_family_sizes(family, &sizes, NULL);
        colander_family_close(family);
        report_add(&report, "%s", i == 0 ? "" : ", ");
        report_add_text(&report, colander_slice_text(names.names[i]));
        if (sizes.key_count == 0)
            report_add(&report, " (empty)");
        else
            report_add(&report, " (about %s)",
                       NUMBER_OF(sizes.key_count, "row"));
    }
    if (names.count > FAMILIES_GREETED)
        report_add(&report, ", ...");
    (void)!report_print(&report, session_out(session), NULL);
    colander_names_release(&names);
}

enum session_exit
entries_complete(struct entries *entries, const char *line)
{
    struct completion completion = {entries->interpreter, entries->session};
    struct colander_buffer added = COLANDER_BUFFER_EMPTY;
    struct colander_buffer listing = COLANDER_BUFFER_EMPTY;

    completion_find(&completion, colander_slice_text(line), &added, &listing);
    if (added.size > 0)
        fprintf(session_out(entries->session), "+%s", (char *)added.data);
    else if (listing.size > 0)
        fprintf(session_out(entries->session), "?%s", (char *)listing.data);
    colander_buffer_release(&added);
    colander_buffer_release(&listing);
    return SESSION_FINE;
}

enum session_exit
entries_run_terminal(struct entries *entries, bool has_init)
{
    struct session *session = entries->session;
    const struct session_client *client = session->client;
    struct completion completion = {entries->interpreter, session};
    struct line_input *input = NULL;
    struct colander_error err;
    enum session_exit status = SESSION_FINE;

    fprintf(session_out(session), "colander %s: %s%s. Try .help.\n",
            colander_version(), session->path,
            session->is_read_only ? " (read only)" : "");
    print_families(session);
    session->is_prompt = true;
    if (has_init) {
        run_init_file(entries);
        interrupt_forget(); /* a Ctrl-C was meant for the file */
    }
    if (entries->is_ended)
        return SESSION_FINE;
    entries->is_paged = client == NULL;
    if (!entries->has_limit) /* init.lua may have set one */
        entries->display.row_limit = DISPLAY_ROWS;
    if ((client == NULL
             ? line_input_open_terminal(completion_find, &completion, &input,
                                        &err)
             : line_input_open_source(client->read_line, client->context,
                                      &input, &err)) == COLANDER_OK)
        status = run_typed(entries, input);
    else
        status = session_fail(session, &err);
    line_input_close(input);
    return status;
}
