/* See exact_sum.h. SPDX-License-Identifier: MIT */
#include "columns/groups/exact_sum.h"

#include "core/bytes.h"

#include <math.h>
#include <stdlib.h>

#define DIGIT_BITS 32
#define DIGIT_MASK INT64_C(0xffffffff)

/* The lowest bit of the lowest place is 2^-1074, that of the least double. */
#define UNIT_BITS 1074
#define PLACES 72 /* up to 2^1024, and room for 2^64 of them and 128 bits */
#define LOWER 2   /* places below the lowest one, of averages */

#define DIGITS_MIN 4
#define LOOSE_MAX (UINT32_C(1) << 30) /* each adds less than 2^32 to a digit */

enum { SPECIAL_NAN = 1, SPECIAL_MORE = 2, SPECIAL_LESS = 4 };

/* --------------------------------------------------------------- digits --- */

/* Carries from `count` digits, so that all but the last are 0 to 2^32 - 1. */
static void
carry(int64_t *digits, size_t count)
{
    for (size_t i = 0; i + 1 < count; i++) {
        const int64_t low = digits[i] & DIGIT_MASK;

        digits[i + 1] += (digits[i] - low) / (DIGIT_MASK + 1);
        digits[i] = low;
    }
}

/* Makes room for the places from `first` until before `until`. */
static enum colander_code
make_room(struct exact_sum *sum, size_t first, size_t until, size_t *bytes,
          struct colander_error *err)
{
    const size_t old_until = (size_t)sum->first + sum->digit_count;
    int64_t *digits;

    if (sum->digit_count > 0 && first >= sum->first && until <= old_until)
        return COLANDER_OK;
    if (sum->digit_count > 0) {
        first = first < sum->first ? first : sum->first;
        until = until > old_until ? until : old_until;
    }
    if (until - first < DIGITS_MIN)
        until = first + DIGITS_MIN;
    digits = calloc(until - first, sizeof(*digits));
    if (digits == NULL)
        return COLANDER_FAIL(err, COLANDER_NO_MEMORY, "no memory for a sum");
    if (sum->digit_count > 0)
        memcpy(digits + (sum->first - first), sum->digits,
               sum->digit_count * sizeof(*digits));
    *bytes += (until - first - sum->digit_count) * sizeof(*digits);
    free(sum->digits);
    sum->digits = digits;
    sum->first = (uint8_t)first;
    sum->digit_count = (uint8_t)(until - first);
    return COLANDER_OK;
}

/* Counts additions to each digit. Carries before a digit may overflow. */
static enum colander_code
loosen(struct exact_sum *sum, uint32_t additions, size_t *bytes,
       struct colander_error *err)
{
    const size_t until = (size_t)sum->first + sum->digit_count;
    int64_t top;

    if (sum->loose < LOOSE_MAX - additions) {
        sum->loose += additions;
        return COLANDER_OK;
    }
    top = sum->digits[sum->digit_count - 1];
    if ((top > DIGIT_MASK || top < -DIGIT_MASK) &&
        make_room(sum, sum->first, until + 1, bytes, err) != COLANDER_OK)
        return COLANDER_NO_MEMORY;
    carry(sum->digits, sum->digit_count);
    sum->loose = 1 + additions;
    return COLANDER_OK;
}

/* Makes sure that the three places from `place` on are there, and that their
 * digits do not overflow. */
static enum colander_code
prepare(struct exact_sum *sum, size_t place, size_t *bytes,
        struct colander_error *err)
{
    enum colander_code code;

    if (place >= sum->first &&
        place + 3 <= (size_t)sum->first + sum->digit_count &&
        sum->loose < LOOSE_MAX - 1) {
        sum->loose++;
        return COLANDER_OK;
    }
    code = make_room(sum, place, place + 3, bytes, err);
    return code == COLANDER_OK ? loosen(sum, 1, bytes, err) : code;
}

