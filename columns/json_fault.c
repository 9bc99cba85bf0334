/*
 * The fault of a text: the grammar of RFC 8259, rule by rule.
 *
 * It goes down no deeper than a row may, so its own calls are bounded.
 *
 * SPDX-License-Identifier: MIT
 */
#include "columns/json_fault.h"

#include "columns/limits.h"
#include "columns/utf8.h"

/* The decimal exponent above which no double is, and of a number so long that
 * it is not looked at further. */
#define EXPONENT_MAX 308
#define EXPONENT_HUGE 100000000

#define AS_TEXT(number) AS_TEXT_AGAIN(number)
#define AS_TEXT_AGAIN(number) #number
#define TOO_DEEP "row has more than " AS_TEXT(COLANDER_ROW_DEPTH_MAX) " levels"

struct scan {
    const uint8_t *begin;
    const uint8_t *at;
    const uint8_t *end;
    struct json_fault *fault;
};

/* The scans below step over what they are named after, or give false with the
 * fault told. */
static bool
fault_of(struct scan *scan, const uint8_t *at, enum colander_code code,
         const char *message)
{
    scan->fault->code = code;
    scan->fault->message = message;
    scan->fault->at = (size_t)(at - scan->begin);
    return false;
}

static bool
fault_here(struct scan *scan, const char *message)
{
    return fault_of(scan, scan->at, COLANDER_INVALID, message);
}

/* The byte that the scan is at; 0, which is nowhere welcome, at the end. */
static uint8_t
peek(const struct scan *scan)
{
    return scan->at < scan->end ? *scan->at : 0;
}

static void
skip_space(struct scan *scan)
{
    while (peek(scan) == ' ' || peek(scan) == '\n' || peek(scan) == '\r' ||
           peek(scan) == '\t')
        scan->at++;
}

/* Steps over `byte` if it is next. */
static bool
take(struct scan *scan, char byte)
{
    if (peek(scan) != (uint8_t)byte)
        return false;
    scan->at++;
    return true;
}

/* ------------------------------------------------------------- strings --- */

/* Four hexadecimal digits. */
static bool
scan_hex(struct scan *scan, unsigned *code_unit)
{
    *code_unit = 0;
    for (int i = 0; i < 4; i++, scan->at++) {
        uint8_t c = peek(scan);
        unsigned digit = c | 0x20u; /* as a small letter */

        if (c >= '0' && c <= '9')
            digit = c - (unsigned)'0';
        else if (digit >= 'a' && digit <= 'f')
            digit -= 'a' - 10u;
        else
            return fault_here(scan, "\\u without four hexadecimal digits");
        *code_unit = *code_unit << 4 | digit;
    }
    return true;
}

/* What follows \u: a character, or the first half of one and its second. */
static bool
scan_character(struct scan *scan)
{
    const uint8_t *start = scan->at - 2;
    unsigned first;
    unsigned second = 0;

    if (!scan_hex(scan, &first))
        return false;
    if (first < 0xd800 || first > 0xdfff)
        return true;
    if (first < 0xdc00 && take(scan, '\\') && take(scan, 'u') &&
        !scan_hex(scan, &second))
        return false;
    if (second >= 0xdc00 && second <= 0xdfff)
        return true;
    return fault_of(scan, start, COLANDER_INVALID,
                    "half of a surrogate pair is no character");
}

/* The backslash is behind. */
static bool
scan_escape(struct scan *scan)
{
    if (take(scan, 'u'))
        return scan_character(scan);
    if (peek(scan) == 0 || strchr("\"\\/bfnrt", peek(scan)) == NULL) {
        scan->at--;
        return fault_here(scan, "unknown escape");
    }
    scan->at++;
    return true;
}

/* The scan is at a quote. */
static bool
scan_string(struct scan *scan)
{
    const uint8_t *start = scan->at++;

    while (scan->at < scan->end) {
        size_t size =
            utf8_character_size(scan->at, (size_t)(scan->end - scan->at));

        if (take(scan, '"'))
            return true;
        if (take(scan, '\\')) {
            if (!scan_escape(scan))
                return false;
            continue;
        }
        if (size == 0)
            return fault_here(scan, "text is not UTF-8");
        if (*scan->at < 0x20)
            return fault_here(scan, "control character in a string");
        scan->at += size;
    }
    return fault_of(scan, start, COLANDER_INVALID, "string has no end");
}

/* ------------------------------------------------------------- numbers --- */

static struct colander_slice
scan_digits(struct scan *scan)
{
    const uint8_t *start = scan->at;

    while (peek(scan) >= '0' && peek(scan) <= '9')
        scan->at++;
    return colander_slice_of(start, (size_t)(scan->at - start));
}

/* `digits` without zeros before them. */
static bool
fits_64_bits(struct colander_slice digits, bool is_negative)
{
    const char *max =
        is_negative ? "9223372036854775808" : "18446744073709551615";
    struct colander_slice limit = colander_slice_text(max);

    if (digits.size != limit.size)
        return digits.size < limit.size;
    return colander_slice_compare(digits, limit) <= 0;
}

