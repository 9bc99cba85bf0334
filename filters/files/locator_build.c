/*
 * Builds locators: sorted entries become groups, groups become blocks.
 *
 * A group is written in one pass: the bits of its values and, apart from them,
 * the long lists, each in whole bytes. At the end of the group the lists are
 * appended after the bits, the last one first. A reader that knows where the
 * group ends and how long each list is can find the lists without pointers.
 *
 * SPDX-License-Identifier: MIT
 */
#include "filters/locator.h"

#include "core/bytes.h"
#include "filters/bits.h"

#include <assert.h>
#include <stdlib.h>

/* More bits than a value without its long list can take. Most are those of a
 * short list, in which a unit takes less than 15 bits if there are many. */
#define VALUE_SIZE_MAX (64 + 2 * LOCATOR_SHORT_MAX)

/* More bytes than the head of a long list can take. */
#define LIST_HEAD_SIZE_MAX 32

/* A block with this many groups exceeds LOCATOR_BLOCK_SIZE. */
#define BLOCK_GROUPS_MAX (LOCATOR_BLOCK_SIZE / LOCATOR_NUMBER_SIZE)

struct builder {
    const struct locator_shape *shape;
    unsigned fine_shift; /* shape->fine is 2^fine_shift */
    uint32_t fine_units; /* that cover all rows */
    uint32_t coarse_units;
    locator_sink *sink;
    void *context; /* of the sink */

    /* The current block. */
    uint32_t first_group;
    uint32_t group_count;              /* groups begun */
    uint16_t starts[BLOCK_GROUPS_MAX]; /* of groups, in `groups` */
    struct bit_writer groups;
    struct colander_buffer block; /* a finished block */

    /* The current group. */
    uint64_t remainder; /* of its last hash */
    struct bit_writer lists;
    struct colander_buffer list_ends; /* size_t each: list ends in `lists` */

    uint32_t *units; /* that hold the current value */
};

bool
locator_shape_is_sound(const struct locator_shape *shape)
{
    return shape->row_count >= 1 && shape->row_count <= LOCATOR_ROWS_MAX &&
           shape->fine >= 1 && (shape->fine & (shape->fine - 1)) == 0 &&
           shape->coarse >= shape->fine && shape->coarse % shape->fine == 0 &&
           shape->hash_bits >= 1 && shape->hash_bits <= LOCATOR_HASH_BITS &&
           shape->group_bits <= LOCATOR_GROUP_BITS_MAX &&
           shape->group_bits <= shape->hash_bits;
}

void
locator_shape_fit(struct locator_shape *shape, uint64_t hash_count)
{
    unsigned bits = hash_count < 16 ? 0 : bits_log2(hash_count) - 3;

    if (bits > LOCATOR_GROUP_BITS_MAX)
        bits = LOCATOR_GROUP_BITS_MAX;
    shape->group_bits = (uint8_t)bits;
    if (shape->hash_bits < bits)
        shape->hash_bits = (uint8_t)bits;
    if (shape->hash_bits == 0)
        shape->hash_bits = 1;
    if (shape->hash_bits > LOCATOR_HASH_BITS)
        shape->hash_bits = LOCATOR_HASH_BITS;
}

/* --------------------------------------------------------------- lists --- */

static uint32_t
row_of(uint64_t entry)
{
    return (uint32_t)(entry & (LOCATOR_UNIT_MAX - 1));
}

static unsigned
tag_of(uint64_t entry)
{
    return (unsigned)(entry >> LOCATOR_ROW_BITS & (LOCATOR_TAGS - 1));
}

/* Fills `units` with the fine units of the entries (of one value, ascending).
 * Returns how many; `max` means that there may be more. */
static inline uint32_t
collect_fine(uint32_t *units, uint32_t max, const uint64_t *entries,
             size_t count, unsigned shift)
{
    uint32_t found = 1;

    units[0] = row_of(entries[0]) >> shift;
    for (size_t i = 1; i < count && found < max; i++) {
        uint32_t unit = row_of(entries[i]) >> shift;

        if (unit != units[found - 1])
            units[found++] = unit;
    }
    return found;
}

/* Fills `units` with all units of `unit_rows` rows. */
static uint32_t
collect_coarse(uint32_t *units, const uint64_t *entries, size_t count,
               uint32_t unit_rows)
{
    uint32_t found = 0;
    uint32_t next = 0; /* the first row after the last unit */

    for (size_t i = 0; i < count; i++) {
        uint32_t row = row_of(entries[i]);

        if (row < next)
            continue;
        units[found] = row / unit_rows;
        next = (units[found++] + 1) * unit_rows;
    }
    return found;
}

