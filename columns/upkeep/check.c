/* See upkeep.h. SPDX-License-Identifier: MIT */
#include "columns/key.h"
#include "columns/store.h"
#include "core/bulk_files.h"
#include "core/engine.h"
#include "core/repair.h"

#define ROWS_BETWEEN_LOOKS 4096

struct checking {
    struct engine *engine;
    struct colander_check *check;
    colander_finding *tell;
    void *context;
};

/* Fails if the check is to end. */
static enum colander_code
look_for_end(const struct checking *checking, struct colander_error *err)
{
    const struct colander_check *check = checking->check;

    return check->is_cancelled != NULL && check->is_cancelled(checking->context)
               ? COLANDER_FAIL(err, COLANDER_CANCELLED, "cancelled")
               : COLANDER_OK;
}

/* Whether the row is one that a put would have taken. */
static enum colander_code
check_row(struct colander_slice key, struct colander_slice row,
          struct colander_error *err)
{
    if (!key_is_valid(key))
        return COLANDER_FAIL(err, COLANDER_CORRUPT, "it has an invalid key");
    return colander_row_check(row, err);
}

/* Checks rows up to the first that is invalid. */
static enum colander_code
check_rows(const struct checking *checking, struct sst *sst,
           struct colander_error *err)
{
    struct engine_cursor *cursor;
    enum colander_code code = sst_cursor_open(sst, NULL, false, &cursor, err);

    while (code == COLANDER_OK) {
        struct colander_slice key;
        struct colander_slice row;
        bool is_row;

        code = engine_cursor_next(cursor, &is_row, &key, &row, err);
        if (code != COLANDER_OK || !is_row)
            break;
        checking->check->row_count++;
        checking->check->byte_count += key.size + row.size;
        code = check_row(key, row, err);
        if (code == COLANDER_OK &&
            checking->check->row_count % ROWS_BETWEEN_LOOKS == 0)
            code = look_for_end(checking, err);
    }
    engine_cursor_close(cursor);
    return code;
}

static enum colander_code
check_file(void *context, const struct sst_place *file,
           struct colander_error *err)
{
    const struct checking *checking = context;
    struct colander_error found;
    struct sst *sst = NULL;
    enum colander_code code = look_for_end(checking, &found);

    checking->check->file_count++;
    if (code == COLANDER_OK)
        code = sst_open(checking->engine, file->number, &sst, &found);
    if (code == COLANDER_OK)
        code = sst_check(sst, &found);
    if (code == COLANDER_OK && file->has_rows)
        code = check_rows(checking, sst, &found);
    sst_close(sst);
    if (code == COLANDER_NO_MEMORY || code == COLANDER_CANCELLED)
        return COLANDER_FAIL(err, code, "%s", found.message);
    if (code != COLANDER_OK) {
        checking->check->finding_count++;
        checking->tell(checking->context, file->path, found.message);
    }
    return COLANDER_OK;
}

static enum colander_code
report_bulk(void *context, int directory, const char *name,
            struct colander_error *err)
{
    struct checking *checking = context;

    (void)directory;
    (void)err;
    checking->check->leftover_count++;
    checking->tell(checking->context, name,
                   "is of a bulk load that did not finish");
    return COLANDER_OK;
}

enum colander_code
colander_store_check(struct colander_store *store, struct colander_check *check,
                     colander_finding *tell, void *context,
                     struct colander_error *err)
{
    struct checking checking = {store->engine, check, tell, context};

    enum colander_code code = store_check_files(store, "checked", err);

    if (code == COLANDER_OK)
        code = engine_sst_places(store->engine, check_file, &checking, err);
    if (code == COLANDER_OK)
        code = bulk_files_visit_leftovers(store->engine, report_bulk, &checking,
                                          err);
    return code;
}

static void
report_repair(void *context, const char *file, const char *what)
{
    struct checking *checking = context;

    checking->check->finding_count++;
    checking->check->repaired_count++;
    checking->tell(checking->context, file, what);
}

enum colander_code
colander_store_repair(const char *path, struct colander_check *check,
                      colander_finding *tell, void *context,
                      struct colander_error *err)
{
    struct checking checking = {NULL, check, tell, context};
    enum colander_code code = repair_store(path, report_repair, &checking, err);

    if (code != COLANDER_OK)
        colander_error_context(err, "cannot repair store '%s'", path);
    return code;
}
