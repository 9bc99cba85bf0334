/*
 * Whatever an open drops from the logs is reported. If that open fails, is
 * killed or loses power, the next one reports it. The process that loses power
 * is this program run again: see support/power_loss.h.
 *
 * SPDX-License-Identifier: MIT
 */
#include "support/children.h"
#include "support/engine_fixture.h"
#include "support/other_boot.h"
#include "support/power_loss.h"
#include "support/random.h"

#include "core/drop_report.h"
#include "core/salvage.h"

#include <fcntl.h>
#include <glob.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>

/* ------------------------------------------------------------- children --- */

/* Writes rows to three logs and is killed: --write <store>. */
_Noreturn static void
write_rows(char **arguments)
{
    struct fixture fixture = {.engine = NULL};
    struct engine_family *families[2];
    static char value[2000];
    char key[16];

    memset(value, 'v', sizeof(value) - 1);
    (void)snprintf(fixture.path, sizeof(fixture.path), "%s", arguments[2]);
    OK(open_with(&fixture, NULL, NULL));
    families[0] = family_of(&fixture, "rows");
    families[1] = family_of(&fixture, "other");
    for (int i = 0; i < 30; i++) {
        (void)snprintf(key, sizeof(key), "%05d", i);
        OK(put(fixture.engine, families[0], key, value, NULL));
        OK(put(fixture.engine, families[1], key, "", NULL));
        if (i == 10 || i == 20)
            OK(engine_family_flush(families[1], NULL));
    }
    (void)kill(getpid(), SIGKILL);
    _exit(1);
}

/* Opens the store until the power is lost: --lose <store> <files> <number>
 * <seed>, or until it is killed: --kill ... */
_Noreturn static void
open_until_lost(char **arguments)
{
    struct fixture fixture = {.engine = NULL};

    (void)snprintf(fixture.path, sizeof(fixture.path), "%s", arguments[2]);
    power_loss_begin(fixture.path, strtoull(arguments[4], NULL, 10),
                     arguments[3], strtoull(arguments[5], NULL, 10),
                     strcmp(arguments[1], "--kill") == 0);
    _exit(open_with(&fixture, NULL, NULL) == COLANDER_OK ? 0 : 1);
}

/* --------------------------------------------------------------- stores --- */

/* The path of the first or last file that matches, such as "*.log", and has
 * data. */
static void
find_file(const char *store, const char *name, bool is_last,
          char path[TEMPORARY_SIZE + 64])
{
    char pattern[TEMPORARY_SIZE + 64];
    struct stat status;
    glob_t found;

    path[0] = '\0';
    (void)snprintf(pattern, sizeof(pattern), "%s/rocksdb/%s", store, name);
    ZERO(glob(pattern, 0, NULL, &found));
    for (size_t i = 0; i < found.gl_pathc; i++) {
        ZERO(stat(found.gl_pathv[i], &status));
        if (status.st_size > 0 && (is_last || path[0] == '\0'))
            (void)snprintf(path, TEMPORARY_SIZE + 64, "%s", found.gl_pathv[i]);
    }
    globfree(&found);
    assert_true(path[0] != '\0');
}

/* A store whose last write is torn, and no boot is known, so RocksDB drops it;
 * or that lost power and has a cut log; or that lost a write before others. */
enum loss { TORN, CUT, GAP, LOSSES };

static void
make_torn(struct fixture *fixture, enum loss loss)
{
    const char *const arguments[] = {"test", "--write", fixture->path, NULL};
    char path[TEMPORARY_SIZE + 64];
    struct stat status;
    int fd;

    assert_int_equal(WTERMSIG(child_run(arguments)), SIGKILL);
    find_file(fixture->path, "*.log", loss != GAP, path);
    fd = open(path, O_RDWR);
    ZERO(fstat(fd, &status));
    if (loss == GAP)
        assert_int_equal(pwrite(fd, "", 1, status.st_size / 2), 1);
    else
        ZERO(ftruncate(fd, status.st_size - 3));
    ZERO(close(fd));
    if (loss == TORN) {
        ledger_remove(fixture->path);
    } else {
        ledger_mark_only(fixture->path, 0);
        ledger_of_another_boot(fixture->path);
    }
}

