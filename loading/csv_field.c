/*
 * Fields of CSV.
 *
 * SPDX-License-Identifier: MIT
 */
#include "loading/csv_inside.h"

bool
csv_field_cut_quoted(const uint8_t **at, const uint8_t *end, char delimiter,
                     struct csv_field *field)
{
    const uint8_t *begin = *at + 1;
    const uint8_t *quote = begin;

    for (;;) {
        quote = memchr(quote, '"', (size_t)(end - quote));
        if (quote == NULL)
            return false;
        if (end - quote < 2 || quote[1] != '"')
            break;
        field->has_pairs = true;
        quote += 2;
    }
    field->text = colander_slice_of(begin, (size_t)(quote - begin));
    *at = quote + 1;
    return *at == end || **at == (uint8_t)delimiter;
}

const uint8_t *
csv_field_end(const uint8_t *at, const uint8_t *end, char delimiter)
{
    const uint8_t *found = memchr(at, delimiter, (size_t)(end - at));

    return found == NULL ? end : found;
}

enum colander_code
csv_field_text(const struct csv_field *field, struct colander_buffer *scratch,
               struct colander_slice *text, struct colander_error *err)
{
    struct colander_slice left = field->text;
    enum colander_code code;

    *text = left;
    if (!field->has_pairs)
        return COLANDER_OK;
    colander_buffer_clear(scratch);
    code = colander_buffer_reserve(scratch, left.size, err);
    if (code != COLANDER_OK)
        return code;
    while (left.size > 0) {
        const uint8_t *quote = memchr(left.data, '"', left.size);
        size_t size = quote == NULL ? left.size : (size_t)(quote - left.data);
        size_t kept = quote == NULL ? size : size + 1;

        memcpy(scratch->data + scratch->size, left.data, kept);
        scratch->size += kept;
        size = quote == NULL ? size : size + 2;
        left = colander_slice_of(left.data + size, left.size - size);
    }
    *text = colander_buffer_slice(scratch);
    return COLANDER_OK;
}

enum colander_code
csv_fail_quote(bool is_closed, struct colander_error *err)
{
    if (is_closed)
        return COLANDER_FAIL(err, COLANDER_INVALID,
                             "neither a delimiter nor the end of the line "
                             "follows a quote that closes");
    return COLANDER_FAIL(err, COLANDER_INVALID,
                         "a quote that opens is never closed");
}

char
csv_delimiter(struct colander_slice line)
{
    static const char delimiters[] = {',', '\t', ';'};
    size_t counts[3] = {0};
    bool is_quoted = false;
    size_t best = 0;

    for (size_t i = 0; i < line.size; i++) {
        is_quoted ^= line.data[i] == '"';
        for (size_t j = 0; j < 3 && !is_quoted; j++)
            counts[j] += line.data[i] == (uint8_t)delimiters[j];
    }
    for (size_t i = 1; i < 3; i++) {
        if (counts[i] > counts[best])
            best = i;
    }
    return delimiters[best];
}
