/*
 * Recent rows, compared with a model that keeps everything, and read by several
 * threads.
 *
 * SPDX-License-Identifier: MIT
 */
#include "recent_rows.h"
#include "support/cases.h"
#include "support/scoped.h"

#include <pthread.h>
#include <stdatomic.h>

/* --------------------------------------------------------------- model --- */

#define MODEL_ROWS 6000
#define MODEL_WRITES 6
#define MODEL_VIEWS 4
#define MODEL_VALUES 12 /* in a row, at most */
#define MODEL_COMMON 40 /* values that many rows have */

struct model_row {
    struct recent_value values[MODEL_VALUES];
    uint32_t count;
    size_t key_size;
    bool is_over;
    bool is_failed;
    uint64_t sequence; /* when it has ended */
    unsigned write;    /* until then */
};

struct model_view {
    struct recent_view *view;
    bool must_have[MODEL_ROWS];
};

struct model {
    struct recent *recent;
    uint64_t random;
    struct model_row rows[MODEL_ROWS];
    uint32_t row_count;
    struct recent_write writes[MODEL_WRITES];
    struct model_view views[MODEL_VIEWS];
    uint64_t sequence;
    uint64_t flushed;
};

static size_t
random_key_size(uint64_t *random)
{
    switch (random_below(random, 400)) {
    case 0:
        return 2000 + random_below(random, 60000);
    case 1:
        return 4;
    default:
        return 8 + random_below(random, 20);
    }
}

static void
model_note(struct model *model, unsigned write)
{
    static uint8_t key[UINT16_MAX];
    struct model_row *row = &model->rows[model->row_count];

    row->count = (uint32_t)random_below(&model->random, MODEL_VALUES);
    row->key_size = random_key_size(&model->random);
    row->write = write;
    row->is_over = false;
    for (uint32_t i = 0; i < row->count; i++) {
        uint64_t value = random_below(&model->random, 3) == 0
                             ? random_below(&model->random, MODEL_COMMON)
                             : 1000 + random_below(&model->random, 100000);

        row->values[i].hash = hash_of(value);
        row->values[i].is_key = i == 0;
        row->values[i].tag =
            (uint32_t)random_below(&model->random, LOCATOR_TAGS);
    }
    OK(recent_add(model->recent, &model->writes[write],
                  key_of(model->row_count, key, row->key_size), row->values,
                  row->count, NULL));
    model->row_count++;
}

static void
model_end(struct model *model, unsigned write)
{
    bool is_written = random_below(&model->random, 4) != 0;

    model->sequence += 1 + random_below(&model->random, 3);
    recent_write_end(&model->writes[write], is_written, model->sequence);
    for (uint32_t i = 0; i < model->row_count; i++) {
        struct model_row *row = &model->rows[i];

        if (row->is_over || row->write != write)
            continue;
        row->is_over = true;
        row->is_failed = !is_written;
        row->sequence = model->sequence;
    }
}

/* Reports a flush up to now, up to some time, or up to an earlier one again. */
static void
model_flush(struct model *model)
{
    uint64_t sequence = model->sequence;

    if (random_below(&model->random, 3) != 0)
        sequence -= random_below(&model->random, sequence / 2 + 1);
    recent_flushed(model->recent, sequence);
    if (sequence > model->flushed)
        model->flushed = sequence;
}

static void
model_take_view(struct model *model, struct model_view *view)
{
    recent_view_release(view->view);
    view->view = recent_view_create(model->recent);
    assert_non_null(view->view);
    memset(view->must_have, 0, sizeof(view->must_have));
    for (uint32_t i = 0; i < model->row_count; i++) {
        const struct model_row *row = &model->rows[i];

        view->must_have[i] = !row->is_over || (!row->is_failed &&
                                               row->sequence > model->flushed);
    }
}

/* Returns how many values of the row equal it. */
static unsigned
row_count_of(const struct model_row *row, uint64_t hash, unsigned tag)
{
    unsigned count = 0;

    for (uint32_t i = 0; i < row->count; i++)
        count += row->values[i].hash == hash &&
                 (tag == LOCATOR_TAG_ANY || row->values[i].tag == tag);
    return count;
}

/* What a find in the model's view has found. */
struct finding {
    const struct model *model;
    uint64_t hash;
    unsigned tag;
    uint8_t found[MODEL_ROWS]; /* how many times */
};

