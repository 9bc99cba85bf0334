/* See groupings.h. SPDX-License-Identifier: MIT */
#include "scripting/groupings.h"

#include "columns/groups.h"
#include "scripting/conditions.h"
#include "scripting/failure.h"
#include "scripting/fields.h"
#include "scripting/module.h"
#include "scripting/queries.h"
#include "scripting/scratch.h"
#include "scripting/types.h"
#include "scripting/values.h"

#include <stdio.h>
#include <stdlib.h>

#define BUCKET "colander.bucket"
#define MEASURE "colander.measure"
#define GROUPS "colander.groups"

#define GIVEN_MAX (COLANDER_GROUP_KEYS_MAX + COLANDER_GROUP_MEASURES_MAX)
#define TEXTS_MAX (5 * GIVEN_MAX + 2) /* the order, the time column */

/* What agg returns. Its user values are not those of the script: it cannot
 * change them while they are used. */
struct asked {
    uint64_t count_max;
    enum colander_fill fill;
    bool is_descending;
};

enum {
    ASKED_GROUPED = 1, /* {query, key, ...} */
    ASKED_MEASURES,
    ASKED_ORDER, /* a name */
    ASKED_HAVING,
    ASKED_RUN,   /* of a loop */
    ASKED_GROUP, /* that the loop got last */
    ASKED_USER_VALUES = ASKED_GROUP,
};

static const char *const aggregate_names[] = {
    [COLANDER_COUNT] = "count",
    [COLANDER_SUM] = "sum",
    [COLANDER_AVG] = "avg",
    [COLANDER_MIN] = "min",
    [COLANDER_MAX] = "max",
    [COLANDER_FIRST] = "first",
    [COLANDER_LAST] = "last",
    [COLANDER_DISTINCT] = "distinct",
    [COLANDER_APPROX_DISTINCT] = "approx_distinct",
    [COLANDER_QUANTILE] = "quantile",
};

#define AGGREGATE_COUNT (sizeof(aggregate_names) / sizeof(aggregate_names[0]))

/* ---------------------------------------------------- keys and measures --- */

/* Sets field `name` of the table on top to the argument at `index`, if there is
 * one. */
static void
set_argument(lua_State *L, const char *name, int index)
{
    if (lua_isnoneornil(L, index))
        return;
    lua_pushvalue(L, index);
    lua_setfield(L, -2, name);
}

/* colander.bucket(path, size [, zone]) */
static int
new_bucket(lua_State *L)
{
    arguments_check_count(L, 3);
    (void)text_check(L, 1, "a path");
    (void)text_check(L, 2, "a size");
    if (!lua_isnoneornil(L, 3))
        (void)text_check(L, 3, "a time zone");
    lua_settop(L, 3);
    lua_createtable(L, 0, 3);
    set_argument(L, "path", 1);
    set_argument(L, "size", 2);
    set_argument(L, "zone", 3);
    luaL_setmetatable(L, BUCKET);
    return 1;
}

/* colander.count([of]), colander.first(of [, time]),
 * colander.quantile(of, part), ...: `of` is a path or a function. Upvalue 1 is
 * the aggregate. */
static int
new_measure(lua_State *L)
{
    const lua_Integer aggregate = lua_tointeger(L, lua_upvalueindex(1));
    const bool is_timed =
        aggregate == COLANDER_FIRST || aggregate == COLANDER_LAST;
    const bool has_part = aggregate == COLANDER_QUANTILE;

    arguments_check_count(L, is_timed || has_part ? 2 : 1);
    if (aggregate == COLANDER_COUNT
            ? !lua_isnoneornil(L, 1)
            : !lua_isfunction(L, 1)) /* a number of calls is one of rows */
        (void)text_check(L, 1, "a path");
    if (is_timed && !lua_isnoneornil(L, 2))
        (void)text_check(L, 2, "a path");
    if (has_part)
        (void)luaL_checknumber(L, 2);
    lua_settop(L, 2);
    lua_createtable(L, 0, 3);
    lua_pushinteger(L, aggregate);
    lua_setfield(L, -2, "aggregate");
    set_argument(L, "of", 1);
    set_argument(L, has_part ? "part" : "time", 2);
    luaL_setmetatable(L, MEASURE);
    return 1;
}

