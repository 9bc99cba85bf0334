/*
 * Orders: the code of a column.
 *
 * A value that many rows have is listed with its hash, which leads the locator
 * to them. All other items are in groups, in the order of their places.
 *
 * SPDX-License-Identifier: MIT
 */
#include "core/array.h"
#include "filters/order/order_code.h"

#include <stdlib.h>

#define REPEATED_MAX ((size_t)1 << 14) /* in a list */

/* A value is needy if the locator reads more than this many rows for each one
 * that has it, and some more. */
#define WASTE_MAX 3
#define READ_ANYWAY 48

/* Rows of a run are so close together, and all runs together have so many times
 * as many. A run has so many items, on average. */
#define CLOSE_ROWS 2
#define RUN_ITEMS 8

/* Neighbouring groups of which one of so many may have one step. */
#define SAME_STEPS 128

/* Groups of fewer items have no cuts; nor have others unless the largest
 * fraction without cuts is larger than that with them by more than chance
 * makes: by three times the root of the latter. */
#define CUT_MIN 64
#define CUT_GAIN 9

/* Of a group: its head, and for each item, as the Rice parameter is of the mean
 * distance of rows. */
#define GROUP_HEAD_SIZE 24
#define GROUP_ITEM_SIZE 4

/* -------------------------------------------------------------- sorting --- */

#define DIGIT_BITS 12
#define DIGITS (1u << DIGIT_BITS)

/* Sorts by the bits of a digit; else as before. */
static void
sort_digit(const struct order_item *from, struct order_item *into, size_t count,
           unsigned shift)
{
    uint32_t places[DIGITS] = {0};
    uint32_t place = 0;

    for (size_t i = 0; i < count; i++)
        places[from[i].rank >> shift & (DIGITS - 1)]++;
    for (unsigned digit = 0; digit < DIGITS; digit++) {
        const uint32_t size = places[digit];

        places[digit] = place;
        place += size;
    }
    for (size_t i = 0; i < count; i++)
        into[places[from[i].rank >> shift & (DIGITS - 1)]++] = from[i];
}

/* Makes places of the ranks, and sorts by them. */
static void
sort_places(struct order_column *column, struct order_item *spare)
{
    const unsigned skip = order_skip(column->low, column->high);
    struct order_item *items = column->items;
    unsigned shift = (unsigned)__builtin_ctzll(order_mask(column->type));
    uint64_t differ = 0;
    bool is_sorted = true;

    for (size_t i = 0; i < column->count; i++) {
        items[i].rank = order_place_of(items[i].rank, skip, column->type);
        differ |= items[i].rank ^ items[0].rank;
        is_sorted &= i == 0 || items[i - 1].rank <= items[i].rank;
    }
    for (; shift < 64 && !is_sorted; shift += DIGIT_BITS) {
        struct order_item *sorted = spare;

        if ((differ >> shift & (DIGITS - 1)) == 0)
            continue;
        sort_digit(items, sorted, column->count, shift);
        spare = items;
        items = sorted;
    }
    if (items != column->items)
        memcpy(column->items, items, column->count * sizeof(*items));
}

static uint64_t
hash_of(const struct order_item *item)
{
    return item->entry >> (64 - LOCATOR_HASH_BITS);
}

static int
compare_entries(const void *a, const void *b)
{
    const uint64_t left = ((const struct order_item *)a)->entry;
    const uint64_t right = ((const struct order_item *)b)->entry;

    return (left > right) - (left < right);
}

/* Puts items of one place that have one hash side by side. */
static void
sort_hashes(struct order_item *items, size_t count)
{
    size_t same = 1;

    while (same < count && hash_of(&items[same]) == hash_of(&items[0]))
        same++;
    if (same < count)
        qsort(items, count, sizeof(*items), compare_entries);
}

static enum colander_code
add_repeated(struct order_column *column, size_t begin, size_t count,
             const struct order_sink *sink, struct colander_error *err)
{
    const uint64_t most = WASTE_MAX * (uint64_t)count + READ_ANYWAY;
    const uint64_t entry = column->items[begin].entry;
    enum colander_code code =
        array_reserve(&column->repeated, column->repeated_count,
                      &column->repeated_capacity, 1, err);

    if (code != COLANDER_OK)
        return code;
    column->repeated[column->repeated_count++] = (struct order_repeated){
        .begin = (uint32_t)begin,
        .count = (uint32_t)count,
        .is_needy = sink->count(sink->context,
                                entry & ~bits_mask(64 - LOCATOR_HASH_BITS),
                                (unsigned)(entry >> LOCATOR_ROW_BITS) &
                                    (LOCATOR_TAGS - 1),
                                most) > most,
    };
    return COLANDER_OK;
}

