/*
 * Orders: chooses the form of a column, and writes it.
 *
 * SPDX-License-Identifier: MIT
 */
#include "filters/order/order_code.h"

#include <stdlib.h>

/* So few values are read faster than they are searched for. */
#define FEW_VALUES 64
#define FEW_FOR_LISTS 1024

/* Runs serve a column well if they read at most so many rows for one that is
 * wanted. */
#define WASTE_GOOD 1.5
#define SAMPLE_MAX 512
#define QUESTIONS 32

#define TEXT_SHORT 32

/* ---------------------------------------------------------------- scale --- */

static int
compare_ranks(const void *a, const void *b)
{
    const uint64_t left = *(const uint64_t *)a;
    const uint64_t right = *(const uint64_t *)b;

    return (left > right) - (left < right);
}

/* Some ranks of a column, ascending. */
struct sample {
    uint64_t ranks[SAMPLE_MAX];
    uint16_t firsts[SAMPLE_MAX]; /* where another rank begins */
    size_t count;
    size_t different; /* of `firsts` */
};

static void
take_sample(const struct order_column *column, struct sample *sample)
{
    const size_t count =
        column->count < SAMPLE_MAX ? column->count : SAMPLE_MAX;

    for (size_t i = 0; i < count; i++)
        sample->ranks[i] = column->items[i * column->count / count].rank;
    qsort(sample->ranks, count, sizeof(sample->ranks[0]), compare_ranks);
    sample->count = count;
    sample->different = 0;
    for (size_t i = 0; i < count; i++) {
        if (i == 0 || sample->ranks[i] != sample->ranks[i - 1])
            sample->firsts[sample->different++] = (uint16_t)i;
    }
}

/* Covers all ranks, but for some far away from the others. */
static struct order_scale
scale_of(const struct order_column *column, const struct sample *sample)
{
    const size_t count = sample->count;
    const uint64_t first = sample->ranks[count / 64];
    const uint64_t last = sample->ranks[count - 1 - count / 64];
    const uint64_t spread = last == first ? 1 : last - first;
    struct order_scale scale = {column->low, order_mask(column->type), 1};
    uint64_t top = column->high;

    if (first - column->low > spread)
        scale.base = first - spread;
    if (top - last > spread)
        top = last + spread;
    if (top > scale.base)
        scale.bits = 64 - (unsigned)__builtin_clzll(top - scale.base);
    return scale;
}

/* ----------------------------------------------------------------- runs --- */

/* The least and the greatest step of a run; of an empty one the first is the
 * greater. */
struct run {
    uint64_t low;
    uint64_t high;
};

uint64_t
order_runs_size(const struct order_column *column, uint32_t row_count)
{
    return (uint64_t)order_run_count(row_count) * 2 * column->width;
}

static struct run *
make_runs(const struct order_column *column, uint32_t row_count)
{
    const uint32_t run_count = order_run_count(row_count);
    struct run *runs = calloc(run_count, sizeof(*runs));

    if (runs == NULL)
        return NULL;
    for (uint32_t i = 0; i < run_count; i++)
        runs[i] = (struct run){UINT64_MAX, 0};
    for (size_t i = 0; i < column->count; i++) {
        struct run *run = &runs[order_row(&column->items[i]) / ORDER_RUN];
        const uint64_t step = column->items[i].rank;

        if (step < run->low)
            run->low = step;
        if (step > run->high)
            run->high = step;
    }
    return runs;
}

/* Asks for about one of a hundred values at a time, with steps of `width`
 * bytes. Returns how many times as many runs have to be read as would do, if
 * all values were in one place. */
static double
waste_of(const struct run *runs, uint32_t run_count,
         const struct sample *sample, unsigned width)
{
    double waste = 0;
    uint32_t used = 0;

    for (uint32_t i = 0; i < run_count; i++)
        used += runs[i].low <= runs[i].high;
    for (size_t i = 0; i < QUESTIONS; i++) {
        const size_t begin = sample->firsts[i * sample->different / QUESTIONS];
        size_t end = begin + sample->count / 100;
        uint64_t low = sample->ranks[begin];
        uint64_t high = sample->ranks[end < sample->count ? end : begin];
        uint32_t hits = 0;

        for (end = begin; end < sample->count && sample->ranks[end] <= high;)
            end++;
        low = order_cut(low, width);
        high = order_cut(high, width);
        for (uint32_t k = 0; k < run_count; k++)
            hits += order_cut(runs[k].low, width) <= high &&
                    order_cut(runs[k].high, width) >= low &&
                    runs[k].low <= runs[k].high;
        waste += (double)hits / used /
                 ((double)(end - begin) / (double)sample->count);
    }
    return waste / QUESTIONS;
}

/* ---------------------------------------------------------------- forms --- */

enum colander_code
order_column_measure(struct order_column *column, uint32_t row_count,
                     struct colander_error *err)
{
    const uint32_t run_count = order_run_count(row_count);
    struct sample sample;
    struct run *runs;

