/*
 * Batch: write to several families atomically.
 *
 * SPDX-License-Identifier: MIT
 */
#include <colander/colander.h>

#include <stdio.h>

/* A booking moves an amount, and adds a line to the journal. */
struct books {
    struct colander_family *accounts;
    struct colander_family *journal;
};

/* Adds the put of {column: amount} to the batch; nothing is written yet. */
static enum colander_code
add_amount(struct colander_batch *batch, struct colander_family *family,
           const char *id, const char *column, int64_t amount,
           struct colander_error *err)
{
    struct colander_row_builder *builder = colander_row_builder_create();
    struct colander_buffer key = COLANDER_BUFFER_EMPTY;
    struct colander_slice row;
    enum colander_code code;

    if (builder == NULL)
        return COLANDER_FAIL(err, COLANDER_NO_MEMORY, "cannot build a row");
    colander_row_builder_add(builder, column, colander_integer(amount));
    code = colander_row_builder_finish(builder, &row, err);
    if (code == COLANDER_OK)
        code = colander_key_text(id, &key, err);
    if (code == COLANDER_OK)
        code = colander_batch_put(batch, family, colander_buffer_slice(&key),
                                  row, err);
    colander_buffer_release(&key);
    colander_row_builder_destroy(builder);
    return code;
}

static enum colander_code
print_counts(const struct books *books, const char *when,
             struct colander_error *err)
{
    struct colander_query every_row;
    uint64_t accounts = 0, journal = 0;
    enum colander_code code;

    colander_query_init(&every_row);
    code = colander_family_count(books->accounts, &every_row, &accounts, err);
    if (code == COLANDER_OK)
        code = colander_family_count(books->journal, &every_row, &journal, err);
    if (code == COLANDER_OK)
        printf("%s: %d accounts, %d bookings\n", when, (int)accounts,
               (int)journal);
    return code;
}

static enum colander_code
add_booking(struct colander_batch *batch, const struct books *books,
            struct colander_error *err)
{
    enum colander_code code;

    code = add_amount(batch, books->accounts, "ann", "balance", 75, err);
    if (code == COLANDER_OK)
        code = add_amount(batch, books->accounts, "bob", "balance", 125, err);
    if (code == COLANDER_OK)
        code = add_amount(batch, books->journal, "b1", "moved", 25, err);
    return code;
}

static enum colander_code
book(struct colander_store *store, const struct books *books,
     struct colander_error *err)
{
    struct colander_batch *batch = NULL;
    struct colander_write_options synced;
    enum colander_code code;

    colander_write_options_init(&synced);
    synced.durability = COLANDER_SYNC;
    code = colander_batch_create(store, &batch, err);
    if (code == COLANDER_OK)
        code = add_booking(batch, books, err);
    if (code == COLANDER_OK)
        code = print_counts(books, "before", err);
    if (code == COLANDER_OK)
        code = colander_batch_commit(batch, &synced, err);
    if (code == COLANDER_OK)
        code = print_counts(books, "after", err);
    colander_batch_destroy(batch);
    return code;
}

static enum colander_code
batch(struct colander_store *store, struct colander_family *accounts,
      struct colander_error *err)
{
    struct books books = {accounts, NULL};
    enum colander_code code;

    code = colander_family_open(store, "journal", &books.journal, err);
    if (code == COLANDER_OK)
        code = book(store, &books, err);
    colander_family_close(books.journal);
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
        code = batch(store, family, &err);

    colander_family_close(family);
    close_code = colander_store_close(store, code == COLANDER_OK ? &err : NULL);
    if (code != COLANDER_OK || close_code != COLANDER_OK) {
        (void)fprintf(stderr, "%s: %s\n", argv[0], err.message);
        return 1;
    }
    return 0;
}
