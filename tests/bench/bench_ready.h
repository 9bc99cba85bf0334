/*
 * Files in memory, their lines, and rows made ready of them.
 *
 * A file is mapped: reading it costs no more than reading memory, as long as
 * the system has it in its cache, and no experiment holds it all.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BENCH_READY_H
#define BENCH_READY_H

#include "bench.h"

/* The whole of a file, mapped. */
struct colander_slice bench_map(const char *path);
void bench_unmap(struct colander_slice file);

/* Takes a line off the front, without its end; false when there is none. */
bool bench_next_line(struct colander_slice *lines, struct colander_slice *line);

/* Makes a key and a row of each line of JSON, as a load by the key "id" does,
 * on this thread alone; its seconds. With a path they are written there. */
double bench_make_ready(struct colander_slice lines, const char *path);

/* Takes a key and a row off the front of such a file. */
bool bench_next_ready(struct colander_slice *ready, struct colander_slice *key,
                      struct colander_slice *row);

/* Puts the rows through the bare C API of RocksDB, in batches of so many, into
 * a new store at `path`, until they are flushed: seconds. */
double bench_put_ready(struct colander_slice ready, const char *path,
                       unsigned batch_rows);

#endif
