/*
 * A store for a fuzz target that needs one: the same rows before each run.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef TESTS_FUZZ_STORE_H
#define TESTS_FUZZ_STORE_H

#include "colander.h"
#include "fuzz/directory.h"

#define FUZZ_STORE_RUNS 1000 /* then a new store, so that it stays small */

static struct colander_store *fuzz_store;

static inline void
fuzz_store_open(void)
{
    struct colander_options options;
    char path[TEMPORARY_SIZE + 8];

    if (fuzz_directory[0] == '\0')
        fuzz_directory_make();
    (void)snprintf(path, sizeof(path), "%s/store", fuzz_directory);
    OK(colander_store_close(fuzz_store, NULL));
    temporary_remove(path);
    colander_options_init(&options);
    options.thread_count = 1;
    options.cache_size = 1 << 20;
    options.write_buffer_size = 1 << 20;
    OK(colander_store_open(path, &options, &fuzz_store, NULL));
}

static inline void
fuzz_store_put(struct colander_family *family, const char *json)
{
    static struct colander_json_reader *reader;
    struct colander_slice key, row;
    bool has_key;

    if (reader == NULL)
        reader = colander_json_reader_create();
    OK(colander_json_reader_row(reader, colander_slice_text(json), &key,
                                &has_key, &row, NULL));
    OK(colander_family_put(family, key, row, NULL, NULL));
}

/* Gives the family `f` exactly these rows, and removes all other families. */
static inline void
fuzz_store_fill(void)
{
    static const char *const rows[] = {
        "{\"_key\":\"k1\",\"a\":1,\"b\":\"text\",\"tags\":[\"a\",\"b\"]}",
        "{\"_key\":\"k2\",\"a\":{\"b\":2.5},\"c\":null}",
        "{\"_key\":\"k3\",\"a\":[{\"b\":1},{\"b\":\"a\"}],\"b\":true}",
    };
    struct colander_names names = {NULL, 0};
    struct colander_family *family;
    uint64_t count;

    OK(colander_store_families(fuzz_store, &names, NULL));
    for (size_t i = 0; i < names.count; i++) {
        OK(colander_family_open(fuzz_store, names.names[i], &family, NULL));
        if (strcmp(names.names[i], "f") == 0)
            OK(colander_family_delete_range(family, NULL, NULL, &count, NULL));
        else
            OK(colander_family_drop(family, NULL));
        colander_family_close(family);
    }
    colander_names_release(&names);
    OK(colander_family_open(fuzz_store, "f", &family, NULL));
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        fuzz_store_put(family, rows[i]);
    colander_family_close(family);
}

/* Call before each run. */
static inline void
fuzz_store_prepare(void)
{
    static unsigned run_count;

    if (run_count++ % FUZZ_STORE_RUNS == 0)
        fuzz_store_open();
    fuzz_store_fill();
}

#endif