static void
copy_store(const char *from, const char *to)
{
    char command[3 * TEMPORARY_SIZE];

    (void)snprintf(command, sizeof(command), "rm -rf '%s'* && cp -a '%s' '%s'",
                   to, from, to);
    ZERO(system(command));
}

/* Opens and closes the store. Returns what the open reported. */
static struct colander_recovery
open_once(struct fixture *fixture, enum colander_open_mode mode)
{
    struct colander_recovery recovery;

    OK(open_as(fixture, mode, why()));
    engine_recovery(fixture->engine, &recovery);
    close_engine(fixture);
    return recovery;
}

/* ------------------------------------------------------------ the file --- */

static const struct colander_recovery dropped_once = {300, "000004.log", true,
                                                      ""};

static const uint8_t golden[80] =
    "colander dropped 1\n\0\0\0\0\0\x2c\x01\0\0\0\0\0\0\1\0\0\0\0\0\0\0"
    "000004.log\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0"
    "\x6f\x3d\xcd\x36\x11\x26\x21\x16";

static void
assert_same(const struct colander_recovery *a,
            const struct colander_recovery *b)
{
    assert_int_equal(a->dropped_size, b->dropped_size);
    assert_string_equal(a->dropped_file, b->dropped_file);
    assert_int_equal(a->has_gap, b->has_gap);
}

