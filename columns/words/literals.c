/* See literals.h. SPDX-License-Identifier: MIT */
#include "columns/words/literals.h"

#include "columns/json.h"
#include "columns/rows.h"
#include "core/array.h"

#include <stdlib.h>

/* ------------------------------------------------------------- reading --- */

static struct operand
operand_for(const struct literals *literals, const struct colander_value *value)
{
    struct operand operand = {.value = *value, .has_value = true};

    if (literals->is_text)
        return operand;
    if (value->type != COLANDER_STRING || value->bytes.size == 0 ||
        value->bytes.data[0] != '@' || literals->is_quoted)
        return operand_of(*value);
    operand.has_times = colander_times_read(value->bytes, &operand.times);
    operand.has_value = !operand.has_times;
    return operand;
}

static enum colander_code
add_value(struct literals *literals, const struct colander_value *value,
          struct colander_error *err)
{
    enum colander_code code = array_reserve(
        &literals->operands, literals->count, &literals->capacity, 1, err);

    if (code == COLANDER_OK &&
        (value->type == COLANDER_ARRAY || value->type == COLANDER_MAP))
        code = COLANDER_FAIL(err, COLANDER_INVALID,
                             "a list has numbers, texts, true, false and null "
                             "only");
    if (code == COLANDER_OK)
        literals->operands[literals->count++] = operand_for(literals, value);
    return code;
}

/* Adds the elements of the array, or the one value. */
static enum colander_code
add_values(struct literals *literals, const struct colander_value *value,
           struct colander_error *err)
{
    struct colander_members members;
    struct colander_value element;
    struct colander_slice name;
    bool is_member = true;
    enum colander_code code;

    literals->is_list = value->type == COLANDER_ARRAY;
    if (!literals->is_list)
        return add_value(literals, value, err);
    code = colander_members_init(&members, value->bytes, err);
    while (code == COLANDER_OK) {
        code =
            colander_members_next(&members, &is_member, &name, &element, err);
        if (code != COLANDER_OK || !is_member)
            break;
        code = add_value(literals, &element, err);
    }
    return code;
}

/* Copies the value, which is borrowed from the reader, to the literals. */
static enum colander_code
take_value(struct literals *literals, struct colander_value value,
           struct colander_error *err)
{
    enum colander_code code = COLANDER_OK;

    if (value.type == COLANDER_STRING || value.type == COLANDER_ARRAY) {
        code = colander_buffer_append(&literals->text, value.bytes.data,
                                      value.bytes.size, err);
        value.bytes = colander_buffer_slice(&literals->text);
    }
    return code == COLANDER_OK ? add_values(literals, &value, err) : code;
}

/* Returns the end of the scalar of JSON at `at`. */
static const char *
skip_scalar(const char *at)
{
    if (*at != '"')
        return at + strcspn(at, ",] \t\r\n");
    for (at++; *at != '"'; at++)
        at += *at == '\\';
    return at + 1;
}

/* Notes how the numbers are written. Requires that the source was read. */
static void
note_digits(struct literals *literals, const char *source)
{
    const char *at = source;

    for (size_t i = 0; i < literals->count; i++) {
        struct operand *operand = &literals->operands[i];
        const char *end;

        at += strspn(at, "[, \t\r\n");
        end = skip_scalar(at);
        if (operand->value.type == COLANDER_INTEGER ||
            operand->value.type == COLANDER_UNSIGNED ||
            operand->value.type == COLANDER_DOUBLE)
            operand->digits = colander_slice_of(at, (size_t)(end - at));
        at = end;
    }
}

static enum colander_code
parse_json(struct literals *literals, const char *source, size_t *offset,
           struct colander_error *err)
{
    struct colander_json_reader *reader = colander_json_reader_create();
    struct colander_value value;
    enum colander_code code;
    const char *reason;

    if (reader == NULL)
        return COLANDER_FAIL(err, COLANDER_NO_MEMORY, "no memory for values");
    code = colander_json_reader_value(reader, colander_slice_text(source),
                                      &value, err);
    if (code == COLANDER_OK) {
        code = take_value(literals, value, err);
        if (code == COLANDER_OK)
            note_digits(literals, source);
    } else if (!colander_json_reader_fault(reader, offset)) {
        /* not about the text */
    } else if (source[strspn(source, "-0123456789")] == '\0') {
        code = COLANDER_FAIL(err, COLANDER_INVALID,
                             "number is out of range: integers have 64 bits (a "
                             "text of digits needs double quotes)");
    } else {
        reason = strchr(err->message, ':'); /* "byte 5: ..." */
        if (reason != NULL)
            memmove(err->message, reason + 2, strlen(reason + 2) + 1);
        if (source[0] == '[')
            colander_error_context(err, "a text or time in an array needs "
                                        "double quotes");
    }
    colander_json_reader_destroy(reader);
    return code;
}

/* ------------------------------------------------------------ literals --- */

