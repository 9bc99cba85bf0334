/*
 * A stranger's program, with only the installed files. It opens a store, puts,
 * gets and finds, and fails if the results are not what was put.
 *
 * SPDX-License-Identifier: MIT
 */
#include <colander/colander.h>

#include <stdio.h>

static enum colander_code
put(struct colander_family *family, struct colander_slice key,
    struct colander_slice *row, struct colander_row_builder *builder,
    struct colander_error *err)
{
    enum colander_code code;

    colander_row_builder_add(builder, "user", colander_text("Smith"));
    code = colander_row_builder_finish(builder, row, err);
    if (code == COLANDER_OK)
        code = colander_family_put(family, key, *row, NULL, err);
    return code;
}

static enum colander_code
get(struct colander_family *family, struct colander_slice key,
    struct colander_slice wanted, struct colander_error *err)
{
    struct colander_buffer row = COLANDER_BUFFER_EMPTY;
    enum colander_code code;
    bool found = false;

    code = colander_family_get(family, key, NULL, &row, &found, err);
    if (code == COLANDER_OK &&
        !(found && colander_slice_equal(colander_buffer_slice(&row), wanted)))
        code = COLANDER_FAIL(err, COLANDER_CORRUPT, "another row was put");
    colander_buffer_release(&row);
    return code;
}

static enum colander_code
find(struct colander_family *family, struct colander_slice key,
     struct colander_error *err)
{
    struct colander_predicate *where;
    struct colander_query query;
    struct colander_cursor *cursor = NULL;
    struct colander_result result;
    enum colander_code code;
    bool is_row = false;

    where = colander_where("user", COLANDER_EQ, colander_text("Smith"), err);
    if (where == NULL)
        return err->code;
    colander_query_init(&query);
    query.where = where;
    code = colander_family_find(family, &query, &cursor, err);
    if (code == COLANDER_OK)
        code = colander_cursor_next(cursor, &is_row, &result, err);
    if (code == COLANDER_OK &&
        !(is_row && colander_slice_equal(result.key, key)))
        code = COLANDER_FAIL(err, COLANDER_CORRUPT, "the row was not found");
    colander_cursor_close(cursor);
    colander_predicate_destroy(where);
    return code;
}

static enum colander_code
use(struct colander_family *family, struct colander_error *err)
{
    struct colander_row_builder *builder = colander_row_builder_create();
    struct colander_buffer key = COLANDER_BUFFER_EMPTY;
    struct colander_slice row, key_slice;
    enum colander_code code;

    if (builder == NULL)
        return COLANDER_FAIL(err, COLANDER_NO_MEMORY, "cannot build a row");
    code = colander_key_text("t1", &key, err);
    key_slice = colander_buffer_slice(&key);
    if (code == COLANDER_OK)
        code = put(family, key_slice, &row, builder, err);
    if (code == COLANDER_OK)
        code = get(family, key_slice, row, err);
    if (code == COLANDER_OK)
        code = find(family, key_slice, err);
    colander_buffer_release(&key);
    colander_row_builder_destroy(builder);
    return code;
}

int
main(int argc, char **argv)
{
    struct colander_store *store = NULL;
    struct colander_family *family = NULL;
    struct colander_error err;
    enum colander_code code, close_code;

    if (argc != 2) {
        (void)fprintf(stderr, "usage: %s STORE\n", argv[0]);
        return 2;
    }
    code = colander_store_open(argv[1], NULL, &store, &err);
    if (code == COLANDER_OK)
        code = colander_family_open(store, "tweets", &family, &err);
    if (code == COLANDER_OK)
        code = use(family, &err);

    colander_family_close(family);
    close_code = colander_store_close(store, code == COLANDER_OK ? &err : NULL);
    if (code != COLANDER_OK || close_code != COLANDER_OK) {
        (void)fprintf(stderr, "%s: %s\n", argv[0], err.message);
        return 1;
    }
    return 0;
}
