/* SPDX-License-Identifier: MIT */
#include "scripting/stores.h"

#include "scripting/failure.h"
#include "scripting/fields.h"
#include "scripting/module.h"
#include "scripting/scripting.h"
#include "scripting/types.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct script_budget {
    struct handle handle;
    struct colander_budget *budget;
};

struct script_snapshot {
    struct handle handle;
    struct shared_snapshot *shared;
};

struct script_store *
store_check(lua_State *L, int index)
{
    return type_check(L, index, STORE_TYPE);
}

static enum colander_code
close_store(struct handle *handle, struct colander_error *err)
{
    struct script_store *store = (struct script_store *)handle;
    struct colander_store *open = store->store;

    store->store = NULL;
    if (open == NULL || store->is_borrowed)
        return COLANDER_OK;
    return colander_store_close(open, err);
}

void
scripting_push_store(lua_State *L, struct colander_store *store)
{
    struct script_store *pushed = type_push_handle(
        L, STORE_TYPE, sizeof(*pushed), STORE_FAMILIES, 0, close_store);

    pushed->store = store;
    pushed->is_borrowed = true;
}

static const char *const modes[] = {"create", "existing", "new", "readonly",
                                    NULL};
static const char *const compressions[] = {"keep", "none", "lz4", "zstd", NULL};
static const char *const compactions[] = {"keep", "leveled", "universal",
                                          "fifo", NULL};

#define OPTION(kind, name, member, ...)                                        \
    FIELD(kind, name, colander_options, member, __VA_ARGS__)

static const struct field option_fields[] = {
    OPTION(CHOICE, "mode", mode, .words = modes),
    OPTION(BOOLEAN, "sync", sync),
    OPTION(UINT64, "cache_size", cache_size),
    OPTION(UINT64, "write_buffer_size", write_buffer_size),
    OPTION(UINT32, "open_files", open_files_max),
    OPTION(UINT32, "threads", thread_count),
    OPTION(CHOICE, "compression", compression, .words = compressions),
    OPTION(CHOICE, "compaction", compaction, .words = compactions),
    OPTION(UINT32, "block_size", block_size),
    OPTION(UINT64, "sst_size", sst_size),
    OPTION(UINT64, "fifo_size", fifo_size),
    FIELD_NAME("budget"),
    FIELD_END,
};

/* ------------------------------------------------------------- budgets --- */

#define BUDGET(kind, name, member)                                             \
    FIELD(kind, name, colander_budget_options, member)

static const struct field budget_fields[] = {
    BUDGET(UINT64, "cache_size", cache_size),
    BUDGET(UINT64, "write_buffer_size", write_buffer_size),
    BUDGET(UINT32, "open_files", open_files_max),
    BUDGET(UINT32, "threads", thread_count),
    BUDGET(UINT64, "filter_memory", filter_memory),
    FIELD_END,
};

#define USE(name, member) FIELD(UINT64, name, colander_budget_use, member)

static const struct field use_fields[] = {
    USE("stores", store_count),
    USE("cache_size", cache_size),
    USE("unflushed_size", unflushed_size),
    USE("open_files", file_count),
    USE("filter_memory", filter_memory),
    FIELD_END,
};

/* The stores that were opened with it keep it. */
static enum colander_code
close_budget(struct handle *handle, struct colander_error *err)
{
    (void)err;
    colander_budget_release(((struct script_budget *)handle)->budget);
    return COLANDER_OK;
}

/* colander.budget([options]) */
static int
make_budget(lua_State *L)
{
    struct colander_budget_options options;
    struct script_budget *made;

    arguments_check_count(L, 1);
    colander_budget_options_init(&options);
    fields_read(L, 1, "budget", budget_fields, &options);
    made = type_push_handle(L, BUDGET_TYPE, sizeof(*made), 1, 0, close_budget);
    failure_try(L, colander_budget_create(&options, &made->budget, &err));
    return 1;
}

/* budget:use(): what its stores use now */
static int
budget_use(lua_State *L)
{
    const struct script_budget *budget = type_check(L, 1, BUDGET_TYPE);
    struct colander_budget_use use;

    arguments_check_count(L, 1);
    colander_budget_measure(budget->budget, &use);
    fields_push(L, use_fields, &use);
    return 1;
}

