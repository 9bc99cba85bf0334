/*
 * Aggregates: rows of a query, counted by the value of a column, with sums and
 * extremes of another column. Rows stream through; only the groups are held.
 * Their memory is limited, because it grows with the number of values.
 *
 * Without a group all rows are one. A row without the column, or with a map or
 * an array in it, is skipped.
 *
 * SPDX-License-Identifier: MIT
 */
#include "columns/groups.h"
#include "core/array.h"
#include "core/hash_index.h"
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

/* -------------------------------------------------------------- groups --- */

struct group {
    struct colander_value value; /* common to its rows */
    uint64_t row_count;
    uint64_t number_count; /* rows whose measure is a number */
    int64_t integer_sum;   /* valid unless is_double */
    double double_sum;     /* always valid */
    bool is_double;        /* not all are integers, or their sum overflows */
    bool has_extremes;
    struct colander_value least; /* measure, of any type */
    struct colander_value most;
};

struct groups {
    struct group *items;
    size_t count;
    size_t capacity;
    struct hash_index index; /* of the items, by value */
    size_t value_size;       /* bytes of all values */
    size_t size_max;
};

static void
value_release(struct groups *groups, struct colander_value *value)
{
    if (colander_type_has_bytes(value->type)) {
        groups->value_size -= value->bytes.size;
        free((void *)value->bytes.data);
    }
    *value = colander_null();
}

/* Replaces `to` by a copy of `from`. */
static enum colander_code
value_copy(struct groups *groups, struct colander_value *to,
           const struct colander_value *from, struct colander_error *err)
{
    uint8_t *bytes = NULL;

    if (colander_type_has_bytes(from->type)) {
        bytes = malloc(from->bytes.size + 1);
        if (bytes == NULL)
            return COLANDER_FAIL(err, COLANDER_NO_MEMORY,
                                 "no memory for groups");
        if (from->bytes.size > 0)
            memcpy(bytes, from->bytes.data, from->bytes.size);
        groups->value_size += from->bytes.size;
    }
    value_release(groups, to);
    *to = *from;
    if (bytes != NULL)
        to->bytes.data = bytes;
    return COLANDER_OK;
}

static void
groups_release(struct groups *groups)
{
    for (size_t i = 0; i < groups->count; i++) {
        value_release(groups, &groups->items[i].value);
        value_release(groups, &groups->items[i].least);
        value_release(groups, &groups->items[i].most);
    }
    free(groups->items);
    hash_index_release(&groups->index);
}

/* Finds the group of `value`, or adds it. */
static enum colander_code
find_group(struct groups *groups, const struct colander_value *value,
           struct group **group, struct colander_error *err)
{
    const uint32_t hash = (uint32_t)colander_value_hash(value);
    size_t at = HASH_INDEX_START;
    enum colander_code code;
    uint32_t i;

    while ((i = hash_index_next(&groups->index, hash, &at)) !=
           HASH_INDEX_NONE) {
        *group = &groups->items[i];
        if (colander_value_compare(&(*group)->value, value) == 0)
            return COLANDER_OK;
    }
    code =
        array_reserve(&groups->items, groups->count, &groups->capacity, 1, err);
    if (code == COLANDER_OK)
        code = hash_index_reserve(&groups->index, err);
    if (code != COLANDER_OK)
        return code;
    *group = &groups->items[groups->count];
    memset(*group, 0, sizeof(**group));
    (*group)->value = (*group)->least = (*group)->most = colander_null();
    code = value_copy(groups, &(*group)->value, value, err);
    if (code == COLANDER_OK)
        hash_index_add(&groups->index, hash, (uint32_t)groups->count++);
    return code;
}

static void
add_number(struct group *group, const struct colander_value *measure)
{
    const bool is_integer = measure->type == COLANDER_INTEGER;
    double number;

    if (is_integer)
        number = (double)measure->integer;
    else if (measure->type == COLANDER_UNSIGNED)
        number = (double)measure->natural;
    else if (measure->type == COLANDER_DOUBLE)
        number = measure->number;
    else
        return;
    group->number_count++;
    group->double_sum += number;
    if (!is_integer ||
        __builtin_add_overflow(group->integer_sum, measure->integer,
                               &group->integer_sum))
        group->is_double = true;
}

