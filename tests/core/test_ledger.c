/*
 * The ledger: what it records, and that it never claims more than is true, even
 * on a disk that fails.
 *
 * SPDX-License-Identifier: MIT
 */
#include "support/cases.h"
#include "support/io_faults.h"
#include "support/other_boot.h"
#include "support/random.h"
#include "support/temporary.h"

#include "core/ledger.h"
#include "core/log_tail.h"
#include "core/logs/log_block.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

struct fixture {
    char path[TEMPORARY_SIZE];
    int fd;
    struct ledger *ledger;
    unsigned tries; /* made by a thread */
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
    OK(ledger_open(fixture->fd, &fixture->ledger, NULL));
}

/* Records of that size, with some sum. */
static struct log_extent
extent(uint64_t size)
{
    return (struct log_extent){size, size == 0 ? 0 : size + 1};
}

static uint64_t
size_of(struct fixture *fixture, enum ledger_kind kind, uint64_t number,
        enum ledger_extent which)
{
    return ledger_noted(fixture->ledger, kind, number).extents[which].size;
}

static void
settle(struct fixture *fixture)
{
    OK(ledger_settle(fixture->ledger, NULL));
}

/* The size that must be intact of a log that is empty now. */
static uint64_t
least(struct fixture *fixture, enum ledger_kind kind, uint64_t number)
{
    const struct ledger_entry entry =
        ledger_noted(fixture->ledger, kind, number);

    ledger_found(fixture->ledger, kind, number, extent(0));
    return ledger_least(fixture->ledger, &entry);
}

/* Reads the slots from the file. */
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

/* ----------------------------------------------------------------------- */

#define LEDGER_TEST(name)                                                      \
    TEST_WITH(struct fixture *fixture, name, setup, teardown)

LEDGER_TEST(notes_are_kept)
{
    settle(fixture);
    ledger_note_written(fixture->ledger, LEDGER_WAL, 7, extent(100));
    ledger_note_synced(fixture->ledger, LEDGER_WAL, 7, extent(60));
    ledger_note_synced(fixture->ledger, LEDGER_MANIFEST, 7, extent(40));
    ledger_note_written(fixture->ledger, LEDGER_WAL, 9, extent(5));
    assert_true(ledger_forget(fixture->ledger, LEDGER_WAL, 9));
    assert_true(ledger_forget(fixture->ledger, LEDGER_WAL, 8));
    reopen(fixture);
    assert_int_equal(least(fixture, LEDGER_WAL, 7), 100);
    assert_int_equal(least(fixture, LEDGER_MANIFEST, 7), 40);
    assert_int_equal(least(fixture, LEDGER_WAL, 9), 0);
}

LEDGER_TEST(a_log_that_is_not_found_is_missing_once)
{
    settle(fixture);
    for (uint64_t number = 3; number < 6; number++)
        ledger_note_written(fixture->ledger, LEDGER_WAL, number, extent(10));
    ledger_note_written(fixture->ledger, LEDGER_MANIFEST, 2, extent(10));
    reopen(fixture);
    ledger_found(fixture->ledger, LEDGER_WAL, 3, extent(10));
    ledger_found(fixture->ledger, LEDGER_WAL, 5, extent(9));
    for (uint64_t number = 3; number < 6; number++)
        assert_int_equal(
            ledger_next(fixture->ledger, LEDGER_WAL, number - 1).is_found,
            number != 4);

    settle(fixture); /* what is written so far counts now */
    reopen(fixture);
    assert_int_equal(least(fixture, LEDGER_WAL, 4), 0);
    assert_int_equal(least(fixture, LEDGER_WAL, 5), 9);
}

/* Damage to a slot never makes a note valid that was not written, and one slot
 * is enough for what was synced. */
LEDGER_TEST(damaged_slots_are_ignored)
{
    uint64_t random = random_seed(__func__);
    uint8_t slots[2 * LEDGER_SLOT];

    for (uint64_t runs = random_runs(2000); runs > 0; runs--) {
        const uint64_t size = 1000 + runs;
        const bool is_both = random_below(&random, 4) == 0;
        uint64_t known;
        size_t at;

        ledger_found(fixture->ledger, LEDGER_WAL, 1, extent(size));
        settle(fixture);
        ledger_note_written(fixture->ledger, LEDGER_WAL, 1, extent(2 * size));
        read_slots(fixture, slots);
        at = random_below(&random, 96);
        slots[at] ^= (uint8_t)(1 + random_below(&random, 255));
        if (is_both)
            slots[LEDGER_SLOT + at] ^= 1;
        write_slots(fixture, slots);
        reopen(fixture);
        known = least(fixture, LEDGER_WAL, 1);
        assert_true(is_both ? known == 0 : known == size || known == 2 * size);
    }
}

