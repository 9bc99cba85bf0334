/* See display.h. SPDX-License-Identifier: MIT */
#include "shell/display.h"
#include "shell/explanation.h"
#include "shell/hint.h"
#include "shell/interrupt.h"
#include "shell/prompt/family_view.h"
#include "shell/scripts.h"

#include "scripting/scripting.h"

#include <lauxlib.h>

#define TYPE "colander.shown"
#define DISPLAY_VALUES 1000        /* of one expression that are shown */
#define STRING_SIZE_MAX (1u << 20) /* bytes of a string, on a terminal */
#define VALUE_SIZE_MAX 4000        /* bytes of a value that is not a row */
#define EXPLAINED_MAX 10           /* queries of a chunk */

/* What is open while something is printed: userdata, as errors may be raised.
 */
struct shown {
    struct output *output;
    struct explanation explanation;
    struct request request;               /* for the explanation */
    struct colander_row_builder *builder; /* of a walk's rows */
    struct hint_missing missing;          /* of the selected columns */
};

static int
release_shown(lua_State *L)
{
    struct shown *shown = luaL_checkudata(L, 1, TYPE);

    output_destroy(shown->output);
    explanation_release(&shown->explanation);
    colander_row_builder_destroy(shown->builder);
    hint_missing_release(&shown->missing);
    shown->output = NULL;
    shown->builder = NULL;
    return 0;
}

