/*
 * Display: see display.h.
 *
 * SPDX-License-Identifier: MIT
 */
#include "shell/display.h"
#include "shell/explanation.h"
#include "shell/inspect.h"
#include "shell/interrupt.h"
#include "shell/text.h"

#include "scripting/scripting.h"

#include <inttypes.h>
#include <lauxlib.h>
#include <unistd.h>

#define TYPE "colander.shown"
#define DISPLAY_VALUES 1000        /* of one expression that are shown */
#define STRING_SIZE_MAX (1u << 20) /* bytes of a string, on a terminal */
#define VALUE_SIZE_MAX 4000        /* bytes of a value that is no row */

/* What is open while something is shown: in userdata, as errors may fly. */
struct shown {
    struct output *output;
    struct explanation explanation;
    struct request request;               /* as the explanation wants it */
    struct colander_row_builder *builder; /* of a walk's rows */
    struct colander_buffer text;
};

/* The format in force: `terminal` for a reader who has chosen none. */
static enum output_format
format_of(const struct display *display, enum output_format terminal)
{
    enum output_format format = terminal;

    (void)!session_format(display->session, NULL, terminal, &format, NULL);
    return format; /* without a name nothing can be wrong */
}

static int
release_shown(lua_State *L)
{
    struct shown *shown = luaL_checkudata(L, 1, TYPE);

    output_destroy(shown->output);
    explanation_release(&shown->explanation);
    colander_row_builder_destroy(shown->builder);
    colander_buffer_release(&shown->text);
    shown->output = NULL;
    shown->builder = NULL;
    return 0;
}

static struct shown *
push_shown(lua_State *L)
{
    struct shown *shown = lua_newuserdatauv(L, sizeof(*shown), 0);

    memset(shown, 0, sizeof(*shown));
    if (luaL_newmetatable(L, TYPE) != 0) {
        lua_pushcfunction(L, release_shown);
        lua_setfield(L, -2, "__gc");
    }
    lua_setmetatable(L, -2);
    return shown;
}

static void
check(lua_State *L, enum colander_code code, const struct colander_error *err)
{
    if (code != COLANDER_OK)
        scripting_raise(L, err);
}

static void
open_output(lua_State *L, struct shown *shown,
            const struct output_options *options)
{
    struct colander_error err;

    check(L, output_create(stdout, options, &shown->output, &err), &err);
}

static void
give_row(lua_State *L, struct shown *shown,
         const struct colander_result *result)
{
    struct colander_error err;

    if (interrupt_happened())
        luaL_error(L, "interrupted");
    check(L, output_row(shown->output, result, &err), &err);
}

/* A note, on a line of its own. */
static struct report *
begin_note(struct display *display)
{
    if (display->notes.text.size > 0)
        report_add(&display->notes, "\n");
    return &display->notes;
}

/* Notes that no more rows than these are shown. */
static void
note_cut(struct display *display, uint64_t row_count, const char *and)
{
    struct report *note = begin_note(display);

    report_add(note, "[the first ");
    report_add_number(note, row_count, "row");
    report_add(note, "%s: see .limit]", and);
}

/* Shows what is kept back, and notes what is not shown at all. */
static void
finish_output(lua_State *L, struct display *display, struct shown *shown)
{
    struct colander_error err;

    check(L, output_finish(shown->output, &err), &err);
    check(L, output_append_left_out(shown->output, &shown->text, &err), &err);
    if (shown->text.size > 0)
        report_add_text(begin_note(display),
                        colander_buffer_slice(&shown->text));
}

/* ------------------------------------------------------------- queries --- */

/* Tells what the query at `index` took. */
static void
tell_counts(lua_State *L, struct display *display, struct shown *shown,
            int index, struct colander_family *family, uint64_t row_count)
{
    const struct colander_cursor *cursor = scripting_query_cursor(L, index);
    struct explanation *explanation = &shown->explanation;
    struct colander_family_sizes sizes;

    if (cursor == NULL)
        return;
    explanation_take_cursor(explanation, cursor);
    explanation->family = colander_family_name(family);
    explanation->counts.rows_returned = row_count;
    if (colander_family_sizes(family, &sizes, NULL) == COLANDER_OK)
        explanation->key_count = sizes.key_count;
    if (display->explains)
        explanation_add(explanation, &display->notes);
    else
        explanation_add_counts(explanation, begin_note(display));
}

