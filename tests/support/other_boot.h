/*
 * Makes the ledger of a store look as after a restart of the machine, or
 * removes the ledger.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef TESTS_SUPPORT_OTHER_BOOT_H
#define TESTS_SUPPORT_OTHER_BOOT_H

#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <xxhash.h>

#define LEDGER_SLOT 32768

/* Reads 64 bits at a place in a slot. */
static inline uint64_t
ledger_number(const uint8_t *slot, size_t at)
{
    uint64_t number = 0;

    for (size_t i = at + 8; i-- > at;)
        number = number << 8 | slot[i];
    return number;
}

/* What a ledger says was not yet on disk when the machine failed. */
static inline void
ledger_remove(const char *store)
{
    char path[4096];

    (void)snprintf(path, sizeof(path), "%s/LEDGER", store);
    if (unlink(path) != 0)
        abort();
}

/* The bytes of an entry. Those of earlier versions had no sums. */
static inline size_t
ledger_entry_size(const uint8_t *slot)
{
    return slot[strlen("colander ledger ")] == '3' ? 56 : 24;
}

static inline void
ledger_set_sum(uint8_t *slot, uint64_t count)
{
    const size_t at = 80 + ledger_entry_size(slot) * (size_t)count;
    const uint64_t sum = XXH3_64bits(slot, at);

    for (size_t i = 0; i < 8; i++)
        slot[at + i] = (uint8_t)(sum >> (8 * i));
}

/* Changes all valid slots, and updates their checksums. */
static inline void
ledger_change(const char *store,
              void (*change)(uint8_t *slot, uint64_t count, uint64_t argument),
              uint64_t argument)
{
    const size_t count_at = 72;
    uint8_t slot[LEDGER_SLOT];
    char path[4096];
    int fd;

    (void)snprintf(path, sizeof(path), "%s/LEDGER", store);
    fd = open(path, O_RDWR | O_CLOEXEC);
    for (off_t at = 0; fd >= 0 && at < 2 * LEDGER_SLOT; at += LEDGER_SLOT) {
        const ssize_t size = pread(fd, slot, sizeof(slot), at);
        const uint64_t count = ledger_number(slot, count_at);
        size_t sum_at;

        if (size != LEDGER_SLOT ||
            count > (LEDGER_SLOT - 88) / ledger_entry_size(slot))
            continue;
        sum_at = 80 + ledger_entry_size(slot) * (size_t)count;
        if (XXH3_64bits(slot, sum_at) != ledger_number(slot, sum_at))
            continue;
        change(slot, count, argument);
        ledger_set_sum(slot, count);
        if (pwrite(fd, slot, sizeof(slot), at) != LEDGER_SLOT)
            abort();
    }
    if (fd >= 0)
        (void)close(fd);
}

static inline void
ledger_change_boot(uint8_t *slot, uint64_t count, uint64_t argument)
{
    (void)count;
    (void)argument;
    slot[32] = 'x'; /* not a digit of an id */
}

/* Makes the ledger one of another boot; invalid slots stay invalid. */
static inline void
ledger_of_another_boot(const char *store)
{
    ledger_change(store, ledger_change_boot, 0);
}

static inline void
ledger_change_marks(uint8_t *slot, uint64_t count, uint64_t number)
{
    for (size_t i = 0; i < count; i++) {
        uint8_t *entry = slot + 80 + ledger_entry_size(slot) * i;

        entry[0] = (uint8_t)((entry[0] & ~2) |
                             (ledger_number(entry, 0) >> 2 == number) * 2);
    }
}

/* Marks only this one of all logs as ever synced. 0: none. */
static inline void
ledger_mark_only(const char *store, uint64_t number)
{
    ledger_change(store, ledger_change_marks, number);
}

#endif
