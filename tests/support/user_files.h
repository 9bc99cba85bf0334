/*
 * What the program of a user works on: a directory for each test, with the path
 * of a store and of a file, neither of which exists yet.
 *
 *     DIRECTORY_TEST(a_claim) { ... }
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef TESTS_SUPPORT_USER_FILES_H
#define TESTS_SUPPORT_USER_FILES_H

#include "columns/columns.h"
#include "support/cases.h"
#include "support/temporary.h"

static char directory[TEMPORARY_SIZE];
static char store_path[TEMPORARY_SIZE + 16];
static char file_path[TEMPORARY_SIZE + 16];

static int
directory_setup(void **state)
{
    (void)state;
    temporary_make(directory);
    snprintf(store_path, sizeof(store_path), "%s/store", directory);
    snprintf(file_path, sizeof(file_path), "%s/file", directory);
    return 0;
}

static int
directory_teardown(void **state)
{
    (void)state;
    temporary_remove(directory);
    return 0;
}

#define DIRECTORY_TEST(name)                                                   \
    TEST_WITH(void *state, name, directory_setup, directory_teardown)

/* Opens the store, and returns the number of rows of the family. */
static inline uint64_t
count_rows(const char *family_name)
{
    struct colander_store *store;
    struct colander_family *family;
    uint64_t count;

    OK(colander_store_open(store_path, NULL, &store, why()));
    OK(colander_family_open(store, family_name, &family, why()));
    OK(colander_family_count(family, NULL, &count, why()));
    colander_family_close(family);
    OK(colander_store_close(store, why()));
    return count;
}

#endif
