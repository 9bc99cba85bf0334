/*
 * SST files that join a family which has keys, and marks that join with them.
 *
 * SPDX-License-Identifier: MIT
 */
#include "core/bulk_files.h"
#include "core/files.h"
#include "core/logs.h"
#include "core/manifest.h"
#include "core/sst.h"

#include "support/engine_fixture.h"
#include "support/random.h"
#include "support/scoped.h"

#include <fcntl.h>
#include <unistd.h>

#define KEYS 2000

static struct colander_slice
key_at(unsigned number, char text[8])
{
    snprintf(text, 8, "%06u", number);
    return colander_slice_text(text);
}

/* Makes files with the value under every second key, each of `step` of them,
 * and a mark with the same value. */
static struct bulk_files *
make_files(struct engine_family *family, const char *value, unsigned step)
{
    struct bulk_files *files;
    struct bulk_sst *sst = NULL;
    uint64_t size;
    char key[8];

    OK(bulk_files_create(family, false, &files, NULL));
    for (unsigned i = 0; i < KEYS; i += 2) {
        if (sst == NULL)
            OK(bulk_sst_begin(files, &sst, NULL));
        OK(bulk_sst_add(sst, key_at(i, key), colander_slice_text(value), &size,
                        NULL));
        if (i % step == step - 2)
            OK(bulk_sst_finish(&sst, NULL));
    }
    OK(bulk_sst_finish(&sst, NULL));
    OK(bulk_files_mark(files, colander_slice_text("mark"),
                       colander_slice_text(value), NULL));
    return files;
}

static void
put_all(struct fixture *fixture, struct engine_family *family,
        const char *value)
{
    char key[8];

    for (unsigned i = 0; i < KEYS; i++) {
        (void)key_at(i, key);
        OK(put(fixture->engine, family, key, value, NULL));
    }
}

static void
assert_all(struct engine_family *family,
           const struct colander_snapshot *snapshot, const char *even,
           const char *odd)
{
    for (unsigned i = 0; i < KEYS; i++) {
        char key[8];
        char *value;

        (void)key_at(i, key);
        value = get(family, snapshot, key);
        assert_string_equal(value, i % 2 == 0 ? even : odd);
        free(value);
    }
}

static void
assert_mark(struct engine_family *family, const char *expected)
{
    SCOPED_BUFFER mark = COLANDER_BUFFER_EMPTY;
    bool found;

    OK(engine_mark_get(family, colander_slice_text("mark"), &mark, &found,
                       NULL));
    assert_int_equal(found, expected != NULL);
    if (found)
        assert_true(colander_slice_equal(colander_buffer_slice(&mark),
                                         colander_slice_text(expected)));
}

static void
install(struct bulk_files *files)
{
    OK(bulk_files_prepare(files, NULL));
    OK(bulk_files_install(files, NULL));
    bulk_files_destroy(files);
}

/* Over keys in SSTs and in the memtable, for both kinds of compactions. */
ENGINE_TEST(keys_are_replaced_but_not_for_snapshots)
{
    struct engine_family *family = open_with_family(fixture, "f");
    struct colander_snapshot *snapshots[3];

    put_all(fixture, family, "in an SST");
    OK(engine_family_flush(family, NULL));
    put_all(fixture, family, "in memory");
    OK(engine_snapshot_create(fixture->engine, &snapshots[0], NULL));
    install(make_files(family, "first", KEYS));
    OK(engine_snapshot_create(fixture->engine, &snapshots[1], NULL));
    install(make_files(family, "second", 200));
    OK(engine_snapshot_create(fixture->engine, &snapshots[2], NULL));
    put_all(fixture, family, "last");
    for (unsigned is_compacted = 0; is_compacted < 2; is_compacted++) {
        assert_all(family, snapshots[0], "in memory", "in memory");
        assert_all(family, snapshots[1], "first", "in memory");
        assert_all(family, snapshots[2], "second", "in memory");
        assert_all(family, NULL, "last", "last");
        OK(engine_family_compact(family, NULL));
    }
    assert_mark(family, "second");
    for (unsigned i = 0; i < 3; i++)
        colander_snapshot_release(snapshots[i]);
}

