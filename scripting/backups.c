/*
 * Backups: see backups.h.
 *
 * SPDX-License-Identifier: MIT
 */
#include "scripting/backups.h"

#include "scripting/failure.h"
#include "scripting/fields.h"
#include "scripting/stores.h"

/* Pushes what became of it, as a table. */
static int
push_backup(lua_State *L, const struct colander_backup *backup)
{
    const struct {
        const char *name;
        uint64_t number;
    } fields[] = {
        {"number", backup->number},
        {"files", backup->file_count},
        {"size", backup->size},
        {"copied_files", backup->copied_count},
        {"copied_size", backup->copied_size},
        {"removed", backup->removed_count},
    };

    lua_newtable(L);
    for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++) {
        lua_pushinteger(L, (lua_Integer)fields[i].number);
        lua_setfield(L, -2, fields[i].name);
    }
    return 1;
}

int
store_backup(lua_State *L)
{
    static const char *const known[] = {"keep", NULL};
    const char *directory = text_check(L, 2, "the path of a directory");
    uint64_t keep_count = 0;
    struct colander_backup made;
    struct colander_error err;

    if (!lua_isnoneornil(L, 3)) {
        fields_check(L, 3, "backup", known);
        keep_count = field_number(L, 3, "keep", 0, UINT64_MAX);
    }
    failure_check(L,
                  colander_store_backup(store_check(L, 1)->store, directory,
                                        keep_count, &made, &err),
                  &err);
    return push_backup(L, &made);
}

/* colander.restore(directory, path [, options]) */
static int
restore(lua_State *L)
{
    static const char *const known[] = {"number", NULL};
    const char *directory = text_check(L, 1, "the path of a directory");
    const char *path = text_check(L, 2, "the path of a store");
    uint64_t number = 0;
    struct colander_backup restored;
    struct colander_error err;

    if (!lua_isnoneornil(L, 3)) {
        fields_check(L, 3, "restore", known);
        number = field_number(L, 3, "number", 0, UINT64_MAX);
    }
    failure_check(
        L, colander_backup_restore(directory, number, path, &restored, &err),
        &err);
    return push_backup(L, &restored);
}

void
backups_open(lua_State *L)
{
    lua_pushcfunction(L, restore);
    lua_setfield(L, -2, "restore");
}
