/*
 * Stores after their process was killed or their machine lost power, if writes
 * wait for the disk (invariants I2, I5, I6): every store opens, nothing that
 * was acknowledged is lost, and finds return what scans return, even for rows
 * in no SST. In a store opened for writing every SST gets its filter, and no
 * other filters remain.
 *
 * The process that is lost is this program, started again. After a power loss
 * its file system keeps only what was synced, and some of the rest. It reports
 * in shared memory which writes were acknowledged. COLANDER_RUNS sets the
 * number of losses.
 *
 * SPDX-License-Identifier: MIT
 */
#include "support/cases.h"
#include "support/children.h"
#include "support/other_boot.h"
#include "support/power_loss.h"
#include "support/versioned_rows.h"

#include <signal.h>
#include <sys/wait.h>

/* The maximum number of file changes before a loss; for a store that does not
 * exist yet; for the MANIFEST alone. */
#define CHANGES 1500
#define CHANGES_MAKING 100
#define CHANGES_OF_MANIFEST 60

/* The program that is lost: --write <store> <versions> <seed> <changes>, also
 * between records of the MANIFEST: --manifest ...; or killed, between its
 * writes: --kill ... */
static int
write_until_lost(char **arguments)
{
    struct colander_options options = usual_options();

    options.sync = true;
    power_loss_begin(
        arguments[2], strtoull(arguments[5], NULL, 10),
        strcmp(arguments[1], "--manifest") == 0 ? "MANIFEST" : NULL,
        strtoull(arguments[4], NULL, 10), strcmp(arguments[1], "--kill") == 0);
    return write_until_killed(arguments, &options);
}

/* Opens the store and is killed before one of the changes made by writing a row
 * of 3 MB: --large <store> - - <changes>. Returns 3 if it was not killed. */
static int
write_large(char **arguments)
{
    struct colander_row_builder *builder = colander_row_builder_create();
    struct colander_buffer key = COLANDER_BUFFER_EMPTY;
    const size_t size = 3000000;
    char *text = malloc(size + 1);
    struct colander_family *family;
    struct colander_store *store;
    struct colander_slice row;

    memset(text, 'a', size);
    text[size] = '\0';
    colander_row_builder_add(builder, "text", colander_text(text));
    DID(colander_row_builder_finish(builder, &row, NULL));
    (void)integer_key(1, &key);
    DID(colander_store_open(arguments[2], NULL, &store, NULL));
    DID(colander_family_open(store, "rows", &family, NULL));
    power_loss_begin(arguments[2], strtoull(arguments[5], NULL, 10), NULL, 1,
                     true);
    DID(colander_family_put(family, colander_buffer_slice(&key), row, NULL,
                            NULL));
    _exit(3);
}

/* Opens and closes the store; is killed before one of the changes this makes:
 * --open <store> - - <changes>. Returns 3 if it was not killed. */
static int
open_and_close(char **arguments)
{
    struct colander_store *store;

    power_loss_begin(arguments[2], strtoull(arguments[5], NULL, 10), NULL, 1,
                     true);
    DID(colander_store_open(arguments[2], NULL, &store, NULL));
    DID(colander_store_close(store, NULL));
    _exit(3);
}

/* The file where the processes share what was acknowledged. */
static char versions_path[TEMPORARY_SIZE + 16];

static int
run_child(const char *mode, const char *store, const char *versions,
          const char *seed, uint64_t change)
{
    char changes[24];
    const char *const arguments[] = {"test", mode,    store, versions,
                                     seed,   changes, NULL};

    (void)snprintf(changes, sizeof(changes), "%llu",
                   (unsigned long long)change);
    return child_run(arguments);
}

static void
write_and_lose(struct killing *killing, bool is_new)
{
    static const char *const modes[] = {"--kill", "--write", "--manifest"};
    const char *mode = modes[random_below(&killing->random, is_new ? 2 : 3)];
    const bool is_kill = strcmp(mode, "--kill") == 0;
    uint64_t changes_max = is_new ? CHANGES_MAKING : CHANGES;
    uint64_t change;
    char seed[24];
    int status;

    if (strcmp(mode, "--manifest") == 0)
        changes_max = CHANGES_OF_MANIFEST;
    change = random_below(&killing->random, changes_max);

    (void)snprintf(seed, sizeof(seed), "%llu",
                   (unsigned long long)random_next(&killing->random));
    printf("%s: seed %s, before change %llu\n", mode, seed,
           (unsigned long long)change);
    (void)fflush(stdout);
    status = run_child(mode, killing->fixture->directory, versions_path, seed,
                       change);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
    if (!is_kill)
        ledger_of_another_boot(killing->fixture->directory);
}

/* Names of what was removed or replaced, and might have come back. */
static void
remove_saved(const char *store)
{
    char command[2 * TEMPORARY_SIZE + 32];

    (void)snprintf(command, sizeof(command), "rm -f '%s'.lost-*", store);
    ZERO(system(command));
}