/* Shows a row of the query at `index`, which a failure ends. */
static void
give_result(lua_State *L, struct shown *shown, int index,
            const struct colander_result *result)
{
    struct colander_error err;
    enum colander_code code = COLANDER_OK;

    if (interrupt_happened())
        code = COLANDER_FAIL(&err, COLANDER_CANCELLED, "interrupted");
    if (code == COLANDER_OK)
        code = output_row(shown->output, result, &err);
    if (code == COLANDER_OK)
        return;
    scripting_query_end(L, index);
    scripting_raise(L, &err);
}

static void
show_query(lua_State *L, struct display *display, int index)
{
    struct shown *shown = push_shown(L);
    struct output_options options = {0};
    struct scripting_query query;
    struct colander_result result;
    uint64_t row_count = 0;
    bool is_row;

    scripting_query_begin(L, index, &query);
    options.format = format_of(display, OUTPUT_TABLE);
    options.paths = query.paths;
    options.path_count = query.path_count;
    options.shows_matches = query.tells_columns;
    open_output(L, shown, &options);
    shown->request.query = *query.asked;
    shown->explanation.request = &shown->request;
    while ((is_row = scripting_query_next(L, index, &result)) &&
           row_count < display->row_limit) {
        give_result(L, shown, index, &result);
        row_count++;
    }
    finish_output(L, display, shown);
    if (is_row)
        note_cut(display, row_count, "; there are more");
    if (display->explains || session_shows_counts(display->session))
        tell_counts(L, display, shown, index, query.family, row_count);
    scripting_query_end(L, index);
    lua_pop(L, 1);
}

/* -------------------------------------------------------- other values --- */

static void
show_value(lua_State *L, int index)
{
    struct shown *shown;

    if (lua_type(L, index) == LUA_TSTRING && !isatty(STDOUT_FILENO)) {
        size_t size; /* a program gets the very bytes */
        const char *text = lua_tolstring(L, index, &size);

        (void)fwrite(text, 1, size, stdout);
        return;
    }
    shown = push_shown(L);
    inspect_append(L, index, &shown->text,
                   lua_type(L, index) == LUA_TSTRING ? STRING_SIZE_MAX
                                                     : VALUE_SIZE_MAX);
    if (shown->text.size > 0)
        (void)fwrite(shown->text.data, 1, shown->text.size, stdout);
    lua_pop(L, 1);
}

/* Shows the table of columns at `index` as a row without a key. */
static void
give_columns(lua_State *L, struct shown *shown, int index)
{
    struct colander_result result;

    memset(&result, 0, sizeof(result));
    scripting_get_row(L, index, &result.key, &result.row);
    give_row(L, shown, &result);
}

/* Shows the row that was built. */
static void
give_built(lua_State *L, struct shown *shown)
{
    struct colander_result result;
    struct colander_error err;

    memset(&result, 0, sizeof(result));
    check(L, colander_row_builder_finish(shown->builder, &result.row, &err),
          &err);
    give_row(L, shown, &result);
}

/* Shows what a walk gives: the values and what they come to, as rows. */
static void
show_walk(lua_State *L, struct display *display, int index)
{
    struct output_options options = {.format = format_of(display, OUTPUT_TABLE),
                                     .has_no_key = true};
    struct shown *shown = push_shown(L);
    struct colander_value value;
    struct colander_value measure;
    uint64_t row_count = 0;
    const char *by;
    const char *name;

    open_output(L, shown, &options);
    shown->builder = colander_row_builder_create();
    if (shown->builder == NULL)
        luaL_error(L, "not enough memory");
    scripting_walk_names(L, index, &by, &name);
    while (scripting_walk_next(L, index, &value, &measure)) {
        if (row_count++ == display->row_limit) {
            note_cut(display, display->row_limit, "; there are more");
            break;
        }
        colander_row_builder_add(shown->builder, by, value);
        if (name != NULL)
            colander_row_builder_add(shown->builder, name, measure);
        give_built(L, shown);
    }
    finish_output(L, display, shown);
    lua_pop(L, 1);
}