void
grouping_check_key(lua_State *L, int index)
{
    if (!lua_isfunction(L, index) && !type_is_table(L, index, BUCKET))
        (void)text_check(L, index, "a path");
}

/* ----------------------------------------------------------- describing --- */

/* Pushes a copy of the list {query, key, ...} at `index`. */
static void
push_grouped(lua_State *L, int index)
{
    const size_t count =
        list_check(L, index, "group", 1 + COLANDER_GROUP_KEYS_MAX);

    lua_newtable(L);
    for (size_t i = 1; i <= count; i++) {
        lua_rawgeti(L, index, (lua_Integer)i);
        if (i == 1)
            (void)query_check(L, lua_gettop(L));
        else
            grouping_check_key(L, lua_gettop(L));
        lua_rawseti(L, -2, (lua_Integer)i);
    }
}

/* Pushes a copy of the table of measures at `index`. */
static void
push_measures(lua_State *L, int index)
{
    lua_newtable(L);
    lua_pushnil(L);
    while (lua_next(L, index) != 0) {
        if (lua_type(L, -2) != LUA_TSTRING || !type_is_table(L, -1, MEASURE))
            failure_misuse(L, "agg: expected measures with names, such as "
                              "{n = count(), t = avg(\"t\")}");
        lua_pushvalue(L, -2);
        lua_insert(L, -2);
        lua_rawset(L, -4);
    }
}

int
grouping_agg(lua_State *L)
{
    struct asked *asked;

    arguments_check_count(L, 2);
    luaL_checktype(L, 1, LUA_TTABLE);
    luaL_checktype(L, 2, LUA_TTABLE);
    lua_settop(L, 2);
    push_grouped(L, 1);
    push_measures(L, 2);
    asked = lua_newuserdatauv(L, sizeof(*asked), ASKED_USER_VALUES);
    asked->count_max = UINT64_MAX;
    asked->fill = COLANDER_FILL_NOTHING;
    asked->is_descending = false;
    luaL_setmetatable(L, GROUPS);
    lua_insert(L, -3);
    lua_setiuservalue(L, -3, ASKED_MEASURES);
    lua_setiuservalue(L, -2, ASKED_GROUPED);
    return 1;
}

static struct asked *
check_groups(lua_State *L)
{
    return luaL_checkudata(L, 1, GROUPS);
}

/* groups:order(name [, "desc"]) */
static int
set_order(lua_State *L)
{
    static const char *const directions[] = {"asc", "desc", NULL};
    struct asked *asked = check_groups(L);

    arguments_check_count(L, 3);
    (void)text_check(L, 2, "a name");
    asked->is_descending = luaL_checkoption(L, 3, "asc", directions) == 1;
    lua_settop(L, 2);
    lua_setiuservalue(L, 1, ASKED_ORDER);
    return 1;
}

/* groups:limit(n) */
static int
set_limit(lua_State *L)
{
    const lua_Integer count = luaL_checkinteger(L, 2);

    arguments_check_count(L, 2);
    luaL_argcheck(L, count >= 0, 2, "0 or more expected");
    check_groups(L)->count_max = (uint64_t)count;
    lua_settop(L, 1);
    return 1;
}

/* groups:having(condition or function) */
static int
set_having(lua_State *L)
{
    (void)check_groups(L);
    arguments_check_count(L, 2);
    lua_settop(L, 2);
    if (!lua_isfunction(L, 2))
        colander_predicate_destroy(condition_compile(L, 2, NULL)); /* a check */
    lua_setiuservalue(L, 1, ASKED_HAVING);
    return 1;
}

/* groups:fill("null"), groups:fill("prev"), groups:fill(0) */
static int
set_fill(lua_State *L)
{
    static const char *const words[] = {"null", "prev", "0", NULL};
    struct asked *asked = check_groups(L);

    arguments_check_count(L, 2);
    asked->fill = (enum colander_fill)(COLANDER_FILL_NULL +
                                       luaL_checkoption(L, 2, NULL, words));
    lua_settop(L, 1);
    return 1;
}

/* -------------------------------------------------------------- running --- */

