/*
 * Stores and families: what their handles guarantee.
 *
 * SPDX-License-Identifier: MIT
 */
#include "support/cases.h"
#include "support/scoped.h"
#include "support/store_fixture.h"

#include <dirent.h>
#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <sys/stat.h>
#include <unistd.h>

FIXTURE_TEST(first_write_creates_the_family)
{
    SCOPED_FAMILY early = fixture_family(fixture, "f");
    SCOPED_FAMILY other = fixture_family(fixture, "f");
    struct colander_names names;

    assert_false(colander_family_exists(early));
    assert_row(early, "k", NULL);
    assert_int_equal(count_rows(early), 0);
    OK(colander_store_families(fixture->store, &names, NULL));
    assert_int_equal(names.count, 0);
    colander_names_release(&names);

    OK(put_text(fixture, other, "k", "a", colander_integer(1), NULL));
    assert_true(colander_family_exists(early));
    assert_row(early, "k", "{\"_key\":\"k\",\"a\":1}");
}

FIXTURE_TEST(delete_does_not_create_a_family)
{
    SCOPED_FAMILY family = fixture_family(fixture, "f");
    SCOPED_BUFFER key = text_key("k");
    uint64_t deleted = 7;

    OK(colander_family_delete(family, colander_buffer_slice(&key), NULL, NULL));
    OK(colander_family_delete_range(family, NULL, NULL, &deleted, NULL));
    assert_int_equal(deleted, 0);
    assert_false(colander_family_exists(family));
}

FIXTURE_TEST(family_names_must_be_sensible)
{
    static const char *const bad[] = {"", "a\tb", "\xff", "\xed\xa0\x80"};
    struct colander_family *family;

    for (size_t i = 0; i < COUNT(bad); i++) {
        FAILS(colander_family_open(fixture->store, bad[i], &family, NULL),
              COLANDER_INVALID);
        assert_null(family);
    }
}

FIXTURE_TEST(dropping_what_is_not_there_is_not_found)
{
    SCOPED_FAMILY family = fixture_family(fixture, "f");

    FAILS(colander_family_drop(family, why()), COLANDER_NOT_FOUND);
    assert_string_equal(error_text(), "family 'f': there is no such family");
}

FIXTURE_TEST(handles_of_a_dropped_family_report_it)
{
    SCOPED_FAMILY old = fixture_family(fixture, "f");
    SCOPED_FAMILY fresh = NULL;
    SCOPED_BUFFER key = text_key("k");
    SCOPED_BUFFER row = COLANDER_BUFFER_EMPTY;
    bool found;

    OK(put_text(fixture, old, "k", "a", colander_integer(1), NULL));
    OK(colander_family_drop(old, NULL));
    FAILS(put_text(fixture, old, "k", "a", colander_integer(2), why()),
          COLANDER_DROPPED);
    assert_string_equal(error_text(), "family 'f' was dropped");
    FAILS(colander_family_get(old, colander_buffer_slice(&key), NULL, &row,
                              &found, why()),
          COLANDER_DROPPED);
    fresh = fixture_family(fixture, "f");
    assert_int_equal(count_rows(fresh), 0);
    OK(put_text(fixture, fresh, "k", "a", colander_integer(3), NULL));
    assert_row(fresh, "k", "{\"_key\":\"k\",\"a\":3}");
    FAILS(put_text(fixture, old, "k", "a", colander_integer(4), why()),
          COLANDER_DROPPED);
}

FIXTURE_TEST(close_is_refused_while_something_is_open)
{
    struct colander_family *family = fixture_family(fixture, "f");
    SCOPED_SNAPSHOT snapshot = NULL;
    struct colander_batch *batch;

    FAILS(colander_store_close(fixture->store, why()), COLANDER_BUSY);
    assert_non_null(strstr(error_text(), "families and batches open: 1"));
    OK(colander_batch_create(fixture->store, &batch, NULL));
    colander_family_close(family);
    FAILS(colander_store_close(fixture->store, why()), COLANDER_BUSY);
    colander_batch_destroy(batch);
    OK(colander_store_snapshot(fixture->store, &snapshot, NULL));
    FAILS(colander_store_close(fixture->store, why()), COLANDER_BUSY);
}

