/*
 * Input: the bytes of a file, or of standard input, uncompressed.
 *
 * gzip and zstd are recognized by their first bytes, whatever the name. Several
 * compressed streams in a row are one. Zero bytes may follow gzip. Damage in
 * gzip is detected by a checksum at the end of a stream; in zstd too, if it has
 * one. zstd with a window over 128 MiB is refused (LIMIT). So is a file of
 * elsewhere that decompresses to hundreds of times its size.
 *
 * Life:    open -> read* -> close
 * Threads: one at a time, except input_cancel and input_bytes_read
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef LOADING_INPUT_H
#define LOADING_INPUT_H

#include "core/core.h"

#include <stdatomic.h>

struct colander_load_files;
struct growing;
struct input;

/* Opens `path`, one of `elsewhere` if that is not NULL, or else of the file
 * system; "-" is standard input. Once *stops is set (borrowed; NULL:
 * never) a read that waits, for example for a pipe, fails with CANCELLED within
 * a tenth of a second. Fails with NOT_FOUND, IO, or INVALID for a directory.
 * Errors do not name the file. */
COLANDER_CHECKED enum colander_code
input_open(const char *path, const struct colander_load_files *elsewhere,
           const atomic_bool *stops, struct input **input,
           struct colander_error *err);

/*
 * Opens a file that grows. A read at its end waits, until the file is over; it
 * fails with INVALID if the file was cut. Also fails with INVALID if it is not
 * a regular file, or is compressed. `growing` is borrowed.
 */
COLANDER_CHECKED enum colander_code
input_open_growing(const char *path, const atomic_bool *stops,
                   struct growing *growing, struct input **input,
                   struct colander_error *err);

/* NULL is allowed. */
void input_close(struct input *input);

/* Has the effect of `stops` on this input. Any thread. */
void input_cancel(struct input *input);

/*
 * Reads up to `size` bytes. *got is 0 only at the end and on failure. Fails
 * with CORRUPT if compressed bytes are damaged or end too early, and names the
 * byte of the file. What came before was returned; of damaged zstd a little may
 * be missing. After a failure it fails again.
 */
COLANDER_CHECKED enum colander_code input_read(struct input *input, void *data,
                                               size_t size, size_t *got,
                                               struct colander_error *err);

/* Skips `size` uncompressed bytes, without reading them if possible. *skipped
 * is less if the file ends before. */
COLANDER_CHECKED enum colander_code input_skip(struct input *input,
                                               uint64_t size, uint64_t *skipped,
                                               struct colander_error *err);

/* Returns whether a read would wait, for a pipe or a file that grows. */
bool input_would_wait(const struct input *input);

/* Whether a read failed as the compressed bytes are damaged. */
bool input_is_damaged(const struct input *input);

/* Returns the inode of the file, 0 if that is unknown. */
uint64_t input_inode(const struct input *input);

/* Sets *size and *changed_ns to those of the file; to 0 if it is none, but a
 * pipe, or elsewhere. While both are the same, it was not edited. */
void input_stamp(const struct input *input, uint64_t *size,
                 uint64_t *changed_ns);

/* Returns how many bytes of the file were read. Any thread. */
uint64_t input_bytes_read(const struct input *input);

#endif
