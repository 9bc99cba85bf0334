/* SPDX-License-Identifier: MIT */
#include "loading/typed_value.h"

#include "columns/numbers.h"

#include <math.h>

#include "loading/times.h"

static bool
is_text(struct colander_slice text, const char *word)
{
    return colander_slice_equal(text, colander_slice_text(word));
}

/* In any case: of the alphabet, not of a locale. */
static bool
is_word(struct colander_slice text, const char *word)
{
    size_t size = strlen(word);

    if (text.size != size)
        return false;
    for (size_t i = 0; i < size; i++) {
        uint8_t byte = text.data[i];

        if (byte >= 'A' && byte <= 'Z')
            byte = (uint8_t)(byte - 'A' + 'a');
        if (byte != (uint8_t)word[i])
            return false;
    }
    return true;
}

/* Whether all of `text` is a number. */
static bool
is_number(struct colander_slice text, enum colander_number_grammar grammar,
          bool *is_whole)
{
    const size_t size = colander_number_size(text, grammar, is_whole);

    return size > 0 && size == text.size;
}

/* Reads a number that has a point or an exponent, unless it may be an id such
 * as 1e5, or would be printed as another number. A double has all digits of 15.
 */
static bool
read_double(struct colander_slice text, struct colander_value *value)
{
    bool has_sign = false; /* or a point */
    bool has_exponent = false;

    for (size_t i = 0; i < text.size; i++) {
        has_sign |= text.data[i] < '0';
        has_exponent |= text.data[i] > '9';
    }
    return has_sign && colander_number_double(text, value) &&
           ((text.size <= 16 && !has_exponent) ||
            colander_number_keeps_digits(text, value->number));
}

struct colander_value
typed_value_guess(struct colander_slice text)
{
    struct colander_value value;
    uint8_t first = text.size == 0 ? 0 : text.data[0];
    bool is_whole;

    if (first == '-' || (uint8_t)(first - '0') <= 9) {
        if (is_number(text, COLANDER_NUMBER_JSON, &is_whole) &&
            (is_whole ? colander_number_integer(text, &value)
                      : read_double(text, &value)))
            return value;
    } else if (first == 't' && is_text(text, "true")) {
        return colander_boolean(true);
    } else if (first == 'f' && is_text(text, "false")) {
        return colander_boolean(false);
    }
    return colander_string(text);
}

static bool
read_integer(struct colander_slice text, struct colander_value *value)
{
    bool is_whole;

    return is_number(text, COLANDER_NUMBER_LOOSE, &is_whole) && is_whole &&
           colander_number_integer(text, value);
}

/* inf and nan, with their signs. */
static bool
read_infinite(struct colander_slice text, struct colander_value *value)
{
    double sign = 1;

    if (text.size > 0 && (text.data[0] == '-' || text.data[0] == '+')) {
        sign = text.data[0] == '-' ? -1 : 1;
        text = colander_slice_of(text.data + 1, text.size - 1);
    }
    if (is_word(text, "inf") || is_word(text, "infinity"))
        *value = colander_double(sign * HUGE_VAL);
    else if (is_word(text, "nan"))
        *value = colander_double((double)NAN);
    else
        return false;
    return true;
}

static bool
read_number(struct colander_slice text, struct colander_value *value)
{
    bool is_whole;

    if (!is_number(text, COLANDER_NUMBER_LOOSE, &is_whole))
        return read_infinite(text, value);
    return (is_whole && colander_number_integer(text, value)) ||
           colander_number_double(text, value);
}

static bool
read_boolean(struct colander_slice text, struct colander_value *value)
{
    static const char *const words[] = {"false", "true", "f", "t", "no",
                                        "yes",   "n",    "y", "0", "1"};

    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        if (is_word(text, words[i])) {
            *value = colander_boolean(i % 2 == 1);
            return true;
        }
    }
    return false;
}

static bool
read_time(const struct value_reading *reading, struct colander_slice text,
          struct colander_value *value)
{
    int64_t second;
    uint32_t nanosecond;

    if (!times_read(reading->time_format, text, &second, &nanosecond))
        return false;
    *value = colander_timestamp(second, nanosecond);
    return true;
}

static const char *const type_names[] = {
    [VALUE_GUESSED] = "guess",   [VALUE_STRING] = "string",
    [VALUE_INTEGER] = "integer", [VALUE_NUMBER] = "number",
    [VALUE_BOOLEAN] = "boolean", [VALUE_TIME] = "time",
};

bool
value_type_parse(struct colander_slice name, enum value_type *type)
{
    for (size_t i = 0; i < sizeof(type_names) / sizeof(type_names[0]); i++) {
        if (is_text(name, type_names[i])) {
            *type = (enum value_type)i;
            return true;
        }
    }
    return false;
}

const char *
value_type_name(enum value_type type)
{
    return type_names[type];
}

bool
value_type_fits(enum value_type type, enum colander_type other)
{
    switch (type) {
    case VALUE_GUESSED:
        return true;
    case VALUE_STRING:
        return other == COLANDER_STRING;
    case VALUE_INTEGER:
        return other == COLANDER_INTEGER || other == COLANDER_UNSIGNED;
    case VALUE_NUMBER:
        return colander_type_is_number(other);
    case VALUE_BOOLEAN:
        return other == COLANDER_BOOLEAN;
    case VALUE_TIME:
        return other == COLANDER_TIMESTAMP;
    }
    return false;
}

bool
typed_value_read(const struct value_reading *reading,
                 struct colander_slice text, struct colander_value *value)
{
    *value = colander_string(text);
    switch (reading->type) {
    case VALUE_GUESSED:
        *value = typed_value_guess(text);
        return true;
    case VALUE_STRING:
        return true;
    case VALUE_INTEGER:
        return read_integer(text, value);
    case VALUE_NUMBER:
        return read_number(text, value);
    case VALUE_BOOLEAN:
        return read_boolean(text, value);
    case VALUE_TIME:
        return read_time(reading, text, value);
    }
    return false;
}
