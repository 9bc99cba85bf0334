/*
 * Stores after a power failure, if writes do not wait for the disk: such a
 * store opens with all rows up to some row, and no later ones. Rows that were
 * flushed, or written before a write that did wait, are included. A store may
 * be refused only if some writes waited.
 *
 * The process that loses power is this program run again: see
 * support/power_loss.h.
 *
 * SPDX-License-Identifier: MIT
 */
#include "support/children.h"
#include "support/engine_fixture.h"
#include "support/history.h"
#include "support/other_boot.h"
#include "support/power_loss.h"
#include "support/random.h"
#include "support/scoped.h"

#include "core/directory.h"
#include "core/ledger.h"
#include "core/options.h"
#include "core/sst.h"

#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>

#define VALUE_MAX 40000

/* Rows are numbered. The progress is in memory that both processes share. */
struct progress {
    _Atomic(uint64_t) acknowledged; /* all rows before this one */
    _Atomic(uint64_t) durable;
    _Atomic(bool) has_opened; /* in the process that lost power */
    bool had_gap;             /* before that process */
    bool waits;               /* some writes do */
};

/* The value of a row; occasionally it takes several blocks of the log. */
static void
value_of(uint64_t number, char value[VALUE_MAX])
{
    uint64_t random = number;
    const size_t size = random_below(&random, 30) == 0
                            ? random_below(&random, VALUE_MAX)
                            : random_below(&random, 500);

    for (size_t i = 0; i < size; i++)
        value[i] = (char)('a' + random_next(&random) % 26);
    value[size] = '\0';
}

/* Each family has one half of a row. */
static void
write_row(struct fixture *fixture, struct engine_family *const families[2],
          uint64_t number, bool waits)
{
    static char value[VALUE_MAX];
    char key[24];

    (void)snprintf(key, sizeof(key), "%08" PRIu64, number);
    value_of(number, value);
    for (size_t i = 0; i < 2; i++) {
        SCOPED_ENGINE_BATCH batch = NULL;

        if (engine_batch_create(fixture->engine, false, &batch, NULL) !=
                COLANDER_OK ||
            engine_batch_put(batch, families[i], colander_slice_text(key),
                             colander_slice_text(value), NULL) != COLANDER_OK ||
            engine_batch_write(batch, waits ? COLANDER_SYNC : COLANDER_NO_SYNC,
                               NULL) != COLANDER_OK)
            _exit(4);
    }
}

/* Writes rows until the power is lost: --write <directory> <progress> <seed>
 * <changes>, or until it is killed: --kill ... */
_Noreturn static void
write_until_lost(char **arguments)
{
    struct progress *progress = history_map(arguments[3], sizeof(*progress));
    uint64_t random = strtoull(arguments[4], NULL, 10);
    uint64_t number = atomic_load(&progress->acknowledged);
    struct engine_family *families[2];
    struct fixture fixture = {.engine = NULL};

    (void)snprintf(fixture.path, sizeof(fixture.path), "%s/store",
                   arguments[2]);
    power_loss_begin(fixture.path, strtoull(arguments[5], NULL, 10), NULL,
                     random, strcmp(arguments[1], "--kill") == 0);
    if (open_with(&fixture, NULL, why()) != COLANDER_OK) {
        (void)fprintf(stderr, "%s\n", error_text());
        _exit(3);
    }
    atomic_store(&progress->has_opened, true);
    families[0] = family_of(&fixture, "first");
    families[1] = family_of(&fixture, "second");
    for (;; number++) {
        const bool waits = progress->waits && random_below(&random, 60) == 0;
        const bool flushes = random_below(&random, 100) == 0;

        write_row(&fixture, families, number, waits);
        atomic_store(&progress->acknowledged, number + 1);
        if (flushes && engine_family_flush(families[random_below(&random, 2)],
                                           NULL) != COLANDER_OK)
            _exit(5);
        if (waits || flushes)
            atomic_store(&progress->durable, number + 1);
    }
}