static enum colander_code
take_found(void *context, struct colander_slice key, struct colander_error *err)
{
    static uint8_t expected[UINT16_MAX];
    struct finding *finding = context;
    uint32_t number = key_number(key);

    (void)err;
    assert_true(number < finding->model->row_count);
    ASSERT_SAME(
        key, key_of(number, expected, finding->model->rows[number].key_size));
    finding->found[number]++;
    assert_true(finding->found[number] <=
                row_count_of(&finding->model->rows[number], finding->hash,
                             finding->tag));
    return COLANDER_OK;
}

/* All rows that must be there are found, and none more often than it has the
 * value. (If it has it twice, the notes may be in two chunks.) */
static void
model_check_find(struct model *model, const struct model_view *view,
                 uint64_t hash, unsigned tag)
{
    static struct finding finding;

    memset(&finding, 0, sizeof(finding));
    finding.model = model;
    finding.hash = hash;
    finding.tag = tag;
    OK(recent_find(view->view, hash, tag, take_found, &finding, NULL));
    for (uint32_t i = 0; i < model->row_count; i++)
        if (view->must_have[i] && row_count_of(&model->rows[i], hash, tag) > 0)
            assert_true(finding.found[i] > 0);
}

static void
model_check(struct model *model, const struct model_view *view)
{
    for (unsigned i = 0; i < 4 && view->view != NULL; i++) {
        uint64_t value = random_below(&model->random, 2) == 0
                             ? random_below(&model->random, MODEL_COMMON)
                             : 1000 + random_below(&model->random, 100000);
        const struct model_row *row =
            &model->rows[random_below(&model->random, model->row_count)];

        model_check_find(model, view, hash_of(value), LOCATOR_TAG_ANY);
        if (row->count == 0)
            continue;
        if (view->must_have[row - model->rows])
            assert_true(recent_has_key(view->view, row->values[0].hash));
        model_check_find(model, view, row->values[0].hash, LOCATOR_TAG_ANY);
        model_check_find(model, view, row->values[0].hash, row->values[0].tag);
    }
}

static void
model_step(struct model *model)
{
    unsigned write = (unsigned)random_below(&model->random, MODEL_WRITES);
    struct model_view *view =
        &model->views[random_below(&model->random, MODEL_VIEWS)];
    uint64_t choice = random_below(&model->random, 1000);

    if (choice < 850 || model->row_count == 0)
        model_note(model, write);
    else if (choice < 980)
        model_end(model, write);
    else if (choice < 982)
        model_flush(model);
    else if (choice < 990)
        model_take_view(model, view);
    else
        model_check(model, view);
}

/* Ends everything: nothing may remain. */
static void
model_finish(struct model *model)
{
    for (unsigned i = 0; i < MODEL_WRITES; i++)
        model_end(model, i);
    recent_flushed(model->recent, model->sequence);
    assert_int_equal(recent_sizes(model->recent).row_count, 0);
    for (unsigned i = 0; i < MODEL_VIEWS; i++) {
        model_check(model, &model->views[i]);
        recent_view_release(model->views[i].view);
    }
    assert_empty(model->recent);
}

TEST(a_view_has_all_rows_that_may_be_in_no_file)
{
    uint64_t random = random_seed("recent");
    SCOPED_MEMORY struct model *model = malloc(sizeof(*model));

    assert_non_null(model);
    for (uint64_t run = random_runs(6); run > 0; run--) {
        memset(model, 0, sizeof(*model));
        model->random = random_next(&random);
        model->recent = recent_create();
        assert_non_null(model->recent);
        while (model->row_count < MODEL_ROWS)
            model_step(model);
        model_finish(model);
        recent_destroy(model->recent);
    }
}

/* ------------------------------------------------------------- threads --- */

#define WRITERS 3
#define WRITER_ROWS 20000
#define COMMON_VALUE 5

struct traffic {
    struct recent *recent;
    atomic_uint_fast64_t sequence;
    atomic_uint_fast64_t flushed; /* at least what was reported */
    atomic_uint_fast64_t missing;
    atomic_uint_fast64_t wrong;
    atomic_bool is_over;
};

struct writer {
    struct traffic *traffic;
    uint32_t first;
};

