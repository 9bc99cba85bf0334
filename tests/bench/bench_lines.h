/*
 * Files of JSON lines in memory, their rows, and the scalars of these.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BENCH_LINES_H
#define BENCH_LINES_H

#include "bench_rows.h"

/* Maps a whole file. */
struct colander_slice bench_map(const char *path);
void bench_unmap(struct colander_slice file);

/* Removes a line from the front and sets *line to it, without its end. Returns
 * false if there is none. */
bool bench_next_line(struct colander_slice *lines, struct colander_slice *line);

/* Parses each line of a file as a load by the key `key_name` does, on this
 * thread alone. `take` may be NULL. Returns the bytes of the file. */
size_t bench_lines_parse(const char *path, const char *key_name,
                         bench_take_keyed *take, void *context);

/* A path has these bytes before the name of a member, except the first, and for
 * each array. Names of JSON hardly have them, so names need no escapes. */
#define BENCH_PATH_MEMBER '\x1f'
#define BENCH_PATH_ELEMENT '\x1e'
#define BENCH_PATH_MARKS "\x1f\x1e"

/* Visits each scalar of a row, at every depth. Path and value are borrowed for
 * the call. */
typedef void bench_take_scalar(void *context, const char *path,
                               const struct colander_value *value);

void bench_scalars_visit(struct colander_slice row, bench_take_scalar *take,
                         void *context);

#endif
