/*
 * Families dropped while RocksDB is finishing jobs on them: what the jobs still
 * need of a family stays valid until they end.
 *
 * SPDX-License-Identifier: MIT
 */
#include "core/sst.h"

#include "support/engine_fixture.h"
#include "support/rocksdb_inside.h"
#include "support/scoped.h"

#include <pthread.h>
#include <stdatomic.h>
#include <time.h>

#define ROW_SIZE (64 << 10)

/* Where a job of a family is held. */
enum place { NOWHERE, CREATED, FLUSHED };

struct gate {
    uint32_t family;
    enum place place; /* NOWHERE: none is held any more */
    bool is_reached;
};

struct gates {
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    struct gate gates[2];
};

/* Holds the first job that arrives, until the gate is opened. */
static void
pass(struct gates *gates, uint32_t family, enum place place)
{
    pthread_mutex_lock(&gates->mutex);
    for (size_t i = 0; i < 2; i++) {
        struct gate *gate = &gates->gates[i];

        if (gate->family != family || gate->place != place || gate->is_reached)
            continue;
        gate->is_reached = true;
        pthread_cond_broadcast(&gates->changed);
        while (gate->place == place)
            pthread_cond_wait(&gates->changed, &gates->mutex);
    }
    pthread_mutex_unlock(&gates->mutex);
}

static void
set(struct gates *gates, size_t index, uint32_t family, enum place place)
{
    pthread_mutex_lock(&gates->mutex);
    gates->gates[index].family = family;
    gates->gates[index].place = place;
    gates->gates[index].is_reached = false;
    pthread_cond_broadcast(&gates->changed);
    pthread_mutex_unlock(&gates->mutex);
}

static void
await(struct gates *gates, size_t index)
{
    pthread_mutex_lock(&gates->mutex);
    while (!gates->gates[index].is_reached)
        pthread_cond_wait(&gates->changed, &gates->mutex);
    pthread_mutex_unlock(&gates->mutex);
}

/* ------------------------------------------------------------- observer --- */

static void *
begin(void *context, uint32_t family, bool is_passing)
{
    (void)context;
    (void)family;
    (void)is_passing;
    return NULL;
}

static void
created(void *context, const struct sst_created *file)
{
    pass(context, file->family, CREATED);
}

static void
replaced(void *context, const uint64_t *numbers, size_t count)
{
    (void)context;
    (void)numbers;
    (void)count;
}

static void
deleted(void *context, uint64_t number)
{
    (void)context;
    (void)number;
}

static void
flushed(void *context, uint32_t family, uint64_t sequence)
{
    (void)sequence;
    pass(context, family, FLUSHED);
}

/* -------------------------------------------------------------- threads --- */

struct writer {
    struct engine *engine;
    struct engine_family *family;
    atomic_uint count;
    atomic_bool stops;
    enum colander_code code;
};

static enum colander_code
put_row(struct engine *engine, struct engine_family *family, uint32_t number)
{
    static const uint8_t row[ROW_SIZE];
    SCOPED_ENGINE_BATCH batch = NULL;
    enum colander_code code = engine_batch_create(engine, false, &batch, NULL);

    if (code == COLANDER_OK)
        code = engine_batch_put(
            batch, family,
            colander_slice_of((const uint8_t *)&number, sizeof(number)),
            colander_slice_of(row, sizeof(row)), NULL);
    if (code == COLANDER_OK)
        code = engine_batch_write(batch, COLANDER_AS_STORE, NULL);
    return code;
}

static void *
write_on(void *context)
{
    struct writer *writer = context;

    while (!writer->stops && writer->code == COLANDER_OK)
        writer->code = put_row(writer->engine, writer->family, ++writer->count);
    return NULL;
}

static void *
flush(void *context)
{
    struct writer *writer = context;

    writer->code = engine_family_flush(writer->family, NULL);
    return NULL;
}

/* Writes until the writes wait for a flush. */
static void
await_stall(const struct writer *writer)
{
    const struct timespec pause = {0, 300 * 1000 * 1000};
    unsigned before;

    do {
        before = writer->count;
        (void)nanosleep(&pause, NULL);
    } while (writer->count < 2 || before != writer->count);
}

/* ---------------------------------------------------------------- tests --- */

TEST(a_handle_is_kept_for_the_jobs_that_ran)
{
    assert_int_equal(rocksdb_jobs_awaited(), 1);
}

/*
 * The flush of a family blocks writes. It is installed, and the family is
 * dropped before the flush has ended. Meanwhile the flush of another family
 * ends, which lets writes and the drop continue. If RocksDB then read a pointer
 * to the family, glibc's free would have overwritten it, and the process would
 * crash.
 */
ENGINE_TEST(a_family_may_be_dropped_while_its_flush_ends)
{
    struct gates gates = {
        PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, {{0}}};
    const struct sst_observer observer = {
        .context = &gates,
        .writer_begin = begin,
        .created = created,
        .replaced = replaced,
        .deleted = deleted,
        .flushed = flushed,
    };
    struct writer writers[2] = {{0}};
    struct colander_options options = usual_options();
    pthread_t threads[2];

    options.write_buffer_size = 1 << 20;
    options.thread_count = 16; /* several flushes at once */
    OK(engine_open(fixture->path, &options, &observer, &fixture->engine, NULL));
    for (size_t i = 0; i < 2; i++) {
        writers[i].engine = fixture->engine;
        writers[i].family = family_of(fixture, i == 0 ? "first" : "second");
        set(&gates, i, engine_family_id(writers[i].family), CREATED);
    }
    OK(put_row(fixture->engine, writers[1].family, 0));
    ZERO(pthread_create(&threads[1], NULL, flush, &writers[1]));
    await(&gates, 1);
    ZERO(pthread_create(&threads[0], NULL, write_on, &writers[0]));
    await(&gates, 0);
    await_stall(&writers[0]);

    set(&gates, 0, gates.gates[0].family, FLUSHED);
    await(&gates, 0); /* it is installed */
    writers[0].stops = true;
    set(&gates, 1, 0, NOWHERE);
    for (size_t i = 0; i < 2; i++) {
        ZERO(pthread_join(threads[i], NULL));
        OK(writers[i].code);
    }
    OK(engine_family_drop(writers[0].family, NULL));
    set(&gates, 0, 0, NOWHERE);
    close_engine(fixture);
}
