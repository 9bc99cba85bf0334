/*
 * Spill files: sorted rows that wait on disk until the process that wrote them
 * reads them once.
 *
 * A file has no name. Its regions hold rows in the order of their keys, each
 * key once: key size, row size, check of both and the key, check of the row: 4
 * bytes each, in the byte order of the machine; key; row Readers verify the
 * checks, so a bad disk is an error.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef COLANDER_COLUMNS_SPILL_FILE_H
#define COLANDER_COLUMNS_SPILL_FILE_H

#include "core/core.h"

/* Opens a file in `directory` and removes its name. */
COLANDER_CHECKED enum colander_code
spill_file_open(const char *directory, int *fd, struct colander_error *err);

/* -------------------------------------------------------------- regions --- */

#define SPILL_SAMPLES_MAX 16

/* A key of a region and the offset of its row. */
struct spill_sample {
    uint64_t offset;
    size_t key_at; /* in sample_keys */
    size_t key_size;
};

struct spill_region {
    int fd;
    size_t level; /* see row_spill.h */
    uint64_t offset;
    uint64_t size;
    uint64_t count; /* rows */
    struct spill_sample samples[SPILL_SAMPLES_MAX];
    size_t sample_count;
    struct colander_buffer sample_keys;
};

struct colander_slice spill_region_sample(const struct spill_region *region,
                                          size_t index);

void spill_region_release(struct spill_region *region);

/* -------------------------------------------------------------- writing --- */

struct spill_writer {
    struct spill_region *region;
    struct colander_buffer buffer;
    uint64_t sample_step; /* bytes from one sample to the next */
};

/* Begins a region of about `expected` bytes at an offset of the file. */
void spill_writer_init(struct spill_writer *writer, struct spill_region *region,
                       int fd, uint64_t offset, uint64_t expected);

COLANDER_CHECKED enum colander_code
spill_writer_add(struct spill_writer *writer, struct colander_slice key,
                 struct colander_slice row, struct colander_error *err);

/* Writes its buffer to the file. */
COLANDER_CHECKED enum colander_code
spill_writer_finish(struct spill_writer *writer, struct colander_error *err);

void spill_writer_release(struct spill_writer *writer);

/* -------------------------------------------------------------- reading --- */

/* The smallest buffer of a reader: a head and the longest key. */
#define SPILL_BUFFER_MIN 4096

struct spill_reader {
    const struct spill_region *region;
    uint8_t *buffer; /* borrowed */
    size_t capacity;
    size_t begin;  /* of the present row, in the buffer, */
    size_t filled; /* and of what is not read yet */
    uint64_t at;   /* where `filled` is in the file */
    uint64_t skip; /* bytes of the present row */
    struct colander_slice key;
    uint32_t row_size;
    uint32_t row_check;
};

void spill_reader_init(struct spill_reader *reader,
                       const struct spill_region *region, uint8_t *buffer,
                       size_t capacity);

/* Moves close to the first key that is not below `key`, and not after it. */
void spill_reader_seek(struct spill_reader *reader, struct colander_slice key);

/* Steps to the next row and fills reader->key. Its data is NULL at the end. */
COLANDER_CHECKED enum colander_code
spill_reader_next(struct spill_reader *reader, struct colander_error *err);

/* Returns the present row, in the reader's buffer if it fits, and else in
 * `large`. Sets reader->key again. */
COLANDER_CHECKED enum colander_code
spill_reader_row(struct spill_reader *reader, struct colander_buffer *large,
                 struct colander_slice *row, struct colander_error *err);

#endif
