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

#define VALUE_ROWS 16                  /* rows for each of few values */
#define VALUES_MAX (UINT32_C(1) << 14) /* of a column */
#define SEEN_BITS 17                   /* to count them */

#define NUMBER_BITS 40 /* of steps that are sorted; all 64 for texts */

/* Runs serve a column if they read at most so many rows for one that is wanted,
 * and are better than nothing if they pass over a part of them. */
#define WASTE_MAX 3.0
#define SAMPLE_MAX 512
#define QUESTIONS 32

static uint32_t
row_of(const struct order_item *item)
{
    return (uint32_t)(item->entry & ((UINT64_C(1) << LOCATOR_ROW_BITS) - 1));
}

/* ---------------------------------------------------------------- scale --- */

static int
compare_ranks(const void *a, const void *b)
{
    const uint64_t left = *(const uint64_t *)a;
    const uint64_t right = *(const uint64_t *)b;

    return (left > right) - (left < right);
}

/* Fills `sample` with ranks of the column, ascending. */
static size_t
take_sample(const struct order_column *column, uint64_t *sample)
{
    const size_t count =
        column->count < SAMPLE_MAX ? column->count : SAMPLE_MAX;

    for (size_t i = 0; i < count; i++)
        sample[i] = column->items[i * column->count / count].rank;
    qsort(sample, count, sizeof(*sample), compare_ranks);
    return count;
}

