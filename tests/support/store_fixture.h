/*
 * A store in a temporary directory, and shortcuts for tests.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef TESTS_SUPPORT_STORE_FIXTURE_H
#define TESTS_SUPPORT_STORE_FIXTURE_H

#include "columns/columns.h"

#include "support/cases.h"
#include "support/scoped.h"
#include "support/temporary.h"
#include "support/usual.h"

#define FIXTURE_TEST(name)                                                     \
    TEST_WITH(struct store_fixture *fixture, name, fixture_setup,              \
              fixture_teardown)

struct store_fixture {
    char directory[TEMPORARY_SIZE];
    struct colander_options options;
    struct colander_store *store;
    struct colander_row_builder *builder;
    struct colander_family **kept; /* see kept_family */
    size_t kept_count;
};

static inline void
fixture_open(struct store_fixture *fixture)
{
    const enum colander_code code = colander_store_open(
        fixture->directory, &fixture->options, &fixture->store, why());

    if (code != COLANDER_OK)
        fail_msg("cannot open '%s': %s", fixture->directory, error_text());
}

static inline void
close_kept_families(struct store_fixture *fixture)
{
    while (fixture->kept_count > 0)
        colander_family_close(fixture->kept[--fixture->kept_count]);
}

static inline void
fixture_close(struct store_fixture *fixture)
{
    close_kept_families(fixture);
    OK(colander_store_close(fixture->store, NULL));
    fixture->store = NULL;
}

static inline void
fixture_reopen(struct store_fixture *fixture, enum colander_open_mode mode)
{
    fixture_close(fixture);
    fixture->options.mode = mode;
    fixture_open(fixture);
}

static inline int
fixture_setup(void **state)
{
    struct store_fixture *fixture = calloc(1, sizeof(*fixture));

    colander_options_init(&fixture->options);
    fixture->builder = colander_row_builder_create();
    temporary_make(fixture->directory);
    fixture_open(fixture);
    *state = fixture;
    return 0;
}

static inline int
fixture_teardown(void **state)
{
    struct store_fixture *fixture = *state;
    enum colander_code code;

    close_kept_families(fixture);
    code = colander_store_close(fixture->store, NULL);
    free(fixture->kept);
    colander_row_builder_destroy(fixture->builder);
    temporary_remove(fixture->directory);
    free(fixture);
    return code == COLANDER_OK ? 0 : -1;
}

static inline struct colander_family *
fixture_family(struct store_fixture *fixture, const char *name)
{
    struct colander_family *family;

    OK(colander_family_open(fixture->store, name, &family, NULL));
    return family;
}

/* The same, closed with the store. */
static inline struct colander_family *
kept_family(struct store_fixture *fixture, const char *name)
{
    struct colander_family *family = fixture_family(fixture, name);

    fixture->kept =
        realloc(fixture->kept, (fixture->kept_count + 1) * sizeof(family));
    assert_non_null(fixture->kept);
    fixture->kept[fixture->kept_count++] = family;
    return family;
}

/* A row of one column, borrowed until the builder is next used. */
static inline struct colander_slice
fixture_row(struct store_fixture *fixture, const char *name,
            struct colander_value value)
{
    struct colander_slice row;

    colander_row_builder_add(fixture->builder, name, value);
    OK(colander_row_builder_finish(fixture->builder, &row, NULL));
    return row;
}

/* Returns an encoded key of one text. The caller releases it. */
static inline struct colander_buffer
text_key(const char *text)
{
    struct colander_buffer key = COLANDER_BUFFER_EMPTY;

    OK(colander_key_text(text, &key, NULL));
    return key;
}

static inline enum colander_code
put_text(struct store_fixture *fixture, struct colander_family *family,
         const char *key, const char *name, struct colander_value value,
         struct colander_error *err)
{
    SCOPED_BUFFER encoded = text_key(key);

    return colander_family_put(family, colander_buffer_slice(&encoded),
                               fixture_row(fixture, name, value), NULL, err);
}

/* Puts a row whose key is an integer. */
static inline void
put_at(struct colander_family *family, int64_t number,
       struct colander_slice row)
{
    const struct colander_value part = colander_integer(number);
    SCOPED_BUFFER key = COLANDER_BUFFER_EMPTY;

    OK(colander_key_encode(&part, 1, &key, NULL));
    OK(colander_family_put(family, colander_buffer_slice(&key), row, NULL,
                           NULL));
}

/* Asserts that the row under `key` is `json`, as a row with its key, or, if
 * that is NULL, missing. */
static inline void
assert_row(struct colander_family *family, const char *key, const char *json)
{
    SCOPED_BUFFER encoded = text_key(key);
    SCOPED_BUFFER row = COLANDER_BUFFER_EMPTY;
    SCOPED_BUFFER text = COLANDER_BUFFER_EMPTY;
    bool found;

    OK(colander_family_get(family, colander_buffer_slice(&encoded), NULL, &row,
                           &found, NULL));
    assert_int_equal(found, json != NULL);
    if (found) {
        OK(colander_json_append_row(&text, colander_buffer_slice(&encoded),
                                    colander_buffer_slice(&row), NULL));
        OK(colander_buffer_append(&text, "", 1, NULL));
        assert_string_equal((char *)text.data, json);
    }
}

static inline uint64_t
count_rows(struct colander_family *family)
{
    struct colander_query query = usual_query();
    uint64_t count;

    OK(colander_family_count(family, &query, &count, NULL));
    return count;
}

#endif