/* Reads the budget in the options at `index`. */
static struct colander_budget *
read_budget(lua_State *L, int index)
{
    struct colander_budget *budget;

    if (!lua_istable(L, index) || !field_push(L, index, "budget"))
        return NULL;
    budget = ((struct script_budget *)type_check(L, -1, BUDGET_TYPE))->budget;
    lua_pop(L, 1);
    return budget;
}

/* -------------------------------------------------------------- stores --- */

/* The path of the store that this thread opens, or NULL. */
static _Thread_local const char *opening;

/* Reports what the open drops from the logs, as the program does. */
static void
report_dropped(void *context, enum colander_log_level level,
               const char *message)
{
    (void)context;
    if (opening != NULL && level == COLANDER_LOG_WARNING &&
        strncmp(message, "dropped ", 8) == 0)
        (void)fprintf(stderr, "colander: '%s': %s\n", opening, message);
}

static enum colander_code
open_reporting(const char *path, struct colander_options *options,
               struct colander_store **store, struct colander_error *err)
{
    enum colander_code code;

    options->log = report_dropped;
    opening = path;
    code = colander_store_open(path, options, store, err);
    opening = NULL;
    return code;
}

/* colander.open(path [, options]) */
static int
open_store(lua_State *L)
{
    const char *path = text_check(L, 1, "the path of a store");
    struct colander_options options;
    struct script_store *store;

    arguments_check_count(L, 2);
    colander_options_init(&options);
    fields_read(L, 2, "open", option_fields, &options);
    store = type_push_handle(L, STORE_TYPE, sizeof(*store), STORE_FAMILIES, 0,
                             close_store);
    options.budget = read_budget(L, 2); /* last: no finalizer closes it */
    failure_try(L, open_reporting(path, &options, &store->store, &err));
    return 1;
}

/* store:options(): those in force */
static int
store_options(lua_State *L)
{
    struct colander_options options;

    arguments_check_count(L, 1);
    colander_store_options(store_check(L, 1)->store, &options);
    fields_push(L, option_fields, &options);
    return 1;
}

/* store:path(): as it was opened */
static int
store_path(lua_State *L)
{
    arguments_check_count(L, 1);
    lua_pushstring(L, colander_store_path(store_check(L, 1)->store));
    return 1;
}

/* store:recovery(): what the open dropped from the logs, or nil */
static int
store_recovery(lua_State *L)
{
    struct colander_recovery recovery;

    arguments_check_count(L, 1);
    colander_store_recovery(store_check(L, 1)->store, &recovery);
    if (recovery.dropped_size == 0) {
        lua_pushnil(L);
        return 1;
    }
    lua_createtable(L, 0, 4);
    lua_pushinteger(L, (lua_Integer)recovery.dropped_size);
    lua_setfield(L, -2, "dropped_size");
    lua_pushstring(L, recovery.dropped_file);
    lua_setfield(L, -2, "dropped_file");
    lua_pushboolean(L, recovery.has_gap);
    lua_setfield(L, -2, "has_gap");
    lua_pushstring(L, recovery.message);
    lua_setfield(L, -2, "message");
    return 1;
}

static void
release_names(void *names)
{
    colander_names_release(names);
}

/* store:families([selector]): the names of those that exist, or of those that
 * it selects */
static int
store_families(lua_State *L)
{
    const char *selector = luaL_optstring(L, 2, NULL);
    struct colander_names *names;

    arguments_check_count(L, 2);
    names = type_push_owner(L, sizeof(*names), release_names);
    failure_try(L,
                colander_store_families(store_check(L, 1)->store, names, &err));
    if (selector != NULL)
        colander_names_select(names, selector);
    lua_createtable(L, (int)names->count, 0);
    for (size_t i = 0; i < names->count; i++) {
        lua_pushstring(L, names->names[i]);
        lua_rawseti(L, -2, (lua_Integer)i + 1);
    }
    return 1;
}

static int
store_text(lua_State *L)
{
    const struct script_store *store = luaL_checkudata(L, 1, STORE_TYPE);

    lua_pushfstring(L, "store (%s)", store->handle.is_open ? "open" : "closed");
    return 1;
}

