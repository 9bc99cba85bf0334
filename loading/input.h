/*
 * Input: the bytes of a file, or of standard input, uncompressed.
 *
 * gzip and zstd are known by their first bytes, whatever the name; several
 * compressed one behind the other are one stream. Zero bytes may follow gzip.
 * Whether gzip is damaged shows at the end of what was compressed at once, by
 * a checksum, and so does zstd where it was written with one. zstd of a window
 * over 128 MiB is refused (LIMIT).
 *
 * Life:    open -> read* -> close
 * Threads: one at a time; `stops` may be set by any, as well as cancel
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef LOADING_INPUT_H
#define LOADING_INPUT_H

#include "core/core.h"

#include <stdatomic.h>

struct input;

/* Opens `path`, "-" being standard input. `stops` (borrowed; NULL: never) makes
 * a read that waits, as for a pipe, say CANCELLED within a tenth of a second.
 * NOT_FOUND; INVALID for a folder; IO. No error names the file. */
COLANDER_CHECKED enum colander_code input_open(const char *path,
                                               const atomic_bool *stops,
                                               struct input **input,
                                               struct colander_error *err);

/* NULL is allowed. */
void input_close(struct input *input);

/* The same as `stops`, of this input alone. Any thread. */
void input_cancel(struct input *input);

/*
 * Reads up to `size` bytes; *got is 0 at the end only, and on failure. CORRUPT
 * for compressed bytes that are damaged or end too early, with the byte of the
 * file where that was seen: what came before was given, of damaged zstd
 * perhaps a little less. After a failure it fails again.
 */
COLANDER_CHECKED enum colander_code input_read(struct input *input, void *data,
                                               size_t size, size_t *got,
                                               struct colander_error *err);

/* Steps over `size` bytes (uncompressed), without reading them where the file
 * allows it; *skipped is less where there are fewer. */
COLANDER_CHECKED enum colander_code input_skip(struct input *input,
                                               uint64_t size, uint64_t *skipped,
                                               struct colander_error *err);

/* Bytes of the file itself that were read, and all there are (0: not known,
 * as of a pipe). Any thread. */
uint64_t input_bytes_read(const struct input *input);
uint64_t input_size(const struct input *input);

#endif
