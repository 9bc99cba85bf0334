/*
 * Families, batches, cursors and snapshots of an engine.
 *
 * SPDX-License-Identifier: MIT
 */
#include "core/engine.h"
#include "core/sst.h"
#include "support/engine_fixture.h"
#include "support/rocksdb_inside.h"
#include "support/scoped.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <unistd.h>

/* ------------------------------------------------------------ families --- */

ENGINE_TEST(families_are_listed_by_name_and_keep_their_ids)
{
    struct colander_names names;
    struct engine_family *b = open_with_family(fixture, "default");
    struct engine_family *a = family_of(fixture, "a/b \xc3\xa9");
    uint32_t id = engine_family_id(a);

    assert_int_not_equal(id, engine_family_id(b));
    OK(engine_families(fixture->engine, &names, NULL));
    assert_int_equal(names.count, 2);
    assert_string_equal(names.names[0], "a/b \xc3\xa9");
    assert_string_equal(names.names[1], "default");
    colander_names_release(&names);
    close_engine(fixture);
    OK(open_with(fixture, NULL, NULL));
    OK(engine_family_open(fixture->engine, "a/b \xc3\xa9", false, &a, NULL));
    assert_int_equal(engine_family_id(a), id);
    engine_family_close(a);
}

ENGINE_TEST(bad_family_names_are_refused)
{
    struct engine_family *family;
    char longest[257];

    OK(open_with(fixture, NULL, NULL));
    memset(longest, 'x', sizeof(longest));
    longest[256] = '\0';
    FAILS(engine_family_open(fixture->engine, "", true, &family, NULL),
          COLANDER_INVALID);
    FAILS(engine_family_open(fixture->engine, "a\nb", true, &family, NULL),
          COLANDER_INVALID);
    FAILS(engine_family_open(fixture->engine, longest, true, &family, NULL),
          COLANDER_INVALID);
    longest[255] = '\0';
    (void)family_of(fixture, longest);
}

ENGINE_TEST(dropped_family_refuses_writes_and_the_store_works)
{
    struct engine_family *again;
    struct engine_batch *batch;
    struct engine_family *doomed = open_with_family(fixture, "doomed");
    struct engine_family *other = family_of(fixture, "other");
    uint32_t id = engine_family_id(doomed);

    OK(put(fixture->engine, doomed, "k", "old", NULL));
    OK(engine_batch_create(fixture->engine, false, &batch, NULL));
    OK(engine_batch_put(batch, other, colander_slice_text("k"),
                        colander_slice_text("half"), NULL));
    OK(engine_batch_put(batch, doomed, colander_slice_text("k"),
                        colander_slice_text("half"), NULL));
    OK(engine_family_drop(doomed, NULL));
    assert_true(engine_family_is_dropped(doomed));
    FAILS(engine_batch_write(batch, COLANDER_SYNC, why()), COLANDER_DROPPED);
    assert_string_equal(error_text(), "family 'doomed' was dropped");
    assert_value(other, "k", NULL);
    engine_batch_destroy(batch);
    FAILS(engine_family_drop(doomed, why()), COLANDER_DROPPED);
    FAILS(put(fixture->engine, doomed, "k", "v", why()), COLANDER_DROPPED);
    OK(put(fixture->engine, other, "k", "v", NULL));
    again = family_of(fixture, "doomed");
    assert_value(again, "k", NULL);
    assert_int_not_equal(engine_family_id(again), id);
    OK(put(fixture->engine, again, "k", "new", NULL));
    close_engine(fixture);
    again = open_with_family(fixture, "doomed");
    assert_value(again, "k", "new");
}

ENGINE_TEST(cursor_outlives_the_drop_of_its_family)
{
    const struct engine_cursor_options all = {.is_reverse = false};
    SCOPED_ENGINE_CURSOR cursor = NULL;
    struct colander_slice key;
    struct colander_slice value;
    bool is_row;
    struct engine_family *family = open_with_family(fixture, "f");

    OK(put(fixture->engine, family, "k", "v", NULL));
    OK(engine_cursor_open(family, &all, &cursor, NULL));
    OK(engine_family_drop(family, NULL));
    close_families(fixture);
    OK(engine_cursor_next(cursor, &is_row, &key, &value, NULL));
    assert_true(is_row);
    assert_memory_equal(key.data, "k", 1);
    OK(engine_cursor_next(cursor, &is_row, &key, &value, NULL));
    assert_true(!is_row && key.data == NULL);
}

/* What a thread does to its family until it fails. */
enum work { WRITE, WRITE_AND_FLUSH, WRITE_AND_COMPACT };

