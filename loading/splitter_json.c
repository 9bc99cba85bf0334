/*
 * Splitter of JSON: counts brackets outside strings.
 *
 * Nothing else of a record is looked at, so that one with faults inside of it
 * is still known from the next. Where strings or brackets themselves are
 * broken (a line ends in a string; a bracket closes another one; one opens
 * where none may, as in the record behind one that lacks its last bracket)
 * nothing can be trusted but how the file is laid out: a record begins in the
 * next line that begins as the line of this one did.
 *
 * SPDX-License-Identifier: MIT
 */
#include "loading/json_brackets.h"

enum json_place {
    JSON_START,   /* nothing has come but perhaps an assignment */
    JSON_RECORDS, /* records have come */
    JSON_ARRAY,   /* in the array that holds them */
    JSON_BEHIND,  /* behind it, or all is lost */
};

enum json_state {
    JSON_BETWEEN,
    JSON_NESTED, /* in an object, or an array or string that is none */
    JSON_WORD,   /* in a number or the like */
    JSON_RESYNC, /* what comes is lost up to a line that begins well */
    JSON_REST,   /* all that comes is */
};

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

/* ----------------------------------------------------- between records --- */

/* Notes a byte between records: how its line begins is how those will that
 * begin a record. */
static void
note_layout(struct json_split *json, uint8_t byte)
{
    bool is_tab = byte == '\t';

    if (byte == '\n') {
        json->line_begins = true;
        json->has_indent = false;
        json->indent_is_mixed = false;
        json->indent_size = 0;
    } else if (json->line_begins && (is_tab || byte == ' ')) {
        if (json->indent_size == 0)
            json->indent_is_tabs = is_tab;
        if (json->indent_is_tabs != is_tab || json->indent_size == UINT8_MAX)
            json->indent_is_mixed = true;
        else
            json->indent_size++;
    } else if (byte != '\r') {
        json->line_begins = false;
    }
}

/* Whether `byte` may stand between records; an array's brackets lead to
 * another place. */
static bool
is_between(struct json_split *json, uint8_t byte)
{
    if (json_is_blank(byte))
        return true;
    if (byte == ';')
        return json->place != JSON_ARRAY;
    if (byte == ',')
        return json->place != JSON_BEHIND;
    if (byte == '[' && json->place == JSON_START) {
        json->place = JSON_ARRAY;
        return true;
    }
    if (byte == ']' && json->place == JSON_ARRAY) {
        json->place = JSON_BEHIND;
        return true;
    }
    return false;
}

/* Bytes of the assignment that `text` begins with, with its `=`; 0 when there
 * is none. False: that cannot be told yet. */
static bool
assignment_size(const struct split_text *text, size_t *size)
{
    size_t at = 0;

    *size = 0;
    if (is_word(text->data[0]))
        while (at < text->size && at < PREFIX_SIZE_MAX &&
               (is_word(text->data[at]) || json_is_blank(text->data[at])))
            at++;
    if (at < text->size && text->data[at] == '=')
        *size = at + 1;
    return at < text->size || text->is_end;
}

/* Steps to where the next record begins. False: it cannot be told yet. */
static bool
step_to_record(struct splitter *splitter, struct split_text *text,
               struct split_record *ended)
{
    struct json_split *json = &splitter->json;
    size_t size;

    for (;;) {
        size_t at = 0;

        while (at < text->size && is_between(json, text->data[at]))
            note_layout(json, text->data[at++]);
        split_step(text, at, ended);
        if (text->size == 0 || json->place != JSON_START)
            return true;
        if (!assignment_size(text, &size))
            return false;
        if (size == 0)
            return true;
        json->line_begins = false;
        split_step(text, size, ended);
    }
}

static void
lose_sync(struct splitter *splitter, const struct split_text *text,
          enum json_fault fault, size_t at)
{
    struct json_split *json = &splitter->json;
    size_t from = at;

    json->fault = (uint8_t)fault;
    json->fault_at = at;
    splitter->state = json->has_indent ? JSON_RESYNC : JSON_REST;
    /* the line that begins here may be the one */
    while (from > 0 && json_is_blank(text->data[from - 1]) &&
           text->data[from - 1] != '\n')
        from--;
    splitter->scanned =
        from > 0 && text->data[from - 1] == '\n' ? from - 1 : at;
}

