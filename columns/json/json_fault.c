/*
 * The first fault of a text: the grammar of RFC 8259, rule by rule.
 *
 * Recursion is at most as deep as a row may be.
 *
 * SPDX-License-Identifier: MIT
 */
#include "columns/json/json_fault.h"

#include "columns/limits.h"
#include "columns/numbers.h"
#include "columns/utf8.h"

#include <ctype.h>
#include <stdlib.h>

#define AS_TEXT(number) AS_TEXT_AGAIN(number)
#define AS_TEXT_AGAIN(number) #number
#define TOO_DEEP "row has more than " AS_TEXT(COLANDER_ROW_DEPTH_MAX) " levels"

struct scan {
    const uint8_t *begin;
    const uint8_t *at;
    const uint8_t *end;
    struct json_fault *fault;
};

/* The functions below skip what their name says, or set the fault and return
 * false. */
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

static bool
scan_hex(struct scan *scan, unsigned *code_unit)
{
    char digits[5] = "";

    for (int i = 0; i < 4; i++, scan->at++) {
        if (!isxdigit(peek(scan)))
            return fault_here(scan, "\\u without four hexadecimal digits");
        digits[i] = (char)peek(scan);
    }
    *code_unit = (unsigned)strtoul(digits, NULL, 16);
    return true;
}

/* After \u: a character, or the two halves of one. */
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
                    "half of a surrogate pair is not a character");
}

/* After the backslash. */
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

/* The scan is at a minus or a digit. */
static bool
scan_number(struct scan *scan)
{
    struct colander_slice text =
        colander_slice_of(scan->at, (size_t)(scan->end - scan->at));
    struct colander_value value;
    bool is_whole;

    text.size = colander_number_size(text, COLANDER_NUMBER_JSON, &is_whole);
    scan->at += text.size;
    if (text.size == 0 || isdigit(peek(scan)))
        return fault_of(scan, text.data, COLANDER_INVALID, "malformed number");
    if (is_whole && !colander_number_integer(text, &value))
        return fault_of(scan, text.data, COLANDER_INVALID,
                        "integer has more than 64 bits");
    if (!is_whole && !colander_number_double(text, &value))
        return fault_of(scan, text.data, COLANDER_INVALID,
                        "number is too large for a double");
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
        return fault_here(scan, "a name must be followed by a colon");
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
        return fault_here(scan, is_map ? "an object continues with , or }"
                                       : "an array continues with , or ]");
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
    if (first == '-' || isdigit(first))
        return scan_number(scan);
    return scan_word(scan);
}

bool
json_fault_find(struct colander_slice text, bool is_row,
                struct json_fault *fault)
{
    struct scan scan = {.begin = text.data, .at = text.data, .fault = fault};

    if (text.size > 0)
        scan.end = text.data + text.size;
    else
        scan.end = text.data;
    skip_space(&scan);
    if (scan.at == scan.end)
        return !fault_here(&scan, "text is empty");
    if (is_row && peek(&scan) != '{')
        return !fault_here(&scan, "text is not an object");
    if (!scan_value(&scan, is_row ? 0 : 1))
        return true;
    skip_space(&scan);
    if (scan.at < scan.end)
        return !fault_here(&scan, is_row ? "text continues after its object"
                                         : "text after the end of the value");
    return false;
}
