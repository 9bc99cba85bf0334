/*
 * Any bytes as a table file: nothing crashes, takes for ever or reads over the
 * end, entries ascend, gaps stand between them; and the same of what is looked
 * at before RocksDB opens one.
 *
 * The first byte says whether checksums are made right: those of the blocks
 * that an index or a footer could lead to are not known, so of each place where
 * a block seems to end.
 *
 * SPDX-License-Identifier: MIT
 */
#include "core/tables.h"
#include "core/tables/table_block.h"
#include "fuzz/fuzz.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>
#include <xxhash.h>

#define MENDED_MAX 64

/* ---------------------------------------------------------------- mending ---
 */

static void
mend_block(uint8_t *bytes, size_t size)
{
    const uint32_t checksum =
        (uint32_t)XXH3_64bits(bytes, size) ^ bytes[size] * UINT32_C(0x6b9083d9);

    for (unsigned i = 0; i < 4; i++)
        bytes[size + 1 + i] = (uint8_t)(checksum >> (8 * i));
}

/* Blocks one behind the other, as a walk sees them; gives where they end. */
static size_t
mend_blocks(uint8_t *bytes, size_t size)
{
    size_t at = 0;

    for (unsigned i = 0; i < MENDED_MAX && at < size; i++) {
        size_t end = 0;

        if (table_codec_lz4_end(bytes + at, size - at, &end) !=
                TABLE_EXTENT_FOUND &&
            table_codec_zstd_end(bytes + at, size - at, &end) !=
                TABLE_EXTENT_FOUND &&
            table_block_plain_end(bytes + at, size - at, &end) !=
                TABLE_EXTENT_FOUND)
            return at;
        if (size - at - end < TABLE_TRAILER_SIZE)
            return at;
        mend_block(bytes + at, end);
        at += end + TABLE_TRAILER_SIZE;
    }
    return at;
}

/* A block where the footer or the metaindex says that one is. */
static void
mend_place(uint8_t *bytes, size_t size, const uint8_t **at, const uint8_t *end,
           struct table_place *place)
{
    if (!table_get_varint(at, end, 64, &place->offset) ||
        !table_get_varint(at, end, 64, &place->size) ||
        size < TABLE_TRAILER_SIZE ||
        place->offset > size - TABLE_TRAILER_SIZE ||
        place->size > size - TABLE_TRAILER_SIZE - place->offset)
        place->size = 0;
    else
        mend_block(bytes + place->offset, (size_t)place->size);
}

/* What the footer leads to, and what the metaindex in it does. */
static void
mend_behind(uint8_t *bytes, size_t size)
{
    const size_t footer = 53;
    struct table_place metaindex;
    struct table_place index;
    const uint8_t *at;

    if (size < footer)
        return;
    at = bytes + size - footer + 1;
    mend_place(bytes, size, &at, bytes + size - 12, &metaindex);
    mend_place(bytes, size, &at, bytes + size - 12, &index);
    for (uint64_t i = 0; i < metaindex.size; i++) {
        const char name[] = "rocksdb.properties";
        const uint8_t *value = bytes + metaindex.offset + i;
        struct table_place properties;

        if (metaindex.size - i < sizeof(name) ||
            memcmp(value, name, sizeof(name) - 1) != 0)
            continue;
        value += sizeof(name) - 1;
        mend_place(bytes, size, &value, bytes + size, &properties);
        mend_block(bytes + metaindex.offset, (size_t)metaindex.size);
        break;
    }
}

/* --------------------------------------------------------------- reading ---
 */

/* What is known of the entries that came. */
struct seen {
    struct colander_buffer key;
    uint64_t sequence;
    bool has_key;
    uint64_t count;
};

static void
see_entry(struct seen *seen, const struct table_entry *entry)
{
    const struct colander_slice last = colander_buffer_slice(&seen->key);
    const int order = colander_slice_compare(last, entry->key);
    volatile uint8_t sum = 0;

    expect(!seen->has_key || order < 0 ||
           (order == 0 && entry->sequence < seen->sequence));
    expect(entry->kind == TABLE_PUT || entry->kind == TABLE_DELETE);
    for (size_t i = 0; i < entry->value.size; i += 64)
        sum = (uint8_t)(sum + entry->value.data[i]);
    colander_buffer_clear(&seen->key);
    expect(colander_buffer_append(&seen->key, entry->key.data, entry->key.size,
                                  NULL) == COLANDER_OK);
    seen->sequence = entry->sequence;
    seen->has_key = true;
    seen->count++;
}

static void
see_gap(const struct seen *seen, const struct table_gap *gap, uint64_t size)
{
    const size_t why = strnlen(gap->why, sizeof(gap->why));

    expect(gap->offset <= size && gap->size <= size - gap->offset);
    expect(why > 0 && why < sizeof(gap->why));
    if (gap->after.data != NULL && gap->until.data != NULL)
        expect(colander_slice_compare(gap->after, gap->until) <= 0);
    /* Nothing is missing below what was read. */
    if (gap->until.data != NULL && seen->has_key)
        expect(colander_slice_compare(colander_buffer_slice(&seen->key),
                                      gap->until) <= 0);
}

static void
read_all(const char *name, uint64_t size)
{
    struct seen seen = {COLANDER_BUFFER_EMPTY, 0, false, 0};
    enum table_step step = TABLE_ENTRY;
    struct table_file *table;
    struct table_entry entry;
    struct table_gap gap;
    uint64_t gaps = 0;

    expect(table_file_open(-1, name, &table, NULL) == COLANDER_OK);
    while (step != TABLE_END) {
        expect(table_file_next(table, &step, &entry, &gap, NULL) ==
               COLANDER_OK);
        if (step == TABLE_ENTRY)
            see_entry(&seen, &entry);
        if (step == TABLE_GAP)
            see_gap(&seen, &gap, size);
        gaps += step == TABLE_GAP;
    }
    /* A file without a gap has what it says, or says nothing. */
    if (gaps == 0 && table_file_head(table)->is_known)
        expect(table_file_head(table)->entry_count == seen.count);
    table_file_close(table);
    colander_buffer_release(&seen.key);
}

static void
check_properties(int fd, uint64_t size)
{
    const struct table_source source = {fd, size, NULL};
    const char *why;

    expect(table_check_properties(&source, &why, NULL) == COLANDER_OK);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static int fd = -1;
    uint8_t *copy;
    char name[32];

    if (size < 1)
        return 0;
    size--;
    if (fd < 0)
        fd = memfd_create("table", MFD_CLOEXEC);
    copy = malloc(size + 1);
    expect(copy != NULL);
    memcpy(copy, data + 1, size);
    if (data[0] & 1)
        (void)mend_blocks(copy, size);
    if (data[0] & 2)
        mend_behind(copy, size);
    expect(ftruncate(fd, 0) == 0 && pwrite(fd, copy, size, 0) == (ssize_t)size);
    (void)snprintf(name, sizeof(name), "/proc/self/fd/%d", fd);
    read_all(name, size);
    check_properties(fd, size);
    free(copy);
    return 0;
}
