/*
 * Backups: the files they share, what prevents a backup, and how they are
 * restored and removed.
 *
 * SPDX-License-Identifier: MIT
 */
#include "support/cases.h"
#include "support/damage.h"
#include "support/interposed_calls.h"
#include "support/scoped.h"
#include "support/store_fixture.h"

#include <errno.h>
#include <sys/file.h>

static char watched[PATH_MAX]; /* a directory whose syncs are counted */
static unsigned watched_syncs;

PUBLIC int
fsync(int fd)
{
    char path[PATH_MAX];

    if (path_of_descriptor(fd, path) && strcmp(path, watched) == 0)
        watched_syncs++;
    return REAL(fsync)(fd);
}

/* Behaves as on NFS. */
PUBLIC int
flock(int fd, int operation)
{
    if ((operation & LOCK_EX) != 0 &&
        (fcntl(fd, F_GETFL) & O_ACCMODE) == O_RDONLY) {
        errno = EBADF;
        return -1;
    }
    return REAL(flock)(fd, operation);
}

struct backups {
    struct store_fixture *fixture;
    char place[TEMPORARY_SIZE];
    char directory[PATH_SIZE]; /* with the backups */
    char restored[PATH_SIZE];
    struct colander_error err;
};

static int
setup(void **state)
{
    struct backups *backups = calloc(1, sizeof(*backups));
    void *fixture;

    assert_non_null(backups);
    (void)fixture_setup(&fixture);
    backups->fixture = fixture;
    temporary_make(backups->place);
    (void)snprintf(backups->directory, PATH_SIZE, "%s/backups", backups->place);
    (void)snprintf(backups->restored, PATH_SIZE, "%s/restored", backups->place);
    *state = backups;
    return 0;
}

static int
teardown(void **state)
{
    struct backups *backups = *state;
    void *fixture = backups->fixture;
    int result = fixture_teardown(&fixture);

    temporary_remove(backups->place);
    free(backups);
    return result;
}

/* ---------------------------------------------------------------- tools --- */

static struct colander_backup
back_up(struct backups *backups, uint64_t keep_count)
{
    struct colander_backup made;

    if (colander_store_backup(backups->fixture->store, backups->directory,
                              keep_count, &made, &backups->err) != COLANDER_OK)
        fail_msg("%s", backups->err.message);
    return made;
}

/* Puts rows n, n + 1, ... of a family, and flushes them to an SST. */
static void
add_file(struct backups *backups, const char *name, int64_t first)
{
    SCOPED_FAMILY family = fixture_family(backups->fixture, name);
    char key[32];

    for (int64_t i = first; i < first + 1000; i++) {
        (void)snprintf(key, sizeof(key), "%06lld", (long long)i);
        OK(put_text(backups->fixture, family, key, "n", colander_integer(i),
                    NULL));
    }
    OK(colander_family_flush(family, NULL));
}

/* The number that `command` prints in the shell; %s is a directory. */
static unsigned
count_of(const char *command, const char *directory)
{
    char whole[2 * PATH_SIZE];
    unsigned count = 0;
    FILE *output;

    (void)snprintf(whole, sizeof(whole), command, directory);
    output = popen(whole, "r");
    assert_non_null(output);
    assert_int_equal(fscanf(output, "%u", &count), 1);
    ZERO(pclose(output));
    return count;
}

static void
in_backups(struct backups *backups, const char *command)
{
    char whole[2 * PATH_SIZE];

    (void)snprintf(whole, sizeof(whole), "cd '%s' && %s", backups->directory,
                   command);
    run(whole);
}

static uint64_t
rows_of(const char *path, const char *name)
{
    struct colander_options options = usual_options();
    struct colander_store *store;
    struct colander_family *family;
    uint64_t count;

    options.mode = COLANDER_OPEN_READ_ONLY;
    OK(colander_store_open(path, &options, &store, why()));
    OK(colander_family_open(store, name, &family, NULL));
    count = count_rows(family);
    colander_family_close(family);
    OK(colander_store_close(store, NULL));
    return count;
}

