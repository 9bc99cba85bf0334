/*
 * Aggregates: rows of a query, counted by the value of a column, with sums and
 * extremes of another column. They are groups (columns/groups.h) with one key
 * and one measure.
 *
 * Without a group all rows are one. A row without the column, or with a map or
 * an array in it, is skipped. One with several values there, because the path
 * has [], is in the group of each.
 *
 * SPDX-License-Identifier: MIT
 */
#include "columns/groups.h"
#include "scripting/failure.h"
#include "scripting/fields.h"
#include "scripting/groupings.h"
#include "scripting/module.h"
#include "scripting/queries.h"
#include "scripting/rows.h"
#include "scripting/scratch.h"
#include "scripting/types.h"
#include "scripting/values.h"

#define GROUPED "colander.grouped"

/* The columns of groups. */
#define VALUE "value"
#define MEASURE "measure"

static const struct measure {
    const char *name;
    enum colander_aggregate aggregate;
} measures[] = {
    {"count", COLANDER_COUNT}, {"sum", COLANDER_SUM}, {"min", COLANDER_MIN},
    {"max", COLANDER_MAX},     {"avg", COLANDER_AVG},
};

#define MEASURE_COUNT (int)(sizeof(measures) / sizeof(measures[0]))

/* Groups, of which a function that walks over them returns one after another.
 */
struct walk {
    struct colander_groups *groups;
    struct held held;
    const struct measure *measure; /* NULL: none */
};

static void
release_walk(void *object)
{
    struct walk *walk = object;

    colander_groups_destroy(walk->groups);
    held_end(&walk->held);
}

/* Whether a row may have several values at a path (NULL: none). */
static bool
has_elements(const char *path)
{
    return path != NULL && strstr(path, "[]") != NULL;
}

/* Creates the groups. Values are given, but those of which a row may have
 * several. */
static void
create_groups(lua_State *L, struct walk *walk, const char *by)
{
    const struct colander_group_key key = {
        .name = VALUE, .path = has_elements(by) ? by : NULL};
    struct colander_measure measure = {.name = MEASURE};
    struct colander_grouping grouping;

    colander_grouping_init(&grouping);
    grouping.keys = &key;
    grouping.key_count = by != NULL ? 1 : 0;
    if (walk->measure != NULL) {
        measure.aggregate = walk->measure->aggregate;
        grouping.measures = &measure;
        grouping.measure_count = 1;
    }
    held_begin(L, &walk->held);
    grouping.size_max = held_max(L, &walk->held);
    grouping.is_cancelled = scratch_get(L)->is_cancelled;
    failure_try(L, colander_groups_create(&grouping, &walk->groups, &err));
}

/* Adds a row to its group. `by` (NULL: one group) and `of` (NULL: no measure)
 * are paths. */
static enum colander_code
add_row(struct colander_groups *groups, const struct colander_result *row,
        const char *by, const char *of, struct colander_error *err)
{
    const char *const paths[] = {by, of};
    struct colander_value values[2];
    const struct colander_value *given[2];
    size_t count = 0;

    for (size_t i = 0; i < 2; i++) {
        struct colander_value *value = &values[count];
        bool found = false;
        enum colander_code code;

        if (paths[i] == NULL)
            continue;
        code = colander_row_get(row->row, paths[i], value, &found, err);
        if (code == COLANDER_OK && found && i == 0 && has_elements(by))
            continue; /* the groups read them */
        if (code != COLANDER_OK || !found || value->type >= COLANDER_ARRAY ||
            (i == 1 && value->type == COLANDER_NULL))
            return code; /* the row does not count */
        given[count++] = value;
    }
    return colander_groups_add(groups, row, given, err);
}

/* Reports that no row had both columns. NULL: there is none. */
static void
report_missed(lua_State *L, const struct query *query, const char *by,
              const char *of)
{
    const char *paths[2];
    size_t count = 0;

    if (by != NULL)
        paths[count++] = by;
    if (of != NULL)
        paths[count++] = of;
    query_report_missed(L, query, paths, count);
}

