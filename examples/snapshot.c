/*
 * Snapshot: read a past state of the store while it changes.
 *
 * SPDX-License-Identifier: MIT
 */
#include <colander/colander.h>

#include <stdio.h>

/* Puts {"balance": amount}. */
static enum colander_code
put_balance(struct colander_family *accounts, struct colander_slice key,
            int64_t amount, struct colander_error *err)
{
    struct colander_row_builder *builder = colander_row_builder_create();
    struct colander_slice row;
    enum colander_code code;

    if (builder == NULL)
        return COLANDER_FAIL(err, COLANDER_NO_MEMORY, "cannot build a row");
    colander_row_builder_add(builder, "balance", colander_integer(amount));
    code = colander_row_builder_finish(builder, &row, err);
    if (code == COLANDER_OK)
        code = colander_family_put(accounts, key, row, NULL, err);
    colander_row_builder_destroy(builder);
    return code;
}

/* Prints the row under `key` as of `snapshot` (NULL: now). */
static enum colander_code
show(struct colander_family *accounts, struct colander_slice key,
     const char *when, const struct colander_snapshot *snapshot,
     struct colander_error *err)
{
    struct colander_read read = {.snapshot = snapshot};
    struct colander_buffer row = COLANDER_BUFFER_EMPTY;
    struct colander_buffer json = COLANDER_BUFFER_EMPTY;
    enum colander_code code;
    bool found = false;

    code = colander_family_get(accounts, key, &read, &row, &found, err);
    if (code == COLANDER_OK && found)
        code = colander_json_append_row(&json, key, colander_buffer_slice(&row),
                                        err);
    if (code == COLANDER_OK && found)
        printf("%s: %.*s\n", when, (int)json.size, (const char *)json.data);
    if (code == COLANDER_OK && !found)
        printf("%s: no such row\n", when);

    colander_buffer_release(&json);
    colander_buffer_release(&row);
    return code;
}

/* The snapshot does not show later writes. */
static enum colander_code
read_the_past(struct colander_store *store, struct colander_family *accounts,
              struct colander_slice key, struct colander_error *err)
{
    struct colander_snapshot *snapshot = NULL;
    enum colander_code code;

    code = put_balance(accounts, key, 100, err);
    if (code == COLANDER_OK)
        code = colander_store_snapshot(store, &snapshot, err);
    if (code == COLANDER_OK)
        code = put_balance(accounts, key, 75, err);
    if (code == COLANDER_OK)
        code = show(accounts, key, "now", NULL, err);
    if (code == COLANDER_OK)
        code = colander_family_delete(accounts, key, NULL, err);
    if (code == COLANDER_OK)
        code = show(accounts, key, "now", NULL, err);
    if (code == COLANDER_OK)
        code = show(accounts, key, "then", snapshot, err);

    colander_snapshot_release(snapshot);
    return code;
}

static enum colander_code
snapshot(struct colander_store *store, struct colander_family *accounts,
         struct colander_error *err)
{
    struct colander_buffer key = COLANDER_BUFFER_EMPTY;
    enum colander_code code = colander_key_text("ann", &key, err);

    if (code == COLANDER_OK)
        code = read_the_past(store, accounts, colander_buffer_slice(&key), err);
    colander_buffer_release(&key);
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
        code = colander_family_open(store, "accounts", &family, &err);
    if (code == COLANDER_OK)
        code = snapshot(store, family, &err);

    colander_family_close(family);
    close_code = colander_store_close(store, code == COLANDER_OK ? &err : NULL);
    if (code != COLANDER_OK || close_code != COLANDER_OK) {
        (void)fprintf(stderr, "%s: %s\n", argv[0], err.message);
        return 1;
    }
    return 0;
}