/* Returns the least width with which nearly all groups that differ have
 * different steps. */
static unsigned
choose_width(const struct order_column *column)
{
    size_t counts[ORDER_WIDTH_MAX + 1] = {0};
    unsigned width = ORDER_WIDTH_MAX;
    size_t total = 0;
    size_t lost = 0;
    size_t step;

    for (size_t i = 0; i < column->count - 1; i += step) {
        const size_t near = i < column->count - i ? i : column->count - i;
        uint64_t differ;

        step = order_group_items(near, column->count);
        if (step >= column->count - i)
            step = column->count - 1 - i;
        differ = column->items[i].rank ^ column->items[i + step].rank;
        counts[differ == 0 ? 0 : __builtin_clzll(differ) / 8 + 1]++;
        total += differ != 0;
    }
    while (width > 1 && lost + counts[width] <= total / SAME_STEPS)
        lost += counts[width--];
    return width;
}

enum colander_code
order_column_sort(struct order_column *column, struct order_item *spare,
                  const struct order_sink *sink, struct colander_error *err)
{
    struct order_item *items = column->items;
    const size_t count = column->count;
    enum colander_code code = COLANDER_OK;
    size_t begin = 0;
    size_t same = 0; /* the end of those of the same place */
    size_t end;

    sort_places(column, spare);
    for (; begin < count && code == COLANDER_OK; begin = end) {
        if (begin == same) {
            while (same < count && items[same].rank == items[begin].rank)
                same++;
            sort_hashes(items + begin, same - begin);
        }
        for (end = begin + 1;
             end < same && hash_of(&items[end]) == hash_of(&items[begin]);)
            end++;
        if (end - begin >= ORDER_REPEATED_MIN &&
            column->repeated_count < REPEATED_MAX)
            code = add_repeated(column, begin, end - begin, sink, err);
    }
    column->width = choose_width(column);
    return code;
}

/* ------------------------------------------------------------- dividing --- */

static enum colander_code
add_part(struct order_parts *parts, const struct order_column *column,
         const struct order_item *first, size_t count,
         struct colander_error *err)
{
    enum colander_code code =
        array_reserve(&parts->parts, parts->count, &parts->capacity, 1, err);

    if (code == COLANDER_OK)
        parts->parts[parts->count++] = (struct order_part){
            .step = first->rank >> order_shift(column->width),
            .hash = hash_of(first),
            .count = (uint32_t)count,
        };
    return code;
}

/* Copies items to those in groups, and ends groups with `size_max` of them. The
 * last one begins at *begin. */
static enum colander_code
add_grouped(struct order_column *column, struct order_item *grouped,
            size_t *begin, const struct order_item *items, size_t count,
            size_t size_max, struct colander_error *err)
{
    enum colander_code code = COLANDER_OK;

    for (size_t i = 0; i < count && code == COLANDER_OK; i++) {
        if (column->grouped_count - *begin >= size_max) {
            code = add_part(&column->groups, column, grouped + *begin,
                            column->grouped_count - *begin, err);
            *begin = column->grouped_count;
        }
        grouped[column->grouped_count++] = items[i];
    }
    return code;
}

static enum colander_code
end_group(struct order_column *column, const struct order_item *grouped,
          size_t *begin, struct colander_error *err)
{
    const size_t count = column->grouped_count - *begin;
    enum colander_code code = COLANDER_OK;

    if (count > 0)
        code = add_part(&column->groups, column, grouped + *begin, count, err);
    *begin = column->grouped_count;
    return code;
}

/* Lists the values that are listed, and copies all other items to `grouped`.
 * Groups of a value of their own have all its items, and no others. */