static enum colander_code
add_extremes(struct groups *groups, struct group *group,
             const struct colander_value *measure, struct colander_error *err)
{
    enum colander_code code = COLANDER_OK;

    if (!group->has_extremes ||
        colander_value_compare(measure, &group->least) < 0)
        code = value_copy(groups, &group->least, measure, err);
    if (code == COLANDER_OK &&
        (!group->has_extremes ||
         colander_value_compare(measure, &group->most) > 0))
        code = value_copy(groups, &group->most, measure, err);
    group->has_extremes = true;
    return code;
}

/* Counts a row whose column has the scalar `value`, and adds its scalar
 * `measure` (NULL: none). Fails with LIMIT if the groups take too much. */
static enum colander_code
groups_add(struct groups *groups, const struct colander_value *value,
           const struct colander_value *measure, struct colander_error *err)
{
    const size_t each = sizeof(struct group) + 2 * sizeof(struct hash_slot);
    struct group *group;
    enum colander_code code = find_group(groups, value, &group, err);

    if (code != COLANDER_OK)
        return code;
    group->row_count++;
    if (measure != NULL) {
        add_number(group, measure);
        code = add_extremes(groups, group, measure, err);
        if (code != COLANDER_OK)
            return code;
    }
    if (groups->value_size + groups->count * each > groups->size_max)
        return COLANDER_FAIL(err, COLANDER_LIMIT,
                             "%zu distinct values take more than %zu bytes "
                             "(colander.memory_limit sets the limit)",
                             groups->count, groups->size_max);
    return COLANDER_OK;
}

static int
compare_groups(const void *a, const void *b, void *context)
{
    bool (*const *is_cancelled)(void) = context;
    const struct group *left = a;
    const struct group *right = b;

    if (*is_cancelled != NULL && (*is_cancelled)())
        return 0;
    return colander_value_compare(&left->value, &right->value);
}

/* Sorts the groups by value. No rows may be added from then on. The order is
 * undefined once `is_cancelled` (NULL: never) returns true. */
static void
groups_finish(struct groups *groups, bool (*is_cancelled)(void))
{
    if (groups->count > 0)
        qsort_r(groups->items, groups->count, sizeof(groups->items[0]),
                compare_groups, &is_cancelled);
    hash_index_release(&groups->index);
}

/* --------------------------------------------------------------- walks --- */

enum measure {
    MEASURE_COUNT,
    MEASURE_SUM,
    MEASURE_MIN,
    MEASURE_MAX,
    MEASURE_AVG
};

static const char *const measure_names[] = {"count", "sum", "min", "max",
                                            "avg"};

/* Groups, and the position of a function that iterates over them. */
struct walk {
    struct groups groups;
    size_t next;
    int measure; /* -1: none */
};

static void
release_walk(void *walk)
{
    groups_release(&((struct walk *)walk)->groups);
}

/* Gets the scalar at `path`, which may be null. */
static enum colander_code
get_scalar(struct colander_slice row, const char *path,
           struct colander_value *value, bool *found,
           struct colander_error *err)
{
    enum colander_code code = colander_row_get(row, path, value, found, err);

    *found = code == COLANDER_OK && *found && value->type < COLANDER_ARRAY;
    return code;
}

/* Adds a row to its group. `by` (NULL: one group) and `of` (NULL: no measure)
 * are paths. */
