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

/* The program as it is lost: --write <store> <versions> <seed> <changes>. */
static int
write_until_lost(char **arguments)
{
    struct colander_options options;

    colander_options_init(&options);
    options.sync = true;
    power_loss_begin(arguments[2], strtoull(arguments[5], NULL, 10),
                     strtoull(arguments[4], NULL, 10));
    return write_until_killed(arguments, &options);
}

static void
write_and_lose(struct killing *killing, const char *versions_path,
               uint64_t changes_max)
{
    char changes[24];
    char seed[24];
    pid_t child;
    int status;

    (void)snprintf(seed, sizeof(seed), "%llu",
                   (unsigned long long)random_next(&killing->random));
    (void)snprintf(
        changes, sizeof(changes), "%llu",
        (unsigned long long)random_below(&killing->random, changes_max));
    printf("the loss of seed %s before change %s\n", seed, changes);
    (void)fflush(stdout);
    child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        execl("/proc/self/exe", "test", "--write", killing->fixture->directory,
              versions_path, seed, changes, (char *)NULL);
        _exit(127);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
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

int
main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(
            nothing_acknowledged_is_lost_with_the_power, fixture_setup,
            fixture_teardown),
    };

    if (argc == 6 && strcmp(argv[1], "--write") == 0)
        return write_until_lost(argv);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
