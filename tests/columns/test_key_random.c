/*
 * Keys of random tuples: order, ranges, round trips, and damage.
 *
 * SPDX-License-Identifier: MIT
 */
#include "some_keys.h"
#include "support/scoped.h"

/* -------------------------------------------------------------- random --- */

static struct colander_value
random_integer(void)
{
    uint64_t near = (UINT64_C(1) << below(64)) + below(5) - 2;

    switch (below(4)) {
    case 0:
        return colander_integer((int64_t)below(9) - 4);
    case 1:
        return colander_integer((int64_t)(0 - near));
    case 2:
        return colander_unsigned(any_bits() >> below(64));
    default:
        return colander_unsigned(near);
    }
}

/* Similar texts, with common prefixes and escapes; static. */
static struct colander_value
random_part(void)
{
    static const char text[] = "\0\0\1aa\xC3\xA9z\xF4\x8F\xBF\xBF";
    static const char binary[] = "\0\0\xFF\xF0\x30\0\1";
    static const size_t starts[] = {0, 1, 2, 3, 4, 5, 7, 8, 12};
    unsigned first = below(COUNT(starts));
    unsigned last = first + below((unsigned)COUNT(starts) - first);

    int8_t foreign = (int8_t)any_bits();

    switch (below(9)) {
    case 0:
        return colander_boolean(below(2));
    case 1:
    case 2:
        return bytes_of(COLANDER_STRING, text + starts[first],
                        starts[last] - starts[first]);
    case 3:
        return bytes_of(COLANDER_BINARY, binary + below(3), below(6));
    case 4:
        return colander_timestamp((int64_t)below(5) - 2,
                                  below(2) ? 0 : 999999999);
    case 5:
        return extension_of(foreign == -1 ? 0 : foreign, binary, below(4));
    case 6:
        return random_integer();
    default:
        return random_double();
    }
}

static size_t
random_tuple(struct colander_value *parts, unsigned count_max)
{
    size_t count = 1 + below(count_max);

    for (size_t i = 0; i < count; i++)
        parts[i] = random_part();
    return count;
}

/* Returns a number that may equal `value`, or is adjacent to it. */
static struct colander_value
neighbour_of(struct colander_value value)
{
    return value.type < COLANDER_INTEGER || value.type > COLANDER_DOUBLE
               ? random_part()
               : neighbour_of_number(value);
}

/* Returns a tuple that shares its beginning with another. */
static size_t
related_tuple(struct colander_value *parts, const struct colander_value *other,
              size_t other_count, unsigned count_max)
{
    size_t count = random_tuple(parts, count_max);
    size_t shared = below((unsigned)other_count + 1);

    for (size_t i = 0; i < shared && i < count; i++)
        parts[i] = other[i];
    if (shared < other_count && shared < count && below(2))
        parts[shared] = neighbour_of(other[shared]);
    return count;
}

static int
sign(int order)
{
    return (order > 0) - (order < 0);
}

static int
tuple_compare(const struct colander_value *a, size_t a_count,
              const struct colander_value *b, size_t b_count)
{
    for (size_t i = 0; i < a_count && i < b_count; i++) {
        int order = colander_value_compare(&a[i], &b[i]);

        if (order != 0)
            return sign(order);
    }
    return (a_count > b_count) - (a_count < b_count);
}

TEST(byte_order_is_the_order_of_tuples)
{
    SCOPED_BUFFER a_key = COLANDER_BUFFER_EMPTY;
    SCOPED_BUFFER b_key = COLANDER_BUFFER_EMPTY;
    unsigned equal_count = 0;

    for (int i = 0; i < 300000; i++) {
        struct colander_value a[4];
        struct colander_value b[4];
        size_t a_count = random_tuple(a, 4);
        size_t b_count =
            below(4) ? related_tuple(b, a, a_count, 4) : random_tuple(b, 4);
        int order = tuple_compare(a, a_count, b, b_count);

        encode(a, a_count, &a_key);
        encode(b, b_count, &b_key);
        assert_int_equal(
            sign(colander_slice_compare(colander_buffer_slice(&a_key),
                                        colander_buffer_slice(&b_key))),
            order);
        equal_count += order == 0;
    }
    assert_true(equal_count > 1000);
}

