/*
 * Logs that do not belong where they are: an older copy, one of another store,
 * one that repeats writes, one whose blocks are in each other's place. None is
 * replayed, and each error names the file.
 *
 * SPDX-License-Identifier: MIT
 */
#include "core/engine.h"
#include "core/salvage.h"
#include "core/sst.h"
#include "support/children.h"
#include "support/engine_fixture.h"
#include "support/other_boot.h"
#include "support/scoped.h"
#include "support/shell_command.h"

#include <glob.h>
#include <limits.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>

#define PATH_SIZE (TEMPORARY_SIZE + 320)

/* Puts rows from `from` to `until` with this value, and is killed. */
ROLE(write)
{
    struct fixture fixture = {.engine = NULL};
    const unsigned until = (unsigned)strtoul(arguments[4], NULL, 10);
    struct engine_family *rows;
    char key[16];

    (void)snprintf(fixture.path, sizeof(fixture.path), "%s", arguments[2]);
    if (open_with(&fixture, NULL, NULL) != COLANDER_OK)
        return 1;
    rows = family_of(&fixture, "rows");
    for (unsigned i = (unsigned)strtoul(arguments[3], NULL, 10); i < until;
         i++) {
        (void)snprintf(key, sizeof(key), "%05u", i);
        if (put(fixture.engine, rows, key, arguments[5], NULL) != COLANDER_OK)
            return 1;
    }
    (void)kill(getpid(), SIGKILL);
    return 1;
}

/* Puts many rows in one batch, and is killed. */
ROLE(batch)
{
    SCOPED_ENGINE_BATCH batch = NULL;
    struct fixture fixture = {.engine = NULL};
    struct engine_family *rows;
    char key[16];

    (void)snprintf(fixture.path, sizeof(fixture.path), "%s", arguments[2]);
    if (open_with(&fixture, NULL, NULL) != COLANDER_OK ||
        engine_batch_create(fixture.engine, false, &batch, NULL) != COLANDER_OK)
        return 1;
    rows = family_of(&fixture, "rows");
    for (unsigned i = 0; i < 5000; i++) {
        (void)snprintf(key, sizeof(key), "%u", i * i);
        if (engine_batch_put(batch, rows, colander_slice_text(key),
                             colander_slice_of("text, and more text", i % 19),
                             NULL) != COLANDER_OK)
            return 1;
    }
    if (engine_batch_write(batch, COLANDER_AS_STORE, NULL) != COLANDER_OK)
        return 1;
    (void)kill(getpid(), SIGKILL);
    return 1;
}

static void
write_killed(const char *store, const char *from, const char *until,
             const char *value)
{
    const char *const arguments[] = {"test", "--write", store, from,
                                     until,  value,     NULL};

    assert_true(WIFSIGNALED(child_run(arguments)));
}

/* Opens the store, which must not end the process. */
ROLE(open)
{
    struct fixture fixture = {.engine = NULL};
    struct colander_error err;

    (void)snprintf(fixture.path, sizeof(fixture.path), "%s", arguments[2]);
    if (open_as(&fixture,
                arguments[3][0] == 'r' ? COLANDER_OPEN_READ_ONLY
                                       : COLANDER_OPEN_EXISTING,
                &err) == COLANDER_OK)
        return 2;
    (void)fprintf(stderr, "%s\n", err.message);
    return err.code == COLANDER_CORRUPT &&
                   strstr(err.message, arguments[4]) != NULL
               ? 0
               : 3;
}

/* The store is refused, for reading and for writing, and the file named. */
static void
assert_refused(const char *store, const char *file)
{
    for (unsigned i = 0; i < 2; i++) {
        const char *const arguments[] = {"test",        "--open", store,
                                         i ? "w" : "r", file,     NULL};
        const int status = child_run(arguments);

        assert_true(WIFEXITED(status));
        ZERO(WEXITSTATUS(status));
    }
}

/* Finds the last log of a store, and the name in its path. */
static const char *
find_log(const char *store, char path[PATH_SIZE])
{
    glob_t found;

    (void)snprintf(path, PATH_SIZE, "%s/rocksdb/*.log", store);
    ZERO(glob(path, 0, NULL, &found));
    (void)snprintf(path, PATH_SIZE, "%s", found.gl_pathv[found.gl_pathc - 1]);
    globfree(&found);
    return strrchr(path, '/') + 1;
}

static off_t
size_of(const char *path)
{
    struct stat status;

    ZERO(stat(path, &status));
    return status.st_size;
}

/* Rows that were written as "old", copied with their log, and written as "new"
 * before the store was closed. */
