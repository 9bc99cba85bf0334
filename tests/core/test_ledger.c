/*
 * The ledger: what it keeps, and that it never says more than is true.
 *
 * SPDX-License-Identifier: MIT
 */
#include "support/other_boot.h"
#include "support/random.h"
#include "support/temporary.h"

#include "core/ledger.h"
#include "core/log_walk.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

struct fixture {
    char path[TEMPORARY_SIZE];
    int fd;
    struct ledger *ledger;
};

static int
setup(void **state)
{
    struct fixture *fixture = calloc(1, sizeof(*fixture));

    temporary_make(fixture->path);
    fixture->fd = open(fixture->path, O_RDONLY | O_DIRECTORY);
    *state = fixture;
    return ledger_open(fixture->fd, &fixture->ledger, NULL) == COLANDER_OK ? 0
                                                                           : -1;
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

static void
reopen(struct fixture *fixture)
{
    ledger_close(fixture->ledger);
    assert_int_equal(ledger_open(fixture->fd, &fixture->ledger, NULL),
                     COLANDER_OK);
}

static void
settle(struct fixture *fixture)
{
    assert_int_equal(ledger_settle(fixture->ledger, NULL), COLANDER_OK);
}

/* What must be there of the log; it is looked at with nothing there. */
static uint64_t
least(struct fixture *fixture, enum ledger_kind kind, uint64_t number)
{
    const struct ledger_entry entry =
        ledger_found(fixture->ledger, kind, number, 0);

    return ledger_least(fixture->ledger, &entry);
}

/* The slots, in the file. */
static void
read_slots(const struct fixture *fixture, uint8_t slots[2 * LEDGER_SLOT])
{
    int fd = openat(fixture->fd, LEDGER_FILE, O_RDONLY);

    assert_true(fd >= 0);
    assert_int_equal(pread(fd, slots, 2 * LEDGER_SLOT, 0), 2 * LEDGER_SLOT);
    (void)close(fd);
}

static void
write_slots(const struct fixture *fixture, const uint8_t slots[2 * LEDGER_SLOT])
{
    int fd = openat(fixture->fd, LEDGER_FILE, O_WRONLY);

    assert_true(fd >= 0);
    assert_int_equal(pwrite(fd, slots, 2 * LEDGER_SLOT, 0), 2 * LEDGER_SLOT);
    (void)close(fd);
}

/* --------------------------------------------------------------------------
 */

static void
notes_are_kept(void **state)
{
    struct fixture *fixture = *state;

    settle(fixture);
    ledger_note_written(fixture->ledger, LEDGER_WAL, 7, 100);
    ledger_note_synced(fixture->ledger, LEDGER_WAL, 7, 60);
    ledger_note_synced(fixture->ledger, LEDGER_MANIFEST, 7, 40);
    ledger_note_written(fixture->ledger, LEDGER_WAL, 9, 5);
    assert_true(ledger_forget(fixture->ledger, LEDGER_WAL, 9));
    assert_true(ledger_forget(fixture->ledger, LEDGER_WAL, 8));
    reopen(fixture);
    assert_int_equal(least(fixture, LEDGER_WAL, 7), 100);
    assert_int_equal(least(fixture, LEDGER_MANIFEST, 7), 40);
    assert_int_equal(least(fixture, LEDGER_WAL, 9), 0);
}

static void
a_log_that_is_not_found_is_missing_once(void **state)
{
    struct fixture *fixture = *state;
    const struct ledger_entry *missing;
    size_t at = 0;

    settle(fixture);
    for (uint64_t number = 3; number < 6; number++)
        ledger_note_written(fixture->ledger, LEDGER_WAL, number, 10);
    ledger_note_written(fixture->ledger, LEDGER_MANIFEST, 2, 10);
    reopen(fixture);
    (void)ledger_found(fixture->ledger, LEDGER_WAL, 3, 10);
    (void)ledger_found(fixture->ledger, LEDGER_WAL, 5, 9);
    missing = ledger_missing(fixture->ledger, &at);
    assert_non_null(missing);
    assert_int_equal(missing->number, 4);
    assert_null(ledger_missing(fixture->ledger, &at));

    settle(fixture); /* what is there counts now */
    reopen(fixture);
    assert_int_equal(least(fixture, LEDGER_WAL, 4), 0);
    assert_int_equal(least(fixture, LEDGER_WAL, 5), 9);
}

/* Whatever happens to a slot, no note is believed that was not made, and one
 * slot is enough for the note before. */
static void
damaged_slots_say_nothing(void **state)
{
    struct fixture *fixture = *state;
    uint64_t random = random_seed(__func__);
    uint8_t slots[2 * LEDGER_SLOT];

    settle(fixture);
    for (uint64_t runs = random_runs(2000); runs > 0; runs--) {
        const uint64_t size = 1000 + runs;
        const bool is_both = random_below(&random, 4) == 0;
        uint64_t known;
        size_t at;

        ledger_note_written(fixture->ledger, LEDGER_WAL, 1, size);
        ledger_note_written(fixture->ledger, LEDGER_WAL, 1, 2 * size);
        read_slots(fixture, slots);
        at = random_below(&random, 96);
        slots[at] ^= (uint8_t)(1 + random_below(&random, 255));
        if (is_both)
            slots[LEDGER_SLOT + at] ^= 1;
        write_slots(fixture, slots);
        reopen(fixture);
        known = least(fixture, LEDGER_WAL, 1);
        assert_true(is_both ? known == 0 : known == size || known == 2 * size);
        settle(fixture);
    }
}

/* Not every byte costs a write: the file may be a sixteenth behind. */
static void
the_file_may_be_behind_what_is_known(void **state)
{
    struct fixture *fixture = *state;

    settle(fixture);
    for (uint64_t size = 1600; size <= 1700; size++)
        ledger_note_written(fixture->ledger, LEDGER_WAL, 3, size);
    ledger_note_written(fixture->ledger, LEDGER_WAL, 8, 20);
    ledger_note_written(fixture->ledger, LEDGER_MANIFEST, 5, 20);
    assert_int_equal(ledger_written(fixture->ledger, LEDGER_WAL, 3), 1700);
    assert_int_equal(ledger_written(fixture->ledger, LEDGER_WAL, 5), 0);
    assert_int_equal(ledger_next_wal(fixture->ledger, 0), 3);
    assert_int_equal(ledger_next_wal(fixture->ledger, 3), 8);
    assert_int_equal(ledger_next_wal(fixture->ledger, 8), 0);
    ledger_note_written(fixture->ledger, LEDGER_WAL, 9, 3200);
    ledger_note_written(fixture->ledger, LEDGER_WAL, 9, 3400);
    reopen(fixture);
    assert_int_equal(least(fixture, LEDGER_WAL, 9), 3200);
}

/* A note that was taken back does not come back with the older slot. */
static void
what_was_forgotten_is_in_neither_slot(void **state)
{
    struct fixture *fixture = *state;
    uint8_t slots[2 * LEDGER_SLOT];

    for (size_t slot = 0; slot < 2; slot++) {
        settle(fixture);
        ledger_note_written(fixture->ledger, LEDGER_WAL, 1, 10);
        ledger_note_synced(fixture->ledger, LEDGER_WAL, 2, 10);
        assert_true(ledger_forget(fixture->ledger, LEDGER_WAL, 2));
        read_slots(fixture, slots);
        slots[slot * LEDGER_SLOT + 30] ^= 1;
        write_slots(fixture, slots);
        reopen(fixture);
        assert_int_equal(least(fixture, LEDGER_WAL, 2), 0);
        assert_int_equal(least(fixture, LEDGER_WAL, 1), 10);
    }
}

/* How far a MANIFEST was synced is told by either slot. */
static void
what_was_synced_of_a_manifest_is_in_both_slots(void **state)
{
    struct fixture *fixture = *state;
    uint8_t slots[2 * LEDGER_SLOT];

    settle(fixture);
    assert_true(ledger_note_synced(fixture->ledger, LEDGER_MANIFEST, 5, 100));
    ledger_of_another_boot(fixture->path);
    read_slots(fixture, slots);
    for (size_t slot = 0; slot < 2; slot++) {
        slots[slot * LEDGER_SLOT + 30] ^= 1;
        write_slots(fixture, slots);
        slots[slot * LEDGER_SLOT + 30] ^= 1;
        reopen(fixture);
        assert_int_equal(least(fixture, LEDGER_MANIFEST, 5), 100);
    }
}

static void
after_another_boot_only_what_was_synced_must_be_there(void **state)
{
    struct fixture *fixture = *state;

    settle(fixture);
    ledger_note_written(fixture->ledger, LEDGER_WAL, 1, 100);
    ledger_note_synced(fixture->ledger, LEDGER_WAL, 1, 60);
    ledger_of_another_boot(fixture->path);
    reopen(fixture);
    assert_int_equal(least(fixture, LEDGER_WAL, 1), 60);
}

/* Of more logs than the file has room for, the newest are known. */
static void
many_logs_are_kept(void **state)
{
    struct fixture *fixture = *state;

    settle(fixture);
    for (uint64_t number = 1; number <= 2000; number++)
        ledger_note_written(fixture->ledger, LEDGER_WAL, number, number);
    reopen(fixture);
    assert_int_equal(least(fixture, LEDGER_WAL, 1000), 1000);
    assert_int_equal(least(fixture, LEDGER_WAL, 2000), 2000);
    assert_int_equal(least(fixture, LEDGER_WAL, 1), 0);
}

/* ---------------------------------------------------------- whole records ---
 */

/* The pieces of a record, as RocksDB makes them; checksums are not looked at.
 * Gives the size of the log then. */
static size_t
write_record(uint8_t *log, size_t at, size_t size)
{
    bool is_first = true;

    do {
        size_t room = LEDGER_SLOT - at % LEDGER_SLOT;
        size_t piece;

        if (room < LOG_HEAD_SIZE) {
            at += room;
            room = LEDGER_SLOT;
        }
        piece = size < room - LOG_HEAD_SIZE ? size : room - LOG_HEAD_SIZE;
        size -= piece;
        log[at + 4] = (uint8_t)piece;
        log[at + 5] = (uint8_t)(piece >> 8);
        log[at + 6] =
            (uint8_t)(is_first ? (size == 0 ? 1 : 2) : (size == 0 ? 4 : 3));
        memset(log + at + LOG_HEAD_SIZE, 1, piece);
        at += LOG_HEAD_SIZE + piece;
        is_first = false;
    } while (size > 0);
    return at;
}

/* However a log is cut into what is written at once. */
static void
whole_records_are_known_from_the_bytes(void **state)
{
    static uint8_t log[64 * LEDGER_SLOT];
    static size_t ends[4096];
    uint64_t random = random_seed(__func__);

    (void)state;
    for (uint64_t runs = random_runs(200); runs > 0; runs--) {
        struct log_tail tail = {0};
        size_t count = 0;
        size_t size = 0;
        size_t next = 0;

        memset(log, 0, sizeof(log));
        while (count < 4096 && size < 32 * LEDGER_SLOT) {
            const size_t up_to = random_below(&random, 8) == 0 ? 100000 : 300;

            size = write_record(log, size, random_below(&random, up_to));
            ends[count++] = size;
        }
        while (tail.size < size) {
            size_t piece = 1 + random_below(&random, 5000);

            if (piece > size - tail.size)
                piece = size - tail.size;
            log_tail_add(&tail, log + tail.size, piece);
            while (next < count && ends[next] <= tail.size)
                next++;
            assert_int_equal(tail.whole, next == 0 ? 0 : ends[next - 1]);
        }
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
        TEST(notes_are_kept),
        TEST(a_log_that_is_not_found_is_missing_once),
        TEST(damaged_slots_say_nothing),
        TEST(the_file_may_be_behind_what_is_known),
        TEST(what_was_forgotten_is_in_neither_slot),
        TEST(after_another_boot_only_what_was_synced_must_be_there),
        TEST(what_was_synced_of_a_manifest_is_in_both_slots),
        TEST(many_logs_are_kept),
        TEST(whole_records_are_known_from_the_bytes),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