static void
show_row(lua_State *L, struct display *display, int index)
{
    struct output_options options = {.format = format_of(display, OUTPUT_LINE)};
    struct shown *shown = push_shown(L);

    open_output(L, shown, &options);
    give_columns(L, shown, index);
    finish_output(L, display, shown);
    lua_pop(L, 1);
}

/* Whether all elements of the table at `index` are rows. */
static bool
is_row_list(lua_State *L, int index)
{
    const lua_Integer count = (lua_Integer)lua_rawlen(L, index);
    bool are_rows = count > 0;

    for (lua_Integer i = 1; i <= count && are_rows; i++) {
        lua_rawgeti(L, index, i);
        are_rows = scripting_kind_of(L, -1) == SCRIPTING_ROW;
        lua_pop(L, 1);
    }
    return are_rows;
}

static void
show_row_list(lua_State *L, struct display *display, int index)
{
    const lua_Integer count = (lua_Integer)lua_rawlen(L, index);
    struct output_options options = {.format =
                                         format_of(display, OUTPUT_TABLE)};
    struct shown *shown = push_shown(L);
    lua_Integer i;

    open_output(L, shown, &options);
    for (i = 1; i <= count && (uint64_t)i <= display->row_limit; i++) {
        lua_rawgeti(L, index, i);
        give_columns(L, shown, lua_gettop(L));
        lua_pop(L, 1);
    }
    finish_output(L, display, shown);
    if (i <= count)
        note_cut(display, (uint64_t)i - 1, "");
    lua_pop(L, 1);
}

/* ---------------------------------------------------------------- show --- */

/* Whether the value at `index` is shown as rows. */
static bool
has_rows(lua_State *L, int index)
{
    return scripting_kind_of(L, index) != SCRIPTING_PLAIN ||
           (lua_istable(L, index) && is_row_list(L, index));
}

/* Shows a value that takes lines of its own; false: it has none. */
static bool
show_rows(lua_State *L, struct display *display, int index)
{
    switch (scripting_kind_of(L, index)) {
    case SCRIPTING_QUERY:
        show_query(L, display, index);
        return true;
    case SCRIPTING_WALK:
        show_walk(L, display, index);
        return true;
    case SCRIPTING_ROW:
        show_row(L, display, index);
        return true;
    case SCRIPTING_PLAIN:
        break;
    }
    if (!lua_istable(L, index) || !is_row_list(L, index))
        return false;
    show_row_list(L, display, index);
    return true;
}

void
display_tell(struct display *display)
{
    struct colander_error err;

    (void)fflush(stdout); /* so that the two keep their order on a terminal */
    if (display->notes.text.size + (display->notes.code != COLANDER_OK) > 0 &&
        report_print(&display->notes, stderr, &err) != COLANDER_OK)
        session_complain(display->session, "%s", err.message);
    report_release(&display->notes);
}

void
display_show(lua_State *L, struct display *display, int first)
{
    const int top = lua_gettop(L);
    const int last =
        top - first < DISPLAY_VALUES ? top : first + DISPLAY_VALUES - 1;
    bool is_line = false; /* one is open */

    luaL_checkstack(L, LUA_MINSTACK, "too many results");
    for (int i = first; i <= last; i++) {
        const bool is_last = i == last;

        if (show_rows(L, display, i))
            continue;
        if (is_line)
            printf("\t");
        show_value(L, i);
        is_line = !is_last && !has_rows(L, i + 1);
        if (!is_line)
            printf("\n");
    }
    if (last < top)
        report_add(begin_note(display), "[%d more values]", top - last);
    lua_settop(L, first - 1);
}