/* Until the next sync, notes overwrite only one slot, which a power failure may
 * tear. */
LEDGER_TEST(one_slot_stays_as_it_was_synced)
{
    static uint8_t synced[2 * LEDGER_SLOT];
    static uint8_t now[2 * LEDGER_SLOT];

    settle(fixture);
    for (uint64_t i = 1; i <= 4; i++) {
        size_t torn;

        assert_true(
            ledger_note_synced(fixture->ledger, LEDGER_MANIFEST, 5, extent(i)));
        read_slots(fixture, synced);
        for (uint64_t size = 1; size <= 3; size++)
            ledger_note_written(fixture->ledger, LEDGER_WAL, i, extent(size));
        read_slots(fixture, now);
        torn = memcmp(synced, now, LEDGER_SLOT) == 0 ? LEDGER_SLOT : 0;
        assert_memory_equal(synced + LEDGER_SLOT - torn,
                            now + LEDGER_SLOT - torn, LEDGER_SLOT);
        now[torn + 30] ^= 1;
        write_slots(fixture, now);
        reopen(fixture);
        assert_int_equal(least(fixture, LEDGER_MANIFEST, 5), i);
        ledger_found(fixture->ledger, LEDGER_MANIFEST, 5, extent(i));
        settle(fixture);
    }
}

/* Not every byte costs a write: the file may lag by a sixteenth. */
LEDGER_TEST(the_file_may_lag_by_a_sixteenth)
{
    settle(fixture);
    for (uint64_t size = 1600; size <= 1700; size++)
        ledger_note_written(fixture->ledger, LEDGER_WAL, 3, extent(size));
    ledger_note_written(fixture->ledger, LEDGER_WAL, 8, extent(20));
    ledger_note_written(fixture->ledger, LEDGER_MANIFEST, 5, extent(20));
    assert_int_equal(size_of(fixture, LEDGER_WAL, 3, LEDGER_WRITTEN), 1700);
    assert_int_equal(size_of(fixture, LEDGER_WAL, 5, LEDGER_WRITTEN), 0);
    assert_int_equal(ledger_next(fixture->ledger, LEDGER_WAL, 0).number, 3);
    assert_int_equal(ledger_next(fixture->ledger, LEDGER_WAL, 3).number, 8);
    assert_int_equal(ledger_next(fixture->ledger, LEDGER_WAL, 8).number, 0);
    ledger_note_written(fixture->ledger, LEDGER_WAL, 9, extent(3200));
    ledger_note_written(fixture->ledger, LEDGER_WAL, 9, extent(3400));
    reopen(fixture);
    assert_int_equal(least(fixture, LEDGER_WAL, 9), 3200);
}

/* A note that was withdrawn does not reappear with the older slot. */
LEDGER_TEST(what_was_forgotten_is_in_neither_slot)
{
    uint8_t slots[2 * LEDGER_SLOT];

    for (size_t slot = 0; slot < 2; slot++) {
        settle(fixture);
        ledger_note_written(fixture->ledger, LEDGER_WAL, 1, extent(10));
        ledger_note_synced(fixture->ledger, LEDGER_WAL, 2, extent(10));
        assert_true(ledger_forget(fixture->ledger, LEDGER_WAL, 2));
        read_slots(fixture, slots);
        slots[slot * LEDGER_SLOT + 30] ^= 1;
        write_slots(fixture, slots);
        reopen(fixture);
        assert_int_equal(least(fixture, LEDGER_WAL, 2), 0);
        assert_int_equal(least(fixture, LEDGER_WAL, 1), 10);
    }
}