/* Runs the query at 1 and pushes a walk over the groups of its rows. */
static struct walk *
gather(lua_State *L, const struct measure *measure, const char *by,
       const char *of)
{
    bool has_rows = false;
    struct query *query = query_check(L, 1);
    struct walk *walk = type_push_owner(L, sizeof(*walk), release_walk);
    struct colander_result result;
    struct colander_error err;

    walk->measure = measure;
    create_groups(L, walk, by);
    (void)query_begin(L, 1, QUERY_WHOLE_ROWS);
    while (query_step(L, query, 1, &result)) {
        has_rows = true;
        if (add_row(walk->groups, &result, by, of, &err) != COLANDER_OK ||
            held_set(L, &walk->held, colander_groups_size(walk->groups),
                     &err) != COLANDER_OK)
            grouping_fail(L, query, &err);
    }
    if (has_rows && colander_groups_count(walk->groups) == 0)
        report_missed(L, query, by, of);
    return walk;
}

/* Sets *value and *measure to those of the next group. Returns false if there
 * is none. */
static bool
read_group(lua_State *L, struct walk *walk, struct colander_value *value,
           struct colander_value *measure)
{
    struct colander_slice row;
    struct colander_error err;
    enum colander_code code;
    struct colander_members members;
    struct colander_slice name;
    struct colander_value member;
    bool is_group;
    bool is_member;

    *value = *measure = colander_null();
    code = colander_groups_next(walk->groups, &is_group, &row, &err);
    is_member = is_group;
    if (code == COLANDER_OK && is_group)
        code = colander_members_init(&members, row, &err);
    while (code == COLANDER_OK && is_member) {
        code =
            colander_members_next(&members, &is_member, &name, &member, &err);
        if (code == COLANDER_OK && is_member)
            *(name.data[0] == VALUE[0] ? value : measure) = member;
    }
    if (code != COLANDER_OK)
        grouping_fail(L, NULL, &err);
    return is_group;
}

/* Sets *value and *measure to those of the next group of scalars, borrowed
 * until the next call. Returns false if there is none. */
static bool
take_group(lua_State *L, struct walk *walk, struct colander_value *value,
           struct colander_value *measure)
{
    bool is_group;

    do
        is_group = read_group(L, walk, value, measure);
    while (is_group && value->type >= COLANDER_ARRAY);
    if (is_group && walk->measure != NULL &&
        walk->measure->aggregate == COLANDER_SUM) {
        if (measure->type == COLANDER_NULL)
            *measure = colander_integer(0);
        else if (measure->type == COLANDER_UNSIGNED) /* Lua has no such type */
            *measure = colander_double((double)measure->natural);
    }
    return is_group;
}

static void
push_measure(lua_State *L, const struct colander_value *measure)
{
    if (measure->type == COLANDER_NULL)
        lua_pushnil(L);
    else
        value_push(L, measure);
}

/* The upvalues of a function that walks. */
enum {
    WALK = 1,
    WALK_BY,   /* the path of the column */
    WALK_NAME, /* of the measure; nil: none */
    WALK_UPVALUES = WALK_NAME,
};

/* The function that walks. */
static int
next_group(lua_State *L)
{
    struct walk *walk = type_owned(L, lua_upvalueindex(WALK));
    struct colander_value value;
    struct colander_value measure;

    if (!take_group(L, walk, &value, &measure)) {
        lua_pushnil(L);
        return 1;
    }
    value_push(L, &value);
    if (walk->measure == NULL)
        return 1;
    push_measure(L, &measure);
    return 2;
}

/* Replaces the walk on top by a function that walks. `of` may be NULL. */
static void
push_walk(lua_State *L, const struct walk *walk, const char *by, const char *of)
{
    lua_pushstring(L, by);
    if (walk->measure == NULL)
        lua_pushnil(L);
    else if (of == NULL)
        lua_pushstring(L, walk->measure->name);
    else
        lua_pushfstring(L, "%s %s", walk->measure->name, of);
    lua_pushcclosure(L, next_group, WALK_UPVALUES);
}

enum scripting_kind
scripting_kind_of(lua_State *L, int index)
{
    if (luaL_testudata(L, index, QUERY_TYPE) != NULL)
        return SCRIPTING_QUERY;
    if (row_is(L, index))
        return SCRIPTING_ROW;
    if (lua_tocfunction(L, index) == next_group)
        return SCRIPTING_WALK;
    if (grouping_is(L, index))
        return SCRIPTING_GROUPS;
    return SCRIPTING_PLAIN;
}

void
scripting_walk_names(lua_State *L, int index, const char **by,
                     const char **measure)
{
    (void)lua_getupvalue(L, index, WALK_BY);
    (void)lua_getupvalue(L, index, WALK_NAME);
    *by = lua_tostring(L, -2);
    *measure = lua_tostring(L, -1);
    lua_pop(L, 2); /* the function keeps them */
}