static enum colander_code
add_double(struct exact_sum *sum, double number, size_t *bytes,
           struct colander_error *err)
{
    uint64_t bits;
    uint64_t fraction;
    uint64_t high;
    unsigned exponent;
    unsigned shift;
    int64_t sign;
    int64_t *digits;

    memcpy(&bits, &number, sizeof(bits));
    fraction = bits & ((UINT64_C(1) << 52) - 1);
    exponent = (unsigned)(bits >> 52) & 0x7ff;
    if (exponent == 0)
        exponent = 1; /* subnormal */
    else
        fraction |= UINT64_C(1) << 52;
    if (fraction == 0)
        return COLANDER_OK;
    if (prepare(sum, (exponent - 1) / DIGIT_BITS, bytes, err) != COLANDER_OK)
        return COLANDER_NO_MEMORY;
    digits = sum->digits + (exponent - 1) / DIGIT_BITS - sum->first;
    shift = (exponent - 1) % DIGIT_BITS;
    high = fraction >> DIGIT_BITS << shift; /* below 2^53 */
    fraction = (fraction & (uint64_t)DIGIT_MASK) << shift;
    high += fraction >> DIGIT_BITS;
    sign = (bits >> 63) != 0 ? -1 : 1;
    digits[0] += sign * (int64_t)(fraction & (uint64_t)DIGIT_MASK);
    digits[1] += sign * (int64_t)(high & (uint64_t)DIGIT_MASK);
    digits[2] += sign * (int64_t)(high >> DIGIT_BITS);
    return COLANDER_OK;
}

/* --------------------------------------------------------------- adding --- */

enum colander_code
exact_sum_add(struct exact_sum *sum, const struct colander_value *number,
              size_t *bytes, struct colander_error *err)
{
    sum->count++;
    if (number->type == COLANDER_INTEGER) {
        sum->integers += number->integer;
        return COLANDER_OK;
    }
    if (number->type == COLANDER_UNSIGNED) {
        sum->integers += number->natural;
        return COLANDER_OK;
    }
    sum->has_doubles = true;
    if (isfinite(number->number))
        return add_double(sum, number->number, bytes, err);
    sum->specials |= isnan(number->number) ? SPECIAL_NAN
                     : number->number > 0  ? SPECIAL_MORE
                                           : SPECIAL_LESS;
    return COLANDER_OK;
}

enum colander_code
exact_sum_merge(struct exact_sum *sum, struct exact_sum *other, size_t *bytes,
                struct colander_error *err)
{
    enum colander_code code = COLANDER_OK;

    sum->count += other->count;
    if (__builtin_add_overflow(sum->integers, other->integers, &sum->integers))
        return COLANDER_FAIL(err, COLANDER_INVALID,
                             "a sum of integers is too large");
    sum->has_doubles |= other->has_doubles;
    sum->specials |= other->specials;
    if (other->digit_count == 0)
        return COLANDER_OK;
    code = make_room(sum, other->first,
                     (size_t)other->first + other->digit_count, bytes, err);
    if (code == COLANDER_OK)
        code = loosen(sum, other->loose, bytes, err);
    for (size_t i = 0; i < other->digit_count && code == COLANDER_OK; i++)
        sum->digits[i + other->first - sum->first] += other->digits[i];
    return code;
}

/* ---------------------------------------------------------------- bytes --- */

/* The places of sums of up to 2^64 doubles. More would have been added by no
 * one, and must not come near the end. */
#define ENCODED_PLACES (PLACES - 2)
#define HEAD_SIZE 28

static bool
is_digit(int64_t digit)
{
    return digit <= DIGIT_MASK && digit >= -DIGIT_MASK;
}

