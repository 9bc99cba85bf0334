/*
 * Families, batches, cursors and snapshots of an engine.
 *
 * SPDX-License-Identifier: MIT
 */
#include "support/engine_fixture.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

/* ------------------------------------------------------------ families --- */

static void
families_are_listed_by_name_and_keep_their_ids(void **state)
{
    struct fixture *fixture = *state;
    struct colander_engine_family *a;
    struct colander_engine_family *b;
    struct colander_names names;
    uint32_t id;

    assert_int_equal(open_with(fixture, NULL, NULL), COLANDER_OK);
    b = family_of(fixture, "default");
    a = family_of(fixture, "a/b \xc3\xa9");
    id = colander_engine_family_id(a);
    assert_int_not_equal(id, colander_engine_family_id(b));
    assert_int_equal(colander_engine_families(fixture->engine, &names, NULL),
                     COLANDER_OK);
    assert_int_equal(names.count, 2);
    assert_string_equal(names.names[0], "a/b \xc3\xa9");
    assert_string_equal(names.names[1], "default");
    colander_names_release(&names);
    colander_engine_family_close(a);
    colander_engine_family_close(b);
    close_engine(fixture);
    assert_int_equal(open_with(fixture, NULL, NULL), COLANDER_OK);
    assert_int_equal(colander_engine_family_open(
                         fixture->engine, "a/b \xc3\xa9", false, &a, NULL),
                     COLANDER_OK);
    assert_int_equal(colander_engine_family_id(a), id);
    colander_engine_family_close(a);
}

static void
bad_family_names_are_refused(void **state)
{
    struct fixture *fixture = *state;
    struct colander_engine_family *family;
    char longest[257];

    assert_int_equal(open_with(fixture, NULL, NULL), COLANDER_OK);
    memset(longest, 'x', sizeof(longest));
    longest[256] = '\0';
    assert_int_equal(
        colander_engine_family_open(fixture->engine, "", true, &family, NULL),
        COLANDER_INVALID);
    assert_int_equal(colander_engine_family_open(fixture->engine, "a\nb", true,
                                                 &family, NULL),
                     COLANDER_INVALID);
    assert_int_equal(colander_engine_family_open(fixture->engine, longest, true,
                                                 &family, NULL),
                     COLANDER_INVALID);
    longest[255] = '\0';
    family = family_of(fixture, longest);
    colander_engine_family_close(family);
}

static void
dropped_family_refuses_writes_and_the_store_goes_on(void **state)
{
    struct fixture *fixture = *state;
    struct colander_engine_family *doomed;
    struct colander_engine_family *other;
    struct colander_engine_family *again;
    struct colander_engine_batch *batch;
    struct colander_error err;
    uint32_t id;

    assert_int_equal(open_with(fixture, NULL, NULL), COLANDER_OK);
    doomed = family_of(fixture, "doomed");
    other = family_of(fixture, "other");
    id = colander_engine_family_id(doomed);
    assert_int_equal(put(fixture->engine, doomed, "k", "old", NULL),
                     COLANDER_OK);
    assert_int_equal(
        colander_engine_batch_create(fixture->engine, false, &batch, NULL),
        COLANDER_OK);
    assert_int_equal(
        colander_engine_batch_put(batch, other, colander_slice_text("k"),
                                  colander_slice_text("half"), NULL),
        COLANDER_OK);
    assert_int_equal(
        colander_engine_batch_put(batch, doomed, colander_slice_text("k"),
                                  colander_slice_text("half"), NULL),
        COLANDER_OK);
    assert_int_equal(colander_engine_family_drop(doomed, NULL), COLANDER_OK);
    assert_true(colander_engine_family_is_dropped(doomed));
    assert_int_equal(colander_engine_batch_write(batch, COLANDER_SYNC, &err),
                     COLANDER_DROPPED);
    assert_string_equal(err.message, "family 'doomed' was dropped");
    assert_value(other, "k", NULL);
    colander_engine_batch_destroy(batch);
    assert_int_equal(colander_engine_family_drop(doomed, &err),
                     COLANDER_DROPPED);
    assert_int_equal(put(fixture->engine, doomed, "k", "v", &err),
                     COLANDER_DROPPED);
    assert_int_equal(put(fixture->engine, other, "k", "v", NULL), COLANDER_OK);
    again = family_of(fixture, "doomed");
    assert_value(again, "k", NULL);
    assert_int_not_equal(colander_engine_family_id(again), id);
    assert_int_equal(put(fixture->engine, again, "k", "new", NULL),
                     COLANDER_OK);
    colander_engine_family_close(doomed);
    colander_engine_family_close(again);
    colander_engine_family_close(other);
    close_engine(fixture);
    assert_int_equal(open_with(fixture, NULL, NULL), COLANDER_OK);
    again = family_of(fixture, "doomed");
    assert_value(again, "k", "new");
    colander_engine_family_close(again);
}