/* Groups that are being filled or returned. */
struct run {
    struct colander_groups *groups;
    struct held held;
    struct colander_predicate *having;
    struct colander_group_key keys[COLANDER_GROUP_KEYS_MAX];
    struct colander_measure measures[COLANDER_GROUP_MEASURES_MAX];
    struct colander_grouping grouping;
    char *texts[TEXTS_MAX]; /* copies: what Lua has may be collected */
    size_t text_count;
    int given_count; /* functions, on the stack from `given` on */
    int given;
    uint64_t left; /* groups to be returned, if `having` is a function */
    int self;      /* the index of what is asked for */
    const char *paths[GIVEN_MAX]; /* of the columns of the result */
};

static void
release_run(void *object)
{
    struct run *run = object;

    colander_groups_destroy(run->groups);
    held_end(&run->held);
    colander_predicate_destroy(run->having);
    for (size_t i = 0; i < run->text_count; i++)
        free(run->texts[i]);
}

/* Returns a copy of the text, or NULL for NULL. */
static const char *
keep(lua_State *L, struct run *run, const char *text)
{
    char *copy = text == NULL ? NULL : strdup(text);

    if (text != NULL && copy == NULL)
        failure_memory(L, "for groups");
    if (copy != NULL)
        run->texts[run->text_count++] = copy;
    return copy;
}

/* Returns a copy of the text in a field of the table on top, or NULL. */
static const char *
field_text(lua_State *L, struct run *run, const char *name)
{
    const char *text = NULL;

    if (lua_getfield(L, -1, name) == LUA_TSTRING)
        text = keep(L, run, lua_tostring(L, -1));
    lua_pop(L, 1);
    return text;
}

/* Pops the function on top, and keeps it for each row. */
static void
give(lua_State *L, struct run *run)
{
    lua_replace(L, run->given + run->given_count++);
}

/* Reads the keys in {query, key, ...} on top. */
static void
read_keys(lua_State *L, struct run *run)
{
    const size_t count = (size_t)lua_rawlen(L, -1) - 1;

    for (size_t i = 0; i < count; i++) {
        struct colander_group_key *key = &run->keys[i];

        lua_rawgeti(L, -1, (lua_Integer)i + 2);
        if (lua_isfunction(L, -1)) {
            char name[16];

            (void)snprintf(name, sizeof(name), "by%zu", i + 1);
            key->name = keep(L, run, name);
            give(L, run);
            continue;
        }
        if (lua_istable(L, -1)) {
            key->path = field_text(L, run, "path");
            key->bucket = field_text(L, run, "size");
            key->zone = field_text(L, run, "zone");
        } else {
            key->path = keep(L, run, lua_tostring(L, -1));
        }
        if (key->path == NULL)
            failure_misuse(L, "a bucket has lost its path");
        key->name = keep(L, run, key->path);
        colander_path_make_plain(run->texts[run->text_count - 1]);
        lua_pop(L, 1);
    }
    run->grouping.keys = run->keys;
    run->grouping.key_count = count;
}

static int
compare_names(const void *a, const void *b)
{
    return strcmp(((const struct colander_measure *)a)->name,
                  ((const struct colander_measure *)b)->name);
}

/* Reads what the measure on top is of. A script may have changed it. */
static void
read_of(lua_State *L, struct run *run, struct colander_measure *measure)
{
    const int type = lua_getfield(L, -1, "of");
    const bool is_count = measure->aggregate == COLANDER_COUNT;

    if (type == LUA_TFUNCTION && !is_count) {
        give(L, run);
        return;
    }
    if (type == LUA_TSTRING)
        measure->path = keep(L, run, lua_tostring(L, -1));
    else if (type != LUA_TNIL || !is_count)
        failure_misuse(L, "agg: '%s' has lost its path or function",
                       measure->name);
    lua_pop(L, 1);
}

/* Reads the measure on top, which stays there. */
static void
read_measure(lua_State *L, struct run *run, struct colander_measure *measure)
{
    const char *time = field_text(L, run, "time");

    (void)lua_getfield(L, -1, "aggregate");
    measure->aggregate = (enum colander_aggregate)lua_tointeger(L, -1);
    (void)lua_getfield(L, -2, "part");
    measure->quantile = lua_tonumber(L, -1);
    lua_pop(L, 2);
    read_of(L, run, measure);
    if (time != NULL && run->grouping.time_path != NULL &&
        strcmp(time, run->grouping.time_path) != 0)
        failure_misuse(L, "agg: all first and last values are by one column of "
                          "times");
    if (time != NULL)
        run->grouping.time_path = time;
}

