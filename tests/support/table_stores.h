/*
 * SST files of stores of random rows, with several versions of a key in them.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef TESTS_SUPPORT_TABLE_STORES_H
#define TESTS_SUPPORT_TABLE_STORES_H

#include "core/sst.h"

#include "core/bulk_files.h"
#include "support/engine_fixture.h"
#include "support/rocksdb_inside.h"
#include "support/scoped.h"
#include "support/table_entries.h"

#define SNAPSHOTS 8
#define TABLE_KEYS 400

/* A key as the layers above encode it: a tag, 8 bytes; every third is
 * longer. */
static inline struct colander_slice
table_key_at(uint64_t index, uint8_t bytes[64])
{
    memset(bytes, 0, 64);
    bytes[0] = 2;
    bytes[7] = (uint8_t)(index >> 8);
    bytes[8] = (uint8_t)index;
    memcpy(bytes + 9, "and some text", 13);
    return colander_slice_of(bytes, index % 3 == 0 ? 22 : 9);
}

static inline void
open_random_store(struct fixture *fixture, uint64_t *random)
{
    static const uint32_t block_sizes[] = {1024, 4096, 16384};
    struct colander_options options = usual_options();

    options.compression = (enum colander_compression)(
        COLANDER_COMPRESSION_NONE + random_below(random, 3));
    options.block_size = block_sizes[random_below(random, 3)];
    OK(open_with(fixture, &options, NULL));
}

static inline void
write_random_batch(struct fixture *fixture, struct engine_family *family,
                   size_t count, uint64_t *random)
{
    SCOPED_ENGINE_BATCH batch = NULL;
    static uint8_t value[100000];
    uint8_t key[64];

    OK(engine_batch_create(fixture->engine, false, &batch, NULL));
    for (size_t i = 0; i < count; i++) {
        const uint64_t index = random_below(random, TABLE_KEYS);
        const bool is_large = random_below(random, 200) == 0;

        if (random_below(random, 5) == 0)
            OK(engine_batch_delete(batch, family, table_key_at(index, key),
                                   NULL));
        else
            OK(engine_batch_put(
                batch, family, table_key_at(index, key),
                random_value(random, value, is_large ? sizeof(value) : 300),
                NULL));
    }
    OK(engine_batch_write(batch, COLANDER_AS_STORE, NULL));
}

/* Writes to the families in turn, with snapshots; flushes each. */
static inline void
write_random_files(struct fixture *fixture,
                   struct engine_family *const *families, size_t count,
                   struct colander_snapshot *snapshots[SNAPSHOTS],
                   uint64_t *random)
{
    for (size_t i = 0; i < SNAPSHOTS; i++) {
        for (size_t f = 0; f < count; f++)
            write_random_batch(fixture, families[f], TABLE_KEYS / 2, random);
        OK(engine_snapshot_create(fixture->engine, &snapshots[i], NULL));
        if (i == SNAPSHOTS / 2 || i == SNAPSHOTS - 1)
            for (size_t f = 0; f < count; f++)
                OK(engine_family_flush(families[f], NULL));
    }
}

/* Loads rows in order as a bulk. */
static inline void
write_bulk(struct engine_family *family, uint64_t *random)
{
    struct bulk_files *files;
    struct bulk_sst *sst;
    static uint8_t value[300];
    uint8_t key[64];
    uint64_t size;

    OK(bulk_files_create(family, true, &files, NULL));
    OK(bulk_sst_begin(files, &sst, NULL));
    for (uint64_t i = 0; i < TABLE_KEYS; i++)
        OK(bulk_sst_add(sst, table_key_at(i, key),
                        random_value(random, value, sizeof(value)), &size,
                        NULL));
    OK(bulk_sst_finish(&sst, NULL));
    OK(bulk_files_prepare(files, NULL));
    OK(bulk_files_install(files, NULL));
    bulk_files_destroy(files);
}

/* Writes an SST with RocksDB; every eighth entry is a deletion. */
static inline void
write_table(const char *path, const struct rocksdb_table *how, size_t count,
            uint64_t *random)
{
    static uint8_t values[TABLE_KEYS][300];
    static uint8_t keys[TABLE_KEYS][64];
    struct colander_slice key_slices[TABLE_KEYS];
    struct colander_slice values_slices[TABLE_KEYS];

    for (size_t i = 0; i < count; i++) {
        key_slices[i] = table_key_at(i, keys[i]);
        values_slices[i] = random_value(random, values[i], sizeof(values[i]));
        if (i % 8 == 7)
            values_slices[i].data = NULL;
    }
    rocksdb_write_table(path, how, key_slices, values_slices, count);
}

#endif
