/*
 * Values: equality, order and hash (invariant I3).
 *
 * SPDX-License-Identifier: MIT
 */
#include "some_values.h"

/* A value as a careless caller may fill it: UNSIGNED also below 2^63. */
static struct colander_value
loose_unsigned(uint64_t natural)
{
    struct colander_value value = colander_null();

    value.type = COLANDER_UNSIGNED;
    value.natural = natural;
    return value;
}

static int
compare(struct colander_value a, struct colander_value b)
{
    int order = colander_value_compare(&a, &b);

    return (order > 0) - (order < 0);
}

static uint64_t
hash(struct colander_value value)
{
    return colander_value_hash(&value);
}

static void
assert_equal(struct colander_value a, struct colander_value b)
{
    assert_int_equal(compare(a, b), 0);
    assert_int_equal(compare(b, a), 0);
    assert_true(hash(a) == hash(b));
}

static void
assert_less(struct colander_value a, struct colander_value b)
{
    assert_int_equal(compare(a, b), -1);
    assert_int_equal(compare(b, a), 1);
    assert_true(hash(a) != hash(b));
}

/* -------------------------------------------------------------- random --- */

static struct colander_value
random_whole(void)
{
    uint64_t power = UINT64_C(1) << below(64);
    uint64_t near = power + below(5) - 2;

    switch (below(5)) {
    case 0:
        return colander_integer((int64_t)below(9) - 4);
    case 1:
        return colander_integer((int64_t)near);
    case 2:
        return colander_integer((int64_t)(0 - near));
    case 3:
        return loose_unsigned(near);
    default:
        return loose_unsigned(any_bits() >> below(64));
    }
}

static struct colander_value
random_number(void)
{
    return below(2) ? random_whole() : random_double();
}

static struct colander_value
random_value(void)
{
    static const char bytes[] = "\0\0\1aab\xFF\xFF";
    size_t start = below(4);
    size_t size = below(5);

    switch (below(9)) {
    case 0:
        return colander_null();
    case 1:
        return colander_boolean(below(2));
    case 2:
        return bytes_of(COLANDER_STRING, bytes + start, size);
    case 3:
        return bytes_of(COLANDER_BINARY, bytes + start, size);
    case 4:
        return colander_timestamp((int64_t)below(5) - 2, below(3));
    case 5:
        return extension_of((int8_t)((int)below(4) - 2), "x", below(2));
    case 6:
        return bytes_of(below(2) ? COLANDER_ARRAY : COLANDER_MAP, "\x80", 1);
    default:
        return random_number();
    }
}

/* --------------------------------------------------------------- tests --- */

TEST(a_whole_double_equals_the_integer)
{
    assert_equal(colander_integer(5), colander_double(5.0));
    assert_equal(colander_integer(0), colander_double(-0.0));
    assert_equal(colander_integer(INT64_MIN), colander_double(-0x1p63));
    assert_equal(colander_unsigned(UINT64_C(1) << 63), colander_double(0x1p63));
    assert_equal(colander_unsigned(UINT64_MAX - 2047),
                 colander_double(nextafter(0x1p64, 0)));
    assert_equal(colander_integer(INT64_C(1) << 53), colander_double(0x1p53));
}

TEST(an_unsigned_that_fits_equals_the_integer)
{
    assert_equal(loose_unsigned(7), colander_integer(7));
    assert_equal(loose_unsigned(INT64_MAX), colander_integer(INT64_MAX));
    assert_equal(loose_unsigned(7), colander_double(7));
    assert_less(colander_integer(-1), loose_unsigned(UINT64_MAX));
    assert_less(colander_integer(INT64_MIN), loose_unsigned(UINT64_C(1) << 63));
}

TEST(numbers_that_round_to_one_double_stay_apart)
{
    int64_t edge = INT64_C(1) << 53;

    assert_less(colander_double(0x1p53), colander_integer(edge + 1));
    assert_less(colander_integer(-edge - 1), colander_double(-0x1p53));
    assert_less(colander_integer(INT64_MAX), colander_double(0x1p63));
    assert_less(colander_unsigned(UINT64_MAX), colander_double(0x1p64));
    assert_less(colander_double(nextafter(-0x1p63, (double)-INFINITY)),
                colander_integer(INT64_MIN));
    assert_less(colander_double(0x1p63),
                colander_unsigned((UINT64_C(1) << 63) + 1));
}