/* Reads the measures in the table on top, in the order of their names. */
static void
read_measures(lua_State *L, struct run *run)
{
    size_t count = 0;

    for (lua_pushnil(L); lua_next(L, -2) != 0; lua_pop(L, 1)) {
        if (count == COLANDER_GROUP_MEASURES_MAX)
            failure_misuse(L, "at most %d measures",
                           COLANDER_GROUP_MEASURES_MAX);
        run->measures[count++].name = keep(L, run, text_check(L, -2, "a name"));
    }
    if (count > 0)
        qsort(run->measures, count, sizeof(run->measures[0]), compare_names);
    for (size_t i = 0; i < count; i++) {
        lua_getfield(L, -1, run->measures[i].name);
        read_measure(L, run, &run->measures[i]);
        lua_pop(L, 1);
    }
    run->grouping.measures = run->measures;
    run->grouping.measure_count = count;
}

/* Sets the column that rows are first and last by to the time column, if it is
 * needed and not given. */
static void
read_time_column(lua_State *L, struct run *run, struct query *query)
{
    struct colander_buffer *path = &scratch_get(L)->text;
    bool is_needed = false;
    bool found;

    for (size_t i = 0; i < run->grouping.measure_count; i++)
        is_needed |= run->measures[i].aggregate == COLANDER_FIRST ||
                     run->measures[i].aggregate == COLANDER_LAST;
    if (!is_needed || run->grouping.time_path != NULL)
        return;
    failure_try(L, colander_family_time_column(query->family->family, path,
                                               &found, &err));
    if (!found)
        failure_misuse(L, "first and last need a time column: "
                          "first(\"t\", \"at\")");
    run->grouping.time_path = keep(L, run, (const char *)path->data);
}

/* Reads which groups are wanted. */
static void
read_result(lua_State *L, struct run *run)
{
    const struct asked *asked = lua_touserdata(L, run->self);
    struct colander_grouping *grouping = &run->grouping;

    if (lua_getiuservalue(L, run->self, ASKED_ORDER) == LUA_TSTRING)
        grouping->order = keep(L, run, lua_tostring(L, -1));
    grouping->is_descending = asked->is_descending;
    grouping->fill = asked->fill;
    run->left = asked->count_max;
    switch (lua_getiuservalue(L, run->self, ASKED_HAVING)) {
    case LUA_TFUNCTION:
        break;
    case LUA_TSTRING:
    case LUA_TTABLE:
        run->having = condition_compile(L, lua_gettop(L), NULL);
        grouping->having = run->having;
        grouping->limit = run->left;
        break;
    default:
        grouping->limit = run->left;
    }
    held_begin(L, &run->held);
    grouping->size_max = held_max(L, &run->held);
    grouping->is_cancelled = scratch_get(L)->is_cancelled;
    lua_pop(L, 2);
}

void
grouping_fail(lua_State *L, struct query *query, struct colander_error *err)
{
    if (err->code == COLANDER_LIMIT)
        colander_error_context(err, "colander.memory_limit");
    if (query != NULL)
        query_stop(query);
    failure_raise(L, err);
}

/* Calls the functions of the script for a row, and adds it. */
static void
add_row(lua_State *L, struct run *run, struct query *query,
        const struct colander_result *row)
{
    const uint64_t step_count = query->step_count;
    const int top = lua_gettop(L);
    struct colander_value values[GIVEN_MAX];
    const struct colander_value *given[GIVEN_MAX];
    struct colander_error err;

    for (int i = 0; i < run->given_count; i++) {
        lua_pushvalue(L, run->given + i);
        scripting_push_row(L, row->key, row->row);
        query_call_function(L, query, row, step_count, 1, 1);
        given[i] = lua_isnil(L, -1) ? NULL : &values[i];
        if (given[i] != NULL && !value_get(L, -1, &values[i])) {
            query_stop(query);
            failure_misuse(L,
                           "a function of a grouping returned a %s, not a "
                           "value",
                           luaL_typename(L, -1));
        }
    }
    if (colander_groups_add(run->groups, row, given, &err) != COLANDER_OK ||
        held_set(L, &run->held, colander_groups_size(run->groups), &err) !=
            COLANDER_OK)
        grouping_fail(L, query, &err);
    lua_settop(L, top);
}