/* A row that was just written, and not flushed before the view, is in it. */
static void
expect_found(struct traffic *traffic, uint32_t number, uint64_t sequence)
{
    struct recent_view *view = recent_view_create(traffic->recent);
    bool may_be_gone = atomic_load(&traffic->flushed) >= sequence;

    if (view == NULL ||
        (!may_be_gone && (rows_found(view, hash_of(1000 + number), 1) == 0 ||
                          !recent_has_key(view, hash_of(10000000 + number)))))
        atomic_fetch_add(&traffic->missing, 1);
    recent_view_release(view);
}

static void *
write_rows(void *context)
{
    const struct writer *writer = context;
    struct traffic *traffic = writer->traffic;

    for (uint32_t i = writer->first; i < writer->first + WRITER_ROWS; i++) {
        struct recent_write write = {0};
        struct recent_value values[] = {
            {.hash = hash_of(COMMON_VALUE), .tag = i % 16},
            {.hash = hash_of(1000 + i), .tag = 1},
            {.hash = hash_of(10000000 + i), .tag = 2, .is_key = true},
        };
        bool is_written = i % 7 != 0;
        uint8_t bytes[12];
        uint64_t sequence;

        if (recent_add(traffic->recent, &write, key_of(i, bytes, sizeof(bytes)),
                       values, 3, NULL) != COLANDER_OK) {
            atomic_fetch_add(&traffic->missing, 1);
            continue;
        }
        sequence = atomic_fetch_add(&traffic->sequence, 1) + 1;
        recent_write_end(&write, is_written, sequence);
        if (is_written && i % 16 == 0)
            expect_found(traffic, i, sequence);
    }
    return NULL;
}

static enum colander_code
judge_row(void *context, struct colander_slice key, struct colander_error *err)
{
    struct traffic *traffic = context;
    uint8_t expected[12];

    (void)err;
    if (!colander_slice_equal(
            key, key_of(key_number(key), expected, sizeof(expected))))
        atomic_fetch_add(&traffic->wrong, 1);
    return COLANDER_OK;
}

static void *
find_rows(void *context)
{
    struct traffic *traffic = context;
    uint64_t random = 1;

    while (!atomic_load(&traffic->is_over)) {
        struct recent_view *view = recent_view_create(traffic->recent);

        for (unsigned i = 0; i < 4; i++) {
            uint64_t number = random_below(&random, WRITERS * WRITER_ROWS);

            if (recent_find(view, hash_of(COMMON_VALUE), i, judge_row, traffic,
                            NULL) != COLANDER_OK ||
                recent_find(view, hash_of(1000 + number), LOCATOR_TAG_ANY,
                            judge_row, traffic, NULL) != COLANDER_OK)
                atomic_fetch_add(&traffic->wrong, 1);
        }
        recent_view_release(view);
    }
    return NULL;
}

static void *
flush_rows(void *context)
{
    struct traffic *traffic = context;

    while (!atomic_load(&traffic->is_over)) {
        uint64_t sequence = atomic_load(&traffic->sequence);

        if (sequence < atomic_load(&traffic->flushed) + 3000) {
            sched_yield();
            continue;
        }
        atomic_store(&traffic->flushed, sequence);
        recent_flushed(traffic->recent, sequence);
    }
    return NULL;
}

TEST(an_acknowledged_row_is_found_despite_other_threads)
{
    struct traffic traffic = {.recent = recent_create()};
    struct writer writers[WRITERS];
    pthread_t threads[WRITERS];
    pthread_t finder, flusher;

    ZERO(pthread_create(&finder, NULL, find_rows, &traffic));
    ZERO(pthread_create(&flusher, NULL, flush_rows, &traffic));
    for (uint32_t i = 0; i < WRITERS; i++) {
        writers[i] = (struct writer){&traffic, i * WRITER_ROWS};
        ZERO(pthread_create(&threads[i], NULL, write_rows, &writers[i]));
    }
    for (unsigned i = 0; i < WRITERS; i++)
        pthread_join(threads[i], NULL);
    atomic_store(&traffic.is_over, true);
    pthread_join(finder, NULL);
    pthread_join(flusher, NULL);
    assert_int_equal(atomic_load(&traffic.missing), 0);
    assert_int_equal(atomic_load(&traffic.wrong), 0);
    recent_flushed(traffic.recent, atomic_load(&traffic.sequence));
    assert_empty(traffic.recent);
    recent_destroy(traffic.recent);
}
