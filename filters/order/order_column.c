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

/* Runs serve a column well if they read at most so many rows for one that is
 * wanted, and well enough for one with few values. */
#define WASTE_GOOD 1.5
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

static uint64_t
runs_size(const struct order_column *column, uint32_t row_count)
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
 * bytes. Returns how many times as many runs have to be read as would do, if
 * all values were in one place. */
static double
waste_of(const struct order_column *column, const struct run *runs,
         uint32_t run_count, const struct sample *sample, unsigned width)
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
        low = order_cut(order_step(&column->scale, low), width);
        high = order_cut(order_step(&column->scale, high), width);
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
    struct sample sample;
    enum colander_code code = COLANDER_OK;
    bool has_few = false;
    struct run *runs;

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
    take_sample(column, &sample);
    column->scale = scale_of(column, &sample);
    runs = make_runs(column, row_count);
    if (runs == NULL)
        return COLANDER_FAIL(err, COLANDER_NO_MEMORY,
                             "no memory to build a filter");
    column->waste = waste_of(column, runs, run_count, &sample, ORDER_WIDTH_MAX);
    column->form = ORDER_FORM_RUNS;
    while (column->width < ORDER_WIDTH_MAX &&
           waste_of(column, runs, run_count, &sample, column->width) >
               column->waste * 1.125)
        column->width++;
    free(runs);
    if (column->waste <= WASTE_GOOD || column->count < FEW_FOR_LISTS)
        return COLANDER_OK;
    code = has_few_values(column, &has_few, err);
    if (!has_few)
        column->form = ORDER_FORM_BUCKETS;
    else if (column->waste > WASTE_MAX)
        column->form = ORDER_FORM_VALUES;
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

/* A list being made: steps and hashes, and the first of its items among those
 * that are sorted. */
struct list {
    uint64_t *steps;
    uint64_t *hashes; /* the upper LOCATOR_HASH_BITS */
    uint32_t *begins;
    size_t count;
};

static unsigned
tag_of(const struct order_column *column)
{
    return (unsigned)(column->items[0].entry >> LOCATOR_ROW_BITS) &
           (LOCATOR_TAGS - 1);
}

static void
add(struct list *list, const struct sorted *sorted, size_t begin, uint64_t hash)
{
    list->steps[list->count] = sorted[begin].step;
    list->begins[list->count] = (uint32_t)begin;
    list->hashes[list->count++] = hash;
}

/* Adds the different hashes of the items from `begin` to `end`, which have one
 * step. */
static void
add_values(const struct order_column *column, const struct sorted *sorted,
           size_t begin, size_t end, struct list *list)
{
    uint64_t *hashes = list->hashes + list->count;
    size_t count = 0;

    for (size_t i = begin; i < end; i++) {
        const uint64_t hash =
            column->items[sorted[i].item].entry >> (64 - LOCATOR_HASH_BITS);

        if (count == 0 || hashes[count - 1] != hash)
            hashes[count++] = hash;
    }
    qsort(hashes, count, sizeof(*hashes), compare_ranks);
    for (size_t i = 0; i < count; i++) {
        if (i == 0 || hashes[i] != list->hashes[list->count - 1])
            add(list, sorted, begin, hashes[i]);
    }
}

/* Adds buckets for the items from `begin` to `end`, and passes their rows on.
 */
static enum colander_code
add_buckets(const struct order_column *column, const struct sorted *sorted,
            size_t begin, size_t end, struct list *list,
            const struct order_sink *sink, struct colander_error *err)
{
    enum colander_code code = COLANDER_OK;
    uint32_t rows[ORDER_DEPTH];

    for (; begin < end && code == COLANDER_OK; begin += ORDER_DEPTH) {
        const uint64_t hash =
            order_bucket_hash(column->id, (uint32_t)list->count);
        size_t count = 0;

        while (count < ORDER_DEPTH && begin + count < end) {
            rows[count] = row_of(&column->items[sorted[begin + count].item]);
            count++;
        }
        add(list, sorted, begin, hash >> (64 - LOCATOR_HASH_BITS));
        code =
            sink->rows(sink->context, hash, tag_of(column), rows, count, err);
    }
    return code;
}

/* Bytes of a bucket beside its rows, in the locator and the list of buckets;
 * that of values has hashes too. */
#define BUCKET_SIZE 7
#define BUCKET_SIZE_OF_VALUES 12

/* Returns about how many bytes `count` rows take in buckets, each of `size`
 * bytes, if so many rows of the part lie between two of them. */
static uint64_t
bucket_size(uint64_t count, uint64_t gap, uint64_t size)
{
    const unsigned bits = 66 - (unsigned)__builtin_clzll(gap + 1);

    return count * bits / 8 + (count / ORDER_DEPTH + 1) * size;
}

/* Returns how many items have the step of value `i`, the first that has it, or
 * 0 if the locator leads from such values to few rows more. */
static uint32_t
count_needy(const struct order_column *column, const struct list *values,
            size_t i, const struct order_sink *sink)
{
    const uint32_t begin = values->begins[i];
    uint64_t rows = 0;
    uint64_t most;
    uint32_t count;
    size_t end = i;

    while (end < values->count && values->begins[end] == begin)
        end++;
    count =
        (uint32_t)((end < values->count ? values->begins[end] : column->count) -
                   begin);
    most = (uint64_t)(WASTE_MAX * count) + ORDER_DEPTH;
    for (; i < end && rows <= most; i++)
        rows += sink->count(sink->context,
                            values->hashes[i] << (64 - LOCATOR_HASH_BITS),
                            tag_of(column), most);
    return rows > most ? count : 0;
}

/* Returns how many bytes the needy values take that have at most `count_max`
 * items. */