static uint64_t
rows_of_backup(const struct backups *backups, uint64_t number, const char *name)
{
    char path[2 * PATH_SIZE];

    (void)snprintf(path, sizeof(path), "%s/%06" PRIu64, backups->directory,
                   number);
    return rows_of(path, name);
}

static void
refuses_backup(struct backups *backups, enum colander_code code,
               const char *part)
{
    struct colander_error *err = &backups->err;

    assert_int_equal(colander_store_backup(backups->fixture->store,
                                           backups->directory, 0, NULL, err),
                     code);
    assert_int_equal(err->code, code);
    if (strstr(err->message, part) == NULL)
        fail_msg("'%s' is not in: %s", part, err->message);
}

static void
refuses_restore(struct backups *backups, uint64_t number,
                enum colander_code code, const char *part)
{
    struct colander_error *err = &backups->err;

    assert_int_equal(colander_backup_restore(backups->directory, number,
                                             backups->restored, NULL, err),
                     code);
    if (strstr(err->message, part) == NULL)
        fail_msg("'%s' is not in: %s", part, err->message);
}

/* ---------------------------------------------------------------- tests --- */

#define PREPARED_TEST(name)                                                    \
    TEST_WITH(struct backups *backups, name, setup, teardown)

PREPARED_TEST(files_that_stay_are_copied_once)
{
    struct colander_backup made;

    add_file(backups, "rows", 0);
    made = back_up(backups, 0);
    assert_int_equal(made.number, 1);
    assert_int_equal(made.copied_count, made.file_count);
    add_file(backups, "rows", 1000);
    made = back_up(backups, 0);
    assert_int_equal(made.number, 2);
    assert_true(made.copied_count < made.file_count);
    /* The first SST is one file with two names; the second has one name. */
    assert_int_equal(
        count_of("find '%s' -name '*.sst' | wc -l", backups->directory), 3);
    assert_int_equal(count_of("find '%s' -name '*.sst' -links 2 | wc -l",
                              backups->directory),
                     2);
    assert_int_equal(rows_of_backup(backups, 1, "rows"), 1000);
    assert_int_equal(rows_of_backup(backups, 2, "rows"), 2000);
}

/* Like a store that was created again, whose file numbers restart. */
PREPARED_TEST(another_file_of_the_same_name_is_copied)
{
    add_file(backups, "rows", 0);
    (void)back_up(backups, 0);
    /* Its last bytes differ. */
    in_backups(backups,
               "for f in 000001/rocksdb/*.sst; do "
               "cp $f x && s=$(stat -c %s x) && printf '\\001\\002\\003' | "
               "dd of=x bs=1 seek=$((s - 100)) conv=notrunc status=none && "
               "mv x $f; done");
    (void)back_up(backups, 0);
    assert_int_equal(count_of("find '%s/000002' -name '*.sst' -links 1 | wc -l",
                              backups->directory),
                     1);
    assert_int_equal(rows_of_backup(backups, 2, "rows"), 1000);
}

PREPARED_TEST(rows_in_the_log_and_marks_are_backed_up)
{
    struct colander_family *family = fixture_family(backups->fixture, "rows");
    const struct colander_slice name = colander_slice_text("place");
    SCOPED_BUFFER mark = COLANDER_BUFFER_EMPTY;
    struct colander_batch *batch;
    struct colander_store *store;
    bool found;

    OK(put_text(backups->fixture, family, "k", "n", colander_integer(1), NULL));
    OK(colander_batch_create(backups->fixture->store, &batch, NULL));
    OK(colander_batch_mark(batch, family, name, colander_slice_text("here"),
                           NULL));
    OK(colander_batch_commit(batch, NULL, NULL));
    colander_batch_destroy(batch);
    colander_family_close(family);
    (void)back_up(backups, 0);
    OK(colander_backup_restore(backups->directory, 0, backups->restored, NULL,
                               NULL));
    OK(colander_store_open(backups->restored, NULL, &store, NULL));
    OK(colander_family_open(store, "rows", &family, NULL));
    assert_row(family, "k", "{\"_key\":\"k\",\"n\":1}");
    OK(colander_family_mark(family, name, &mark, &found, NULL));
    assert_true(found);
    assert_memory_equal(mark.data, "here", mark.size);
    colander_family_close(family);
    OK(colander_store_close(store, NULL));
}

