/*
 * Opening and closing: what is on disk, who holds it, what is left behind.
 *
 * SPDX-License-Identifier: MIT
 */
#include "support/engine_fixture.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>

/* ------------------------------------------------------- opening stores --- */

static void
missing_store_is_not_found(void **state)
{
    struct fixture *fixture = *state;
    struct colander_error err;
    char expected[600];

    (void)snprintf(expected, sizeof(expected),
                   "cannot open store '%s': there is no such store",
                   fixture->path);
    assert_int_equal(open_as(fixture, COLANDER_OPEN_EXISTING, &err),
                     COLANDER_NOT_FOUND);
    assert_string_equal(err.message, expected);
    assert_int_equal(open_as(fixture, COLANDER_OPEN_READ_ONLY, &err),
                     COLANDER_NOT_FOUND);
    assert_null(fixture->engine);
    assert_int_not_equal(access(fixture->path, F_OK), 0);
}

static void
new_store_is_not_made_over_another(void **state)
{
    struct fixture *fixture = *state;
    struct colander_error err;

    assert_int_equal(open_as(fixture, COLANDER_OPEN_NEW, &err), COLANDER_OK);
    close_engine(fixture);
    assert_int_equal(open_as(fixture, COLANDER_OPEN_NEW, &err),
                     COLANDER_EXISTS);
    assert_int_equal(open_as(fixture, COLANDER_OPEN_EXISTING, &err),
                     COLANDER_OK);
}

static void
directory_of_somebody_else_is_left_alone(void **state)
{
    struct fixture *fixture = *state;
    struct colander_error err;
    char file[TEMPORARY_SIZE + 32];
    DIR *stream;
    int count = 0;

    (void)snprintf(file, sizeof(file), "%s/letter", fixture->path);
    assert_int_equal(mkdir(fixture->path, 0755), 0);
    assert_int_equal(close(open(file, O_CREAT | O_WRONLY, 0644)), 0);
    assert_int_equal(open_with(fixture, NULL, &err), COLANDER_INVALID);
    assert_non_null(strstr(err.message, "it is not a store: it has files, but "
                                        "no 'COLANDER'"));
    stream = opendir(fixture->path);
    while (readdir(stream) != NULL)
        count++;
    closedir(stream);
    assert_int_equal(count, 3); /* ., .., letter */
}

static void
file_is_no_store(void **state)
{
    struct fixture *fixture = *state;
    struct colander_error err;

    assert_int_equal(close(open(fixture->path, O_CREAT | O_WRONLY, 0644)), 0);
    assert_int_equal(open_with(fixture, NULL, &err), COLANDER_INVALID);
    assert_non_null(strstr(err.message, "not a directory"));
}

static void
unfinished_creation_is_finished(void **state)
{
    struct fixture *fixture = *state;
    char record[TEMPORARY_SIZE + 32];

    assert_int_equal(open_with(fixture, NULL, NULL), COLANDER_OK);
    close_engine(fixture);
    (void)snprintf(record, sizeof(record), "%s/COLANDER", fixture->path);
    assert_int_equal(unlink(record), 0);
    assert_int_equal(open_as(fixture, COLANDER_OPEN_EXISTING, NULL),
                     COLANDER_NOT_FOUND);
    assert_int_equal(open_with(fixture, NULL, NULL), COLANDER_OK);
}

static void
store_without_its_database_is_corrupt(void **state)
{
    struct fixture *fixture = *state;
    struct colander_error err;
    char path[TEMPORARY_SIZE + 32];

    assert_int_equal(open_with(fixture, NULL, NULL), COLANDER_OK);
    close_engine(fixture);
    (void)snprintf(path, sizeof(path), "%s/rocksdb", fixture->path);
    temporary_remove(path);
    assert_int_equal(open_with(fixture, NULL, &err), COLANDER_CORRUPT);
    assert_non_null(strstr(err.message, "cannot open the database"));
    assert_int_equal(open_as(fixture, COLANDER_OPEN_READ_ONLY, &err),
                     COLANDER_CORRUPT);
}