static void
make_closed(struct fixture *fixture, char old[PATH_SIZE])
{
    char path[PATH_SIZE];

    write_killed(fixture->path, "0", "100", "old");
    (void)snprintf(old, PATH_SIZE, "%s/old.log", fixture->directory);
    (void)find_log(fixture->path, path);
    assert_true(size_of(path) > 0);
    shell("cp '%s' '%s'", path, old);
    OK(open_with(fixture, NULL, NULL));
    OK(put(fixture->engine, family_of(fixture, "rows"), "00007", "new", NULL));
    close_engine(fixture);
}

ENGINE_TEST(an_older_log_over_an_empty_one_is_refused)
{
    char old[PATH_SIZE];
    char path[PATH_SIZE];
    const char *name;

    make_closed(fixture, old);
    name = find_log(fixture->path, path);
    ZERO(size_of(path));
    for (unsigned is_later = 0; is_later < 2; is_later++) {
        shell("cp '%s' '%s'", old, path);
        if (is_later) /* a closed store is exact after a restart, too */
            ledger_of_another_boot(fixture->path);
        assert_refused(fixture->path, name);
        shell(": >'%s'", path);
    }
    OK(open_with(fixture, NULL, NULL));
    assert_value(family_of(fixture, "rows"), "00007", "new");
}

/* A loss of any row in this file is expected. */
struct expected_loss {
    const char *file;
    unsigned count;
};

static void
note_loss(void *context, const struct salvage_loss *loss)
{
    struct expected_loss *expected = context;

    assert_string_equal(strrchr(loss->file, '/') + 1, expected->file);
    assert_null(loss->family);
    expected->count++;
}

/* Salvage reports the file, and has exactly these rows of `rows`. */
static void
assert_salvaged(const char *store, const char *file, unsigned count,
                const char *seventh)
{
    struct expected_loss expected = {file, 0};
    struct salvage *salvage;
    struct colander_slice key;
    struct colander_slice row;
    unsigned rows = 0;
    bool is_row;

    OK(salvage_open(store, note_loss, &expected, &salvage, NULL));
    assert_true(expected.count > 0);
    OK(salvage_begin(salvage, 0, NULL));
    for (;;) {
        OK(salvage_next(salvage, &is_row, &key, &row, NULL));
        if (!is_row)
            break;
        if (colander_slice_equal(key, colander_slice_text("00007")))
            ASSERT_SAME(row, colander_slice_text(seventh));
        rows++;
    }
    assert_int_equal(rows, count);
    salvage_close(salvage);
}

ENGINE_TEST(an_older_log_beside_the_others_is_refused)
{
    char old[PATH_SIZE];

    make_closed(fixture, old);
    shell("cp '%s' '%s/rocksdb/000777.log'", old, fixture->path);
    assert_refused(fixture->path, "000777.log");
    ledger_of_another_boot(fixture->path);
    assert_refused(fixture->path, "000777.log");
    assert_salvaged(fixture->path, "000777.log", 100, "new");
    /* under a lower number RocksDB does not read it */
    shell("mv '%s/rocksdb/000777.log' '%s/rocksdb/000001.log'", fixture->path,
          fixture->path);
    OK(open_with(fixture, NULL, NULL));
    assert_value(family_of(fixture, "rows"), "00007", "new");
}

/* The two logs have the same number, and records of the same sizes. */
ENGINE_TEST(a_log_of_another_store_is_refused)
{
    char other[PATH_SIZE];
    char path[PATH_SIZE];
    const char *name;

    (void)snprintf(other, sizeof(other), "%s/other", fixture->directory);
    write_killed(fixture->path, "0", "100", "mine");
    write_killed(other, "0", "100", "none");
    (void)find_log(other, path);
    shell("cp '%s' '%s/rocksdb'", path, fixture->path);
    name = find_log(fixture->path, path);
    assert_refused(fixture->path, name);
    assert_salvaged(fixture->path, name, 0, "");
    ledger_remove(fixture->path);
    OK(open_with(fixture, NULL, NULL));
    assert_value(family_of(fixture, "rows"), "00007", "none");
}

/* A log is empty while its store is open, and nothing was written to it. */
ENGINE_TEST(a_log_over_one_that_was_never_written_is_refused)
{
    char other[PATH_SIZE];
    char path[PATH_SIZE];
    const char *name;

    (void)snprintf(other, sizeof(other), "%s/other", fixture->directory);
    write_killed(other, "0", "5", "other");
    write_killed(fixture->path, "0", "0", "");
    name = find_log(fixture->path, path);
    ZERO(size_of(path));
    shell("cp '%s'/rocksdb/*.log '%s'", other, path);
    assert_refused(fixture->path, name);
    shell(": >'%s'", path);
    OK(open_with(fixture, NULL, NULL));
}

/* Copies a backup over a killed store, with the names of all its files or only
 * of some. */