static uint32_t
count_rows(const uint64_t *entries, size_t count)
{
    uint32_t rows = 1;

    for (size_t i = 1; i < count; i++)
        rows += row_of(entries[i]) != row_of(entries[i - 1]);
    return rows;
}

/* Returns the bits that the gaps of `units` take with a Rice parameter. */
static uint64_t
gaps_size(const uint32_t *units, uint32_t count, unsigned parameter)
{
    uint64_t size = (uint64_t)(count - 1) * (parameter + 1);

    for (uint32_t i = 1; i < count; i++)
        size += (units[i] - units[i - 1] - 1) >> parameter;
    return size;
}

/* Returns the Rice parameter for the shortest gaps of `units`: `even`, which
 * suits evenly distributed units, or a smaller one, which suits clusters and
 * takes some bits to store. *size: the bits of both. */
static unsigned
choose_parameter(const uint32_t *units, uint32_t count, unsigned even,
                 uint64_t *size)
{
    uint32_t mean = (units[count - 1] - units[0]) / (count - 1);
    unsigned tried = mean == 0 ? 0 : bits_log2(mean);
    unsigned best = even;

    *size = gaps_size(units, count, even) + bits_gamma_size(1);
    if (tried >= even)
        return best;
    for (;; tried--) {
        uint64_t tried_size =
            gaps_size(units, count, tried) + bits_gamma_size(even - tried + 1);

        if (tried_size >= *size)
            break;
        best = tried;
        *size = tried_size;
        if (tried == 0)
            break;
    }
    return best;
}

/* Writes `units`, out of `limit`. */
static void
put_units(struct bit_writer *bits, const uint32_t *units, uint32_t count,
          uint32_t limit)
{
    unsigned even;
    unsigned parameter;
    uint64_t size;

    if (count > 1) {
        even = bits_rice_parameter(limit, count);
        parameter = choose_parameter(units, count, even, &size);
        bit_put_gamma(bits, even - parameter + 1);
        bit_put_below(bits, units[0], limit);
        for (uint32_t i = 1; i < count; i++)
            bit_put_rice(bits, units[i] - units[i - 1] - 1, parameter);
    } else {
        bit_put_below(bits, units[0], limit);
    }
}

static void
put_bitmap(struct bit_writer *bits, const uint32_t *units, uint32_t count,
           uint32_t limit)
{
    uint32_t i = 0;

    for (uint32_t base = 0; base < limit; base += 32) {
        uint32_t width = limit - base < 32 ? limit - base : 32;
        uint64_t word = 0;

        for (; i < count && units[i] - base < width; i++)
            word |= UINT64_C(1) << (units[i] - base);
        bit_put(bits, word, width);
    }
}

/* Returns whether a bitmap of `limit` bits is shorter than gaps. */
static bool
bitmap_is_shorter(const uint32_t *units, uint32_t count, uint32_t limit)
{
    uint64_t size = 0;

    if (count > 1)
        (void)choose_parameter(units, count, bits_rice_parameter(limit, count),
                               &size);
    return limit < size + bits_width_below(limit);
}

/* Writes the long list of builder->units, `count` out of `limit`, and its
 * length into the group. */
static enum colander_code
put_long_list(struct builder *builder, bool is_fine, uint32_t count,
              uint32_t rows, struct colander_error *err)
{
    struct bit_writer *lists = &builder->lists;
    uint32_t limit = is_fine ? builder->fine_units : builder->coarse_units;
    size_t start = lists->bytes.size;
    bool is_bitmap = bitmap_is_shorter(builder->units, count, limit);
    enum colander_code code;

    code = bit_writer_reserve(lists, limit / 8 + LIST_HEAD_SIZE_MAX, err);
    if (code != COLANDER_OK)
        return code;
    bit_put(lists, is_bitmap, 1);
    bit_put(lists, is_fine, 1);
    bit_put_gamma(lists, count);
    bit_put_gamma(lists, rows - count + 1);
    if (is_bitmap)
        put_bitmap(lists, builder->units, count, limit);
    else
        put_units(lists, builder->units, count, limit);
    bit_put_padding(lists);

    bit_put_gamma(&builder->groups, LOCATOR_LONG);
    bit_put_gamma(&builder->groups, lists->bytes.size - start);
    return colander_buffer_append(&builder->list_ends, &lists->bytes.size,
                                  sizeof(lists->bytes.size), err);
}

