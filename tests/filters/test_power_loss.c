/*
 * Stores of a machine that lost its power, where writes wait for the disk
 * (invariants I2, I5, I6): every store opens, nothing that was acknowledged is
 * lost, and finds give what scans give.
 *
 * The process that is lost is this program, begun anew, with a file system that
 * keeps only what was synced, and some of the rest. COLANDER_RUNS sets how
 * often it is.
 *
 * SPDX-License-Identifier: MIT
 */
#include "support/other_boot.h"
#include "support/power_loss.h"
#include "support/versioned_rows.h"

#include <signal.h>
#include <sys/wait.h>

/* Changes of files until a loss, at most; of a store that is not made yet. */
#define CHANGES 1500
#define CHANGES_MAKING 100

/* The program as it is lost: --write <store> <versions> <seed> <changes>, or
 * killed, in the middle of what it writes: --kill ... */
static int
write_until_lost(char **arguments)
{
    struct colander_options options;

    colander_options_init(&options);
    options.sync = true;
    power_loss_begin(arguments[2], strtoull(arguments[5], NULL, 10),
                     strtoull(arguments[4], NULL, 10),
                     strcmp(arguments[1], "--kill") == 0);
    return write_until_killed(arguments, &options);
}

/* Opens the store and is killed before a change of those that writing one row
 * of 3 MB makes: --large <store> - - <changes>. 3: it was not. */
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
    must(colander_row_builder_finish(builder, &row, NULL), NULL);
    key_of(1, &key);
    must(colander_store_open(arguments[2], NULL, &store, NULL), NULL);
    must(colander_family_open(store, "rows", &family, NULL), NULL);
    power_loss_begin(arguments[2], strtoull(arguments[5], NULL, 10), 1, true);
    must(colander_family_put(family, colander_buffer_slice(&key), row,
                             COLANDER_AS_STORE, NULL),
         NULL);
    _exit(3);
}

/* Runs this program anew, and gives how it ended. */
static int
run_child(const char *mode, const char *store, const char *versions_path,
          const char *seed, uint64_t change)
{
    char changes[24];
    pid_t child;
    int status;

    (void)snprintf(changes, sizeof(changes), "%llu",
                   (unsigned long long)change);
    child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        execl("/proc/self/exe", "test", mode, store, versions_path, seed,
              changes, (char *)NULL);
        _exit(127);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    return status;
}

static void
write_and_lose(struct killing *killing, const char *versions_path,
               uint64_t changes_max)
{
    const bool is_kill = random_below(&killing->random, 3) == 0;
    const uint64_t change = random_below(&killing->random, changes_max);
    char seed[24];
    int status;

    (void)snprintf(seed, sizeof(seed), "%llu",
                   (unsigned long long)random_next(&killing->random));
    printf("the %s of seed %s before change %llu\n", is_kill ? "kill" : "loss",
           seed, (unsigned long long)change);
    (void)fflush(stdout);
    status =
        run_child(is_kill ? "--kill" : "--write", killing->fixture->directory,
                  versions_path, seed, change);
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
    assert_int_equal(system(command), 0);
}

static bool
is_store(const char *directory)
{
    char path[TEMPORARY_SIZE + 16];

    (void)snprintf(path, sizeof(path), "%s/COLANDER", directory);
    return access(path, F_OK) == 0;
}

static void
begin_anew(struct killing *killing)
{
    temporary_remove(killing->fixture->directory);
    memset(killing->versions, 0, sizeof(*killing->versions));
}

static void
nothing_acknowledged_is_lost_with_the_power(void **state)
{
    struct killing killing = {.fixture = *state};
    char versions_path[TEMPORARY_SIZE + 16];
    unsigned unmade = 0;

    fixture_close(killing.fixture);
    (void)snprintf(versions_path, sizeof(versions_path), "%s.versions",
                   killing.fixture->directory);
    killing.versions = map_versions(versions_path);
    assert_non_null(killing.versions);
    killing.random = random_seed(__func__);
    for (uint64_t runs = random_runs(50); runs > 0; runs--) {
        const bool is_new = random_below(&killing.random, 4) == 0;

        if (is_new)
            begin_anew(&killing);
        write_and_lose(&killing, versions_path,
                       is_new ? CHANGES_MAKING : CHANGES);
        remove_saved(killing.fixture->directory);
        if (is_store(killing.fixture->directory))
            check_reading(&killing);
        else
            unmade++;
        check_writing(&killing);
    }
    printf("%u were lost before they were stores; %llu filters made again\n",
           unmade, (unsigned long long)killing.rebuilt_count);
    munmap(killing.versions, sizeof(*killing.versions));
    (void)unlink(versions_path);
    fixture_open(killing.fixture);
}

/* A row that is written to the log in pieces, killed between any two. */
static void
a_large_write_may_be_killed_anywhere(void **state)
{
    struct store_fixture *fixture = *state;
    unsigned written = 0;

    fixture_close(fixture);
    for (uint64_t change = 0; written == 0; change++) {
        int status = run_child("--large", fixture->directory, "-", "-", change);
        struct colander_family *family;

        written = WIFEXITED(status);
        assert_true(written ? WEXITSTATUS(status) == 3 : WIFSIGNALED(status));
        assert_true(change < 50 && (!written || change > 3));
        fixture_open(fixture);
        family = fixture_family(fixture, "rows");
        assert_in_range(count_rows(family), written, 1);
        colander_family_close(family);
        fixture_close(fixture);
    }
    fixture_open(fixture);
}

int
main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(
            nothing_acknowledged_is_lost_with_the_power, fixture_setup,
            fixture_teardown),
        cmocka_unit_test_setup_teardown(a_large_write_may_be_killed_anywhere,
                                        fixture_setup, fixture_teardown),
    };

    if (argc == 6 && strcmp(argv[1], "--large") == 0)
        return write_large(argv);

    if (argc == 6 && strncmp(argv[1], "--", 2) == 0)
        return write_until_lost(argv);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
