/*
 * An engine in a directory of its own, and short ways to use it in tests.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef TESTS_SUPPORT_ENGINE_FIXTURE_H
#define TESTS_SUPPORT_ENGINE_FIXTURE_H

#include "core/engine.h"

#include "support/cases.h"
#include "support/temporary.h"

/* With a directory, whose engine is closed after the test. */
#define ENGINE_TEST(name)                                                      \
    TEST_WITH(struct fixture *fixture, name, setup, teardown)

/* A store in a directory of its own. */
struct fixture {
    char directory[TEMPORARY_SIZE];
    char path[TEMPORARY_SIZE + 16];
    struct engine *engine;
};

static inline int
setup(void **state)
{
    struct fixture *fixture = calloc(1, sizeof(*fixture));

    temporary_make(fixture->directory);
    (void)snprintf(fixture->path, sizeof(fixture->path), "%s/store",
                   fixture->directory);
    *state = fixture;
    return 0;
}

static inline int
teardown(void **state)
{
    struct fixture *fixture = *state;
    int result = engine_close(fixture->engine, NULL) == COLANDER_OK;

    temporary_remove(fixture->directory);
    free(fixture);
    return result ? 0 : -1;
}

static inline enum colander_code
open_with(struct fixture *fixture, const struct colander_options *options,
          struct colander_error *err)
{
    return engine_open(fixture->path, options, &fixture->engine, err);
}

static inline enum colander_code
open_as(struct fixture *fixture, enum colander_open_mode mode,
        struct colander_error *err)
{
    struct colander_options options;

    colander_options_init(&options);
    options.mode = mode;
    return open_with(fixture, &options, err);
}

static inline void
close_engine(struct fixture *fixture)
{
    OK(engine_close(fixture->engine, NULL));
    fixture->engine = NULL;
}

static inline struct engine_family *
family_of(struct fixture *fixture, const char *name)
{
    struct engine_family *family;

    OK(engine_family_open(fixture->engine, name, true, &family, NULL));
    return family;
}

static inline enum colander_code
put(struct engine *engine, struct engine_family *family, const char *key,
    const char *value, struct colander_error *err)
{
    struct engine_batch *batch;
    enum colander_code code;

    OK(engine_batch_create(engine, false, &batch, err));
    OK(engine_batch_put(batch, family, colander_slice_text(key),
                        colander_slice_text(value), err));
    code = engine_batch_write(batch, COLANDER_AS_STORE, err);
    engine_batch_destroy(batch);
    return code;
}

/* What is under `key`, as a string for the caller to free; NULL: nothing. */
static inline char *
get(struct engine_family *family, const struct colander_snapshot *snapshot,
    const char *key)
{
    struct colander_buffer value = COLANDER_BUFFER_EMPTY;
    char *text = NULL;
    bool found;

    OK(engine_get(family, snapshot, colander_slice_text(key), &value, &found,
                  NULL));
    if (found) {
        text = calloc(1, value.size + 1);
        if (value.size > 0)
            memcpy(text, value.data, value.size);
    }
    colander_buffer_release(&value);
    return text;
}

static inline void
assert_value(struct engine_family *family, const char *key,
             const char *expected)
{
    char *text = get(family, NULL, key);

    if (expected == NULL)
        assert_null(text);
    else
        assert_string_equal(text, expected);
    free(text);
}

#endif