enum colander_code
exact_sum_encode(struct exact_sum *sum, struct colander_buffer *out,
                 size_t *bytes, struct colander_error *err)
{
    const unsigned __int128 integers = (unsigned __int128)sum->integers;
    uint8_t head[HEAD_SIZE];
    enum colander_code code = COLANDER_OK;

    carry(sum->digits, sum->digit_count);
    if (sum->digit_count > 0 && !is_digit(sum->digits[sum->digit_count - 1]))
        code = make_room(sum, sum->first,
                         (size_t)sum->first + sum->digit_count + 1, bytes, err);
    if (code != COLANDER_OK)
        return code;
    carry(sum->digits, sum->digit_count);
    sum->loose = 1;
    bytes_put_be64(head, (uint64_t)(integers >> 64));
    bytes_put_be64(head + 8, (uint64_t)integers);
    bytes_put_be64(head + 16, sum->count);
    head[24] = sum->specials;
    head[25] = sum->has_doubles;
    head[26] = sum->first;
    head[27] = sum->digit_count;
    code = colander_buffer_append(out, head, sizeof(head), err);
    for (size_t i = 0; i < sum->digit_count && code == COLANDER_OK; i++) {
        uint8_t digit[8];

        bytes_put_be64(digit, (uint64_t)sum->digits[i]);
        code = colander_buffer_append(out, digit, sizeof(digit), err);
    }
    return code;
}

/* Reads the digits. Returns false if no sum has them. */
static bool
read_digits(const uint8_t *from, int64_t *digits, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        digits[i] = (int64_t)bytes_get_be64(from + 8 * i);
        if (!is_digit(digits[i]) || (i + 1 < count && digits[i] < 0))
            return false;
    }
    return true;
}

enum colander_code
exact_sum_add_encoded(struct exact_sum *sum, struct colander_slice encoded,
                      size_t *bytes, struct colander_error *err)
{
    int64_t digits[PLACES];
    struct exact_sum other = {.digits = digits, .loose = 1};
    const uint8_t *head = encoded.data;

    if (encoded.size < HEAD_SIZE || head[24] > 7 || head[25] > 1 ||
        head[26] + head[27] > ENCODED_PLACES ||
        encoded.size != HEAD_SIZE + 8 * (size_t)head[27] ||
        !read_digits(head + HEAD_SIZE, digits, head[27]))
        return COLANDER_FAIL(err, COLANDER_INVALID, "a sum is malformed");
    other.integers = (__int128)((unsigned __int128)bytes_get_be64(head) << 64 |
                                bytes_get_be64(head + 8));
    other.count = bytes_get_be64(head + 16);
    other.specials = head[24];
    other.has_doubles = head[25] != 0;
    other.first = head[26];
    other.digit_count = head[27];
    return exact_sum_merge(sum, &other, bytes, err);
}

/* --------------------------------------------------------------- result --- */

/* Spreads a 128 bit integer over the places from that of 1 on. */
static void
add_integers(int64_t *digits, __int128 integers)
{
    const size_t place = UNIT_BITS / DIGIT_BITS;
    const unsigned shift = UNIT_BITS % DIGIT_BITS;
    const bool is_negative = integers < 0;
    unsigned __int128 left = is_negative ? -(unsigned __int128)integers
                                         : (unsigned __int128)integers;

    for (size_t i = place; left != 0; i++) {
        const uint64_t part = (uint64_t)(left & (uint64_t)DIGIT_MASK) << shift;
        const int64_t low = (int64_t)(part & (uint64_t)DIGIT_MASK);
        const int64_t high = (int64_t)(part >> DIGIT_BITS);

        digits[i] += is_negative ? -low : low;
        digits[i + 1] += is_negative ? -high : high;
        left >>= DIGIT_BITS;
    }
}

/* Returns whether the number is negative, and makes it its absolute value. */
static bool
make_positive(int64_t *digits)
{
    const bool is_negative = digits[PLACES - 1] < 0;

    if (is_negative) {
        for (size_t i = 0; i < PLACES; i++)
            digits[i] = -digits[i];
        carry(digits, PLACES);
    }
    return is_negative;
}

