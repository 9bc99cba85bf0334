/*
 * Brackets of JSON, counted outside strings; of the first 64 that are open it
 * is known of which kind they are.
 *
 * SPDX-License-Identifier: MIT
 */
#include "loading/json_brackets.h"

enum byte_kind {
    BYTE_OTHER,
    BYTE_QUOTE,
    BYTE_OPENS,
    BYTE_CLOSES,
};

/* Bytes that matter outside strings. */
static const uint8_t kinds[256] = {
    ['"'] = BYTE_QUOTE,  ['{'] = BYTE_OPENS,  ['['] = BYTE_OPENS,
    ['}'] = BYTE_CLOSES, [']'] = BYTE_CLOSES,
};

void
json_scan_begin(struct json_split *json)
{
    json->is_in_string = false;
    json->is_escaped = false;
    json->depth = 0;
}

static enum json_scan
broken(struct json_split *json, enum json_fault fault, size_t at)
{
    json->fault = (uint8_t)fault;
    json->fault_at = at;
    return JSON_SCAN_BROKEN;
}

#define LOW_BITS UINT64_C(0x0101010101010101)
#define HIGH_BITS UINT64_C(0x8080808080808080)

/* A high bit where a byte of `word` is zero; perhaps some behind the first. */
static uint64_t
zeros(uint64_t word)
{
    return (word - LOW_BITS) & ~word & HIGH_BITS;
}

/* The first byte of a string that matters: a quote, a backslash, a newline. */
static size_t
string_step(const struct split_text *text, size_t at)
{
    uint64_t word;

    for (; text->size - at >= sizeof(word); at += sizeof(word)) {
        memcpy(&word, text->data + at, sizeof(word));
        if ((zeros(word ^ LOW_BITS * '"') | zeros(word ^ LOW_BITS * '\\') |
             zeros(word ^ LOW_BITS * '\n')) != 0)
            break;
    }
    while (at < text->size && text->data[at] != '"' && text->data[at] != '\\' &&
           text->data[at] != '\n')
        at++;
    return at;
}

/* Goes through a string. False: a line ends in it. */
static bool
scan_string(struct json_split *json, const struct split_text *text,
            size_t *scanned)
{
    size_t at = *scanned;

    json->is_in_string = true;
    while (json->is_in_string && at < text->size) {
        bool was_escaped = json->is_escaped;

        json->is_escaped = false;
        if (!was_escaped)
            at = string_step(text, at);
        if (at == text->size || text->data[at] == '\n')
            break;
        if (!was_escaped) {
            json->is_escaped = text->data[at] == '\\';
            json->is_in_string = json->is_escaped;
        }
        at++;
    }
    *scanned = at;
    return !json->is_in_string || at == text->size;
}

/* The byte before `at` that is no blank; `from` is where this call began. */
static uint8_t
byte_before(const struct json_split *json, const struct split_text *text,
            size_t from, size_t at)
{
    while (at > from && json_is_blank(text->data[at - 1]))
        at--;
    return at > from ? text->data[at - 1] : json->last;
}

/* Whether a bracket may open behind `before`. */
static bool
may_open(const struct json_split *json, uint8_t before)
{
    if (json->depth == 0 || json->depth > 64)
        return true;
    if ((json->braces >> (json->depth - 1) & 1) != 0)
        return before == ':';
    return before == '[' || before == ',';
}

static void
open_bracket(struct json_split *json, bool is_brace)
{
    uint64_t bit = json->depth < 64 ? UINT64_C(1) << json->depth : 0;

    json->braces = is_brace ? json->braces | bit : json->braces & ~bit;
    json->depth++;
}

/* False: it closes another one. */
static bool
close_bracket(struct json_split *json, bool is_brace)
{
    json->depth--;
    return json->depth >= 64 ||
           (json->braces >> json->depth & 1) == (uint64_t)is_brace;
}

/* Takes the next quote or bracket; `from` is where this call began. */
static enum json_scan
scan_bracket(struct json_split *json, const struct split_text *text,
             size_t from, size_t *scanned)
{
    size_t at = *scanned;

    while (at < text->size && kinds[text->data[at]] == BYTE_OTHER)
        at++;
    *scanned = at;
    if (at == text->size)
        return JSON_SCAN_MORE;
    (*scanned)++;
    switch (kinds[text->data[at]]) {
    case BYTE_QUOTE:
        json->is_in_string = true;
        return JSON_SCAN_MORE;
    case BYTE_OPENS:
        if (!may_open(json, byte_before(json, text, from, at)))
            return broken(json, FAULT_OPENS, at);
        open_bracket(json, text->data[at] == '{');
        return JSON_SCAN_MORE;
    default:
        if (!close_bracket(json, text->data[at] == '}'))
            return broken(json, FAULT_CLOSES_OTHER, at);
        return json->depth == 0 ? JSON_SCAN_ENDED : JSON_SCAN_MORE;
    }
}

enum json_scan
json_scan(struct json_split *json, const struct split_text *text,
          size_t *scanned)
{
    size_t from = *scanned;
    enum json_scan scan = JSON_SCAN_MORE;

    while (scan == JSON_SCAN_MORE && *scanned < text->size) {
        if (!json->is_in_string)
            scan = scan_bracket(json, text, from, scanned);
        else if (!scan_string(json, text, scanned))
            scan = broken(json, FAULT_LINE_IN_STRING, *scanned);
        else if (!json->is_in_string && json->depth == 0)
            scan = JSON_SCAN_ENDED;
    }
    if (scan == JSON_SCAN_MORE)
        json->last = byte_before(json, text, from, text->size);
    return scan;
}