static void
check(lua_State *L, enum colander_code code, const struct colander_error *err)
{
    if (code != COLANDER_OK)
        scripting_raise(L, err);
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

/* Begins rows in the format of .mode, or in `terminal` on a terminal. */
static struct shown *
begin_rows(lua_State *L, const struct display *display,
           enum output_format terminal, struct output_options options)
{
    struct shown *shown = push_shown(L);
    struct colander_error err;

    check(L, session_format(display->session, NULL, terminal, &options, &err),
          &err);
    check(L,
          output_create(session_out(display->session), &options, &shown->output,
                        &err),
          &err);
    return shown;
}

static void
print_row(lua_State *L, struct shown *shown,
          const struct colander_result *result)
{
    struct colander_error err;

    if (interrupt_happened())
        luaL_error(L, "interrupted");
    check(L, output_row(shown->output, result, &err), &err);
}

/* Begins a note, on a new line. */
static struct report *
begin_note(struct display *display)
{
    if (display->notes.text.size > 0)
        report_add(&display->notes, "\n");
    return &display->notes;
}

/* Notes that only the first rows were printed. */
static void
note_cut(struct display *display, uint64_t row_count, const char *and)
{
    report_add(begin_note(display), "[the first %s%s: see .limit]",
               NUMBER_OF(row_count, "row"), and);
}

/* Prints what is kept back, notes what was left out, and pops the rows. */
static void
end_rows(lua_State *L, struct display *display, struct shown *shown)
{
    struct colander_error err;

    check(L, output_finish(shown->output, &err), &err);
    output_add_left_out(shown->output, &display->notes);
    lua_pop(L, 1);
}

/* Notes the answer, unless the chunk has one already. */
static void
explain(struct display *display, const struct hint_question *question)
{
    const size_t size = display->notes.text.size;

    if (!display->wants_hint)
        return;
    hint_add(question, &display->notes);
    display->wants_hint = display->notes.text.size == size;
}

void
display_explain_missed(void *context, struct colander_family *family,
                       const struct colander_predicate *where,
                       const char *const *paths, size_t path_count)
{
    const struct hint_question question = {
        .family = family,
        .where = where,
        .paths = paths,
        .path_count = path_count,
    };

    if (where != NULL || path_count > 0)
        explain(context, &question);
}

void
display_explain_ended(void *context, struct colander_family *family,
                      const struct colander_query *asked,
                      const struct colander_cursor *cursor)
{
    struct display *display = context;
    struct request request = {.query = *asked};
    struct explanation explanation = {.request = &request};
    struct colander_family_sizes sizes;

    if (display->explained++ >= EXPLAINED_MAX)
        return;
    explanation_take_cursor(&explanation, cursor);
    explanation.family = colander_family_name(family);
    explanation.row_count = explanation.counts.rows_returned;
    if (colander_family_sizes(family, &sizes, NULL) == COLANDER_OK)
        explanation.key_count = sizes.key_count;
    explanation_add(&explanation, &display->notes);
    explanation_release(&explanation);
}

/* ------------------------------------------------------------- queries --- */

/* Notes what the query at `index` read. */
static void
note_counts(lua_State *L, struct display *display, struct shown *shown,
            int index, struct colander_family *family, uint64_t row_count)
{
    const struct colander_cursor *cursor = scripting_query_cursor(L, index);
    struct explanation *explanation = &shown->explanation;
    struct colander_family_sizes sizes;

    if (cursor == NULL)
        return;
    explanation_take_cursor(explanation, cursor);
    explanation->family = colander_family_name(family);
    explanation->row_count = row_count;
    if (colander_family_sizes(family, &sizes, NULL) == COLANDER_OK)
        explanation->key_count = sizes.key_count;
    if (display->explains)
        explanation_add(explanation, &display->notes);
    else
        explanation_add_counts(explanation, begin_note(display));
}

/* Prints a row of the query at `index`. A failure ends the query. */
static void
print_result(lua_State *L, struct shown *shown, int index,
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
    struct scripting_query query;
    struct colander_result result;
    struct shown *shown;
    uint64_t row_count = 0;
    bool is_row;

    scripting_query_begin(L, index, &query);
    shown = begin_rows(L, display, OUTPUT_TABLE,
                       (struct output_options){
                           .paths = query.paths,
                           .path_count = query.path_count,
                           .shows_matches = query.with_columns,
                           .where = query.asked->where,
                       });
    hint_missing_init(&shown->missing, query.paths, query.path_count, NULL,
                      query.asked->where);
    shown->request.query = *query.asked;
    shown->explanation.request = &shown->request;
    while ((is_row = scripting_query_next(L, index, &result)) &&
           row_count < display->row_limit) {
        hint_missing_see(&shown->missing, result.row);
        print_result(L, shown, index, &result);
        row_count++;
    }
    if (row_count > 0 && shown->missing.count > 0) {
        const struct hint_question question = {
            .family = query.family,
            .paths = shown->missing.paths,
            .path_count = shown->missing.count,
            .any_type = true,
        };

        explain(display, &question);
    }
    lua_pushvalue(L, -1); /* for the counts */
    end_rows(L, display, shown);
    if (is_row)
        note_cut(display, row_count, "; there are more");
    if (display->explains || session_shows_costs(display->session))
        note_counts(L, display, shown, index, query.family, row_count);
    else if (session_shows_notes(display->session) && !is_row)
        report_add(begin_note(display), "%s", NUMBER_OF(row_count, "row"));
    scripting_query_end(L, index);
    lua_pop(L, 1);
}

/* -------------------------------------------------------- other values --- */

static void
show_value(lua_State *L, const struct display *display, int index)
{
    const bool is_string = lua_type(L, index) == LUA_TSTRING;
    const char *text;
    size_t size;

    if (is_string && !session_out_is_terminal(display->session)) {
        lua_pushvalue(L, index); /* exact, for programs */
    } else {
        scripts_push(L, "inspect");
        lua_pushvalue(L, index);
        lua_pushinteger(L, is_string ? STRING_SIZE_MAX : VALUE_SIZE_MAX);
        lua_call(L, 2, 1);
    }
    text = lua_tolstring(L, -1, &size);
    (void)fwrite(text, 1, size, session_out(display->session));
    lua_pop(L, 1);
}

/* Prints the table of columns at `index` as a row without a key. */
static void
print_columns(lua_State *L, struct shown *shown, int index)
{
    struct colander_result result;

    memset(&result, 0, sizeof(result));
    scripting_get_row(L, index, &result.key, &result.row);
    print_row(L, shown, &result);
}

/* Pushes a path as the columns of tables are called. */
static const char *
push_plain(lua_State *L, const char *path)
{
    luaL_Buffer buffer;
    char *plain = luaL_buffinitsize(L, &buffer, strlen(path) + 1);

    strcpy(plain, path);
    colander_path_make_plain(plain);
    luaL_pushresultsize(&buffer, strlen(plain));
    return lua_tostring(L, -1);
}

/* Prints the groups of a walk, each with its result, as rows. */
static void
show_walk(lua_State *L, struct display *display, int index)
{
    struct shown *shown;
    struct colander_value value;
    struct colander_value measure;
    uint64_t row_count = 0;
    const char *by;
    const char *name;

    scripting_walk_names(L, index, &by, &name);
    by = push_plain(L, by);
    name = name == NULL ? NULL : push_plain(L, name);
    if (name != NULL && strcmp(by, name) == 0) /* the column is "count" */
        name = "rows";
    shown = begin_rows(L, display, OUTPUT_TABLE,
                       (struct output_options){.has_no_key = true});
    shown->builder = colander_row_builder_create();
    if (shown->builder == NULL)
        luaL_error(L, "not enough memory");
    while (scripting_walk_next(L, index, &value, &measure)) {
        struct colander_result result = {.key = {NULL, 0}};
        struct colander_error err;

        if (row_count++ == display->row_limit) {
            note_cut(display, display->row_limit, "; there are more");
            break;
        }
        colander_row_builder_add(shown->builder, by, value);
        if (name != NULL)
            colander_row_builder_add(shown->builder, name, measure);
        check(L, colander_row_builder_finish(shown->builder, &result.row, &err),
              &err);
        print_row(L, shown, &result);
    }
    end_rows(L, display, shown);
}

/* Prints groups, each as a row. */
static void
show_groups(lua_State *L, struct display *display, int index)
{
    struct output_options options = {.has_no_key = true};
    struct shown *shown;
    struct colander_result result;
    uint64_t row_count = 0;
    int run;

    options.paths = scripting_groups_begin(L, index, &options.path_count);
    run = lua_gettop(L);
    shown = begin_rows(L, display, OUTPUT_TABLE, options);
    memset(&result, 0, sizeof(result));
    while (scripting_groups_next(L, run, &result.row)) {
        if (row_count++ == display->row_limit) {
            note_cut(display, display->row_limit, "; there are more");
            break;
        }
        print_row(L, shown, &result);
    }
    end_rows(L, display, shown);
    lua_pop(L, 1);
}

static void
show_row(lua_State *L, struct display *display, int index)
{
    struct shown *shown =
        begin_rows(L, display, OUTPUT_LINE, (struct output_options){0});

    print_columns(L, shown, index);
    end_rows(L, display, shown);
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
    struct shown *shown =
        begin_rows(L, display, OUTPUT_TABLE, (struct output_options){0});
    lua_Integer i;

    for (i = 1; i <= count && (uint64_t)i <= display->row_limit; i++) {
        lua_rawgeti(L, index, i);
        print_columns(L, shown, lua_gettop(L));
        lua_pop(L, 1);
    }
    end_rows(L, display, shown);
    if (i <= count)
        note_cut(display, (uint64_t)i - 1, "");
}

/* ---------------------------------------------------------------- show --- */

/* Whether the value at `index` is a family that is shown to a user. */
static bool
is_shown_family(lua_State *L, const struct display *display, int index)
{
    return display->session->is_prompt && scripting_family_at(L, index) != NULL;
}

static void
show_family(lua_State *L, const struct display *display, int index)
{
    struct colander_error err;

    check(L,
          family_view_print(scripting_family_at(L, index),
                            session_out(display->session), &err),
          &err);
}

/* Whether the value at `index` is printed as lines. */
static bool
has_lines(lua_State *L, const struct display *display, int index)
{
    return is_shown_family(L, display, index) ||
           scripting_kind_of(L, index) != SCRIPTING_PLAIN ||
           (lua_istable(L, index) && is_row_list(L, index));
}

static void
show_rows(lua_State *L, struct display *display, int index)
{
    switch (scripting_kind_of(L, index)) {
    case SCRIPTING_QUERY:
        show_query(L, display, index);
        break;
    case SCRIPTING_WALK:
        show_walk(L, display, index);
        break;
    case SCRIPTING_GROUPS:
        show_groups(L, display, index);
        break;
    case SCRIPTING_ROW:
        show_row(L, display, index);
        break;
    case SCRIPTING_PLAIN:
        if (is_shown_family(L, display, index))
            show_family(L, display, index);
        else
            show_row_list(L, display, index);
        break;
    }
}

void
display_print_notes(struct display *display)
{
    struct colander_error err;

    (void)fflush(session_out(display->session)); /* a terminal shows it first */
    if (display->notes.text.size + (display->notes.code != COLANDER_OK) > 0 &&
        report_print(&display->notes, session_err(display->session), &err) !=
            COLANDER_OK)
        session_complain(display->session, SESSION_FINE, "%s", err.message);
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
        const bool are_rows = has_lines(L, display, i);

        if (is_line)
            fputs(are_rows ? "\n" : "\t", session_out(display->session));
        is_line = !are_rows;
        if (are_rows)
            show_rows(L, display, i);
        else
            show_value(L, display, i);
    }
    if (is_line)
        fputs("\n", session_out(display->session));
    if (last < top)
        report_add(begin_note(display), "[%d more values]", top - last);
    lua_settop(L, first - 1);
}
