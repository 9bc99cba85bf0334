/*
 * Store hooks that keep every row they are notified of, and return the keys of
 * rows that may match, with some that do not match or no longer exist.
 *
 * A log of the calls lets tests check them.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef TESTS_COLUMNS_NAIVE_HOOKS_H
#define TESTS_COLUMNS_NAIVE_HOOKS_H

#include "naive_filter_query.h"

#include "core/engine.h"
#include "support/random.h"
#include "support/store_fixture.h"

#define NOTED_MAX 20000

struct noted {
    uint32_t family;
    struct colander_buffer key;
    struct colander_buffer row;
};

struct naive {
    struct noted *rows;
    size_t count;
    struct colander_buffer log; /* a short log of the calls */
    uint64_t seed;              /* for its random choices */
    bool is_open;
    size_t open_finds;
    size_t open_writes;

    /* behavior */
    bool scans;    /* always asks for a scan */
    bool is_exact; /* returns no more candidates than necessary */
    int fails_at;  /* the number of the counted call that fails; 0: none */
    enum colander_code failure;
};

struct candidate_write {
    struct naive *naive;
};

struct candidates {
    struct naive *naive;
    const struct candidate_request *request;
    struct colander_slice *keys; /* of the noted rows and of missing ones */
    size_t count;
    size_t at;
    uint8_t *given; /* the keys returned last */
};

static inline void
naive_log(struct naive *naive, const char *text)
{
    OK(colander_buffer_append(&naive->log, text, strlen(text), NULL));
}

/* Asserts what was logged since the last call. */
static inline void
assert_logged(struct naive *naive, const char *expected)
{
    OK(colander_buffer_append(&naive->log, "", 1, NULL));
    assert_string_equal((char *)naive->log.data, expected);
    colander_buffer_clear(&naive->log);
}

static inline enum colander_code
naive_count(struct naive *naive, struct colander_error *err)
{
    if (naive->fails_at == 0 || --naive->fails_at > 0)
        return COLANDER_OK;
    return COLANDER_FAIL(err, naive->failure, "as it was asked to");
}

static inline enum colander_code
naive_opened(void *context, struct engine *engine, struct colander_error *err)
{
    struct naive *naive = context;
    enum colander_code code = naive_count(naive, err);

    assert_non_null(engine);
    assert_false(naive->is_open);
    naive_log(naive, code == COLANDER_OK ? "opened " : "unopened ");
    naive->is_open = code == COLANDER_OK;
    return code;
}

static inline void
naive_closing(void *context)
{
    struct naive *naive = context;

    assert_true(naive->is_open);
    assert_int_equal(naive->open_finds, 0);
    naive->is_open = false;
    naive_log(naive, "closing ");
}

static inline void
naive_closed(void *context)
{
    struct naive *naive = context;

    assert_false(naive->is_open);
    assert_int_equal(naive->open_writes, 0);
    for (size_t i = 0; i < naive->count; i++) {
        colander_buffer_release(&naive->rows[i].key);
        colander_buffer_release(&naive->rows[i].row);
    }
    free(naive->rows);
    naive->rows = NULL;
    naive->count = 0;
    naive_log(naive, "closed ");
}

/* --------------------------------------------------------------- writes --- */

static inline enum colander_code
naive_note(void *context, struct candidate_write **write,
           struct engine_family *family, struct colander_slice key,
           struct colander_slice row, struct colander_error *err)
{
    struct naive *naive = context;
    struct noted *noted;

    assert_true(naive->is_open);
    if (*write == NULL) {
        *write = calloc(1, sizeof(**write));
        assert_non_null(*write);
        (*write)->naive = naive;
        naive->open_writes++;
    }
    if (row.size == 0) { /* a delete, which no find returns */
        naive_log(naive, "delete ");
        return naive_count(naive, err);
    }
    if (naive->rows == NULL)
        naive->rows = calloc(NOTED_MAX, sizeof(*naive->rows));
    assert_true(naive->rows != NULL && naive->count < NOTED_MAX);
    noted = &naive->rows[naive->count++];
    noted->family = engine_family_id(family);
    OK(colander_buffer_append(&noted->key, key.data, key.size, NULL));
    OK(colander_buffer_append(&noted->row, row.data, row.size, NULL));
    naive_log(naive, "note");
    OK(colander_json_append_row(&naive->log, key, row, NULL));
    naive_log(naive, " ");
    return naive_count(naive, err);
}

static inline void
naive_write_end(void *context, struct candidate_write *write, bool is_written)
{
    struct naive *naive = context;

    assert_ptr_equal(write->naive, naive);
    free(write);
    naive->open_writes--;
    naive_log(naive, is_written ? "written " : "unwritten ");
}

/* ---------------------------------------------------------------- finds --- */

static inline int
naive_order(const void *left, const void *right)
{
    return colander_slice_compare(*(const struct colander_slice *)left,
                                  *(const struct colander_slice *)right);
}

/* Sorts the keys in the order requested, without duplicates. */
static inline void
naive_sort(struct candidates *made)
{
    struct colander_slice *keys = made->keys;
    size_t kept = 0;

    qsort(keys, made->count, sizeof(*keys), naive_order);
    for (size_t i = 0; i < made->count; i++) {
        if (kept == 0 || !colander_slice_equal(keys[kept - 1], keys[i]))
            keys[kept++] = keys[i];
    }
    made->count = kept;
    for (size_t i = 0; made->request->is_reverse && i < kept / 2; i++) {
        struct colander_slice key = keys[i];

        keys[i] = keys[kept - 1 - i];
        keys[kept - 1 - i] = key;
    }
}