/* Writes the units of a value that has too many for a short list. */
static enum colander_code
put_many(struct builder *builder, const uint64_t *entries, size_t count,
         bool may_be_fine, struct colander_error *err)
{
    const uint32_t unit_rows = builder->shape->coarse;
    uint32_t rows = count_rows(entries, count);
    uint32_t coarse = collect_coarse(builder->units, entries, count, unit_rows);
    const uint32_t fine_max = builder->fine_units / LOCATOR_COMMON;

    if (may_be_fine) {
        uint32_t fine = collect_fine(builder->units, fine_max + 1, entries,
                                     count, builder->fine_shift);

        if (fine <= fine_max)
            return put_long_list(builder, true, fine, rows, err);
        (void)collect_coarse(builder->units, entries, count, unit_rows);
    }
    if ((uint64_t)coarse * 8 >= (uint64_t)builder->coarse_units * 7) {
        bit_put_gamma(&builder->groups, LOCATOR_EVERYWHERE);
        return COLANDER_OK;
    }
    return put_long_list(builder, false, coarse, rows, err);
}

/* Writes the units of the value whose entries these are. */
static enum colander_code
put_list(struct builder *builder, const uint64_t *entries, size_t count,
         struct colander_error *err)
{
    const bool is_one_size = builder->shape->fine == builder->shape->coarse;
    bool is_whole = true;
    uint32_t fine;

    for (; row_of(entries[count - 1]) == LOCATOR_ROWS_OMITTED; count--)
        is_whole = false;
    fine = collect_fine(builder->units, LOCATOR_SHORT_MAX + 1, entries, count,
                        builder->fine_shift);
    if (fine > LOCATOR_SHORT_MAX || !(is_whole || is_one_size))
        return put_many(builder, entries, count, is_whole && !is_one_size, err);
    bit_put_gamma(&builder->groups, fine);
    put_units(&builder->groups, builder->units, fine, builder->fine_units);
    return COLANDER_OK;
}

/* -------------------------------------------------------------- groups --- */

/* Passes the block to the sink and begins the next one with the next group. */
static enum colander_code
end_block(struct builder *builder, struct colander_error *err)
{
    struct colander_buffer *block = &builder->block;
    struct colander_buffer *groups = &builder->groups.bytes;
    size_t head = LOCATOR_NUMBER_SIZE * (1 + (size_t)builder->group_count);
    enum colander_code code;

    colander_buffer_clear(block);
    code = colander_buffer_reserve(block, head + groups->size, err);
    if (code != COLANDER_OK)
        return code;
    bytes_put_le16(block->data, (uint16_t)builder->group_count);
    for (uint32_t i = 0; i < builder->group_count; i++)
        bytes_put_le16(block->data + LOCATOR_NUMBER_SIZE * (1 + (size_t)i),
                       (uint16_t)(head + builder->starts[i]));
    if (groups->size > 0)
        memcpy(block->data + head, groups->data, groups->size);
    block->size = head + groups->size;
    code = builder->sink(builder->context, colander_buffer_slice(block),
                         builder->first_group, err);
    builder->first_group += builder->group_count;
    builder->group_count = 0;
    colander_buffer_clear(groups);
    return code;
}

/* Begins a group, in a new block if the current one is full. */
static enum colander_code
begin_group(struct builder *builder, struct colander_error *err)
{
    size_t size = LOCATOR_NUMBER_SIZE * (1 + (size_t)builder->group_count) +
                  builder->groups.bytes.size;

    if (size >= LOCATOR_BLOCK_SIZE) {
        enum colander_code code = end_block(builder, err);

        if (code != COLANDER_OK)
            return code;
    }
    builder->starts[builder->group_count++] =
        (uint16_t)builder->groups.bytes.size;
    builder->remainder = 0;
    return COLANDER_OK;
}

/* Appends the long lists of the group after its bits, the last one first. */
static enum colander_code
end_group(struct builder *builder, struct colander_error *err)
{
    struct colander_buffer *groups = &builder->groups.bytes;
    const struct colander_buffer *lists = &builder->lists.bytes;
    size_t end = lists->size;
    enum colander_code code;

    bit_put_padding(&builder->groups);
    if (end == 0)
        return COLANDER_OK;
    code = colander_buffer_reserve(groups, end, err);
    if (code != COLANDER_OK)
        return code;
    for (size_t i = builder->list_ends.size / sizeof(end); i-- > 0;) {
        size_t start = 0;

        if (i > 0)
            memcpy(&start, builder->list_ends.data + (i - 1) * sizeof(start),
                   sizeof(start));
        memcpy(groups->data + groups->size, lists->data + start, end - start);
        groups->size += end - start;
        end = start;
    }
    colander_buffer_clear(&builder->list_ends);
    colander_buffer_clear(&builder->lists.bytes);
    return COLANDER_OK;
}

