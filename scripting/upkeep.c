/*
 * Families besides their rows: sizes, filters and what those are like.
 *
 * SPDX-License-Identifier: MIT
 */
#include "scripting/families.h"

#include "scripting/failure.h"
#include "scripting/fields.h"

#ifdef COLANDER_FILTERS
#include "filters/filters.h"
#endif

#include <lauxlib.h>

static void
set_number(lua_State *L, const char *name, uint64_t number)
{
    lua_pushinteger(L, (lua_Integer)number);
    lua_setfield(L, -2, name);
}

/* Methods that take nothing and give the family. */
static int
keep_up(lua_State *L, enum colander_code (*function)(struct colander_family *,
                                                     struct colander_error *))
{
    struct script_family *family = family_check(L, 1);
    struct colander_error err;

    failure_check(L, function(family->family, &err), &err);
    lua_settop(L, 1);
    return 1;
}

static int
family_create(lua_State *L)
{
    return keep_up(L, colander_family_create);
}

static int
family_drop(lua_State *L)
{
    return keep_up(L, colander_family_drop);
}

static int
family_flush(lua_State *L)
{
    return keep_up(L, colander_family_flush);
}

static int
family_compact(lua_State *L)
{
    return keep_up(L, colander_family_compact);
}

static int
family_name(lua_State *L)
{
    lua_pushstring(L, colander_family_name(family_check(L, 1)->family));
    return 1;
}

static int
family_exists(lua_State *L)
{
    lua_pushboolean(L, colander_family_exists(family_check(L, 1)->family));
    return 1;
}

/* family:sizes() */
static int
family_sizes(lua_State *L)
{
    struct script_family *family = family_check(L, 1);
    struct colander_family_sizes sizes;
    struct colander_error err;

    failure_check(L, colander_family_sizes(family->family, &sizes, &err), &err);
    lua_newtable(L);
    set_number(L, "rows", sizes.key_count);
    set_number(L, "sst_count", sizes.sst_count);
    set_number(L, "sst_size", sizes.sst_size);
    set_number(L, "unflushed_size", sizes.unflushed_size);
    return 1;
}

#ifdef COLANDER_FILTERS

#define OPTIONS "colander.filter_options"

static const char *const hierarchies[] = {"slices", "tree", NULL};

/* What is not given stays as it is in `options`. */
static void
read_options(lua_State *L, struct colander_filter_options *options)
{
    static const char *const known[] = {"on",
                                        "rows_per_segment",
                                        "hash_bits",
                                        "fp_rate",
                                        "bits_per_value",
                                        "filter_bits",
                                        "hierarchy",
                                        "tree_order",
                                        "memory_budget",
                                        "noindex",
                                        NULL};

    const char *const *paths;
    size_t count;

    fields_check(L, 2, "filters", known);
    options->is_on = field_boolean(L, 2, "on", options->is_on);
    lua_pushliteral(L, "auto");
    if (field_push(L, 2, "rows_per_segment") && lua_rawequal(L, -1, -2))
        options->rows_per_segment = COLANDER_SEGMENT_AUTO;
    else
        options->rows_per_segment = (uint32_t)field_number(
            L, 2, "rows_per_segment", options->rows_per_segment, UINT32_MAX);
    options->hash_bits = (uint32_t)field_number(L, 2, "hash_bits",
                                                options->hash_bits, UINT32_MAX);
    options->fp_rate = field_double(L, 2, "fp_rate", options->fp_rate);
    options->bits_per_value =
        field_double(L, 2, "bits_per_value", options->bits_per_value);
    options->filter_bits =
        field_number(L, 2, "filter_bits", options->filter_bits, UINT64_MAX);
    options->hierarchy = (enum colander_hierarchy)field_choice(
        L, 2, "hierarchy", hierarchies, (int)options->hierarchy);
    options->tree_order = (uint32_t)field_number(
        L, 2, "tree_order", options->tree_order, UINT32_MAX);
    options->memory_budget =
        field_number(L, 2, "memory_budget", options->memory_budget, UINT64_MAX);
    paths = field_texts(L, 2, "noindex", &count);
    if (paths != NULL) {
        options->left_out = paths;
        options->left_out_count = count;
    }
}

