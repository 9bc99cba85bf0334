/*
 * Backup: copy a store while it is in use, and read the copy.
 *
 * SPDX-License-Identifier: MIT
 */
#include <colander/colander.h>

#include <stdio.h>

#define COUNT 1000

/* Puts {"n": 0} to {"n": COUNT - 1} under new keys. */
static enum colander_code
put_rows(struct colander_family *numbers, struct colander_error *err)
{
    struct colander_row_builder *builder = colander_row_builder_create();
    struct colander_buffer key = COLANDER_BUFFER_EMPTY;
    struct colander_slice row;
    enum colander_code code = COLANDER_OK;

    if (builder == NULL)
        return COLANDER_FAIL(err, COLANDER_NO_MEMORY, "cannot build a row");
    for (int i = 0; i < COUNT && code == COLANDER_OK; i++) {
        colander_row_builder_add(builder, "n", colander_integer(i));
        code = colander_row_builder_finish(builder, &row, err);
        if (code == COLANDER_OK)
            code = colander_key_generate(&key, err);
        if (code == COLANDER_OK)
            code = colander_family_put(numbers, colander_buffer_slice(&key),
                                       row, NULL, err);
    }
    colander_buffer_release(&key);
    colander_row_builder_destroy(builder);
    return code;
}

/* Prints the number of rows of a store. A backup is a store, which can be
 * opened for reading. */
static enum colander_code
count_rows(const char *path, struct colander_error *err)
{
    struct colander_options options;
    struct colander_store *store = NULL;
    struct colander_family *family = NULL;
    struct colander_query query;
    uint64_t count = 0;
    enum colander_code code, close_code;

    colander_options_init(&options);
    options.mode = COLANDER_OPEN_READ_ONLY;
    colander_query_init(&query);
    code = colander_store_open(path, &options, &store, err);
    if (code == COLANDER_OK)
        code = colander_family_open(store, "numbers", &family, err);
    if (code == COLANDER_OK)
        code = colander_family_count(family, &query, &count, err);
    if (code == COLANDER_OK)
        printf("%llu rows\n", (unsigned long long)count);

    colander_family_close(family);
    close_code = colander_store_close(store, code == COLANDER_OK ? err : NULL);
    return code == COLANDER_OK ? close_code : code;
}

/* Two backups: the second shares unchanged files with the first. */
static enum colander_code
back_up_twice(struct colander_store *store, struct colander_family *numbers,
              const char *directory, struct colander_error *err)
{
    char path[4096];
    enum colander_code code = COLANDER_OK;

    for (int i = 0; i < 2 && code == COLANDER_OK; i++) {
        struct colander_backup made;

        code = put_rows(numbers, err);
        if (code == COLANDER_OK)
            code = colander_store_backup(store, directory, 0, &made, err);
        if (code != COLANDER_OK)
            break;
        printf("backup %llu: ", (unsigned long long)made.number);
        (void)snprintf(path, sizeof(path), "%s/%06llu", directory,
                       (unsigned long long)made.number);
        code = count_rows(path, err);
    }
    return code;
}

int
main(int argc, char **argv)
{
    struct colander_store *store = NULL;
    struct colander_family *family = NULL;
    struct colander_error err;
    enum colander_code code, close_code;
    char directory[4000];

    if (argc != 2) {
        (void)fprintf(stderr, "usage: %s STORE\n", argv[0]);
        return 2;
    }
    (void)snprintf(directory, sizeof(directory), "%s-backups", argv[1]);
    code = colander_store_open(argv[1], NULL, &store, &err);
    if (code == COLANDER_OK)
        code = colander_family_open(store, "numbers", &family, &err);
    if (code == COLANDER_OK)
        code = back_up_twice(store, family, directory, &err);

    colander_family_close(family);
    close_code = colander_store_close(store, code == COLANDER_OK ? &err : NULL);
    if (code != COLANDER_OK || close_code != COLANDER_OK) {
        (void)fprintf(stderr, "%s: %s\n", argv[0], err.message);
        return 1;
    }
    return 0;
}
