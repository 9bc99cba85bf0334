/*
 * Splitter of CSV.
 *
 * If a quote is never closed, or text follows a closing quote, only the first
 * line of the record is bad, not all lines up to there. The other lines are not
 * scanned to the end again each: if such a line, read alone, ends inside quotes
 * as well, it would fail at the same byte as the line before. So up to that
 * byte
 * (`alone`) a record that does not end with its line is bad at once, for the
 * same reason.
 *
 * SPDX-License-Identifier: MIT
 */
#include "loading/csv.h"
#include "loading/splitter_formats.h"

enum csv_state {
    CSV_BETWEEN,
    CSV_LINE,
    CSV_QUOTED,
    CSV_BAD, /* up to the end of its first line */
};

/* Returns where the line of `scanned` ends; text->size if it continues. */
static size_t
line_end(struct splitter *splitter, const struct split_text *text)
{
    struct csv_split *csv = &splitter->csv;

    for (;;) {
        if (!csv->line_ends) {
            csv->line = split_find(text, csv->line, '\n');
            csv->line_ends = csv->line < text->size;
        }
        if (csv->line_ends && csv->first == 0)
            csv->first = csv->line + 1;
        if (!csv->line_ends || csv->line >= splitter->scanned)
            return csv->line;
        csv->line = splitter->scanned;
        csv->line_ends = false;
    }
}

/* Returns the size of a line without its end. */
static size_t
line_size(const struct split_text *text, size_t size)
{
    if (size > 0 && text->data[size - 1] == '\n')
        size--;
    if (size > 0 && text->data[size - 1] == '\r')
        size--;
    return size;
}

static void
csv_end(struct splitter *splitter, const struct split_text *text, size_t size,
        struct split_record *ended)
{
    struct csv_split *csv = &splitter->csv;

    split_end(splitter, text, size, line_size(text, size), ended);
    csv->line = 0;
    csv->line_ends = false;
    csv->first = 0;
    csv->quote = 0;
    csv->alone = csv->alone > size ? csv->alone - size : 0;
}

/* Ends its first line as bad. */
static enum split
bad_line(struct splitter *splitter, const struct split_text *text,
         struct split_record *ended, struct colander_error *err)
{
    struct csv_split *csv = &splitter->csv;
    size_t quote = csv->quote;
    size_t at = csv->fault_at;

    (void)line_end(splitter, text);
    if (csv->first == 0) {
        if (!text->is_end)
            return SPLIT_MORE;
        csv->first = text->size;
    }
    csv_end(splitter, text, csv->first, ended);
    ended->at = csv->has_fault && at < ended->record.size ? at : quote;
    (void)csv_fail_quote(csv->has_fault, err);
    return SPLIT_BAD;
}

static void
become_bad(struct splitter *splitter, bool has_fault, size_t at)
{
    struct csv_split *csv = &splitter->csv;

    splitter->state = CSV_BAD;
    csv->has_fault = has_fault;
    csv->fault_at = at;
    if (csv->alone < at) {
        csv->alone = at;
        csv->alone_has_fault = has_fault;
    }
}

/* Looks for a quote that opens a field, in the line of `scanned`. */
static enum split
in_line(struct splitter *splitter, const struct split_text *text,
        struct split_record *ended)
{
    struct csv_split *csv = &splitter->csv;
    size_t line = line_end(splitter, text);
    struct split_text looked_at = {text->data, line, text->is_end};
    size_t at = splitter->scanned;

    while ((at = split_find(&looked_at, at, '"')) < line) {
        if (at == 0 || text->data[at - 1] == (uint8_t)splitter->delimiter) {
            splitter->state = CSV_QUOTED;
            if (csv->first == 0 || at < csv->first)
                csv->quote = at;
            splitter->scanned = at + 1;
            return SPLIT_MORE;
        }
        at++;
    }
    splitter->scanned = line;
    if (line == text->size && !text->is_end)
        return SPLIT_MORE;
    csv_end(splitter, text, line < text->size ? line + 1 : line, ended);
    return SPLIT_RECORD;
}