static void
damaged_record_is_corrupt_and_newer_is_too_new(void **state)
{
    struct fixture *fixture = *state;
    struct colander_error err;
    char path[TEMPORARY_SIZE + 32];
    FILE *file;

    assert_int_equal(open_with(fixture, NULL, NULL), COLANDER_OK);
    close_engine(fixture);
    (void)snprintf(path, sizeof(path), "%s/COLANDER", fixture->path);
    file = fopen(path, "w");
    fputs("colander store 1\ncompression lz5\n", file);
    fclose(file);
    assert_int_equal(open_with(fixture, NULL, &err), COLANDER_CORRUPT);
    assert_non_null(strstr(err.message, "damaged at line 2"));
    file = fopen(path, "w");
    fputs("colander store 77\n", file);
    fclose(file);
    assert_int_equal(open_with(fixture, NULL, &err), COLANDER_TOO_NEW);
}

static void
files_are_for_the_owner_alone(void **state)
{
    static const char *const directories[] = {"", "/rocksdb"};
    struct fixture *fixture = *state;
    struct colander_engine_family *family;

    umask(0);
    assert_int_equal(open_with(fixture, NULL, NULL), COLANDER_OK);
    family = family_of(fixture, "f");
    assert_int_equal(put(fixture->engine, family, "k", "v", NULL), COLANDER_OK);
    assert_int_equal(colander_engine_family_flush(family, NULL), COLANDER_OK);
    colander_engine_family_close(family);
    close_engine(fixture);
    assert_int_equal(open_with(fixture, NULL, NULL), COLANDER_OK);
    for (size_t i = 0; i < 2; i++) {
        char path[2 * TEMPORARY_SIZE];
        struct dirent *entry;
        struct stat status;
        int seen = 0;
        DIR *stream;

        (void)snprintf(path, sizeof(path), "%s%s", fixture->path,
                       directories[i]);
        assert_int_equal(stat(path, &status), 0);
        assert_int_equal(status.st_mode & 07777, 0700);
        stream = opendir(path);
        while ((entry = readdir(stream)) != NULL) {
            assert_int_equal(fstatat(dirfd(stream), entry->d_name, &status, 0),
                             0);
            if (S_ISREG(status.st_mode)) {
                if ((status.st_mode & 07777) != 0600)
                    fail_msg("%s/%s has mode %o", path, entry->d_name,
                             status.st_mode & 07777);
                seen++;
            }
        }
        closedir(stream);
        assert_true(seen >= 2);
    }
}

static void
options_are_kept_in_the_store(void **state)
{
    struct fixture *fixture = *state;
    struct colander_options options;

    colander_options_init(&options);
    options.compression = COLANDER_COMPRESSION_ZSTD;
    options.compaction = COLANDER_COMPACTION_UNIVERSAL;
    options.block_size = 8192;
    assert_int_equal(open_with(fixture, &options, NULL), COLANDER_OK);
    close_engine(fixture);
    assert_int_equal(open_with(fixture, NULL, NULL), COLANDER_OK);
    colander_engine_options(fixture->engine, &options);
    assert_int_equal(options.compression, COLANDER_COMPRESSION_ZSTD);
    assert_int_equal(options.compaction, COLANDER_COMPACTION_UNIVERSAL);
    assert_int_equal(options.block_size, 8192);
    assert_int_equal(options.sst_size, 64 << 20);
    close_engine(fixture);
    options.block_size = 4096;
    assert_int_equal(open_with(fixture, &options, NULL), COLANDER_OK);
    close_engine(fixture);
    assert_int_equal(open_with(fixture, NULL, NULL), COLANDER_OK);
    colander_engine_options(fixture->engine, &options);
    assert_int_equal(options.block_size, 4096);
}

/* --------------------------------------------------------------- locks --- */