ENGINE_TEST(a_backup_over_a_killed_store_is_refused)
{
    static const char *const parts[] = {
        ".", "LEDGER", "rocksdb/*", "rocksdb/CURRENT",
        "LEDGER rocksdb/CURRENT rocksdb/MANIFEST-*"};
    char killed[PATH_SIZE];
    char backups[PATH_SIZE];

    (void)snprintf(killed, sizeof(killed), "%s/killed", fixture->directory);
    (void)snprintf(backups, sizeof(backups), "%s/backups", fixture->directory);
    write_killed(fixture->path, "0", "1000", "old");
    OK(open_with(fixture, NULL, NULL));
    OK(put(fixture->engine, family_of(fixture, "rows"), "00007", "kept", NULL));
    OK(engine_backup(fixture->engine, backups, 0, NULL,
                     &(struct colander_backup){0}, NULL));
    OK(put(fixture->engine, family_of(fixture, "rows"), "00007", "new", NULL));
    OK(engine_family_flush(family_of(fixture, "rows"), NULL));
    close_engine(fixture);
    write_killed(fixture->path, "1000", "2000", "later");
    shell("cp -a '%s' '%s'", fixture->path, killed);
    for (size_t i = 0; i < COUNT(parts); i++) {
        shell("rm -rf '%s' && cp -a '%s' '%s'", fixture->path, killed,
              fixture->path);
        shell("cd '%s'/000001 && for file in %s; do "
              "cp -r $file '%s'/$file; done",
              backups, parts[i], fixture->path);
        printf("%s\n", parts[i]);
        assert_refused(fixture->path, "");
    }
}

/* So it was with a ledger without sums, or without one. */
ENGINE_TEST(a_log_that_begins_too_late_is_refused_without_a_ledger)
{
    char path[PATH_SIZE];
    char old[PATH_SIZE];
    const char *name;

    (void)snprintf(old, sizeof(old), "%s/old", fixture->directory);
    write_killed(fixture->path, "0", "100", "old");
    OK(open_with(fixture, NULL, NULL));
    close_engine(fixture);
    shell("cp -a '%s' '%s'", fixture->path, old);
    write_killed(fixture->path, "100", "200", "lost");
    write_killed(fixture->path, "200", "300", "later");
    name = find_log(fixture->path, path);
    shell("cp '%s' '%s/rocksdb/'", path, old);
    ledger_remove(old);
    assert_refused(old, name);
}

/* RocksDB would end the process: with the ledger and without. */
ENGINE_TEST(a_log_that_repeats_its_beginning_is_refused)
{
    char path[PATH_SIZE];
    const char *name;

    write_killed(fixture->path, "0", "1000", "value");
    name = find_log(fixture->path, path);
    shell("head -c 4000 '%s' >'%s.end' && cat '%s.end' >>'%s' && rm '%s.end'",
          path, path, path, path, path);
    assert_refused(fixture->path, name);
    ledger_remove(fixture->path);
    assert_refused(fixture->path, name);
}

/* Appends a record of a log of one block to a log: the last one of at least
 * `least` bytes of the first `count`. */
static void
append_record(const char *to, const char *from, unsigned count, size_t least)
{
    uint8_t bytes[32768];
    FILE *file = fopen(from, "rb");
    const size_t size = fread(bytes, 1, sizeof(bytes), file);
    size_t record = 0;
    size_t record_size = 0;
    size_t step;

    ZERO(fclose(file));
    assert_in_range(size, 1, sizeof(bytes) - 1);
    for (size_t at = 0; at < size && count > 0; at += step, count--) {
        step = 7U + bytes[at + 4] + 256U * bytes[at + 5];
        if (step >= least) {
            record = at;
            record_size = step;
        }
    }
    file = fopen(to, "ab");
    assert_int_equal(fwrite(bytes + record, 1, record_size, file), record_size);
    ZERO(fclose(file));
}

/* The store is refused with its ledger, and without one. */
static void
assert_refused_by_sequence(const char *store, const char *name)
{
    assert_refused(store, name);
    ledger_remove(store);
    assert_refused(store, name);
}

/* No note covers the end of a log. */
ENGINE_TEST(a_log_that_repeats_one_of_its_records_is_refused)
{
    static const unsigned records[] = {1, 2, 150, 199, 200};
    char path[PATH_SIZE];
    char old[PATH_SIZE];
    const char *name;

    (void)snprintf(old, sizeof(old), "%s/old", fixture->directory);
    write_killed(old, "0", "200", "value");
    for (size_t i = 0; i < COUNT(records); i++) {
        shell("rm -rf '%s' && cp -a '%s' '%s'", fixture->path, old,
              fixture->path);
        name = find_log(fixture->path, path);
        append_record(path, path, records[i], 0);
        assert_refused_by_sequence(fixture->path, name);
    }
}

