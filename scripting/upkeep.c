/*
 * Families as a whole: their life, sizes and value filters.
 *
 * SPDX-License-Identifier: MIT
 */
#include "scripting/module.h"

#include "columns/bulk.h"
#include "scripting/failure.h"
#include "scripting/families.h"
#include "scripting/fields.h"
#include "scripting/scratch.h"
#include "scripting/types.h"

#ifdef COLANDER_FILTERS
#include "filters/option_fields.h"
#endif

/* Methods without arguments that return the family. */
static const struct {
    const char *name;
    enum colander_code (*run)(struct colander_family *,
                              struct colander_error *);
} tasks[] = {
    {"create", colander_family_create},
    {"drop", colander_family_drop},
    {"flush", colander_family_flush},
    {"compact", colander_family_compact},
#ifdef COLANDER_FILTERS
    {"await_filters", colander_family_await_filters},
#endif
};

#define TASK_COUNT (int)(sizeof(tasks) / sizeof(tasks[0]))

static int
run_task(lua_State *L)
{
    const lua_Integer task = lua_tointeger(L, lua_upvalueindex(1));
    struct script_family *family = family_check(L, 1);

    arguments_check_count(L, 1);
    failure_try(L, tasks[task].run(family->family, &err));
    lua_settop(L, 1);
    return 1;
}

static int
family_name(lua_State *L)
{
    arguments_check_count(L, 1);
    lua_pushstring(L, colander_family_name(family_check(L, 1)->family));
    return 1;
}

/* family:rename(name): the family */
static int
family_rename(lua_State *L)
{
    const char *name = text_check(L, 2, "the name of a family");
    struct script_family *family = family_check(L, 1);

    arguments_check_count(L, 2);
    failure_try(L, colander_family_rename(family->family, name, &err));
    family->handle.family_name = colander_family_name(family->family);
    lua_settop(L, 1);
    return 1;
}

/* Gives `to` the options of filters of `from`, before it gets rows. */
static enum colander_code
copy_filter_options(struct colander_family *from, struct colander_family *to,
                    struct colander_error *err)
{
    enum colander_code code = COLANDER_OK;
#ifdef COLANDER_FILTERS
    struct colander_filter_options filters;

    code = colander_family_get_filters(from, &filters, err);
    if (code != COLANDER_OK)
        return code;
    code = colander_family_set_filters(to, &filters, err);
    colander_filter_options_release(&filters);
#else
    (void)from;
    code = colander_family_create(to, err);
#endif
    return code;
}

enum colander_code
scripting_copy_family(struct colander_family *from, struct colander_family *to,
                      bool (*goes_on)(void *context, uint64_t row_count),
                      void *context, uint64_t *row_count,
                      struct colander_error *err)
{
    const bool existed = colander_family_exists(to);
    struct colander_bulk *bulk = NULL;
    enum colander_code code = COLANDER_OK;

    if (existed) /* with rows, it keeps its options */
        code = colander_bulk_create(to, &bulk, err);
    colander_bulk_destroy(bulk);
    if (code == COLANDER_OK)
        code = copy_filter_options(from, to, err);
    if (code == COLANDER_OK)
        code = colander_family_copy(from, NULL, to, goes_on, context, row_count,
                                    err);
    if (code != COLANDER_OK && !existed &&
        colander_family_drop(to, NULL) != COLANDER_OK)
        return code; /* it remains without rows */
    return code;
}

/* Whether work is not cancelled. */
static bool
goes_on(void *scratch, uint64_t row_count)
{
    scripting_is_cancelled *is_cancelled =
        ((const struct scratch *)scratch)->is_cancelled;

    (void)row_count;
    return is_cancelled == NULL || !is_cancelled();
}

static void
close_target(void *target)
{
    colander_family_close(*(struct colander_family **)target);
}

/* family:copy(name): the number of rows */
static int
family_copy(lua_State *L)
{
    const char *name = text_check(L, 2, "the name of a family");
    struct colander_family **to;
    struct script_family *from;
    uint64_t count;

    arguments_check_count(L, 2);
    to = type_push_owner(L, sizeof(struct colander_family *), close_target);
    from = family_check(L, 1);
    failure_try(L, colander_family_open(
                       ((struct script_store *)from->handle.parent)->store,
                       name, to, &err));
    failure_try(L, scripting_copy_family(from->family, *to, goes_on,
                                         scratch_get(L), &count, &err));
    lua_pushinteger(L, (lua_Integer)count);
    return 1;
}

static int
family_exists(lua_State *L)
{
    arguments_check_count(L, 1);
    lua_pushboolean(L, colander_family_exists(family_check(L, 1)->family));
    return 1;
}

/* family:sizes() */
static int
family_sizes(lua_State *L)
{
    arguments_check_count(L, 1);
#define SIZE(name, member) FIELD(UINT64, name, colander_family_sizes, member)
    static const struct field fields[] = {
        SIZE("rows", key_count),
        SIZE("sst_count", sst_count),
        SIZE("sst_size", sst_size),
        SIZE("unflushed_size", unflushed_size),
        FIELD_END,
    };
    struct script_family *family = family_check(L, 1);
    struct colander_family_sizes sizes;

    failure_try(L, colander_family_sizes(family->family, &sizes, &err));
    fields_push(L, fields, &sizes);
    return 1;
}