/* The log of a backup was cut between two records. The ledger detects it. */
PREPARED_TEST(a_backup_knows_how_far_its_logs_go)
{
    struct colander_family *family = fixture_family(backups->fixture, "rows");

    OK(put_text(backups->fixture, family, "k", "n", colander_integer(1), NULL));
    colander_family_close(family);
    (void)back_up(backups, 0);
    in_backups(backups, "for f in 000001/rocksdb/*.log; do : > $f; done");
    refuses_restore(backups, 0, COLANDER_CORRUPT, ".log");
    in_backups(backups, "rm 000001/rocksdb/*.log");
    refuses_restore(backups, 0, COLANDER_CORRUPT, ".log");
}

PREPARED_TEST(the_oldest_go_and_the_others_stay_whole)
{
    for (int64_t i = 0; i < 4; i++) {
        add_file(backups, "rows", 1000 * i);
        assert_int_equal(back_up(backups, 2).removed_count, i >= 2);
    }
    assert_int_equal(count_of("ls -d '%s'/0* | wc -l", backups->directory), 2);
    assert_int_equal(rows_of_backup(backups, 3, "rows"), 3000);
    assert_int_equal(rows_of_backup(backups, 4, "rows"), 4000);
    refuses_restore(backups, 1, COLANDER_NOT_FOUND,
                    "no backup 1, but 2 others");
    in_backups(backups, "rm -r 000004"); /* by hand */
    assert_int_equal(back_up(backups, 0).number, 4);
}

PREPARED_TEST(what_killed_processes_leave_is_removed)
{
    add_file(backups, "rows", 0);
    (void)back_up(backups, 0);
    in_backups(backups, "cp -r 000001 000002.part && cp -r 000001 000005.gone");
    OK(colander_backup_restore(backups->directory, 0, backups->restored, NULL,
                               NULL));
    assert_int_equal(back_up(backups, 0).number, 2);
    assert_int_equal(
        count_of("ls '%s' | grep -c '[.]' | cat", backups->directory), 0);
}

PREPARED_TEST(a_damaged_store_has_no_new_backup)
{
    char command[2 * PATH_SIZE];

    add_file(backups, "rows", 0);
    (void)back_up(backups, 0);
    add_file(backups, "rows", 1000);
    (void)snprintf(command, sizeof(command),
                   "cd '%s' && f=$(ls rocksdb/*.sst | tail -n 1) && "
                   "printf '\\001\\002\\003' | "
                   "dd of=$f bs=1 seek=500 conv=notrunc status=none",
                   backups->fixture->directory);
    run(command);
    refuses_backup(backups, COLANDER_CORRUPT, ".sst");
    (void)snprintf(command, sizeof(command), "rm '%s'/rocksdb/*.sst",
                   backups->fixture->directory);
    run(command);
    refuses_backup(backups, COLANDER_CORRUPT, ".sst' is missing");
    assert_int_equal(count_of("ls -A '%s' | wc -l", backups->directory), 2);
    assert_int_equal(rows_of_backup(backups, 1, "rows"), 1000);
}

/* A log of this process cannot be torn, nor be empty without damage. */
PREPARED_TEST(a_log_with_a_bad_end_is_not_backed_up)
{
    static const char *const damages[] = {
        "truncate -s 0 $f",
        "truncate -s 9 $f",
        "truncate -s -3 $f",
        "truncate -s $(($(wc -c < $f) / 2)) $f", /* after the first record */
        "printf x | dd of=$f bs=1 seek=40 conv=notrunc status=none",
        "rm $f"};
    struct colander_family *family = fixture_family(backups->fixture, "rows");
    char command[4 * PATH_SIZE];

    OK(put_text(backups->fixture, family, "k", "n", colander_integer(1), NULL));
    OK(put_text(backups->fixture, family, "l", "n", colander_integer(2), NULL));
    colander_family_close(family);
    for (size_t i = 0; i < 6; i++) {
        (void)snprintf(command, sizeof(command),
                       "cd '%s' && kept='%s' && if [ ! -e $kept/log ]; then "
                       "ls rocksdb/*.log | tail -n 1 > $kept/name; "
                       "cp $(cat $kept/name) $kept/log; fi && "
                       "f=$(cat $kept/name) && cp $kept/log $f && %s",
                       backups->fixture->directory, backups->place, damages[i]);
        run(command);
        refuses_backup(backups, COLANDER_CORRUPT, ".log");
    }
}

