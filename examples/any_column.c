/*
 * Any column: find a value without saying where it may be, and see where it was
 * found.
 *
 * SPDX-License-Identifier: MIT
 */
#include <colander/colander.h>

#include <stdio.h>

/* Puts the row of `builder`, which is then ready for the next row. */
static enum colander_code
put(struct colander_family *inbox, const char *id,
    struct colander_row_builder *builder, struct colander_error *err)
{
    struct colander_buffer key = COLANDER_BUFFER_EMPTY;
    struct colander_slice row;
    enum colander_code code;

    code = colander_row_builder_finish(builder, &row, err);
    if (code == COLANDER_OK)
        code = colander_key_text(id, &key, err);
    if (code == COLANDER_OK)
        code = colander_family_put(inbox, colander_buffer_slice(&key), row,
                                   NULL, err);
    colander_buffer_release(&key);
    return code;
}

/* Four records with different columns; three of them share a value. */
static enum colander_code
put_records(struct colander_family *inbox, struct colander_row_builder *builder,
            struct colander_error *err)
{
    struct colander_value smith = colander_text("Smith");
    enum colander_code code;

    colander_row_builder_add(builder, "customer", smith);
    code = put(inbox, "invoice-1", builder, err);
    if (code != COLANDER_OK)
        return code;

    colander_row_builder_begin_map(builder, "sender");
    colander_row_builder_add(builder, "name", smith);
    colander_row_builder_end(builder);
    code = put(inbox, "parcel-7", builder, err);
    if (code != COLANDER_OK)
        return code;

    colander_row_builder_add(builder, "opened by", colander_text("Jones"));
    code = put(inbox, "ticket-3", builder, err);
    if (code != COLANDER_OK)
        return code;

    colander_row_builder_add(builder, "opened by", smith);
    colander_row_builder_begin_array(builder, "readers");
    colander_row_builder_add(builder, NULL, colander_text("Jones"));
    colander_row_builder_add(builder, NULL, smith);
    colander_row_builder_end(builder);
    return put(inbox, "ticket-4", builder, err);
}

/* A key of one string is printed as that string. */
static enum colander_code
print_match(const struct colander_result *result, struct colander_error *err)
{
    struct colander_value parts[COLANDER_KEY_PARTS_MAX];
    struct colander_buffer scratch = COLANDER_BUFFER_EMPTY;
    enum colander_code code;
    size_t count;

    code = colander_key_decode(result->key, parts, &count, &scratch, err);
    if (code == COLANDER_OK) {
        printf("%.*s:", (int)parts[0].bytes.size,
               (const char *)parts[0].bytes.data);
        for (size_t i = 0; i < result->columns.count; i++)
            printf(" %s", result->columns.paths[i]);
        printf("\n");
    }
    colander_buffer_release(&scratch);
    return code;
}

static enum colander_code
find_anywhere(struct colander_family *inbox, const char *text,
              struct colander_error *err)
{
    struct colander_query query;
    struct colander_cursor *cursor = NULL;
    struct colander_predicate *where;
    struct colander_result result;
    enum colander_code code;
    bool is_row = true;

    where = colander_where_any_column(colander_text(text), err);
    if (where == NULL)
        return err->code;
    colander_query_init(&query);
    query.where = where;
    query.reports_columns = true;
    code = colander_family_find(inbox, &query, &cursor, err);
    while (code == COLANDER_OK && is_row) {
        code = colander_cursor_next(cursor, &is_row, &result, err);
        if (code == COLANDER_OK && is_row)
            code = print_match(&result, err);
    }

    colander_cursor_close(cursor);
    colander_predicate_destroy(where);
    return code;
}

static enum colander_code
any_column(struct colander_family *inbox, struct colander_error *err)
{
    struct colander_row_builder *builder = colander_row_builder_create();
    enum colander_code code;

    if (builder == NULL)
        return COLANDER_FAIL(err, COLANDER_NO_MEMORY, "cannot build a row");
    code = put_records(inbox, builder, err);
    colander_row_builder_destroy(builder);
    if (code == COLANDER_OK)
        code = find_anywhere(inbox, "Smith", err);
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
        code = colander_family_open(store, "inbox", &family, &err);
    if (code == COLANDER_OK)
        code = any_column(family, &err);

    colander_family_close(family);
    close_code = colander_store_close(store, code == COLANDER_OK ? &err : NULL);
    if (code != COLANDER_OK || close_code != COLANDER_OK) {
        (void)fprintf(stderr, "%s: %s\n", argv[0], err.message);
        return 1;
    }
    return 0;
}