static enum colander_code
divide(struct order_column *column, struct order_item *grouped,
       size_t needy_max, struct colander_error *err)
{
    const struct order_repeated *value = column->repeated;
    const struct order_repeated *values_end =
        column->repeated + column->repeated_count;
    enum colander_code code = COLANDER_OK;
    size_t begin = 0;
    size_t end;

    for (size_t i = 0; i < column->count && code == COLANDER_OK; i = end) {
        const struct order_item *item = &column->items[i];
        const size_t near = i < column->count - i ? i : column->count - i;

        end = i + 1;
        if (value == values_end || value->begin != i) {
            code = add_grouped(column, grouped, &begin, item, 1,
                               order_group_items(near, column->count), err);
            continue;
        }
        end = i + value->count;
        if (!value->is_needy || value->count > needy_max) {
            code = add_part(&column->values, column, item, value->count, err);
        } else {
            code = end_group(column, grouped, &begin, err);
            if (code == COLANDER_OK)
                code = add_grouped(column, grouped, &begin, item, value->count,
                                   ORDER_COUNT_MAX, err);
            if (code == COLANDER_OK)
                code = end_group(column, grouped, &begin, err);
        }
        value++;
    }
    return code == COLANDER_OK ? end_group(column, grouped, &begin, err) : code;
}

/* --------------------------------------------------------------- groups --- */

/* Sorts a few items by their rows. */
static void
sort_rows(struct order_item *items, size_t count)
{
    for (size_t i = 1; i < count; i++) {
        const struct order_item item = items[i];
        size_t at = i;

        for (; at > 0 && order_row(&items[at - 1]) > order_row(&item); at--)
            items[at] = items[at - 1];
        items[at] = item;
    }
}

/* Writes runs of rows that cover those of the items, if these are few. */
static bool
put_runs(const struct order_item *items, size_t count, struct bit_writer *bits)
{
    uint32_t begins[ORDER_RUNS_MAX];
    uint32_t ends[ORDER_RUNS_MAX];
    uint32_t covered = 0;
    uint32_t before = 0;
    size_t runs = 0;

    for (size_t i = 0; i < count; i++) {
        const uint32_t row = order_row(&items[i]);

        if (runs == 0 || row > ends[runs - 1] + CLOSE_ROWS) {
            if (runs == ORDER_RUNS_MAX || runs > count / RUN_ITEMS)
                return false;
            begins[runs] = ends[runs] = row;
            runs++;
        }
        covered += row - ends[runs - 1];
        ends[runs - 1] = row;
    }
    if (covered > CLOSE_ROWS * count)
        return false;
    bit_put(bits, ORDER_GROUP_RUNS, ORDER_KIND_BITS);
    bit_put_gamma(bits, runs);
    for (size_t i = 0; i < runs; i++) {
        bit_put_gamma(bits, 1 + begins[i] - before);
        bit_put_gamma(bits, 1 + ends[i] - begins[i]);
        before = ends[i] + 1;
    }
    return true;
}

/* Returns the most items between two ends, which are distances from `begin`. */
static size_t
largest_fraction(const struct order_item *items, size_t count, uint64_t begin,
                 const uint64_t *ends, unsigned end_count)
{
    size_t largest = 0;
    size_t at = 0;

    for (unsigned i = 0; i <= end_count; i++) {
        const size_t first = at;

        while (at < count &&
               (i == end_count || items[at].rank - begin < ends[i]))
            at++;
        if (at - first > largest)
            largest = at - first;
    }
    return largest;
}

/* Cuts the group, whose items are in the order of their places, unless they are
 * spread about evenly. */
static void
cut(struct order_bounds *bounds, const struct order_item *items, size_t count)
{
    const unsigned cuts = order_cut_count(bounds->grain);
    const uint64_t even = order_piece_length(bounds, bits_log2(cuts + 1));
    const uint64_t length = order_piece_length(bounds, ORDER_PIECE_BITS);
    uint64_t even_ends[ORDER_CUTS_MAX];
    uint64_t ends[ORDER_CUTS_MAX];
    size_t with;
    size_t without;

    if (count < CUT_MIN)
        return;
    for (unsigned i = 0; i < cuts; i++) {
        const size_t at = (i + 1) * count / (cuts + 1);

        bounds->cuts[i] = (uint8_t)order_piece(items[at].rank - bounds->begin,
                                               length, ORDER_PIECE_BITS);
        ends[i] = bounds->cuts[i] * length;
        even_ends[i] = (i + 1) * even;
    }
    with = largest_fraction(items, count, bounds->begin, ends, cuts);
    without = largest_fraction(items, count, bounds->begin, even_ends, cuts);
    if (without > with && (without - with) * (without - with) > CUT_GAIN * with)
        bounds->cut_count = cuts;
}

