/*
 * Locators: from the hash of a value to the rows of a part that may hold it.
 *
 * An *entry* says that row `row` holds a value of hash `hash` in a column of
 * tag `tag`. A locator keeps of every hash the first `hash_bits` bits, and for
 * each (hash, tag) a list of rows, coded as short as can be:
 *     units of `fine` rows: which, as gaps
 *     where there are several in a unit of `coarse` rows: which of those, as
 *     gaps or as a bitmap
 *     nearly all coarse units: nothing but that (*everywhere*)
 * So a value leads to its very rows (with fine = 1), unless they lie close
 * together or are so many that reading all between them costs no more.
 *
 * Entries lie in groups, by the first `group_bits` bits of their hash, and
 * groups in blocks: a lookup reads one block and decodes one group. All hashes
 * of a block can be walked, so that a presence can be made from a locator.
 *
 * Life:   locator_build, once, from sorted entries; then locator_find in the
 *         block that holds the group of the hash
 * Errors: CORRUPT for a block that locator_build never made, found before
 *         memory is touched that is not its own
 * Bytes:  filters/FORMAT.md, "Locator blocks"
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef COLANDER_FILTERS_LOCATOR_H
#define COLANDER_FILTERS_LOCATOR_H

#include "filters/row_ranges.h"

#define LOCATOR_ROW_BITS 20
#define LOCATOR_ROWS_MAX                                                       \
    ((UINT32_C(1) << LOCATOR_ROW_BITS) - 1)                /* of a part        \
                                                            */
#define LOCATOR_UNIT_MAX (UINT32_C(1) << LOCATOR_ROW_BITS) /* rows */
#define LOCATOR_HASH_BITS 40                               /* of an entry */
#define LOCATOR_TAG_BITS 4
#define LOCATOR_TAGS (1u << LOCATOR_TAG_BITS)
#define LOCATOR_TAG_ANY LOCATOR_TAGS /* asks for a value in any column */
#define LOCATOR_GROUP_BITS_MAX 28
#define LOCATOR_SHORT_MAX 128         /* units of a short list */
#define LOCATOR_BLOCK_SIZE (4u << 10) /* where a block is ended */

/* As the row of an entry: rows were left out that share a coarse unit with one
 * that was not, so that the list must be one of coarse units. */
#define LOCATOR_ROW_LEFT_OUT LOCATOR_ROWS_MAX

/* An entry in one word, so that sorting words sorts entries. */
static inline uint64_t
locator_entry(uint64_t value_hash, unsigned tag, uint32_t row)
{
    return value_hash >> (64 - LOCATOR_HASH_BITS) << (64 - LOCATOR_HASH_BITS) |
           (uint64_t)tag << LOCATOR_ROW_BITS | row;
}

/* What a locator's bytes mean; kept in the filter's directory. */
struct locator_shape {
    uint32_t row_count; /* 1 to LOCATOR_ROWS_MAX */
    uint32_t fine;      /* rows in a unit, a power of two */
    uint32_t coarse;    /* in one of lists of many rows, a multiple of it */
    uint8_t hash_bits;  /* kept of each hash: group_bits, or 1, to 40 */
    uint8_t group_bits; /* 0 to LOCATOR_GROUP_BITS_MAX */
};

/* The shape for `hash_count` distinct hashes: fills group_bits, so that a group
 * has 8 to 16 of them (fewer when there are fewer), and raises hash_bits where
 * it would be below. */
void locator_shape_fit(struct locator_shape *shape, uint64_t hash_count);

/* Whether a shape read from somewhere is one, as said at its members. */
bool locator_shape_is_sound(const struct locator_shape *shape);

/* The group that holds `value_hash` (64 bits, as of colander_value_hash). */
static inline uint32_t
locator_group(const struct locator_shape *shape, uint64_t value_hash)
{
    return shape->group_bits == 0
               ? 0
               : (uint32_t)(value_hash >> (64 - shape->group_bits));
}

/* Takes a finished block that begins with group `first_group`; borrowed. */
typedef enum colander_code locator_sink(void *context,
                                        struct colander_slice block,
                                        uint32_t first_group,
                                        struct colander_error *err);

/*
 * Codes `entries` (ascending; doubles are allowed and count once; rows below
 * row_count, or behind one of those LOCATOR_ROW_LEFT_OUT) and gives the blocks
 * in order to `sink`, whose failure it returns. The first block begins with
 * group 0, and no group is left out. `shape` is sound.
 */
COLANDER_CHECKED enum colander_code
locator_build(const struct locator_shape *shape, const uint64_t *entries,
              size_t count, locator_sink *sink, void *context,
              struct colander_error *err);

/* What a lookup found out. */
struct locator_answer {
    uint64_t rows;  /* about how many hold the value: as many with fine = 1,
                       but for hashes that agree in hash_bits, for *everywhere*
                       (all) and where rows were left out (fewer); of TAG_ANY,
                       the sum over the tags */
    uint64_t units; /* units (fine or coarse) that may hold one */
};

/*
 * Looks `value_hash` up in the block that begins with `first_group`, and adds
 * to `ranges` (NULL: only counts) the rows that may hold it, in a column of
 * `tag` or LOCATOR_TAG_ANY; rows below shape->row_count. `answer` is added to.
 * On failure what `ranges` and `answer` hold is not to be used.
 */
COLANDER_CHECKED enum colander_code
locator_find(const struct locator_shape *shape, struct colander_slice block,
             uint32_t first_group, uint64_t value_hash, unsigned tag,
             struct row_ranges *ranges, struct locator_answer *answer,
             struct colander_error *err);

/*
 * Gives every distinct hash of the block, cut to hash_bits and moved to the
 * top of the word, to `visit`, ascending.
 */
COLANDER_CHECKED enum colander_code
locator_hashes(const struct locator_shape *shape, struct colander_slice block,
               uint32_t first_group,
               void (*visit)(void *context, uint64_t hash), void *context,
               struct colander_error *err);

/* ----------------------------------- for locator_build and locator_find --- */

/* A list is one of coarse units when more fine ones lie in one of those, in the
 * mean, or when more than one of so many holds the value. */
#define LOCATOR_DENSE 2
#define LOCATOR_COMMON 256

/* What stands where a list's length stands, when it is none of a short list,
 * which lies among the values and not behind them. */
#define LOCATOR_LONG (LOCATOR_SHORT_MAX + 1)
#define LOCATOR_EVERYWHERE (LOCATOR_SHORT_MAX + 2)

/* Of the head of a block: the number of groups, or where one begins. */
#define LOCATOR_NUMBER_SIZE 2

/* Units of `unit_rows` rows that cover all rows. */
static inline uint32_t
locator_units(const struct locator_shape *shape, uint32_t unit_rows)
{
    return (shape->row_count - 1) / unit_rows + 1;
}

/* Bits of a hash that its group does not tell. */
static inline unsigned
locator_remainder_bits(const struct locator_shape *shape)
{
    return (unsigned)shape->hash_bits - shape->group_bits;
}

/* The rice parameter for the gaps of the 8 to 16 hashes of a group; then the
 * unary part of a gap is below 16. */
static inline unsigned
locator_gap_parameter(const struct locator_shape *shape)
{
    unsigned bits = locator_remainder_bits(shape);

    return bits > 4 ? bits - 4 : 0;
}

#endif