static uint64_t
size_of_needy(const uint32_t *needy, size_t count, size_t count_max,
              uint32_t row_count)
{
    uint64_t size = 0;

    for (size_t i = 0; i < count; i++) {
        if (needy[i] != 0 && needy[i] <= count_max)
            size += bucket_size(needy[i], row_count / (needy[i] + UINT64_C(1)),
                                BUCKET_SIZE_OF_VALUES);
    }
    return size;
}

/* Gives buckets to values that the locator serves badly, the rarest first, as
 * far as the budget goes. */
static enum colander_code
serve_needy(const struct order_column *column, uint32_t row_count,
            const struct sorted *sorted, const struct list *values,
            struct list *list, const struct order_sink *sink, uint64_t *left,
            struct colander_error *err)
{
    uint32_t *needy = malloc((values->count + 1) * sizeof(*needy));
    enum colander_code code = COLANDER_OK;
    size_t count_max = column->count;

    if (needy == NULL)
        return COLANDER_FAIL(err, COLANDER_NO_MEMORY,
                             "no memory to build a filter");
    for (size_t i = 0; i < values->count; i++)
        needy[i] = i > 0 && values->begins[i] == values->begins[i - 1]
                       ? 0
                       : count_needy(column, values, i, sink);
    while (size_of_needy(needy, values->count, count_max, row_count) > *left)
        count_max -= count_max / 8 + 1;
    *left -= size_of_needy(needy, values->count, count_max, row_count);
    for (size_t i = 0; i < values->count && code == COLANDER_OK;) {
        const uint32_t begin = values->begins[i];
        const bool is_served = needy[i] != 0 && needy[i] <= count_max;

        if (is_served)
            code = add_buckets(column, sorted, begin, begin + needy[i], list,
                               sink, err);
        for (; i < values->count && values->begins[i] == begin; i++) {
            if (!is_served)
                add(list, sorted, begin, values->hashes[i]);
        }
    }
    free(needy);
    return code;
}

static enum colander_code
list_values(const struct order_column *column, uint32_t row_count,
            const struct sorted *sorted, struct list *list,
            const struct order_sink *sink, uint64_t *left,
            struct colander_error *err)
{
    const size_t count = column->count;
    struct list values = {list->steps + count, list->hashes + count,
                          list->begins + count, 0};
    size_t end;

    for (size_t i = 0; i < count; i = end) {
        for (end = i + 1; end < count && sorted[end].step == sorted[i].step;)
            end++;
        add_values(column, sorted, i, end, &values);
    }
    return serve_needy(column, row_count, sorted, &values, list, sink, left,
                       err);
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
    code = put_head(column, 0, runs_size(column, row_count), block, err);
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
code_sorted(struct order_column *column, uint32_t row_count,
            struct sorted *items, struct list *list,
            const struct order_sink *sink, uint64_t *left,
            struct colander_error *err)
{
    const unsigned bits = column->has_beginning ? 64 : NUMBER_BITS;
    const uint64_t mask = ~UINT64_C(0) << (64 - bits);
    const size_t count = column->count;
    const struct sorted *sorted;
    enum colander_code code;

    for (size_t i = 0; i < count; i++)
        items[i] = (struct sorted){
            order_step(&column->scale, column->items[i].rank) & mask,
            (uint32_t)i};
    sorted = sort_steps(items, items + count, count, bits);
    code = column->form == ORDER_FORM_VALUES
               ? list_values(column, row_count, sorted, list, sink, left, err)
               : add_buckets(column, sorted, 0, count, list, sink, err);
    return code == COLANDER_OK ? put_list(column, list, &column->bytes, err)
                               : code;
}

enum colander_code
order_column_code(struct order_column *column, uint32_t row_count,
                  const struct order_sink *sink, uint64_t *left,
                  struct colander_error *err)
{
    const size_t count = 2 * column->count; /* room for values and buckets */
    struct list list = {NULL, NULL, NULL, 0};
    struct sorted *items;
    enum colander_code code;

    if (column->form == ORDER_FORM_ROWS)
        return put_head(column, 0, 0, &column->bytes, err);
    if (column->form == ORDER_FORM_RUNS)
        return put_runs(column, row_count, &column->bytes, err);
    items = malloc(count * sizeof(*items));
    list.steps = malloc(count * sizeof(*list.steps));
    list.hashes = malloc(count * sizeof(*list.hashes));
    list.begins = malloc(count * sizeof(*list.begins));
    if (items == NULL || list.steps == NULL || list.hashes == NULL ||
        list.begins == NULL)
        code = COLANDER_FAIL(err, COLANDER_NO_MEMORY,
                             "no memory to build a filter");
    else
        code = code_sorted(column, row_count, items, &list, sink, left, err);
    free(items);
    free(list.steps);
    free(list.hashes);
    free(list.begins);
    return code;
}

/* Where values lie near each other, so do the rows of a bucket. */
#define WASTE_NEAR 20.0

#define TEXT_SHORT 32

double
order_column_need(const struct order_column *column)
{
    const uint64_t shorts = column->text_size / column->count / TEXT_SHORT;

    return column->waste / (1 + (double)shorts);
}

uint64_t
order_column_size(const struct order_column *column, uint32_t row_count)
{
    const uint64_t gap = row_count / ORDER_DEPTH;
    const uint64_t near = (uint64_t)(8 * column->waste);
    const uint64_t runs = runs_size(column, row_count);

    if (column->form == ORDER_FORM_BUCKETS)
        return bucket_size(
            column->count,
            column->waste < WASTE_NEAR && near < gap ? near : gap, BUCKET_SIZE);
    return column->form == ORDER_FORM_RUNS && runs > column->count ? runs : 0;
}