/* Another intact file under its name. */
PREPARED_TEST(a_file_of_another_size_is_not_backed_up)
{
    char command[2 * PATH_SIZE];

    add_file(backups, "rows", 0);
    add_file(backups, "others", 0);
    add_file(backups, "others", 1000);
    (void)snprintf(command, sizeof(command),
                   "cd '%s/rocksdb' && set -- *.sst && cat $2 >> $1",
                   backups->fixture->directory);
    run(command);
    refuses_backup(backups, COLANDER_CORRUPT, "bytes, and");
}

PREPARED_TEST(a_backup_that_is_read_is_not_written)
{
    struct colander_options options = usual_options();
    struct colander_store *readers;
    struct colander_store *store;
    char path[2 * PATH_SIZE];

    (void)back_up(backups, 0);
    (void)snprintf(path, sizeof(path), "%s/000001", backups->directory);
    options.mode = COLANDER_OPEN_READ_ONLY;
    OK(colander_store_open(path, &options, &readers, NULL));
    FAILS(colander_store_open(path, NULL, &store, NULL), COLANDER_BUSY);
    OK(colander_store_close(readers, NULL));
}

PREPARED_TEST(only_directories_of_backups_are_written)
{
    ZERO(mkdir(backups->directory, 0700));
    in_backups(backups, "echo precious > letter");
    refuses_backup(backups, COLANDER_INVALID,
                   "it is not a directory of backups");
    assert_int_equal(count_of("ls -A '%s' | wc -l", backups->directory), 1);
    in_backups(backups, "rm letter");
    assert_int_equal(back_up(backups, 0).number, 1);
    memcpy(backups->directory, backups->fixture->directory, TEMPORARY_SIZE);
    refuses_backup(backups, COLANDER_INVALID, "it is in the store");
    strcat(backups->directory, "/bulk-of-mine"); /* which an open deletes */
    refuses_backup(backups, COLANDER_INVALID, "it is in the store");
    assert_int_equal(access(backups->directory, F_OK), -1);
}

PREPARED_TEST(the_name_of_the_directory_is_on_the_disk)
{
    assert_non_null(realpath(backups->place, watched));
    watched_syncs = 0;
    (void)back_up(backups, 0);
    assert_true(watched_syncs > 0);
    watched[0] = '\0';
}

PREPARED_TEST(the_highest_number_is_not_a_backup)
{
    add_file(backups, "rows", 0);
    (void)back_up(backups, 0);
    in_backups(backups, "mkdir 18446744073709551615");
    assert_int_equal(back_up(backups, 0).number, 2);
}

/* Locks the directory as another process would. */
PREPARED_TEST(one_backup_is_made_at_a_time)
{
    char path[2 * PATH_SIZE];
    int fd;

    (void)back_up(backups, 0);
    (void)snprintf(path, sizeof(path), "%s/BACKUPS", backups->directory);
    fd = open(path, O_RDWR);
    assert_int_equal(flock(fd, LOCK_EX), 0);
    refuses_backup(backups, COLANDER_BUSY, "another process");
    refuses_restore(backups, 0, COLANDER_BUSY, "another process");
    (void)close(fd);
    assert_int_equal(back_up(backups, 0).number, 2);
}

PREPARED_TEST(a_damaged_backup_is_not_restored)
{
    add_file(backups, "rows", 0);
    (void)back_up(backups, 0);
    in_backups(backups,
               "for f in 000001/rocksdb/*.sst; do "
               "printf '\\001\\002\\003' | "
               "dd of=$f bs=1 seek=500 conv=notrunc status=none; done");
    refuses_restore(backups, 0, COLANDER_CORRUPT, ".sst");
    assert_int_equal(count_of("ls -A '%s' | wc -l", backups->restored), 0);
    refuses_restore(backups, 0, COLANDER_CORRUPT, ".sst"); /* again */
}

