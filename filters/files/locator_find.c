/*
 * Reads locators: walks through one group from its beginning, value by value,
 * and skips what does not match. Only the answer takes memory.
 *
 * The bytes are not trusted. A bit reader never leaves the block, each value
 * must end inside its group before it is used, and units must be units of the
 * part.
 *
 * SPDX-License-Identifier: MIT
 */
#include "filters/locator.h"

#include "core/bytes.h"
#include "filters/bits.h"

#include <assert.h>

/* locator_build writes no gap with a unary part of this or more. */
#define GAP_UNARY_LIMIT 16

enum step {
    STEP_VALUE, /* a value was read */
    STEP_END,   /* no more values */
    STEP_BAD,   /* the bytes are damaged */
};

/* A walk through a group: its position, and the last value read. */
struct walk {
    const struct locator_shape *shape;
    struct bit_reader bits;  /* ends where the long lists not yet taken begin */
    unsigned gap_parameter;  /* for the gaps between hashes */
    uint64_t gap_mask;       /* of as many bits */
    uint32_t fine_units;     /* number of them in the part */
    unsigned unit_bits;      /* of a unit that is written alone, */
    uint64_t unit_mask;      /* with these bits set; */
    uint64_t unit_long;      /* from this one on there is one bit more */
    uint64_t remainder_last; /* highest possible one */

    uint64_t remainder; /* of the hash */
    uint64_t gap;       /* from the hash before; 0: the same hash */
    unsigned tag;
};

/* ---------------------------------------------------------------- walk --- */

static uint32_t
number_at(struct colander_slice block, size_t index)
{
    return bytes_get_le16(block.data + index * LOCATOR_NUMBER_SIZE);
}

/* Returns the number of groups; 0 if the head is incomplete. */
static uint32_t
group_count(struct colander_slice block)
{
    uint32_t count;

    if (block.size < LOCATOR_NUMBER_SIZE)
        return 0;
    count = number_at(block, 0);
    return (block.size - LOCATOR_NUMBER_SIZE) / LOCATOR_NUMBER_SIZE < count
               ? 0
               : count;
}

/* How long a unit is that bit_take_below reads. */
static void
set_unit(struct walk *walk)
{
    const unsigned width = bits_width_below(walk->fine_units);

    walk->unit_bits = width == 0 ? 0 : width - 1;
    walk->unit_mask = bits_mask(walk->unit_bits);
    walk->unit_long =
        width == 0 ? 1 : (UINT64_C(1) << width) - walk->fine_units;
}

/* Begins at group `index` of `count` in the block. */
static bool
walk_begin(struct walk *walk, const struct locator_shape *shape,
           struct colander_slice block, uint32_t index, uint32_t count)
{
    size_t start = number_at(block, 1 + (size_t)index);
    size_t end =
        index + 1 < count ? number_at(block, 2 + (size_t)index) : block.size;

    if (start < LOCATOR_NUMBER_SIZE * (1 + (size_t)count) || start > end ||
        end > block.size)
        return false;
    walk->shape = shape;
    walk->bits.data = block.data;
    walk->bits.size = block.size;
    walk->bits.at = (uint64_t)start * 8;
    walk->bits.end = (uint64_t)end * 8;
    walk->gap_parameter = locator_gap_parameter(shape);
    walk->gap_mask = bits_mask(walk->gap_parameter);
    walk->fine_units = locator_units(shape, shape->fine);
    set_unit(walk);
    walk->remainder_last = bits_mask(locator_remainder_bits(shape));
    walk->remainder = 0;
    return true;
}

/* Reads the hash and the tag of the next value. After the last one there are
 * less than 8 bits, all zero; a value has a one among its first 16. */
static inline enum step
walk_next(struct walk *walk)
{
    uint64_t left = walk->bits.end - walk->bits.at;
    uint64_t word;
    unsigned used;

    if (bit_overran(&walk->bits))
        return STEP_BAD;
    word = bit_peek(&walk->bits);
    used = (unsigned)__builtin_ctzll(word | UINT64_C(1) << GAP_UNARY_LIMIT);
    if (used == GAP_UNARY_LIMIT || used >= left)
        return left < 8 ? STEP_END : STEP_BAD;
    walk->gap = (uint64_t)used << walk->gap_parameter;
    used++;
    walk->gap |= word >> used & walk->gap_mask;
    used += walk->gap_parameter;
    walk->tag = word >> used & (LOCATOR_TAGS - 1);
    walk->bits.at += used + LOCATOR_TAG_BITS;
    walk->remainder += walk->gap;
    return walk->remainder <= walk->remainder_last ? STEP_VALUE : STEP_BAD;
}

/* Removes the next long list from the end of the group. It then begins where
 * the bits of the walk end. */
static bool
skip_long_list(struct bit_reader *bits)
{
    uint64_t size = (uint64_t)bit_take_gamma(bits) * 8;

    if (bit_overran(bits) || size > bits->end - bits->at)
        return false;
    bits->end -= size;
    return true;
}

/* Returns the Rice parameter of the `count` (2 or more) units that follow. Only
 * damaged bytes have one out of range; then the reader has overrun. */
