/*
 * Any bytes as a log of RocksDB's, or as the ledger: nothing crashes or reads
 * past the end, whatever the checksums.
 *
 * The first byte selects the kind, and whether checksums are corrected.
 *
 * SPDX-License-Identifier: MIT
 */
#include "core/bytes.h"
#include "core/crc32c.h"
#include "core/ledger.h"
#include "core/log_records.h"
#include "core/log_tail.h"
#include "core/logs/log_block.h"
#include "fuzz/directory.h"

#include <fcntl.h>
#include <xxhash.h>

#define LEDGER_SLOT 32768

/* ----------------------------------------------------------------- logs --- */

/* Corrects the checksum of each fragment. */
static void
mend_pieces(uint8_t *log, size_t size)
{
    size_t at = 0;

    while (at + LOG_HEAD_SIZE <= size) {
        const size_t content = log[at + 4] | (size_t)log[at + 5] << 8;
        uint32_t crc;

        if (content > size - at - LOG_HEAD_SIZE)
            break;
        crc = crc32c(0, log + at + 6, content + 1);
        bytes_put_le32(log + at,
                       (crc >> 15 | crc << 17) + UINT32_C(0xa282ead8));
        at += LOG_HEAD_SIZE + content;
    }
}

static void
walk(const uint8_t *log, size_t size)
{
    static int fd = -1;
    struct log_tail tail = {0};
    struct log_state state;
    char name[32];

    OK(log_check(AT_FDCWD, fuzz_file(&fd, log, size, name), NULL, 0, &state,
                 NULL));
    expect(state.whole.size <= size &&
           (state.whole.size < size || !state.has_more));
    log_tail_add(&tail, log, size / 2);
    log_tail_add(&tail, log + size / 2, size - size / 2);
    expect(tail.size == size && tail.whole.size <= size);
}

/* --------------------------------------------------------------- ledger --- */

static void
open_ledger(const uint8_t *bytes, size_t size, bool is_repaired)
{
    static int directory_fd = -1;
    static uint8_t slots[2 * LEDGER_SLOT];
    struct ledger *ledger;
    struct ledger_entry entry;
    int fd;

    if (directory_fd < 0) {
        fuzz_directory_make();
        directory_fd = open(fuzz_directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    }
    memset(slots, 0, sizeof(slots));
    memcpy(slots, bytes, size < sizeof(slots) ? size : sizeof(slots));
    if (is_repaired) {
        const size_t count = slots[72];
        const uint8_t version = (uint8_t)(1 + slots[24] % 3);
        const size_t end = 80 + (version == 3 ? 56 : 24) * count;

        memcpy(slots, "colander ledger ?\n", 19);
        slots[16] = (uint8_t)('0' + version);
        bytes_put_le64(slots + 72, count);
        bytes_put_le64(slots + end, XXH3_64bits(slots, end));
    }
    fd = openat(directory_fd, LEDGER_FILE, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    expect(fd >= 0 &&
           pwrite(fd, slots, sizeof(slots), 0) == (ssize_t)sizeof(slots));
    (void)close(fd);
    OK(ledger_open(directory_fd, &ledger, NULL));
    entry = ledger_next(ledger, LEDGER_WAL, 0);
    for (; entry.number != 0;
         entry = ledger_next(ledger, LEDGER_WAL, entry.number))
        ledger_found(ledger, LEDGER_WAL, entry.number,
                     (struct log_extent){1, 1});
    OK(ledger_settle(ledger, NULL));
    ledger_note_written(ledger, LEDGER_WAL, 1, (struct log_extent){1, 1});
    expect(ledger_forget(ledger, LEDGER_WAL, 1));
    ledger_close(ledger);
    (void)unlinkat(directory_fd, LEDGER_FILE, 0);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint8_t *copy;

    if (size < 1)
        return 0;
    if (data[0] % 8 == 0) { /* rarely: it needs a directory */
        open_ledger(data + 1, size - 1, data[0] & 8);
        return 0;
    }
    copy = fuzz_copy(data + 1, size - 1);
    if (data[0] & 2)
        mend_pieces(copy, size - 1);
    walk(copy, size - 1);
    free(copy);
    return 0;
}