/* Covers all ranks, but for some far away from the others. */
static struct order_scale
scale_of(const struct order_column *column, const uint64_t *sample,
         size_t count)
{
    const uint64_t first = sample[count / 64];
    const uint64_t last = sample[count - 1 - count / 64];
    const uint64_t spread = last - first;
    struct order_scale scale = {column->low, 1};
    uint64_t top = column->high;

    if (spread > 0 && first - column->low > spread)
        scale.base = first - spread;
    if (spread > 0 && top - last > spread)
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

static struct run *
make_runs(const struct order_column *column, uint32_t row_count)
{
    const uint32_t run_count = order_run_count(row_count);
    struct run *runs = malloc(run_count * sizeof(*runs));

    if (runs == NULL)
        return NULL;
    for (uint32_t i = 0; i < run_count; i++)
        runs[i] = (struct run){UINT64_MAX, 0};
    for (size_t i = 0; i < column->count; i++) {
        struct run *run = &runs[row_of(&column->items[i]) / ORDER_RUN];
        const uint64_t step = order_step(&column->scale, column->items[i].rank);

        if (step < run->low)
            run->low = step;
        if (step > run->high)
            run->high = step;
    }
    return runs;
}

/* Asks for about one of a hundred values at a time, with steps of `width`
 * bytes. Returns the share of the column's runs that have to be read over the
 * share of the values that are in them. */
static double
waste_of(const struct order_column *column, const struct run *runs,
         uint32_t run_count, const uint64_t *sample, size_t count,
         unsigned width)
{
    double wanted = 0;
    double read = 0;
    uint32_t used = 0;

    for (uint32_t i = 0; i < run_count; i++)
        used += runs[i].low <= runs[i].high;
    for (size_t i = 0; i < QUESTIONS; i++) {
        const size_t at = i * count / QUESTIONS;
        const size_t end = at + count / 100 < count ? at + count / 100 : at;
        const uint64_t low = sample[at];
        const uint64_t high = sample[end];
        const uint64_t first =
            order_cut(order_step(&column->scale, low), width);
        const uint64_t last =
            order_cut(order_step(&column->scale, high), width);
        size_t begin = at;
        size_t past = end;
        uint32_t hits = 0;

        while (begin > 0 && sample[begin - 1] == low)
            begin--;
        while (past < count && sample[past] <= high)
            past++;
        for (uint32_t k = 0; k < run_count; k++)
            hits += order_cut(runs[k].low, width) <= last &&
                    order_cut(runs[k].high, width) >= first &&
                    runs[k].low <= runs[k].high;
        wanted += (double)(past - begin) / (double)count;
        read += (double)hits / used;
    }
    return read / wanted;
}

/* ---------------------------------------------------------------- forms --- */

/* Returns whether the column has few different values. Counts their hashes in
 * a table of bits, so it may take some more for few. */
static enum colander_code
has_few_values(const struct order_column *column, bool *has_few,
               struct colander_error *err)
{
    uint64_t *seen = calloc((size_t)1 << (SEEN_BITS - 6), sizeof(*seen));
    size_t left = column->count / VALUE_ROWS;

    if (seen == NULL)
        return COLANDER_FAIL(err, COLANDER_NO_MEMORY,
                             "no memory to build a filter");
    if (left > VALUES_MAX)
        left = VALUES_MAX;
    *has_few = true;
    for (size_t i = 0; i < column->count && *has_few; i++) {
        const uint64_t hash = column->items[i].entry >> (64 - SEEN_BITS);
        const uint64_t bit = UINT64_C(1) << hash % 64;

        if ((seen[hash / 64] & bit) != 0)
            continue;
        seen[hash / 64] |= bit;
        *has_few = left-- > 0;
    }
    free(seen);
    return COLANDER_OK;
}

enum colander_code
order_column_measure(struct order_column *column, uint32_t row_count,
                     struct colander_error *err)
{
    const uint32_t run_count = order_run_count(row_count);
    uint64_t sample[SAMPLE_MAX];
    enum colander_code code = COLANDER_OK;
    bool has_few = false;
    struct run *runs;
    size_t count;

    column->form = ORDER_FORM_ROWS;
    column->width = 1;
    column->scale.bits = 1;
    column->low = UINT64_MAX;
    for (size_t i = 0; i < column->count; i++) {
        const uint64_t rank = column->items[i].rank;

        column->low = rank < column->low ? rank : column->low;
        column->high = rank > column->high ? rank : column->high;
    }
    if (column->count < FEW_VALUES)
        return COLANDER_OK;
    count = take_sample(column, sample);
    column->scale = scale_of(column, sample, count);
    runs = make_runs(column, row_count);
    if (runs == NULL)
        return COLANDER_FAIL(err, COLANDER_NO_MEMORY,
                             "no memory to build a filter");
    column->waste =
        waste_of(column, runs, run_count, sample, count, ORDER_WIDTH_MAX);
    column->form = ORDER_FORM_RUNS;
    while (column->width < ORDER_WIDTH_MAX &&
           waste_of(column, runs, run_count, sample, count, column->width) >
               column->waste * 1.125)
        column->width++;
    free(runs);
    if (column->waste <= WASTE_MAX || column->count < FEW_FOR_LISTS)
        return COLANDER_OK;
    code = has_few_values(column, &has_few, err);
    column->form = has_few ? ORDER_FORM_VALUES : ORDER_FORM_BUCKETS;
    return code;
}

/* -------------------------------------------------------------- sorting --- */

#define DIGIT_BITS 10
#define DIGITS (1u << DIGIT_BITS)

/* An item by its step. */
struct sorted {
    uint64_t step;
    uint32_t item;
};

/* Sorts by step, of which the upper `bits` are not zero, and else by item. Uses
 * `spare`, and returns which of both has the result. */
static struct sorted *
sort_steps(struct sorted *items, struct sorted *spare, size_t count,
           unsigned bits)
{
    for (unsigned shift = 64 - bits; shift < 64; shift += DIGIT_BITS) {
        uint32_t places[DIGITS] = {0};
        struct sorted *from = items;
        uint32_t place = 0;

        for (size_t i = 0; i < count; i++)
            places[from[i].step >> shift & (DIGITS - 1)]++;
        for (unsigned digit = 0; digit < DIGITS; digit++) {
            const uint32_t size = places[digit];

            places[digit] = place;
            place += size;
        }
        for (size_t i = 0; i < count; i++)
            spare[places[from[i].step >> shift & (DIGITS - 1)]++] = from[i];
        items = spare;
        spare = from;
    }
    return items;
}

/* ---------------------------------------------------------------- lists --- */

/* A list being made: steps, and hashes of values. */
struct list {
    uint64_t *steps;
    uint64_t *hashes;
    size_t count;
};

static int
compare_hashes(const void *a, const void *b)
{
    return compare_ranks(a, b);
}

/* Adds the different hashes of `count` items of one step. */
static void
add_values(const struct order_column *column, const struct sorted *sorted,
           size_t count, struct list *list)
{
    const unsigned drop = 64 - LOCATOR_HASH_BITS;
    uint64_t *hashes = list->hashes + list->count;
    size_t kept = 0;

    for (size_t i = 0; i < count; i++) {
        const uint64_t hash = column->items[sorted[i].item].entry >> drop;

        if (kept == 0 || hashes[kept - 1] != hash)
            hashes[kept++] = hash;
    }
    qsort(hashes, kept, sizeof(*hashes), compare_hashes);
    for (size_t i = 0; i < kept; i++) {
        if (i > 0 && hashes[i] == list->hashes[list->count - 1])
            continue;
        list->hashes[list->count] = hashes[i];
        list->steps[list->count++] = sorted[0].step;
    }
}

static void
list_values(const struct order_column *column, const struct sorted *sorted,
            struct list *list)
{
    size_t end;

    for (size_t i = 0; i < column->count; i = end) {
        for (end = i + 1;
             end < column->count && sorted[end].step == sorted[i].step;)
            end++;
        add_values(column, sorted + i, end - i, list);
    }
}

static int
compare_rows(const void *a, const void *b)
{
    const uint32_t left = *(const uint32_t *)a;
    const uint32_t right = *(const uint32_t *)b;

    return (left > right) - (left < right);
}

/* Adds a bucket, and passes its rows on. */
static enum colander_code
add_bucket(const struct order_column *column, const struct sorted *sorted,
           size_t count, struct list *list, const struct order_sink *sink,
           struct colander_error *err)
{
    const uint64_t hash = order_bucket_hash(column->id, (uint32_t)list->count);
    const uint64_t tag =
        column->items[0].entry >> LOCATOR_ROW_BITS & (LOCATOR_TAGS - 1);
    uint32_t rows[ORDER_DEPTH];

    for (size_t i = 0; i < count; i++)
        rows[i] = row_of(&column->items[sorted[i].item]);
    qsort(rows, count, sizeof(*rows), compare_rows);
    list->steps[list->count++] = sorted[0].step;
    return sink->rows(sink->context, hash, (unsigned)tag, rows, count, err);
}

static enum colander_code
list_buckets(const struct order_column *column, const struct sorted *sorted,
             struct list *list, const struct order_sink *sink,
             struct colander_error *err)
{
    enum colander_code code = COLANDER_OK;

    for (size_t i = 0; i < column->count && code == COLANDER_OK;
         i += ORDER_DEPTH) {
        const size_t left = column->count - i;

        code = add_bucket(column, sorted + i,
                          left < ORDER_DEPTH ? left : ORDER_DEPTH, list, sink,
                          err);
    }
    return code;
}

/* Returns the least width that keeps all but `lost_max` steps of the list
 * apart. */
static unsigned
width_of(const struct list *list, size_t lost_max)
{
    unsigned width = 0;
    size_t lost;

    do {
        width++;
        lost = 0;
        for (size_t i = 1; i < list->count; i++)
            lost += list->steps[i] != list->steps[i - 1] &&
                    order_cut(list->steps[i], width) ==
                        order_cut(list->steps[i - 1], width);
    } while (lost > lost_max);
    return width;
}

/* -------------------------------------------------------------- writing --- */

/* Room for what is written must be reserved. */
static void
put(struct colander_buffer *block, uint64_t number, size_t size)
{
    bytes_put_le(block->data + block->size, number, size);
    block->size += size;
}

static enum colander_code
put_head(const struct order_column *column, size_t list_count, size_t list_size,
         struct colander_buffer *block, struct colander_error *err)
{
    const struct colander_slice beginning =
        colander_slice_of(column->beginning, column->beginning_size);
    enum colander_code code = colander_buffer_reserve(
        block, ORDER_COLUMN_SIZE + beginning.size + list_size, err);

    if (code != COLANDER_OK)
        return code;
    put(block, (uint64_t)column->width << 4 | column->form, 1);
    put(block, column->scale.bits, 1);
    put(block, beginning.size, 1);
    put(block, column->count, 4);
    put(block, list_count, 4);
    put(block, column->low, 8);
    put(block, column->high, 8);
    put(block, column->scale.base, 8);
    return colander_buffer_append(block, beginning.data, beginning.size, err);
}

static enum colander_code
put_runs(const struct order_column *column, uint32_t row_count,
         struct colander_buffer *block, struct colander_error *err)
{
    const uint32_t count = order_run_count(row_count);
    struct run *runs = make_runs(column, row_count);
    enum colander_code code;

    if (runs == NULL)
        return COLANDER_FAIL(err, COLANDER_NO_MEMORY,
                             "no memory to build a filter");
    code = put_head(column, 0, (size_t)count * 2 * column->width, block, err);
    for (uint32_t i = 0; i < count && code == COLANDER_OK; i++) {
        put(block, order_cut(runs[i].low, column->width), column->width);
        put(block, order_cut(runs[i].high, column->width), column->width);
    }
    free(runs);
    return code;
}

static enum colander_code
put_list(struct order_column *column, const struct list *list,
         struct colander_buffer *block, struct colander_error *err)
{
    const bool has_hashes = column->form == ORDER_FORM_VALUES;
    enum colander_code code;

    column->width = width_of(list, has_hashes ? 0 : list->count / 16);
    code =
        put_head(column, list->count,
                 list->count * (column->width + ORDER_HASH_SIZE), block, err);
    for (size_t i = 0; i < list->count && code == COLANDER_OK; i++)
        put(block, order_cut(list->steps[i], column->width), column->width);
    for (size_t i = 0; i < list->count && has_hashes && code == COLANDER_OK;
         i++)
        put(block, list->hashes[i], ORDER_HASH_SIZE);
    return code;
}

static enum colander_code
put_sorted(struct order_column *column, struct sorted *items, struct list *list,
           const struct order_sink *sink, struct colander_buffer *block,
           struct colander_error *err)
{
    const bool is_text = column->has_beginning;
    const unsigned bits = is_text ? 64 : NUMBER_BITS;
    const uint64_t mask = ~UINT64_C(0) << (64 - bits);
    const size_t count = column->count;
    const struct sorted *sorted;
    enum colander_code code = COLANDER_OK;

    for (size_t i = 0; i < count; i++)
        items[i] = (struct sorted){
            order_step(&column->scale, column->items[i].rank) & mask,
            (uint32_t)i};
    sorted = sort_steps(items, items + count, count, bits);
    if (column->form == ORDER_FORM_VALUES)
        list_values(column, sorted, list);
    else
        code = list_buckets(column, sorted, list, sink, err);
    return code == COLANDER_OK ? put_list(column, list, block, err) : code;
}

enum colander_code
order_column_put(struct order_column *column, uint32_t row_count,
                 const struct order_sink *sink, struct colander_buffer *block,
                 struct colander_error *err)
{
    const size_t count = column->count;
    struct list list = {NULL, NULL, 0};
    struct sorted *items;
    enum colander_code code;

    if (column->form == ORDER_FORM_ROWS)
        return put_head(column, 0, 0, block, err);
    if (column->form == ORDER_FORM_RUNS)
        return put_runs(column, row_count, block, err);
    items = malloc(2 * count * sizeof(*items));
    list.steps = malloc(count * sizeof(*list.steps));
    list.hashes = malloc(count * sizeof(*list.hashes));
    if (items == NULL || list.steps == NULL || list.hashes == NULL)
        code = COLANDER_FAIL(err, COLANDER_NO_MEMORY,
                             "no memory to build a filter");
    else
        code = put_sorted(column, items, &list, sink, block, err);
    free(items);
    free(list.steps);
    free(list.hashes);
    return code;
}
