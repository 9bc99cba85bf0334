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

/* A block of columns: ORDER_MARK and whether columns are missing u8, columns
 * u16; then the directory: id u64, offset in the block u32, ascending. */
#define ORDER_MARK 2 /* blocks of earlier versions have none */
#define ORDER_HEAD_SIZE 3
#define ORDER_ENTRY_SIZE 12

/* Width, grain and ORDER_HAS_ZEROS u8, size of the beginning u8, items u32,
 * values u32, groups u32, first group u32, least rank u64, greatest u64; then
 * the beginning, the values, and the groups. */
#define ORDER_COLUMN_SIZE 34
#define ORDER_HAS_ZEROS 0x80               /* there are texts with zero bytes */
#define ORDER_IS_CODED (UINT32_C(1) << 31) /* in the number of items */
#define ORDER_CODE_REFUSED 1 /* of width 0 instead of the grain: why; else 0 */
#define ORDER_CODE_NO_BUDGET 2
#define ORDER_HASH_SIZE 5 /* of LOCATOR_HASH_BITS */
#define ORDER_COUNT_SIZE 2
#define ORDER_COUNT_MAX UINT16_MAX /* items of a group; of a value, or more */
#define ORDER_WIDTH_MAX 8          /* bytes of a step */
#define ORDER_BEGINNING_MAX 255

/* A block of groups: count u16, where each begins u16; then the groups. Each
 * begins at a whole byte: its kind; of RUNS their number, and of each the
 * distance from the end of the one before, and its rows, in gamma; otherwise
 * the cuts of CUTS, ORDER_PIECE_BITS bits each, the first row, in gamma, the
 * Rice parameter in ORDER_RICE_BITS, and of each item the distance of its row
 * from the one before, in rice, and, of VALUES and CUTS, the fraction. */
#define ORDER_KIND_BITS 2
#define ORDER_RICE_BITS 5
#define ORDER_GRAIN_MAX 5 /* bits of a fraction */
#define ORDER_GRAIN_SHIFT 4

#define ORDER_RUNS_MAX (ORDER_GROUP / 8)

enum order_group_kind {
    ORDER_GROUP_VALUES,
    ORDER_GROUP_RUNS,  /* several values, in few runs of rows: all are read */
    ORDER_GROUP_VALUE, /* of one place */
    ORDER_GROUP_CUTS,  /* as VALUES, with cuts */
};

/* Returns the id of a column: the types of a path lie side by side. */
static inline uint64_t
order_id(uint64_t path_hash, enum colander_type type)
{
    return (path_hash & ~UINT64_C(15)) | (uint64_t)type;
}

/* Texts have their bytes in ranks, or, coded, symbols: those of texts in lower
 * case are shorter. Symbols keep the order, and none begins as another one. */
#define ORDER_SYMBOL_MAX 14 /* bits */
#define ORDER_SYMBOLS 12    /* that a rank may have, at most */
#define ORDER_WORD_BITS 56  /* of a rank that are of bytes or symbols */

/* Returns how many bits symbols of the first bytes of a text, at most
 * ORDER_SYMBOLS, take. */
unsigned order_symbol_bits(struct colander_slice text);

/* Returns the rank of a text, but for what its column begins with. `fill`
 * repeats after the bytes without end. Sets *bits, unless it is NULL, to those
 * of the bytes, or any number above ORDER_WORD_BITS. */
uint64_t order_word(struct colander_slice bytes, uint8_t fill, bool is_coded,
                    unsigned *bits);

/* Replaces `text` by bytes that are not above any text whose rank behind the
 * beginning is `rank` or more; `above`: that are above any whose rank is less.
 * Returns how many they are, or SIZE_MAX if there are none. */
size_t order_text_of_word(uint64_t rank, bool above, bool is_coded,
                          uint8_t text[ORDER_SYMBOLS]);

/* Returns the rank of a value in a column whose texts have this beginning and
 * maybe zero bytes. */
uint64_t order_rank(const struct order_value *value,
                    struct colander_slice beginning, bool has_zeros,
                    bool is_coded);

/* Sets *value to the least or, ascending, the greatest value of this rank.
 * `text` is that of a string or binary, borrowed. Returns false for a type that
 * cannot tell. */
bool order_value_of_rank(enum colander_type type, uint64_t rank,
                         bool is_descending, struct colander_slice text,
                         struct colander_value *value);

/* ------------------------------------------------------------- places --- */

/* Places are ranks without the upper bytes that all those of a column have in
 * common, as 64 bits. Steps are their upper bytes. */
