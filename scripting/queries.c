/* SPDX-License-Identifier: MIT */
#include "scripting/queries.h"

#include "scripting/conditions.h"
#include "scripting/failure.h"
#include "scripting/fields.h"
#include "scripting/mappings.h"
#include "scripting/module.h"
#include "scripting/scratch.h"
#include "scripting/types.h"
#include "scripting/values.h"

#include <limits.h>

/* ---------------------------------------------------------------- life --- */

void
query_stop(struct query *query)
{
    colander_cursor_close(query->cursor);
    colander_predicate_destroy(query->where);
    colander_ordered_destroy(query->ordered);
    held_end(&query->held);
    query->ordered = NULL;
    query->cursor = NULL;
    query->where = NULL;
    query->is_running = false;
    query->is_gathering = false;
    query->is_sought = false;
    query->step_count++;
}

void
query_check_step(lua_State *L, const struct query *query, uint64_t step_count)
{
    if (query->step_count != step_count)
        failure_misuse(L, "a function called by a query has used the same "
                          "query");
}

static enum colander_code
close_query(struct handle *handle, struct colander_error *err)
{
    struct query *query = (struct query *)handle;

    (void)err;
    query_stop(query);
    snapshot_unref(query->snapshot);
    bounds_release(&query->bounds);
    colander_matches_destroy(query->match_paths);
    query->snapshot = NULL;
    query->match_paths = NULL;
    return COLANDER_OK;
}

struct query *
query_check(lua_State *L, int index)
{
    return type_check(L, index, QUERY_TYPE);
}

/* Pushes a query of the family at 1, whose condition is the value on top. */
static struct query *
push_query(lua_State *L)
{
    struct script_family *family = family_check(L, 1);
    struct query *query = type_push_handle(L, QUERY_TYPE, sizeof(*query),
                                           QUERY_USER_VALUES, 1, close_query);

    lua_pushvalue(L, -2);
    lua_setiuservalue(L, -2, QUERY_CONDITION);
    query->family = family;
    colander_query_init(&query->asked);
    query->limit = UINT64_MAX;
    return query;
}

/* Sets the bounds of the query on top: {prefix = , from = , to = , exact = ,
 * reverse = } at `index`, or nil. */
static void
set_range(lua_State *L, struct query *query, int index, const char *what)
{
    static const struct field fields[] = {
        BOUNDS_FIELDS,
        FIELD(BOOLEAN, "reverse", colander_query, is_reverse),
        FIELD_END,
    };
    size_t size = 0;

    if (lua_isnil(L, index))
        return;
    fields_read(L, index, what, fields, &query->asked);
    bounds_read(L, index, &query->bounds);
    for (size_t i = 0; i < 4; i++)
        size += query->bounds.keys[i].size;
    (void)lua_newuserdatauv(L, size, 0);
    lua_setiuservalue(L, -2, QUERY_BOUNDS);
}

/* Refuses words that are looked for in any column of the family at 1, and the
 * name of a column. */
static void
check_words(lua_State *L, const char *const *words, size_t count)
{
    struct colander_fault fault;

    failure_try(L, colander_family_check_words(family_check(L, 1)->family,
                                               words, count, &fault, &err));
}

int
query_find(lua_State *L)
{
    arguments_check_count(L, 3);
    lua_settop(L, 3);
    colander_predicate_destroy(
        condition_compile(L, 2, check_words)); /* only checked */
    lua_pushvalue(L, 2);
    set_range(L, push_query(L), 3, "find");
    return 1;
}

/* family:any_column(value) */
static int
query_any_column(lua_State *L)
{
    arguments_check_count(L, 2);
    lua_settop(L, 2);
    (void)family_check(L, 1);
    condition_push_any_column(L, 2);
    colander_predicate_destroy(condition_compile(L, 3, NULL)); /* a check */
    push_query(L)->with_columns = true;
    return 1;
}

