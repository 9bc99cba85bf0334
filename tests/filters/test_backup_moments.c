/*
 * Backups taken while rows are written, families are created and dropped, and
 * files are flushed, compacted and refiltered. Each backup is the store at a
 * moment between two writes, with filters that deny nothing.
 *
 * SPDX-License-Identifier: MIT
 */
#include "support/cases.h"
#include "support/compared_finds.h"
#include "support/filter_files.h"
#include "support/model_steps.h"
#include "support/scoped.h"

#include <pthread.h>
#include <stdatomic.h>

#define FAMILIES 2 /* each step is one batch for both */

struct writing {
    struct colander_store *store;
    struct colander_family *families[FAMILIES];
    uint64_t seed;
    _Atomic(uint64_t) begun; /* steps */
    _Atomic(uint64_t) done;
    atomic_bool stops;
    atomic_bool has_failed;
};

/* -------------------------------------------------------------- writers --- */

static enum colander_code
write_step(struct writing *writing, struct colander_batch *batch,
           const struct step *step, struct colander_slice key)
{
    enum colander_code code = COLANDER_OK;

    for (size_t i = 0; i < FAMILIES && code == COLANDER_OK; i++) {
        struct colander_family *family = writing->families[i];

        code = step->is_delete
                   ? colander_batch_delete(batch, family, key, NULL)
                   : colander_batch_put(batch, family, key, step->row, NULL);
    }
    if (code == COLANDER_OK)
        code = colander_batch_commit(batch, NULL, NULL);
    return code;
}

static void *
write_steps(void *context)
{
    struct writing *writing = context;
    SCOPED_BUILDER builder = colander_row_builder_create();
    SCOPED_BUFFER key = COLANDER_BUFFER_EMPTY;
    SCOPED_BATCH batch = NULL;
    struct step step;
    enum colander_code code =
        colander_batch_create(writing->store, &batch, NULL);

    while (code == COLANDER_OK && !atomic_load(&writing->stops)) {
        const uint64_t number = atomic_load(&writing->done);

        make_step(writing->seed, number, builder, &step);
        encode_key(step.key, &key);
        atomic_store(&writing->begun, number + 1);
        code = write_step(writing, batch, &step, colander_buffer_slice(&key));
        atomic_store(&writing->done, number + 1);
    }
    if (code != COLANDER_OK)
        atomic_store(&writing->has_failed, true);
    return NULL;
}

/* A row that the log stores in several fragments, none of which is a record. */
static enum colander_code
put_large(struct colander_family *family)
{
    static char text[4 << 20];
    SCOPED_BUILDER builder = colander_row_builder_create();
    SCOPED_BUFFER key = COLANDER_BUFFER_EMPTY;
    struct colander_slice row;
    enum colander_code code;

    memset(text, 'x', sizeof(text) - 1);
    encode_key(0, &key);
    colander_row_builder_add(builder, "text", colander_text(text));
    code = colander_row_builder_finish(builder, &row, NULL);
    if (code == COLANDER_OK)
        code = colander_family_put(family, colander_buffer_slice(&key), row,
                                   NULL, NULL);
    return code;
}

static enum colander_code
come_and_go(struct writing *writing)
{
    SCOPED_FAMILY passing = NULL;
    enum colander_code code =
        colander_family_open(writing->store, "passing", &passing, NULL);

    if (code != COLANDER_OK)
        return code;
    for (unsigned i = 0; i < 10 && code == COLANDER_OK; i++)
        code = put_large(passing);
    if (code == COLANDER_OK)
        code = colander_family_drop(passing, NULL);
    return code;
}

static void *
disturb(void *context)
{
    struct writing *writing = context;
    enum colander_code code = COLANDER_OK;

    for (uint64_t i = 0; code == COLANDER_OK && !atomic_load(&writing->stops);
         i++) {
        struct colander_family *family = writing->families[i % FAMILIES];

        switch (i % 5) {
        case 0:
            code = colander_family_compact(family, NULL);
            break;
        case 1:
            code = colander_family_refilter(family, NULL, NULL);
            break;
        case 2:
            code = come_and_go(writing);
            break;
        default:
            code = colander_family_flush(family, NULL);
        }
    }
    if (code != COLANDER_OK)
        atomic_store(&writing->has_failed, true);
    return NULL;
}

/* -------------------------------------------------------------- reading --- */

/* Returns whether the family has exactly the rows of the model. */
static bool
is_model(struct colander_family *family, const struct model *model)
{
    struct colander_query query = usual_query();
    struct colander_result result;
    SCOPED_BUFFER key = COLANDER_BUFFER_EMPTY;
    SCOPED_CURSOR cursor = NULL;
    bool is_same = true;
    size_t at = 0;

    OK(colander_family_find(family, &query, &cursor, NULL));
    while (is_same && next_row(cursor, &result)) {
        while (at < KEYS && !model->is_there[at])
            at++;
        encode_key(at, &key);
        is_same = at < KEYS &&
                  colander_slice_equal(result.key, colander_buffer_slice(&key));
        is_same = is_same &&
                  colander_slice_equal(result.row,
                                       colander_buffer_slice(&model->rows[at]));
        at++;
    }
    while (is_same && at < KEYS)
        is_same = !model->is_there[at++];
    return is_same;
}

