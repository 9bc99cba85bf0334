/*
 * Order blocks: shared by writers and readers.
 *
 * Bytes: filters/FORMAT.md, "Order blocks"
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef COLANDER_FILTERS_ORDER_ORDER_CODE_H
#define COLANDER_FILTERS_ORDER_ORDER_CODE_H

#include "core/bytes.h"
#include "filters/bits.h"
#include "filters/order.h"

#include <assert.h>

/* A block of columns: whether columns are missing u8, columns u16; then the
 * directory: id u64, offset in the block u32, ascending. */
#define ORDER_HEAD_SIZE 3
#define ORDER_ENTRY_SIZE 12

/* Form and width u8, bits u8, size of the beginning u8, items u32, of these in
 * groups u32, values u32, groups u32, first group u32, least rank u64, greatest
 * u64, base u64; then the beginning and the lists. */
#define ORDER_COLUMN_SIZE 47

#define ORDER_HASH_SIZE 5 /* of LOCATOR_HASH_BITS */
#define ORDER_WIDTH_MAX 8 /* bytes of a step */
#define ORDER_BEGINNING_MAX 255

/* A block of groups: count u16, where each begins u16; then the groups. Each
 * begins at a whole byte: items - 1 in ORDER_ITEMS_BITS, the Rice parameter in
 * ORDER_RICE_BITS; if there are several cells, the fraction of the last item,
 * and the fractions at which all cells but the first begin, as distances from
 * the one before, of the first one from 0, in rice. Then of each cell the rows,
 * in the same way. */
#define ORDER_ITEMS_BITS 8
#define ORDER_RICE_BITS 5
#define ORDER_FRACTION_BITS 16
#define ORDER_CELLS ((ORDER_GROUP + ORDER_CELL - 1) / ORDER_CELL)

enum order_form { ORDER_FORM_ROWS, ORDER_FORM_RUNS, ORDER_FORM_LISTS };

/* ---------------------------------------------------------------- scale --- */

/* Returns the id of a column: the types of a path lie side by side. */
static inline uint64_t
order_id(uint64_t path_hash, enum colander_type type)
{
    return (path_hash & ~UINT64_C(15)) | (uint64_t)type;
}

/* The scale of a column: ranks from `base` on, 2^bits of them, as steps of 64
 * bits, of which those in `mask` count. */
struct order_scale {
    uint64_t base;
    uint64_t mask;
    unsigned bits; /* 1 to 64 */
};

/* Returns the bits of steps that count in a column of this type: numbers are
 * sorted faster by fewer. */
static inline uint64_t
order_mask(enum colander_type type)
{
    return type == COLANDER_STRING || type == COLANDER_BINARY
               ? ~UINT64_C(0)
               : ~UINT64_C(0) << 24;
}

/* Returns the step of a rank. Ranks outside of the scale get its ends. */
static inline uint64_t
order_step(const struct order_scale *scale, uint64_t rank)
{
    const uint64_t above = rank <= scale->base ? 0 : rank - scale->base;

    if (scale->bits < 64 && above >> scale->bits != 0)
        return scale->mask;
    return above << (64 - scale->bits) & scale->mask;
}

/* Returns how many bits lie below the upper `width` bytes of a step. */
static inline unsigned
order_shift(unsigned width)
{
    assert(width >= 1 && width <= ORDER_WIDTH_MAX);
    return 64 - 8 * width;
}

/* Returns the upper `width` bytes of a step. */
static inline uint64_t
order_cut(uint64_t step, unsigned width)
{
    return step >> order_shift(width);
}

/* Returns the step of `width` bytes at `i` of a list, with zeros below. */
static inline uint64_t
order_step_at(const uint8_t *steps, size_t i, unsigned width)
{
    return bytes_get_le(steps + i * width, width) << order_shift(width);
}

/* Steps of a group, of which only `width` bytes are known. */
struct order_bounds {
    uint64_t begin;
    uint64_t next; /* with which the next group begins */
    unsigned width;
};

/* Returns how far `step` lies in the group. */
static inline unsigned
order_fraction(const struct order_bounds *bounds, uint64_t step)
{
    const uint64_t unit = UINT64_C(1) << order_shift(bounds->width);
    const uint64_t length =
        ((bounds->next - bounds->begin) >> ORDER_FRACTION_BITS) +
        (unit >> ORDER_FRACTION_BITS) + 1;
    const uint64_t fraction =
        step < bounds->begin ? 0 : (step - bounds->begin) / length;
    const unsigned most = (1u << ORDER_FRACTION_BITS) - 1;

    return fraction > most ? most : (unsigned)fraction;
}

static inline size_t
order_cell_count(size_t items)
{
    return (items + ORDER_CELL - 1) / ORDER_CELL;
}

/* Returns the rank of a text, but for what its column begins with. `fill`
 * repeats after the bytes without end. */
#define ORDER_WORD_BYTES 7
uint64_t order_word(struct colander_slice bytes, uint8_t fill);

/* Returns the rank of a value in a column whose texts have this beginning. */
uint64_t order_rank(const struct order_value *value,
                    struct colander_slice beginning);

/* Sets *value to the least or, ascending, the greatest value of this rank.
 * `text` is that of a string or binary, borrowed. Returns false for a type that
 * cannot tell. */
bool order_value_of_rank(enum colander_type type, uint64_t rank,
                         bool is_descending, struct colander_slice text,
                         struct colander_value *value);