/* family:search(text) */
static int
query_search(lua_State *L)
{
    arguments_check_count(L, 2);
    lua_settop(L, 2);
    (void)family_check(L, 1);
    condition_push_search(L, 2);
    colander_predicate_destroy(condition_compile(L, 3, NULL)); /* a check */
    push_query(L)->with_columns = true;
    return 1;
}

/* family:scan([range]) */
static int
query_scan(lua_State *L)
{
    arguments_check_count(L, 2);
    lua_settop(L, 2);
    lua_pushnil(L);
    set_range(L, push_query(L), 2, "scan");
    return 1;
}

/* ------------------------------------------------------------- running --- */

/* The number of rows to read for limit and skip. */
static uint64_t
rows_wanted(const struct query *query)
{
    return query->limit < UINT64_MAX - query->skip ? query->limit + query->skip
                                                   : UINT64_MAX;
}

/* Fills in what the library is asked for the query at `index`. */
static void
describe(lua_State *L, struct query *query, int index)
{
    struct colander_query *asked = &query->asked;
    const bool is_changed = query->has_filter || (query->order != NULL &&
                                                  query->mode != QUERY_COUNTED);
    struct colander_predicate *where;

    lua_getiuservalue(L, index, QUERY_CONDITION);
    where = condition_compile(L, lua_gettop(L), NULL);
    lua_pop(L, 1);
    if (!query->handle.is_open) { /* closed by a finalizer */
        colander_predicate_destroy(where);
        (void)query_check(L, index);
    }
    query->where = where;
    asked->where = where;
    asked->keys = bounds_range(&query->bounds);
    asked->snapshot =
        query->snapshot == NULL ? NULL : query->snapshot->snapshot;
    asked->is_timed = query->mode == QUERY_EXPLAINED ||
                      query->mode == QUERY_SHOWN ||
                      scratch_get(L)->ended != NULL;
    asked->reports_columns =
        asked->is_timed || (query->mode == QUERY_ROWS && query->with_columns);
    asked->paths = query->mode == QUERY_WHOLE_ROWS ||
                           query->mode == QUERY_COUNTED || is_changed
                       ? NULL
                       : query->paths;
    asked->path_count = asked->paths == NULL ? 0 : query->path_count;
    asked->keys_only =
        query->keys_only && !is_changed && query->mode != QUERY_WHOLE_ROWS;
    asked->limit = is_changed ? UINT64_MAX : rows_wanted(query);
    query->rows_left = query->limit;
    query->rows_to_skip = query->skip;
}

/* Adds the key of a row to the error on top, if that is a text. */
static void
name_row(lua_State *L, struct colander_slice key)
{
    struct colander_buffer *text = &scratch_get(L)->text;

    text->size = 0;
    if (lua_type(L, -1) != LUA_TSTRING || key.size == 0 ||
        colander_json_append_key(text, key, NULL) != COLANDER_OK)
        return;
    lua_pushliteral(L, ", in row ");
    lua_pushlstring(L, (const char *)text->data, text->size);
    lua_concat(L, 3);
}

void
query_call_function(lua_State *L, struct query *query,
                    const struct colander_result *result, uint64_t step_count,
                    int argument_count, int result_count)
{
    if (lua_pcall(L, argument_count, result_count, 0) != LUA_OK) {
        if (query->step_count == step_count) {
            name_row(L, result->key);
            query_stop(query);
        }
        (void)lua_error(L);
    }
    query_check_step(L, query, step_count);
}

/* Returns whether the row passes the filter of the query at `index`. */
static bool
passes(lua_State *L, struct query *query, int index,
       const struct colander_result *result)
{
    const uint64_t step_count = query->step_count;
    bool is_passed;

    lua_getiuservalue(L, index, QUERY_FILTER);
    scripting_push_row(L, result->key, result->row);
    query_call_function(L, query, result, step_count, 1, 1);
    is_passed = lua_toboolean(L, -1);
    lua_pop(L, 1);
    return is_passed;
}

