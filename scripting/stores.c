/*
 * Stores, snapshots and batches: see stores.h.
 *
 * SPDX-License-Identifier: MIT
 */
#include "scripting/stores.h"

#include "scripting/backups.h"
#include "scripting/failure.h"
#include "scripting/families.h"
#include "scripting/fields.h"
#include "scripting/rows.h"
#include "scripting/scratch.h"
#include "scripting/values.h"

#include <lauxlib.h>
#include <stdlib.h>

#define STORE "colander.store"
#define SNAPSHOT "colander.snapshot"
#define BATCH "colander.batch"

struct script_snapshot {
    struct handle handle;
    struct shared_snapshot *shared;
};

struct script_batch {
    struct handle handle;
    struct colander_batch *batch;
    struct shared_family **families; /* that it writes to, counted */
    size_t family_count;
};

/* -------------------------------------------------------------- stores --- */

struct script_store *
store_check(lua_State *L, int index)
{
    return handle_check(L, index, STORE, "store");
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

static struct script_store *
make_store(lua_State *L)
{
    struct script_store *store = lua_newuserdatauv(L, sizeof(*store), 1);

    memset(store, 0, sizeof(*store));
    luaL_setmetatable(L, STORE);
    handle_init(L, &store->handle, NULL, close_store);
    return store;
}

void
scripting_push_store(lua_State *L, struct colander_store *store)
{
    struct script_store *made = make_store(L);

    made->store = store;
    made->is_borrowed = true;
}

static const char *const modes[] = {"create", "existing", "new", "readonly",
                                    NULL};
static const char *const compressions[] = {"keep", "none", "lz4", "zstd", NULL};
static const char *const compactions[] = {"keep", "leveled", "universal",
                                          "fifo", NULL};

static void
read_options(lua_State *L, int index, struct colander_options *options)
{
    static const char *const known[] = {
        "mode",       "sync",     "cache_size",  "write_buffer_size",
        "open_files", "threads",  "compression", "compaction",
        "block_size", "sst_size", "fifo_size",   NULL};

    colander_options_init(options);
    if (lua_isnoneornil(L, index))
        return;
    fields_check(L, index, "open", known);
    options->mode = (enum colander_open_mode)field_choice(
        L, index, "mode", modes, (int)options->mode);
    options->sync = field_boolean(L, index, "sync", options->sync);
    options->cache_size =
        field_size(L, index, "cache_size", options->cache_size);
    options->write_buffer_size =
        field_size(L, index, "write_buffer_size", options->write_buffer_size);
    options->open_files_max = (uint32_t)field_number(
        L, index, "open_files", options->open_files_max, UINT32_MAX);
    options->thread_count = (uint32_t)field_number(
        L, index, "threads", options->thread_count, UINT32_MAX);
    options->compression = (enum colander_compression)field_choice(
        L, index, "compression", compressions, (int)options->compression);
    options->compaction = (enum colander_compaction)field_choice(
        L, index, "compaction", compactions, (int)options->compaction);
    options->block_size = (uint32_t)field_number(
        L, index, "block_size", options->block_size, UINT32_MAX);
    options->sst_size = field_size(L, index, "sst_size", options->sst_size);
    options->fifo_size = field_size(L, index, "fifo_size", options->fifo_size);
}

/* colander.open(path [, options]) */
static int
open_store(lua_State *L)
{
    const char *path = text_check(L, 1, "the path of a store");
    struct colander_options options;
    struct colander_error err;
    struct script_store *store;

    read_options(L, 2, &options);
    store = make_store(L);
    lua_pushvalue(L, 1);
    lua_setiuservalue(L, -2, 1);
    failure_check(L, colander_store_open(path, &options, &store->store, &err),
                  &err);
    return 1;
}

/* store:options(): those in force, as open takes them */
static int
store_options(lua_State *L)
{
    struct script_store *store = store_check(L, 1);
    struct colander_options options;

    colander_store_options(store->store, &options);
    lua_newtable(L);
    lua_pushstring(L, modes[options.mode]);
    lua_setfield(L, -2, "mode");
    lua_pushboolean(L, options.sync);
    lua_setfield(L, -2, "sync");
    lua_pushstring(L, compressions[options.compression]);
    lua_setfield(L, -2, "compression");
    lua_pushstring(L, compactions[options.compaction]);
    lua_setfield(L, -2, "compaction");
#define SET(name, number)                                                      \
    lua_pushinteger(L, (lua_Integer)(number));                                 \
    lua_setfield(L, -2, name)
    SET("cache_size", options.cache_size);
    SET("write_buffer_size", options.write_buffer_size);
    SET("open_files", options.open_files_max);
    SET("threads", options.thread_count);
    SET("block_size", options.block_size);
    SET("sst_size", options.sst_size);
    SET("fifo_size", options.fifo_size);
#undef SET
    return 1;
}

/* store:path(): as it was opened; nil for one that the program has opened */
static int
store_path(lua_State *L)
{
    (void)store_check(L, 1);
    lua_getiuservalue(L, 1, 1);
    return 1;
}

/* store:family(name) */
static int
store_family(lua_State *L)
{
    struct script_store *store = store_check(L, 1);

    family_push(L, 1, store, text_check(L, 2, "the name of a family"));
    return 1;
}

/* store:families(): their names */
static int
store_families(lua_State *L)
{
    struct script_store *store;
    struct colander_names names = {0};
    struct colander_error err;
    enum colander_code code;

    lua_newtable(L);
    store = store_check(L, 1); /* last: see scratch.h */
    code = colander_store_families(store->store, &names, &err);
    if (code == COLANDER_OK) {
        lua_pushcfunction(L, names_push);
        lua_pushlightuserdata(L, &names);
        lua_pushvalue(L, -3);
        if (lua_pcall(L, 2, 0, 0) != LUA_OK) {
            colander_names_release(&names);
            return lua_error(L);
        }
        colander_names_release(&names);
        return 1;
    }
    failure_raise(L, &err);
}

static int
store_text(lua_State *L)
{
    const struct script_store *store = luaL_checkudata(L, 1, STORE);

    lua_pushfstring(L, "store (%s)", store->handle.is_open ? "open" : "closed");
    return 1;
}

/* ----------------------------------------------------------- snapshots --- */

void
snapshot_unref(struct shared_snapshot *shared)
{
    if (shared == NULL || --shared->reference_count > 0)
        return;
    colander_snapshot_release(shared->snapshot);
    free(shared);
}

static struct shared_snapshot *
shared_of(lua_State *L, int index, const struct handle *store)
{
    struct script_snapshot *snapshot =
        handle_check(L, index, SNAPSHOT, "snapshot");

    if (snapshot->handle.parent != store)
        failure_misuse(L, "the snapshot is of another store");
    return snapshot->shared;
}

struct shared_snapshot *
snapshot_ref(lua_State *L, int index, const struct handle *store)
{
    struct shared_snapshot *shared = shared_of(L, index, store);

    shared->reference_count++;
    return shared;
}

const struct colander_snapshot *
snapshot_check(lua_State *L, int index, const struct handle *store)
{
    return shared_of(L, index, store)->snapshot;
}

static enum colander_code
close_snapshot(struct handle *handle, struct colander_error *err)
{
    struct script_snapshot *snapshot = (struct script_snapshot *)handle;

    (void)err;
    snapshot_unref(snapshot->shared);
    snapshot->shared = NULL;
    return COLANDER_OK;
}

/* store:snapshot() */
static int
store_snapshot(lua_State *L)
{
    struct script_store *store = store_check(L, 1);
    struct script_snapshot *snapshot =
        lua_newuserdatauv(L, sizeof(*snapshot), 1);
    struct shared_snapshot *shared;
    struct colander_error err;

    memset(snapshot, 0, sizeof(*snapshot));
    luaL_setmetatable(L, SNAPSHOT);
    lua_pushvalue(L, 1);
    lua_setiuservalue(L, -2, 1);
    handle_init(L, &snapshot->handle, &store->handle, close_snapshot);
    shared = calloc(1, sizeof(*shared));
    if (shared == NULL)
        failure_memory(L, "for a snapshot");
    shared->reference_count = 1;
    snapshot->shared = shared;
    failure_check(
        L, colander_store_snapshot(store->store, &shared->snapshot, &err),
        &err);
    return 1;
}

/* ------------------------------------------------------------- batches --- */

static struct script_batch *
batch_check(lua_State *L, int index)
{
    return handle_check(L, index, BATCH, "batch");
}

/* Lets go of the families, when the batch writes to none. */
static void
forget_families(struct script_batch *batch)
{
    while (batch->family_count > 0)
        shared_family_unref(batch->families[--batch->family_count]);
}

/* Keeps the family until it is forgotten. */
static void
keep_family(lua_State *L, struct script_batch *batch,
            struct shared_family *shared)
{
    struct shared_family **grown;

    for (size_t i = 0; i < batch->family_count; i++) {
        if (batch->families[i] == shared)
            return;
    }
    grown = realloc(batch->families,
                    (batch->family_count + 1) * sizeof(struct shared_family *));
    if (grown == NULL)
        failure_memory(L, "for a batch");
    batch->families = grown;
    batch->families[batch->family_count++] = shared;
    shared->reference_count++;
}

static enum colander_code
close_batch(struct handle *handle, struct colander_error *err)
{
    struct script_batch *batch = (struct script_batch *)handle;

    (void)err;
    colander_batch_destroy(batch->batch);
    forget_families(batch);
    free(batch->families);
    batch->batch = NULL;
    batch->families = NULL;
    return COLANDER_OK;
}

/* store:batch() */
static int
store_batch(lua_State *L)
{
    struct script_store *store = store_check(L, 1);
    struct script_batch *batch = lua_newuserdatauv(L, sizeof(*batch), 1);
    struct colander_error err;

    memset(batch, 0, sizeof(*batch));
    luaL_setmetatable(L, BATCH);
    lua_pushvalue(L, 1);
    lua_setiuservalue(L, -2, 1);
    handle_init(L, &batch->handle, &store->handle, close_batch);
    failure_check(L, colander_batch_create(store->store, &batch->batch, &err),
                  &err);
    return 1;
}

typedef enum colander_code (*batch_write)(struct colander_batch *,
                                          struct colander_family *,
                                          struct colander_slice,
                                          struct colander_slice,
                                          struct colander_error *);

/* batch:put(family, key, row), batch:patch(family, key, columns) */
static int
write_row(lua_State *L, batch_write write)
{
    struct scratch *scratch = scratch_get(L);
    struct colander_slice row = row_check(L, 4);
    struct script_batch *batch;
    struct script_family *family;
    struct colander_error err;

    /* last: what is before may run functions of the script (see scratch.h) */
    value_key(L, 3, &scratch->key);
    batch = batch_check(L, 1);
    family = family_check(L, 2);
    keep_family(L, batch, family->shared);
    failure_check(L,
                  write(batch->batch, family->family,
                        colander_buffer_slice(&scratch->key), row, &err),
                  &err);
    lua_settop(L, 1);
    return 1;
}

static int
batch_put(lua_State *L)
{
    return write_row(L, colander_batch_put);
}

static int
batch_patch(lua_State *L)
{
    return write_row(L, colander_batch_patch);
}

/* batch:delete(family, key) */
static int
batch_delete(lua_State *L)
{
    struct script_batch *batch = batch_check(L, 1);
    struct script_family *family = family_check(L, 2);
    struct scratch *scratch = scratch_get(L);
    struct colander_error err;

    value_key(L, 3, &scratch->key);
    keep_family(L, batch, family->shared);
    failure_check(L,
                  colander_batch_delete(batch->batch, family->family,
                                        colander_buffer_slice(&scratch->key),
                                        &err),
                  &err);
    lua_settop(L, 1);
    return 1;
}

static int
batch_clear(lua_State *L)
{
    struct script_batch *batch = batch_check(L, 1);

    colander_batch_clear(batch->batch);
    forget_families(batch);
    lua_settop(L, 1);
    return 1;
}

static int
batch_size(lua_State *L)
{
    lua_pushinteger(
        L, (lua_Integer)colander_batch_count(batch_check(L, 1)->batch));
    return 1;
}

/* batch:commit([options]) */
static int
batch_commit(lua_State *L)
{
    enum colander_durability durability = field_durability(L, 2);
    struct script_batch *batch = batch_check(L, 1);
    struct colander_error err;

    failure_check(L, colander_batch_commit(batch->batch, durability, &err),
                  &err);
    forget_families(batch);
    return 0;
}

/* -------------------------------------------------------------- module --- */

void
stores_open(lua_State *L)
{
    static const struct luaL_Reg store_methods[] = {
        {"family", store_family},     {"families", store_families},
        {"options", store_options},   {"path", store_path},
        {"snapshot", store_snapshot}, {"batch", store_batch},
        {"backup", store_backup},     {NULL, NULL},
    };
    static const struct luaL_Reg store_metamethods[] = {
        {"__tostring", store_text},
        {NULL, NULL},
    };
    static const struct luaL_Reg snapshot_methods[] = {{NULL, NULL}};
    static const struct luaL_Reg batch_methods[] = {
        {"put", batch_put},       {"patch", batch_patch},
        {"delete", batch_delete}, {"clear", batch_clear},
        {"commit", batch_commit}, {NULL, NULL},
    };
    static const struct luaL_Reg batch_metamethods[] = {
        {"__len", batch_size},
        {NULL, NULL},
    };

    handle_type(L, STORE, store_methods, store_metamethods);
    handle_type(L, SNAPSHOT, snapshot_methods, NULL);
    handle_type(L, BATCH, batch_methods, batch_metamethods);
    lua_pop(L, 3);
    lua_pushcfunction(L, open_store);
    lua_setfield(L, -2, "open");
}

void
stores_confine(lua_State *L)
{
    luaL_getmetatable(L, STORE);
    lua_getfield(L, -1, "__index");
    lua_pushnil(L);
    lua_setfield(L, -2, "backup");
    lua_pop(L, 2);
}
