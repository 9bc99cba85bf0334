/*
 * What input.c and its decompressors share.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef LOADING_INPUT_CODEC_H
#define LOADING_INPUT_CODEC_H

#include "loading/input.h"

/* Bytes of the file, as they are read. */
struct raw_input {
    int file;
    bool is_owned;            /* the file: not standard input */
    bool is_seekable;         /* a regular file */
    bool has_ended;           /* no more is to be read */
    uint64_t size;            /* of the file; 0: not known */
    uint8_t *buffer;          /* owned */
    size_t at;                /* in the buffer: bytes before it are used */
    size_t filled;            /* of the buffer */
    const atomic_bool *stops; /* NULL: never */
    atomic_bool is_cancelled;
    atomic_uint_fast64_t read; /* bytes */
};

/* Reads when nothing is left in the buffer; then `at` is `filled` only at the
 * end. */
COLANDER_CHECKED enum colander_code raw_fill(struct raw_input *raw,
                                             struct colander_error *err);

/* Says what is wrong, and at which byte of the file. */
enum colander_code raw_fail(const struct raw_input *raw,
                            enum colander_code code, const char *what,
                            struct colander_error *err);

struct gzip_input;
struct zstd_input;

/* Decompressors. `read` gives at least one byte but at the end, and fails only
 * where nothing stands before the fault any more. */
COLANDER_CHECKED enum colander_code gzip_create(struct gzip_input **gzip,
                                                struct colander_error *err);
void gzip_destroy(struct gzip_input *gzip);
COLANDER_CHECKED enum colander_code gzip_read(struct gzip_input *gzip,
                                              struct raw_input *raw, void *data,
                                              size_t size, size_t *got,
                                              struct colander_error *err);

COLANDER_CHECKED enum colander_code zstd_create(struct zstd_input **zstd,
                                                struct colander_error *err);
void zstd_destroy(struct zstd_input *zstd);
COLANDER_CHECKED enum colander_code zstd_read(struct zstd_input *zstd,
                                              struct raw_input *raw, void *data,
                                              size_t size, size_t *got,
                                              struct colander_error *err);

#endif