    column->form = ORDER_FORM_ROWS;
    column->width = 1;
    column->scale.bits = 1;
    column->low = column->items == NULL ? 0 : UINT64_MAX;
    for (size_t i = 0; i < column->count && column->items != NULL; i++) {
        const uint64_t rank = column->items[i].rank;

        column->low = rank < column->low ? rank : column->low;
        column->high = rank > column->high ? rank : column->high;
    }
    if (column->count < FEW_VALUES || column->items == NULL)
        return COLANDER_OK;
    take_sample(column, &sample);
    column->scale = scale_of(column, &sample);
    for (size_t i = 0; i < column->count; i++)
        column->items[i].rank =
            order_step(&column->scale, column->items[i].rank);
    for (size_t i = 0; i < sample.count; i++)
        sample.ranks[i] = order_step(&column->scale, sample.ranks[i]);
    runs = make_runs(column, row_count);
    if (runs == NULL)
        return COLANDER_FAIL(err, COLANDER_NO_MEMORY,
                             "no memory to build a filter");
    column->waste = waste_of(runs, run_count, &sample, ORDER_WIDTH_MAX);
    while (column->width < ORDER_WIDTH_MAX &&
           waste_of(runs, run_count, &sample, column->width) >
               column->waste * 1.125)
        column->width++;
    free(runs);
    column->form = column->waste <= WASTE_GOOD || column->count < FEW_FOR_LISTS
                       ? ORDER_FORM_RUNS
                       : ORDER_FORM_LISTS;
    return COLANDER_OK;
}

double
order_column_need(const struct order_column *column)
{
    const uint64_t shorts = column->text_size / column->count / TEXT_SHORT;

    return column->waste / (1 + (double)shorts);
}

/* -------------------------------------------------------------- writing --- */

/* Room for what is written must be reserved. */
static void
put(struct colander_buffer *bytes, uint64_t number, size_t size)
{
    bytes_put_le(bytes->data + bytes->size, number, size);
    bytes->size += size;
}

enum colander_code
order_column_put_head(struct order_column *column, const uint32_t counts[4],
                      size_t size, struct colander_error *err)
{
    const struct colander_slice beginning =
        colander_slice_of(column->beginning, column->beginning_size);
    struct colander_buffer *bytes = &column->bytes;
    enum colander_code code = colander_buffer_reserve(
        bytes, ORDER_COLUMN_SIZE + beginning.size + size, err);

    if (code != COLANDER_OK)
        return code;
    put(bytes, (uint64_t)column->width << 4 | column->form, 1);
    put(bytes, column->scale.bits, 1);
    put(bytes, beginning.size, 1);
    put(bytes, column->count, 4);
    for (size_t i = 0; i < 4; i++)
        put(bytes, counts[i], 4);
    put(bytes, column->low, 8);
    put(bytes, column->high, 8);
    put(bytes, column->scale.base, 8);
    return colander_buffer_append(bytes, beginning.data, beginning.size, err);
}

static enum colander_code
put_runs(struct order_column *column, uint32_t row_count,
         struct colander_error *err)
{
    const uint32_t count = order_run_count(row_count);
    struct run *runs = make_runs(column, row_count);
    enum colander_code code;

    if (runs == NULL)
        return COLANDER_FAIL(err, COLANDER_NO_MEMORY,
                             "no memory to build a filter");
    code = order_column_put_head(column, (const uint32_t[4]){0},
                                 order_runs_size(column, row_count), err);
    for (uint32_t i = 0; i < count && code == COLANDER_OK; i++) {
        put(&column->bytes, order_cut(runs[i].low, column->width),
            column->width);
        put(&column->bytes, order_cut(runs[i].high, column->width),
            column->width);
    }
    free(runs);
    return code;
}

enum colander_code
order_column_code(struct order_column *column, struct order_groups *groups,
                  uint64_t *left, struct colander_error *err)
{
    enum colander_code code = COLANDER_OK;
    const unsigned width = column->width; /* of runs */
    uint64_t size = 0;
    bool fits = false;

    if (column->form == ORDER_FORM_LISTS)
        code = order_lists_code(column, groups, *left, &size, &fits, err);
    if (code != COLANDER_OK)
        return code;
    if (!fits && column->form != ORDER_FORM_ROWS) {
        column->width = width;
        /* more than a byte for a value is more than a few */
        size = order_runs_size(column, groups->row_count);
        column->form = size > column->count && size > *left ? ORDER_FORM_ROWS
                                                            : ORDER_FORM_RUNS;
        size =
            column->form == ORDER_FORM_RUNS && size > column->count ? size : 0;
    }
    *left -= size;
    if (column->form == ORDER_FORM_ROWS)
        code = order_column_put_head(column, (const uint32_t[4]){0}, 0, err);
    else if (column->form == ORDER_FORM_RUNS)
        code = put_runs(column, groups->row_count, err);
    return code;
}