static inline enum colander_code
naive_open(void *context, const struct candidate_request *request,
           struct candidates **candidates, struct colander_error *err)
{
    static struct row_list list;
    struct naive *naive = context;
    struct candidates *made;
    enum colander_code code = naive_count(naive, err);

    *candidates = NULL;
    assert_true(naive->is_open);
    assert_non_null(request->snapshot);
    assert_int_not_equal(request->query->kind, FILTER_QUERY_OPEN);
    if (naive->scans)
        request->explain->reason = "the test says so";
    if (naive->scans || code != COLANDER_OK)
        return code;
    made = calloc(1, sizeof(*made));
    made->naive = naive;
    made->request = request;
    made->keys = calloc(naive->count + 1, sizeof(*made->keys));
    for (size_t i = 0; i < naive->count; i++) {
        const struct noted *noted = &naive->rows[i];

        if (noted->family != engine_family_id(request->family))
            continue;
        row_list_init(&list, colander_buffer_slice(&noted->row));
        if (filter_query_holds(request->query, &list) ||
            (!naive->is_exact && random_below(&naive->seed, 5) == 0))
            made->keys[made->count++] = colander_buffer_slice(&noted->key);
    }
    if (!naive->is_exact)
        made->keys[made->count++] = colander_slice_text("\x30ghost");
    naive_sort(made);
    request->explain->rows_expected = made->count;
    naive->open_finds++;
    *candidates = made;
    return COLANDER_OK;
}

/* Frees what was returned before, so that a use of it is detected. */
static inline enum colander_code
naive_next(struct candidates *candidates, struct candidate *found, size_t max,
           size_t *count, struct colander_error *err)
{
    struct naive *naive = candidates->naive;
    size_t left = candidates->count - candidates->at;
    size_t size = 0;

    assert_true(max > 0);
    *count = left < max ? left : max;
    free(candidates->given);
    for (size_t i = 0; i < *count; i++)
        size += candidates->keys[candidates->at + i].size;
    candidates->given = malloc(size + 1);
    size = 0;
    for (size_t i = 0; i < *count; i++) {
        struct colander_slice key = candidates->keys[candidates->at++];

        memcpy(candidates->given + size, key.data, key.size);
        found[i].key = colander_slice_of(candidates->given + size, key.size);
        found[i].index = (uint32_t)i;
        size += key.size;
    }
    return naive_count(naive, err);
}

/* Leaves all rows to the engine. */
static inline enum colander_code
naive_read(struct candidates *candidates, const struct candidate *found,
           size_t count, struct candidate_rows *rows,
           struct colander_error *err)
{
    memset(rows->rows, 0, sizeof(rows->rows));
    rows->count = count;
    return COLANDER_OK;
}

static inline void
naive_release(struct candidates *candidates, struct candidate_rows *rows)
{
    rows->count = 0;
}

static inline void
naive_close(struct candidates *candidates)
{
    candidates->naive->open_finds--;
    free(candidates->given);
    free(candidates->keys);
    free(candidates);
}

static inline struct store_hooks
naive_hooks(struct naive *naive)
{
    struct store_hooks hooks = {
        .context = naive,
        .opened = naive_opened,
        .closing = naive_closing,
        .closed = naive_closed,
        .recent_add = naive_note,
        .write_end = naive_write_end,
        .candidates_open = naive_open,
        .candidates_next = naive_next,
        .candidates_read = naive_read,
        .candidates_release = naive_release,
        .candidates_close = naive_close,
    };

    return hooks;
}

/* --------------------------------------------------------------- stores --- */

/* A store with these hooks. */
struct world {
    char directory[TEMPORARY_SIZE];
    struct naive naive;
    struct colander_store *store;
    struct colander_family *families[2];
    struct colander_row_builder *builder;
    uint64_t seed;
};

#define HOOKS_TEST(name)                                                       \
    TEST_WITH(struct world *world, name, world_setup, world_teardown)
#define CLOSED_HOOKS_TEST(name)                                                \
    TEST_WITH(struct world *world, name, world_setup_closed, world_teardown)

static inline enum colander_code
world_open(struct world *world, const struct colander_options *options,
           struct colander_error *err)
{
    struct store_hooks hooks = naive_hooks(&world->naive);

    return store_open_hooked(world->directory, options, &hooks, &world->store,
                             err);
}

static inline int
world_setup_closed(void **state)
{
    struct world *world = calloc(1, sizeof(*world));

    temporary_make(world->directory);
    world->builder = colander_row_builder_create();
    *state = world;
    return 0;
}

static inline int
world_setup(void **state)
{
    struct world *world;

    (void)world_setup_closed(state);
    world = *state;
    OK(world_open(world, NULL, NULL));
    assert_logged(&world->naive, "opened ");
    assert_ptr_equal(store_hooks_context(world->store), &world->naive);
    OK(colander_family_open(world->store, "f", &world->families[0], NULL));
    return 0;
}

static inline int
world_teardown(void **state)
{
    struct world *world = *state;

    colander_family_close(world->families[0]);
    colander_family_close(world->families[1]);
    OK(colander_store_close(world->store, why()));
    colander_row_builder_destroy(world->builder);
    colander_buffer_release(&world->naive.log);
    temporary_remove(world->directory);
    free(world);
    return 0;
}

/* Returns the key of a row by its number. The caller releases it. */
static inline struct colander_buffer
numbered_key(uint64_t number)
{
    char text[32];

    (void)snprintf(text, sizeof(text), "k%05" PRIu64, number);
    return text_key(text);
}

#endif