struct writer {
    struct fixture *fixture;
    enum work work;
    struct engine_family *family;
    atomic_int written;
    enum colander_code last;
};

static void *
write_until_refused(void *context)
{
    struct writer *writer = context;

    do {
        writer->last =
            put(writer->fixture->engine, writer->family, "k", "v", NULL);
        if (writer->last == COLANDER_OK && writer->work == WRITE_AND_FLUSH)
            writer->last = engine_family_flush(writer->family, NULL);
        if (writer->last == COLANDER_OK && writer->work == WRITE_AND_COMPACT)
            writer->last = engine_family_compact(writer->family, NULL);
        writer->written++;
    } while (writer->last == COLANDER_OK && writer->written < 10000000);
    return NULL;
}

/* A write, flush or compaction that ran into a drop used to block all writes to
 * the store forever. */
static void
drop_beside(struct fixture *fixture, const enum work works[3], int rounds)
{
    struct engine_family *bystander = family_of(fixture, "bystander");

    for (int round = 0; round < rounds; round++) {
        struct writer writers[3];
        pthread_t threads[3];

        for (int i = 0; i < 3; i++) {
            writers[i].fixture = fixture;
            writers[i].work = works[i];
            OK(engine_family_open(fixture->engine, "doomed", true,
                                  &writers[i].family, NULL));
            writers[i].written = 0;
            pthread_create(&threads[i], NULL, write_until_refused, &writers[i]);
        }
        for (int i = 0; i < 3; i++) {
            while (writers[i].written < 1)
                sched_yield();
        }
        OK(engine_family_drop(writers[0].family, NULL));
        for (int i = 0; i < 3; i++) {
            pthread_join(threads[i], NULL);
            assert_int_equal(writers[i].last, COLANDER_DROPPED);
            engine_family_close(writers[i].family);
        }
        OK(put(fixture->engine, bystander, "k", "v", NULL));
    }
}

struct drop {
    struct engine_family *family;
    pthread_t thread;
    bool is_begun;
    enum colander_code code;
};

static void *
run_drop(void *context)
{
    struct drop *drop = context;

    drop->code = engine_family_drop(drop->family, NULL);
    return NULL;
}

/* Begins the drop, and gives it time to end. */
static void
begin_drop(void *context)
{
    struct drop *drop = context;

    if (drop->is_begun)
        return;
    drop->is_begun = true;
    pthread_create(&drop->thread, NULL, run_drop, drop);
    usleep(200000);
}

ENGINE_TEST(a_drop_waits_for_a_write)
{
    struct engine_family *bystander;
    struct drop drop = {.is_begun = false};
    SCOPED_ENGINE_BATCH batch = NULL;

    drop.family = open_with_family(fixture, "doomed");
    bystander = family_of(fixture, "bystander");
    OK(engine_batch_create(fixture->engine, true, &batch, NULL));
    rocksdb_pause_batch(batch, begin_drop, &drop);
    OK(engine_batch_put(batch, drop.family, colander_slice_text("k"),
                        colander_slice_text("v"), NULL));
    OK(engine_batch_write(batch, COLANDER_AS_STORE, why()));
    pthread_join(drop.thread, NULL);
    OK(drop.code);
    OK(put(fixture->engine, bystander, "k", "v", why()));
}

ENGINE_TEST(marks_go_with_their_family)
{
    struct engine_family *family = open_with_family(fixture, "f");
    SCOPED_ENGINE_BATCH batch = NULL;
    uint64_t count;

    count = rocksdb_count_items(fixture->engine);
    OK(engine_batch_create(fixture->engine, false, &batch, NULL));
    OK(engine_batch_mark(batch, family, colander_slice_text("a"),
                         colander_slice_text("1"), NULL));
    OK(engine_batch_mark(batch, family, colander_slice_text("b"),
                         colander_slice_text("2"), NULL));
    OK(engine_batch_write(batch, COLANDER_AS_STORE, NULL));
    assert_int_equal(rocksdb_count_items(fixture->engine), count + 2);
    OK(engine_family_drop(family, NULL));
    assert_int_equal(rocksdb_count_items(fixture->engine), count);
}

ENGINE_TEST(drop_stops_writers_and_nothing_else)
{
    static const enum work works[3] = {WRITE, WRITE, WRITE};

    OK(open_with(fixture, NULL, NULL));
    drop_beside(fixture, works, 20);
}