static void
second_open_in_one_process_is_busy(void **state)
{
    struct fixture *fixture = *state;
    struct colander_engine *second;
    struct colander_error err;

    assert_int_equal(open_with(fixture, NULL, NULL), COLANDER_OK);
    assert_int_equal(colander_engine_open(fixture->path, NULL, &second, &err),
                     COLANDER_BUSY);
    assert_null(second);
    assert_non_null(strstr(err.message, "open in this process already"));
}

/*
 * Other processes are this program again, started afresh with a role: a forked
 * child must not use RocksDB, whose threads stayed with its parent.
 */
static pid_t
start_role(const char *role, const char *path, enum colander_open_mode mode,
           int ready, int stop)
{
    char numbers[3][16];
    pid_t child;

    (void)snprintf(numbers[0], sizeof(numbers[0]), "%d", (int)mode);
    (void)snprintf(numbers[1], sizeof(numbers[1]), "%d", ready);
    (void)snprintf(numbers[2], sizeof(numbers[2]), "%d", stop);
    child = fork();
    if (child == 0) {
        execl("/proc/self/exe", "test", role, path, numbers[0], numbers[1],
              numbers[2], (char *)NULL);
        _exit(127);
    }
    return child;
}

/* Role: holds the store until the pipe closes. */
static int
hold(const char *path, enum colander_open_mode mode, int ready, int stop)
{
    struct colander_options options;
    struct colander_engine *engine;
    char byte = 'r';

    colander_options_init(&options);
    options.mode = mode;
    if (colander_engine_open(path, &options, &engine, NULL) != COLANDER_OK)
        return 1;
    if (write(ready, &byte, 1) != 1 || read(stop, &byte, 1) != 0)
        return 2;
    return colander_engine_close(engine, NULL) == COLANDER_OK ? 0 : 3;
}

/* Role: writes one key and is killed. */
static int
write_and_die(const char *path)
{
    struct colander_engine_family *family;
    struct colander_engine *engine;

    if (colander_engine_open(path, NULL, &engine, NULL) != COLANDER_OK ||
        colander_engine_family_open(engine, "f", true, &family, NULL) !=
            COLANDER_OK ||
        put(engine, family, "k", "v", NULL) != COLANDER_OK)
        return 1;
    (void)raise(SIGKILL);
    return 2;
}

/* Role, as nobody: says what opening a store of somebody else says. */
static int
trespass(const char *path)
{
    struct colander_engine *engine;
    struct colander_error err;

    if (setgid(65534) != 0 || setuid(65534) != 0)
        return 1;
    if (colander_engine_open(path, NULL, &engine, &err) != COLANDER_IO)
        return 2;
    return strstr(err.message, "Permission denied") == NULL ? 3 : 0;
}

static int
wait_for(pid_t child)
{
    int status;

    assert_int_equal(waitpid(child, &status, 0), child);
    return status;
}

/* What opening says while another process holds the store. */
static enum colander_code
open_beside(struct fixture *fixture, enum colander_open_mode theirs,
            enum colander_open_mode ours, pid_t *holder,
            struct colander_error *err)
{
    int ready[2];
    int stop[2];
    enum colander_code code;
    char byte;

    assert_int_equal(pipe(ready), 0);
    assert_int_equal(pipe(stop), 0);
    assert_int_equal(fcntl(stop[1], F_SETFD, FD_CLOEXEC), 0);
    *holder = start_role("--hold", fixture->path, theirs, ready[1], stop[0]);
    close(ready[1]);
    assert_int_equal(read(ready[0], &byte, 1), 1);
    code = open_as(fixture, ours, err);
    close(stop[1]);
    close(stop[0]);
    close(ready[0]);
    assert_int_equal(wait_for(*holder), 0);
    return code;
}