static void
cursor_outlives_the_drop_of_its_family(void **state)
{
    struct fixture *fixture = *state;
    const struct colander_engine_cursor_options all = {.is_reverse = false};
    struct colander_engine_family *family;
    struct colander_engine_cursor *cursor;
    struct colander_slice key;
    struct colander_slice value;

    assert_int_equal(open_with(fixture, NULL, NULL), COLANDER_OK);
    family = family_of(fixture, "f");
    assert_int_equal(put(fixture->engine, family, "k", "v", NULL), COLANDER_OK);
    assert_int_equal(colander_engine_cursor_open(family, &all, &cursor, NULL),
                     COLANDER_OK);
    assert_int_equal(colander_engine_family_drop(family, NULL), COLANDER_OK);
    colander_engine_family_close(family);
    assert_int_equal(colander_engine_cursor_next(cursor, &key, &value, NULL),
                     COLANDER_OK);
    assert_memory_equal(key.data, "k", 1);
    assert_int_equal(colander_engine_cursor_next(cursor, &key, &value, NULL),
                     COLANDER_OK);
    assert_null(key.data);
    colander_engine_cursor_close(cursor);
}

/* What a thread does to its family until it is refused. */
enum work { WRITE, WRITE_AND_FLUSH, WRITE_AND_COMPACT };

struct writer {
    struct fixture *fixture;
    enum work work;
    struct colander_engine_family *family;
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
            writer->last = colander_engine_family_flush(writer->family, NULL);
        if (writer->last == COLANDER_OK && writer->work == WRITE_AND_COMPACT)
            writer->last = colander_engine_family_compact(writer->family, NULL);
        writer->written++;
    } while (writer->last == COLANDER_OK && writer->written < 10000000);
    return NULL;
}

/* A write, flush or compaction that met a drop used to stop all writes of the
 * store for ever. */
static void
drop_beside(struct fixture *fixture, const enum work works[3], int rounds)
{
    struct colander_engine_family *bystander = family_of(fixture, "bystander");

    for (int round = 0; round < rounds; round++) {
        struct writer writers[3];
        pthread_t threads[3];

        for (int i = 0; i < 3; i++) {
            writers[i].fixture = fixture;
            writers[i].work = works[i];
            writers[i].family = family_of(fixture, "doomed");
            writers[i].written = 0;
            pthread_create(&threads[i], NULL, write_until_refused, &writers[i]);
        }
        for (int i = 0; i < 3; i++) {
            while (writers[i].written < 1)
                sched_yield();
        }
        assert_int_equal(colander_engine_family_drop(writers[0].family, NULL),
                         COLANDER_OK);
        for (int i = 0; i < 3; i++) {
            pthread_join(threads[i], NULL);
            assert_int_equal(writers[i].last, COLANDER_DROPPED);
            colander_engine_family_close(writers[i].family);
        }
        assert_int_equal(put(fixture->engine, bystander, "k", "v", NULL),
                         COLANDER_OK);
    }
    colander_engine_family_close(bystander);
}

static void
drop_stops_writers_and_nothing_else(void **state)
{
    static const enum work works[3] = {WRITE, WRITE, WRITE};

    assert_int_equal(open_with(*state, NULL, NULL), COLANDER_OK);
    drop_beside(*state, works, 20);
}

static void
drop_beside_flushes_and_compactions_stops_nothing(void **state)
{
    static const enum work works[2][3] = {
        {WRITE_AND_FLUSH, WRITE_AND_FLUSH, WRITE_AND_FLUSH},
        {WRITE_AND_COMPACT, WRITE_AND_FLUSH, WRITE_AND_COMPACT},
    };

    assert_int_equal(open_with(*state, NULL, NULL), COLANDER_OK);
    drop_beside(*state, works[0], 60);
    drop_beside(*state, works[1], 60);
}

static void
every_compaction_and_compression_keeps_its_keys(void **state)
{
    struct fixture *fixture = *state;
    char path[sizeof(fixture->path)];

    memcpy(path, fixture->path, sizeof(path));
    for (int way = 0; way < 9; way++) {
        struct colander_engine_family *family;
        struct colander_options options;
        char key[16];

        colander_options_init(&options);
        options.compaction = (enum colander_compaction)(1 + way / 3);
        options.compression = (enum colander_compression)(1 + way % 3);
        options.sst_size = 64 << 10;
        (void)snprintf(fixture->path, sizeof(fixture->path), "%.200s%d", path,
                       way);
        assert_int_equal(open_with(fixture, &options, NULL), COLANDER_OK);
        family = family_of(fixture, "f");
        for (int i = 0; i < 2000; i++) {
            (void)snprintf(key, sizeof(key), "%d", i);
            assert_int_equal(put(fixture->engine, family, key, key, NULL),
                             COLANDER_OK);
            if (i % 500 == 250)
                assert_int_equal(colander_engine_family_flush(family, NULL),
                                 COLANDER_OK);
        }
        assert_int_equal(colander_engine_family_compact(family, NULL),
                         COLANDER_OK);
        colander_engine_family_close(family);
        close_engine(fixture);
        assert_int_equal(open_with(fixture, NULL, NULL), COLANDER_OK);
        family = family_of(fixture, "f");
        for (int i = 0; i < 2000; i += 7) {
            (void)snprintf(key, sizeof(key), "%d", i);
            assert_value(family, key, key);
        }
        colander_engine_family_close(family);
        close_engine(fixture);
    }
}