static bool
is_store(const char *directory)
{
    char path[TEMPORARY_SIZE + 16];

    (void)snprintf(path, sizeof(path), "%s/COLANDER", directory);
    return access(path, F_OK) == 0;
}

static void
begin_again(struct killing *killing)
{
    temporary_remove(killing->fixture->directory);
    memset(killing->versions, 0, sizeof(*killing->versions));
}

static struct killing
begin_killing(struct store_fixture *fixture, const char *name)
{
    struct killing killing = {.fixture = fixture};

    fixture_close(fixture);
    (void)snprintf(versions_path, sizeof(versions_path), "%s.versions",
                   fixture->directory);
    killing.versions = history_map(versions_path, sizeof(*killing.versions));
    assert_non_null(killing.versions);
    killing.random = random_seed(name);
    return killing;
}

static void
end_killing(struct killing *killing)
{
    printf("%llu finds by candidates of stores opened for reading, with %llu "
           "rows of the log; %llu of others; %llu filters made again\n",
           (unsigned long long)killing->reading.plans[COLANDER_PLAN_CANDIDATES],
           (unsigned long long)killing->reading.recent_found,
           (unsigned long long)killing->writing.plans[COLANDER_PLAN_CANDIDATES],
           (unsigned long long)killing->rebuilt_count);
    assert_direct(&killing->writing, 2);
    munmap(killing->versions, sizeof(*killing->versions));
    (void)unlink(versions_path);
    fixture_open(killing->fixture);
}

/* Starts the writer, and kills it 5 to 100 ms later, usually after it has
 * opened the store. */
static void
write_and_kill(struct killing *killing)
{
    const bool waits = random_below(&killing->random, 4) != 0;
    const useconds_t pause =
        (useconds_t)(5 + random_below(&killing->random, 96)) * 1000;
    char seed[24];
    const char *const arguments[] = {
        "test",        "--write", killing->fixture->directory,
        versions_path, seed,      NULL};
    pid_t child;
    int status;

    (void)snprintf(seed, sizeof(seed), "%llu",
                   (unsigned long long)random_next(&killing->random));
    atomic_store(&killing->versions->is_open, false);
    child = child_start(arguments);
    while (waits && !atomic_load(&killing->versions->is_open) &&
           waitpid(child, &status, WNOHANG) == 0)
        usleep(500);
    usleep(pause);
    ZERO(kill(child, SIGKILL));
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status));
}

/* Even if writes do not wait for the disk. */
FIXTURE_TEST(finds_are_right_after_every_kill)
{
    struct killing killing = begin_killing(fixture, __func__);
    const uint64_t runs = 5 * random_runs(2); /* quick ones */

    for (uint64_t i = 0; i < runs; i++) {
        write_and_kill(&killing);
        check_reading(&killing);
        check_writing(&killing);
    }
    if (runs >= 12)
        assert_true(killing.reading.recent_found > 0);
    end_killing(&killing);
}

FIXTURE_TEST(nothing_acknowledged_is_lost_with_the_power)
{
    struct killing killing = begin_killing(fixture, __func__);
    unsigned unmade = 0;

    for (uint64_t runs = random_runs(6); runs > 0; runs--) {
        const bool is_new = random_below(&killing.random, 4) == 0;

        if (is_new)
            begin_again(&killing);
        write_and_lose(&killing, is_new);
        remove_saved(killing.fixture->directory);
        if (is_store(killing.fixture->directory))
            check_reading(&killing);
        else
            unmade++;
        check_writing(&killing);
    }
    printf("%u were lost before they were stores\n", unmade);
    end_killing(&killing);
}

/* A row written to the log in fragments, killed between any two. */
FIXTURE_TEST(a_large_write_may_be_killed_anywhere)
{
    unsigned written = 0;

    fixture_close(fixture);
    for (uint64_t change = 0; written == 0; change++) {
        int status = run_child("--large", fixture->directory, "-", "-", change);
        struct colander_family *family;

        written = WIFEXITED(status);
        assert_true(written ? WEXITSTATUS(status) == 3 : WIFSIGNALED(status));
        assert_true(change < 50 && (!written || change > 3));
        fixture_open(fixture);
        family = kept_family(fixture, "rows");
        assert_in_range(count_rows(family), written, 1);
        fixture_close(fixture);
    }
    fixture_open(fixture);
}

/* --------------------------------------------------------- the MANIFEST --- */

#define RECORD_HEAD 7

/* Opens the file; *size is its length. */
static int
open_manifest(const char *store, off_t *size)
{
    char path[2 * TEMPORARY_SIZE + 64];
    char name[32] = "";
    FILE *current;
    int fd;

    (void)snprintf(path, sizeof(path), "%s/rocksdb/CURRENT", store);
    current = fopen(path, "re");
    assert_non_null(current);
    assert_int_equal(fscanf(current, "%31s", name), 1);
    ZERO(fclose(current));
    (void)snprintf(path, sizeof(path), "%s/rocksdb/%s", store, name);
    fd = open(path, O_RDWR);
    assert_true(fd >= 0);
    *size = lseek(fd, 0, SEEK_END);
    return fd;
}