bool
query_read(lua_State *L, struct query *query, struct colander_result *result)
{
    struct colander_error err;
    enum colander_code code;
    bool is_row;

    query->step_count++;
    if (query->watch != NULL)
        query->watch(query->cursor);
    code = colander_cursor_next(query->cursor, &is_row, result, &err);
    if (query->watch != NULL)
        query->watch(NULL);
    if (code != COLANDER_OK) {
        query_stop(query);
        failure_raise(L, &err);
    }
    return is_row;
}

/* Returns the next row of the library that passes the filter. */
static bool
read_row(lua_State *L, struct query *query, int index,
         struct colander_result *result)
{
    while (query->cursor != NULL) {
        if (!query_read(L, query, result))
            return false;
        if (!query->has_filter || passes(L, query, index, result))
            return true;
    }
    return false;
}

/* Fails with an error of ordered rows, which ends the run. */
static void
fail_ordered(lua_State *L, struct query *query, struct colander_error *err)
{
    if (err->code == COLANDER_LIMIT)
        colander_error_context(err, "colander.memory_limit");
    query_stop(query);
    failure_raise(L, err);
}

void
query_report_missed(lua_State *L, const struct query *query,
                    const char *const *paths, size_t path_count)
{
    const struct scratch *scratch = scratch_get(L);

    if (scratch->missed != NULL)
        scratch->missed(scratch->missed_context, query->family->family,
                        path_count == 0 ? query->where : NULL, paths,
                        path_count);
}

void
query_report_ended(lua_State *L, const struct query *query)
{
    const struct scratch *scratch = scratch_get(L);

    if (scratch->ended != NULL && query->cursor != NULL &&
        query->mode != QUERY_SHOWN && query->mode != QUERY_EXPLAINED)
        scratch->ended(scratch->ended_context, query->family->family,
                       &query->asked, query->cursor);
}

/* Starts the next find of rows to order. Returns false if none is needed. */
static bool
find_ordered(lua_State *L, struct query *query)
{
    struct colander_error err;
    bool is_done;

    if (colander_ordered_find(query->ordered, query->family->family,
                              &query->asked, &query->cursor, &is_done,
                              &err) != COLANDER_OK)
        fail_ordered(L, query, &err);
    return !is_done;
}

/* Reads the rows that may be the first ones, and puts them in order. */
static void
order_rows(lua_State *L, struct query *query, int index)
{
    struct colander_order order;
    bool has_rows = false;
    bool has_column = false;
    struct colander_result result;
    struct colander_value value;
    struct colander_error err;

    colander_order_init(&order);
    order.path = query->order;
    order.is_descending = query->is_descending;
    order.limit = rows_wanted(query);
    order.size_max = scratch_get(L)->memory_limit;
    order.is_cancelled = query->is_cancelled;
    if (colander_ordered_create(&order, &query->ordered, &err) != COLANDER_OK)
        fail_ordered(L, query, &err);
    query->is_gathering = true;
    while (find_ordered(L, query)) {
        while (!colander_ordered_is_sated(query->ordered) &&
               read_row(L, query, index, &result)) {
            has_rows = true;
            if ((!has_column &&
                 colander_row_get(result.row, query->order, &value, &has_column,
                                  &err) != COLANDER_OK) ||
                colander_ordered_add(query->ordered, &result, &err) !=
                    COLANDER_OK ||
                held_set(L, &query->held, colander_ordered_size(query->ordered),
                         &err) != COLANDER_OK)
                fail_ordered(L, query, &err);
        }
    }
    query->is_gathering = false;
    if (has_rows && !has_column && query->limit > 0)
        query_report_missed(L, query, &query->order, 1);
    if (query->mode != QUERY_SHOWN) {
        query_report_ended(L, query);
        colander_cursor_close(query->cursor);
        query->cursor = NULL;
    }
}