static inline unsigned
order_skip(uint64_t low, uint64_t high)
{
    return low == high ? 7 : (unsigned)__builtin_clzll(low ^ high) / 8;
}

/* Returns the bits of places that count: numbers are sorted faster by fewer. */
static inline uint64_t
order_mask(enum colander_type type)
{
    return type == COLANDER_INTEGER ? ~UINT64_C(0) << 16 : ~UINT64_C(0);
}

static inline uint64_t
order_place_of(uint64_t rank, unsigned skip, enum colander_type type)
{
    return rank << 8 * skip & order_mask(type);
}

static inline unsigned
order_shift(unsigned width)
{
    return 64 - 8 * width;
}

/* The places of a group: from that of its first step to about that of the next
 * one. They are divided evenly into fractions. Where values are not spread
 * evenly, cuts divide them, so that about as many items lie between each two;
 * if fractions have more than ORDER_CUT_GRAIN bits, what lies between two cuts
 * is divided evenly. */
#define ORDER_CUT_GRAIN 3
#define ORDER_CUTS_MAX ((1u << ORDER_CUT_GRAIN) - 1)
#define ORDER_PIECE_BITS 8 /* a cut is the beginning of one of 2^8 pieces */

struct order_bounds {
    uint64_t begin;
    uint64_t length; /* to the next step */
    uint64_t last;   /* from the first to the last place of a step */
    unsigned grain;
    unsigned cut_count; /* 0: there are none */
    uint8_t cuts[ORDER_CUTS_MAX];
};

static inline struct order_bounds
order_bounds_of(uint64_t begin, uint64_t end, unsigned width, unsigned grain)
{
    return (struct order_bounds){
        .begin = begin,
        .length = begin < end ? end - begin : 0,
        .last = bits_mask(order_shift(width)),
        .grain = grain,
    };
}

/* Returns how many cuts fractions of this many bits have. */
static inline unsigned
order_cut_count(unsigned grain)
{
    return grain < ORDER_CUT_GRAIN ? (1u << grain) - 1 : ORDER_CUTS_MAX;
}

/* Returns the length of 2^bits equal pieces of the group. */
static inline uint64_t
order_piece_length(const struct order_bounds *bounds, unsigned bits)
{
    return (bounds->length >> bits) + (bounds->last >> bits) + 1;
}

/* Returns which of 2^bits pieces of this length a place is in, by its distance
 * from the first one. */
static inline uint64_t
order_piece(uint64_t distance, uint64_t length, unsigned bits)
{
    const uint64_t piece = distance / length;

    return piece < bits_mask(bits) ? piece : bits_mask(bits);
}

/* Returns how far a place lies in the group. */
static inline uint64_t
order_fraction(const struct order_bounds *bounds, uint64_t place)
{
    const uint64_t distance = place < bounds->begin ? 0 : place - bounds->begin;
    const unsigned bits =
        bounds->cut_count == 0 ? bounds->grain : ORDER_PIECE_BITS;
    const uint64_t length = order_piece_length(bounds, bits);
    const uint64_t piece = order_piece(distance, length, bits);
    unsigned finer;
    unsigned cut = 0;
    uint64_t from;
    uint64_t end;

    if (bounds->cut_count == 0)
        return piece;
    while (cut < bounds->cut_count && bounds->cuts[cut] <= piece)
        cut++;
    if (bounds->grain <= ORDER_CUT_GRAIN)
        return cut;
    finer = bounds->grain - ORDER_CUT_GRAIN;
    from = cut == 0 ? 0 : bounds->cuts[cut - 1];
    end = cut == bounds->cut_count ? UINT64_C(1) << ORDER_PIECE_BITS
                                   : bounds->cuts[cut];
    return (uint64_t)cut << finer |
           order_piece(distance - from * length,
                       ((end - from) * length >> finer) + 1, finer);
}

/* Returns how many items a group has that has `near` of `count` items between
 * it and the nearer end of the column. In a column of several groups, those at
 * both ends have one, so that the first values are known; in a long one some
 * have, and the next ones grow towards the middle. */
#define ORDER_ENDS 16
#define ORDER_GROUP_SHARE 8

static inline size_t
order_group_items(size_t near, size_t count)
{
    const bool is_long = count >= ORDER_GROUP_SHARE * ORDER_GROUP;
    const size_t size = near / ORDER_GROUP_SHARE;

    if (count <= ORDER_GROUP)
        return ORDER_GROUP;
    if (near <= (is_long ? ORDER_ENDS : 1))
        return 1;
    return is_long && size < ORDER_GROUP ? size : ORDER_GROUP;
}

