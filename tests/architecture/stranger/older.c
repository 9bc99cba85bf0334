/*
 * A program compiled with the headers of an earlier version: its structs end
 * before members that were added later. The library must not read or write past
 * their ends, where this program keeps other bytes.
 *
 * SPDX-License-Identifier: MIT
 */
#include <colander/colander.h>

#include <err.h>

/* The sizes of the earlier version. */
#define OPTIONS_SIZE offsetof(struct colander_options, log)
#define QUERY_SIZE offsetof(struct colander_query, limit)
#define EXPLAIN_SIZE offsetof(struct colander_explain, rows_read)

static void
check(enum colander_code code, const struct colander_error *err)
{
    if (code != COLANDER_OK)
        errx(1, "%s", err->message);
}

static void
check_guard(const void *structure, size_t from, size_t to, const char *what)
{
    const unsigned char *bytes = structure;

    for (size_t i = from; i < to; i++) {
        if (bytes[i] != 0xff)
            errx(1, "byte %zu of the %s was written", i, what);
    }
}

int
main(int argc, char **argv)
{
    struct colander_options options;
    struct colander_explain explain;
    struct colander_query query;
    struct colander_store *store;
    struct colander_family *family;
    struct colander_cursor *cursor;
    struct colander_result result;
    struct colander_error err;
    bool is_row;

    memset(&options, 0xff, sizeof(options));
    memset(&query, 0xff, sizeof(query));
    memset(&explain, 0xff, sizeof(explain));
    if (argc != 2)
        errx(2, "usage: %s STORE", argv[0]);
    colander_options_init_sized(&options, OPTIONS_SIZE);
    options.mode = COLANDER_OPEN_NEW;
    check(colander_store_open(argv[1], &options, &store, &err), &err);
    check(colander_family_open(store, "rows", &family, &err), &err);
    for (int i = 0; i < 3; i++)
        check(colander_family_put_json(family, "{\"a\":1}", NULL, NULL, &err),
              &err);

    colander_query_init_sized(&query, QUERY_SIZE);
    query.where = colander_where("a", COLANDER_EQ, colander_integer(1), &err);
    check(colander_family_find(family, &query, &cursor, &err), &err);
    for (int i = 0; i < 4; i++) {
        check(colander_cursor_next(cursor, &is_row, &result, &err), &err);
        if (is_row != (i < 3))
            errx(1, "row %d is missing, or one too many", i);
    }
    colander_cursor_explain_sized(cursor, &explain, EXPLAIN_SIZE);
    colander_store_options_sized(store, &options, OPTIONS_SIZE);
    check_guard(&options, OPTIONS_SIZE, sizeof(options), "options");
    check_guard(&query, QUERY_SIZE, sizeof(query), "query");
    check_guard(&explain, EXPLAIN_SIZE, sizeof(explain), "explanation");

    colander_cursor_close(cursor);
    colander_predicate_destroy((struct colander_predicate *)query.where);
    colander_family_close(family);
    check(colander_store_close(store, &err), &err);
    return 0;
}