/* Returns the number of rows of a family, which are the first ones. */
static uint64_t
count_rows(struct fixture *fixture, const char *name)
{
    const struct engine_cursor_options all = {0};
    struct engine_family *family;
    struct engine_cursor *cursor;
    static char expected[VALUE_MAX];
    uint64_t count = 0;

    if (engine_family_open(fixture->engine, name, false, &family, NULL) ==
        COLANDER_NOT_FOUND)
        return 0;
    OK(engine_cursor_open(family, &all, &cursor, NULL));
    for (;; count++) {
        struct colander_slice key;
        struct colander_slice value;
        char number[24];
        bool is_row;

        OK(engine_cursor_next(cursor, &is_row, &key, &value, NULL));
        if (!is_row)
            break;
        (void)snprintf(number, sizeof(number), "%08" PRIu64, count);
        assert_true(colander_slice_equal(key, colander_slice_text(number)));
        value_of(count, expected);
        assert_true(colander_slice_equal(value, colander_slice_text(expected)));
    }
    engine_cursor_close(cursor);
    engine_family_close(family);
    return count;
}

/* Opens the store for reading. Returns false if it is refused, which is
 * permitted if some writes waited. */
static bool
check_store(struct fixture *fixture, struct progress *progress, bool is_kill,
            uint64_t *gaps)
{
    struct colander_recovery recovery;
    struct colander_error err;
    uint64_t first;
    uint64_t second;

    if (open_as(fixture, COLANDER_OPEN_READ_ONLY, &err) != COLANDER_OK) {
        printf("%s\n", err.message);
        assert_true(progress->waits && !is_kill);
        assert_int_equal(err.code, COLANDER_CORRUPT);
        return false;
    }
    engine_recovery(fixture->engine, &recovery);
    *gaps += recovery.has_gap;
    /* A gap is reported until an open for writing has returned. */
    if (is_kill && recovery.has_gap)
        assert_true(progress->had_gap && !atomic_load(&progress->has_opened));
    progress->had_gap = recovery.has_gap;
    first = count_rows(fixture, "first");
    second = count_rows(fixture, "second");
    close_engine(fixture);
    assert_in_range(first, second, second + 1);
    assert_true(second >= atomic_load(is_kill ? &progress->acknowledged
                                              : &progress->durable));
    /* What can be read now is on disk. */
    atomic_store(&progress->acknowledged, second);
    atomic_store(&progress->durable, second);
    return true;
}

/* Deletes what was removed or replaced, and might have come back. */
static void
remove_saved(const struct fixture *fixture)
{
    char command[2 * TEMPORARY_SIZE];

    (void)snprintf(command, sizeof(command), "rm -f '%s'.lost-*",
                   fixture->path);
    ZERO(system(command));
}

static bool
is_store(const struct fixture *fixture)
{
    char path[TEMPORARY_SIZE + 32];

    (void)snprintf(path, sizeof(path), "%s/COLANDER", fixture->path);
    return access(path, F_OK) == 0;
}

ENGINE_TEST(rows_before_those_lost_with_the_power_are_there)
{
    uint64_t random = random_seed(__func__);
    char path[TEMPORARY_SIZE + 16];
    struct progress *progress;
    uint64_t refused = 0;
    uint64_t gaps = 0;

    (void)snprintf(path, sizeof(path), "%s/progress", fixture->directory);
    progress = history_map(path, sizeof(*progress));
    assert_non_null(progress);
    for (uint64_t runs = random_runs(25); runs > 0; runs--) {
        const bool is_kill = random_below(&random, 4) == 0;
        const uint64_t up_to = random_below(&random, 3) == 0 ? 100 : 3000;
        const char *arguments[] = {"test",
                                   is_kill ? "--kill" : "--write",
                                   fixture->directory,
                                   path,
                                   NULL,
                                   NULL,
                                   NULL};
        char seed[24];
        char changes[24];
        int status;

        (void)snprintf(seed, sizeof(seed), "%" PRIu64, random_next(&random));
        (void)snprintf(changes, sizeof(changes), "%" PRIu64,
                       random_below(&random, up_to));
        arguments[4] = seed;
        arguments[5] = changes;
        printf("%s: seed %s, before change %s, some wait: %d\n", arguments[1],
               seed, changes, progress->waits);
        (void)fflush(stdout);
        atomic_store(&progress->has_opened, false);
        status = child_run(arguments);
        assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
        remove_saved(fixture);
        if (!is_kill)
            ledger_of_another_boot(fixture->path);
        if (is_store(fixture) && check_store(fixture, progress, is_kill, &gaps))
            continue;
        refused += is_store(fixture);
        assert_true(is_store(fixture) || atomic_load(&progress->durable) == 0);
        temporary_remove(fixture->path);
        memset(progress, 0, sizeof(*progress));
        progress->waits = random_below(&random, 3) == 0;
    }
    printf("%" PRIu64 " were refused, %" PRIu64 " had gaps\n", refused, gaps);
    munmap(progress, sizeof(*progress));
}