/* ------------------------------------------------------------- reading --- */

/* Finds a column in the directory of the block; *is_there: it has one. */
COLANDER_CHECKED enum colander_code
order_column_find(struct colander_slice block, uint64_t id,
                  struct order_column_view *column, bool *is_there,
                  struct colander_error *err);

/* An entry is one of a value or group: its step, its items, the hash. */
static inline uint64_t
order_entry_step(const struct order_entries *entries, size_t i)
{
    return bytes_get_le(entries->data + i * entries->size, entries->width);
}

static inline uint32_t
order_entry_count(const struct order_entries *entries, size_t i)
{
    return bytes_get_le16(entries->data + i * entries->size + entries->width);
}

/* ------------------------------------------------------------- building --- */

/* With this many rows a value takes fewer bytes in the list than in groups. */
#define ORDER_REPEATED_MIN 8

/* So few values are read faster than they are searched for. */
#define ORDER_FEW_VALUES 64

/* A value of a row. */
struct order_item {
    uint64_t rank;  /* later its place */
    uint64_t entry; /* of the locator: its row and hash */
};

/* The first texts of a column, which decide whether symbols take clearly less
 * bits than bytes. */
#define ORDER_SAMPLE 16
#define ORDER_SAMPLE_BITS 7 /* of a symbol, at most */

struct order_sample {
    unsigned bits; /* of symbols, */
    unsigned size; /* of these bytes of the texts */
    uint8_t tail_sizes[ORDER_SAMPLE];
    uint8_t tails[ORDER_SAMPLE][ORDER_SYMBOLS]; /* what is in ranks */
};

/* A value that many rows have: items side by side, once these are sorted. */
struct order_repeated {
    uint32_t begin;
    uint32_t count;
    bool is_needy; /* the locator leads to too many other rows */
};

/* A value of the list, or a group. */
struct order_part {
    uint64_t step;
    uint64_t hash;
    uint32_t count; /* items */
    uint32_t size;  /* bytes of a group */
};

struct order_parts {
    struct order_part *parts;
    size_t count;
    size_t capacity;
};

/* A column while its part is built. */
struct order_column {
    uint64_t id;
    enum colander_type type;
    enum order_wish wish;
    bool is_lost; /* memory was short, and values are missing */
    struct order_item *items;
    size_t count;
    size_t capacity;
    uint64_t text_size; /* of all texts */
    bool has_beginning;
    bool has_zeros; /* some text has */
    bool is_coded;  /* ranks have symbols */
    struct order_sample sample;
    uint8_t beginning_size;
    uint8_t beginning[ORDER_BEGINNING_MAX]; /* of nearly all texts */

    /* What it becomes. */
    uint64_t low;   /* the least rank, */
    uint64_t high;  /* and the greatest */
    unsigned width; /* 0: only these are known */
    unsigned grain; /* bits of a fraction, or an ORDER_CODE */
    bool is_finer;  /* it has room for one more */
    uint32_t first_group;
    struct order_parts values;
    struct order_parts groups;
    size_t grouped_count;   /* items in groups, */
    size_t fraction_count;  /* of these, with a fraction */
    struct bit_writer bits; /* of these */

    struct order_repeated *repeated;
    size_t repeated_count;
    size_t repeated_capacity;
};

/* Sorts the items by their places, with `spare` for as many, and finds the
 * values that are repeated. */
COLANDER_CHECKED enum colander_code
order_column_sort(struct order_column *column, struct order_item *spare,
                  const struct order_sink *sink, struct colander_error *err);

/* Codes the column, with fractions of `grain` bits, and with needy values of up
 * to `needy_max` items in groups; those of more are in the list. */
COLANDER_CHECKED enum colander_code
order_column_code(struct order_column *column, struct order_item *spare,
                  size_t needy_max, unsigned grain, struct colander_error *err);

/* Forgets the code: the values may be in any row of the column. */
void order_column_forget(struct order_column *column);

/* Returns how many bytes the code has for values and groups. */
uint64_t order_column_size(const struct order_column *column);

void order_column_release(struct order_column *column);

/* Passes the blocks of columns, ascending by their ids, to the sink. */
COLANDER_CHECKED enum colander_code
order_blocks_put(struct order_column *const *columns, size_t count, bool is_cut,
                 const struct order_sink *sink, struct colander_error *err);

static inline uint32_t
order_row(const struct order_item *item)
{
    return (uint32_t)(item->entry & ((UINT64_C(1) << LOCATOR_ROW_BITS) - 1));
}

#endif
