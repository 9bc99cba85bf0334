/*
 * Generated rows that are kept in memory.
 *
 * SPDX-License-Identifier: MIT
 */
#include "bench.h"

#include <stdlib.h>

static uint64_t
next_random(uint64_t *state)
{
    return bench_mix((*state)++);
}

static void
add_columns(struct colander_row_builder *builder, uint64_t *random)
{
    static const char *const languages[] = {"en", "pl", "de", "fr", "ja"};
    char user[32];
    char text[64];

    (void)snprintf(user, sizeof(user), "user%u",
                   (unsigned)(next_random(random) % 100000));
    (void)snprintf(text, sizeof(text), "text %016llx",
                   (unsigned long long)next_random(random));
    colander_row_builder_add(
        builder, "id", colander_integer((int64_t)(next_random(random) >> 1)));
    colander_row_builder_add(builder, "user", colander_text(user));
    colander_row_builder_add(builder, "lang",
                             colander_text(languages[next_random(random) % 5]));
    colander_row_builder_add(
        builder, "likes",
        colander_integer((int64_t)(next_random(random) % 1000)));
    colander_row_builder_add(
        builder, "score",
        colander_double((double)(next_random(random) % 10000) / 16));
    colander_row_builder_add(builder, "text", colander_text(text));
}

void
bench_rows_make(struct bench_rows *rows, uint64_t count)
{
    struct colander_row_builder *builder = colander_row_builder_create();
    struct colander_buffer key = COLANDER_BUFFER_EMPTY;
    struct colander_error err;
    uint64_t random = 1;

    memset(rows, 0, sizeof(*rows));
    rows->count = count;
    rows->offsets = calloc(2 * count + 1, sizeof(*rows->offsets));
    if (builder == NULL || rows->offsets == NULL)
        bench_fail("rows", "no memory");
    for (uint64_t i = 0; i < count; i++) {
        struct colander_value part =
            colander_integer((int64_t)(next_random(&random) >> 1));
        struct colander_slice row;

        bench_check(colander_key_encode(&part, 1, &key, &err), &err);
        bench_check(
            colander_buffer_append(&rows->bytes, key.data, key.size, &err),
            &err);
        rows->offsets[2 * i + 1] = rows->bytes.size;
        add_columns(builder, &random);
        bench_check(colander_row_builder_finish(builder, &row, &err), &err);
        bench_check(
            colander_buffer_append(&rows->bytes, row.data, row.size, &err),
            &err);
        rows->offsets[2 * i + 2] = rows->bytes.size;
    }
    colander_buffer_release(&key);
    colander_row_builder_destroy(builder);
}

void
bench_rows_release(struct bench_rows *rows)
{
    colander_buffer_release(&rows->bytes);
    free(rows->offsets);
}
