/*
 * Locators: find the rows of a part that may hold a value, by its hash.
 *
 * An *entry* says that row `row` has a value of hash `hash` in a column of tag
 * `tag`. A locator keeps the first `hash_bits` bits of every hash, and for each
 * (hash, tag) a list of rows in the shortest of these forms:
 *     gaps between units of `fine` rows
 *     if more than one of LOCATOR_COMMON fine units has it: gaps between coarse
 *     units, or a bitmap of them
 *     if nearly all coarse units have one: only that fact (*everywhere*)
 * With `fine` 1 a value leads to its exact rows, unless these are that many.
 *
 * Entries form groups by the first `group_bits` bits of their hash, and groups
 * form blocks. A lookup reads one block and decodes one group. All hashes of a
 * block can be visited, so a presence can be built from a locator.
 *
 * Life:   locator_build, once, from sorted entries; then locator_find in the
 *         block that holds the group of the hash
 * Errors: CORRUPT for a block that locator_build cannot have made; no memory
 *         outside the block is read before that is noticed
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
#define LOCATOR_TAG_ANY LOCATOR_TAGS /* searches any column */
#define LOCATOR_GROUP_BITS_MAX 28
#define LOCATOR_SHORT_MAX 128         /* units of a short list */
#define LOCATOR_BLOCK_SIZE (4u << 10) /* a block ends after this size */

/* The row of an entry that marks omitted rows: they share a coarse unit with a
 * row that was not omitted, so the list must be one of coarse units. */
#define LOCATOR_ROWS_OMITTED LOCATOR_ROWS_MAX

/* Packs an entry into a word. Sorting words sorts entries. */
static inline uint64_t
locator_entry(uint64_t value_hash, unsigned tag, uint32_t row)
{
    return value_hash >> (64 - LOCATOR_HASH_BITS) << (64 - LOCATOR_HASH_BITS) |
           (uint64_t)tag << LOCATOR_ROW_BITS | row;
}

/* Describes a locator's bytes. Stored in the filter's directory. */
struct locator_shape {
    uint32_t row_count; /* 1 to LOCATOR_ROWS_MAX */
    uint32_t fine;      /* rows in a fine unit, a power of two */
    uint32_t coarse;    /* rows in a coarse unit, a multiple of it */
    uint8_t hash_bits;  /* bits kept of each hash: group_bits, or 1, to 40 */
    uint8_t group_bits; /* 0 to LOCATOR_GROUP_BITS_MAX */
};

/* Sets group_bits for `hash_count` distinct hashes, so that a group has 8 to 16
 * of them (fewer if there are fewer). Raises hash_bits to group_bits if
 * necessary. */
void locator_shape_fit(struct locator_shape *shape, uint64_t hash_count);

/* Returns whether the members are within their limits. Ask this about a shape
 * that was read from a file. */
bool locator_shape_is_sound(const struct locator_shape *shape);

/* Returns the group of `value_hash` (64 bits, from colander_value_hash). */
static inline uint32_t
locator_group(const struct locator_shape *shape, uint64_t value_hash)
{
    return shape->group_bits == 0
               ? 0
               : (uint32_t)(value_hash >> (64 - shape->group_bits));
}

/* Takes a finished block that begins with group `first_group`. The block is
 * borrowed. */
typedef enum colander_code locator_sink(void *context,
                                        struct colander_slice block,
                                        uint32_t first_group,
                                        struct colander_error *err);

/* Codes `entries` and passes the blocks to `sink` in order; returns its
 * failure. Entries are ascending and may repeat. Of a hash, only the first
 * hash_bits bits may be set. Rows are below row_count, or LOCATOR_ROWS_OMITTED
 * after another row. The first block begins with group 0, and blocks skip no
 * group. Requires a sound `shape`. */
COLANDER_CHECKED enum colander_code
locator_build(const struct locator_shape *shape, const uint64_t *entries,
              size_t count, locator_sink *sink, void *context,
              struct colander_error *err);

/*
 * The result of lookups. `rows` is exact with `fine` 1, except for hashes that
 * agree in hash_bits, for *everywhere* (all rows) and for omitted rows (fewer).
 * For TAG_ANY it is the sum over the tags.
 */
struct locator_answer {
    uint64_t rows;  /* approximate rows that hold the value */
    uint64_t units; /* units (fine or coarse) that may hold it */
};

/* Looks up `value_hash` in the block that begins with `first_group`. Adds the
 * rows that may hold it in a column of `tag`, or LOCATOR_TAG_ANY, to `ranges`
 * (NULL: only counts); rows are below shape->row_count. Those of a tag are in
 * order; see row_ranges_add. Adds to `answer`. On failure the contents of both
 * are undefined. */
COLANDER_CHECKED enum colander_code
locator_find(const struct locator_shape *shape, struct colander_slice block,
             uint32_t first_group, uint64_t value_hash, unsigned tag,
             struct row_ranges *ranges, struct locator_answer *answer,
             struct colander_error *err);

/* Passes every distinct hash of the block, cut to hash_bits at the top of the
 * word, to `visit`, ascending. */
COLANDER_CHECKED enum colander_code
locator_hashes(const struct locator_shape *shape, struct colander_slice block,
               uint32_t first_group,
               void (*visit)(void *context, uint64_t hash), void *context,
               struct colander_error *err);

/* ----------------------------------- for locator_build and locator_find --- */

/* A list consists of coarse units if more than one of this many fine units
 * holds the value. */
#define LOCATOR_COMMON 16

/* Values in place of a length, for lists that are stored after the values and
 * not among them. */
#define LOCATOR_LONG (LOCATOR_SHORT_MAX + 1)
#define LOCATOR_EVERYWHERE (LOCATOR_SHORT_MAX + 2)

/* bytes of a number in the head of a block: a count of groups, or an offset */
#define LOCATOR_NUMBER_SIZE 2

/* Returns how many units of `unit_rows` rows cover all rows. */
static inline uint32_t
locator_units(const struct locator_shape *shape, uint32_t unit_rows)
{
    return (shape->row_count - 1) / unit_rows + 1;
}

/* Returns the bits of a hash that its group does not determine. */
static inline unsigned
locator_remainder_bits(const struct locator_shape *shape)
{
    return (unsigned)shape->hash_bits - shape->group_bits;
}

/* Returns the Rice parameter for the gaps between the 8 to 16 hashes of a
 * group. The unary part of a gap is then below 16. */
static inline unsigned
locator_gap_parameter(const struct locator_shape *shape)
{
    unsigned bits = locator_remainder_bits(shape);

    return bits > 4 ? bits - 4 : 0;
}

#endif