/* Passes digits. Returns false if there are none. */
static bool
pass_digits(const char **at)
{
    const size_t count = strspn(*at, "0123456789");

    *at += count;
    return count > 0;
}

static bool
is_number(const char *at)
{
    at += *at == '-';
    if (*at == '0')
        at++;
    else if (!pass_digits(&at))
        return false;
    if (*at == '.') {
        at++;
        if (!pass_digits(&at))
            return false;
    }
    if (*at != 'e' && *at != 'E')
        return *at == '\0';
    at++;
    at += *at == '-' || *at == '+';
    return pass_digits(&at) && *at == '\0';
}

/* Whether the text is a value of JSON, or must be one. */
static bool
is_json(const char *source)
{
    return source[0] == '"' || source[0] == '[' ||
           strcmp(source, "null") == 0 || strcmp(source, "true") == 0 ||
           strcmp(source, "false") == 0 || is_number(source);
}

/* Whether the text begins with what was probably meant as an operator, or with
 * a quote that is not one here. */
static bool
is_slip(const char *source)
{
    return source[0] != '\0' && strchr("=<>~' ", source[0]) != NULL;
}

static enum colander_code
fail_slip(char first, struct colander_error *err)
{
    if (first == ' ')
        return COLANDER_FAIL(err, COLANDER_INVALID,
                             "unexpected space (a text that begins with a "
                             "space needs double quotes)");
    if (first == '\'')
        return COLANDER_FAIL(err, COLANDER_INVALID,
                             "unexpected single quote (write texts in double "
                             "quotes)");
    return COLANDER_FAIL(err, COLANDER_INVALID,
                         "unexpected '%c' (%s; a text that begins with '%c' "
                         "needs double quotes)",
                         first,
                         first == '=' ? "one = compares"
                                      : "operators are =, !=, <, <=, >, >=, ~",
                         first);
}

/* Whether the text was probably meant as a time: @2026-13-01, @now-7. */
static bool
is_wrong_time(const char *source)
{
    struct colander_times times;

    return source[0] == '@' &&
           (strspn(source + 1, "0123456789") == 4
                ? source[5] == '-'
                : strncmp(source, "@now", 4) == 0 &&
                      strchr("+-", source[4]) != NULL) &&
           !colander_times_read(colander_slice_text(source), &times);
}

static enum colander_code
parse_as(struct literals *literals, const char *source, bool as_json,
         size_t *offset, struct colander_error *err)
{
    struct colander_value value;
    enum colander_code code;

    *offset = 0;
    literals->is_quoted = source[0] == '"';
    if (as_json)
        return parse_json(literals, source, offset, err);
    if (is_slip(source))
        return fail_slip(source[0], err);
    if (!literals->is_text && is_wrong_time(source))
        return COLANDER_FAIL(err, COLANDER_INVALID,
                             "expected a time such as @2026-11-01T10:00+02:00 "
                             "or @now-7d (a text that begins so needs double "
                             "quotes)");
    code = colander_buffer_append(&literals->text, source, strlen(source) + 1,
                                  err);
    if (code != COLANDER_OK)
        return code;
    literals->text.size--;
    value = colander_string(colander_buffer_slice(&literals->text));
    return add_value(literals, &value, err);
}

enum colander_code
literals_parse(struct literals *literals, const char *source, size_t *offset,
               struct colander_error *err)
{
    return parse_as(literals, source, is_json(source), offset, err);
}

enum colander_code
literals_parse_text(struct literals *literals, const char *source,
                    size_t *offset, struct colander_error *err)
{
    literals->is_text = true;
    return parse_as(literals, source, source[0] == '"', offset, err);
}

void
literals_release(struct literals *literals)
{
    free(literals->operands);
    colander_buffer_release(&literals->text);
    memset(literals, 0, sizeof(*literals));
}

/* -------------------------------------------------------------- public --- */

enum colander_code
colander_value_read(const char *text, struct colander_value *value,
                    struct colander_buffer *bytes, size_t *offset,
                    struct colander_error *err)
{
    struct literals literals = {.operands = NULL};
    struct colander_error unwanted;
    enum colander_code code;

    if (err == NULL)
        err = &unwanted;
    code = literals_parse(&literals, text, offset, err);
    if (code != COLANDER_OK)
        goto done;
    *offset = 0;
    colander_buffer_clear(bytes);
    if (literals.is_list) {
        code = COLANDER_FAIL(err, COLANDER_INVALID,
                             "expected one value, not a list (write a text "
                             "that begins with '[' in double quotes)");
        goto done;
    }
    *value = literals.operands->has_value ? literals.operands->value
                                          : literals.operands->times.first;
    if (value->type == COLANDER_STRING) {
        code = colander_buffer_append(bytes, value->bytes.data,
                                      value->bytes.size, err);
        value->bytes = colander_buffer_slice(bytes);
    }
done:
    literals_release(&literals);
    return code;
}