/* Handles the quote at `scanned`, which closes the field or is one of two.
 * Returns false if the next byte is needed and missing. */
static bool
after_quote(struct splitter *splitter, const struct split_text *text)
{
    size_t next = splitter->scanned + 1;
    size_t left = text->size - next;
    const uint8_t *at = text->data + next;

    if (left == 0 && !text->is_end)
        return false;
    if (left > 0 && *at == '"') {
        splitter->scanned += 2;
        return true;
    }
    if (left == 1 && *at == '\r' && !text->is_end)
        return false;
    splitter->scanned = next;
    splitter->state = CSV_LINE;
    if (left > 0 && *at != (uint8_t)splitter->delimiter && *at != '\n' &&
        !(*at == '\r' && (left == 1 || at[1] == '\n')))
        become_bad(splitter, true, next);
    return true;
}

/* Looks for the end of a field in quotes. */
static bool
in_quotes(struct splitter *splitter, const struct split_text *text)
{
    struct csv_split *csv = &splitter->csv;
    struct split_text looked_at = *text;

    if (csv->alone > 0) {
        (void)line_end(splitter, text);
        if (csv->first > 0 && csv->first <= csv->alone)
            looked_at.size = csv->first - 1;
    }
    splitter->scanned = split_find(&looked_at, splitter->scanned, '"');
    if (splitter->scanned < looked_at.size)
        return after_quote(splitter, text);
    if (looked_at.size == text->size && !text->is_end)
        return false;
    become_bad(splitter, looked_at.size < text->size && csv->alone_has_fault,
               looked_at.size);
    return true;
}

/* Skips empty lines. */
static void
step_over_lines(struct splitter *splitter, struct split_text *text,
                struct split_record *ended)
{
    struct csv_split *csv = &splitter->csv;
    size_t at = 0;

    for (; at < text->size; at++) {
        bool is_cr = text->data[at] == '\r';

        if (is_cr && at + 1 < text->size)
            is_cr = text->data[at + 1] == '\n';
        if (!is_cr && text->data[at] != '\n')
            break;
        if (is_cr && at + 1 == text->size && !text->is_end)
            break;
    }
    if (at == 0)
        return;
    split_step(text, at, ended);
    csv->line = 0;
    csv->line_ends = false;
    csv->alone = csv->alone > at ? csv->alone - at : 0;
}

enum split
splitter_csv_next(struct splitter *splitter, struct split_text text,
                  struct split_record *ended, struct colander_error *err)
{
    if (splitter->state == CSV_BETWEEN) {
        step_over_lines(splitter, &text, ended);
        if (text.size == 0)
            return text.is_end ? SPLIT_END : SPLIT_MORE;
        if (text.size == 1 && *text.data == '\r' && !text.is_end)
            return SPLIT_MORE; /* an empty line, perhaps */
        splitter->state = CSV_LINE;
    }
    while (splitter->state != CSV_BAD) {
        if (splitter->state == CSV_LINE) {
            enum split split = in_line(splitter, &text, ended);

            if (split == SPLIT_RECORD || splitter->state == CSV_LINE)
                return split;
        } else if (!in_quotes(splitter, &text)) {
            return SPLIT_MORE;
        }
    }
    return bad_line(splitter, &text, ended, err);
}

bool
splitter_csv_give_up(struct splitter *splitter, struct split_text text,
                     struct split_record *ended, struct colander_error *err)
{
    struct csv_split *csv = &splitter->csv;

    if (splitter->state != CSV_BAD)
        become_bad(splitter, false, text.size);
    if (bad_line(splitter, &text, ended, err) == SPLIT_BAD)
        return true;
    memset(csv, 0, sizeof(*csv)); /* not even that line ends here */
    return false;
}
