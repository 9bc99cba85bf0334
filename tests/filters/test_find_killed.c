/*
 * Finds after the process that wrote was killed (invariants I2, I5, I6): the
 * store is opened for reading, and finds give what scans give, also of rows
 * that are in no SST; then for writing, and every SST gets its filter, and no
 * other is left.
 *
 * The process that is killed is this program, begun anew; it tells by shared
 * memory which writes were acknowledged. COLANDER_RUNS sets how often it is.
 *
 * SPDX-License-Identifier: MIT
 */
#include "support/versioned_rows.h"

#include <signal.h>
#include <sys/wait.h>

/* Begins the writer, and kills it 5 to 100 ms later, or so long after it has
 * opened the store. */
static void
write_and_kill(struct killing *killing, const char *versions_path)
{
    const bool waits = random_below(&killing->random, 4) != 0;
    const long milliseconds = 5 + (long)random_below(&killing->random, 96);
    const struct timespec pause = {0, milliseconds * 1000000};
    const struct timespec moment = {0, 500000};
    char seed[24];
    pid_t child;
    int status;

    snprintf(seed, sizeof(seed), "%llu",
             (unsigned long long)random_next(&killing->random));
    atomic_store(&killing->versions->is_open, false);
    child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        execl("/proc/self/exe", "test", "--write", killing->fixture->directory,
              versions_path, seed, (char *)NULL);
        _exit(127);
    }
    while (waits && !atomic_load(&killing->versions->is_open) &&
           waitpid(child, &status, WNOHANG) == 0)
        nanosleep(&moment, NULL);
    nanosleep(&pause, NULL);
    assert_int_equal(kill(child, SIGKILL), 0);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status));
}

static void
finds_are_right_after_every_kill(void **state)
{
    struct killing killing = {.fixture = *state};
    const uint64_t runs = random_runs(200);
    char versions_path[TEMPORARY_SIZE + 16];

    fixture_close(killing.fixture);
    snprintf(versions_path, sizeof(versions_path), "%s.versions",
             killing.fixture->directory);
    killing.versions = map_versions(versions_path);
    assert_non_null(killing.versions);
    killing.random = random_seed("killed");
    for (uint64_t i = 0; i < runs; i++) {
        write_and_kill(&killing, versions_path);
        check_reading(&killing);
        check_writing(&killing);
    }
    printf("%llu finds by candidates of stores opened for reading, with %llu "
           "rows of the log; %llu of others; %llu filters made again\n",
           (unsigned long long)killing.reading.plans[COLANDER_PLAN_CANDIDATES],
           (unsigned long long)killing.reading.recent_found,
           (unsigned long long)killing.writing.plans[COLANDER_PLAN_CANDIDATES],
           (unsigned long long)killing.rebuilt_count);
    if (runs >= 12)
        assert_true(killing.reading.recent_found > 0);
    munmap(killing.versions, sizeof(*killing.versions));
    (void)unlink(versions_path);
    fixture_open(killing.fixture);
}

int
main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(finds_are_right_after_every_kill,
                                        fixture_setup, fixture_teardown),
    };

    if (argc == 5 && strcmp(argv[1], "--write") == 0)
        return write_until_killed(argv, NULL);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