bool
scripting_walk_next(lua_State *L, int index, struct colander_value *value,
                    struct colander_value *measure)
{
    struct walk *walk;

    (void)lua_getupvalue(L, index, WALK);
    walk = type_owned(L, -1);
    lua_pop(L, 1); /* the function keeps it */
    return take_group(L, walk, value, measure);
}

/* query:distinct(path): a function that returns each value once, in order */
static int
query_distinct(lua_State *L)
{
    const char *by;

    arguments_check_count(L, 2);
    (void)query_check(L, 1);
    by = text_check(L, 2, "a path");
    push_walk(L, gather(L, NULL, by, NULL), by, NULL);
    return 1;
}

/* query:group(key, ...): {query, key, ...}, whose methods run the query */
static int
query_group(lua_State *L)
{
    const int count = lua_gettop(L);

    (void)query_check(L, 1);
    arguments_check_count(L, COLANDER_GROUP_KEYS_MAX + 1);
    lua_createtable(L, count, 0);
    for (int i = 1; i <= count; i++) {
        if (i > 1)
            grouping_check_key(L, i);
        lua_pushvalue(L, i);
        lua_rawseti(L, -2, i);
    }
    luaL_setmetatable(L, GROUPED);
    return 1;
}

/* Pushes the only key of the groups at 1, which is a path. */
static const char *
check_only_path(lua_State *L)
{
    if (lua_rawlen(L, 1) != 2 || lua_rawgeti(L, 1, 2) != LUA_TSTRING)
        failure_misuse(L, "several keys, buckets and functions need "
                          ":agg{n = count()}");
    return text_check(L, -1, "a path");
}

static int
grouped_text(lua_State *L)
{
    luaL_checktype(L, 1, LUA_TTABLE);
    if (lua_rawlen(L, 1) == 2 && lua_rawgeti(L, 1, 2) == LUA_TSTRING)
        lua_pushfstring(L, "rows by '%s' (:count(), :sum(column), ...)",
                        text_check(L, -1, "a path"));
    else
        lua_pushliteral(L, "rows by keys (:agg{n = count()})");
    return 1;
}

/* query:sum(path) and the like, of all rows; grouped:sum(path) and the like: a
 * function that returns each value and its measure, in order. Upvalue 1 is the
 * measure. */
static int
run_measure(lua_State *L)
{
    const struct measure *measure =
        &measures[lua_tointeger(L, lua_upvalueindex(1))];
    const bool is_count = measure->aggregate == COLANDER_COUNT;
    const char *of = is_count ? NULL : text_check(L, 2, "a path");
    const char *by = NULL;
    struct colander_value value;
    struct colander_value result;
    struct walk *walk;

    arguments_check_count(L, is_count ? 1 : 2);
    if (lua_istable(L, 1)) {
        by = check_only_path(L); /* stays on the stack */
        lua_rawgeti(L, 1, 1);
        lua_replace(L, 1);
    }
    walk = gather(L, measure, by, of);
    if (by != NULL) {
        push_walk(L, walk, by, of);
    } else { /* there is one group, even without rows */
        (void)take_group(L, walk, &value, &result);
        push_measure(L, &result);
    }
    return 1;
}

void
aggregates_register(lua_State *L)
{
    static const struct luaL_Reg methods[] = {
        {"distinct", query_distinct},
        {"group", query_group},
        {NULL, NULL},
    };
    static const struct luaL_Reg metamethods[] = {
        {"__tostring", grouped_text},
        {NULL, NULL},
    };

    type_extend(L, QUERY_TYPE, methods, NULL);
    type_define(L, GROUPED, metamethods);
    luaL_getmetatable(L, GROUPED);
    lua_newtable(L);
    type_push_methods(L, QUERY_TYPE);
    for (int i = 1; i < MEASURE_COUNT; i++) /* queries have another count */
        type_set_function(L, measures[i].name, run_measure, i);
    lua_pop(L, 1);
    for (int i = 0; i < MEASURE_COUNT; i++)
        type_set_function(L, measures[i].name, run_measure, i);
    lua_pushcfunction(L, grouping_agg);
    lua_setfield(L, -2, "agg");
    lua_setfield(L, -2, "__index");
    lua_pop(L, 1);
}