/* Writes the rows of the items, and fractions, unless all have one place. */
static void
put_rows(struct order_column *column, const struct order_item *items,
         size_t count, bool is_one, const struct order_bounds *bounds)
{
    const enum order_group_kind kind = is_one ? ORDER_GROUP_VALUE
                                       : bounds->cut_count > 0
                                           ? ORDER_GROUP_CUTS
                                           : ORDER_GROUP_VALUES;
    struct bit_writer *bits = &column->bits;
    uint32_t before = order_row(&items[0]);
    const unsigned rice = bits_rice_parameter(
        order_row(&items[count - 1]) - before, (uint32_t)count);

    bit_put(bits, kind, ORDER_KIND_BITS);
    for (unsigned i = 0; kind == ORDER_GROUP_CUTS && i < bounds->cut_count; i++)
        bit_put(bits, bounds->cuts[i], ORDER_PIECE_BITS);
    bit_put_gamma(bits, 1 + before);
    bit_put(bits, rice, ORDER_RICE_BITS);
    for (size_t i = 0; i < count; i++) {
        const uint32_t row = order_row(&items[i]);

        bit_put_rice(bits, row - before, rice);
        if (!is_one)
            bit_put(bits, order_fraction(bounds, items[i].rank), column->grain);
        before = row;
    }
    column->fraction_count += is_one ? 0 : count;
}

/* Writes the group of these items, which become sorted by rows. */
static enum colander_code
put_group(struct order_column *column, struct order_item *items, size_t count,
          struct order_bounds *bounds, struct colander_error *err)
{
    const bool is_one = items[0].rank == items[count - 1].rank;
    enum colander_code code = bit_writer_reserve(
        &column->bits, GROUP_HEAD_SIZE + count * GROUP_ITEM_SIZE, err);

    if (code != COLANDER_OK)
        return code;
    if (!is_one)
        cut(bounds, items, count);
    sort_rows(items, count);
    if (is_one || !put_runs(items, count, &column->bits))
        put_rows(column, items, count, is_one, bounds);
    bit_put_padding(&column->bits);
    return COLANDER_OK;
}

static enum colander_code
put_groups(struct order_column *column, struct order_item *grouped,
           struct colander_error *err)
{
    const unsigned shift = order_shift(column->width);
    struct order_part *groups = column->groups.parts;
    const size_t count = column->groups.count;
    enum colander_code code = COLANDER_OK;

    for (size_t i = 0; i < count && code == COLANDER_OK; i++) {
        const size_t before = column->bits.bytes.size;
        const uint64_t end =
            i + 1 < count
                ? groups[i + 1].step << shift
                : order_place_of(column->high,
                                 order_skip(column->low, column->high),
                                 column->type);
        struct order_bounds bounds = order_bounds_of(
            groups[i].step << shift, end, column->width, column->grain);

        code = put_group(column, grouped, groups[i].count, &bounds, err);
        groups[i].size = (uint32_t)(column->bits.bytes.size - before);
        grouped += groups[i].count;
    }
    return code;
}

static void
clear_code(struct order_column *column)
{
    column->values.count = column->groups.count = 0;
    column->grouped_count = column->fraction_count = 0;
    colander_buffer_clear(&column->bits.bytes);
}

enum colander_code
order_column_code(struct order_column *column, struct order_item *spare,
                  size_t needy_max, unsigned grain, struct colander_error *err)
{
    enum colander_code code;

    clear_code(column);
    column->grain = grain;
    code = divide(column, spare, needy_max, err);
    if (code == COLANDER_OK)
        code = put_groups(column, spare, err);
    return code;
}

void
order_column_forget(struct order_column *column)
{
    clear_code(column);
    column->width = column->grain = 0;
}

uint64_t
order_column_size(const struct order_column *column)
{
    return column->bits.bytes.size +
           column->values.count *
               (column->width + ORDER_COUNT_SIZE + ORDER_HASH_SIZE) +
           column->groups.count * (column->width + ORDER_COUNT_SIZE + 2);
}

void
order_column_release(struct order_column *column)
{
    free(column->items);
    free(column->repeated);
    free(column->values.parts);
    free(column->groups.parts);
    colander_buffer_release(&column->bits.bytes);
}