static inline unsigned
take_parameter(struct bit_reader *bits, uint32_t limit, uint32_t count)
{
    unsigned even = bits_rice_parameter(limit, count);
    uint32_t less = bit_take_gamma(bits) - 1;

    if (less > even) {
        bit_spoil(bits);
        return 0;
    }
    return even - less;
}

/* Skips a list that is not a single unit. */
static bool
skip_list(struct walk *walk)
{
    struct bit_reader *bits = &walk->bits;
    uint32_t count = bit_take_gamma(bits);
    unsigned parameter;

    if (count == LOCATOR_LONG)
        return skip_long_list(bits);
    if (count >= LOCATOR_EVERYWHERE)
        return count == LOCATOR_EVERYWHERE;
    parameter = take_parameter(bits, walk->fine_units, count);
    (void)bit_take_below(bits, walk->fine_units);
    for (uint32_t i = 1; i < count; i++) {
        (void)bit_take_unary(bits);
        bits->at += parameter;
    }
    return true;
}

/* Skips the value's list, most often a one and a unit, in one look. */
static inline bool
walk_skip(struct walk *walk)
{
    const uint64_t word = bit_peek(&walk->bits);

    if ((word & 1) == 0)
        return skip_list(walk);
    walk->bits.at += 1 + walk->unit_bits +
                     ((word >> 1 & walk->unit_mask) >= walk->unit_long);
    return true;
}

/* -------------------------------------------------------------- answer --- */

static enum colander_code
damaged(struct colander_error *err)
{
    return COLANDER_FAIL(err, COLANDER_CORRUPT,
                         "locator block is not what was written");
}

/* What a list is read into. */
struct finding {
    const struct locator_shape *shape;
    struct row_ranges *ranges; /* NULL: counts only */
    struct locator_answer *answer;
};

/* Adds the rows of the units in [first, end). */
static enum colander_code
add_units(const struct finding *finding, uint32_t unit_rows, uint32_t first,
          uint32_t end, struct colander_error *err)
{
    uint64_t row_count = finding->shape->row_count;
    uint64_t end_row = (uint64_t)end * unit_rows;

    return row_ranges_add(finding->ranges, first * unit_rows,
                          (uint32_t)(end_row < row_count ? end_row : row_count),
                          err);
}

/* Reads `count` units out of `limit`, written one by one. */
static enum colander_code
read_units(const struct finding *finding, struct bit_reader *bits,
           uint32_t unit_rows, uint32_t count, struct colander_error *err)
{
    uint32_t limit = locator_units(finding->shape, unit_rows);
    unsigned parameter = 0;
    uint64_t unit;
    enum colander_code code = COLANDER_OK;

    if (count > 1)
        parameter = take_parameter(bits, limit, count);
    unit = bit_take_below(bits, limit);
    for (uint32_t i = 1;; i++) {
        if (bit_overran(bits) || unit >= limit)
            return damaged(err);
        code = add_units(finding, unit_rows, (uint32_t)unit, (uint32_t)unit + 1,
                         err);
        if (code != COLANDER_OK || i == count)
            return code;
        unit += bit_take_rice(bits, parameter) + 1;
    }
}

/* Reads units from a bitmap, one run of ones at a time. `count` are set. */
static enum colander_code
read_bitmap(const struct finding *finding, struct bit_reader *bits,
            uint32_t unit_rows, uint32_t count, struct colander_error *err)
{
    uint32_t limit = locator_units(finding->shape, unit_rows);
    uint32_t set = 0;

    if (bit_overran(bits) || bits->end - bits->at < limit)
        return damaged(err);
    for (uint32_t base = 0; base < limit; base += BITS_WIDTH_MAX) {
        uint32_t width =
            limit - base < BITS_WIDTH_MAX ? limit - base : BITS_WIDTH_MAX;
        uint64_t word = bit_take(bits, width);

        while (word != 0) {
            uint32_t first = (uint32_t)__builtin_ctzll(word);
            /* The highest bits are 0, so a run ends in the word. */
            uint32_t size = (uint32_t)__builtin_ctzll(~(word >> first));
            enum colander_code code = add_units(
                finding, unit_rows, base + first, base + first + size, err);

            if (code != COLANDER_OK)
                return code;
            word &= ~(bits_mask(size) << first);
            set += size;
        }
    }
    return set == count ? COLANDER_OK : damaged(err);
}

static enum colander_code
read_long_list(const struct finding *finding, struct bit_reader *list,
               struct colander_error *err)
{
    const struct locator_shape *shape = finding->shape;
    bool is_bitmap = bit_take(list, 1) != 0;
    uint32_t unit_rows = bit_take(list, 1) != 0 ? shape->fine : shape->coarse;
    uint32_t count = bit_take_gamma(list);
    uint32_t rows = count + bit_take_gamma(list) - 1;

    if (bit_overran(list) || count > locator_units(shape, unit_rows) ||
        rows > shape->row_count)
        return damaged(err);
    finding->answer->rows += rows;
    finding->answer->units += count;
    if (finding->ranges == NULL)
        return COLANDER_OK;
    return is_bitmap ? read_bitmap(finding, list, unit_rows, count, err)
                     : read_units(finding, list, unit_rows, count, err);
}

