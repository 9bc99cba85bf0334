/*
 * Bulks of numbered rows, and what a family must contain after them.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef TESTS_COLUMNS_BULKS_H
#define TESTS_COLUMNS_BULKS_H

#include "columns/bulk/bulk_inside.h"

#include "support/cases.h"
#include "support/scoped.h"

#include "support/random_rows.h"

#include <dirent.h>

#define KEYS_MAX 3000

/* ---------------------------------------------------------------- model --- */

/* The row that each key must have, if any. */
struct model {
    struct colander_buffer rows[KEYS_MAX];
    bool has[KEYS_MAX];
};

static inline void
model_release(struct model *model)
{
    for (size_t i = 0; i < KEYS_MAX; i++)
        colander_buffer_release(&model->rows[i]);
    free(model);
}

static inline void
key_of(uint64_t index, struct colander_buffer *key)
{
    const struct colander_value part = colander_integer((int64_t)index);

    OK(colander_key_encode(&part, 1, key, NULL));
}

static inline void
add_row(struct colander_bulk *bulk, uint64_t index, struct colander_slice row,
        struct model *model)
{
    SCOPED_BUFFER key = COLANDER_BUFFER_EMPTY;

    key_of(index, &key);
    OK(colander_bulk_add(bulk, colander_buffer_slice(&key), row, why()));
    if (model == NULL)
        return;
    colander_buffer_clear(&model->rows[index]);
    OK(colander_buffer_append(&model->rows[index], row.data, row.size, NULL));
    model->has[index] = true;
}

/* The family has exactly the rows of the model, in order. */
static inline void
assert_model(struct colander_family *family, const struct model *model)
{
    SCOPED_BUFFER key = COLANDER_BUFFER_EMPTY;
    SCOPED_CURSOR cursor = NULL;
    struct colander_result result;
    bool is_row;

    OK(colander_family_find(family, NULL, &cursor, NULL));
    for (uint64_t i = 0; i < KEYS_MAX; i++) {
        if (!model->has[i])
            continue;
        OK(colander_cursor_next(cursor, &is_row, &result, NULL));
        assert_true(is_row);
        key_of(i, &key);
        ASSERT_SAME(result.key, colander_buffer_slice(&key));
        ASSERT_SAME(result.row, colander_buffer_slice(&model->rows[i]));
    }
    OK(colander_cursor_next(cursor, &is_row, &result, NULL));
    assert_false(is_row);
}

static inline uint64_t
model_count(const struct model *model)
{
    uint64_t count = 0;

    for (size_t i = 0; i < KEYS_MAX; i++)
        count += model->has[i];
    return count;
}

/* --------------------------------------------------------------- stores --- */

/* Returns the number of bulk directories in the store. */
static inline size_t
count_directories(const struct store_fixture *fixture)
{
    DIR *listing = opendir(fixture->directory);
    struct dirent *entry;
    size_t count = 0;

    assert_non_null(listing);
    while ((entry = readdir(listing)) != NULL)
        count += strncmp(entry->d_name, "bulk-", 5) == 0;
    closedir(listing);
    return count;
}

/* Returns limits with which a few rows make many runs and files. */
static inline struct bulk_limits
small_limits(void)
{
    const struct bulk_limits limits = {
        .sorter = {.run_size = 2000, .run_rows = 100, .fan_in = 3},
        .sst_size = 4000,
        .thread_count = 3,
    };

    return limits;
}

static inline struct colander_bulk *
begin(struct colander_family *family, const struct bulk_limits *limits)
{
    struct colander_bulk *bulk;

    OK(bulk_create_limited(family, limits, &bulk, why()));
    return bulk;
}

static inline uint64_t
commit(struct colander_bulk *bulk)
{
    uint64_t count;

    OK(colander_bulk_commit(bulk, &count, why()));
    colander_bulk_destroy(bulk);
    return count;
}

static inline struct colander_slice
number_row(struct store_fixture *fixture, uint64_t number)
{
    return fixture_row(fixture, "n", colander_integer((int64_t)number));
}

#endif