/* The part behind e, as far as it matters. */
static bool
scan_exponent(struct scan *scan, int *exponent)
{
    bool is_negative = take(scan, '-');
    struct colander_slice digits;

    if (!is_negative)
        (void)take(scan, '+');
    digits = scan_digits(scan);
    if (digits.size == 0)
        return fault_here(scan, "an exponent without digits");
    *exponent = 0;
    for (size_t i = 0; i < digits.size && *exponent < EXPONENT_HUGE; i++)
        *exponent = *exponent * 10 + (digits.data[i] - '0');
    if (is_negative)
        *exponent = -*exponent;
    return true;
}

/* Whether the number goes to infinity, but for the few between the largest
 * double and the next power of ten. */
static bool
is_beyond(struct colander_slice whole, struct colander_slice fraction,
          int exponent)
{
    long magnitude = (long)whole.size + exponent;
    size_t zeros = 0;

    if (whole.data[0] == '0') {
        while (zeros < fraction.size && fraction.data[zeros] == '0')
            zeros++;
        if (zeros == fraction.size)
            return false;
        magnitude = exponent - (long)zeros;
    }
    return magnitude - 1 > EXPONENT_MAX;
}

/* The scan is at a minus or a digit. */
static bool
scan_number(struct scan *scan)
{
    const uint8_t *start = scan->at;
    bool is_negative = take(scan, '-');
    struct colander_slice whole = scan_digits(scan);
    struct colander_slice fraction = {NULL, 0};
    bool is_integer = true;
    int exponent = 0;

    if (whole.size == 0)
        return fault_here(scan, "a minus without digits");
    if (whole.size > 1 && whole.data[0] == '0')
        return fault_of(scan, start, COLANDER_INVALID,
                        "a number with a zero before it");
    if (take(scan, '.')) {
        is_integer = false;
        fraction = scan_digits(scan);
        if (fraction.size == 0)
            return fault_here(scan, "a point without digits");
    }
    if (take(scan, 'e') || take(scan, 'E')) {
        is_integer = false;
        if (!scan_exponent(scan, &exponent))
            return false;
    }
    if (is_integer && !fits_64_bits(whole, is_negative))
        return fault_of(scan, start, COLANDER_INVALID,
                        "integer has more than 64 bits");
    if (!is_integer && is_beyond(whole, fraction, exponent))
        return fault_of(scan, start, COLANDER_INVALID,
                        "number is beyond all doubles");
    return true;
}

/* -------------------------------------------------------------- values --- */

static bool scan_value(struct scan *scan, int depth);

static bool
scan_word(struct scan *scan)
{
    static const char *const words[] = {"true", "false", "null"};

    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        size_t size = strlen(words[i]);

        if ((size_t)(scan->end - scan->at) >= size &&
            memcmp(scan->at, words[i], size) == 0) {
            scan->at += size;
            return true;
        }
    }
    return fault_here(scan, "no value begins here");
}

static bool
scan_name(struct scan *scan)
{
    skip_space(scan);
    if (peek(scan) != '"')
        return fault_here(scan, "a name must begin here, with a quote");
    if (!scan_string(scan))
        return false;
    skip_space(scan);
    if (!take(scan, ':'))
        return fault_here(scan, "a name without a colon behind it");
    return true;
}

/* The scan is at the bracket; `depth` counts the containers around it. */
static bool
scan_container(struct scan *scan, int depth)
{
    bool is_map = peek(scan) == '{';
    char end = is_map ? '}' : ']';

    if (depth == COLANDER_ROW_DEPTH_MAX)
        return fault_of(scan, scan->at, COLANDER_LIMIT, TOO_DEEP);
    scan->at++;
    skip_space(scan);
    if (take(scan, end))
        return true;
    do {
        if (is_map && !scan_name(scan))
            return false;
        if (!scan_value(scan, depth + 1))
            return false;
        skip_space(scan);
    } while (take(scan, ','));
    if (!take(scan, end))
        return fault_here(scan, is_map ? "an object goes on with , or }"
                                       : "an array goes on with , or ]");
    return true;
}

static bool
scan_value(struct scan *scan, int depth)
{
    uint8_t first;

    skip_space(scan);
    first = peek(scan);
    if (first == '{' || first == '[')
        return scan_container(scan, depth);
    if (first == '"')
        return scan_string(scan);
    if (first == '-' || (first >= '0' && first <= '9'))
        return scan_number(scan);
    return scan_word(scan);
}

bool
json_fault_find(struct colander_slice text, struct json_fault *fault)
{
    struct scan scan = {.begin = text.data, .at = text.data, .fault = fault};

    if (text.size > 0)
        scan.end = text.data + text.size;
    else
        scan.end = text.data;
    skip_space(&scan);
    if (scan.at == scan.end)
        return !fault_here(&scan, "text is empty");
    if (peek(&scan) != '{')
        return !fault_here(&scan, "text is not an object");
    if (!scan_container(&scan, 0))
        return true;
    skip_space(&scan);
    if (scan.at < scan.end)
        return !fault_here(&scan, "text goes on behind its object");
    return false;
}