/* As if of the last two records, neither of them synced, the second was
 * written, and the first incompletely. Returns the size of both. */
static uint64_t
add_torn_records(const char *store)
{
    uint8_t record[64];
    size_t record_size;
    off_t size;
    int fd = open_manifest(store, &size);

    assert_int_equal(pread(fd, record, sizeof(record), 0), sizeof(record));
    record_size = RECORD_HEAD + record[4]; /* of its first one */
    assert_in_range(record_size, RECORD_HEAD, sizeof(record));
    assert_int_equal(pwrite(fd, record, record_size, size), record_size);
    size += (off_t)record_size;
    assert_int_equal(pwrite(fd, record, record_size, size), record_size);
    assert_int_equal(pwrite(fd, "", 1, size - 1), 1);
    ZERO(close(fd));
    return 2 * record_size;
}

static void
flip_bit_of_manifest(const char *store, off_t before_end)
{
    off_t size;
    uint8_t byte;
    int fd = open_manifest(store, &size);

    assert_int_equal(pread(fd, &byte, 1, size - before_end), 1);
    byte ^= 1;
    assert_int_equal(pwrite(fd, &byte, 1, size - before_end), 1);
    ZERO(close(fd));
}

static void
assert_refused(struct store_fixture *fixture)
{
    for (int mode = COLANDER_OPEN_OR_CREATE; mode <= COLANDER_OPEN_READ_ONLY;
         mode += COLANDER_OPEN_READ_ONLY - COLANDER_OPEN_OR_CREATE) {
        fixture->options.mode = (enum colander_open_mode)mode;
        FAILS(colander_store_open(fixture->directory, &fixture->options,
                                  &fixture->store, why()),
              COLANDER_CORRUPT);
        assert_non_null(strstr(error_text(), "MANIFEST-"));
    }
}

/* Returns how many bytes were dropped. */
static uint64_t
assert_one_row(struct store_fixture *fixture, enum colander_open_mode mode)
{
    struct colander_recovery recovery;
    struct colander_family *family;

    fixture->options.mode = mode;
    fixture_open(fixture);
    colander_store_recovery(fixture->store, &recovery);
    family = kept_family(fixture, "rows");
    assert_int_equal(count_rows(family), 1);
    fixture_close(fixture);
    return recovery.dropped_size;
}

static void
put_one_row(struct store_fixture *fixture)
{
    struct colander_family *family = kept_family(fixture, "rows");
    put_at(family, 1, fixture_row(fixture, "n", colander_integer(1)));
}

/* If what the ledger knows to be synced is incomplete, it is damaged. Parts of
 * what follows may be lost with the power. */
FIXTURE_TEST(unsynced_records_of_the_manifest_are_dropped)
{
    uint64_t torn;
    int status = 0;

    put_one_row(fixture);
    fixture_close(fixture);
    torn = add_torn_records(fixture->directory);
    ledger_of_another_boot(fixture->directory);
    flip_bit_of_manifest(fixture->directory, (off_t)torn + 1);
    assert_refused(fixture);
    flip_bit_of_manifest(fixture->directory, (off_t)torn + 1);
    assert_int_equal(assert_one_row(fixture, COLANDER_OPEN_READ_ONLY), torn);
    /* The open that drops them may be killed, too, and tear the MANIFEST that
     * it created. */
    for (uint64_t change = 0; !WIFEXITED(status) || change == 0; change++) {
        status = run_child("--open", fixture->directory, "-", "-", change);
        remove_saved(fixture->directory);
        assert_true(WIFEXITED(status) ? WEXITSTATUS(status) == 3
                                      : WIFSIGNALED(status));
        (void)assert_one_row(fixture, COLANDER_OPEN_READ_ONLY);
        (void)add_torn_records(fixture->directory);
        if (change % 2 == 0)
            ledger_of_another_boot(fixture->directory);
        (void)assert_one_row(fixture, COLANDER_OPEN_READ_ONLY);
    }
    (void)assert_one_row(fixture, COLANDER_OPEN_EXISTING);
    assert_int_equal(assert_one_row(fixture, COLANDER_OPEN_EXISTING), 0);

    (void)add_torn_records(fixture->directory);
    ledger_remove(fixture->directory);
    assert_refused(fixture);
    fixture->options.mode = COLANDER_OPEN_OR_CREATE;
    temporary_remove(fixture->directory);
    fixture_open(fixture);
}

int
main(int argc, char **argv)
{
    if (argc == 5 && strcmp(argv[1], "--write") == 0)
        return write_until_killed(argv, NULL);
    if (argc == 6 && strcmp(argv[1], "--large") == 0)
        return write_large(argv);
    if (argc == 6 && strcmp(argv[1], "--open") == 0)
        return open_and_close(argv);
    if (argc == 6 && strncmp(argv[1], "--", 2) == 0)
        return write_until_lost(argv);
    return tests_run(NULL, NULL);
}
