/*
 * Keys of rows, one behind the other in memory.
 *
 * SPDX-License-Identifier: MIT
 */
#include "bench_keys.h"

#include <stdlib.h>

void
bench_keys_release(struct bench_keys *keys)
{
    colander_buffer_release(&keys->bytes);
    free(keys->ends);
    memset(keys, 0, sizeof(*keys));
}

void
bench_keys_clear(struct bench_keys *keys)
{
    colander_buffer_clear(&keys->bytes);
    keys->count = 0;
}

void
bench_keys_add(struct bench_keys *keys, struct colander_slice key)
{
    struct colander_error err;

    if (keys->count == keys->capacity) {
        keys->capacity = keys->capacity * 2 + 64;
        keys->ends = realloc(keys->ends, keys->capacity * sizeof(*keys->ends));
        if (keys->ends == NULL)
            bench_fail("keys", "no memory");
    }
    bench_check(colander_buffer_append(&keys->bytes, key.data, key.size, &err),
                &err);
    keys->ends[keys->count++] = keys->bytes.size;
}

struct colander_slice
bench_keys_at(const struct bench_keys *keys, size_t i)
{
    const size_t start = i == 0 ? 0 : keys->ends[i - 1];

    return colander_slice_of(keys->bytes.data + start, keys->ends[i] - start);
}

bool
bench_keys_have(const struct bench_keys *keys, struct colander_slice key)
{
    for (size_t i = 0; i < keys->count; i++) {
        if (colander_slice_equal(bench_keys_at(keys, i), key))
            return true;
    }
    return false;
}
