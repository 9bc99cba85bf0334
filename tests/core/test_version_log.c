/*
 * The MANIFEST as it is read without RocksDB, against what RocksDB says; and
 * damaged anywhere.
 *
 * SPDX-License-Identifier: MIT
 */
#include "core/logs.h"
#include "core/sst.h"
#include "core/version_log.h"

#include "support/engine_fixture.h"
#include "support/random.h"

#include <fcntl.h>
#include <unistd.h>

#define OK(call) assert_int_equal((call), COLANDER_OK)
#define FILES_MAX 64

struct files {
    struct sst_info files[FILES_MAX];
    size_t count;
};

static enum colander_code
note_file(void *context, const struct sst_info *file,
          struct colander_error *err)
{
    struct files *files = context;

    (void)err;
    assert_true(files->count < FILES_MAX);
    files->files[files->count++] = *file;
    return COLANDER_OK;
}

/* Families a, b and c, with files that were compacted away; c is dropped. */
static void
write_store(struct fixture *fixture, struct files *files)
{
    static const char *const names[] = {"a", "b", "c"};
    struct colander_engine_family *families[3];

    OK(open_with(fixture, NULL, NULL));
    for (size_t i = 0; i < 3; i++)
        families[i] = family_of(fixture, names[i]);
    for (size_t round = 0; round < 3; round++) {
        for (size_t i = 0; i < 3; i++) {
            OK(put(fixture->engine, families[i], round == 1 ? "k" : "m", "v",
                   NULL));
            OK(colander_engine_family_flush(families[i], NULL));
        }
    }
    OK(colander_engine_family_compact(families[0], NULL));
    OK(colander_engine_family_drop(families[2], NULL));
    OK(engine_ssts(fixture->engine, note_file, files, NULL));
    assert_int_equal(files->count, 4); /* one of a, three of b */
    for (size_t i = 0; i < 3; i++)
        colander_engine_family_close(families[i]);
    close_engine(fixture);
}

/* Opens the directory of the database, and finds the name. */
static int
open_database(const struct fixture *fixture, char name[64])
{
    char path[2 * TEMPORARY_SIZE];
    int directory;

    (void)snprintf(path, sizeof(path), "%s/rocksdb", fixture->path);
    OK(logs_read_current(path, name, 64, NULL));
    directory = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    assert_true(directory >= 0);
    return directory;
}

/* Files of a dropped family go with it, without a word of each. */
static size_t
live_count(const struct version_log *log)
{
    size_t count = 0;

    for (size_t i = 0; i < log->table_count; i++)
        count += log->tables[i].is_live &&
                 !version_log_family(log, log->tables[i].family)->is_dropped;
    return count;
}

static void
families_and_files_are_those_of_the_database(void **state)
{
    struct version_log log = VERSION_LOG_EMPTY;
    struct files files = {.count = 0};
    char name[64];
    int directory;

    write_store(*state, &files);
    directory = open_database(*state, name);
    OK(version_log_read(&log, directory, name, NULL));
    assert_true(log.is_whole);
    assert_int_equal(live_count(&log), files.count);
    assert_true(log.table_count > files.count); /* some were replaced */
    for (size_t i = 0; i < files.count; i++) {
        const struct sst_info *file = &files.files[i];
        const struct version_table *table =
            version_log_table(&log, file->number);

        assert_non_null(table);
        assert_true(table->is_live);
        assert_int_equal(table->family, file->family);
        assert_int_equal(table->size, file->size);
        assert_int_equal(table->smallest.size, 1);
        assert_int_equal(table->largest.size, 1);
        if (file->family == 1) { /* it was compacted */
            assert_int_equal(table->smallest.data[0], 'k');
            assert_int_equal(table->largest.data[0], 'm');
        } else {
            assert_int_equal(table->smallest.data[0], table->largest.data[0]);
        }
    }
    for (uint32_t id = 1; id <= 3; id++) {
        const struct version_family *family = version_log_family(&log, id);
        const char expected[] = {"family/x"};

        assert_non_null(family);
        assert_int_equal(strlen(family->name), strlen(expected));
        assert_int_equal(family->name[7], 'a' + (char)id - 1);
        assert_int_equal(family->is_dropped, id == 3);
    }
    assert_int_equal(log.family_max, 3);
    version_log_release(&log);
    assert_int_equal(close(directory), 0);
}

/* A MANIFEST, and the directory that it is in. */
struct manifest {
    int directory;
    size_t size;
    uint8_t bytes[1 << 16];
};

static void
load(struct fixture *fixture, struct manifest *manifest)
{
    struct files files = {.count = 0};
    char name[64];
    ssize_t size;
    int fd;

    write_store(fixture, &files);
    manifest->directory = open_database(fixture, name);
    fd = openat(manifest->directory, name, O_RDONLY | O_CLOEXEC);
    assert_true(fd >= 0);
    size = read(fd, manifest->bytes, sizeof(manifest->bytes));
    assert_in_range(size, 1, sizeof(manifest->bytes) - 1);
    manifest->size = (size_t)size;
    assert_int_equal(close(fd), 0);
}

/* Reads its first `size` bytes. */
static void
read_bytes(struct version_log *log, const struct manifest *manifest,
           size_t size)
{
    const int directory = manifest->directory;
    int fd = openat(directory, "MANIFEST-cut",
                    O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

    assert_true(fd >= 0);
    assert_int_equal(write(fd, manifest->bytes, size), size);
    assert_int_equal(close(fd), 0);
    OK(version_log_read(log, directory, "MANIFEST-cut", NULL));
    assert_int_equal(unlinkat(directory, "MANIFEST-cut", 0), 0);
}

/* A cut is an earlier moment: no file is there that never was, and what is
 * whole ends with an edit. */
static void
a_cut_manifest_is_an_earlier_one(void **state)
{
    static struct manifest manifest;
    struct version_log all = VERSION_LOG_EMPTY;
    uint64_t whole = 0;

    load(*state, &manifest);
    read_bytes(&all, &manifest, manifest.size);
    assert_int_equal(all.whole, manifest.size);
    for (size_t cut = 0; cut < manifest.size; cut++) {
        struct version_log log = VERSION_LOG_EMPTY;

        read_bytes(&log, &manifest, cut);
        assert_in_range(log.whole, whole, cut);
        whole = log.whole;
        assert_int_equal(log.is_whole, whole > 0);
        for (size_t i = 0; i < log.table_count; i++)
            assert_non_null(version_log_table(&all, log.tables[i].number));
        version_log_release(&log);
    }
    version_log_release(&all);
    assert_int_equal(close(manifest.directory), 0);
}

/* Any byte: nothing behind it counts as whole. */
static void
behind_damage_nothing_is_whole(void **state)
{
    static struct manifest manifest;
    uint64_t random = random_seed(__func__);

    load(*state, &manifest);
    for (size_t at = 0; at < manifest.size; at++) {
        const uint8_t change = (uint8_t)(1 + random_below(&random, 255));
        struct version_log log = VERSION_LOG_EMPTY;

        manifest.bytes[at] ^= change;
        read_bytes(&log, &manifest, manifest.size);
        manifest.bytes[at] ^= change;
        assert_in_range(log.whole, 0, at);
        version_log_release(&log);
    }
    assert_int_equal(close(manifest.directory), 0);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
        TEST(families_and_files_are_those_of_the_database),
        TEST(a_cut_manifest_is_an_earlier_one),
        TEST(behind_damage_nothing_is_whole),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