/* Either slot records how far a MANIFEST was synced. */
LEDGER_TEST(what_was_synced_of_a_manifest_is_in_both_slots)
{
    uint8_t slots[2 * LEDGER_SLOT];

    settle(fixture);
    assert_true(
        ledger_note_synced(fixture->ledger, LEDGER_MANIFEST, 5, extent(100)));
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

LEDGER_TEST(after_another_boot_only_what_was_synced_must_be_there)
{
    settle(fixture);
    ledger_note_written(fixture->ledger, LEDGER_WAL, 1, extent(100));
    ledger_note_synced(fixture->ledger, LEDGER_WAL, 1, extent(60));
    ledger_of_another_boot(fixture->path);
    reopen(fixture);
    assert_int_equal(least(fixture, LEDGER_WAL, 1), 60);
}

static bool
may_end(struct fixture *fixture, uint64_t number)
{
    const struct ledger_entry entry =
        ledger_noted(fixture->ledger, LEDGER_WAL, number);

    return ledger_may_end(fixture->ledger, &entry, 0);
}

/* A log without a mark, whether known or not, was never synced. */
LEDGER_TEST(a_log_that_was_synced_is_marked)
{
    settle(fixture);
    ledger_note_written(fixture->ledger, LEDGER_WAL, 1, extent(100));
    ledger_note_written(fixture->ledger, LEDGER_WAL, 2, extent(100));
    assert_true(ledger_mark_synced(fixture->ledger, 1, false));
    assert_true(ledger_mark_synced(fixture->ledger, 3, true));
    assert_true(ledger_mark_synced(fixture->ledger, 4, false));
    assert_true(
        ledger_note_synced(fixture->ledger, LEDGER_MANIFEST, 5, extent(10)));
    reopen(fixture);
    for (uint64_t number = 1; number <= 6; number++)
        assert_false(may_end(fixture, number));
    ledger_of_another_boot(fixture->path);
    for (unsigned i = 0; i < 2; i++) {
        reopen(fixture);
        assert_false(may_end(fixture, 1));
        assert_true(may_end(fixture, 2));
        assert_false(may_end(fixture, 3));
        assert_false(may_end(fixture, 4));
        assert_true(may_end(fixture, 6));
        for (uint64_t number = 1; number <= 4; number++)
            ledger_found(fixture->ledger, LEDGER_WAL, number, extent(100));
        settle(fixture);
        ledger_of_another_boot(fixture->path);
    }
}

static void
make_old(uint8_t *slot, uint64_t count, uint64_t argument)
{
    (void)argument;
    slot[strlen("colander ledger ")] = '1';
    for (size_t i = 0; i < count; i++) {
        uint8_t *entry = slot + 80 + 24 * i;

        memmove(entry, slot + 80 + 56 * i, 16);
        memmove(entry + 16, slot + 80 + 56 * i + 40, 8);
        entry[0] = (uint8_t)(entry[0] >> 2 << 1 | (entry[0] & 1));
    }
}

/* Without a ledger, or with an old one, any log may have been synced, even
 * after it was found. */
LEDGER_TEST(an_old_ledger_marks_all_logs)
{
    settle(fixture);
    ledger_note_written(fixture->ledger, LEDGER_WAL, 7, extent(100));
    assert_true(
        ledger_note_synced(fixture->ledger, LEDGER_MANIFEST, 9, extent(10)));
    ledger_change(fixture->path, make_old, 0);
    for (unsigned has_ledger = 2; has_ledger-- > 0;) {
        ledger_of_another_boot(fixture->path);
        if (!has_ledger)
            ledger_remove(fixture->path);
        reopen(fixture);
        assert_int_equal(size_of(fixture, LEDGER_WAL, 7, LEDGER_WRITTEN),
                         has_ledger * 100);
        assert_int_equal(size_of(fixture, LEDGER_MANIFEST, 9, LEDGER_SYNCED),
                         has_ledger * 10);
        assert_false(ledger_lists_all(fixture->ledger));
        assert_false(may_end(fixture, 7));
        assert_false(may_end(fixture, 8));
        ledger_found(fixture->ledger, LEDGER_WAL, 7, extent(100));
        settle(fixture);
        ledger_of_another_boot(fixture->path);
        reopen(fixture);
        assert_false(may_end(fixture, 7));
        assert_true(may_end(fixture, 8));
    }
}

/* If there are more logs than the file has room for, the newest are
 * recorded. */
LEDGER_TEST(many_logs_are_kept)
{
    settle(fixture);
    for (uint64_t number = 1; number <= 2000; number++)
        ledger_note_written(fixture->ledger, LEDGER_WAL, number,
                            extent(number));
    reopen(fixture);
    assert_int_equal(least(fixture, LEDGER_WAL, 1500), 1500);
    assert_int_equal(least(fixture, LEDGER_WAL, 2000), 2000);
    assert_int_equal(least(fixture, LEDGER_WAL, 1), 0);
    ledger_of_another_boot(fixture->path);
    reopen(fixture);
    assert_false(may_end(fixture, 1)); /* there is no space for its mark */
    assert_false(may_end(fixture, 2000));
    for (uint64_t number = 1; number <= 2000; number++)
        ledger_found(fixture->ledger, LEDGER_WAL, number, extent(number));
    settle(fixture);
    ledger_of_another_boot(fixture->path);
    reopen(fixture);
    assert_false(may_end(fixture, 1)); /* nor after it is reopened */
}

static void
clear_boot(uint8_t *slot, uint64_t count, uint64_t generation)
{
    (void)count;
    if (ledger_number(slot, 24) == generation)
        memset(slot + 32, 0, 40);
}

/* The boot in the older slot is ignored, whichever is read first. */
LEDGER_TEST(the_boot_is_that_of_the_newer_slot)
{
    uint8_t slots[2 * LEDGER_SLOT];

    settle(fixture);
    ledger_of_another_boot(fixture->path);
    reopen(fixture);
    assert_true(may_end(fixture, 1));
    read_slots(fixture, slots);
    for (unsigned i = 0; i < 2; i++) {
        const uint64_t first = ledger_number(slots, 24);
        const uint64_t second = ledger_number(slots + LEDGER_SLOT, 24);
        uint8_t slot[LEDGER_SLOT];

        write_slots(fixture, slots);
        ledger_change(fixture->path, clear_boot,
                      first > second ? first : second);
        reopen(fixture);
        assert_false(may_end(fixture, 1));
        memcpy(slot, slots, LEDGER_SLOT);
        memcpy(slots, slots + LEDGER_SLOT, LEDGER_SLOT);
        memcpy(slots + LEDGER_SLOT, slot, LEDGER_SLOT);
    }
}

/* ------------------------------------------------------ foreign records --- */

static bool
allows(struct fixture *fixture, uint64_t number, struct log_extent whole)
{
    const struct ledger_entry noted =
        ledger_noted(fixture->ledger, LEDGER_WAL, number);

    return ledger_allows(fixture->ledger, &noted, whole);
}

/* The first write of a log follows a note, and so does the log. After a restart
 * of the machine, the note of the write may be lost. */
LEDGER_TEST(a_log_has_no_records_before_they_are_noted)
{
    settle(fixture);
    assert_true(ledger_begin(fixture->ledger, 7));
    for (unsigned boot = 0; boot < 2; boot++) {
        if (boot > 0)
            ledger_of_another_boot(fixture->path);
        reopen(fixture);
        assert_true(ledger_lists_all(fixture->ledger));
        assert_true(allows(fixture, 7, extent(0)));
        assert_int_equal(allows(fixture, 7, extent(100)), boot);
        assert_false(allows(fixture, 8, extent(100))); /* not listed */
        assert_true(allows(fixture, 8, extent(0)));
    }
    ledger_found(fixture->ledger, LEDGER_WAL, 7, extent(0));
    settle(fixture);
    assert_true(ledger_note_ahead(fixture->ledger, LEDGER_WAL, 7, extent(100)));
    reopen(fixture);
    assert_true(allows(fixture, 7, extent(100)));
    assert_int_equal(size_of(fixture, LEDGER_WAL, 7, LEDGER_AHEAD), 100);
    assert_int_equal(size_of(fixture, LEDGER_WAL, 7, LEDGER_WRITTEN), 0);
}

/* A number may be used again, after a power failure. */
LEDGER_TEST(a_log_that_begins_has_nothing_of_an_earlier_one)
{
    settle(fixture);
    ledger_note_written(fixture->ledger, LEDGER_WAL, 7, extent(100));
    assert_true(ledger_begin(fixture->ledger, 7));
    reopen(fixture);
    assert_int_equal(size_of(fixture, LEDGER_WAL, 7, LEDGER_WRITTEN), 0);
    assert_false(allows(fixture, 7, extent(100)));
}

/* A kill may tear the slot that has the newest note. */
LEDGER_TEST(a_torn_slot_may_have_had_the_note)
{
    uint8_t slots[2 * LEDGER_SLOT];

    settle(fixture);
    assert_true(ledger_begin(fixture->ledger, 7));
    read_slots(fixture, slots);
    for (unsigned i = 0; i < 2; i++) {
        slots[i * LEDGER_SLOT + 100] ^= 1;
        write_slots(fixture, slots);
        slots[i * LEDGER_SLOT + 100] ^= 1;
        reopen(fixture);
        assert_true(allows(fixture, 7, extent(100)));
        assert_false(allows(fixture, 8, extent(100)));
    }
}

LEDGER_TEST(a_sealed_ledger_is_exact_until_it_is_settled)
{
    settle(fixture);
    ledger_note_written(fixture->ledger, LEDGER_WAL, 7, extent(160));
    ledger_note_written(fixture->ledger, LEDGER_WAL, 7, extent(161));
    ledger_seal(fixture->ledger);
    ledger_of_another_boot(fixture->path);
    reopen(fixture);
    assert_true(allows(fixture, 7, extent(161)));
    assert_false(allows(fixture, 7, extent(160)));
    assert_false(allows(fixture, 7, extent(170)));
    assert_false(allows(fixture, 7, (struct log_extent){161, 1}));
    assert_int_equal(least(fixture, LEDGER_WAL, 7), 161);
    ledger_found(fixture->ledger, LEDGER_WAL, 7, extent(161));
    settle(fixture);
    reopen(fixture);
    assert_true(allows(fixture, 7, extent(170)));
}

/* A copy of the store that shares its files by hard links is a store of its
 * own. */
LEDGER_TEST(a_ledger_with_two_names_is_replaced_and_not_changed)
{
    static uint8_t before[2 * LEDGER_SLOT];
    static uint8_t after[2 * LEDGER_SLOT];

    settle(fixture);
    ledger_note_written(fixture->ledger, LEDGER_WAL, 3, extent(100));
    read_slots(fixture, before);
    ZERO(linkat(fixture->fd, LEDGER_FILE, fixture->fd, "copy", 0));
    reopen(fixture);
    ledger_found(fixture->ledger, LEDGER_WAL, 3, extent(100));
    settle(fixture);
    ledger_note_written(fixture->ledger, LEDGER_WAL, 4, extent(200));
    reopen(fixture);
    assert_int_equal(least(fixture, LEDGER_WAL, 3), 100);
    assert_int_equal(least(fixture, LEDGER_WAL, 4), 200);
    ZERO(renameat(fixture->fd, "copy", fixture->fd, LEDGER_FILE));
    read_slots(fixture, after);
    assert_memory_equal(before, after, sizeof(before));
}

/* ---------------------------------------------------- a disk that fails --- */

#define LOG 15

static int
setup_noted(void **state)
{
    const int result = setup(state);
    struct fixture *fixture = *state;

    settle(fixture);
    ledger_note_written(fixture->ledger, LEDGER_WAL, LOG, extent(100));
    return result;
}

/* Counts how often the log may be deleted. */
static void *
forget_often(void *argument)
{
    struct fixture *fixture = argument;
    uintptr_t count = 0;

    for (unsigned i = 0; i < fixture->tries; i++)
        count += ledger_forget(fixture->ledger, LEDGER_WAL, LOG);
    return (void *)count; /* NOLINT(performance-no-int-to-ptr) */
}

#define NOTED_TEST(name)                                                       \
    TEST_WITH(struct fixture *fixture, name, setup_noted, teardown)

/* After errors, RocksDB deletes a log from several threads at once. */
NOTED_TEST(a_log_stays_while_no_thread_can_forget_it)
{
    const enum fault_kind kinds[] = {FAULT_WRITE, FAULT_SYNC};

    for (size_t i = 0; i < 2; i++) {
        const struct fault fault = {kinds[i], 0, ENOSPC, false, true};
        pthread_t threads[2];

        /* a failing sync takes a while */
        fixture->tries = kinds[i] == FAULT_SYNC ? 100 : 20000;
        faults_begin(fixture->path, &fault);
        for (size_t j = 0; j < 2; j++)
            ZERO(pthread_create(&threads[j], NULL, forget_often, fixture));
        for (size_t j = 0; j < 2; j++) {
            void *count;

            ZERO(pthread_join(threads[j], &count));
            assert_null(count);
        }
        assert_true(faults_were_met());
        faults_repair();
    }
    ledger_note_written(fixture->ledger, LEDGER_WAL, LOG, extent(200));
    assert_true(ledger_forget(fixture->ledger, LEDGER_WAL, LOG));
    reopen(fixture);
    assert_int_equal(least(fixture, LEDGER_WAL, LOG), 0);
}

/* Notes that are half written do not overwrite one that was synced. */
NOTED_TEST(notes_that_are_torn_leave_the_last_one)
{
    const struct fault fault = {FAULT_WRITE, 0, EIO, true, false};

    ledger_note_written(fixture->ledger, LEDGER_WAL, LOG, extent(100));
    assert_true(
        ledger_note_synced(fixture->ledger, LEDGER_MANIFEST, 3, extent(100)));
    for (uint64_t size = 200; size <= 400; size += 100) {
        faults_begin(fixture->path, &fault);
        ledger_note_written(fixture->ledger, LEDGER_WAL, LOG, extent(size));
        assert_true(faults_were_met());
        faults_repair();
    }
    reopen(fixture);
    assert_int_equal(least(fixture, LEDGER_WAL, LOG), 100);
}

/* While the new slot is not on disk, a power failure may tear it. */
NOTED_TEST(a_slot_stays_until_the_other_is_synced)
{
    const struct fault fault = {FAULT_SYNC, 0, EIO, false, true};
    static uint8_t before[2 * LEDGER_SLOT];
    static uint8_t after[2 * LEDGER_SLOT];

    for (uint64_t size = 100; size <= 300; size += 100) {
        assert_true(ledger_note_synced(fixture->ledger, LEDGER_MANIFEST, 3,
                                       extent(size)));
        read_slots(fixture, before);
        faults_begin(fixture->path, &fault);
        assert_false(ledger_note_synced(fixture->ledger, LEDGER_MANIFEST, 3,
                                        extent(size + 1)));
        assert_false(ledger_forget(fixture->ledger, LEDGER_WAL, LOG));
        faults_repair();
        read_slots(fixture, after);
        assert_true(memcmp(before, after, LEDGER_SLOT) == 0 ||
                    memcmp(before + LEDGER_SLOT, after + LEDGER_SLOT,
                           LEDGER_SLOT) == 0);
    }
}

/* Syncs the ledger, which takes a while. */
static void *
sync_manifest(void *argument)
{
    struct fixture *fixture = argument;

    assert_false(
        ledger_note_synced(fixture->ledger, LEDGER_MANIFEST, 3, extent(1)));
    return NULL;
}

/* The writer does not wait for the sync. */
NOTED_TEST(a_note_made_during_a_sync_is_written_after_it)
{
    const struct fault fault = {FAULT_SYNC, 0, EIO, false, true};
    const struct timespec pause = {0, 1000000};

    for (uint64_t size = 200; size <= 1600; size *= 2) {
        pthread_t thread;

        faults_begin(fixture->path, &fault);
        ZERO(pthread_create(&thread, NULL, sync_manifest, fixture));
        (void)nanosleep(&pause, NULL);
        ledger_note_written(fixture->ledger, LEDGER_WAL, LOG, extent(size));
        ZERO(pthread_join(thread, NULL));
        faults_repair();
        reopen(fixture);
        assert_int_equal(size_of(fixture, LEDGER_WAL, LOG, LEDGER_WRITTEN),
                         size);
        ledger_found(fixture->ledger, LEDGER_WAL, LOG, extent(size));
        settle(fixture);
    }
}

/* Only a mark that is not relied on may reach the disk later. */
NOTED_TEST(a_sync_is_on_the_disk_or_an_error)
{
    const struct fault faults[] = {{FAULT_WRITE, 0, EIO, false, false},
                                   {FAULT_WRITE, 1, EIO, false, false},
                                   {FAULT_SYNC, 0, EIO, false, false}};

    for (size_t i = 0; i < 2 * COUNT(faults); i++) {
        struct ledger *ledger = fixture->ledger;

        faults_begin(fixture->path, &faults[i / 2]);
        assert_true(ledger_mark_synced(ledger, 2 * LOG + i, false));
        assert_false(
            i % 2 ? ledger_mark_synced(ledger, LOG + i, true)
                  : ledger_note_synced(ledger, LEDGER_MANIFEST, 3, extent(1)));
        assert_true(faults_were_met());
        faults_repair();
        assert_true(
            i % 2 ? ledger_mark_synced(ledger, LOG + i, true)
                  : ledger_note_synced(ledger, LEDGER_MANIFEST, 3, extent(1)));
    }
}

/* -------------------------------------------------------- whole records --- */

/* The fragments of a record, as RocksDB writes them; checksums are not checked.
 * Returns the size of the log after it. */
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

/* Whatever pieces a log is written in. */
LEDGER_TEST(whole_records_are_known_from_the_bytes)
{
    static uint8_t log[64 * LEDGER_SLOT];
    static size_t ends[4096];
    uint64_t random = random_seed(__func__);

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
            assert_int_equal(tail.whole.size, next == 0 ? 0 : ends[next - 1]);
            assert_int_equal(tail.whole.sum != 0, next > 0);
        }
    }
}
