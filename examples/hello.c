/*
 * Hello: open a store, put rows, get one, find one by a value.
 *
 * Life of everything here: open -> put, get, find -> close. Whatever fails
 * fills `err`, and main says what it was.
 *
 * SPDX-License-Identifier: MIT
 */
#include <colander/colander.h>

#include <stdio.h>

/* Puts one person. Rows are built column by column, and need no schema. */
static enum colander_code
put_person(struct colander_family *people, const char *id, const char *name,
           const char *city, int64_t age, struct colander_error *err)
{
    struct colander_row_builder *builder = colander_row_builder_create();
    struct colander_buffer key = COLANDER_BUFFER_EMPTY;
    struct colander_slice row;
    enum colander_code code;

    if (builder == NULL)
        return COLANDER_FAIL(err, COLANDER_NO_MEMORY, "cannot build a row");
    colander_row_builder_add(builder, "name", colander_text(name));
    colander_row_builder_add(builder, "city", colander_text(city));
    colander_row_builder_add(builder, "age", colander_integer(age));
    code = colander_row_builder_finish(builder, &row, err);
    if (code == COLANDER_OK)
        code = colander_key_text(id, &key, err);
    if (code == COLANDER_OK)
        code = colander_family_put(people, colander_buffer_slice(&key), row,
                                   COLANDER_AS_STORE, err);

    colander_buffer_release(&key);
    colander_row_builder_destroy(builder);
    return code;
}

static enum colander_code
print_row(struct colander_slice key, struct colander_slice row,
          struct colander_error *err)
{
    struct colander_buffer json = COLANDER_BUFFER_EMPTY;
    enum colander_code code = colander_json_append_row(&json, key, row, err);

    if (code == COLANDER_OK)
        printf("%.*s\n", (int)json.size, (const char *)json.data);
    colander_buffer_release(&json);
    return code;
}

static enum colander_code
get_person(struct colander_family *people, const char *id,
           struct colander_error *err)
{
    struct colander_buffer key = COLANDER_BUFFER_EMPTY;
    struct colander_buffer row = COLANDER_BUFFER_EMPTY;
    enum colander_code code;
    bool found = false;

    code = colander_key_text(id, &key, err);
    if (code == COLANDER_OK)
        code = colander_family_get(people, colander_buffer_slice(&key), NULL,
                                   &row, &found, err);
    if (code == COLANDER_OK && found)
        code = print_row(colander_buffer_slice(&key),
                         colander_buffer_slice(&row), err);
    if (code == COLANDER_OK && !found)
        printf("nobody is %s\n", id);

    colander_buffer_release(&row);
    colander_buffer_release(&key);
    return code;
}

static enum colander_code
find_by_city(struct colander_family *people, const char *city,
             struct colander_error *err)
{
    struct colander_query query;
    struct colander_cursor *cursor = NULL;
    struct colander_predicate *where;
    struct colander_result result;
    enum colander_code code;
    bool is_row = true;

    where = colander_where("city", COLANDER_EQ, colander_text(city), err);
    if (where == NULL)
        return err->code;
    colander_query_init(&query);
    query.where = where;
    code = colander_family_find(people, &query, &cursor, err);
    while (code == COLANDER_OK && is_row) {
        code = colander_cursor_next(cursor, &is_row, &result, err);
        if (code == COLANDER_OK && is_row)
            code = print_row(result.key, result.row, err);
    }

    colander_cursor_close(cursor);
    colander_predicate_destroy(where);
    return code;
}

static enum colander_code
hello(struct colander_family *people, struct colander_error *err)
{
    enum colander_code code;

    code = put_person(people, "p1", "Ann Smith", "Houston", 34, err);
    if (code == COLANDER_OK)
        code = put_person(people, "p2", "Bob Jones", "Oslo", 51, err);
    if (code == COLANDER_OK)
        code = put_person(people, "p3", "Cid Smith", "Houston", 28, err);

    if (code == COLANDER_OK)
        code = get_person(people, "p2", err);
    if (code == COLANDER_OK)
        code = get_person(people, "p9", err);
    if (code == COLANDER_OK)
        code = find_by_city(people, "Houston", err);
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
        code = colander_family_open(store, "people", &family, &err);
    if (code == COLANDER_OK)
        code = hello(family, &err);

    colander_family_close(family);
    close_code = colander_store_close(store, code == COLANDER_OK ? &err : NULL);
    if (code != COLANDER_OK || close_code != COLANDER_OK) {
        (void)fprintf(stderr, "%s: %s\n", argv[0], err.message);
        return 1;
    }
    return 0;
}
