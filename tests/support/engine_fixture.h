/*
 * An engine in a temporary directory, and shortcuts for tests.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef TESTS_SUPPORT_ENGINE_FIXTURE_H
#define TESTS_SUPPORT_ENGINE_FIXTURE_H

#include "core/engine.h"

#include "support/cases.h"
#include "support/scoped.h"
#include "support/temporary.h"
#include "support/usual.h"

/* A test with a directory, whose engine is closed afterwards. */
#define ENGINE_TEST(name)                                                      \
    TEST_WITH(struct fixture *fixture, name, setup, teardown)

#define OPEN_MAX 8 /* families open at once */

/* A store in a temporary directory. */
struct fixture {
    char directory[TEMPORARY_SIZE];
    char path[TEMPORARY_SIZE + 16];
    struct engine *engine;
    struct engine_family *families[OPEN_MAX]; /* see family_of */
    size_t family_count;
};

static inline void
close_families(struct fixture *fixture)
{
    while (fixture->family_count > 0)
        engine_family_close(fixture->families[--fixture->family_count]);
}

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
    enum colander_code code;

    close_families(fixture);
    code = engine_close(fixture->engine, NULL);
    temporary_remove(fixture->directory);
    free(fixture);
    return code == COLANDER_OK ? 0 : -1;
}

static inline enum colander_code
open_with(struct fixture *fixture, const struct colander_options *options,
          struct colander_error *err)
{
    const enum colander_code code =
        engine_open(fixture->path, options, NULL, &fixture->engine, err);

    if (code == COLANDER_OK)
        engine_opened(fixture->engine);
    return code;
}

static inline enum colander_code
open_as(struct fixture *fixture, enum colander_open_mode mode,
        struct colander_error *err)
{
    struct colander_options options = usual_options();

    options.mode = mode;
    return open_with(fixture, &options, err);
}

static inline void
close_engine(struct fixture *fixture)
{
    close_families(fixture);
    OK(engine_close(fixture->engine, NULL));
    fixture->engine = NULL;
}

/* Returns a family that is closed with the engine. */
static inline struct engine_family *
family_of(struct fixture *fixture, const char *name)
{
    struct engine_family *family;

    assert_in_range(fixture->family_count, 0, OPEN_MAX - 1);
    OK(engine_family_open(fixture->engine, name, true, &family, NULL));
    fixture->families[fixture->family_count++] = family;
    return family;
}

/* Opens the store, and one of its families. */
static inline struct engine_family *
open_with_family(struct fixture *fixture, const char *name)
{
    OK(open_with(fixture, NULL, NULL));
    return family_of(fixture, name);
}

static inline enum colander_code
put(struct engine *engine, struct engine_family *family, const char *key,
    const char *value, struct colander_error *err)
{
    SCOPED_ENGINE_BATCH batch = NULL;

    OK(engine_batch_create(engine, false, &batch, err));
    OK(engine_batch_put(batch, family, colander_slice_text(key),
                        colander_slice_text(value), err));
    return engine_batch_write(batch, COLANDER_AS_STORE, err);
}

/* Returns the value of `key` as a string that the caller frees, or NULL. */
static inline char *
get(struct engine_family *family, const struct colander_snapshot *snapshot,
    const char *key)
{
    SCOPED_BUFFER value = COLANDER_BUFFER_EMPTY;
    char *text = NULL;
    bool found;

    OK(engine_get(family, snapshot, colander_slice_text(key), &value, &found,
                  NULL));
    if (found) {
        text = calloc(1, value.size + 1);
        if (value.size > 0)
            memcpy(text, value.data, value.size);
    }
    return text;
}

static inline void
assert_value(struct engine_family *family, const char *key,
             const char *expected)
{
    SCOPED_MEMORY char *text = get(family, NULL, key);

    if (expected == NULL)
        assert_null(text);
    else
        assert_string_equal(text, expected);
}

#endif