static void
push_options(lua_State *L, const struct colander_filter_options *options)
{
    lua_newtable(L);
    lua_pushboolean(L, options->is_on);
    lua_setfield(L, -2, "on");
    if (options->rows_per_segment == COLANDER_SEGMENT_AUTO) {
        lua_pushliteral(L, "auto");
        lua_setfield(L, -2, "rows_per_segment");
    } else {
        set_number(L, "rows_per_segment", options->rows_per_segment);
    }
    set_number(L, "hash_bits", options->hash_bits);
    lua_pushnumber(L, options->fp_rate);
    lua_setfield(L, -2, "fp_rate");
    lua_pushnumber(L, options->bits_per_value);
    lua_setfield(L, -2, "bits_per_value");
    set_number(L, "filter_bits", options->filter_bits);
    lua_pushstring(L, hierarchies[options->hierarchy]);
    lua_setfield(L, -2, "hierarchy");
    set_number(L, "tree_order", options->tree_order);
    set_number(L, "memory_budget", options->memory_budget);
    lua_newtable(L);
    for (size_t i = 0; i < options->left_out_count; i++) {
        lua_pushstring(L, options->left_out[i]);
        lua_rawseti(L, -2, (lua_Integer)i + 1);
    }
    lua_setfield(L, -2, "noindex");
}

static int
options_collect(lua_State *L)
{
    colander_filter_options_release(luaL_checkudata(L, 1, OPTIONS));
    return 0;
}

/* Pushes the options in force, in userdata as they have memory of their own. */
static const struct colander_filter_options *
push_kept(lua_State *L)
{
    struct colander_filter_options *kept =
        lua_newuserdatauv(L, sizeof(*kept), 0);
    struct colander_error err;

    memset(kept, 0, sizeof(*kept));
    if (luaL_newmetatable(L, OPTIONS) != 0) {
        lua_pushcfunction(L, options_collect);
        lua_setfield(L, -2, "__gc");
    }
    lua_setmetatable(L, -2);
    failure_check(
        L, colander_family_get_filters(family_check(L, 1)->family, kept, &err),
        &err);
    return kept;
}

/* family:filters([options]): sets those that are given; what they are then */
static int
family_filters(lua_State *L)
{
    struct colander_filter_options options;
    struct colander_error err;

    lua_settop(L, 2);
    if (!lua_isnil(L, 2)) {
        options = *push_kept(L);
        read_options(L, &options);
        failure_check(L,
                      colander_family_set_filters(family_check(L, 1)->family,
                                                  &options, &err),
                      &err);
        lua_settop(L, 2);
    }
    push_options(L, push_kept(L));
    return 1;
}

/* family:refilter(): makes all filters anew; gives how many */
static int
family_refilter(lua_State *L)
{
    struct script_family *family = family_check(L, 1);
    struct colander_error err;
    uint64_t count;

    failure_check(L, colander_family_refilter(family->family, &count, &err),
                  &err);
    lua_pushinteger(L, (lua_Integer)count);
    return 1;
}

static int
family_await_filters(lua_State *L)
{
    return keep_up(L, colander_family_await_filters);
}

/* family:stats(): of its filters */
static int
family_stats(lua_State *L)
{
    struct script_family *family = family_check(L, 1);
    struct colander_filter_stats stats;
    struct colander_error err;

    failure_check(L, colander_family_filter_stats(family->family, &stats, &err),
                  &err);
    lua_newtable(L);
#define SET(name) set_number(L, #name, stats.name)
    SET(file_count);
    SET(filter_count);
    SET(loaded_count);
    SET(part_count);
    SET(value_count);
    SET(row_count);
    SET(sst_size);
    SET(filter_size);
    SET(locator_size);
    SET(presence_size);
    SET(keys_size);
    SET(zones_size);
    SET(hierarchy_size);
    SET(fold_count);
    SET(recent_size);
    SET(recent_count);
    SET(cache_size);
    SET(built_count);
    SET(rebuilt_count);
    SET(damaged_count);
    SET(error_count);
#undef SET
    if (stats.last_error[0] != '\0') {
        lua_pushstring(L, stats.last_error);
        lua_setfield(L, -2, "last_error");
    }
    return 1;
}

#endif

void
upkeep_open(lua_State *L)
{
    static const struct luaL_Reg methods[] = {
        {"name", family_name},
        {"exists", family_exists},
        {"create", family_create},
        {"drop", family_drop},
        {"flush", family_flush},
        {"compact", family_compact},
        {"sizes", family_sizes},
#ifdef COLANDER_FILTERS
        {"filters", family_filters},
        {"refilter", family_refilter},
        {"stats", family_stats},
        {"await_filters", family_await_filters},
#endif
        {NULL, NULL},
    };

    luaL_setfuncs(L, methods, 0);
}