PREPARED_TEST(a_backup_that_lacks_a_file_is_not_restored)
{
    add_file(backups, "rows", 0);
    (void)back_up(backups, 0);
    in_backups(backups, "rm $(ls 000001/rocksdb/*.sst | tail -n 1)");
    refuses_restore(backups, 0, COLANDER_CORRUPT, ".sst");
    assert_int_equal(count_of("ls -A '%s' | wc -l", backups->restored), 0);
}

PREPARED_TEST(pipes_in_a_backup_are_not_waited_for)
{
    add_file(backups, "rows", 0);
    (void)back_up(backups, 0);
    in_backups(backups, "mkfifo 000001/rocksdb/pipe");
    (void)alarm(60);
    refuses_restore(backups, 0, COLANDER_CORRUPT,
                    "pipe' is not a regular file");
    (void)alarm(0);
}

/* As a process leaves it that is killed during a restore: no logs yet. */
PREPARED_TEST(a_killed_restore_is_not_a_store_and_can_be_repeated)
{
    const char *at = backups->restored;
    struct colander_family *family = fixture_family(backups->fixture, "rows");
    struct colander_check check = {.file_count = 0};
    struct colander_options options;
    struct colander_store *store;

    OK(put_text(backups->fixture, family, "k", "n", colander_integer(1), NULL));
    colander_family_close(family);
    (void)back_up(backups, 0);
    in_backups(backups, "cp -r 000001 ../restored && cd ../restored && "
                        "rm COLANDER rocksdb/*.log && touch LOCK RESTORING");
    FAILS(colander_store_open(at, NULL, &store, NULL), COLANDER_INVALID);
    FAILS(colander_store_repair(at, &check, NULL, NULL, NULL),
          COLANDER_INVALID);
    FAILS(colander_salvage_options(at, "/", &options, NULL), COLANDER_INVALID);
    OK(colander_backup_restore(backups->directory, 0, at, NULL, NULL));
    assert_int_equal(rows_of(at, "rows"), 1);
    assert_int_equal(count_of("ls '%s' | grep -c RESTORING | cat", at), 0);
}

PREPARED_TEST(a_store_is_restored_only_where_nothing_is)
{
    char one[2 * PATH_SIZE];

    refuses_restore(backups, 0, COLANDER_NOT_FOUND, "no such directory");
    add_file(backups, "rows", 0);
    (void)back_up(backups, 0);
    refuses_restore(backups, 7, COLANDER_NOT_FOUND, "no backup 7");
    ZERO(mkdir(backups->restored, 0700));
    (void)snprintf(one, sizeof(one), "touch '%s/letter'", backups->restored);
    run(one);
    refuses_restore(backups, 0, COLANDER_INVALID, "it has files");
    (void)snprintf(one, sizeof(one), "rm '%s/letter'", backups->restored);
    run(one);
    OK(colander_backup_restore(backups->directory, 1, backups->restored, NULL,
                               NULL));
    refuses_restore(backups, 1, COLANDER_EXISTS, "a store already");
    assert_int_equal(rows_of(backups->restored, "rows"), 1000);
    temporary_remove(backups->restored);
    (void)snprintf(one, sizeof(one), "%s/000001", backups->directory);
    OK(colander_backup_restore(one, 0, backups->restored, NULL, NULL));
    assert_int_equal(rows_of(backups->restored, "rows"), 1000);
}

PREPARED_TEST(a_store_that_is_read_only_can_be_backed_up)
{
    struct colander_family *family = fixture_family(backups->fixture, "rows");

    OK(put_text(backups->fixture, family, "k", "n", colander_integer(1), NULL));
    colander_family_close(family);
    fixture_reopen(backups->fixture, COLANDER_OPEN_READ_ONLY);
    (void)back_up(backups, 0);
    assert_int_equal(rows_of_backup(backups, 1, "rows"), 1);
}