static void
store_held_by_another_process_names_it(void **state)
{
    static const enum colander_open_mode modes[][2] = {
        {COLANDER_OPEN_OR_CREATE, COLANDER_OPEN_OR_CREATE},
        {COLANDER_OPEN_OR_CREATE, COLANDER_OPEN_READ_ONLY},
        {COLANDER_OPEN_READ_ONLY, COLANDER_OPEN_OR_CREATE},
    };
    struct fixture *fixture = *state;
    struct colander_error err;
    char expected[64];
    pid_t holder;

    assert_int_equal(open_with(fixture, NULL, NULL), COLANDER_OK);
    close_engine(fixture);
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(
            open_beside(fixture, modes[i][0], modes[i][1], &holder, &err),
            COLANDER_BUSY);
        (void)snprintf(expected, sizeof(expected), "is held by process %ld (",
                       (long)holder);
        if (strstr(err.message, expected) == NULL)
            fail_msg("'%s' is not in '%s'", expected, err.message);
    }
}

static void
readers_share_a_store(void **state)
{
    struct fixture *fixture = *state;
    pid_t holder;

    assert_int_equal(open_with(fixture, NULL, NULL), COLANDER_OK);
    close_engine(fixture);
    assert_int_equal(open_beside(fixture, COLANDER_OPEN_READ_ONLY,
                                 COLANDER_OPEN_READ_ONLY, &holder, NULL),
                     COLANDER_OK);
}

static void
killed_holder_leaves_no_lock_and_no_loss(void **state)
{
    struct fixture *fixture = *state;
    struct colander_engine_family *family;
    pid_t child =
        start_role("--write", fixture->path, COLANDER_OPEN_OR_CREATE, 0, 0);

    assert_true(WIFSIGNALED(wait_for(child)));
    /* The row is in the write-ahead log only: reading must see it too. */
    for (int i = 0; i < 2; i++) {
        assert_int_equal(
            open_as(fixture,
                    i == 0 ? COLANDER_OPEN_READ_ONLY : COLANDER_OPEN_EXISTING,
                    NULL),
            COLANDER_OK);
        assert_int_equal(colander_engine_family_open(fixture->engine, "f",
                                                     false, &family, NULL),
                         COLANDER_OK);
        assert_value(family, "k", "v");
        colander_engine_family_close(family);
        close_engine(fixture);
    }
}

static void
store_of_somebody_else_is_not_permitted(void **state)
{
    struct fixture *fixture = *state;

    if (geteuid() != 0)
        skip();
    assert_int_equal(open_with(fixture, NULL, NULL), COLANDER_OK);
    close_engine(fixture);
    assert_int_equal(chmod(fixture->directory, 0755), 0);
    assert_int_equal(wait_for(start_role("--trespass", fixture->path,
                                         COLANDER_OPEN_EXISTING, 0, 0)),
                     0);
}

/* Names, sizes and times of all files below the store, as one text. */
static void
describe_files(const char *path, char *text, size_t size)
{
    char command[2 * TEMPORARY_SIZE];
    FILE *listing;

    (void)snprintf(command, sizeof(command),
                   "find '%s' -printf '%%P %%s %%T@ %%m\\n' | sort", path);
    listing = popen(command, "r");
    text[fread(text, 1, size - 1, listing)] = '\0';
    assert_int_equal(pclose(listing), 0);
}

static void
reading_changes_nothing_on_disk(void **state)
{
    struct fixture *fixture = *state;
    struct colander_engine_family *family;
    struct colander_error err;
    char before[4096];
    char after[4096];

    assert_int_equal(open_with(fixture, NULL, NULL), COLANDER_OK);
    family = family_of(fixture, "f");
    assert_int_equal(put(fixture->engine, family, "k", "v", NULL), COLANDER_OK);
    colander_engine_family_close(family);
    close_engine(fixture);
    describe_files(fixture->path, before, sizeof(before));
    assert_int_equal(open_as(fixture, COLANDER_OPEN_READ_ONLY, NULL),
                     COLANDER_OK);
    assert_int_equal(
        colander_engine_family_open(fixture->engine, "f", true, &family, NULL),
        COLANDER_OK);
    assert_value(family, "k", "v");
    assert_int_equal(colander_engine_family_drop(family, &err),
                     COLANDER_READ_ONLY);
    assert_int_equal(colander_engine_family_flush(family, &err),
                     COLANDER_READ_ONLY);
    colander_engine_family_close(family);
    assert_int_equal(
        colander_engine_family_open(fixture->engine, "g", true, &family, &err),
        COLANDER_NOT_FOUND);
    close_engine(fixture);
    describe_files(fixture->path, after, sizeof(after));
    assert_string_equal(before, after);
}

