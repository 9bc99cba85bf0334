/*
 * Keys as text: see columns/words.h.
 *
 * A part that is a time is a string in some families and a timestamp in others,
 * and one that is a number may be a string. The family decides: short finds
 * look for keys that begin with the parts.
 *
 * SPDX-License-Identifier: MIT
 */
#include "columns/columns.h"
#include "columns/words.h"
#include "columns/words/literals.h"

#include <math.h>

/* A key on its way from text to bytes. */
struct key_search {
    struct colander_family *family;
    enum colander_key_use use;
    const struct operand *operands;
    size_t count;
    struct colander_value parts[COLANDER_KEY_PARTS_MAX]; /* as decided so far */
    struct colander_error *err;
};

/* Sets *part to what the operand means, or else to what it means as well: the
 * string of a number, the instant of a text. Returns false without that. */
static bool
read_meaning(const struct operand *operand, bool is_second,
             struct colander_value *part)
{
    if (!is_second) {
        *part = operand->has_value ? operand->value : operand->times.first;
        return true;
    }
    if (!operand->has_value ||
        (!operand->has_times && operand->digits.size == 0))
        return false;
    *part = operand->has_times ? operand->times.first
                               : colander_string(operand->digits);
    return true;
}

/* ------------------------------------------------------------- finding --- */

/* Sets *found to part `index` of the first key that begins with the parts
 * before and is not below `from` there. Its bytes are not valid. *is_found is
 * false if there is no such key. */
static enum colander_code
first_part(const struct key_search *search, size_t index,
           struct colander_value from, struct colander_value *found,
           bool *is_found)
{
    struct colander_value parts[COLANDER_KEY_PARTS_MAX];
    struct colander_buffer prefix = COLANDER_BUFFER_EMPTY;
    struct colander_buffer low = COLANDER_BUFFER_EMPTY;
    struct colander_buffer scratch = COLANDER_BUFFER_EMPTY;
    struct colander_cursor *cursor = NULL;
    struct colander_result result;
    struct colander_query query;
    enum colander_code code = COLANDER_OK;
    size_t count;

    *is_found = false;
    *found = colander_null();
    memcpy(parts, search->parts, index * sizeof(parts[0]));
    parts[index] = from;
    colander_query_init(&query);
    query.limit = 1;
    query.keys_only = true;
    if (index > 0)
        code = colander_key_encode(parts, index, &prefix, search->err);
    if (code == COLANDER_OK)
        code = colander_key_encode(parts, index + 1, &low, search->err);
    query.keys.prefix = colander_buffer_slice(&prefix);
    query.keys.from = colander_buffer_slice(&low);
    if (code == COLANDER_OK)
        code =
            colander_family_find(search->family, &query, &cursor, search->err);
    if (code == COLANDER_OK)
        code = colander_cursor_next(cursor, is_found, &result, search->err);
    if (code == COLANDER_OK && *is_found)
        code = colander_key_decode(result.key, parts, &count, &scratch,
                                   search->err);
    if (code == COLANDER_OK && *is_found) {
        *is_found = count > index;
        *found = parts[index];
    }
    colander_cursor_close(cursor);
    colander_buffer_release(&prefix);
    colander_buffer_release(&low);
    colander_buffer_release(&scratch);
    return code;
}

/* Sets *is_there to whether a row has the first `count` parts: as its key, if
 * `is_whole`, else as the beginning of its key. */
static enum colander_code
has_row(const struct key_search *search, size_t count, bool is_whole,
        bool *is_there)
{
    struct colander_buffer key = COLANDER_BUFFER_EMPTY;
    struct colander_query query;
    uint64_t row_count = 0;
    enum colander_code code;

    colander_query_init(&query);
    query.limit = 1;
    query.keys_only = true;
    code = colander_key_encode(search->parts, count, &key, search->err);
    if (is_whole)
        query.keys.exact = colander_buffer_slice(&key);
    else
        query.keys.prefix = colander_buffer_slice(&key);
    if (code == COLANDER_OK)
        code = colander_family_count(search->family, &query, &row_count,
                                     search->err);
    *is_there = row_count > 0;
    colander_buffer_release(&key);
    return code;
}

/* ------------------------------------------------------- exact, prefix --- */

/* Decides the parts from `index` on so that there is a row, if it can be.
 * Recursive, once for each part. */
static enum colander_code
try_parts(struct key_search *search, size_t index, bool *is_there)
{
    const struct operand *operand = &search->operands[index];
    const bool is_last = index + 1 == search->count;
    enum colander_code code = COLANDER_OK;

    *is_there = false;
    for (int i = 0; i < 2; i++) {
        if (!read_meaning(operand, i > 0, &search->parts[index]))
            break;
        code = has_row(search, index + 1,
                       is_last && search->use == COLANDER_KEY_EXACT, is_there);
        if (code == COLANDER_OK && *is_there && !is_last)
            code = try_parts(search, index + 1, is_there);
        if (code != COLANDER_OK || *is_there)
            break;
    }
    return code;
}

/* A prefix ends with a whole part, so a date there is only its midnight. */
static enum colander_code
check_prefix_date(const struct key_search *search)
{
    const size_t last = search->count - 1;
    const struct colander_times *times = &search->operands[last].times;
    struct colander_value after = times->first;
    struct colander_value found;
    enum colander_code code;
    bool is_found;

    if (!search->operands[last].has_times ||
        search->parts[last].type == COLANDER_STRING ||
        colander_value_compare(&times->first, &times->last) == 0)
        return COLANDER_OK;
    after.nanosecond++;
    code = first_part(search, last, after, &found, &is_found);
    if (code == COLANDER_OK && is_found && found.type == COLANDER_TIMESTAMP &&
        colander_value_compare(&found, &times->last) <= 0)
        code = COLANDER_FAIL(search->err, COLANDER_INVALID,
                             "keys have several times of that date, and a "
                             "prefix has whole parts: use --from and --to");
    return code;
}