void
snapshot_unref(struct shared_snapshot *shared)
{
    if (shared == NULL || --shared->reference_count > 0)
        return;
    colander_snapshot_release(shared->snapshot);
    free(shared);
}

struct shared_snapshot *
snapshot_check(lua_State *L, int index, const struct handle *store)
{
    struct script_snapshot *snapshot = type_check(L, index, SNAPSHOT_TYPE);

    if (snapshot->handle.parent != store)
        failure_misuse(L, "the snapshot is of another store");
    return snapshot->shared;
}

static enum colander_code
close_snapshot(struct handle *handle, struct colander_error *err)
{
    (void)err;
    snapshot_unref(((struct script_snapshot *)handle)->shared);
    return COLANDER_OK;
}

/* store:snapshot() */
static int
store_snapshot(lua_State *L)
{
    struct script_store *store = store_check(L, 1);
    struct script_snapshot *snapshot;
    struct shared_snapshot *shared;

    arguments_check_count(L, 1);
    snapshot = type_push_handle(L, SNAPSHOT_TYPE, sizeof(*snapshot), 1, 1,
                                close_snapshot);
    shared = calloc(1, sizeof(*shared));
    if (shared == NULL)
        failure_memory(L, "for a snapshot");
    shared->reference_count = 1;
    snapshot->shared = shared;
    failure_try(L,
                colander_store_snapshot(store->store, &shared->snapshot, &err));
    return 1;
}

#define COUNT(name, member) FIELD(UINT64, name, colander_backup, member)

static const struct field backup_fields[] = {
    COUNT("number", number),
    COUNT("files", file_count),
    COUNT("size", size),
    COUNT("copied_files", copied_count),
    COUNT("copied_size", copied_size),
    COUNT("removed", removed_count),
    FIELD_END,
};

/* Returns the only option at `index`, `name`; 0 if it is missing. */
static uint64_t
read_number(lua_State *L, int index, const char *what, const char *name)
{
    const struct field fields[] = {{.name = name, .kind = FIELD_UINT64},
                                   FIELD_END};
    uint64_t number = 0;

    fields_read(L, index, what, fields, &number);
    return number;
}

/* store:backup(directory [, options]) */
static int
store_backup(lua_State *L)
{
    const char *directory = text_check(L, 2, "the path of a directory");
    const uint64_t keep_count = read_number(L, 3, "backup", "keep");
    struct colander_backup backup;

    arguments_check_count(L, 3);
    failure_try(L, colander_store_backup(store_check(L, 1)->store, directory,
                                         keep_count, &backup, &err));
    fields_push(L, backup_fields, &backup);
    return 1;
}

/* colander.restore(directory, path [, options]) */
static int
restore(lua_State *L)
{
    const char *directory = text_check(L, 1, "the path of a directory");
    const char *path = text_check(L, 2, "the path of a store");
    const uint64_t number = read_number(L, 3, "restore", "number");
    struct colander_backup backup;

    arguments_check_count(L, 3);
    failure_try(
        L, colander_backup_restore(directory, number, path, &backup, &err));
    fields_push(L, backup_fields, &backup);
    return 1;
}

void
stores_register(lua_State *L)
{
    static const struct luaL_Reg methods[] = {
        {"families", store_families},
        {"options", store_options},
        {"path", store_path},
        {"snapshot", store_snapshot},
        {"backup", store_backup},
        {"recovery", store_recovery},
        {NULL, NULL},
    };
    static const struct luaL_Reg metamethods[] = {
        {"__tostring", store_text},
        {NULL, NULL},
    };
    static const struct luaL_Reg budget_methods[] = {
        {"use", budget_use},
        {NULL, NULL},
    };
    static const struct luaL_Reg functions[] = {
        {"open", open_store},
        {"budget", make_budget},
        {"restore", restore},
        {NULL, NULL},
    };

    type_extend(L, STORE_TYPE, methods, metamethods);
    type_extend(L, SNAPSHOT_TYPE, NULL, NULL);
    type_extend(L, BUDGET_TYPE, budget_methods, NULL);
    luaL_setfuncs(L, functions, 0);
}
