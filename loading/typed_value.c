/*
 * Typed value: see typed_value.h.
 *
 * SPDX-License-Identifier: MIT
 */
#include "loading/typed_value.h"

#include <math.h>
#include <strings.h>

#include "loading/numeral.h"
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

struct colander_value
typed_value_guess(struct colander_slice text)
{
    struct colander_value value;
    struct numeral numeral;
    uint8_t first = text.size == 0 ? 0 : text.data[0];

    if (first == '-' || (uint8_t)(first - '0') <= 9) {
        if (numeral_scan(text, NUMERAL_JSON, &numeral) &&
            (numeral.is_whole ? numeral_integer(&numeral, &value)
                              : numeral_double(&numeral, &value)))
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
    struct numeral numeral;

    return numeral_scan(text, NUMERAL_LOOSE, &numeral) &&
           numeral_integer(&numeral, value);
}

/* inf and nan, with their signs. */
static bool
read_special(struct colander_slice text, struct colander_value *value)
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
    struct numeral numeral;

    if (!numeral_scan(text, NUMERAL_LOOSE, &numeral))
        return read_special(text, value);
    return numeral_integer(&numeral, value) || numeral_double(&numeral, value);
}

static bool
read_boolean(struct colander_slice text, struct colander_value *value)
{
    static const char *const words[2][4] = {{"false", "f", "no", "n"},
                                            {"true", "t", "yes", "y"}};

    if (is_text(text, "0") || is_text(text, "1")) {
        *value = colander_boolean(text.data[0] == '1');
        return true;
    }
    for (size_t i = 0; i < 8; i++) {
        if (is_word(text, words[i / 4][i % 4])) {
            *value = colander_boolean(i / 4 == 1);
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

bool
typed_value_read(const struct value_reading *reading,
                 struct colander_slice text, struct colander_value *value)
{
    bool is_read = true;

    switch (reading->type) {
    case VALUE_GUESSED:
        *value = typed_value_guess(text);
        return true;
    case VALUE_STRING:
        *value = colander_string(text);
        return true;
    case VALUE_INTEGER:
        is_read = read_integer(text, value);
        break;
    case VALUE_NUMBER:
        is_read = read_number(text, value);
        break;
    case VALUE_BOOLEAN:
        is_read = read_boolean(text, value);
        break;
    case VALUE_TIME:
        is_read = read_time(reading, text, value);
        break;
    }
    if (!is_read)
        *value = colander_string(text);
    return is_read;
}