static bool
continues(const struct colander_value *a, size_t a_count,
          const struct colander_value *prefix, size_t prefix_count)
{
    return a_count >= prefix_count &&
           tuple_compare(a, prefix_count, prefix, prefix_count) == 0;
}

TEST(the_range_of_a_prefix_holds_what_continues_it_and_nothing_else)
{
    SCOPED_BUFFER from = COLANDER_BUFFER_EMPTY;
    SCOPED_BUFFER key = COLANDER_BUFFER_EMPTY;
    const uint8_t end = KEY_RANGE_END;
    unsigned inside_count = 0;

    for (int i = 0; i < 200000; i++) {
        struct colander_value prefix[3];
        struct colander_value parts[3];
        size_t prefix_count = random_tuple(prefix, 3);
        size_t count = related_tuple(parts, prefix, prefix_count, 3);
        struct colander_slice bytes;
        bool is_inside;

        encode(prefix, prefix_count, &from);
        encode(parts, count, &key);
        bytes = colander_buffer_slice(&key);
        is_inside =
            colander_slice_compare(bytes, colander_buffer_slice(&from)) >= 0;
        OK(colander_buffer_append(&from, &end, 1, NULL));
        is_inside = is_inside && colander_slice_compare(
                                     bytes, colander_buffer_slice(&from)) < 0;
        assert_int_equal(is_inside,
                         continues(parts, count, prefix, prefix_count));
        inside_count += is_inside;
    }
    assert_true(inside_count > 1000);
}

static void
assert_canonical(const struct colander_value *value)
{
    if (value->type == COLANDER_UNSIGNED)
        assert_true(value->natural > INT64_MAX);
    if (value->type == COLANDER_DOUBLE && value->number >= -0x1p63 &&
        value->number < 0x1p64)
        assert_true(floor(value->number) != value->number);
}

TEST(decode_returns_the_tuple_in_canonical_form)
{
    SCOPED_BUFFER key = COLANDER_BUFFER_EMPTY;
    SCOPED_BUFFER scratch = COLANDER_BUFFER_EMPTY;

    for (int i = 0; i < 200000; i++) {
        struct colander_value parts[PARTS_MAX];
        struct colander_value decoded[PARTS_MAX];
        size_t count = random_tuple(parts, PARTS_MAX);
        size_t decoded_count;

        encode(parts, count, &key);
        assert_true(is_key(colander_buffer_slice(&key), decoded, &decoded_count,
                           &scratch));
        assert_int_equal(decoded_count, count);
        assert_int_equal(tuple_compare(parts, count, decoded, count), 0);
        for (size_t j = 0; j < count; j++)
            assert_canonical(&decoded[j]);
    }
}

/* Sets `shorter` to the complete parts that a truncated `part` may look like:
 * the floor of a fraction, and bytes up to a zero byte in them. */
static size_t
cut_parts(const struct colander_value *part, struct colander_value *shorter)
{
    size_t count = 0;

    shorter[count++] = *part;
    if (part->type == COLANDER_DOUBLE && fabs(part->number) < 0x1p53)
        shorter[count++] = colander_double(floor(part->number));
    if (part->type != COLANDER_STRING && part->type != COLANDER_BINARY &&
        part->type != COLANDER_EXTENSION)
        return count;
    for (size_t i = 0; i < part->bytes.size; i++) {
        if (part->bytes.data[i] != 0)
            continue;
        shorter[count] = *part;
        shorter[count++].bytes.size = i;
    }
    return count;
}

