/*
 * Any edits of a MANIFEST and any writes of a log, with valid checksums, next
 * to an SST: salvage never crashes, and returns rows in key order.
 *
 * An input is a sequence of records: a byte whose lowest bit selects the log, a
 * byte and another for its size, and its bytes. The second bit of the very
 * first byte says whether there is a CURRENT.
 *
 * SPDX-License-Identifier: MIT
 */
#include "core/bytes.h"
#include "core/crc32c.h"
#include "core/logs/log_block.h"
#include "core/salvage.h"
#include "fuzz/directory.h"
#include "support/golden_table.h"

#include <fcntl.h>
#include <sys/stat.h>

/* A log of one block. */
struct log {
    uint8_t bytes[LOG_BLOCK_SIZE];
    size_t size;
};

static void
add_record(struct log *log, const uint8_t *bytes, size_t size)
{
    uint8_t *head = log->bytes + log->size;
    uint32_t crc;

    if (log->size + LOG_HEAD_SIZE + size > sizeof(log->bytes))
        return;
    bytes_put_le16(head + 4, (uint16_t)size);
    head[6] = LOG_PIECE_FULL;
    memcpy(head + LOG_HEAD_SIZE, bytes, size);
    crc = crc32c(0, head + 6, size + 1);
    bytes_put_le32(head, (crc >> 15 | crc << 17) + UINT32_C(0xa282ead8));
    log->size += LOG_HEAD_SIZE + size;
}

static void
write_file(const char *name, const void *bytes, size_t size)
{
    char path[TEMPORARY_SIZE + 64];
    int fd;

    (void)snprintf(path, sizeof(path), "%s/rocksdb/%s", fuzz_directory, name);
    if (size == 0) {
        (void)unlink(path);
        return;
    }
    fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    expect(fd >= 0 && write(fd, bytes, size) == (ssize_t)size);
    (void)close(fd);
}

static void
make_store(void)
{
    char path[TEMPORARY_SIZE + 64];

    fuzz_directory_make();
    (void)snprintf(path, sizeof(path), "%s/rocksdb", fuzz_directory);
    expect(mkdir(path, 0700) == 0);
    (void)snprintf(path, sizeof(path), "%s/rocksdb/000014.sst", fuzz_directory);
    golden_write(path, GOLDEN_SIZE);
}

/* ------------------------------------------------------------ salvaging --- */

static void
look_at_loss(void *context, const struct salvage_loss *loss)
{
    (void)context;
    expect(strlen(loss->file) > 0 && strlen(loss->what) > 0);
}

static void
read_family(struct salvage *salvage, size_t index)
{
    struct colander_buffer last = COLANDER_BUFFER_EMPTY;
    struct colander_slice key;
    struct colander_slice row;
    bool is_row;

    OK(salvage_begin(salvage, index, NULL));
    for (;;) {
        OK(salvage_next(salvage, &is_row, &key, &row, NULL));
        if (!is_row)
            break;
        expect(last.size == 0 ||
               colander_slice_compare(colander_buffer_slice(&last), key) < 0);
        colander_buffer_clear(&last);
        OK(colander_buffer_append(&last, key.data, key.size, NULL));
    }
    colander_buffer_release(&last);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct log logs[2]; /* the MANIFEST, and one of writes */
    struct salvage *salvage;
    bool has_current = false;

    if (fuzz_directory[0] == '\0')
        make_store();
    logs[0].size = 0;
    logs[1].size = 0;
    while (size >= 3) {
        size_t length = data[1] | (size_t)data[2] << 8;

        if (length > size - 3)
            length = size - 3;
        has_current = has_current || (data[0] & 2) != 0;
        add_record(&logs[data[0] & 1], data + 3, length);
        data += 3 + length;
        size -= 3 + length;
    }
    write_file("MANIFEST-000005", logs[0].bytes, logs[0].size);
    write_file("000010.log", logs[1].bytes, logs[1].size);
    write_file("CURRENT", "MANIFEST-000005\n", has_current ? 16 : 0);
    OK(salvage_open(fuzz_directory, look_at_loss, NULL, &salvage, NULL));
    for (size_t i = 0; i < salvage_family_count(salvage); i++)
        read_family(salvage, i);
    salvage_close(salvage);
    return 0;
}