#ifdef COLANDER_FILTERS

static void
release_options(void *options)
{
    colander_filter_options_release(options);
}

/* Pushes the options in force, in userdata that owns their memory. */
static const struct colander_filter_options *
push_current(lua_State *L)
{
    struct colander_filter_options *options =
        type_push_owner(L, sizeof(*options), release_options);

    failure_try(L, colander_family_get_filters(family_check(L, 1)->family,
                                               options, &err));
    return options;
}

/* Sets those options of the family that are in the table at 2. */
static void
set_options(lua_State *L)
{
    struct colander_filter_options options = *push_current(L);
    const char *const *paths;
    size_t count;

    fields_read(L, 2, "filters", filter_option_fields, &options);
    for (size_t i = 0; i < OPTION_LISTS; i++) {
        paths = field_paths(L, 2, filter_option_lists[i].name, &count);
        if (paths != NULL)
            option_list_set(&options, i, paths, count);
    }
    paths = field_paths(L, 2, "noindex", &count);
    if (paths != NULL)
        option_list_set(&options, 0, paths, count);
    failure_try(L, colander_family_set_filters(family_check(L, 1)->family,
                                               &options, &err));
}

/* Sets a list of paths in the table on top of the stack. */
static void
push_paths(lua_State *L, const char *name, const char *const *paths,
           size_t count)
{
    lua_createtable(L, (int)count, 0);
    for (size_t i = 0; i < count; i++) {
        lua_pushstring(L, paths[i]);
        lua_rawseti(L, -2, (lua_Integer)i + 1);
    }
    lua_setfield(L, -2, name);
}

/* family:filters([options]): sets those that are given; returns all */
static int
family_filters(lua_State *L)
{
    const struct colander_filter_options *options;

    arguments_check_count(L, 2);
    lua_settop(L, 2);
    if (!lua_isnil(L, 2))
        set_options(L);
    options = push_current(L);
    fields_push(L, filter_option_fields, options);
    for (size_t i = 0; i < OPTION_LISTS; i++)
        push_paths(L, filter_option_lists[i].name,
                   option_list_paths(options, i),
                   option_list_count(options, i));
    return 1;
}

/* family:order_stats(path): what filters have of the order of a column */
static int
family_order_stats(lua_State *L)
{
    struct script_family *family = family_check(L, 1);
    struct colander_order_stats stats;
    const char *path = luaL_checkstring(L, 2);

    arguments_check_count(L, 2);
    failure_try(
        L, colander_family_order_stats(family->family, path, &stats, &err));
    fields_push(L, order_stats_fields, &stats);
    return 1;
}

/* family:refilter(): rebuilds all filters; returns their number */
static int
family_refilter(lua_State *L)
{
    struct script_family *family = family_check(L, 1);
    uint64_t count;

    arguments_check_count(L, 1);
    failure_try(L, colander_family_refilter(family->family, &count, &err));
    lua_pushinteger(L, (lua_Integer)count);
    return 1;
}

/* family:stats(): of its filters */
static int
family_stats(lua_State *L)
{
    arguments_check_count(L, 1);
#define COUNT(name) FIELD(UINT64, #name, colander_filter_stats, name)
    static const struct field fields[] = {
        COUNT(file_count),    COUNT(filter_count),    COUNT(loaded_count),
        COUNT(part_count),    COUNT(value_count),     COUNT(row_count),
        COUNT(sst_size),      COUNT(filter_size),     COUNT(locator_size),
        COUNT(presence_size), COUNT(keys_size),       COUNT(order_size),
        COUNT(words_size),    COUNT(dictionary_size), COUNT(hierarchy_size),
        COUNT(fold_count),    COUNT(recent_size),     COUNT(recent_count),
        COUNT(cache_size),    COUNT(built_count),     COUNT(rebuilt_count),
        COUNT(damaged_count), COUNT(error_count),     FIELD_END,
    };
    struct script_family *family = family_check(L, 1);
    struct colander_filter_stats stats;

    failure_try(L, colander_family_filter_stats(family->family, &stats, &err));
    fields_push(L, fields, &stats);
    if (stats.last_error[0] != '\0') {
        lua_pushstring(L, stats.last_error);
        lua_setfield(L, -2, "last_error");
    }
    return 1;
}

#endif

void
upkeep_register(lua_State *L)
{
    static const struct luaL_Reg methods[] = {
        {"name", family_name},
        {"exists", family_exists},
        {"rename", family_rename},
        {"copy", family_copy},
        {"sizes", family_sizes},
#ifdef COLANDER_FILTERS
        {"filters", family_filters},
        {"refilter", family_refilter},
        {"order_stats", family_order_stats},
        {"stats", family_stats},
#endif
        {NULL, NULL},
    };

    type_extend(L, FAMILY_TYPE, methods, NULL);
    type_push_methods(L, FAMILY_TYPE);
    for (int i = 0; i < TASK_COUNT; i++)
        type_set_function(L, tasks[i].name, run_task, i);
    lua_pop(L, 1);
}