static enum colander_code
read_short_list(const struct finding *finding, struct bit_reader *bits,
                uint32_t count, struct colander_error *err)
{
    const struct locator_shape *shape = finding->shape;
    uint64_t rows = (uint64_t)count * shape->fine;

    finding->answer->rows += rows < shape->row_count ? rows : shape->row_count;
    finding->answer->units += count;
    if (finding->ranges == NULL)
        return COLANDER_OK;
    return read_units(finding, bits, shape->fine, count, err);
}

static enum colander_code
read_everywhere(const struct finding *finding, struct colander_error *err)
{
    const struct locator_shape *shape = finding->shape;

    finding->answer->rows += shape->row_count;
    finding->answer->units += locator_units(shape, shape->coarse);
    if (finding->ranges == NULL)
        return COLANDER_OK;
    return row_ranges_add(finding->ranges, 0, shape->row_count, err);
}

/* Reads the list of the current value and moves past it. The list is skipped
 * first, and read by a second reader once it is known to lie in the group. */
static enum colander_code
read_list(struct walk *walk, const struct finding *finding,
          struct colander_error *err)
{
    struct bit_reader list = walk->bits;
    uint32_t kind;

    if (!walk_skip(walk) || bit_overran(&walk->bits))
        return damaged(err);
    kind = bit_take_gamma(&list);
    if (kind == LOCATOR_EVERYWHERE)
        return read_everywhere(finding, err);
    if (kind <= LOCATOR_SHORT_MAX)
        return read_short_list(finding, &list, kind, err);
    list.at = walk->bits.end;
    return read_long_list(finding, &list, err);
}

/* -------------------------------------------------------------- lookup --- */

static enum colander_code
find_in_group(struct walk *walk, uint64_t remainder, unsigned tag,
              const struct finding *finding, struct colander_error *err)
{
    for (;;) {
        enum step step = walk_next(walk);
        enum colander_code code;

        if (step == STEP_BAD)
            return damaged(err);
        if (step == STEP_END || walk->remainder > remainder)
            return COLANDER_OK;
        if (walk->remainder < remainder ||
            (tag != LOCATOR_TAG_ANY && walk->tag != tag)) {
            if (!walk_skip(walk))
                return damaged(err);
            continue;
        }
        code = read_list(walk, finding, err);
        if (code != COLANDER_OK || tag != LOCATOR_TAG_ANY)
            return code;
    }
}

enum colander_code
locator_find(const struct locator_shape *shape, struct colander_slice block,
             uint32_t first_group, uint64_t value_hash, unsigned tag,
             struct row_ranges *ranges, struct locator_answer *answer,
             struct colander_error *err)
{
    const struct finding finding = {shape, ranges, answer};
    uint32_t count = group_count(block);
    uint32_t group;
    uint64_t remainder;
    struct walk walk;

    assert(tag <= LOCATOR_TAG_ANY);
    if (!locator_shape_is_sound(shape))
        return damaged(err);
    group = locator_group(shape, value_hash);
    if (group < first_group || group - first_group >= count ||
        !walk_begin(&walk, shape, block, group - first_group, count))
        return damaged(err);
    remainder = value_hash >> (64 - shape->hash_bits) & walk.remainder_last;
    return find_in_group(&walk, remainder, tag, &finding, err);
}

/* Visits the hashes of the group, all of which begin with `prefix`. */
static enum colander_code
visit_group(struct walk *walk, uint64_t prefix,
            void (*visit)(void *context, uint64_t hash), void *context,
            struct colander_error *err)
{
    unsigned cut = 64u - walk->shape->hash_bits;
    bool is_first = true;

    for (;;) {
        enum step step = walk_next(walk);

        if (step == STEP_END)
            return COLANDER_OK;
        if (step == STEP_BAD || !walk_skip(walk) || bit_overran(&walk->bits))
            return damaged(err);
        if (is_first || walk->gap > 0)
            visit(context, prefix | walk->remainder << cut);
        is_first = false;
    }
}

enum colander_code
locator_hashes(const struct locator_shape *shape, struct colander_slice block,
               uint32_t first_group,
               void (*visit)(void *context, uint64_t hash), void *context,
               struct colander_error *err)
{
    uint32_t count = group_count(block);
    enum colander_code code = COLANDER_OK;

    if (!locator_shape_is_sound(shape) || count == 0 ||
        first_group + (uint64_t)count > UINT64_C(1) << shape->group_bits)
        return damaged(err);
    for (uint32_t i = 0; i < count && code == COLANDER_OK; i++) {
        uint64_t prefix = shape->group_bits == 0
                              ? 0
                              : (uint64_t)(first_group + i)
                                    << (64 - shape->group_bits);
        struct walk walk;

        if (!walk_begin(&walk, shape, block, i, count))
            return damaged(err);
        code = visit_group(&walk, prefix, visit, context, err);
    }
    return code;
}
