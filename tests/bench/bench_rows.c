/*
 * Generated rows, each computed from its number.
 *
 * SPDX-License-Identifier: MIT
 */
#include "bench_rows.h"

#include "core/array.h"

#include <inttypes.h>
#include <stdlib.h>

uint64_t
bench_round_rows(const struct bench_options *options, uint64_t suggested)
{
    const uint64_t rows = options->rows == 0 ? suggested : options->rows;

    if (rows < 1000)
        bench_fail("--rows", "this experiment needs 1000 or more");
    return rows - rows % 20;
}

struct colander_value
bench_made_key(uint64_t number)
{
    return colander_integer((int64_t)(bench_mix(8 * number) >> 1));
}

struct colander_value
bench_made_id(uint64_t number)
{
    return colander_integer((int64_t)(bench_mix(8 * number + 2) >> 1));
}

/* Names are similar, like users' names, and in no order. */
struct colander_value
bench_made_group5(uint64_t group, char *text)
{
    (void)snprintf(text, 40, "user%" PRIu64 "x%02x", group,
                   (unsigned)bench_mix(group) & 0xff);
    return colander_text(text);
}

/* Above all numbers in `likes`. */
struct colander_value
bench_made_group20(uint64_t group)
{
    return colander_integer((int64_t)(1000000 + group));
}

/* Between these and those of groups of 20. */
struct colander_value
bench_made_group1000(uint64_t group)
{
    return colander_integer((int64_t)(10000 + group));
}

/* The group of a row when groups have `size` rows. */
static uint64_t
group_of(uint64_t number, uint64_t rows, uint64_t size)
{
    uint64_t groups = rows / size;

    return number / rows * groups + number % rows % groups;
}

/* Makes a row, borrowed until the builder is next used. */
static struct colander_slice
make_row(struct colander_row_builder *builder, uint64_t rows, uint64_t number,
         bool is_wide)
{
    static const char *const languages[] = {"en", "pl", "de", "fr", "ja"};
    const uint64_t language = bench_mix(8 * number + 3) % 5;
    const uint64_t likes = bench_mix(8 * number + 4) % 1000;
    struct colander_slice row;
    char user[40];
    char text[40];

    (void)snprintf(text, sizeof(text), "text %016" PRIx64,
                   bench_mix(8 * number + 1));
    colander_row_builder_add(builder, "id", bench_made_id(number));
    colander_row_builder_add(
        builder, "group5", bench_made_group5(group_of(number, rows, 5), user));
    colander_row_builder_add(builder, "lang",
                             colander_text(languages[language]));
    colander_row_builder_add(builder, "likes",
                             colander_integer((int64_t)likes));
    colander_row_builder_add(builder, "group20",
                             bench_made_group20(group_of(number, rows, 20)));
    colander_row_builder_add(builder, "text", colander_text(text));
    if (is_wide)
        colander_row_builder_add(
            builder, "group1000",
            bench_made_group1000(group_of(number, rows, 1000)));
    bench_check(colander_row_builder_finish(builder, &row, &bench_error));
    return row;
}

static void
make_rows(uint64_t rows, uint64_t first, uint64_t end, bool is_wide,
          bench_take_keyed *take, void *context)
{
    struct colander_row_builder *builder = colander_row_builder_create();
    struct colander_buffer key = COLANDER_BUFFER_EMPTY;

    if (builder == NULL)
        bench_fail("rows", "no memory");
    for (uint64_t i = first; i < end; i++) {
        const struct colander_value part = bench_made_key(i);

        bench_check(colander_key_encode(&part, 1, &key, &bench_error));
        take(context, colander_buffer_slice(&key),
             make_row(builder, rows, i, is_wide));
    }
    colander_buffer_release(&key);
    colander_row_builder_destroy(builder);
}

void
bench_make_rows(uint64_t rows, uint64_t first, uint64_t end,
                bench_take_keyed *take, void *context)
{
    make_rows(rows, first, end, false, take, context);
}

void
bench_make_wide_rows(uint64_t rows, uint64_t first, uint64_t end,
                     bench_take_keyed *take, void *context)
{
    make_rows(rows, first, end, true, take, context);
}

/* ----------------------------------------------------------- kept rows --- */

void
bench_rows_add(void *context, struct colander_slice key,
               struct colander_slice row)
{
    struct bench_rows *rows = context;
    size_t end = 2 * rows->count++;

    bench_check(
        array_reserve(&rows->ends, end, &rows->capacity, 2, &bench_error));
    bench_append(&rows->bytes, key.data, key.size);
    rows->ends[end++] = rows->bytes.size;
    bench_append(&rows->bytes, row.data, row.size);
    rows->ends[end] = rows->bytes.size;
}

void
bench_rows_clear(struct bench_rows *rows)
{
    colander_buffer_clear(&rows->bytes);
    rows->count = 0;
}

void
bench_rows_release(struct bench_rows *rows)
{
    colander_buffer_release(&rows->bytes);
    free(rows->ends);
    memset(rows, 0, sizeof(*rows));
}

static struct colander_slice
slice_at(const struct bench_rows *rows, uint64_t i)
{
    const size_t start = i == 0 ? 0 : rows->ends[i - 1];

    return colander_slice_of(rows->bytes.data + start, rows->ends[i] - start);
}

struct colander_slice
bench_key(const struct bench_rows *rows, uint64_t i)
{
    return slice_at(rows, 2 * i);
}

struct colander_slice
bench_row(const struct bench_rows *rows, uint64_t i)
{
    return slice_at(rows, 2 * i + 1);
}