/* -------------------------------------------------------------- reading --- */

/* A column of a block, from which it borrows. */
struct order_column_view {
    enum order_form form;
    unsigned width;
    struct order_scale scale;
    uint64_t low;
    uint64_t high;
    uint32_t item_count;
    uint32_t grouped_count; /* items in groups */
    uint32_t value_count;   /* of the list */
    uint32_t group_count;
    uint32_t group_start;
    struct colander_slice beginning;
    const uint8_t *lists;  /* runs; or steps of values, hashes, and */
    const uint8_t *groups; /* their steps */
};

/* Finds a column in the directory of the block; *is_there: it has one. */
COLANDER_CHECKED enum colander_code
order_column_find(struct colander_slice block, uint32_t row_count, uint64_t id,
                  struct order_column_view *column, bool *is_there,
                  struct colander_error *err);

/* Returns how many items a group has that has `near` items between it and the
 * nearer end of the column. Groups at both ends have one, so that the first
 * values are known, and grow to the middle. */
#define ORDER_ENDS 16
#define ORDER_GROUP_SHARE 8

static inline size_t
order_group_items(uint64_t near)
{
    if (near <= ORDER_ENDS)
        return 1;
    return near >= ORDER_GROUP_SHARE * ORDER_GROUP
               ? ORDER_GROUP
               : (size_t)1 << bits_log2(near / ORDER_GROUP_SHARE);
}

/* ------------------------------------------------------------- building --- */

/* With this many rows a value takes fewer bytes in the list than in groups. */
#define ORDER_REPEATED_MIN 8

/* A value of a row. */
struct order_item {
    uint64_t rank;  /* later its step */
    uint64_t entry; /* of the locator: its row and hash */
};

/* A value that many rows have: items side by side, once these are sorted. */
struct order_repeated {
    uint32_t begin;
    uint32_t count;
    bool is_needy; /* the locator leads to too many other rows */
};

/* A column while its part is built. */
struct order_column {
    uint64_t id;
    enum colander_type type;
    bool is_lost; /* memory was short, and values are missing */
    struct order_item *items;
    size_t count;
    size_t capacity;
    uint64_t text_size;         /* of all texts */
    struct colander_buffer odd; /* texts that begin otherwise */
    size_t odd_count;
    bool has_beginning;
    uint8_t beginning_size;
    uint8_t beginning[ORDER_BEGINNING_MAX]; /* of nearly all texts */

    /* What it becomes. */
    uint64_t low;  /* the least rank, */
    uint64_t high; /* and the greatest */
    enum order_form form;
    unsigned width;
    struct colander_buffer bytes; /* its code */
    double waste; /* rows read by runs for a row that is wanted */
    struct order_scale scale;

    /* Of LISTS. */
    struct order_repeated *repeated;
    size_t repeated_count;
    size_t repeated_capacity;
    size_t single_count; /* items of values that are not repeated */
};

/* The groups of all columns of a part. */
struct order_groups {
    struct bit_writer bits;
    uint32_t *begins; /* in the bytes of `bits` */
    size_t count;
    size_t capacity;
    uint32_t row_count;       /* of the part */
    struct order_item *spare; /* for the items of any column */
};

/* Cuts the beginning if too many texts do not have it. */
void order_column_settle(struct order_column *column);

/* Chooses the form of the column: LISTS if it would be the best, whatever it
 * takes. */
COLANDER_CHECKED enum colander_code
order_column_measure(struct order_column *column, uint32_t row_count,
                     struct colander_error *err);

/* Returns the size of the code of runs. */
uint64_t order_runs_size(const struct order_column *column, uint32_t row_count);

/* Codes the head of the column, with room for lists of `size` bytes. */
COLANDER_CHECKED enum colander_code
order_column_put_head(struct order_column *column, const uint32_t counts[4],
                      size_t size, struct colander_error *err);

/* Sorts the items of LISTS by their steps, with `spare` for as many, and finds
 * the values that are repeated. */
COLANDER_CHECKED enum colander_code
order_lists_sort(struct order_column *column, struct order_item *spare,
                 const struct order_sink *sink, struct colander_error *err);

/* Codes LISTS with at most `size_max` bytes of groups. Sets *size to that of
 * the groups, or, if they do not fit, *fits to false. */
COLANDER_CHECKED enum colander_code
order_lists_code(struct order_column *column, struct order_groups *groups,
                 uint64_t size_max, uint64_t *size, bool *fits,
                 struct colander_error *err);

/* Passes the blocks of all groups to the sink. */
COLANDER_CHECKED enum colander_code
order_groups_put(const struct order_groups *groups,
                 const struct order_sink *sink, struct colander_error *err);

/* Returns how much the column needs lists: more if runs serve it badly, less if
 * it has long texts. */
double order_column_need(const struct order_column *column);

/* Codes the column and takes what it needs of *left bytes. If they are not
 * enough, its form is a worse one. */
COLANDER_CHECKED enum colander_code
order_column_code(struct order_column *column, struct order_groups *groups,
                  uint64_t *left, struct colander_error *err);

static inline uint32_t
order_run_count(uint32_t row_count)
{
    return (row_count + ORDER_RUN - 1) / ORDER_RUN;
}

static inline uint32_t
order_row(const struct order_item *item)
{
    return (uint32_t)(item->entry & ((UINT64_C(1) << LOCATOR_ROW_BITS) - 1));
}

#endif