TEST(fractions_sort_between_integers)
{
    assert_less(colander_integer(-1), colander_double(-0.5));
    assert_less(colander_double(-0.5), colander_integer(0));
    assert_less(colander_integer(0), colander_double(0x1p-1074));
    assert_less(colander_double(-0x1p-1074), colander_integer(0));
    assert_less(colander_double(1.5), colander_unsigned(UINT64_MAX));
    assert_less(colander_double(-1.5), colander_integer(-1));
}

TEST(every_nan_is_the_same_and_after_all_numbers)
{
    struct colander_value quiet = colander_double((double)NAN);
    const uint64_t others[] = {
        UINT64_C(0x7FF0000000000001), UINT64_C(0xFFF8000000000000),
        UINT64_C(0xFFFFFFFFFFFFFFFF), UINT64_C(0x7FF8000000000123)};

    for (size_t i = 0; i < COUNT(others); i++)
        assert_equal(quiet, colander_double(double_of_bits(others[i])));
    assert_less(colander_double((double)INFINITY), quiet);
    assert_less(colander_unsigned(UINT64_MAX), quiet);
    assert_less(colander_integer(-1), quiet);
    assert_less(colander_double((double)-INFINITY), quiet);
    assert_less(quiet, colander_text(""));
}

TEST(types_sort_as_the_header_says)
{
    const struct colander_value sorted[] = {
        colander_null(),
        colander_boolean(false),
        colander_boolean(true),
        colander_double((double)-INFINITY),
        colander_integer(1),
        colander_unsigned(UINT64_MAX),
        colander_double((double)NAN),
        colander_text(""),
        colander_text("1"),
        colander_text("\xF4\x8F\xBF\xBF"),
        bytes_of(COLANDER_BINARY, "", 0),
        bytes_of(COLANDER_BINARY, "1", 1),
        colander_timestamp(INT64_MIN, 0),
        colander_timestamp(1, 0),
        colander_timestamp(1, 999999999),
        colander_timestamp(2, 0),
        extension_of(-128, "", 0),
        extension_of(-2, "b", 1),
        extension_of(1, "a", 1),
        extension_of(1, "b", 1),
        bytes_of(COLANDER_ARRAY, "\x90", 1),
    };

    for (size_t i = 0; i < COUNT(sorted); i++) {
        assert_equal(sorted[i], sorted[i]);
        for (size_t j = i + 1; j < COUNT(sorted); j++)
            assert_less(sorted[i], sorted[j]);
    }
}

TEST(strings_compare_as_unsigned_bytes_a_prefix_first)
{
    assert_less(bytes_of(COLANDER_STRING, "a", 1),
                bytes_of(COLANDER_STRING, "a\0", 2));
    assert_less(colander_text("a"), colander_text("\xC3\xA9"));
    assert_less(bytes_of(COLANDER_STRING, NULL, 0),
                bytes_of(COLANDER_STRING, "\0", 1));
    assert_equal(bytes_of(COLANDER_STRING, NULL, 0), colander_text(""));
}

TEST(arrays_and_maps_are_all_alike)
{
    assert_equal(bytes_of(COLANDER_ARRAY, "\x91\x01", 2),
                 bytes_of(COLANDER_MAP, "\x80", 1));
}

/* A long double of 64 bits holds every number that a value can be. */
static long double
exact(struct colander_value value)
{
    if (value.type == COLANDER_DOUBLE)
        return value.number;
    if (value.type == COLANDER_UNSIGNED)
        return (long double)value.natural;
    return (long double)value.integer;
}

static int
exact_compare(struct colander_value a, struct colander_value b)
{
    long double x = exact(a);
    long double y = exact(b);

    if (isnan(x) || isnan(y))
        return !!isnan(x) - !!isnan(y);
    return (x > y) - (x < y);
}

TEST(random_numbers_compare_as_their_exact_values)
{
    unsigned equal_count = 0;

    if (LDBL_MANT_DIG < 64)
        skip();
    for (int i = 0; i < 500000; i++) {
        struct colander_value a = random_number();
        struct colander_value b =
            below(2) ? random_number() : neighbour_of_number(a);
        int order = exact_compare(a, b);

        assert_int_equal(compare(a, b), order);
        assert_int_equal(hash(a) == hash(b), order == 0);
        equal_count += order == 0;
    }
    assert_true(equal_count > 10000);
}