/* Returns what an open reports if the file has these bytes. */
static struct colander_recovery
report_of(int directory, const uint8_t *bytes, size_t size)
{
    const int fd = openat(directory, DROP_REPORT_FILE,
                          O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    struct colander_recovery recovery = {0};

    assert_int_equal(write(fd, bytes, size), size);
    ZERO(close(fd));
    OK(drop_report_add(directory, &recovery, NULL));
    return recovery;
}

ENGINE_TEST(report_has_these_bytes_and_no_others)
{
    const int directory = open(fixture->directory, O_RDONLY | O_DIRECTORY);
    uint8_t bytes[sizeof(golden)];
    struct colander_recovery recovery;
    int fd;

    OK(drop_report_write(directory, &dropped_once, NULL));
    fd = openat(directory, DROP_REPORT_FILE, O_RDONLY);
    assert_int_equal(read(fd, bytes, sizeof(bytes)), sizeof(bytes));
    ZERO(close(fd));
    assert_memory_equal(bytes, golden, sizeof(golden));
    recovery = report_of(directory, golden, sizeof(golden));
    assert_same(&recovery, &dropped_once);
    for (size_t i = 0; i < sizeof(bytes); i++) {
        recovery = report_of(directory, golden, i);
        assert_int_equal(recovery.dropped_size, 0);
        bytes[i] ^= 1;
        recovery = report_of(directory, bytes, sizeof(bytes));
        assert_int_equal(recovery.dropped_size, 0);
        bytes[i] ^= 1;
    }
    drop_report_remove(directory);
    OK(drop_report_add(directory, &recovery, NULL));
    assert_int_equal(recovery.dropped_size, 0);
    ZERO(close(directory));
}

/* Drops from the same log are counted once. */
ENGINE_TEST(reports_of_different_logs_are_added)
{
    static const struct colander_recovery added[][2] = {
        {{0, "", false, ""}, {300, "000004.log", true, ""}},
        {{200, "000004.log", false, ""}, {300, "000004.log", true, ""}},
        {{400, "000004.log", false, ""}, {400, "000004.log", true, ""}},
        {{50, "000009.log", false, ""}, {350, "000004.log", true, ""}},
    };
    const int directory = open(fixture->directory, O_RDONLY | O_DIRECTORY);

    OK(drop_report_write(directory, &dropped_once, NULL));
    for (size_t i = 0; i < COUNT(added); i++) {
        struct colander_recovery recovery = added[i][0];

        OK(drop_report_add(directory, &recovery, NULL));
        assert_same(&recovery, &added[i][1]);
    }
    ZERO(close(directory));
}

/* ---------------------------------------------------------------- opens --- */

/* Opens the store and loses power before a change of these files. Returns false
 * if the open made fewer changes. */
static bool
lose_open(struct fixture *fixture, const char *files, uint64_t change,
          bool is_kill, uint64_t seed)
{
    char numbers[2][24];
    const char *const arguments[] = {
        "test",        is_kill ? "--kill" : "--lose",
        fixture->path, files,
        numbers[0],    numbers[1],
        NULL};
    int status;

    (void)snprintf(numbers[0], sizeof(numbers[0]), "%" PRIu64, change);
    (void)snprintf(numbers[1], sizeof(numbers[1]), "%" PRIu64, seed);
    status = child_run(arguments);
    assert_true(status == 0 || WTERMSIG(status) == SIGKILL);
    if (status != 0 && !is_kill)
        ledger_of_another_boot(fixture->path);
    return status != 0;
}

/* If power is lost, a new log may be torn as well. */
static void
assert_reports(struct fixture *fixture, enum colander_open_mode mode,
               const struct colander_recovery *dropped, bool is_kill)
{
    const struct colander_recovery recovery = open_once(fixture, mode);

    assert_string_equal(recovery.dropped_file, dropped->dropped_file);
    assert_in_range(recovery.dropped_size, dropped->dropped_size,
                    is_kill ? dropped->dropped_size : SIZE_MAX);
    assert_true(recovery.has_gap || !dropped->has_gap);
}

/* Loses power before each change that the open makes to some files. */
static void
lose_at_each_change(struct fixture *fixture, const char *files,
                    const struct colander_recovery *dropped, uint64_t *random)
{
    static const struct colander_recovery nothing;
    char torn[TEMPORARY_SIZE + 16];
    bool is_lost = true;

    (void)snprintf(torn, sizeof(torn), "%s/torn", fixture->directory);
    for (uint64_t change = 0; is_lost; change += 1 + random_below(random, 4)) {
        const bool is_kill = random_below(random, 2) == 0;

        printf("%s: before change %" PRIu64 " of %s\n",
               is_kill ? "kill" : "loss", change, files);
        copy_store(torn, fixture->path);
        is_lost =
            lose_open(fixture, files, change, is_kill, random_next(random));
        if (is_lost) {
            assert_reports(fixture, COLANDER_OPEN_READ_ONLY, dropped, is_kill);
            assert_reports(fixture, COLANDER_OPEN_EXISTING, dropped, is_kill);
        }
        assert_reports(fixture, COLANDER_OPEN_READ_ONLY, &nothing, true);
    }
}

/* A reader reports it too, and only once. */
ENGINE_TEST(what_a_lost_open_dropped_is_reported)
{
    static const char *const files[] = {"LEDGER", ".log", "MANIFEST", "CURRENT",
                                        "DROPPED"};
    uint64_t random = random_seed(__func__);
    char torn[TEMPORARY_SIZE + 16];

    (void)snprintf(torn, sizeof(torn), "%s/torn", fixture->directory);
    for (enum loss loss = TORN; loss < LOSSES; loss++) {
        struct colander_recovery dropped;

        make_torn(fixture, loss);
        copy_store(fixture->path, torn);
        dropped = open_once(fixture, COLANDER_OPEN_READ_ONLY);
        assert_true(dropped.dropped_size > 0);
        assert_int_equal(dropped.has_gap, loss == GAP);
        for (size_t i = 0; i < COUNT(files); i++)
            lose_at_each_change(fixture, files[i], &dropped, &random);
        temporary_remove(fixture->path);
    }
}

static void
find_dropped(void *found, const struct salvage_loss *loss)
{
    *(bool *)found |= strcmp(loss->file, DROP_REPORT_FILE) == 0;
}

/* After a failed open, logs and ledger agree, so only the report remains. */
ENGINE_TEST(salvage_reports_what_a_failed_open_dropped)
{
    for (enum loss loss = CUT; loss < LOSSES; loss++) {
        char path[TEMPORARY_SIZE + 64];
        struct salvage *salvage;
        bool is_found = false;

        make_torn(fixture, loss);
        find_file(fixture->path, "*.sst", false, path);
        ZERO(unlink(path));
        assert_int_not_equal(open_as(fixture, COLANDER_OPEN_EXISTING, NULL),
                             COLANDER_OK);
        OK(salvage_open(fixture->path, find_dropped, &is_found, &salvage,
                        why()));
        assert_true(is_found);
        salvage_close(salvage);
        temporary_remove(fixture->path);
    }
}

int
main(int argc, char **argv)
{
    if (argc == 3 && strcmp(argv[1], "--write") == 0)
        write_rows(argv);
    if (argc == 6)
        open_until_lost(argv);
    return tests_run(NULL, NULL);
}