/* Divides carried digits, and returns whether there is a rest. */
static bool
divide(int64_t *digits, size_t count, uint64_t by)
{
    unsigned __int128 rest = 0;

    for (size_t i = count; i-- > 0;) {
        rest = rest << DIGIT_BITS | (uint64_t)digits[i];
        digits[i] = (int64_t)(rest / by);
        rest %= by;
    }
    return rest != 0;
}

/* Rounds to a whole number of the least double, which is 12 to 64 bits above
 * the lowest one. */
static double
round_small(uint64_t bits, int exponent)
{
    const int cut = -UNIT_BITS - exponent;
    const uint64_t half = UINT64_C(1) << (cut - 1);
    const uint64_t rest = bits & (2 * half - 1);
    uint64_t number = cut == 64 ? 0 : bits >> cut;

    number += rest > half || (rest == half && number % 2 == 1);
    return ldexp((double)number, -UNIT_BITS);
}

/* Returns the double nearest to carried digits, with the lower places, and a
 * bit more (is_more); the even one of two. */
static double
round_digits(const int64_t *digits, bool is_more)
{
    size_t top = LOWER + PLACES - 1;
    uint64_t bits;
    int unused; /* bits of the 96 that are 0 */
    int exponent;
    unsigned __int128 window = 0;

    while (top > 2 && digits[top] == 0)
        top--;
    for (size_t i = 0; i <= 2; i++)
        window = window << DIGIT_BITS | (uint64_t)digits[top - i];
    for (size_t i = 0; i + 2 < top; i++)
        is_more |= digits[i] != 0;
    if (window == 0)
        return 0;
    exponent = (int)(top - 2 - LOWER) * DIGIT_BITS - UNIT_BITS;
    unused = (window >> 64) != 0
                 ? __builtin_clzll((uint64_t)(window >> 64)) - 32
                 : 32 + __builtin_clzll((uint64_t)window);
    if (unused <= 32) { /* keep 64 bits, and the others as one more */
        const int cut = 32 - unused;

        is_more |= (window & (((unsigned __int128)1 << cut) - 1)) != 0;
        window >>= cut;
        exponent += cut;
    }
    bits = (uint64_t)window;
    if (is_more)
        bits |= 1; /* enough to decide a rounding, as a double has 53 */
    return exponent + 64 - __builtin_clzll(bits) < 53 - UNIT_BITS
               ? round_small(bits, exponent)
               : ldexp((double)bits, exponent);
}

/* Returns the double nearest to the sum divided by `count`. */
static double
nearest(struct exact_sum *sum, uint64_t count)
{
    int64_t all[LOWER + PLACES + 1] = {0};
    int64_t *digits = all + LOWER;
    bool is_negative;
    double number;

    if ((sum->specials & SPECIAL_NAN) != 0 ||
        sum->specials == (SPECIAL_MORE | SPECIAL_LESS))
        return (double)NAN;
    if (sum->specials != 0)
        return sum->specials == SPECIAL_MORE ? HUGE_VAL : -HUGE_VAL;
    for (size_t i = 0; i < sum->digit_count; i++)
        digits[i + sum->first] = sum->digits[i];
    add_integers(digits, sum->integers);
    carry(digits, PLACES);
    is_negative = make_positive(digits);
    number = round_digits(all, count > 1 && divide(all, LOWER + PLACES, count));
    return is_negative ? -number : number;
}

struct colander_value
exact_sum_value(struct exact_sum *sum)
{
    if (sum->has_doubles || sum->integers > (__int128)UINT64_MAX ||
        sum->integers < (__int128)INT64_MIN)
        return colander_double(nearest(sum, 1));
    return sum->integers > (__int128)INT64_MAX
               ? colander_unsigned((uint64_t)sum->integers)
               : colander_integer((int64_t)sum->integers);
}

struct colander_value
exact_sum_average(struct exact_sum *sum)
{
    if (sum->count == 0)
        return colander_null();
    return colander_double(nearest(sum, sum->count));
}

void
exact_sum_release(struct exact_sum *sum)
{
    free(sum->digits);
    memset(sum, 0, sizeof(*sum));
}
