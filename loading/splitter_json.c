/*
 * Splitter of JSON: counts brackets outside strings.
 *
 * It checks nothing else in a record, so other faults cost only that record. If
 * strings or brackets themselves are broken (a line ends in a string, a bracket
 * closes one of the other kind, one opens where none may) the next record
 * cannot be found, and splitting ends. The kinds of the first 64 open brackets
 * are known.
 *
 * SPDX-License-Identifier: MIT
 */
#include "loading/splitter_formats.h"

enum json_place {
    JSON_START,   /* nothing has come but perhaps an assignment */
    JSON_RECORDS, /* records have come */
    JSON_ARRAY,   /* in the array that holds them */
    JSON_AFTER,   /* after it */
};

enum json_state {
    JSON_BETWEEN,
    JSON_NESTED, /* in an object, or in an array or string, which are bad */
    JSON_WORD,   /* in a number or the like */
    JSON_BROKEN, /* nothing more can be read */
};

/* Why a record is bad. */
enum json_fault {
    FAULT_NOT_OBJECT,
    FAULT_LINE_IN_STRING,
    FAULT_CLOSES_OTHER,
    FAULT_OPENS,
    FAULT_STRAY,
    FAULT_AFTER,
    FAULT_CUT_OFF,
};

enum json_scan {
    JSON_SCAN_MORE,
    JSON_SCAN_ENDED,
    JSON_SCAN_BROKEN, /* fault and fault_at say how and where */
};

/* ------------------------------------------------------------ brackets --- */

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

static enum json_scan
broken(struct json_split *json, enum json_fault fault, size_t at)
{
    json->fault = (uint8_t)fault;
    json->fault_at = at;
    return JSON_SCAN_BROKEN;
}

#define LOW_BITS UINT64_C(0x0101010101010101)
#define HIGH_BITS UINT64_C(0x8080808080808080)

/* Returns a word with a high bit for each zero byte; those after the first may
 * be wrong. */
static uint64_t
zeros(uint64_t word)
{
    return (word - LOW_BITS) & ~word & HIGH_BITS;
}

/* Returns where a quote, backslash or newline is next. */
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

/* Scans a string. Returns false if a line ends in it. */
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

/* Returns the last byte before `at` that is not blank. `from` is where this
 * call began. */
static uint8_t
byte_before(const struct json_split *json, const struct split_text *text,
            size_t from, size_t at)
{
    while (at > from && split_is_blank(text->data[at - 1]))
        at--;
    return at > from ? text->data[at - 1] : json->last;
}

/* Whether a bracket may open after `before`. */
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

/* Returns false if the open one is of the other kind. */
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

/* Continues from *scanned to where it ends. */
static enum json_scan
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

/* ----------------------------------------------------- between records --- */

/* Of an assignment; no name is longer. */
#define PREFIX_SIZE_MAX 1000

static bool
is_word(uint8_t byte)
{
    uint8_t letter = byte | 0x20;

    return (letter >= 'a' && letter <= 'z') || (byte >= '0' && byte <= '9') ||
           byte == '-' || byte == '+' || byte == '.' || byte == '_' ||
           byte == '$';
}

/* Whether `byte` may be between records. The brackets of the array change
 * `place`. */
static bool
is_between(struct json_split *json, uint8_t byte)
{
    if (split_is_blank(byte))
        return true;
    if (byte == ';')
        return json->place != JSON_ARRAY;
    if (byte == ',')
        return json->place != JSON_AFTER;
    if (byte == '[' && json->place == JSON_START) {
        json->place = JSON_ARRAY;
        return true;
    }
    if (byte == ']' && json->place == JSON_ARRAY) {
        json->place = JSON_AFTER;
        return true;
    }
    return false;
}

/* Bytes of the assignment that `text` begins with, with its `=`; 0 when there
 * is none. Returns false if more text is needed. */
static bool
assignment_size(const struct split_text *text, size_t *size)
{
    size_t at = 0;

    *size = 0;
    if (is_word(text->data[0]))
        while (at < text->size && at < PREFIX_SIZE_MAX &&
               (is_word(text->data[at]) || split_is_blank(text->data[at])))
            at++;
    if (at < text->size && text->data[at] == '=')
        *size = at + 1;
    return at < text->size || text->is_end;
}

/* Skips to the next record. Returns false if more text is needed. */
static bool
step_to_record(struct splitter *splitter, struct split_text *text,
               struct split_record *ended)
{
    struct json_split *json = &splitter->json;
    size_t size;

    for (;;) {
        size_t at = 0;

        while (at < text->size && is_between(json, text->data[at]))
            at++;
        split_step(text, at, ended);
        if (text->size == 0 || json->place != JSON_START)
            return true;
        if (!assignment_size(text, &size))
            return false;
        if (size == 0)
            return true;
        split_step(text, size, ended);
    }
}

