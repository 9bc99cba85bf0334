/*
 * Backups to functions of a program, and stores from them.
 *
 * SPDX-License-Identifier: MIT
 */
#include "support/cases.h"
#include "support/damage.h"
#include "support/scoped.h"
#include "support/store_fixture.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define STORED_MAX 64

/* A storage in memory. */
struct storage {
    struct store_fixture *fixture;
    char place[TEMPORARY_SIZE];
    char restored[PATH_SIZE];
    char *names[STORED_MAX];
    int files[STORED_MAX]; /* in memory */
    size_t count;
    size_t put_count;
    size_t failing; /* this put or get fails, counted from 1; 0: none */
    size_t call_count;
    size_t wait_count;
    struct colander_error err;
};

static int
setup(void **state)
{
    struct storage *storage = calloc(1, sizeof(*storage));
    void *fixture;

    assert_non_null(storage);
    (void)fixture_setup(&fixture);
    storage->fixture = fixture;
    temporary_make(storage->place);
    (void)snprintf(storage->restored, PATH_SIZE, "%s/restored", storage->place);
    *state = storage;
    return 0;
}

static void
clear(struct storage *storage)
{
    for (size_t i = 0; i < storage->count; i++) {
        free(storage->names[i]);
        (void)close(storage->files[i]);
    }
    storage->count = 0;
    storage->put_count = 0;
    storage->call_count = 0;
}

static int
teardown(void **state)
{
    struct storage *storage = *state;
    void *fixture = storage->fixture;
    int result = fixture_teardown(&fixture);

    clear(storage);
    temporary_remove(storage->place);
    free(storage);
    return result;
}

/* ------------------------------------------------------------- storage --- */

static void
copy(int from, int to)
{
    char bytes[4096];
    off_t at = 0;
    ssize_t got;

    while ((got = pread(from, bytes, sizeof(bytes), at)) > 0) {
        assert_int_equal(pwrite(to, bytes, (size_t)got, at), got);
        at += got;
    }
    ZERO(got);
}

static enum colander_code
count_call(struct storage *storage, struct colander_error *err)
{
    if (++storage->call_count == storage->failing)
        return COLANDER_FAIL(err, COLANDER_BUSY, "the storage sleeps");
    return COLANDER_OK;
}

static size_t
place_of(const struct storage *storage, const char *name)
{
    size_t i = 0;

    while (i < storage->count && strcmp(storage->names[i], name) != 0)
        i++;
    return i;
}

/* Knows files by name and size, which is enough here. */
static enum colander_code
has(void *context, const struct colander_backup_file *file, bool *is_there,
    struct colander_error *err)
{
    const struct storage *storage = context;
    const size_t place = place_of(storage, file->name);
    struct stat status;

    if (place < storage->count) {
        ZERO(fstat(storage->files[place], &status));
        *is_there = (uint64_t)status.st_size == file->size;
    }
    return COLANDER_OK;
}

static enum colander_code
put(void *context, const struct colander_backup_file *file,
    struct colander_error *err)
{
    struct storage *storage = context;
    const size_t place = place_of(storage, file->name);
    const enum colander_code code = count_call(storage, err);

    if (code != COLANDER_OK)
        return code;
    assert_true(place < STORED_MAX);
    if (place < storage->count) {
        (void)close(storage->files[place]);
    } else {
        storage->names[place] = strdup(file->name);
        storage->count++;
    }
    storage->files[place] = memfd_create("file", MFD_CLOEXEC);
    copy(file->fd, storage->files[place]);
    storage->put_count++;
    return COLANDER_OK;
}

static enum colander_code
get(void *context, size_t index, int fd, struct colander_error *err)
{
    struct storage *storage = context;
    const enum colander_code code = count_call(storage, err);

    if (code == COLANDER_OK)
        copy(storage->files[index], fd);
    ZERO(close(fd));
    return code;
}

static enum colander_code
wait_all(void *context, struct colander_error *err)
{
    ((struct storage *)context)->wait_count++;
    return COLANDER_OK;
}

static enum colander_code
back_up(struct storage *storage, struct colander_backup *made)
{
    const struct colander_backup_target target = {storage, has, put};

    storage->put_count = 0;
    storage->call_count = 0;
    return colander_store_backup_to(storage->fixture->store, &target, made,
                                    &storage->err);
}

static enum colander_code
restore(struct storage *storage)
{
    const struct colander_backup_source source = {
        storage, (const char *const *)storage->names, storage->count, get,
        wait_all};

    storage->call_count = 0;
    storage->wait_count = 0;
    return colander_backup_restore_from(&source, storage->restored, NULL,
                                        &storage->err);
}

static void
refuses(struct storage *storage, enum colander_code code, const char *part)
{
    assert_int_equal(restore(storage), code);
    if (strstr(storage->err.message, part) == NULL)
        fail_msg("'%s' is not in: %s", part, storage->err.message);
    if (access(storage->restored, F_OK) == 0)
        ZERO(rmdir(storage->restored)); /* it is empty */
}

