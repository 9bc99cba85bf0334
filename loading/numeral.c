/*
 * Numerals: see numeral.h.
 *
 * SPDX-License-Identifier: MIT
 */
#include "loading/numeral.h"

#include <float.h>
#include <locale.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#define DIGITS_EXACT 19 /* that a 64-bit number holds, whatever they are */
#define EXPONENT_MAX INT64_C(1000000000000)

/* ------------------------------------------------------------ scanning --- */

/* What is left of the text. */
struct scanner {
    const uint8_t *at;
    const uint8_t *end;
};

static bool
is_digit(const struct scanner *scanner)
{
    return scanner->at < scanner->end && (uint8_t)(*scanner->at - '0') <= 9;
}

static bool
accept(struct scanner *scanner, uint8_t byte)
{
    if (scanner->at == scanner->end || *scanner->at != byte)
        return false;
    scanner->at++;
    return true;
}

/* Takes digits; answers how many, zeros ahead included. */
static size_t
scan_digits(struct scanner *scanner, struct numeral *numeral)
{
    const uint8_t *from = scanner->at;
    uint64_t significand = numeral->significand;
    uint64_t count = numeral->digit_count;

    for (; is_digit(scanner); scanner->at++) {
        uint64_t digit = (uint64_t)(*scanner->at - '0');

        if (count < DIGITS_EXACT)
            significand = significand * 10 + digit;
        count += count > 0 || digit > 0;
    }
    numeral->significand = significand;
    numeral->digit_count = count;
    return (size_t)(scanner->at - from);
}

/* What stands behind an e. */
static bool
scan_exponent(struct scanner *scanner, int64_t *exponent)
{
    bool is_negative = accept(scanner, '-');
    int64_t magnitude = 0;

    if (!is_negative)
        (void)accept(scanner, '+');
    if (!is_digit(scanner))
        return false;
    for (; is_digit(scanner); scanner->at++) {
        if (magnitude < EXPONENT_MAX)
            magnitude = magnitude * 10 + (*scanner->at - '0');
    }
    *exponent += is_negative ? -magnitude : magnitude;
    return true;
}

bool
numeral_scan(struct colander_slice text, enum numeral_grammar grammar,
             struct numeral *numeral)
{
    struct scanner scanner = {text.data, text.data + text.size};
    bool is_loose = grammar == NUMERAL_LOOSE;
    bool has_zero;
    size_t whole;
    size_t part = 0;

    memset(numeral, 0, sizeof(*numeral));
    numeral->is_whole = true;
    numeral->is_negative = accept(&scanner, '-');
    if (is_loose && !numeral->is_negative)
        (void)accept(&scanner, '+');

    numeral->digits.data = scanner.at;
    has_zero = scanner.at < scanner.end && *scanner.at == '0';
    whole = scan_digits(&scanner, numeral);
    if (!is_loose && (whole == 0 || (has_zero && whole > 1)))
        return false;
    if (accept(&scanner, '.')) {
        numeral->is_whole = false;
        part = scan_digits(&scanner, numeral);
        numeral->exponent = -(int64_t)part;
        if (part == 0 && !is_loose)
            return false;
    }
    if (whole + part == 0)
        return false;
    numeral->digits.size = (size_t)(scanner.at - numeral->digits.data);
    if (accept(&scanner, 'e') || accept(&scanner, 'E')) {
        numeral->is_whole = false;
        if (!scan_exponent(&scanner, &numeral->exponent))
            return false;
    }
    return scanner.at == scanner.end;
}

/* ------------------------------------------------------------- reading --- */

bool
numeral_integer(const struct numeral *numeral, struct colander_value *value)
{
    uint64_t magnitude = numeral->significand;

    if (!numeral->is_whole || numeral->digit_count > DIGITS_EXACT + 1)
        return false;
    if (numeral->digit_count > DIGITS_EXACT) {
        const struct colander_slice digits = numeral->digits;
        uint64_t last = (uint64_t)(digits.data[digits.size - 1] - '0');

        if (magnitude > (UINT64_MAX - last) / 10)
            return false;
        magnitude = magnitude * 10 + last;
    }
    if (!numeral->is_negative)
        *value = colander_unsigned(magnitude);
    else if (magnitude <= (uint64_t)INT64_MAX)
        *value = colander_integer(-(int64_t)magnitude);
    else if (magnitude == (uint64_t)INT64_MAX + 1)
        *value = colander_integer(INT64_MIN);
    else
        return false;
    return true;
}

/* Ten to the index: doubles that are exact. */
static const double powers[] = {
    1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
    1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22,
};

#define POWER_MAX ((int64_t)(sizeof(powers) / sizeof(powers[0])) - 1)

/* One rounding of two exact doubles is the nearest to what they make. */
static bool
read_exactly(const struct numeral *numeral, double *number)
{
    double significand = (double)numeral->significand;

    if (FLT_EVAL_METHOD != 0 || numeral->digit_count > DIGITS_EXACT ||
        numeral->significand > UINT64_C(1) << DBL_MANT_DIG ||
        numeral->exponent < -POWER_MAX || numeral->exponent > POWER_MAX)
        return false;
    *number = numeral->exponent < 0 ? significand / powers[-numeral->exponent]
                                    : significand * powers[numeral->exponent];
    return true;
}

/* What lies exactly between two doubles has fewer digits than this. */
#define DIGITS_TELLING 800

static locale_t plain_locale; /* where a point is a point */
static pthread_once_t plain_locale_once = PTHREAD_ONCE_INIT;

static void
make_plain_locale(void)
{
    plain_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
}

/* All digits that tell, without zeros ahead. If any other is behind these, a
 * one stands for them. */
static size_t
copy_digits(const struct numeral *numeral, char *to)
{
    size_t count = 0;

    for (size_t i = 0; i < numeral->digits.size; i++) {
        char digit = (char)numeral->digits.data[i];

        if (digit == '.' || (count == 0 && digit == '0'))
            continue;
        if (count < DIGITS_TELLING) {
            to[count++] = digit;
        } else if (digit != '0') {
            to[count++] = '1';
            break;
        }
    }
    return count;
}

static bool
read_slowly(const struct numeral *numeral, double *number)
{
    char text[DIGITS_TELLING + 32];
    int64_t exponent = numeral->exponent + (int64_t)numeral->digit_count;
    size_t count;

    if (pthread_once(&plain_locale_once, make_plain_locale) != 0 ||
        plain_locale == (locale_t)0)
        return false;
    count = copy_digits(numeral, text);
    exponent -= (int64_t)count;
    if (exponent > 9999)
        exponent = 9999;
    if (exponent < -9999)
        exponent = -9999;
    snprintf(text + count, sizeof(text) - count, "e%d", (int)exponent);
    *number = strtod_l(text, NULL, plain_locale);
    return true;
}

bool
numeral_double(const struct numeral *numeral, struct colander_value *value)
{
    double number = 0;

    if (numeral->digit_count > 0 && !read_exactly(numeral, &number) &&
        !read_slowly(numeral, &number))
        return false;
    if (isinf(number))
        return false;
    *value = colander_double(numeral->is_negative ? -number : number);
    return true;
}