FIXTURE_TEST(read_only_store_refuses_every_write)
{
    SCOPED_BUFFER key = text_key("k");
    struct colander_family *families[2];
    struct colander_batch *batch;
    struct colander_slice row;

    families[0] = kept_family(fixture, "old");
    OK(put_text(fixture, families[0], "k", "a", colander_integer(1), NULL));
    fixture_reopen(fixture, COLANDER_OPEN_READ_ONLY);
    families[0] = kept_family(fixture, "old");
    families[1] = kept_family(fixture, "new");
    row = fixture_row(fixture, "a", colander_integer(2));
    for (int i = 0; i < 2; i++) {
        struct colander_family *family = families[i];
        struct colander_slice bytes = colander_buffer_slice(&key);

        FAILS(colander_family_put(family, bytes, row, NULL, why()),
              COLANDER_READ_ONLY);
        FAILS(colander_family_patch(family, bytes, row, NULL, why()),
              COLANDER_READ_ONLY);
        FAILS(colander_family_delete(family, bytes, NULL, why()),
              COLANDER_READ_ONLY);
        FAILS(colander_family_delete_range(family, NULL, NULL, NULL, why()),
              COLANDER_READ_ONLY);
        FAILS(colander_family_create(family, why()), COLANDER_READ_ONLY);
        OK(colander_batch_create(fixture->store, &batch, NULL));
        OK(colander_batch_put(batch, family, bytes, row, NULL));
        FAILS(colander_batch_commit(batch, NULL, why()), COLANDER_READ_ONLY);
        assert_int_equal(colander_batch_count(batch), 1);
        colander_batch_destroy(batch);
    }
    assert_non_null(strstr(error_text(), "is open for reading only"));
    assert_row(families[0], "k", "{\"_key\":\"k\",\"a\":1}");
}

/* --------------------------------------------------- dropping in a race --- */

struct writer {
    struct store_fixture *fixture;
    struct colander_slice row;
    atomic_int *stop;
    atomic_int written;
    atomic_int refused;
    atomic_int surprises;
};

/* Writes through one handle until it fails, then opens a new one. */
static void *
write_on(void *context)
{
    struct writer *writer = context;
    SCOPED_BUFFER key = COLANDER_BUFFER_EMPTY;

    if (colander_key_text("k", &key, NULL) != COLANDER_OK)
        writer->surprises++;
    while (!*writer->stop) {
        SCOPED_FAMILY family = NULL;
        enum colander_code code = colander_family_open(writer->fixture->store,
                                                       "doomed", &family, NULL);

        while (code == COLANDER_OK && !*writer->stop) {
            code = colander_family_put(family, colander_buffer_slice(&key),
                                       writer->row, NULL, NULL);
            if (code == COLANDER_OK)
                writer->written++;
        }
        if (code == COLANDER_DROPPED)
            writer->refused++;
        else if (code != COLANDER_OK)
            writer->surprises++;
    }
    return NULL;
}

FIXTURE_TEST(dropping_under_writers_breaks_nothing_else)
{
    SCOPED_FAMILY safe = fixture_family(fixture, "safe");
    SCOPED_BUILDER builder = colander_row_builder_create();
    atomic_int stop = 0;
    struct colander_slice row;
    struct writer writers[3];
    pthread_t threads[3];

    colander_row_builder_add(builder, "a", colander_integer(1));
    OK(colander_row_builder_finish(builder, &row, NULL));
    for (int i = 0; i < 3; i++) {
        writers[i] =
            (struct writer){.fixture = fixture, .row = row, .stop = &stop};
        pthread_create(&threads[i], NULL, write_on, &writers[i]);
    }
    for (int i = 0; i < 3; i++) {
        while (writers[i].written == 0 && writers[i].surprises == 0)
            sched_yield();
    }
    for (int round = 0; round < 25;) {
        struct colander_family *doomed = fixture_family(fixture, "doomed");
        enum colander_code code = COLANDER_NOT_FOUND;

        if (colander_family_exists(doomed))
            code = colander_family_drop(doomed, NULL);
        else
            sched_yield();
        if (code == COLANDER_OK)
            round++;
        colander_family_close(doomed);
        OK(put_text(fixture, safe, "k", "a", colander_integer(round), NULL));
    }
    stop = 1;
    for (int i = 0; i < 3; i++) {
        pthread_join(threads[i], NULL);
        assert_true(writers[i].written > 0);
        assert_int_equal(writers[i].surprises, 0);
    }
    assert_true(writers[0].refused + writers[1].refused + writers[2].refused >
                0);
    assert_row(safe, "k", "{\"_key\":\"k\",\"a\":25}");
}

