/*
 * Several processes: one holds a store, others read it or are killed.
 *
 * SPDX-License-Identifier: MIT
 */
#include "core/engine.h"
#include "support/children.h"
#include "support/engine_fixture.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>

/* --------------------------------------------------------------- locks --- */

ENGINE_TEST(second_open_in_one_process_is_busy)
{
    struct engine *second;

    OK(open_with(fixture, NULL, NULL));
    FAILS(engine_open(fixture->path, NULL, NULL, &second, why()),
          COLANDER_BUSY);
    assert_null(second);
    assert_non_null(strstr(error_text(), "open in this process already"));
}

static pid_t
start_role(const char *role, const char *path, enum colander_open_mode mode,
           int ready, int stop)
{
    char numbers[3][16];
    const char *const arguments[] = {"test",     role,       path, numbers[0],
                                     numbers[1], numbers[2], NULL};

    (void)snprintf(numbers[0], sizeof(numbers[0]), "%d", (int)mode);
    (void)snprintf(numbers[1], sizeof(numbers[1]), "%d", ready);
    (void)snprintf(numbers[2], sizeof(numbers[2]), "%d", stop);
    return child_start(arguments);
}

/* Holds the store open until the pipe closes. */
ROLE(hold)
{
    struct colander_options options = usual_options();
    const int ready = atoi(arguments[4]);
    const int stop = atoi(arguments[5]);
    struct engine *engine;
    char byte = 'r';

    options.mode = (enum colander_open_mode)atoi(arguments[3]);
    if (engine_open(arguments[2], &options, NULL, &engine, NULL) != COLANDER_OK)
        return 1;
    if (write(ready, &byte, 1) != 1 || read(stop, &byte, 1) != 0)
        return 2;
    return engine_close(engine, NULL) == COLANDER_OK ? 0 : 3;
}

#define WRITES 100

/* Writes k0 ... k99 and is killed. */
ROLE(write)
{
    struct engine_family *family;
    struct engine *engine;

    if (engine_open(arguments[2], NULL, NULL, &engine, NULL) != COLANDER_OK ||
        engine_family_open(engine, "f", true, &family, NULL) != COLANDER_OK)
        return 1;
    for (int i = 0; i < WRITES; i++) {
        char key[16];

        (void)snprintf(key, sizeof(key), "k%d", i);
        if (put(engine, family, key, "v", NULL) != COLANDER_OK)
            return 1;
    }
    (void)raise(SIGKILL);
    return 2;
}

/* Opens another user's store, which is not permitted. */
ROLE(trespass)
{
    struct engine *engine;

    if (setgid(65534) != 0 || setuid(65534) != 0)
        return 1;
    if (engine_open(arguments[2], NULL, NULL, &engine, why()) != COLANDER_IO)
        return 2;
    return strstr(error_text(), "Permission denied") == NULL ? 3 : 0;
}

static int
wait_for(pid_t child)
{
    int status;

    assert_int_equal(waitpid(child, &status, 0), child);
    return status;
}

/* The result of opening while another process holds the store. */
static enum colander_code
open_beside(struct fixture *fixture, enum colander_open_mode theirs,
            enum colander_open_mode ours, pid_t *holder,
            struct colander_error *err)
{
    int ready[2];
    int stop[2];
    enum colander_code code;
    char byte;