static void
fail_finding(void *context, const char *file, const char *what)
{
    (void)context;
    fail_msg("%s: %s", file, what);
}

/* Asks the store everything it can be asked: nothing may be wrong. */
static void
check_whole(struct colander_store *store, uint64_t *random)
{
    struct colander_check check = {.file_count = 0};
    struct find_counts counts = {.row_count = 0};

    OK(colander_store_check(store, &check, fail_finding, NULL, NULL));
    OK(colander_store_check_filters(store, false, &check, fail_finding, NULL,
                                    NULL));
    for (unsigned i = 0; i < FAMILIES; i++) {
        SCOPED_FAMILY family = NULL;
        char name[2] = {(char)('a' + i), '\0'};

        OK(colander_family_open(store, name, &family, NULL));
        compare_random_finds(store, family, KEYS, 10, random, &counts);
    }
}

/* Checks that the store at `path` is in the state after some step from `from`
 * to `until`. Returns that step. */
static uint64_t
check_moment(const char *path, enum colander_open_mode mode, uint64_t seed,
             uint64_t from, uint64_t until)
{
    SCOPED(model_release) struct model model = {.steps = 0};
    struct colander_family *families[FAMILIES];
    struct colander_recovery recovery;
    struct colander_options options = usual_options();
    struct colander_store *store;
    uint64_t random = seed;

    options.mode = mode;
    OK(colander_store_open(path, &options, &store, why()));
    colander_store_recovery(store, &recovery);
    assert_int_equal(recovery.dropped_size, 0);
    OK(colander_family_open(store, "a", &families[0], NULL));
    OK(colander_family_open(store, "b", &families[1], NULL));
    for (model_go_to(&model, seed, from); !is_model(families[0], &model);
         model_go_to(&model, seed, model.steps + 1))
        assert_true(model.steps < until);
    assert_true(is_model(families[1], &model));
    check_whole(store, &random);
    colander_family_close(families[0]);
    colander_family_close(families[1]);
    OK(colander_store_close(store, NULL));
    return model.steps;
}

/* -------------------------------------------------------------- backups --- */

static void
make_backup(struct store_fixture *fixture, struct writing *writing,
            const char *directory)
{
    const uint64_t from = atomic_load(&writing->done);
    struct colander_backup made;
    char path[2 * FILE_NAME_SIZE];
    uint64_t until;

    OK(colander_store_backup(fixture->store, directory, 3, &made, why()));
    until = atomic_load(&writing->begun);
    (void)snprintf(path, sizeof(path), "%s/%06" PRIu64, directory, made.number);
    (void)check_moment(path, COLANDER_OPEN_READ_ONLY, writing->seed, from,
                       until);
}

/* The same for a store restored from it, which must remain usable. */
static void
check_restored(const char *directory, const char *path, uint64_t seed,
               uint64_t most)
{
    uint64_t steps;

    OK(colander_backup_restore(directory, 0, path, NULL, why()));
    steps = check_moment(path, COLANDER_OPEN_READ_ONLY, seed, 0, most);
    (void)check_moment(path, COLANDER_OPEN_EXISTING, seed, steps, steps);
    (void)check_moment(path, COLANDER_OPEN_EXISTING, seed, steps, steps);
}

static int
small_setup(void **state)
{
    int result = fixture_setup(state);
    struct store_fixture *fixture = *state;

    fixture->options.write_buffer_size = 1 << 20;
    fixture_remake(fixture);
    return result;
}

TEST_WITH(struct store_fixture *fixture,
          a_backup_is_the_store_between_two_writes, small_setup,
          fixture_teardown)
{
    struct writing writing = {.seed = random_seed(__func__)};
    char directory[FILE_NAME_SIZE];
    char restored[FILE_NAME_SIZE];
    char place[TEMPORARY_SIZE];
    pthread_t threads[2];

    temporary_make(place);
    (void)snprintf(directory, sizeof(directory), "%s/backups", place);
    (void)snprintf(restored, sizeof(restored), "%s/restored", place);
    writing.store = fixture->store;
    writing.families[0] = kept_family(fixture, "a");
    writing.families[1] = kept_family(fixture, "b");
    ZERO(pthread_create(&threads[0], NULL, write_steps, &writing));
    ZERO(pthread_create(&threads[1], NULL, disturb, &writing));
    for (uint64_t left = random_runs(6); left > 0; left--)
        make_backup(fixture, &writing, directory);
    atomic_store(&writing.stops, true);
    for (size_t i = 0; i < 2; i++)
        ZERO(pthread_join(threads[i], NULL));
    assert_false(atomic_load(&writing.has_failed));
    printf("%" PRIu64 " steps\n", atomic_load(&writing.done));
    check_restored(directory, restored, writing.seed,
                   atomic_load(&writing.done));
    temporary_remove(place);
}