/* --------------------------------------------------- batches and reads --- */

static void
indexed_batch_reads_its_own_writes(void **state)
{
    struct fixture *fixture = *state;
    struct colander_buffer value = COLANDER_BUFFER_EMPTY;
    struct colander_engine_family *family;
    struct colander_engine_batch *batch;
    bool found;

    assert_int_equal(open_with(fixture, NULL, NULL), COLANDER_OK);
    family = family_of(fixture, "f");
    assert_int_equal(put(fixture->engine, family, "a", "1", NULL), COLANDER_OK);
    assert_int_equal(
        colander_engine_batch_create(fixture->engine, true, &batch, NULL),
        COLANDER_OK);
    assert_int_equal(colander_engine_batch_delete(
                         batch, family, colander_slice_text("a"), NULL),
                     COLANDER_OK);
    assert_int_equal(colander_engine_batch_put(batch, family,
                                               colander_slice_text("b"),
                                               colander_slice_text("2"), NULL),
                     COLANDER_OK);
    assert_int_equal(colander_engine_batch_get(batch, family,
                                               colander_slice_text("a"), &value,
                                               &found, NULL),
                     COLANDER_OK);
    assert_false(found);
    assert_int_equal(colander_engine_batch_get(batch, family,
                                               colander_slice_text("b"), &value,
                                               &found, NULL),
                     COLANDER_OK);
    assert_true(found);
    assert_memory_equal(value.data, "2", 1);
    assert_value(family, "a", "1");
    assert_int_equal(colander_engine_batch_write(batch, COLANDER_SYNC, NULL),
                     COLANDER_OK);
    assert_value(family, "a", NULL);
    assert_value(family, "b", "2");
    colander_engine_batch_destroy(batch);
    colander_buffer_release(&value);
    colander_engine_family_close(family);
}

static void
cursor_keeps_to_its_bounds_both_ways(void **state)
{
    static const char *const keys[] = {"a", "b", "c", "d"};
    struct fixture *fixture = *state;
    struct colander_engine_family *family;

    assert_int_equal(open_with(fixture, NULL, NULL), COLANDER_OK);
    family = family_of(fixture, "f");
    for (size_t i = 0; i < 4; i++)
        assert_int_equal(put(fixture->engine, family, keys[i], "v", NULL),
                         COLANDER_OK);
    for (int reverse = 0; reverse < 2; reverse++) {
        const struct colander_engine_cursor_options options = {
            .from = colander_slice_text("b"),
            .until = colander_slice_text("d"),
            .is_reverse = reverse == 1,
        };
        struct colander_engine_cursor *cursor;
        char seen[8] = "";

        assert_int_equal(
            colander_engine_cursor_open(family, &options, &cursor, NULL),
            COLANDER_OK);
        for (;;) {
            struct colander_slice key;
            struct colander_slice value;

            assert_int_equal(
                colander_engine_cursor_next(cursor, &key, &value, NULL),
                COLANDER_OK);
            if (key.data == NULL)
                break;
            strncat(seen, (const char *)key.data, 1);
        }
        assert_string_equal(seen, reverse ? "cb" : "bc");
        colander_engine_cursor_close(cursor);
    }
    colander_engine_family_close(family);
}

static void
snapshot_does_not_see_later_writes(void **state)
{
    struct fixture *fixture = *state;
    struct colander_engine_family *family;
    struct colander_snapshot *snapshot;
    char *text;

    assert_int_equal(open_with(fixture, NULL, NULL), COLANDER_OK);
    family = family_of(fixture, "f");
    assert_int_equal(put(fixture->engine, family, "k", "1", NULL), COLANDER_OK);
    assert_int_equal(colander_snapshot_create(fixture->engine, &snapshot, NULL),
                     COLANDER_OK);
    assert_int_equal(put(fixture->engine, family, "k", "2", NULL), COLANDER_OK);
    assert_int_equal(colander_engine_family_compact(family, NULL), COLANDER_OK);
    text = get(family, snapshot, "k");
    assert_string_equal(text, "1");
    free(text);
    assert_value(family, "k", "2");
    colander_snapshot_release(snapshot);
    colander_engine_family_close(family);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
        TEST(families_are_listed_by_name_and_keep_their_ids),
        TEST(bad_family_names_are_refused),
        TEST(dropped_family_refuses_writes_and_the_store_goes_on),
        TEST(cursor_outlives_the_drop_of_its_family),
        TEST(drop_stops_writers_and_nothing_else),
        TEST(drop_beside_flushes_and_compactions_stops_nothing),
        TEST(every_compaction_and_compression_keeps_its_keys),
        TEST(indexed_batch_reads_its_own_writes),
        TEST(cursor_keeps_to_its_bounds_both_ways),
        TEST(snapshot_does_not_see_later_writes),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