/* Ends and begins groups until `group` is the current one. */
static enum colander_code
go_to_group(struct builder *builder, uint64_t group, struct colander_error *err)
{
    while ((uint64_t)builder->first_group + builder->group_count - 1 < group) {
        enum colander_code code = end_group(builder, err);

        if (code == COLANDER_OK)
            code = begin_group(builder, err);
        if (code != COLANDER_OK)
            return code;
    }
    return COLANDER_OK;
}

/* Adds a value: the entries of one hash and one tag. */
static enum colander_code
add_value(struct builder *builder, uint64_t hash, const uint64_t *entries,
          size_t count, struct colander_error *err)
{
    const struct locator_shape *shape = builder->shape;
    uint64_t remainder = hash & bits_mask(locator_remainder_bits(shape));
    enum colander_code code;

    assert(row_of(entries[0]) < shape->row_count);
    code = bit_writer_reserve(&builder->groups, VALUE_SIZE_MAX, err);
    if (code != COLANDER_OK)
        return code;
    bit_put_rice(&builder->groups, remainder - builder->remainder,
                 locator_gap_parameter(shape));
    bit_put(&builder->groups, tag_of(entries[0]), LOCATOR_TAG_BITS);
    builder->remainder = remainder;
    return put_list(builder, entries, count, err);
}

/* -------------------------------------------------------------- hashes --- */

/* Adds the entries of one hash. */
static enum colander_code
add_hash(struct builder *builder, uint64_t hash, const uint64_t *entries,
         size_t count, struct colander_error *err)
{
    enum colander_code code = go_to_group(
        builder, hash >> locator_remainder_bits(builder->shape), err);

    while (code == COLANDER_OK && count > 0) {
        unsigned tag = tag_of(entries[0]);
        size_t same = 1;

        while (same < count && tag_of(entries[same]) == tag)
            same++;
        code = add_value(builder, hash, entries, same, err);
        entries += same;
        count -= same;
    }
    return code;
}

/* ------------------------------------------------------------ building --- */

/* Returns the most units that a value is collected in: one more fine unit than
 * can be used finds out whether there are too many. */
static uint32_t
unit_max(const struct builder *builder)
{
    uint32_t units = builder->coarse_units;

    if (units < builder->fine_units / LOCATOR_COMMON)
        units = builder->fine_units / LOCATOR_COMMON;
    if (units < LOCATOR_SHORT_MAX)
        units = LOCATOR_SHORT_MAX;
    return units + 1;
}

static enum colander_code
add_all(struct builder *builder, const uint64_t *entries, size_t count,
        struct colander_error *err)
{
    unsigned cut = 64u - builder->shape->hash_bits;
    uint64_t last_group = bits_mask(builder->shape->group_bits);
    enum colander_code code = begin_group(builder, err);

    while (code == COLANDER_OK && count > 0) {
        uint64_t hash = entries[0] >> cut;
        size_t same = 1;

        while (same < count && entries[same] >> cut == hash)
            same++;
        code = add_hash(builder, hash, entries, same, err);
        entries += same;
        count -= same;
    }
    if (code == COLANDER_OK)
        code = go_to_group(builder, last_group, err);
    if (code == COLANDER_OK)
        code = end_group(builder, err);
    return code == COLANDER_OK ? end_block(builder, err) : code;
}

enum colander_code
locator_build(const struct locator_shape *shape, const uint64_t *entries,
              size_t count, locator_sink *sink, void *context,
              struct colander_error *err)
{
    struct builder builder = {
        .shape = shape,
        .fine_shift = (unsigned)__builtin_ctz(shape->fine),
        .fine_units = locator_units(shape, shape->fine),
        .coarse_units = locator_units(shape, shape->coarse),
        .sink = sink,
        .context = context,
    };
    enum colander_code code;

    assert(locator_shape_is_sound(shape));
    builder.units = malloc(unit_max(&builder) * sizeof(*builder.units));
    if (builder.units == NULL)
        return COLANDER_FAIL(err, COLANDER_NO_MEMORY,
                             "no memory to build a locator");
    code = add_all(&builder, entries, count, err);
    colander_buffer_release(&builder.groups.bytes);
    colander_buffer_release(&builder.block);
    colander_buffer_release(&builder.lists.bytes);
    colander_buffer_release(&builder.list_ends);
    free(builder.units);
    return code;
}
