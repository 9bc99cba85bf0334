/*
 * Orders: the lists of a column.
 *
 * A value that many rows have is listed with its hash, which leads the locator
 * to them. All other items are in groups, in the order of their steps.
 *
 * SPDX-License-Identifier: MIT
 */
#include "core/array.h"
#include "filters/order/order_code.h"

#include <stdlib.h>

#define REPEATED_MAX ((size_t)1 << 14) /* in a list */
#define REPEATED_FREE 16               /* one for this many items is free */

/* A value is needy if the locator reads more than this many rows for each one
 * that has it, and some more. */
#define WASTE_MAX 3
#define READ_ANYWAY 48

#define GROUP_BYTES_MAX 1024 /* more than any takes */
#define GROUP_BLOCK_SIZE (4u << 10)

/* ------------------------------------------------------------- sorting --- */

#define DIGIT_BITS 11
#define DIGITS (1u << DIGIT_BITS)

/* Sorts by the steps, of which those bits in `mask` count; else as before. */
static void
sort_steps(struct order_item *items, struct order_item *spare, size_t count,
           uint64_t mask)
{
    const unsigned first = (unsigned)__builtin_ctzll(mask);

    /* 40 bits have four digits, and 64 have six, so the result is in `items` */
    for (unsigned shift = first; shift < 64; shift += DIGIT_BITS) {
        uint32_t places[DIGITS] = {0};
        struct order_item *from = items;
        uint32_t place = 0;

        for (size_t i = 0; i < count; i++)
            places[from[i].rank >> shift & (DIGITS - 1)]++;
        for (unsigned digit = 0; digit < DIGITS; digit++) {
            const uint32_t size = places[digit];

            places[digit] = place;
            place += size;
        }
        for (size_t i = 0; i < count; i++)
            spare[places[from[i].rank >> shift & (DIGITS - 1)]++] = from[i];
        items = spare;
        spare = from;
    }
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

/* Puts items of one step that have one hash side by side. */
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
add_value(struct order_column *column, size_t begin, size_t count,
          const struct order_sink *sink, struct colander_error *err)
{
    const uint64_t most = WASTE_MAX * (uint64_t)count + READ_ANYWAY;
    const uint64_t entry = column->items[begin].entry;
    enum colander_code code;

    if (count < ORDER_REPEATED_MIN || column->repeated_count == REPEATED_MAX) {
        column->single_count += count;
        return COLANDER_OK;
    }
    code = array_reserve(&column->repeated, column->repeated_count,
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

enum colander_code
order_lists_sort(struct order_column *column, struct order_item *spare,
                 const struct order_sink *sink, struct colander_error *err)
{
    struct order_item *items = column->items;
    const size_t count = column->count;
    enum colander_code code = COLANDER_OK;
    size_t begin = 0;
    size_t same = 0; /* the end of those of the same step */

    sort_steps(items, spare, count, column->scale.mask);
    while (begin < count && code == COLANDER_OK) {
        size_t end = begin + 1;

        if (begin == same) {
            while (same < count && items[same].rank == items[begin].rank)
                same++;
            sort_hashes(items + begin, same - begin);
        }
        while (end < same && hash_of(&items[end]) == hash_of(&items[begin]))
            end++;
        code = add_value(column, begin, end - begin, sink, err);
        begin = end;
    }
    return code;
}

/* ------------------------------------------------------------- dividing --- */

/* The items that are in groups, and how many values are listed. */
struct divided {
    struct order_item *grouped;
    size_t grouped_count;
    uint32_t listed_count;
};

/* Needy values with more items than `needy_max` are listed. */
static bool
is_listed(const struct order_repeated *value, size_t needy_max)
{
    return !value->is_needy || value->count > needy_max;
}

/* Copies the items that are in groups to `divided->grouped`. */
static void
divide(const struct order_column *column, size_t needy_max,
       struct divided *divided)
{
    const struct order_repeated *value = column->repeated;
    const struct order_repeated *values_end =
        column->repeated + column->repeated_count;

    divided->grouped_count = divided->listed_count = 0;
    for (size_t i = 0; i < column->count;) {
        size_t end = value < values_end ? value->begin : column->count;

        if (i == end) {
            end += value->count;
            if (is_listed(value++, needy_max)) {
                divided->listed_count++;
                i = end;
                continue;
            }
        }
        memcpy(divided->grouped + divided->grouped_count, column->items + i,
               (end - i) * sizeof(*column->items));
        divided->grouped_count += end - i;
        i = end;
    }
}

/* Returns about how many bits an item takes in a group. */
static uint64_t
bits_of_item(uint32_t row_count)
{
    return bits_log2(row_count / ORDER_CELL + 1) + 3;
}

/* Returns the greatest number of items of needy values for which all of them
 * take about `size_max` bytes: the rarest are served first. */
static size_t
choose_needy(const struct order_column *column, uint32_t row_count,
             uint64_t size_max)
{
    size_t needy_max = column->count;
    uint64_t count;

    do {
        count = 0;
        for (size_t i = 0; i < column->repeated_count; i++)
            count += column->repeated[i].is_needy &&
                             column->repeated[i].count <= needy_max
                         ? column->repeated[i].count
                         : 0;
        if (count * bits_of_item(row_count) / 8 <= size_max)
            return needy_max;
        needy_max -= needy_max / 8 + 1;
    } while (needy_max > 0);
    return 0;
}

/* --------------------------------------------------------------- groups --- */

/* Returns where the group ends that begins with item `at`: before a value with
 * which another group is full, so that a range that begins there does not read
 * this one. */
static size_t
group_end(const struct divided *divided, size_t at)
{
    const struct order_item *items = divided->grouped;
    const size_t left = divided->grouped_count - at;
    const size_t near = at < left ? at : left;
    const size_t end = at + order_group_items(near);

    for (size_t i = end; i > at; i--) {
        if (i == divided->grouped_count || items[i - 1].rank != items[i].rank)
            return i;
    }
    return end;
}

/* Sorts the rows of a cell. With qsort this was a thirtieth of a load. */
static void
sort_rows(uint32_t *rows, size_t count)
{
    for (size_t i = 1; i < count; i++) {
        const uint32_t row = rows[i];
        size_t at = i;

        for (; at > 0 && rows[at - 1] > row; at--)
            rows[at] = rows[at - 1];
        rows[at] = row;
    }
}

/* Sets the rows of the cells, each sorted. Returns the sum of the greatest. */
static uint32_t
sort_cells(const struct order_item *items, size_t count, uint32_t *rows)
{
    uint32_t sum = 0;

    for (size_t i = 0; i < count; i++)
        rows[i] = order_row(&items[i]);
    for (size_t at = 0; at < count; at += ORDER_CELL) {
        const size_t left = count - at;
        const size_t size = left < ORDER_CELL ? left : ORDER_CELL;

        sort_rows(rows + at, size);
        sum += rows[at + size - 1];
    }
    return sum;
}

/* Writes where the cells begin. */
static void
put_fractions(const struct order_item *items, size_t count,
              const struct order_bounds *bounds, struct bit_writer *bits)
{
    const unsigned last = order_fraction(bounds, items[count - 1].rank);
    const unsigned rice =
        bits_rice_parameter(last, (uint32_t)order_cell_count(count));
    unsigned before = 0;

    bit_put(bits, last, ORDER_FRACTION_BITS);
    for (size_t at = ORDER_CELL; at < count; at += ORDER_CELL) {
        const unsigned fraction = order_fraction(bounds, items[at].rank);

        bit_put_rice(bits, fraction - before, rice);
        before = fraction;
    }
}

/* Writes the group of these items. */
static enum colander_code
put_group(const struct order_item *items, size_t count,
          const struct order_bounds *bounds, struct order_groups *groups,
          struct colander_error *err)
{
    const size_t cell_count = order_cell_count(count);
    struct bit_writer *bits = &groups->bits;
    uint32_t rows[ORDER_GROUP];
    enum colander_code code = array_reserve(&groups->begins, groups->count,
                                            &groups->capacity, 1, err);
    unsigned rice;

    if (code == COLANDER_OK)
        code = bit_writer_reserve(bits, GROUP_BYTES_MAX, err);
    if (code != COLANDER_OK)
        return code;
    rice = bits_rice_parameter(sort_cells(items, count, rows), (uint32_t)count);
    groups->begins[groups->count++] = (uint32_t)bits->bytes.size;
    bit_put(bits, count - 1, ORDER_ITEMS_BITS);
    bit_put(bits, rice, ORDER_RICE_BITS);
    if (cell_count > 1)
        put_fractions(items, count, bounds, bits);
    for (size_t i = 0; i < count; i++)
        bit_put_rice(bits, rows[i] - (i % ORDER_CELL == 0 ? 0 : rows[i - 1]),
                     rice);
    bit_put_padding(bits);
    return COLANDER_OK;
}

static enum colander_code
put_groups(const struct order_column *column, const struct divided *divided,
           struct order_groups *groups, struct colander_error *err)
{
    const struct order_item *items = divided->grouped;
    const size_t count = divided->grouped_count;
    const uint64_t known = ~UINT64_C(0) << order_shift(column->width);
    enum colander_code code = COLANDER_OK;
    size_t end;

    for (size_t at = 0; at < count && code == COLANDER_OK; at = end) {
        struct order_bounds bounds = {items[at].rank & known, known,
                                      column->width};

        end = group_end(divided, at);
        if (end < count)
            bounds.next = items[end].rank & known;
        code = put_group(items + at, end - at, &bounds, groups, err);
    }
    return code;
}

enum colander_code
order_groups_put(const struct order_groups *groups,
                 const struct order_sink *sink, struct colander_error *err)
{
    struct colander_buffer block = COLANDER_BUFFER_EMPTY;
    enum colander_code code = COLANDER_OK;
    size_t end;

    for (size_t first = 0; first < groups->count && code == COLANDER_OK;
         first = end) {
        const uint32_t begin = groups->begins[first];
        uint32_t size = 0;
        size_t head;

        for (end = first; end < groups->count && size < GROUP_BLOCK_SIZE;)
            size = (++end < groups->count ? groups->begins[end]
                                          : (uint32_t)groups->bits.bytes.size) -
                   begin;
        head = 2 * (1 + end - first);
        colander_buffer_clear(&block);
        code = colander_buffer_reserve(&block, head + size, err);
        if (code != COLANDER_OK)
            break;
        bytes_put_le16(block.data, (uint16_t)(end - first));
        for (size_t i = first; i < end; i++)
            bytes_put_le16(block.data + 2 * (1 + i - first),
                           (uint16_t)(head + groups->begins[i] - begin));
        memcpy(block.data + head, groups->bits.bytes.data + begin, size);
        block.size = head + size;
        code = sink->block(sink->context, colander_buffer_slice(&block),
                           ORDER_GROUP_PLACE + (uint32_t)first, err);
    }
    colander_buffer_release(&block);
    return code;
}

/* -------------------------------------------------------------- writing --- */

/* How many pairs of neighbouring steps differ first in each of their bytes. */
struct widths {
    size_t counts[ORDER_WIDTH_MAX + 1];
    size_t count;
    uint64_t last;
};

static void
add_step(struct widths *widths, uint64_t step)
{
    if (widths->count++ > 0 && step != widths->last)
        widths->counts[__builtin_clzll(step ^ widths->last) / 8 + 1]++;
    widths->last = step;
}

/* Returns the least width that keeps all but `lost_max` neighbours apart. */
static unsigned
width_for(const struct widths *widths, size_t lost_max)
{
    unsigned width = ORDER_WIDTH_MAX;
    size_t lost = 0;

    while (width > 1 && lost + widths->counts[width] <= lost_max)
        lost += widths->counts[width--];
    return width;
}

/* Sets the width of the column. Returns how many groups there will be. */
static uint32_t
choose_width(struct order_column *column, size_t needy_max,
             const struct divided *divided)
{
    struct widths of_values = {.count = 0};
    struct widths of_groups = {.count = 0};
    unsigned other;

    for (size_t i = 0; i < column->repeated_count; i++) {
        if (is_listed(&column->repeated[i], needy_max))
            add_step(&of_values, column->items[column->repeated[i].begin].rank);
    }
    for (size_t i = 0; i < divided->grouped_count; i = group_end(divided, i))
        add_step(&of_groups, divided->grouped[i].rank);
    column->width = width_for(&of_values, 0);
    other = width_for(&of_groups, of_groups.count / 64);
    if (other > column->width)
        column->width = other;
    return (uint32_t)of_groups.count;
}

static void
put_step(struct order_column *column, uint64_t step)
{
    bytes_put_le(column->bytes.data + column->bytes.size,
                 order_cut(step, column->width), column->width);
    column->bytes.size += column->width;
}

static enum colander_code
put_lists(struct order_column *column, size_t needy_max,
          const struct divided *divided, uint32_t group_count,
          uint32_t first_group, struct colander_error *err)
{
    const uint32_t counts[4] = {(uint32_t)divided->grouped_count,
                                divided->listed_count, group_count,
                                first_group};
    const size_t size =
        ((size_t)divided->listed_count + group_count) * column->width +
        (size_t)divided->listed_count * ORDER_HASH_SIZE;
    enum colander_code code = order_column_put_head(column, counts, size, err);

    if (code != COLANDER_OK)
        return code;
    for (size_t i = 0; i < column->repeated_count; i++) {
        if (is_listed(&column->repeated[i], needy_max))
            put_step(column, column->items[column->repeated[i].begin].rank);
    }
    for (size_t i = 0; i < column->repeated_count; i++) {
        if (!is_listed(&column->repeated[i], needy_max))
            continue;
        bytes_put_le(column->bytes.data + column->bytes.size,
                     hash_of(&column->items[column->repeated[i].begin]),
                     ORDER_HASH_SIZE);
        column->bytes.size += ORDER_HASH_SIZE;
    }
    for (size_t i = 0; i < divided->grouped_count; i = group_end(divided, i))
        put_step(column, divided->grouped[i].rank);
    return COLANDER_OK;
}

/* Codes the lists. Sets *size to what they take of the budget. */
static enum colander_code
code_lists(struct order_column *column, struct order_groups *groups,
           size_t needy_max, uint64_t *size, struct colander_error *err)
{
    struct divided divided = {.grouped = groups->spare};
    const size_t size_before = groups->bits.bytes.size;
    const uint32_t first_group = (uint32_t)groups->count;
    const uint64_t for_free = column->count / REPEATED_FREE;
    enum colander_code code;
    uint32_t group_count;

    divide(column, needy_max, &divided);
    group_count = choose_width(column, needy_max, &divided);
    colander_buffer_clear(&column->bytes);
    code =
        put_lists(column, needy_max, &divided, group_count, first_group, err);
    if (code == COLANDER_OK)
        code = put_groups(column, &divided, groups, err);
    *size = groups->bits.bytes.size - size_before +
            (uint64_t)group_count * (column->width + 2);
    if (divided.listed_count > for_free)
        *size += (divided.listed_count - for_free) *
                 (column->width + ORDER_HASH_SIZE);
    return code;
}

enum colander_code
order_lists_code(struct order_column *column, struct order_groups *groups,
                 uint64_t size_max, uint64_t *size, bool *fits,
                 struct colander_error *err)
{
    const size_t bytes_before = groups->bits.bytes.size;
    const size_t count_before = groups->count;
    const size_t needy_max = choose_needy(column, groups->row_count, size_max);
    enum colander_code code = code_lists(column, groups, needy_max, size, err);

    if (column->single_count == 0) { /* about as many bytes as chosen */
        *size = *size < size_max ? *size : size_max;
    } else if (code == COLANDER_OK && *size > size_max && needy_max > 0) {
        groups->bits.bytes.size = bytes_before;
        groups->count = count_before;
        code = code_lists(column, groups, 0, size, err);
    }
    *fits = *size <= size_max;
    if (*fits)
        return code;
    groups->bits.bytes.size = bytes_before;
    groups->count = count_before;
    colander_buffer_clear(&column->bytes);
    return code;
}