/* ------------------------------------------------------------- closing --- */

static void
close_with_open_handles_is_busy_and_stays_open(void **state)
{
    struct fixture *fixture = *state;
    struct colander_engine_family *family;
    struct colander_snapshot *snapshot;
    struct colander_error err;

    assert_int_equal(open_with(fixture, NULL, NULL), COLANDER_OK);
    family = family_of(fixture, "f");
    assert_int_equal(colander_engine_close(fixture->engine, &err),
                     COLANDER_BUSY);
    colander_engine_family_close(family);
    assert_int_equal(colander_snapshot_create(fixture->engine, &snapshot, NULL),
                     COLANDER_OK);
    assert_int_equal(colander_engine_close(fixture->engine, &err),
                     COLANDER_BUSY);
    assert_non_null(strstr(err.message, "1 cursors, batches or snapshots"));
    colander_snapshot_release(snapshot);
    close_engine(fixture);
}

static void
close_leaves_every_key_in_an_sst(void **state)
{
    struct fixture *fixture = *state;
    struct colander_engine_family *family;
    struct colander_family_sizes sizes;

    assert_int_equal(open_with(fixture, NULL, NULL), COLANDER_OK);
    family = family_of(fixture, "f");
    assert_int_equal(put(fixture->engine, family, "k", "v", NULL), COLANDER_OK);
    assert_int_equal(colander_engine_family_sizes(family, &sizes, NULL),
                     COLANDER_OK);
    assert_int_equal(sizes.sst_count, 0);
    assert_int_equal(sizes.key_count, 1);
    colander_engine_family_close(family);
    close_engine(fixture);
    assert_int_equal(open_as(fixture, COLANDER_OPEN_READ_ONLY, NULL),
                     COLANDER_OK);
    assert_int_equal(
        colander_engine_family_open(fixture->engine, "f", false, &family, NULL),
        COLANDER_OK);
    assert_int_equal(colander_engine_family_sizes(family, &sizes, NULL),
                     COLANDER_OK);
    assert_int_equal(sizes.sst_count, 1);
    assert_true(sizes.sst_size > 0);
    assert_int_equal(sizes.key_count, 1);
    colander_engine_family_close(family);
}

static int
play_role(char **argv)
{
    enum colander_open_mode mode = (enum colander_open_mode)atoi(argv[3]);

    if (strcmp(argv[1], "--hold") == 0)
        return hold(argv[2], mode, atoi(argv[4]), atoi(argv[5]));
    if (strcmp(argv[1], "--write") == 0)
        return write_and_die(argv[2]);
    return trespass(argv[2]);
}

int
main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
        TEST(missing_store_is_not_found),
        TEST(new_store_is_not_made_over_another),
        TEST(directory_of_somebody_else_is_left_alone),
        TEST(file_is_no_store),
        TEST(unfinished_creation_is_finished),
        TEST(store_without_its_database_is_corrupt),
        TEST(damaged_record_is_corrupt_and_newer_is_too_new),
        TEST(files_are_for_the_owner_alone),
        TEST(options_are_kept_in_the_store),
        TEST(second_open_in_one_process_is_busy),
        TEST(store_held_by_another_process_names_it),
        TEST(readers_share_a_store),
        TEST(killed_holder_leaves_no_lock_and_no_loss),
        TEST(store_of_somebody_else_is_not_permitted),
        TEST(reading_changes_nothing_on_disk),
        TEST(close_with_open_handles_is_busy_and_stays_open),
        TEST(close_leaves_every_key_in_an_sst),
    };

    if (argc == 6)
        return play_role(argv);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