/* ------------------------------------------------------------ from, to --- */

static bool
is_number(const struct colander_value *value)
{
    return value->type == COLANDER_INTEGER ||
           value->type == COLANDER_UNSIGNED || value->type == COLANDER_DOUBLE;
}

/* Sets *has to whether keys have a part like `least` there, which is the least
 * of its type. All numbers are of one type. */
static enum colander_code
has_type(const struct key_search *search, size_t index,
         struct colander_value least, bool *has)
{
    struct colander_value found;
    enum colander_code code = first_part(search, index, least, &found, has);

    *has = *has && (found.type == least.type ||
                    (is_number(&found) && is_number(&least)));
    return code;
}

/* Decides a part that means two things by what keys have there. */
static enum colander_code
decide_by_type(struct key_search *search, size_t index,
               struct colander_value second)
{
    const bool is_time = second.type == COLANDER_TIMESTAMP;
    const struct colander_value other =
        is_time ? colander_timestamp(INT64_MIN, 0) : colander_double(-HUGE_VAL);
    bool has_texts;
    bool has_others;
    enum colander_code code;

    code = has_type(search, index, colander_text(""), &has_texts);
    if (code == COLANDER_OK)
        code = has_type(search, index, other, &has_others);
    if (code != COLANDER_OK)
        return code;
    if (is_time && has_texts && has_others)
        return COLANDER_FAIL(search->err, COLANDER_INVALID,
                             "part %zu is a time, and keys have texts and "
                             "times there: write @ before it if you mean times",
                             index + 1);
    if (is_time ? has_others : has_texts && !has_others)
        search->parts[index] = second;
    return COLANDER_OK;
}

/* Fails if the keys have numbers where the bound has a time, and neither texts
 * nor times. All numbers are below the time, so that would be a bound of other
 * rows than those that were meant. */
static enum colander_code
check_no_numbers(const struct key_search *search, size_t index)
{
    const struct colander_value others[] = {colander_text(""),
                                            colander_timestamp(INT64_MIN, 0)};
    bool has_numbers;
    bool has_other = false;
    enum colander_code code =
        has_type(search, index, colander_double(-HUGE_VAL), &has_numbers);

    for (size_t i = 0;
         i < 2 && code == COLANDER_OK && has_numbers && !has_other; i++)
        code = has_type(search, index, others[i], &has_other);
    if (code == COLANDER_OK && has_numbers && !has_other)
        code = COLANDER_FAIL(search->err, COLANDER_INVALID,
                             "part %zu is a time, and keys have numbers "
                             "there: write the number",
                             index + 1);
    return code;
}

/* Decides the parts of a bound, or of a key that has no row. */
static enum colander_code
decide_bound(struct key_search *search)
{
    const bool is_bound = search->use > COLANDER_KEY_PREFIX;
    const size_t last = search->count - 1;
    enum colander_code code = COLANDER_OK;

    for (size_t i = 0; i <= last && code == COLANDER_OK; i++) {
        const struct operand *operand = &search->operands[i];
        struct colander_value second;

        (void)read_meaning(operand, false, &search->parts[i]);
        if (is_bound && read_meaning(operand, true, &second))
            code = decide_by_type(search, i, second);
        if (is_bound && operand->has_times && code == COLANDER_OK)
            code = check_no_numbers(search, i);
    }
    if (code == COLANDER_OK && search->use == COLANDER_KEY_TO &&
        search->parts[last].type == COLANDER_TIMESTAMP)
        search->parts[last] = search->operands[last].times.last;
    return code;
}

/* -------------------------------------------------------------- public --- */

/* Decides all parts. */
static enum colander_code
decide(struct key_search *search)
{
    struct colander_value ignored;
    bool is_open = false;
    bool is_there = false;
    enum colander_code code = COLANDER_OK;

    for (size_t i = 0; i < search->count; i++)
        is_open |= search->operands[i].has_times ||
                   read_meaning(&search->operands[i], true, &ignored);
    if (is_open && search->use <= COLANDER_KEY_PREFIX) {
        code = try_parts(search, 0, &is_there);
        if (code == COLANDER_OK && search->use == COLANDER_KEY_PREFIX)
            code = check_prefix_date(search);
    }
    if (is_there || code != COLANDER_OK)
        return code;
    return decide_bound(search);
}

enum colander_code
colander_family_read_key(struct colander_family *family, const char *text,
                         enum colander_key_use use, struct colander_buffer *key,
                         size_t *offset, struct colander_error *err)
{
    struct literals literals = {.operands = NULL};
    struct colander_error unwanted;
    struct key_search search = {.family = family, .use = use};
    enum colander_code code;

    search.err = err != NULL ? err : &unwanted;
    code = literals_parse(&literals, text, offset, search.err);
    if (code != COLANDER_OK)
        goto done;
    *offset = 0;
    search.operands = literals.operands;
    search.count = literals.count;
    if (search.count > 0 && search.count <= COLANDER_KEY_PARTS_MAX)
        code = decide(&search);
    if (code == COLANDER_OK) /* refuses other counts */
        code = colander_key_encode(search.parts, search.count, key, search.err);
done:
    literals_release(&literals);
    return code;
}
