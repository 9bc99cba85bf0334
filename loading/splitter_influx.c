/*
 * Splitter of line protocol.
 *
 * A record is a line, but a string of a field may have line ends in it. If such
 * a string is never closed, or text follows where it closes, only its first
 * line is bad, not all lines up to there. A string that is open hides no other
 * one, as the quote that would open it closes this one: so a line is scanned
 * twice at most.
 *
 * SPDX-License-Identifier: MIT
 */
#include "loading/splitter_formats.h"

enum influx_state {
    INFLUX_SERIES, /* measurement and tags: quotes are ordinary */
    INFLUX_FIELDS,
    INFLUX_STRING,
    INFLUX_COMMENT,
};

static enum split
end_record(struct splitter *splitter, const struct split_text *text,
           size_t size, struct split_record *ended)
{
    size_t record = size;

    if (record > 0 && text->data[record - 1] == '\n')
        record--;
    while (record > 0 && text->data[record - 1] == '\r')
        record--;
    split_end(splitter, text, size, record, ended);
    memset(&splitter->influx, 0, sizeof(splitter->influx));
    return SPLIT_RECORD;
}

/* Ends the first line of a string that is not closed as it should be. */
static enum split
end_line(struct splitter *splitter, const struct split_text *text,
         struct split_record *ended, struct colander_error *err)
{
    const size_t quote = splitter->influx.quote;
    const size_t first = splitter->influx.first;

    (void)end_record(splitter, text, first, ended);
    ended->at = quote;
    (void)COLANDER_FAIL(err, COLANDER_INVALID, "a string is not closed");
    return SPLIT_BAD;
}

/* Skips blank lines and comments. Returns false if more text is needed. */
static bool
step_between(struct splitter *splitter, struct split_text *text,
             struct split_record *ended)
{
    for (;;) {
        size_t size = 0;

        if (splitter->state == INFLUX_COMMENT) {
            size = split_find(text, splitter->scanned, '\n');
            splitter->scanned = size;
            if (size == text->size && !text->is_end)
                return false;
            splitter->scanned = 0;
            splitter->state = INFLUX_SERIES;
        }
        while (size < text->size && split_is_blank(text->data[size]))
            size++;
        split_step(text, size, ended);
        if (text->size == 0 || *text->data != '#')
            return true;
        splitter->state = INFLUX_COMMENT;
    }
}

/* Looks at the byte at `at`, in a string. Returns false if the string is
 * closed where it may not be. */
static bool
see_in_string(struct splitter *splitter, const struct split_text *text,
              size_t at)
{
    struct influx_split *influx = &splitter->influx;

    if (text->data[at] == '\n' && influx->first == 0)
        influx->first = at + 1;
    if (text->data[at] != '"')
        return true;
    splitter->state = INFLUX_FIELDS;
    return influx->first == 0 || at + 1 == text->size ||
           memchr(", \r\n", text->data[at + 1], 4) != NULL;
}

/* The same elsewhere. Returns whether the record ends. */
static bool
see_outside(struct splitter *splitter, const struct split_text *text, size_t at)
{
    struct influx_split *influx = &splitter->influx;
    const uint8_t byte = text->data[at];

    if (byte == ' ') {
        splitter->state = INFLUX_FIELDS;
    } else if (byte == '=') {
        influx->equals = at + 1;
    } else if (byte == '"' && splitter->state == INFLUX_FIELDS &&
               influx->equals == at) {
        splitter->state = INFLUX_STRING;
        if (influx->first == 0)
            influx->quote = at;
    }
    return byte == '\n';
}

/* Whether the byte, and what it means, depends on the next one, which is not
 * there yet. */
static bool
needs_next(const struct splitter *splitter, const struct split_text *text,
           size_t at)
{
    const uint8_t byte = text->data[at];

    return at + 1 == text->size && !text->is_end &&
           (byte == '\\' || (byte == '"' && splitter->state == INFLUX_STRING));
}

/* Whether the byte is a backslash that makes the next one an ordinary one. */
static bool
is_escape(const struct split_text *text, size_t at, bool is_string)
{
    return text->data[at] == '\\' && at + 1 < text->size &&
           memchr(is_string ? "\"\\" : ", =", text->data[at + 1],
                  is_string ? 2 : 3) != NULL;
}

enum split
splitter_influx_next(struct splitter *splitter, struct split_text text,
                     struct split_record *ended, struct colander_error *err)
{
    size_t at;

    if ((splitter->state == INFLUX_COMMENT ||
         (splitter->state == INFLUX_SERIES && splitter->scanned == 0 &&
          !splitter->is_cut)) &&
        !step_between(splitter, &text, ended))
        return SPLIT_MORE;
    for (at = splitter->scanned; at < text.size; at++) {
        const bool is_string = splitter->state == INFLUX_STRING;

        if (needs_next(splitter, &text, at))
            break;
        if (is_escape(&text, at, is_string)) {
            at++;
        } else if (is_string && !see_in_string(splitter, &text, at)) {
            return end_line(splitter, &text, ended, err);
        } else if (!is_string && see_outside(splitter, &text, at)) {
            return end_record(splitter, &text, at + 1, ended);
        }
    }
    splitter->scanned = at;
    if (!text.is_end)
        return SPLIT_MORE;
    if (splitter->state == INFLUX_STRING && splitter->influx.first > 0)
        return end_line(splitter, &text, ended, err);
    if (text.size == 0)
        return SPLIT_END;
    return end_record(splitter, &text, text.size, ended);
}

bool
splitter_influx_give_up(struct splitter *splitter, struct split_text text,
                        struct split_record *ended, struct colander_error *err)
{
    if (splitter->influx.first > 0) {
        (void)end_line(splitter, &text, ended, err);
        return true;
    }
    memset(&splitter->influx, 0, sizeof(splitter->influx));
    if (splitter->state == INFLUX_STRING) /* up to the end of the line */
        splitter->state = INFLUX_FIELDS;
    return false;
}