/* Whether the library can run the query itself, with its threads. */
static bool
is_whole(lua_State *L, const struct query *query, const struct run *run)
{
    return run->given_count == 0 && !query->has_filter &&
           query->order == NULL && query->skip == 0 &&
           query->limit == UINT64_MAX && scratch_get(L)->ended == NULL;
}

/* Adds the rows of the query at `index`. */
static void
add_rows(lua_State *L, struct run *run, int index)
{
    struct query *query = query_begin(L, index, QUERY_WHOLE_ROWS);
    struct colander_result row;
    struct colander_error err;

    if (is_whole(L, query, run)) {
        if (colander_family_group(query->family->family, &query->asked,
                                  run->groups, NULL, &err) != COLANDER_OK ||
            held_set(L, &run->held, colander_groups_size(run->groups), &err) !=
                COLANDER_OK)
            grouping_fail(L, query, &err);
        query_stop(query);
        return;
    }
    while (query_step(L, query, index, &row))
        add_row(L, run, query, &row);
}

/* Runs the query of the groups at `index`, and pushes the run. */
static struct run *
push_run(lua_State *L, int index)
{
    struct run *run = type_push_owner(L, sizeof(*run), release_run);
    const int owner = lua_gettop(L);
    struct query *query;

    luaL_checkstack(L, 2 * GIVEN_MAX + 3 * LUA_MINSTACK,
                    "for functions of a grouping and what they return");
    run->given = owner + 1;
    for (int i = 0; i < GIVEN_MAX; i++)
        lua_pushnil(L);
    run->self = index;
    colander_grouping_init(&run->grouping);
    (void)lua_getiuservalue(L, run->self, ASKED_GROUPED);
    (void)lua_rawgeti(L, -1, 1);
    query = query_check(L, lua_gettop(L));
    lua_insert(L, -2);
    read_keys(L, run);
    (void)lua_getiuservalue(L, run->self, ASKED_MEASURES);
    read_measures(L, run);
    read_time_column(L, run, query);
    read_result(L, run);
    failure_try(L, colander_groups_create(&run->grouping, &run->groups, &err));
    add_rows(L, run, run->given + GIVEN_MAX);
    lua_settop(L, owner);
    return run;
}

/* Returns the next group as a row, borrowed until the next call. */
static bool
next_group(lua_State *L, struct run *run, struct colander_slice *row)
{
    struct colander_error err;
    bool is_group;

    if (colander_groups_next(run->groups, &is_group, row, &err) != COLANDER_OK)
        grouping_fail(L, NULL, &err);
    return is_group;
}

/* Pushes a group as a table of its columns. A measure without values is nil. */
static void
push_group(lua_State *L, const struct run *run, struct colander_slice row)
{
    struct colander_value columns = colander_null();

    columns.type = COLANDER_MAP;
    columns.bytes = row;
    value_push(L, &columns);
    for (size_t i = 0; i < run->grouping.measure_count; i++) {
        (void)lua_getfield(L, -1, run->measures[i].name);
        if (value_is_null(L, -1)) {
            lua_pushnil(L);
            lua_setfield(L, -3, run->measures[i].name);
        }
        lua_pop(L, 1);
    }
}

/* Pushes the next group that the function of `having` accepts, if there is one,
 * and sets *row to it. Returns whether there is a group. */
static bool
push_next(lua_State *L, struct run *run, struct colander_slice *row)
{
    while (run->left > 0 && next_group(L, run, row)) {
        bool is_accepted = true;

        push_group(L, run, *row);
        if (lua_getiuservalue(L, run->self, ASKED_HAVING) == LUA_TFUNCTION) {
            lua_pushvalue(L, -2);
            lua_call(L, 1, 1);
            is_accepted = lua_toboolean(L, -1);
        }
        lua_pop(L, 1);
        run->left -= is_accepted;
        if (is_accepted)
            return true;
        lua_pop(L, 1);
    }
    return false;
}