static void
begin_record(struct splitter *splitter, const struct split_text *text)
{
    struct json_split *json = &splitter->json;
    uint8_t first = text->data[0];

    json->is_object = first == '{';
    json->is_over = false;
    json->is_in_string = false;
    json->is_escaped = false;
    json->depth = 0;
    json->fault = FAULT_NOT_OBJECT;
    json->fault_at = 0;
    splitter->state = is_word(first) ? JSON_WORD : JSON_NESTED;
    if (json->place == JSON_AFTER)
        json->fault = FAULT_AFTER;
    else if (first != '{' && first != '[' && first != '"' && !is_word(first))
        json->fault = FAULT_STRAY;
    if (json->fault != FAULT_NOT_OBJECT)
        splitter->state = JSON_BROKEN;
    /* a file that is repaired there may still begin with an array */
    if (json->place == JSON_START && splitter->state != JSON_BROKEN)
        json->place = JSON_RECORDS;
}

/* ------------------------------------------------------------- the end --- */

static void
fail(const struct splitter *splitter, struct colander_error *err)
{
    static const char *const faults[] = {
        [FAULT_NOT_OBJECT] = "the value is not an object",
        [FAULT_LINE_IN_STRING] = "the line ends inside a string",
        [FAULT_CLOSES_OTHER] = "the bracket closes one of the other kind",
        [FAULT_OPENS] = "no bracket may open here",
        [FAULT_STRAY] = "no value begins here",
        [FAULT_AFTER] = "there is text after the end of the array",
        [FAULT_CUT_OFF] = "the file ends inside the record",
    };

    (void)COLANDER_FAIL(err, COLANDER_INVALID, "%s",
                        faults[splitter->json.fault]);
}

static enum split
bad(struct splitter *splitter, const struct split_text *text, size_t size,
    struct split_record *ended, struct colander_error *err)
{
    size_t record_size = size;

    while (record_size > 0 && split_is_blank(text->data[record_size - 1]))
        record_size--;
    split_end(splitter, text, size, record_size, ended);
    ended->at = splitter->json.fault_at;
    if (ended->at > record_size)
        ended->at = record_size;
    fail(splitter, err);
    return SPLIT_BAD;
}

static enum split
next_word(struct splitter *splitter, const struct split_text *text,
          struct split_record *ended, struct colander_error *err)
{
    size_t at = splitter->scanned;

    while (at < text->size && is_word(text->data[at]))
        at++;
    splitter->scanned = at;
    if (at == text->size && !text->is_end)
        return SPLIT_MORE;
    return bad(splitter, text, at, ended, err);
}

static enum split
next_nested(struct splitter *splitter, const struct split_text *text,
            struct split_record *ended, struct colander_error *err)
{
    struct json_split *json = &splitter->json;

    switch (json_scan(json, text, &splitter->scanned)) {
    case JSON_SCAN_MORE:
        json->fault = FAULT_CUT_OFF;
        json->fault_at = text->size;
        if (!text->is_end)
            return SPLIT_MORE;
        json->is_over = true; /* do not report the array as well */
        return bad(splitter, text, text->size, ended, err);
    case JSON_SCAN_BROKEN:
        splitter->state = JSON_BROKEN;
        return SPLIT_BROKEN;
    case JSON_SCAN_ENDED:
        break;
    }
    if (!json->is_object) {
        json->fault = FAULT_NOT_OBJECT;
        json->fault_at = 0;
        return bad(splitter, text, splitter->scanned, ended, err);
    }
    split_end(splitter, text, splitter->scanned, splitter->scanned, ended);
    return SPLIT_RECORD;
}

/* The text has ended. An array that was not closed is reported once. A load may
 * continue in it, when the file is complete. */
static enum split
at_end(struct splitter *splitter, struct colander_error *err)
{
    if (splitter->json.place != JSON_ARRAY || splitter->json.is_over)
        return SPLIT_END;
    splitter->json.is_over = true;
    (void)COLANDER_FAIL(err, COLANDER_INVALID,
                        "the file ends before the array does");
    return SPLIT_BAD;
}

enum split
splitter_json_next(struct splitter *splitter, struct split_text text,
                   struct split_record *ended, struct colander_error *err)
{
    enum split split = SPLIT_BROKEN;

    if (splitter->state == JSON_BETWEEN) {
        if (!step_to_record(splitter, &text, ended))
            return SPLIT_MORE;
        if (text.size == 0)
            return text.is_end ? at_end(splitter, err) : SPLIT_MORE;
        begin_record(splitter, &text);
    }
    if (splitter->state == JSON_WORD)
        return next_word(splitter, &text, ended, err);
    if (splitter->state == JSON_NESTED)
        split = next_nested(splitter, &text, ended, err);
    if (split == SPLIT_BROKEN) {
        ended->at = splitter->json.fault_at;
        fail(splitter, err);
    }
    return split;
}