/* Records logs, and syncs the ledger before each, until the power is lost:
 * --note <directory> <progress> <seed> <changes>. */
_Noreturn static void
note_until_lost(char **arguments)
{
    struct progress *progress = history_map(arguments[3], sizeof(*progress));
    const int directory = open(arguments[2], O_RDONLY | O_DIRECTORY);
    struct ledger *ledger;

    power_loss_begin(arguments[2], strtoull(arguments[5], NULL, 10), "LEDGER",
                     strtoull(arguments[4], NULL, 10), false);
    if (ledger_open(directory, &ledger, NULL) != COLANDER_OK ||
        ledger_settle(ledger, NULL) != COLANDER_OK)
        _exit(3);
    for (uint64_t log = 1;; log++) {
        for (uint64_t size = 100; size <= 300; size += 100)
            ledger_note_written(ledger, LEDGER_WAL, log,
                                (struct log_extent){size, 1});
        if (!ledger_begin(ledger, log + 1))
            _exit(4);
        atomic_store(&progress->durable, log);
    }
}

/* If a log ends between two records, only the ledger knows that it was longer.
 * Then the writes in later logs do not count. */
ENGINE_TEST(logs_before_the_last_are_noted_when_the_power_is_lost)
{
    uint64_t random = random_seed(__func__);
    char path[TEMPORARY_SIZE + 16];
    struct progress *progress;
    const int directory = open(fixture->directory, O_RDONLY | O_DIRECTORY);

    (void)snprintf(path, sizeof(path), "%s/progress", fixture->directory);
    progress = history_map(path, sizeof(*progress));
    for (unsigned change = 0; change < 60; change++) {
        char numbers[2][24];
        const char *arguments[] = {"test", "--note",   fixture->directory,
                                   path,   numbers[0], numbers[1],
                                   NULL};
        struct ledger *ledger;

        OK(ledger_open(directory, &ledger, NULL));
        OK(ledger_settle(ledger, NULL)); /* forgets the logs of the last one */
        ledger_close(ledger);
        (void)snprintf(numbers[0], sizeof(numbers[0]), "%" PRIu64,
                       random_next(&random));
        (void)snprintf(numbers[1], sizeof(numbers[1]), "%u", change);
        atomic_store(&progress->durable, 0);
        assert_int_equal(WTERMSIG(child_run(arguments)), SIGKILL);
        OK(ledger_open(directory, &ledger, NULL));
        for (uint64_t log = 1; log <= atomic_load(&progress->durable); log++) {
            const struct ledger_entry noted =
                ledger_noted(ledger, LEDGER_WAL, log);

            assert_int_equal(noted.extents[LEDGER_WRITTEN].size, 300);
            assert_true(ledger_noted(ledger, LEDGER_WAL, log + 1).is_listed);
        }
        ledger_close(ledger);
    }
    munmap(progress, sizeof(*progress));
    ZERO(close(directory));
}

/* Replaces the record of a store until the power is lost: --record <directory>
 * <progress> <seed> <changes>. */