    ZERO(pipe(ready));
    ZERO(pipe(stop));
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

ENGINE_TEST(store_held_by_another_process_names_it)
{
    static const enum colander_open_mode modes[][2] = {
        {COLANDER_OPEN_OR_CREATE, COLANDER_OPEN_OR_CREATE},
        {COLANDER_OPEN_OR_CREATE, COLANDER_OPEN_READ_ONLY},
        {COLANDER_OPEN_READ_ONLY, COLANDER_OPEN_OR_CREATE},
    };
    char expected[64];
    pid_t holder;

    OK(open_with(fixture, NULL, NULL));
    close_engine(fixture);
    for (size_t i = 0; i < 3; i++) {
        FAILS(open_beside(fixture, modes[i][0], modes[i][1], &holder, why()),
              COLANDER_BUSY);
        (void)snprintf(expected, sizeof(expected), "is held by process %ld (",
                       (long)holder);
        if (strstr(error_text(), expected) == NULL)
            fail_msg("'%s' is not in '%s'", expected, error_text());
    }
}

ENGINE_TEST(readers_share_a_store)
{
    pid_t holder;

    OK(open_with(fixture, NULL, NULL));
    close_engine(fixture);
    OK(open_beside(fixture, COLANDER_OPEN_READ_ONLY, COLANDER_OPEN_READ_ONLY,
                   &holder, NULL));
}

ENGINE_TEST(killed_holder_leaves_no_lock_and_no_loss)
{
    struct engine_family *family;
    pid_t child =
        start_role("--write", fixture->path, COLANDER_OPEN_OR_CREATE, 0, 0);

    assert_true(WIFSIGNALED(wait_for(child)));
    /* The row is only in the write-ahead log: readers must see it too. */
    for (int i = 0; i < 2; i++) {
        OK(open_as(fixture,
                   i == 0 ? COLANDER_OPEN_READ_ONLY : COLANDER_OPEN_EXISTING,
                   NULL));
        OK(engine_family_open(fixture->engine, "f", false, &family, NULL));
        assert_value(family, "k0", "v");
        assert_value(family, "k99", "v");
        engine_family_close(family);
        close_engine(fixture);
    }
}

/* Changes a byte in the middle of the only log file with data. */
static void
damage_log(const struct fixture *fixture)
{
    char path[TEMPORARY_SIZE + 32];
    struct dirent *entry;
    int damaged = 0;
    DIR *stream;

    (void)snprintf(path, sizeof(path), "%s/rocksdb", fixture->path);
    stream = opendir(path);
    while ((entry = readdir(stream)) != NULL) {
        struct stat status;
        char byte;
        int fd;

        if (strstr(entry->d_name, ".log") == NULL)
            continue;
        fd = openat(dirfd(stream), entry->d_name, O_RDWR);
        ZERO(fstat(fd, &status));
        if (status.st_size > 0) {
            assert_int_equal(pread(fd, &byte, 1, status.st_size / 2), 1);
            byte ^= 1;
            assert_int_equal(pwrite(fd, &byte, 1, status.st_size / 2), 1);
            damaged++;
        }
        close(fd);
    }
    closedir(stream);
    assert_int_equal(damaged, 1);
}

ENGINE_TEST(damage_inside_the_log_is_not_passed_over)
{
    pid_t child =
        start_role("--write", fixture->path, COLANDER_OPEN_OR_CREATE, 0, 0);

    assert_true(WIFSIGNALED(wait_for(child)));
    damage_log(fixture);
    FAILS(open_with(fixture, NULL, why()), COLANDER_CORRUPT);
    FAILS(open_as(fixture, COLANDER_OPEN_READ_ONLY, why()), COLANDER_CORRUPT);
}

ENGINE_TEST(store_of_another_user_is_not_permitted)
{
    if (geteuid() != 0)
        skip();
    OK(open_with(fixture, NULL, NULL));
    close_engine(fixture);
    ZERO(chmod(fixture->directory, 0755));
    assert_int_equal(wait_for(start_role("--trespass", fixture->path,
                                         COLANDER_OPEN_EXISTING, 0, 0)),
                     0);
}

/* Returns the names, sizes and times of all files in the store as one text. */
static void
describe_files(const char *path, char *text, size_t size)
{
    char command[2 * TEMPORARY_SIZE];
    FILE *listing;

    (void)snprintf(command, sizeof(command),
                   "find '%s' -printf '%%P %%s %%T@ %%m\\n' | sort", path);
    listing = popen(command, "r");
    text[fread(text, 1, size - 1, listing)] = '\0';
    ZERO(pclose(listing));
}

ENGINE_TEST(reading_changes_nothing_on_disk)
{
    char before[4096];
    char after[4096];
    struct engine_family *family = open_with_family(fixture, "f");

    OK(put(fixture->engine, family, "k", "v", NULL));
    close_engine(fixture);
    describe_files(fixture->path, before, sizeof(before));
    OK(open_as(fixture, COLANDER_OPEN_READ_ONLY, NULL));
    family = family_of(fixture, "f");
    assert_value(family, "k", "v");
    FAILS(engine_family_drop(family, why()), COLANDER_READ_ONLY);
    FAILS(engine_family_flush(family, why()), COLANDER_READ_ONLY);
    FAILS(engine_family_open(fixture->engine, "g", true, &family, why()),
          COLANDER_NOT_FOUND);
    close_engine(fixture);
    describe_files(fixture->path, after, sizeof(after));
    assert_string_equal(before, after);
}