/* An empty mark removes one, and marks join without files, too. */
ENGINE_TEST(marks_are_set_and_removed)
{
    struct engine_family *family = open_with_family(fixture, "f");
    struct bulk_files *files;

    install(make_files(family, "first", KEYS));
    assert_mark(family, "first");
    OK(bulk_files_create(family, false, &files, NULL));
    OK(bulk_files_mark(files, colander_slice_text("mark"),
                       colander_slice_text("later"), NULL));
    OK(bulk_files_mark(files, colander_slice_text("mark"),
                       colander_slice_of(NULL, 0), NULL));
    assert_mark(family, "first");
    install(files);
    assert_mark(family, NULL);
    close_engine(fixture);
    assert_mark(open_with_family(fixture, "f"), NULL);
}

/* Counts the live tables of families and of the store's own records. */
static void
count_live(const struct manifest *manifest, size_t *of_families, size_t *of_own)
{
    *of_families = *of_own = 0;
    for (size_t i = 0; i < manifest->table_count; i++) {
        const struct manifest_table *table = &manifest->tables[i];

        *(table->family == 0 ? of_own : of_families) += table->is_live;
    }
}

/* A kill, at any byte of the record of the MANIFEST. */
ENGINE_TEST(files_and_marks_join_together_or_not_at_all)
{
    struct engine_family *family = open_with_family(fixture, "f");
    struct bulk_files *files = make_files(family, "value", 400);
    static uint8_t bytes[1 << 16];
    char path[2 * TEMPORARY_SIZE];
    bool was_there = false;
    uint64_t number;
    ssize_t size;
    int directory;
    int fd;

    install(files);
    close_engine(fixture);
    (void)snprintf(path, sizeof(path), "%s/rocksdb", fixture->path);
    directory = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    assert_true(directory >= 0);
    OK(logs_read_current(directory, &number, NULL));
    fd = openat(directory, files_name(LOGS_MANIFEST, number, "").text,
                O_RDONLY | O_CLOEXEC);
    size = read(fd, bytes, sizeof(bytes));
    assert_in_range(size, 1, sizeof(bytes) - 1);
    ZERO(close(fd));
    for (size_t cut = 0; cut <= (size_t)size; cut++) {
        SCOPED(manifest_release) struct manifest manifest = {0};
        size_t of_families;
        size_t of_own;

        fd = openat(directory, "MANIFEST-000999",
                    O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
        assert_int_equal(write(fd, bytes, cut), cut);
        ZERO(close(fd));
        OK(manifest_read(&manifest, directory, 999, NULL, NULL));
        count_live(&manifest, &of_families, &of_own);
        assert_true(of_families == 0 || of_families == 5);
        assert_int_equal(of_own, of_families > 0);
        was_there = of_own > 0;
    }
    assert_true(was_there);
    ZERO(unlinkat(directory, "MANIFEST-000999", 0));
    ZERO(close(directory));
    assert_mark(open_with_family(fixture, "f"), "value");
}

/* Changes a byte of the file, or cuts it there. */
static void
damage(const char *path, uint64_t at, bool is_cut)
{
    int fd = open(path, O_RDWR | O_CLOEXEC);
    uint8_t byte;

    assert_true(fd >= 0);
    if (is_cut) {
        ZERO(ftruncate(fd, (off_t)at));
    } else {
        assert_int_equal(pread(fd, &byte, 1, (off_t)at), 1);
        byte ^= 0x10;
        assert_int_equal(pwrite(fd, &byte, 1, (off_t)at), 1);
    }
    ZERO(close(fd));
}

/* RocksDB ends the process if the last block cannot be read, and does not find
 * the rows if it is the first. */
ENGINE_TEST(a_file_that_decays_before_it_joins_is_an_error)
{
    struct engine_family *family = open_with_family(fixture, "f");
    uint64_t random = random_seed(__func__);
    char value[300] = "";

    memset(value, 'n', sizeof(value) - 1); /* of several blocks */
    put_all(fixture, family, "old");
    for (unsigned i = 0; i < 40; i++) {
        struct bulk_files *files = make_files(family, value, KEYS);
        char path[2 * TEMPORARY_SIZE];
        struct stat status;
        uint64_t at;

        (void)snprintf(path, sizeof(path), "%s/1.sst", bulk_files_path(files));
        ZERO(stat(path, &status));
        at = random_below(&random, 200); /* less than any block has */
        if (i % 4 < 2)
            at = (uint64_t)status.st_size - 1 - at;
        damage(path, at, i % 2 == 0);
        OK(bulk_files_prepare(files, why()));
        assert_int_not_equal(bulk_files_install(files, why()), COLANDER_OK);
        bulk_files_destroy(files);
        assert_mark(family, NULL);
    }
    assert_all(family, NULL, "old", "old");
    install(make_files(family, value, KEYS));
    assert_all(family, NULL, value, "old");
}
