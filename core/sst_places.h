/*
 * Places in SST files: blocks of data and Bloom filters, read without RocksDB.
 *
 * For a caller that knows in which block of which file a row is. Whether blocks
 * are cached is the caller's affair. Nothing in a file is trusted.
 *
 * Errors: NOT_FOUND if the file was deleted; CORRUPT, with the path, if it is
 *         damaged; IO; NO_MEMORY
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef COLANDER_CORE_SST_PLACES_H
#define COLANDER_CORE_SST_PLACES_H

#include "core/bytes.h"
#include "core/core.h"

#define SST_TAIL_SIZE 8 /* of a key in an SST: its type, and its sequence */

/* Memory for reading blocks. Starts zeroed. */
struct sst_room {
    struct colander_buffer stored;
    struct colander_buffer content;
};

void sst_room_release(struct sst_room *room);

/* Opens a file for sst_block_read, and sets *fd, which the caller closes. */
COLANDER_CHECKED enum colander_code sst_open_file(const char *path, int *fd,
                                                  struct colander_error *err);

/* An SST that is read. Borrowed. */
struct sst_source {
    int fd;                                     /* of the file, */
    const struct colander_remote_files *remote; /* unless this is not NULL */
    const char *path;
};

/* Reads the block of data at [offset, end), which includes its checksum.
 * *block is borrowed from `room` until the next call. */
COLANDER_CHECKED enum colander_code
sst_block_read(const struct sst_source *sst, uint64_t offset, uint64_t end,
               struct sst_room *room, struct colander_slice *block,
               struct colander_error *err);

/* ----------------------------------------------------------------- rows --- */

/* A row of a decoded block: its key with its tail, and then its value. */
struct sst_row_place {
    uint32_t offset;
    uint32_t key_size;
    uint32_t value_size;
};

/* The rows of a block, each of which can be read by its number. */
struct sst_rows {
    uint32_t count;
    struct sst_row_place places[]; /* then the bytes of the rows */
};

/* Returns how many bytes of memory the rows of a block take, or 0 if it is not
 * a block of data. */
size_t sst_rows_measure(struct colander_slice block, uint32_t *entry_count);

/* Returns the key of the first entry of a block that was measured. */
struct colander_slice sst_rows_first_key(struct colander_slice block);

/* Fills `rows`, aligned memory of the size measured, with the rows of a block
 * that was measured. Leaves out deletes. Sets *last_key to that of the last
 * entry, borrowed from `rows`. Returns false if a key is not above the one
 * before: there are several versions of it. */
bool sst_rows_decode(struct colander_slice block, uint32_t entry_count,
                     struct sst_rows *rows, struct colander_slice *last_key);

/* Sets key and value, borrowed, and returns the sequence. Requires that `index`
 * is below the count. */
static inline uint64_t
sst_rows_get(const struct sst_rows *rows, uint32_t index,
             struct colander_slice *key, struct colander_slice *value)
{
    const struct sst_row_place *place = &rows->places[index];
    const uint8_t *bytes = (const uint8_t *)rows;
    const size_t end = place->offset + place->key_size;

    *key = colander_slice_of(bytes + place->offset,
                             place->key_size - SST_TAIL_SIZE);
    *value = colander_slice_of(bytes + end, place->value_size);
    return bytes_get_le64(bytes + end - SST_TAIL_SIZE) >> 8;
}

/* ---------------------------------------------------------------- keys --- */

/* The Bloom filter of an SST, which knows all its keys. */
struct sst_keys;

/* Sets *keys to NULL if the file has no such filter. `remote` (NULL: none)
 * reads the file. */
COLANDER_CHECKED enum colander_code
sst_keys_read(const char *path, const struct colander_remote_files *remote,
              struct sst_keys **keys, struct colander_error *err);

/* NULL is allowed. */
void sst_keys_destroy(struct sst_keys *keys);

/* Returns bytes of memory. */
size_t sst_keys_size(const struct sst_keys *keys);

/* Returns false if the file has no entry of a key with this hash
 * (engine_key_hash). */
bool sst_keys_may_have(const struct sst_keys *keys, uint64_t hash);

#endif
