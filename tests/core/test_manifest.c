/*
 * The MANIFEST read without RocksDB, compared with what RocksDB reports, and
 * damaged at any place.
 *
 * SPDX-License-Identifier: MIT
 */
#include "core/files.h"
#include "core/log_records.h"
#include "core/logs.h"
#include "core/manifest.h"
#include "core/sst.h"

#include "support/engine_fixture.h"
#include "support/random.h"
#include "support/scoped.h"

#include <fcntl.h>
#include <unistd.h>

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
    struct engine_family *families[3];

    OK(open_with(fixture, NULL, NULL));
    for (size_t i = 0; i < 3; i++)
        families[i] = family_of(fixture, names[i]);
    for (size_t round = 0; round < 3; round++) {
        for (size_t i = 0; i < 3; i++) {
            OK(put(fixture->engine, families[i], round == 1 ? "k" : "m", "v",
                   NULL));
            OK(engine_family_flush(families[i], NULL));
        }
    }
    OK(engine_family_compact(families[0], NULL));
    OK(engine_family_drop(families[2], NULL));
    OK(engine_ssts(fixture->engine, note_file, files, NULL));
    assert_int_equal(files->count, 4); /* one of a, three of b */
    close_engine(fixture);
}

/* Opens the directory of the database, and finds the MANIFEST. */
static int
open_database(const struct fixture *fixture, uint64_t *number)
{
    char path[2 * TEMPORARY_SIZE];
    int directory;

    (void)snprintf(path, sizeof(path), "%s/rocksdb", fixture->path);
    directory = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    assert_true(directory >= 0);
    OK(logs_read_current(directory, number, NULL));
    return directory;
}

/* Files of a dropped family are removed with it, without a record for each. */
static size_t
live_count(const struct manifest *log)
{
    size_t count = 0;

    for (size_t i = 0; i < log->table_count; i++)
        count += log->tables[i].is_live &&
                 !manifest_family(log, log->tables[i].family)->is_dropped;
    return count;
}

ENGINE_TEST(families_and_files_are_those_of_the_database)
{
    struct manifest log = {0};
    struct files files = {.count = 0};
    uint64_t number;
    int directory;

    write_store(fixture, &files);
    directory = open_database(fixture, &number);
    OK(manifest_read(&log, directory, number, NULL, NULL));
    assert_true(log.is_whole);
    assert_int_equal(live_count(&log), files.count);
    assert_true(log.table_count > files.count); /* some were replaced */
    for (size_t i = 0; i < files.count; i++) {
        const struct sst_info *file = &files.files[i];
        const struct manifest_table *table = manifest_table(&log, file->number);

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
        const struct manifest_family *family = manifest_family(&log, id);
        const char expected[] = {"family/x"};

        assert_non_null(family);
        assert_int_equal(strlen(family->name), strlen(expected));
        assert_int_equal(family->name[7], 'a' + (char)id - 1);
        assert_int_equal(family->is_dropped, id == 3);
    }
    assert_int_equal(log.family_max, 3);
    manifest_release(&log);
    ZERO(close(directory));
}

/* A MANIFEST, and the directory it is in. */
struct loaded_manifest {
    int directory;
    size_t size;
    uint8_t bytes[1 << 16];
};

static void
load(struct fixture *fixture, struct loaded_manifest *manifest)
{
    struct files files = {.count = 0};
    uint64_t number;
    ssize_t size;
    int fd;

    write_store(fixture, &files);
    manifest->directory = open_database(fixture, &number);
    fd = openat(manifest->directory, files_name(LOGS_MANIFEST, number, "").text,
                O_RDONLY | O_CLOEXEC);
    assert_true(fd >= 0);
    size = read(fd, manifest->bytes, sizeof(manifest->bytes));
    assert_in_range(size, 1, sizeof(manifest->bytes) - 1);
    manifest->size = (size_t)size;
    ZERO(close(fd));
}

#define CUT_NUMBER 999
#define CUT "MANIFEST-000999"