static void
put_rows(struct storage *storage, int64_t first)
{
    SCOPED_FAMILY family = fixture_family(storage->fixture, "rows");
    char key[32];

    for (int64_t i = first; i < first + 1000; i++) {
        (void)snprintf(key, sizeof(key), "%06lld", (long long)i);
        OK(put_text(storage->fixture, family, key, "n", colander_integer(i),
                    NULL));
    }
}

static uint64_t
rows_of(const char *path)
{
    struct colander_store *store;
    struct colander_family *family;
    uint64_t count;

    OK(colander_store_open(path, NULL, &store, why()));
    OK(colander_family_open(store, "rows", &family, NULL));
    count = count_rows(family);
    colander_family_close(family);
    OK(colander_store_close(store, NULL));
    return count;
}

static void
flush(struct storage *storage)
{
    SCOPED_FAMILY family = fixture_family(storage->fixture, "rows");

    OK(colander_family_flush(family, NULL));
}

#define STORAGE_TEST(name)                                                     \
    TEST_WITH(struct storage *storage, name, setup, teardown)

/* --------------------------------------------------------------- tests --- */

STORAGE_TEST(a_store_comes_back_with_its_logs)
{
    struct colander_backup made;

    put_rows(storage, 0);
    flush(storage);
    put_rows(storage, 1000); /* in the log */
    OK(back_up(storage, &made));
    assert_int_equal(made.file_count, storage->count);
    assert_int_equal(made.copied_count, storage->put_count);
    assert_int_equal(made.number, 0);
    put_rows(storage, 2000);
    if (restore(storage) != COLANDER_OK)
        fail_msg("%s", storage->err.message);
    assert_int_equal(storage->wait_count, 1);
    assert_int_equal(rows_of(storage->restored), 2000);
}

STORAGE_TEST(files_that_are_there_are_not_put)
{
    struct colander_backup first;
    struct colander_backup second;

    put_rows(storage, 0);
    flush(storage);
    OK(back_up(storage, &first));
    put_rows(storage, 1000);
    flush(storage);
    OK(back_up(storage, &second));
    assert_true(second.file_count > first.file_count);
    assert_int_equal(second.copied_count, storage->put_count);
    assert_true(second.copied_count < second.file_count);
    assert_true(second.copied_size < second.size);
}

STORAGE_TEST(each_failure_of_the_storage_is_returned)
{
    struct colander_backup made;
    size_t calls;

    put_rows(storage, 0);
    flush(storage);
    OK(back_up(storage, &made));
    calls = storage->call_count;
    for (storage->failing = 1; storage->failing <= calls; storage->failing++) {
        clear(storage);
        FAILS(back_up(storage, &made), COLANDER_BUSY);
        assert_string_equal(storage->err.message, "the storage sleeps");
        assert_int_equal(storage->call_count, storage->failing);
    }
    storage->failing = 0;
    clear(storage);
    OK(back_up(storage, &made));
    for (storage->failing = 1; storage->failing <= storage->count;
         storage->failing++) {
        refuses(storage, COLANDER_BUSY, "the storage sleeps");
        assert_int_equal(storage->wait_count, 1);
    }
    storage->failing = 0;
    OK(restore(storage));
}

STORAGE_TEST(names_that_no_store_has_are_refused)
{
    static const char *const names[] = {
        "",          "..",        "../file",    "/file",
        "a/b/c",     "rocksdb/",  "rocksdb/..", "rocks.db/./",
        ".hidden",   "a/.hidden", "a\nb",       "LOCK",
        "RESTORING", "a.tmp",     "ORIGINAL",   "rocksdb//000001.sst"};
    struct colander_backup made;
    char *kept;

    put_rows(storage, 0);
    OK(back_up(storage, &made));
    kept = storage->names[0];
    for (size_t i = 0; i < COUNT(names); i++) {
        storage->names[0] = (char *)(uintptr_t)names[i];
        refuses(storage, COLANDER_CORRUPT, "no store has");
    }
    storage->names[0] = kept;
    OK(restore(storage));
}

/* Each of them is missing, empty, or of another size. */
STORAGE_TEST(a_file_that_is_missing_or_cut_is_not_restored)
{
    struct colander_backup made;

    put_rows(storage, 0);
    flush(storage);
    put_rows(storage, 1000);
    OK(back_up(storage, &made));
    for (size_t i = 0; i < storage->count; i++) {
        const size_t last = storage->count - 1;
        char *name = storage->names[i];
        const int file = storage->files[i];

        if (strcmp(name, "rocksdb/IDENTITY") == 0 ||
            strcmp(name, "LEDGER") == 0 || strstr(name, "filters/") == name)
            continue; /* a store opens without */
        storage->names[i] = storage->names[last];
        storage->files[i] = storage->files[last];
        storage->count--;
        refuses(storage, COLANDER_CORRUPT, "");
        storage->count++;
        storage->names[i] = name;
        storage->files[i] = memfd_create("empty", MFD_CLOEXEC);
        refuses(storage, COLANDER_CORRUPT, "");
        (void)close(storage->files[i]);
        storage->files[i] = file;
    }
    OK(restore(storage));
    assert_int_equal(rows_of(storage->restored), 2000);
}

int
main(void)
{
    return tests_run(NULL, NULL);
}