/* Returns whether the key of the tuple, cut to `size` bytes, is complete. */
static bool
is_whole(const struct colander_value *parts, size_t count, size_t size,
         struct colander_buffer *scratch)
{
    for (size_t i = 0; i < count; i++) {
        struct colander_value tuple[PARTS_MAX];
        struct colander_value shorter[8];
        size_t shorter_count = cut_parts(&parts[i], shorter);

        memcpy(tuple, parts, i * sizeof(*parts));
        for (size_t j = 0; j < shorter_count; j++) {
            tuple[i] = shorter[j];
            encode(tuple, i + 1, scratch);
            if (scratch->size == size)
                return true;
        }
    }
    return false;
}

TEST(a_truncated_key_is_corrupt_or_a_whole_shorter_tuple)
{
    SCOPED_BUFFER key = COLANDER_BUFFER_EMPTY;
    SCOPED_BUFFER other = COLANDER_BUFFER_EMPTY;
    SCOPED_BUFFER scratch = COLANDER_BUFFER_EMPTY;

    for (int i = 0; i < 5000; i++) {
        struct colander_value parts[PARTS_MAX];
        struct colander_value decoded[PARTS_MAX];
        size_t count = random_tuple(parts, 5);
        size_t decoded_count;

        encode(parts, count, &key);
        for (size_t size = 0; size < key.size; size++) {
            SCOPED_MEMORY uint8_t *cut =
                malloc(size + 1); /* never an allocation of 0 bytes */
            struct colander_slice bytes = colander_slice_of(cut + 1, size);

            assert_non_null(cut);
            memcpy(cut + 1, key.data, size);
            assert_int_equal(is_key(bytes, decoded, &decoded_count, &scratch),
                             is_whole(parts, count, size, &other));
        }
    }
}

/* A key with some changed bytes, or bytes that begin like a key. */
static void
random_hostile_bytes(struct colander_buffer *bytes)
{
    static const uint8_t likely[] = {0x00, 0x09, 0x10, 0x18, 0x19, 0x1A, 0x22,
                                     0x23, 0x30, 0x38, 0x40, 0x48, 0xF0, 0xFF};
    struct colander_value parts[PARTS_MAX];
    unsigned changes = 1 + below(3);

    encode(parts, random_tuple(parts, 3), bytes);
    if (below(4) == 0) {
        for (size_t i = 0; i < bytes->size; i++)
            bytes->data[i] =
                below(2) ? likely[below(sizeof(likely))] : (uint8_t)any_bits();
        return;
    }
    while (changes-- > 0) {
        size_t at = below((unsigned)bytes->size);

        if (below(2))
            bytes->data[at] ^= (uint8_t)(1u << below(8));
        else
            bytes->data[at] = likely[below(sizeof(likely))];
        if (below(4) == 0 && at > 0)
            bytes->size = at;
    }
}

TEST(what_decodes_encodes_to_the_same_bytes_and_the_rest_is_corrupt)
{
    SCOPED_BUFFER hostile = COLANDER_BUFFER_EMPTY;
    SCOPED_BUFFER again = COLANDER_BUFFER_EMPTY;
    SCOPED_BUFFER scratch = COLANDER_BUFFER_EMPTY;
    uint64_t run_end = random_runs(1000000);

    for (uint64_t run = 0; run < run_end; run++) {
        struct colander_value parts[PARTS_MAX];
        struct colander_slice bytes;
        SCOPED_MEMORY uint8_t *copy = NULL;
        size_t count;

        random_hostile_bytes(&hostile);
        copy = malloc(hostile.size);
        assert_non_null(copy);
        memcpy(copy, hostile.data, hostile.size);
        bytes = colander_slice_of(copy, hostile.size);
        if (is_key(bytes, parts, &count, &scratch)) {
            encode(parts, count, &again);
            ASSERT_SAME(colander_buffer_slice(&again), bytes);
        }
    }
}
