/*
 * Hello: store three rows, then find those with a value.
 *
 * SPDX-License-Identifier: MIT
 */
#include <colander/colander.h>

#include <err.h>
#include <stdio.h>

static const char *const people[] = {
    "{\"_key\": \"p1\", \"name\": \"Ann\", \"city\": \"Houston\"}",
    "{\"_key\": \"p2\", \"name\": \"Bob\", \"city\": \"Oslo\"}",
    "{\"_key\": \"p3\", \"name\": \"Cid\", \"born\": {\"in\": \"Houston\"}}",
};

static void
check(enum colander_code code, const struct colander_error *err)
{
    if (code != COLANDER_OK)
        errx(1, "%s", err->message);
}

int
main(int argc, char **argv)
{
    struct colander_buffer json = COLANDER_BUFFER_EMPTY;
    struct colander_store *store;
    struct colander_family *family;
    struct colander_cursor *cursor;
    struct colander_query query;
    struct colander_result row;
    struct colander_error err;
    bool is_row;

    check(colander_store_open(argc > 1 ? argv[1] : "data", NULL, &store, &err),
          &err);
    check(colander_family_open(store, "people", &family, &err), &err);
    for (size_t i = 0; i < 3; i++)
        check(colander_family_put_json(family, people[i], NULL, NULL, &err),
              &err);

    colander_query_init(&query);
    query.where = colander_where_any_column(colander_text("Houston"), &err);
    check(query.where == NULL ? err.code : COLANDER_OK, &err);
    check(colander_family_find(family, &query, &cursor, &err), &err);
    for (;;) {
        check(colander_cursor_next(cursor, &is_row, &row, &err), &err);
        if (!is_row)
            break;
        colander_buffer_clear(&json);
        check(colander_json_append_row(&json, row.key, row.row, &err), &err);
        printf("%.*s\n", (int)json.size, (const char *)json.data);
    }

    colander_cursor_close(cursor);
    colander_predicate_destroy(query.where);
    colander_buffer_release(&json);
    colander_family_close(family);
    check(colander_store_close(store, &err), &err);
    return 0;
}