TEST(compare_is_a_total_order_that_agrees_with_the_hash)
{
    for (int i = 0; i < 300000; i++) {
        struct colander_value a = random_value();
        struct colander_value b = random_value();
        struct colander_value c = random_value();
        int a_b = compare(a, b);

        assert_int_equal(compare(b, a), -a_b);
        assert_int_equal(hash(a) == hash(b), a_b == 0);
        if (a_b <= 0 && compare(b, c) <= 0)
            assert_true(compare(a, c) <= 0);
        if (a_b == 0)
            assert_int_equal(compare(a, c), compare(b, c));
    }
}

TEST(the_hash_of_bytes_depends_on_every_one_of_them)
{
    char bytes[600];
    const size_t sizes[] = {1, 3, 4, 8, 9, 16, 17, 128, 129, 240, 241, 600};

    memset(bytes, 'x', sizeof(bytes));
    for (size_t i = 0; i < COUNT(sizes); i++) {
        uint64_t before = hash(bytes_of(COLANDER_STRING, bytes, sizes[i]));

        assert_true(before != hash(bytes_of(COLANDER_BINARY, bytes, sizes[i])));
        for (size_t at = 0; at < sizes[i]; at++) {
            bytes[at] = 'y';
            assert_true(before !=
                        hash(bytes_of(COLANDER_STRING, bytes, sizes[i])));
            bytes[at] = 'x';
        }
    }
}

/* Files contain them: a change requires a new COLANDER_HASH_VERSION. */
TEST(hashes_of_version_1_do_not_change)
{
    char bytes[300] = {0};
    const struct {
        struct colander_value value;
        uint64_t hash;
    } golden[] = {
        {colander_null(), UINT64_C(0x4DC5B0CC826F6703)},
        {colander_boolean(false), UINT64_C(0x1CDDF8F8475304C7)},
        {colander_boolean(true), UINT64_C(0x64BA3BE0638D7735)},
        {colander_integer(0), UINT64_C(0xD4EBD77823C7899A)},
        {colander_integer(1), UINT64_C(0xDA47CE5CC134EFA4)},
        {colander_integer(-1), UINT64_C(0xA69296BE964DB6E3)},
        {colander_integer(INT64_MAX), UINT64_C(0x42B7C65537A999E0)},
        {colander_integer(INT64_MIN), UINT64_C(0x0F063AEF9D229627)},
        {colander_unsigned(UINT64_C(1) << 63), UINT64_C(0x037EF72576770DD5)},
        {colander_unsigned(UINT64_MAX), UINT64_C(0x2FF171E907E64037)},
        {colander_double(1.5), UINT64_C(0x9EF1AC8BEA008CA7)},
        {colander_double(-0.1), UINT64_C(0x02DFCD2D42B6F35B)},
        {colander_double(1e300), UINT64_C(0xDBC5730E19C9A7CD)},
        {colander_double((double)-INFINITY), UINT64_C(0x601CAA3E92BE36A5)},
        {colander_double((double)NAN), UINT64_C(0x67C14DD65E9D3F81)},
        {colander_text(""), UINT64_C(0x913AE0873E9B7EB8)},
        {colander_text("Smith"), UINT64_C(0xA9CD421711F24420)},
        {bytes_of(COLANDER_STRING, bytes, 300), UINT64_C(0xC5E60E14643F79E6)},
        {bytes_of(COLANDER_BINARY, "Smith", 5), UINT64_C(0x2A496DFC54FACC07)},
        {colander_timestamp(1600000000, 5), UINT64_C(0xD3FBC1ADB66FF1B0)},
        {colander_timestamp(-1, 999999999), UINT64_C(0xC81D1A81805CC185)},
        {extension_of(7, "x", 1), UINT64_C(0x0A37498D9EE96C9F)},
        {extension_of(-5, "", 0), UINT64_C(0x512F494309B1171A)},
        {bytes_of(COLANDER_MAP, "\x80", 1), UINT64_C(0x1684229970CA4151)},
    };

    assert_int_equal(COLANDER_HASH_VERSION, 1);
    memset(bytes, 'w', sizeof(bytes));
    for (size_t i = 0; i < COUNT(golden); i++)
        assert_int_equal(hash(golden[i].value), golden[i].hash);
}

TEST(type_names_are_words)
{
    assert_string_equal(colander_type_name(COLANDER_NULL), "null");
    assert_string_equal(colander_type_name(COLANDER_UNSIGNED), "unsigned");
    assert_string_equal(colander_type_name(COLANDER_MAP), "map");
    assert_string_equal(colander_type_name((enum colander_type)11), "unknown");
}