_Noreturn static void
record_until_lost(char **arguments)
{
    struct progress *progress = history_map(arguments[3], sizeof(*progress));
    struct colander_options options = usual_options();
    struct directory directory;
    char path[TEMPORARY_SIZE + 16];

    (void)snprintf(path, sizeof(path), "%s/store", arguments[2]);
    power_loss_begin(path, strtoull(arguments[5], NULL, 10), DIRECTORY_RECORD,
                     strtoull(arguments[4], NULL, 10), false);
    if (directory_open(&directory, path, COLANDER_OPEN_OR_CREATE, why()) !=
        COLANDER_OK)
        _exit(3);
    options_fill_kept(&options);
    options.block_size = 4096;
    for (;; options.block_size ^= 4096 ^ 8192) {
        if (directory_write_options(&directory, &options, why()) != COLANDER_OK)
            _exit(4);
        atomic_store(&progress->durable, 1);
    }
}

ENGINE_TEST(a_record_is_whole_when_the_power_is_lost)
{
    uint64_t random = random_seed(__func__);
    char path[TEMPORARY_SIZE + 16];
    struct progress *progress;

    (void)snprintf(path, sizeof(path), "%s/progress", fixture->directory);
    progress = history_map(path, sizeof(*progress));
    for (unsigned run = 0; run < 60; run++) {
        char numbers[2][24];
        const char *arguments[] = {"test", "--record", fixture->directory,
                                   path,   numbers[0], numbers[1],
                                   NULL};
        struct colander_options options;
        struct directory directory;

        (void)snprintf(numbers[0], sizeof(numbers[0]), "%" PRIu64,
                       random_next(&random));
        (void)snprintf(numbers[1], sizeof(numbers[1]), "%u", run / 5);
        atomic_store(&progress->durable, 0);
        assert_int_equal(WTERMSIG(child_run(arguments)), SIGKILL);
        if (is_store(fixture)) {
            OK(directory_open(&directory, fixture->path,
                              COLANDER_OPEN_READ_ONLY, why()));
            OK(directory_read_options(&directory, &options, why()));
            directory_close(&directory);
        } else {
            ZERO(atomic_load(&progress->durable));
        }
        remove_saved(fixture);
        temporary_remove(fixture->path);
    }
    munmap(progress, sizeof(*progress));
}

/* Makes backups until the power is lost, also of what they wrote: --backup
 * <directory> <progress> <seed> <changes>. */
_Noreturn static void
back_up_until_lost(char **arguments)
{
    struct progress *progress = history_map(arguments[3], sizeof(*progress));
    char backups[TEMPORARY_SIZE + 16];
    struct engine_family *families[2];
    struct fixture fixture = {.engine = NULL};
    struct colander_backup made;

    (void)snprintf(fixture.path, sizeof(fixture.path), "%s/store",
                   arguments[2]);
    (void)snprintf(backups, sizeof(backups), "%s/backups", arguments[2]);
    if (open_with(&fixture, NULL, why()) != COLANDER_OK)
        _exit(3);
    families[0] = family_of(&fixture, "first");
    families[1] = family_of(&fixture, "second");
    power_loss_begin(backups, strtoull(arguments[5], NULL, 10), NULL,
                     strtoull(arguments[4], NULL, 10), false);
    for (uint64_t number = 0;; number++) {
        write_row(&fixture, families, number, false);
        if (engine_family_flush(families[number % 2], why()) != COLANDER_OK ||
            engine_backup(fixture.engine, backups, 0, NULL, &made, why()) !=
                COLANDER_OK)
            _exit(5);
        atomic_store(&progress->durable, number + 1);
    }
}