/* for group in groups do ... */
static int
groups_call(lua_State *L)
{
    struct colander_slice row;
    struct run *run;

    (void)check_groups(L);
    if (lua_isnoneornil(L, 3)) { /* the loop begins */
        run = push_run(L, 1);
        lua_pushvalue(L, -1);
        lua_setiuservalue(L, 1, ASKED_RUN);
    } else {
        (void)lua_getiuservalue(L, 1, ASKED_GROUP);
        (void)lua_getiuservalue(L, 1, ASKED_RUN);
        run = type_owned(L, -1);
        if (run == NULL || !lua_rawequal(L, 3, -2))
            failure_misuse(L, "the groups of this loop were run by something "
                              "else");
    }
    if (!push_next(L, run, &row)) {
        lua_pushnil(L);
        lua_setiuservalue(L, 1, ASKED_RUN);
        lua_pushnil(L);
    }
    lua_pushvalue(L, -1);
    lua_setiuservalue(L, 1, ASKED_GROUP);
    return 1;
}

/* groups:all(): an array of tables */
static int
groups_all(lua_State *L)
{
    lua_Integer count = 0;
    struct colander_slice row;
    struct run *run;

    arguments_check_count(L, 1);
    (void)check_groups(L);
    lua_settop(L, 1);
    run = push_run(L, 1);
    lua_newtable(L);
    while (push_next(L, run, &row))
        lua_rawseti(L, -2, ++count);
    return 1;
}

/* groups:first(): the first group, or nothing */
static int
groups_first(lua_State *L)
{
    struct colander_slice row;

    arguments_check_count(L, 1);
    (void)check_groups(L);
    lua_settop(L, 1);
    return push_next(L, push_run(L, 1), &row) ? 1 : 0;
}

static int
groups_text(lua_State *L)
{
    lua_pushliteral(L, "groups (a loop runs them, or :all())");
    return 1;
}

bool
grouping_is(lua_State *L, int index)
{
    return luaL_testudata(L, index, GROUPS) != NULL;
}

const char *const *
scripting_groups_begin(lua_State *L, int index, size_t *path_count)
{
    struct run *run = push_run(L, index);
    struct colander_buffer *path = &scratch_get(L)->text;
    const size_t key_count = run->grouping.key_count;

    *path_count = key_count + run->grouping.measure_count;
    for (size_t i = 0; i < *path_count; i++) {
        const char *name = i < key_count ? run->keys[i].name
                                         : run->measures[i - key_count].name;

        path->size = 0;
        failure_try(L, colander_path_append_name(
                           path, colander_slice_text(name), &err));
        failure_try(L, colander_buffer_append(path, "", 1, &err));
        run->paths[i] = keep(L, run, (const char *)path->data);
    }
    return run->paths;
}

bool
scripting_groups_next(lua_State *L, int index, struct colander_slice *row)
{
    if (!push_next(L, type_owned(L, index), row))
        return false;
    lua_pop(L, 1);
    return true;
}

static void
register_types(lua_State *L)
{
    static const struct luaL_Reg none[] = {{NULL, NULL}};
    static const struct luaL_Reg methods[] = {
        {"order", set_order}, {"limit", set_limit}, {"having", set_having},
        {"fill", set_fill},   {"all", groups_all},  {"first", groups_first},
        {NULL, NULL},
    };
    static const struct luaL_Reg metamethods[] = {
        {"__call", groups_call},
        {"__tostring", groups_text},
        {NULL, NULL},
    };

    type_define(L, BUCKET, none);
    type_define(L, MEASURE, none);
    type_define(L, GROUPS, metamethods);
    luaL_getmetatable(L, GROUPS);
    luaL_newlib(L, methods);
    lua_setfield(L, -2, "__index");
    lua_pop(L, 1);
}

void
groupings_register(lua_State *L)
{
    register_types(L);
    lua_pushcfunction(L, new_bucket);
    lua_setfield(L, -2, "bucket");
    for (size_t i = 0; i < AGGREGATE_COUNT; i++)
        type_set_function(L, aggregate_names[i], new_measure, (int)i);
}