struct query *
query_begin(lua_State *L, int index, enum query_mode mode)
{
    const int top = lua_gettop(L);
    struct query *query = query_check(L, index);
    struct colander_error err;

    if (mode != QUERY_MAPPED &&
        lua_getiuservalue(L, index, QUERY_MAP) != LUA_TNIL)
        failure_misuse(L, "a map needs a reduce after it");
    lua_settop(L, top);
    query_stop(query);
    held_begin(L, &query->held);
    query->mode = mode == QUERY_MAPPED ? QUERY_WHOLE_ROWS : mode;
    query->watch = scratch_get(L)->watch;
    query->is_cancelled = scratch_get(L)->is_cancelled;
    describe(L, query, index);
    query->is_running = true;
    if (query_is_ordered(query)) {
        order_rows(L, query, index);
    } else if (colander_family_find(query->family->family, &query->asked,
                                    &query->cursor, &err) != COLANDER_OK) {
        query->cursor = NULL;
        query_stop(query);
        failure_raise(L, &err);
    }
    return query;
}

/* Returns the next of the ordered rows. */
static bool
next_ordered(lua_State *L, struct query *query, struct colander_result *result)
{
    struct colander_error err;
    bool is_row;

    if (colander_ordered_next(query->ordered, &is_row, result, &err) !=
        COLANDER_OK)
        fail_ordered(L, query, &err);
    return is_row;
}

bool
query_step(lua_State *L, struct query *query, int index,
           struct colander_result *result)
{
    struct colander_error err;

    while (query->rows_left > 0 &&
           (query_is_ordered(query) ? next_ordered(L, query, result)
                                    : read_row(L, query, index, result))) {
        if (query->is_cancelled != NULL && query->is_cancelled()) {
            (void)!COLANDER_FAIL(&err, COLANDER_CANCELLED, "cancelled");
            query_stop(query);
            failure_raise(L, &err);
        }
        if (query->rows_to_skip > 0) {
            query->rows_to_skip--;
            continue;
        }
        query->rows_left--;
        return true;
    }
    if (query->limit > 0 && query->rows_left == query->limit &&
        query->rows_to_skip == query->skip)
        query_report_missed(L, query, NULL, 0);
    query_report_ended(L, query);
    if (query->mode != QUERY_SHOWN)
        query_stop(query);
    return false;
}

/* ------------------------------------------------------------ chaining --- */

static void
check_changeable(lua_State *L, const struct query *query)
{
    (void)query_check(L, 1);
    if (query->is_running)
        failure_misuse(L, "a query cannot be changed while it runs");
}

/* query:select(path, ...) */
static void
set_paths(lua_State *L, struct query *query)
{
    size_t count;
    const char **paths = arguments_paths(L, 2, "select", &count);

    check_changeable(L, query); /* again: finalizers may have run */
    lua_setiuservalue(L, 1, QUERY_PATHS);
    query->paths = paths;
    query->path_count = count;
}

/* query:keys(): keys, and rows without columns */
static void
set_keys(lua_State *L, struct query *query)
{
    (void)L;
    query->keys_only = true;
}

/* Returns the integer at 2, 0 to `max`. */
static uint64_t
check_count(lua_State *L, lua_Integer max)
{
    const lua_Integer count = luaL_checkinteger(L, 2);

    if (count < 0 || count > max)
        luaL_argerror(L, 2, lua_pushfstring(L, "0 to %I expected", max));
    return (uint64_t)count;
}

static void
set_limit(lua_State *L, struct query *query)
{
    query->limit = check_count(L, LUA_MAXINTEGER);
}

static void
set_skip(lua_State *L, struct query *query)
{
    query->skip = check_count(L, LUA_MAXINTEGER);
}

static void
set_threads(lua_State *L, struct query *query)
{
    query->asked.thread_count = (uint32_t)check_count(L, 1024);
}

/* query:reverse([whether]) */
static void
set_reverse(lua_State *L, struct query *query)
{
    query->asked.is_reverse = lua_isnone(L, 2) || lua_toboolean(L, 2);
}

/* query:at(snapshot) */
static void
set_snapshot(lua_State *L, struct query *query)
{
    struct shared_snapshot *snapshot =
        snapshot_check(L, 2, query->family->handle.parent);

    snapshot->reference_count++;
    snapshot_unref(query->snapshot);
    query->snapshot = snapshot;
}

static void
set_columns(lua_State *L, struct query *query)
{
    (void)L;
    query->with_columns = true;
}

