/*
 * Keys of rows, one behind the other in memory.
 *
 * Life: zeroed -> bench_keys_add*, bench_keys_clear -> bench_keys_release
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BENCH_KEYS_H
#define BENCH_KEYS_H

#include "bench.h"

struct bench_keys {
    struct colander_buffer bytes;
    size_t *ends; /* of each, in the bytes */
    size_t count;
    size_t capacity;
};

void bench_keys_release(struct bench_keys *keys);

/* Forgets all, and keeps the memory. */
void bench_keys_clear(struct bench_keys *keys);

/* Copies. */
void bench_keys_add(struct bench_keys *keys, struct colander_slice key);

/* Borrowed until the next change. */
struct colander_slice bench_keys_at(const struct bench_keys *keys, size_t i);

/* Looks at all of them. */
bool bench_keys_have(const struct bench_keys *keys, struct colander_slice key);

#endif
