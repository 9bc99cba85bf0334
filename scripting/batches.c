/* See module.h. SPDX-License-Identifier: MIT */
#include "scripting/module.h"

#include "core/array.h"
#include "scripting/failure.h"
#include "scripting/families.h"
#include "scripting/fields.h"
#include "scripting/rows.h"
#include "scripting/scratch.h"
#include "scripting/types.h"
#include "scripting/values.h"

struct script_batch {
    struct handle handle;
    struct colander_batch *batch;
    struct shared_family **families; /* that it writes to, counted */
    size_t family_count;
    size_t family_capacity;
};

static struct script_batch *
batch_check(lua_State *L, int index)
{
    return type_check(L, index, BATCH_TYPE);
}

/* Releases the families. Requires that the batch is empty. */
static void
release_families(struct script_batch *batch)
{
    while (batch->family_count > 0)
        shared_family_unref(batch->families[--batch->family_count]);
}

/* Keeps the family open until it is released. */
static void
keep_family(lua_State *L, struct script_batch *batch,
            struct shared_family *shared)
{
    for (size_t i = 0; i < batch->family_count; i++) {
        if (batch->families[i] == shared)
            return;
    }
    failure_try(L, array_reserve(&batch->families, batch->family_count,
                                 &batch->family_capacity, 1, &err));
    batch->families[batch->family_count++] = shared;
    shared->reference_count++;
}

static enum colander_code
close_batch(struct handle *handle, struct colander_error *err)
{
    struct script_batch *batch = (struct script_batch *)handle;

    (void)err;
    colander_batch_destroy(batch->batch);
    release_families(batch);
    free(batch->families);
    return COLANDER_OK;
}

/* store:batch() */
static int
store_batch(lua_State *L)
{
    struct script_store *store = store_check(L, 1);
    struct script_batch *batch;

    arguments_check_count(L, 1);
    batch = type_push_handle(L, BATCH_TYPE, sizeof(*batch), 1, 1, close_batch);
    failure_try(L, colander_batch_create(store->store, &batch->batch, &err));
    return 1;
}

enum write { WRITE_PUT, WRITE_PATCH, WRITE_DELETE };

/* batch:put(family, key, row), batch:patch(family, key, columns),
 * batch:delete(family, key). Upvalue 1 is the write. */
static int
add_write(lua_State *L)
{
    const int write = (int)lua_tointeger(L, lua_upvalueindex(1));
    struct scratch *scratch = scratch_get(L);
    struct colander_slice row = {NULL, 0};
    struct colander_slice key;
    struct script_batch *batch;
    struct script_family *family;

    arguments_check_count(L, write == WRITE_DELETE ? 3 : 4);
    if (write != WRITE_DELETE)
        row = row_check(L, 4);
    value_key(L, 3, &scratch->key);
    key = colander_buffer_slice(&scratch->key);
    batch = batch_check(L, 1); /* last: finalizers may close it */
    family = family_check(L, 2);
    keep_family(L, batch, family->shared);
    if (write == WRITE_DELETE)
        failure_try(
            L, colander_batch_delete(batch->batch, family->family, key, &err));
    else if (write == WRITE_PATCH)
        failure_try(L, colander_batch_patch(batch->batch, family->family, key,
                                            row, &err));
    else
        failure_try(L, colander_batch_put(batch->batch, family->family, key,
                                          row, &err));
    lua_settop(L, 1);
    return 1;
}

static int
batch_clear(lua_State *L)
{
    struct script_batch *batch = batch_check(L, 1);

    arguments_check_count(L, 1);
    colander_batch_clear(batch->batch);
    release_families(batch);
    lua_settop(L, 1);
    return 1;
}

/* #batch */
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
    const struct colander_write_options options = field_write_options(L, 2);
    struct script_batch *batch = batch_check(L, 1);

    arguments_check_count(L, 2);
    failure_try(L, colander_batch_commit(batch->batch, &options, &err));
    release_families(batch);
    return 0;
}

void
batches_register(lua_State *L)
{
    static const struct luaL_Reg store_methods[] = {
        {"batch", store_batch},
        {NULL, NULL},
    };
    static const struct luaL_Reg methods[] = {
        {"clear", batch_clear},
        {"commit", batch_commit},
        {NULL, NULL},
    };
    static const struct luaL_Reg metamethods[] = {
        {"__len", batch_size},
        {NULL, NULL},
    };

    type_extend(L, STORE_TYPE, store_methods, NULL);
    type_extend(L, BATCH_TYPE, methods, metamethods);
    type_push_methods(L, BATCH_TYPE);
    type_set_function(L, "put", add_write, WRITE_PUT);
    type_set_function(L, "patch", add_write, WRITE_PATCH);
    type_set_function(L, "delete", add_write, WRITE_DELETE);
    lua_pop(L, 1);
}