static enum colander_code
add_row(struct groups *groups, struct colander_slice row, const char *by,
        const char *of, struct colander_error *err)
{
    struct colander_value value = colander_null();
    struct colander_value measure;
    enum colander_code code;
    bool found = true;

    if (by != NULL) {
        code = get_scalar(row, by, &value, &found, err);
        if (code != COLANDER_OK || !found)
            return code;
    }
    if (of == NULL)
        return groups_add(groups, &value, NULL, err);
    code = get_scalar(row, of, &measure, &found, err);
    if (code != COLANDER_OK || !found || measure.type == COLANDER_NULL)
        return code;
    return groups_add(groups, &value, &measure, err);
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
gather(lua_State *L, const char *by, const char *of)
{
    bool has_rows = false;
    struct query *query = query_check(L, 1);
    struct walk *walk = type_push_owner(L, sizeof(*walk), release_walk);
    struct colander_result result;
    struct colander_error err;

    walk->measure = -1;
    walk->groups.size_max = scratch_get(L)->memory_limit;
    (void)query_begin(L, 1, QUERY_WHOLE_ROWS);
    while (query_step(L, query, 1, &result)) {
        has_rows = true;
        if (add_row(&walk->groups, result.row, by, of, &err) != COLANDER_OK) {
            query_stop(query);
            failure_raise(L, &err);
        }
    }
    if (has_rows && walk->groups.count == 0)
        report_missed(L, query, by, of);
    groups_finish(&walk->groups, query->is_cancelled);
    return walk;
}

/* Returns the measure of a group; null: none of its rows has a number. */
static struct colander_value
measure_of(const struct group *group, int measure)
{
    switch (measure) {
    case MEASURE_COUNT:
        return colander_integer((int64_t)group->row_count);
    case MEASURE_SUM:
        return group->is_double ? colander_double(group->double_sum)
                                : colander_integer(group->integer_sum);
    case MEASURE_MIN:
        return group->least;
    case MEASURE_MAX:
        return group->most;
    case MEASURE_AVG:
        if (group->number_count > 0)
            return colander_double(group->double_sum /
                                   (double)group->number_count);
        break;
    }
    return colander_null();
}

static void
push_measure(lua_State *L, const struct group *group, int measure)
{
    const struct colander_value value = measure_of(group, measure);

    if (value.type == COLANDER_NULL)
        lua_pushnil(L);
    else
        value_push(L, &value);
}

/* The upvalues of a function that walks. */
enum {
    WALK = 1,
    WALK_BY,   /* the path of the column */
    WALK_NAME, /* of the measure; nil: none */
    WALK_UPVALUES = WALK_NAME,
};

/* Returns the next group, or NULL. */
static const struct group *
take_group(struct walk *walk)
{
    return walk->next < walk->groups.count ? &walk->groups.items[walk->next++]
                                           : NULL;
}

/* The function that walks. */
static int
next_group(lua_State *L)
{
    struct walk *walk = type_owned(L, lua_upvalueindex(WALK));
    const struct group *group = take_group(walk);

    if (group == NULL) {
        lua_pushnil(L);
        return 1;
    }
    value_push(L, &group->value);
    if (walk->measure < 0)
        return 1;
    push_measure(L, group, walk->measure);
    return 2;
}

/* Replaces the walk on top by a function that walks. `of` may be NULL,
 * `measure` -1. */
static void
push_walk(lua_State *L, struct walk *walk, int measure, const char *by,
          const char *of)
{
    walk->measure = measure;
    lua_pushstring(L, by);
    if (measure < 0)
        lua_pushnil(L);
    else if (of == NULL)
        lua_pushstring(L, measure_names[measure]);
    else
        lua_pushfstring(L, "%s %s", measure_names[measure], of);
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
    const struct group *group;
    struct walk *walk;

    (void)lua_getupvalue(L, index, WALK);
    walk = type_owned(L, -1);
    lua_pop(L, 1); /* the function keeps it */
    group = take_group(walk);
    if (group == NULL)
        return false;
    *value = group->value;
    *measure = measure_of(group, walk->measure);
    return true;
}

/* query:distinct(path): a function that returns each value once, in order */
static int
query_distinct(lua_State *L)
{
    const char *by;

    arguments_check_count(L, 2);
    (void)query_check(L, 1);
    by = text_check(L, 2, "a path");
    push_walk(L, gather(L, by, NULL), -1, by, NULL);
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
    const int measure = (int)lua_tointeger(L, lua_upvalueindex(1));
    const char *of =
        measure == MEASURE_COUNT ? NULL : text_check(L, 2, "a path");
    const char *by = NULL;
    struct walk *walk;

    arguments_check_count(L, measure == MEASURE_COUNT ? 1 : 2);
    if (lua_istable(L, 1)) {
        by = check_only_path(L); /* stays on the stack */
        lua_rawgeti(L, 1, 1);
        lua_replace(L, 1);
    }
    walk = gather(L, by, of);
    if (by != NULL)
        push_walk(L, walk, measure, by, of);
    else if (walk->groups.count > 0)
        push_measure(L, &walk->groups.items[0], measure);
    else if (measure == MEASURE_SUM)
        lua_pushinteger(L, 0);
    else
        lua_pushnil(L);
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
    type_define(L, GROUPED, metamethods, false);
    luaL_getmetatable(L, GROUPED);
    lua_newtable(L);
    type_push_methods(L, QUERY_TYPE);
    for (int i = MEASURE_SUM; i <= MEASURE_AVG; i++)
        type_set_function(L, measure_names[i], run_measure, i);
    lua_pop(L, 1);
    for (int i = MEASURE_COUNT; i <= MEASURE_AVG; i++)
        type_set_function(L, measure_names[i], run_measure, i);
    lua_pushcfunction(L, grouping_agg);
    lua_setfield(L, -2, "agg");
    lua_setfield(L, -2, "__index");
    lua_pop(L, 1);
}
