/*
 * Any bytes as a table file: nothing crashes, runs forever or reads past the
 * end, entries ascend, with gaps between them; and the same for the checks made
 * before RocksDB opens one.
 *
 * The first byte says whether checksums are corrected: those of the blocks that
 * the footer points to, and of those in the index.
 *
 * SPDX-License-Identifier: MIT
 */
#include "core/bytes.h"
#include "core/tables.h"
#include "core/tables/table_map.h"
#include "fuzz/fuzz.h"

#include <xxhash.h>

/* -------------------------------------------------------------- repairs --- */

/* A file in memory. */
struct memory {
    struct table_source source;
    const uint8_t *bytes;
};

static void
mend_block(uint8_t *bytes, size_t size)
{
    bytes_put_le32(bytes + size + 1, (uint32_t)XXH3_64bits(bytes, size) ^
                                         bytes[size] * UINT32_C(0x6b9083d9));
}

/* A block where the footer or the metaindex says there is one. */
static void
mend_place(uint8_t *bytes, size_t size, struct bytes_reader *in,
           struct table_place *place)
{
    *place = table_place_read(in);
    if (in->is_bad || size < TABLE_TRAILER_SIZE ||
        place->offset > size - TABLE_TRAILER_SIZE ||
        place->size > size - TABLE_TRAILER_SIZE - place->offset)
        place->size = 0;
    else
        mend_block(bytes + place->offset, (size_t)place->size);
}

/* The blocks that the footer points to, and those of its metaindex. */
static void
mend_behind(uint8_t *bytes, size_t size)
{
    const size_t footer = 53;
    struct table_place metaindex;
    struct table_place index;
    struct bytes_reader in;

    if (size < footer)
        return;
    in = bytes_reader_of(
        colander_slice_of(bytes + size - footer + 1, footer - 13));
    mend_place(bytes, size, &in, &metaindex);
    mend_place(bytes, size, &in, &index);
    for (uint64_t i = 0; i < metaindex.size; i++) {
        const char name[] = "rocksdb.properties";
        const uint8_t *value = bytes + metaindex.offset + i;
        struct table_place properties;

        if (metaindex.size - i < sizeof(name) ||
            memcmp(value, name, sizeof(name) - 1) != 0)
            continue;
        value += sizeof(name) - 1;
        in = bytes_reader_of(
            colander_slice_of(value, (size_t)(bytes + size - value)));
        mend_place(bytes, size, &in, &properties);
        mend_block(bytes + metaindex.offset, (size_t)metaindex.size);
        break;
    }
}

static ssize_t
read_memory(const struct table_source *source, void *bytes, size_t size,
            off_t offset)
{
    const struct memory *memory = (const struct memory *)source;

    if ((uint64_t)offset >= source->size)
        return 0;
    if (size > source->size - (uint64_t)offset)
        size = (size_t)(source->size - (uint64_t)offset);
    memcpy(bytes, memory->bytes + offset, size);
    return (ssize_t)size;
}

/* The blocks that the index has. */
static void
mend_blocks(uint8_t *bytes, size_t size)
{
    const struct memory memory = {{-1, size, read_memory, NULL}, bytes};
    struct table_map map = {0};
    struct table_block block;

    OK(table_block_init(&block, NULL));
    OK(table_map_read(&map, &memory.source, &block, NULL));
    for (size_t i = 0; i < map.block_count; i++) {
        const struct table_place place = map.blocks[i].place;

        if (table_place_end(place) <= size)
            mend_block(bytes + place.offset, (size_t)place.size);
    }
    table_map_release(&map);
    table_block_release(&block);
}

/* -------------------------------------------------------------- reading --- */

/* What is known of the entries so far. */
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
    OK(colander_buffer_append(&seen->key, entry->key.data, entry->key.size,
                              NULL));
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

static uint64_t
hash_key(struct colander_slice key)
{
    return key.size * UINT64_C(0x9e3779b97f4a7c15);
}

/* A file that passes the check has no gap. */
static void
check_all(const char *name, uint64_t gaps)
{
    struct colander_error err;
    const enum colander_code code = table_check(-1, name, hash_key, &err);

    expect(code == COLANDER_CORRUPT || (code == COLANDER_OK && gaps == 0));
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

    OK(table_file_open(-1, name, &table, NULL));
    while (step != TABLE_END) {
        OK(table_file_next(table, &step, &entry, &gap, NULL));
        if (step == TABLE_ENTRY)
            see_entry(&seen, &entry);
        if (step == TABLE_GAP)
            see_gap(&seen, &gap, size);
        gaps += step == TABLE_GAP;
    }
    /* A file without a gap matches its properties, or has none. */
    if (gaps == 0 && table_file_head(table)->is_known)
        expect(table_file_head(table)->entry_count == seen.count);
    table_file_close(table);
    colander_buffer_release(&seen.key);
    check_all(name, gaps);
}

static void
check_properties(int fd, uint64_t size)
{
    const struct table_source source = {fd, size, NULL, NULL};
    const char *why;

    OK(table_check_properties(&source, &why, NULL));
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
    copy = fuzz_copy(data + 1, size);
    if (data[0] & 2)
        mend_behind(copy, size);
    if (data[0] & 1)
        mend_blocks(copy, size);
    read_all(fuzz_file(&fd, copy, size, name), size);
    check_properties(fd, size);
    free(copy);
    return 0;
}