/* Writes its first `size` bytes to CUT. */
static void
write_bytes(const struct loaded_manifest *manifest, size_t size)
{
    int fd = openat(manifest->directory, CUT,
                    O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

    assert_true(fd >= 0);
    assert_int_equal(write(fd, manifest->bytes, size), size);
    ZERO(close(fd));
}

/* Reads its first `size` bytes. */
static void
read_bytes(struct manifest *log, const struct loaded_manifest *manifest,
           size_t size, struct ledger *ledger)
{
    const int directory = manifest->directory;

    write_bytes(manifest, size);
    OK(manifest_read(log, directory, CUT_NUMBER, ledger, NULL));
    assert_int_equal(unlinkat(directory, CUT, 0), 0);
}

/* A cut MANIFEST shows an earlier state: it has no file that never existed, and
 * its intact part ends with an edit. */
ENGINE_TEST(a_cut_manifest_is_an_earlier_one)
{
    static struct loaded_manifest manifest;
    struct manifest all = {0};
    uint64_t whole = 0;

    load(fixture, &manifest);
    read_bytes(&all, &manifest, manifest.size, NULL);
    assert_int_equal(all.whole, manifest.size);
    for (size_t cut = 0; cut < manifest.size; cut++) {
        SCOPED(manifest_release) struct manifest log = {0};

        read_bytes(&log, &manifest, cut, NULL);
        assert_in_range(log.whole, whole, cut);
        whole = log.whole;
        assert_int_equal(log.is_whole, whole > 0);
        for (size_t i = 0; i < log.table_count; i++)
            assert_non_null(manifest_table(&all, log.tables[i].number));
    }
    manifest_release(&all);
    ZERO(close(manifest.directory));
}

/* Damages each byte: nothing after the damage counts as intact. */
ENGINE_TEST(nothing_after_damage_is_intact)
{
    static struct loaded_manifest manifest;
    uint64_t random = random_seed(__func__);

    load(fixture, &manifest);
    for (size_t at = 0; at < manifest.size; at++) {
        const uint8_t change = (uint8_t)(1 + random_below(&random, 255));
        SCOPED(manifest_release) struct manifest log = {0};

        manifest.bytes[at] ^= change;
        read_bytes(&log, &manifest, manifest.size, NULL);
        manifest.bytes[at] ^= change;
        assert_in_range(log.whole, 0, at);
    }
    ZERO(close(manifest.directory));
}

/* If two records were not synced, a power failure may keep only the second. */
ENGINE_TEST(what_follows_the_synced_part_does_not_count)
{
    static struct loaded_manifest manifest;
    struct manifest log = {0};
    struct log_state state;
    struct ledger *ledger;
    size_t synced;
    size_t record;

    load(fixture, &manifest);
    synced = manifest.size;
    record = 7U + manifest.bytes[4];
    for (unsigned i = 0; i < 2; i++) {
        memcpy(manifest.bytes + manifest.size, manifest.bytes, record);
        manifest.size += record;
    }
    manifest.bytes[synced + record - 1] ^= 1;
    write_bytes(&manifest, synced);
    OK(log_check(manifest.directory, CUT, NULL, 0, &state, NULL));
    OK(ledger_open(manifest.directory, &ledger, NULL));
    ledger_found(ledger, LEDGER_MANIFEST, 999, state.whole);
    OK(ledger_settle_synced(ledger, NULL));
    read_bytes(&log, &manifest, manifest.size, NULL);
    assert_false(log.is_whole);
    manifest_release(&log);
    for (unsigned is_damaged = 0; is_damaged < 2; is_damaged++) {
        manifest.bytes[synced - 1] ^= (uint8_t)is_damaged;
        read_bytes(&log, &manifest, manifest.size, ledger);
        assert_int_equal(log.is_whole, !is_damaged);
        assert_in_range(log.whole, is_damaged ? 1 : synced, synced);
        manifest_release(&log);
    }
    read_bytes(&log, &manifest, synced / 2, ledger);
    assert_false(log.is_whole);
    manifest_release(&log);
    ledger_close(ledger);
    ZERO(close(manifest.directory));
}
