/*
 * Shared by input.c and its decompressors.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef LOADING_INPUT_CODEC_H
#define LOADING_INPUT_CODEC_H

#include "loading/input.h"

/* Bytes of the file, as they are read. */
struct raw_input {
    int file;                                    /* -1: it is elsewhere */
    const struct colander_load_files *elsewhere; /* borrowed; NULL: in `file` */
    const char *path;                            /* of elsewhere; borrowed */
    uint64_t size;                               /* of elsewhere */
    bool is_owned;            /* the file: not standard input */
    bool is_seekable;         /* a regular file */
    bool has_ended;           /* there is no more to read */
    uint8_t *buffer;          /* owned */
    size_t at;                /* in the buffer: bytes before it are used */
    size_t filled;            /* of the buffer */
    struct growing *growing;  /* borrowed; NULL: the file does not grow */
    const atomic_bool *stops; /* NULL: never */
    atomic_bool is_cancelled;
    atomic_uint_fast64_t read; /* bytes */
};

/* Reads if the buffer is empty. It stays empty only at the end of the file. */
COLANDER_CHECKED enum colander_code raw_fill(struct raw_input *raw,
                                             struct colander_error *err);

/* Fails with what is wrong, and the byte of the file. */
enum colander_code raw_fail(const struct raw_input *raw,
                            enum colander_code code, const char *what,
                            struct colander_error *err);

struct gzip_input;
struct zstd_input;

/* Decompressors. `read` returns at least one byte except at the end, and fails
 * only once everything before the fault was returned. */
COLANDER_CHECKED enum colander_code gzip_create(struct gzip_input **gzip,
                                                struct colander_error *err);
void gzip_destroy(struct gzip_input *gzip);
COLANDER_CHECKED enum colander_code gzip_read(struct gzip_input *gzip,
                                              struct raw_input *raw, void *data,
                                              size_t size, size_t *got,
                                              struct colander_error *err);

/* `is_strange`: the data are from elsewhere, and get less memory. */
COLANDER_CHECKED enum colander_code zstd_create(struct zstd_input **zstd,
                                                bool is_strange,
                                                struct colander_error *err);
void zstd_destroy(struct zstd_input *zstd);
COLANDER_CHECKED enum colander_code zstd_read(struct zstd_input *zstd,
                                              struct raw_input *raw, void *data,
                                              size_t size, size_t *got,
                                              struct colander_error *err);

#endif