static void
begin_record(struct splitter *splitter, const struct split_text *text)
{
    struct json_split *json = &splitter->json;
    uint8_t first = text->data[0];

    if (json->line_begins)
        json->has_indent = !json->indent_is_mixed;
    json->line_begins = false;
    json->is_object = first == '{';
    json_scan_begin(json);
    json->fault = FAULT_NO_OBJECT;
    json->fault_at = 0;
    splitter->state = is_word(first) ? JSON_WORD : JSON_NESTED;
    if (json->place == JSON_BEHIND) {
        json->has_indent = false;
        lose_sync(splitter, text, FAULT_BEHIND, 0);
    } else if (first != '{' && first != '[' && first != '"' &&
               !is_word(first)) {
        lose_sync(splitter, text, FAULT_STRAY, 0);
    }
    if (json->place == JSON_START)
        json->place = JSON_RECORDS;
}

/* ------------------------------------------------------------- the end --- */

static enum split
fail(const struct splitter *splitter, struct colander_error *err)
{
    static const char *const faults[] = {
        [FAULT_NO_OBJECT] = "the value is no object",
        [FAULT_LINE_IN_STRING] = "the line ends inside a string",
        [FAULT_CLOSES_OTHER] = "the bracket closes another one than was opened",
        [FAULT_OPENS] = "a bracket opens where none may",
        [FAULT_STRAY] = "no value begins so",
        [FAULT_BEHIND] = "something stands behind the end of the array",
        [FAULT_CUT_OFF] = "the file ends inside the record",
    };

    (void)COLANDER_FAIL(err, COLANDER_INVALID, "%s",
                        faults[splitter->json.fault]);
    return SPLIT_BAD;
}

static enum split
bad(struct splitter *splitter, const struct split_text *text, size_t size,
    struct split_record *ended, struct colander_error *err)
{
    size_t record_size = size;

    while (record_size > 0 && json_is_blank(text->data[record_size - 1]))
        record_size--;
    split_end(splitter, text, size, record_size, ended);
    ended->at = splitter->json.fault_at;
    if (ended->at > record_size)
        ended->at = record_size;
    return fail(splitter, err);
}

/* All that is left, once the file has ended. */
static enum split
bad_rest(struct splitter *splitter, const struct split_text *text,
         struct split_record *ended, struct colander_error *err)
{
    if (!text->is_end)
        return SPLIT_MORE;
    splitter->json.place = JSON_BEHIND;
    return bad(splitter, text, text->size, ended, err);
}

/* Whether a record begins in the line behind the newline at `at`, as this one
 * did. False with *is_short: that cannot be told yet. */
static bool
begins_well(const struct json_split *json, const struct split_text *text,
            size_t at, bool *is_short)
{
    uint8_t blank = json->indent_is_tabs ? '\t' : ' ';
    size_t end = at + 1 + json->indent_size;

    for (at++; at < end && at < text->size; at++) {
        if (text->data[at] != blank)
            return false;
    }
    *is_short = at == text->size;
    return at < text->size && text->data[at] == '{';
}

static enum split
resync(struct splitter *splitter, const struct split_text *text,
       struct split_record *ended, struct colander_error *err)
{
    size_t at = splitter->scanned;
    bool is_short = false;

    while ((at = split_find(text, at, '\n')) < text->size) {
        if (begins_well(&splitter->json, text, at, &is_short))
            return bad(splitter, text, at, ended, err);
        if (is_short)
            break;
        at++;
    }
    splitter->scanned = at;
    return bad_rest(splitter, text, ended, err);
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
        return bad_rest(splitter, text, ended, err);
    case JSON_SCAN_BROKEN:
        lose_sync(splitter, text, (enum json_fault)json->fault, json->fault_at);
        return SPLIT_MORE; /* as its state says now */
    case JSON_SCAN_ENDED:
        break;
    }
    if (!json->is_object) {
        json->fault = FAULT_NO_OBJECT;
        json->fault_at = 0;
        return bad(splitter, text, splitter->scanned, ended, err);
    }
    split_end(splitter, text, splitter->scanned, splitter->scanned, ended);
    return SPLIT_RECORD;
}

/* Nothing is left. An array that was not closed is told once. */
static enum split
at_end(struct splitter *splitter, struct colander_error *err)
{
    if (splitter->json.place != JSON_ARRAY)
        return SPLIT_END;
    splitter->json.place = JSON_BEHIND;
    (void)COLANDER_FAIL(err, COLANDER_INVALID,
                        "the file ends before the array does");
    return SPLIT_BAD;
}

enum split
splitter_json_next(struct splitter *splitter, struct split_text text,
                   struct split_record *ended, struct colander_error *err)
{
    enum split split = SPLIT_MORE;

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
    if (splitter->state == JSON_RESYNC)
        return resync(splitter, &text, ended, err);
    if (splitter->state == JSON_REST)
        return bad_rest(splitter, &text, ended, err);
    return split;
}