ENGINE_TEST(drop_during_flushes_and_compactions_stops_nothing)
{
    static const enum work works[2][3] = {
        {WRITE_AND_FLUSH, WRITE_AND_FLUSH, WRITE_AND_FLUSH},
        {WRITE_AND_COMPACT, WRITE_AND_FLUSH, WRITE_AND_COMPACT},
    };

    OK(open_with(fixture, NULL, NULL));
    drop_beside(fixture, works[0], 60);
    drop_beside(fixture, works[1], 60);
}

ENGINE_TEST(every_compaction_and_compression_keeps_its_keys)
{
    char path[sizeof(fixture->path)];

    memcpy(path, fixture->path, sizeof(path));
    for (int way = 0; way < 9; way++) {
        struct engine_family *family;
        struct colander_options options = usual_options();
        char key[16];

        options.compaction = (enum colander_compaction)(1 + way / 3);
        options.compression = (enum colander_compression)(1 + way % 3);
        options.sst_size = 64 << 10;
        (void)snprintf(fixture->path, sizeof(fixture->path), "%.200s%d", path,
                       way);
        OK(open_with(fixture, &options, NULL));
        family = family_of(fixture, "f");
        for (int i = 0; i < 2000; i++) {
            (void)snprintf(key, sizeof(key), "%d", i);
            OK(put(fixture->engine, family, key, key, NULL));
            if (i % 500 == 250)
                OK(engine_family_flush(family, NULL));
        }
        OK(engine_family_compact(family, NULL));
        close_engine(fixture);
        OK(open_with(fixture, NULL, NULL));
        family = family_of(fixture, "f");
        for (int i = 0; i < 2000; i += 7) {
            (void)snprintf(key, sizeof(key), "%d", i);
            assert_value(family, key, key);
        }
        close_engine(fixture);
    }
}

/* --------------------------------------------------- batches and reads --- */

ENGINE_TEST(indexed_batch_reads_its_own_writes)
{
    SCOPED_BUFFER value = COLANDER_BUFFER_EMPTY;
    SCOPED_ENGINE_BATCH batch = NULL;
    bool found;
    struct engine_family *family = open_with_family(fixture, "f");

    OK(put(fixture->engine, family, "a", "1", NULL));
    OK(engine_batch_create(fixture->engine, true, &batch, NULL));
    OK(engine_batch_delete(batch, family, colander_slice_text("a"), NULL));
    OK(engine_batch_put(batch, family, colander_slice_text("b"),
                        colander_slice_text("2"), NULL));
    OK(engine_batch_get(batch, family, colander_slice_text("a"), &value, &found,
                        NULL));
    assert_false(found);
    OK(engine_batch_get(batch, family, colander_slice_text("b"), &value, &found,
                        NULL));
    assert_true(found);
    assert_memory_equal(value.data, "2", 1);
    assert_value(family, "a", "1");
    OK(engine_batch_write(batch, COLANDER_SYNC, NULL));
    assert_value(family, "a", NULL);
    assert_value(family, "b", "2");
}

ENGINE_TEST(cursor_keeps_to_its_bounds_both_ways)
{
    static const char *const keys[] = {"a", "b", "c", "d"};
    struct engine_family *family = open_with_family(fixture, "f");

    for (size_t i = 0; i < 4; i++)
        OK(put(fixture->engine, family, keys[i], "v", NULL));
    for (int reverse = 0; reverse < 2; reverse++) {
        const struct engine_cursor_options options = {
            .from = colander_slice_text("b"),
            .until = colander_slice_text("d"),
            .is_reverse = reverse == 1,
        };
        SCOPED_ENGINE_CURSOR cursor = NULL;
        char seen[8] = "";

        OK(engine_cursor_open(family, &options, &cursor, NULL));
        for (;;) {
            struct colander_slice key;
            struct colander_slice value;
            bool is_row;

            OK(engine_cursor_next(cursor, &is_row, &key, &value, NULL));
            if (!is_row)
                break;
            strncat(seen, (const char *)key.data, 1);
        }
        assert_string_equal(seen, reverse ? "cb" : "bc");
    }
}

ENGINE_TEST(snapshot_does_not_see_later_writes)
{
    SCOPED_SNAPSHOT snapshot = NULL;
    char *text;
    struct engine_family *family = open_with_family(fixture, "f");

    OK(put(fixture->engine, family, "k", "1", NULL));
    OK(engine_snapshot_create(fixture->engine, &snapshot, NULL));
    OK(put(fixture->engine, family, "k", "2", NULL));
    OK(engine_family_compact(family, NULL));
    text = get(family, snapshot, "k");
    assert_string_equal(text, "1");
    free(text);
    assert_value(family, "k", "2");
}