/* query:where(function(row) ... end) */
static void
set_filter(lua_State *L, struct query *query)
{
    luaL_checktype(L, 2, LUA_TFUNCTION);
    lua_settop(L, 2);
    lua_setiuservalue(L, 1, QUERY_FILTER);
    query->has_filter = true;
}

/* query:map("function(row) ... end"), for reduce */
static void
set_map(lua_State *L, struct query *query)
{
    (void)query;
    mapping_push(L, 2, "map"); /* only checked */
    lua_settop(L, 2);
    lua_setiuservalue(L, 1, QUERY_MAP);
}

/* query:order(path [, "desc"]) */
static void
set_order(lua_State *L, struct query *query)
{
    static const char *const directions[] = {"asc", "desc", NULL};
    const char *path = text_check(L, 2, "a path");
    const bool is_descending = luaL_checkoption(L, 3, "asc", directions) == 1;

    if (query->has_order)
        failure_misuse(L, "a query has one order");
    query->has_order = true;
    lua_settop(L, 2);
    lua_setiuservalue(L, 1, QUERY_ORDER);
    query->order = path;
    query->is_descending = is_descending;
    if (strcmp(path, COLANDER_KEY_COLUMN) == 0) { /* as the library reads */
        query->order = NULL;
        query->asked.is_reverse = is_descending;
    }
}

/* Methods that change a query and return it. */
static const struct {
    const char *name;
    void (*set)(lua_State *L, struct query *query);
    int argument_count; /* with the query, at most */
} setters[] = {
    {"select", set_paths, INT_MAX},
    {"limit", set_limit, 2},
    {"skip", set_skip, 2},
    {"threads", set_threads, 2},
    {"reverse", set_reverse, 2},
    {"at", set_snapshot, 2},
    {"columns", set_columns, 1},
    {"where", set_filter, 2},
    {"order", set_order, 3},
    {"keys", set_keys, 1},
    {"map", set_map, 2},
};

#define SETTER_COUNT (int)(sizeof(setters) / sizeof(setters[0]))

static int
run_setter(lua_State *L)
{
    struct query *query = query_check(L, 1);
    const lua_Integer setter = lua_tointeger(L, lua_upvalueindex(1));

    check_changeable(L, query);
    arguments_check_count(L, setters[setter].argument_count);
    setters[setter].set(L, query);
    lua_settop(L, 1);
    return 1;
}

/* family:select(path, ...) and the like: those of a query of all rows */
static int
run_family_setter(lua_State *L)
{
    (void)family_check(L, 1);
    lua_pushnil(L); /* no condition */
    (void)push_query(L);
    lua_replace(L, 1);
    lua_pop(L, 1);
    return run_setter(L);
}

static int
query_text(lua_State *L)
{
    (void)luaL_checkudata(L, 1, QUERY_TYPE);
    if (handle_family_name(L, 1) != NULL)
        lua_pushfstring(L, "query of family '%s'", handle_family_name(L, 1));
    else
        lua_pushliteral(L, "query (closed)");
    return 1;
}

void
queries_register(lua_State *L)
{
    static const struct luaL_Reg metamethods[] = {
        {"__tostring", query_text},
        {NULL, NULL},
    };
    static const struct luaL_Reg family_methods[] = {
        {"find", query_find},
        {"any_column", query_any_column},
        {"find_value", query_any_column}, /* until 0.3: its name in 0.1 */
        {"search", query_search},
        {"scan", query_scan},
        {NULL, NULL},
    };

    type_extend(L, FAMILY_TYPE, family_methods, NULL);
    type_extend(L, QUERY_TYPE, NULL, metamethods);
    type_push_methods(L, QUERY_TYPE);
    for (int i = 0; i < SETTER_COUNT; i++)
        type_set_function(L, setters[i].name, run_setter, i);
    type_push_methods(L, FAMILY_TYPE);
    for (int i = 0; i < SETTER_COUNT; i++)
        type_set_function(L, setters[i].name, run_family_setter, i);
    lua_pop(L, 2);
}