ENGINE_TEST(a_backup_is_on_the_disk_once_it_is_made)
{
    uint64_t random = random_seed(__func__);
    char path[TEMPORARY_SIZE + 16];
    struct progress *progress;

    (void)snprintf(path, sizeof(path), "%s/progress", fixture->directory);
    progress = history_map(path, sizeof(*progress));
    for (unsigned run = 0; run < 12; run++) {
        char numbers[2][24];
        char backups[TEMPORARY_SIZE + 16];
        const char *arguments[] = {"test", "--backup", fixture->directory,
                                   path,   numbers[0], numbers[1],
                                   NULL};

        (void)snprintf(numbers[0], sizeof(numbers[0]), "%" PRIu64,
                       random_next(&random));
        (void)snprintf(numbers[1], sizeof(numbers[1]), "%u", 20 * run);
        atomic_store(&progress->durable, 0);
        assert_int_equal(WTERMSIG(child_run(arguments)), SIGKILL);
        temporary_remove(fixture->path);
        for (uint64_t made = 1; made <= progress->durable; made++) {
            (void)snprintf(fixture->path, sizeof(fixture->path),
                           "%.60s/backups/%06" PRIu64, fixture->directory,
                           made);
            OK(open_as(fixture, COLANDER_OPEN_READ_ONLY, why()));
            assert_int_equal(count_rows(fixture, "first"), made);
            assert_int_equal(count_rows(fixture, "second"), made);
            close_engine(fixture);
        }
        (void)snprintf(backups, sizeof(backups), "%s/backups",
                       fixture->directory);
        temporary_remove(backups);
        (void)snprintf(fixture->path, sizeof(fixture->path), "%s/store",
                       fixture->directory);
    }
    munmap(progress, sizeof(*progress));
}

/* Writes to a family, drops it and closes the store, until the power is lost
 * when the store is opened again: --close <directory> <progress> <seed>
 * <changes>. */
_Noreturn static void
close_until_lost(char **arguments)
{
    struct fixture fixture = {.engine = NULL};

    (void)snprintf(fixture.path, sizeof(fixture.path), "%s/store",
                   arguments[2]);
    power_loss_begin(fixture.path, strtoull(arguments[5], NULL, 10),
                     DIRECTORY_LOCK, strtoull(arguments[4], NULL, 10), false);
    for (;;) {
        struct engine_family *family;

        if (open_with(&fixture, NULL, why()) != COLANDER_OK)
            _exit(3);
        family = family_of(&fixture, "dropped");
        if (put(fixture.engine, family, "key", "value", why()) != COLANDER_OK ||
            engine_family_drop(family, why()) != COLANDER_OK)
            _exit(4);
        close_families(&fixture);
        if (engine_close(fixture.engine, why()) != COLANDER_OK)
            _exit(5);
    }
}

/* The last log has writes to a family that was dropped: no flush has made them
 * durable. */
ENGINE_TEST(a_closed_store_is_not_refused_when_the_power_is_lost)
{
    uint64_t random = random_seed(__func__);

    for (unsigned run = 0; run < 30; run++) {
        char numbers[2][24];
        const char *arguments[] = {"test", "--close",  fixture->directory,
                                   "",     numbers[0], numbers[1],
                                   NULL};

        (void)snprintf(numbers[0], sizeof(numbers[0]), "%" PRIu64,
                       random_next(&random));
        (void)snprintf(numbers[1], sizeof(numbers[1]), "%u", run);
        assert_int_equal(WTERMSIG(child_run(arguments)), SIGKILL);
        remove_saved(fixture);
        ledger_of_another_boot(fixture->path);
        if (is_store(fixture)) {
            OK(open_as(fixture, COLANDER_OPEN_EXISTING, why()));
            close_engine(fixture);
        }
        temporary_remove(fixture->path);
    }
}

int
main(int argc, char **argv)
{
    if (argc == 6 && strcmp(argv[1], "--close") == 0)
        close_until_lost(argv);
    if (argc == 6 && strcmp(argv[1], "--backup") == 0)
        back_up_until_lost(argv);
    if (argc == 6 && strcmp(argv[1], "--record") == 0)
        record_until_lost(argv);
    if (argc == 6 && strcmp(argv[1], "--note") == 0)
        note_until_lost(argv);
    if (argc == 6 && strncmp(argv[1], "--", 2) == 0)
        write_until_lost(argv);
    return tests_run(NULL, NULL);
}
