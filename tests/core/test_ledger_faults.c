/*
 * The ledger on a disk that fails: what it says stays true.
 *
 * SPDX-License-Identifier: MIT
 */
#include "core/ledger.h"
#include "support/io_faults.h"
#include "support/temporary.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <unistd.h>

#include <cmocka.h>

#define LOG 15

struct fixture {
    char path[TEMPORARY_SIZE];
    int fd;
    struct ledger *ledger;
    unsigned tries;
};

/* A ledger with a note of 100 bytes. */
static int
setup(void **state)
{
    struct fixture *fixture = calloc(1, sizeof(*fixture));

    temporary_make(fixture->path);
    fixture->fd = open(fixture->path, O_RDONLY | O_DIRECTORY);
    *state = fixture;
    if (ledger_open(fixture->fd, &fixture->ledger, NULL) != COLANDER_OK ||
        ledger_settle(fixture->ledger, NULL) != COLANDER_OK)
        return -1;
    ledger_note_written(fixture->ledger, LEDGER_WAL, LOG, 100);
    return 0;
}

static int
teardown(void **state)
{
    struct fixture *fixture = *state;

    ledger_close(fixture->ledger);
    (void)close(fixture->fd);
    temporary_remove(fixture->path);
    free(fixture);
    return 0;
}

/* What the file says of the log. */
static uint64_t
noted(struct fixture *fixture)
{
    struct ledger_entry entry;

    ledger_close(fixture->ledger);
    assert_int_equal(ledger_open(fixture->fd, &fixture->ledger, NULL),
                     COLANDER_OK);
    entry = ledger_found(fixture->ledger, LEDGER_WAL, LOG, 0);
    return entry.written;
}

/* How often it was said that the log may go. */
static void *
forget_often(void *argument)
{
    struct fixture *fixture = argument;
    uintptr_t count = 0;

    for (unsigned i = 0; i < fixture->tries; i++)
        count += ledger_forget(fixture->ledger, LEDGER_WAL, LOG);
    return (void *)count; /* NOLINT(performance-no-int-to-ptr) */
}

/* RocksDB removes a log by several threads at once, after errors. */
static void
a_log_stays_while_no_thread_can_forget_it(void **state)
{
    const enum fault_kind kinds[] = {FAULT_WRITE, FAULT_SYNC};
    struct fixture *fixture = *state;

    for (size_t i = 0; i < 2; i++) {
        const struct fault fault = {kinds[i], 0, ENOSPC, false, true};
        pthread_t threads[2];

        /* a sync that fails takes a while */
        fixture->tries = kinds[i] == FAULT_SYNC ? 100 : 20000;
        faults_begin(fixture->path, &fault);
        for (size_t j = 0; j < 2; j++)
            assert_int_equal(
                pthread_create(&threads[j], NULL, forget_often, fixture), 0);
        for (size_t j = 0; j < 2; j++) {
            void *count;

            assert_int_equal(pthread_join(threads[j], &count), 0);
            assert_null(count);
        }
        assert_true(faults_were_met());
        faults_mend();
    }
    ledger_note_written(fixture->ledger, LEDGER_WAL, LOG, 200);
    assert_true(ledger_forget(fixture->ledger, LEDGER_WAL, LOG));
    assert_int_equal(noted(fixture), 0);
}

/* A note that is half written is in the place of the older one, also when the
 * next ends so. */
static void
notes_that_are_torn_leave_the_last_one(void **state)
{
    const struct fault fault = {FAULT_WRITE, 0, EIO, true, false};
    struct fixture *fixture = *state;

    for (uint64_t size = 200; size <= 400; size += 100) {
        faults_begin(fixture->path, &fault);
        ledger_note_written(fixture->ledger, LEDGER_WAL, LOG, size);
        assert_true(faults_were_met());
        faults_mend();
    }
    assert_int_equal(noted(fixture), 100);
}

/* Of a log of writes less may be known. */
static void
that_a_manifest_is_synced_is_on_the_disk_or_an_error(void **state)
{
    const struct fault faults[] = {{FAULT_WRITE, 0, EIO, false, false},
                                   {FAULT_WRITE, 1, EIO, false, false},
                                   {FAULT_SYNC, 0, EIO, false, false}};
    struct fixture *fixture = *state;

    for (size_t i = 0; i < sizeof(faults) / sizeof(faults[0]); i++) {
        faults_begin(fixture->path, &faults[i]);
        assert_false(
            ledger_note_synced(fixture->ledger, LEDGER_MANIFEST, 3, 100));
        assert_true(faults_were_met());
        faults_mend();
        assert_true(
            ledger_note_synced(fixture->ledger, LEDGER_MANIFEST, 3, 100));
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
        TEST(a_log_stays_while_no_thread_can_forget_it),
        TEST(notes_that_are_torn_leave_the_last_one),
        TEST(that_a_manifest_is_synced_is_on_the_disk_or_an_error),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