/* ------------------------------------------------- hundreds of families --- */

#define MANY 300
#define ROUNDS 70 /* more than the log may contain */

static long
resident_kib(void)
{
    FILE *file = fopen("/proc/self/status", "re");
    char line[256];
    long kib = 0;

    while (fgets(line, sizeof(line), file) != NULL) {
        if (sscanf(line, "VmRSS: %ld", &kib) == 1)
            break;
    }
    fclose(file);
    return kib;
}

/* Counts open files whose name ends in this; an empty ending matches any. */
static size_t
open_descriptors(const char *ending)
{
    DIR *stream = opendir("/proc/self/fd");
    struct dirent *entry;
    size_t count = 0;

    while ((entry = readdir(stream)) != NULL) {
        char target[PATH_MAX];
        ssize_t size =
            readlinkat(dirfd(stream), entry->d_name, target, sizeof(target));

        if (size >= (ssize_t)strlen(ending) &&
            memcmp(target + size - strlen(ending), ending, strlen(ending)) == 0)
            count++;
    }
    closedir(stream);
    return count;
}

/* Sums the sizes of the store's files whose name ends in this. */
static uint64_t
bytes_of(const struct store_fixture *fixture, const char *ending)
{
    char path[TEMPORARY_SIZE + 16];
    struct dirent *entry;
    uint64_t bytes = 0;
    DIR *stream;

    (void)snprintf(path, sizeof(path), "%s/rocksdb", fixture->directory);
    stream = opendir(path);
    while ((entry = readdir(stream)) != NULL) {
        size_t size = strlen(entry->d_name);
        struct stat status;

        if (size > strlen(ending) &&
            strcmp(entry->d_name + size - strlen(ending), ending) == 0 &&
            fstatat(dirfd(stream), entry->d_name, &status, 0) == 0)
            bytes += (uint64_t)status.st_size;
    }
    closedir(stream);
    return bytes;
}

/* Fills one KiB that does not compress. */
static void
fill_noise(uint8_t *noise, size_t size, uint64_t seed)
{
    for (size_t i = 0; i < size; i++) {
        seed = seed * UINT64_C(6364136223846793005) + 1;
        noise[i] = (uint8_t)(seed >> 56);
    }
}

/* I7: memory, descriptors and log stay within the options. */
FIXTURE_TEST(hundreds_of_families_stay_within_the_options)
{
    struct colander_family *families[MANY];
    long resident_before;
    char name[16];

    fixture->options.write_buffer_size = 4 << 20;
    fixture->options.cache_size = 4 << 20;
    fixture->options.open_files_max = 64;
    fixture_reopen(fixture, COLANDER_OPEN_OR_CREATE);
    resident_before = resident_kib();
    for (int i = 0; i < MANY; i++) {
        (void)snprintf(name, sizeof(name), "family %d", i);
        families[i] = fixture_family(fixture, name);
    }
    for (uint64_t round = 0; round < ROUNDS; round++) {
        for (int i = 0; i < MANY; i++) {
            uint8_t noise[1024];

            (void)snprintf(name, sizeof(name), "row %d", (int)round);
            fill_noise(noise, sizeof(noise), round * MANY + (uint64_t)i);
            OK(put_text(fixture, families[i], name, "noise",
                        colander_binary(colander_slice_of(noise, 1024)), NULL));
        }
        /* SST files as the option says, and those being written. */
        assert_true(open_descriptors(".sst") < 64 + 16);
        /* A flush of one family begins a log. It is kept until the other
         * families with rows in it are flushed as well: each once before that,
         * and once more while it waits. */
        assert_true(open_descriptors(".log") < 2 * MANY);
        /* The log may be as large as four buffers, and a little more during
         * flushes. */
        assert_true(bytes_of(fixture, ".log") < (4 * 4 + 4) << 20);
    }
#ifndef __SANITIZE_ADDRESS__ /* it needs memory itself */
    assert_true(resident_kib() - resident_before < 160 << 10);
#endif
    for (int i = 0; i < MANY; i++)
        colander_family_close(families[i]);
    fixture_reopen(fixture, COLANDER_OPEN_EXISTING);
    for (int i = 0; i < MANY; i += 37) {
        (void)snprintf(name, sizeof(name), "family %d", i);
        families[i] = fixture_family(fixture, name);
        assert_int_equal(count_rows(families[i]), ROUNDS);
        colander_family_close(families[i]);
    }
    assert_true(open_descriptors("") < 64 + 64);
}
