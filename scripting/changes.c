/*
 * Rows of a query, deleted or updated. See queries.h.
 *
 * SPDX-License-Identifier: MIT
 */
#include "scripting/queries.h"

#include "scripting/conditions.h"
#include "scripting/failure.h"
#include "scripting/fields.h"
#include "scripting/module.h"
#include "scripting/rows.h"
#include "scripting/types.h"

/* What must be freed, whatever fails. */
struct script_changes {
    struct colander_changes *changes;
    struct colander_predicate *where; /* the query frees its own at the end */
    struct colander_buffer patch;     /* empty: delete */
};

static void
release_changes(void *object)
{
    struct script_changes *owned = object;

    colander_changes_destroy(owned->changes);
    colander_predicate_destroy(owned->where);
    colander_buffer_release(&owned->patch);
}

/* Ends the run of the query, and raises the error. */
static void
give_up(lua_State *L, struct query *query, const struct colander_error *err)
{
    query_stop(query);
    failure_raise(L, err);
}

/* Changes the rows of the query at 1. Returns their number. */
static int
change_rows(lua_State *L, struct script_changes *owned,
            const struct colander_write_options *options)
{
    struct colander_result result;
    struct colander_error err;
    struct query *query;

    lua_getiuservalue(L, 1, QUERY_CONDITION);
    owned->where = condition_compile(L, lua_gettop(L), NULL);
    query = query_begin(L, 1, QUERY_WHOLE_ROWS);
    if (colander_changes_create(query->family->family, owned->where,
                                colander_buffer_slice(&owned->patch), options,
                                &owned->changes, &err) != COLANDER_OK)
        give_up(L, query, &err);
    while (query_step(L, query, 1, &result)) {
        if (colander_changes_add(owned->changes, result.key, &err) !=
            COLANDER_OK)
            give_up(L, query, &err);
    }
    failure_check(L, colander_changes_commit(owned->changes, &err), &err);
    lua_pushinteger(L, (lua_Integer)colander_changes_count(owned->changes));
    return 1;
}

/* query:delete([options]): the number of rows */
static int
query_delete(lua_State *L)
{
    const struct colander_write_options options = field_write_options(L, 2);
    struct script_changes *owned;

    arguments_check_count(L, 2);
    owned = type_push_owner(L, sizeof(*owned), release_changes);
    return change_rows(L, owned, &options);
}

/* query:update(columns [, options]): the number of rows */
static int
query_update(lua_State *L)
{
    const struct colander_write_options options = field_write_options(L, 3);
    struct script_changes *owned;
    struct colander_slice row;

    arguments_check_count(L, 3);
    owned = type_push_owner(L, sizeof(*owned), release_changes);
    row = row_check(L, 2);
    failure_try(
        L, colander_buffer_append(&owned->patch, row.data, row.size, &err));
    return change_rows(L, owned, &options);
}

void
changes_register(lua_State *L)
{
    static const struct luaL_Reg methods[] = {
        {"delete", query_delete},
        {"update", query_update},
        {NULL, NULL},
    };

    type_extend(L, QUERY_TYPE, methods, NULL);
}