ENGINE_TEST(a_log_that_repeats_a_record_of_an_earlier_one_is_refused)
{
    char old[PATH_SIZE];
    char path[PATH_SIZE];
    const char *name;

    (void)snprintf(old, sizeof(old), "%s/old.log", fixture->directory);
    write_killed(fixture->path, "0", "100", "old");
    (void)find_log(fixture->path, path);
    shell("cp '%s' '%s'", path, old);
    write_killed(fixture->path, "100", "200", "new");
    name = find_log(fixture->path, path);
    append_record(path, old, 100, 0);
    assert_refused_by_sequence(fixture->path, name);
}

/* Both logs are replayed. */
ENGINE_TEST(a_log_that_repeats_the_last_record_of_the_one_before_is_refused)
{
    char path[PATH_SIZE];
    char later[PATH_SIZE];

    write_killed(fixture->path, "0", "100", "value");
    (void)find_log(fixture->path, path);
    (void)snprintf(later, sizeof(later), "%s/rocksdb/000777.log",
                   fixture->path);
    append_record(later, path, 100, 0);
    assert_refused_by_sequence(fixture->path, "000777.log");
}

/* Swaps the second block of a log and the third. */
static void
swap_blocks(const char *store, const char *name)
{
    shell("cd '%s' && f=rocksdb/'%s' && "
          "dd if=$f of=one bs=32768 skip=1 count=1 2>/dev/null && "
          "dd if=$f of=two bs=32768 skip=2 count=1 2>/dev/null && "
          "dd if=two of=$f bs=32768 seek=1 conv=notrunc 2>/dev/null && "
          "dd if=one of=$f bs=32768 seek=2 conv=notrunc 2>/dev/null && "
          "rm one two",
          store, name);
}

/* Its writes are later than those of the store, and no note covers them. */
ENGINE_TEST(a_log_that_continues_with_that_of_another_store_is_refused)
{
    char other[PATH_SIZE];
    char path[PATH_SIZE];
    char other_path[PATH_SIZE];
    const char *name;

    (void)snprintf(other, sizeof(other), "%s/other", fixture->directory);
    write_killed(fixture->path, "0", "1000", "mine");
    write_killed(other, "0", "2000", "other");
    write_killed(other, "0", "10", "later");
    (void)find_log(other, other_path);
    name = find_log(fixture->path, path);
    shell("cat '%s' >>'%s'", other_path, path);
    assert_refused(fixture->path, name);
}

/* The checksum of each piece of a record is right wherever the piece is. */
ENGINE_TEST(blocks_of_a_log_in_each_others_place_are_refused)
{
    static char value[120000];
    char path[PATH_SIZE];
    const char *name;

    for (size_t i = 0; i + 1 < sizeof(value); i++)
        value[i] = (char)('a' + i / 3000);
    write_killed(fixture->path, "0", "4", value);
    name = find_log(fixture->path, path);
    swap_blocks(fixture->path, name);
    assert_refused(fixture->path, name);
}

/* Without a ledger RocksDB meets it, and names no file. */
ENGINE_TEST(a_write_that_cannot_be_applied_names_its_log)
{
    const char *const arguments[] = {"test", "--batch", fixture->path, NULL};
    char path[PATH_SIZE];
    const char *name;

    assert_true(WIFSIGNALED(child_run(arguments)));
    name = find_log(fixture->path, path);
    swap_blocks(fixture->path, name);
    ledger_remove(fixture->path);
    assert_refused(fixture->path, name);
}

/* RocksDB would name the file by its number. */
ENGINE_TEST(a_manifest_that_adds_a_table_twice_names_it)
{
    struct engine_family *rows = open_with_family(fixture, "rows");
    char path[PATH_SIZE];
    const char *name;
    glob_t found;

    OK(put(fixture->engine, rows, "key", "value", NULL));
    OK(engine_family_flush(rows, NULL));
    close_engine(fixture);
    (void)snprintf(path, sizeof(path), "%s/rocksdb/*.sst", fixture->path);
    ZERO(glob(path, 0, NULL, &found));
    assert_int_equal(found.gl_pathc, 1);
    name = strrchr(found.gl_pathv[0], '/') + 1;
    (void)snprintf(path, sizeof(path), "%s/rocksdb/MANIFEST-*", fixture->path);
    ZERO(glob(path, GLOB_APPEND, NULL, &found));
    assert_int_equal(found.gl_pathc, 2);
    /* other records are short */
    append_record(found.gl_pathv[1], found.gl_pathv[1], UINT_MAX, 60);
    ledger_remove(fixture->path);
    assert_refused(fixture->path, name);
    globfree(&found);
}
