/* See column_kind.h. SPDX-License-Identifier: MIT */
#include "loading/column_kind.h"

#include <strings.h>

bool
column_kind_is_missing(struct colander_slice text)
{
    static const char *const texts[] = {
        "",  "na", "n/a", "#n/a", "nan", "null", "none", "nil",
        "-", "--", "?",   ".",    "\\n", "inf",  "-inf", "+inf",
    };

    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        if (strlen(texts[i]) == text.size &&
            strncasecmp(texts[i], (const char *)text.data, text.size) == 0)
            return true;
    }
    return false;
}

static enum column_seen
class_of(const struct colander_value *value)
{
    switch (value->type) {
    case COLANDER_INTEGER:
    case COLANDER_UNSIGNED:
        return COLUMN_SEEN_INTEGER;
    case COLANDER_DOUBLE:
        return COLUMN_SEEN_DOUBLE;
    case COLANDER_BOOLEAN:
        return COLUMN_SEEN_BOOLEAN;
    default:
        return COLUMN_SEEN_TEXT;
    }
}

/* An integer, but not as it is printed. */
static bool
is_minus_zero(struct colander_slice text)
{
    return colander_slice_equal(text, colander_slice_text("-0"));
}

enum column_seen
column_kind_see(struct colander_slice text)
{
    const struct colander_value value = typed_value_guess(text);
    const enum column_seen seen = class_of(&value);

    if (is_minus_zero(text))
        return COLUMN_SEEN_DOUBLE;
    return seen == COLUMN_SEEN_TEXT && column_kind_is_missing(text)
               ? COLUMN_SEEN_MISSING
               : seen;
}

enum column_kind
column_kind_decide(unsigned seen, bool is_key)
{
    if (is_key)
        return (seen & ~(unsigned)COLUMN_SEEN_INTEGER) == 0 ? COLUMN_WHOLE
                                                            : COLUMN_TEXT;
    switch (seen & ~(unsigned)COLUMN_SEEN_MISSING) {
    case 0:
        return COLUMN_GUESSED;
    case COLUMN_SEEN_INTEGER:
    case COLUMN_SEEN_DOUBLE:
    case COLUMN_SEEN_INTEGER | COLUMN_SEEN_DOUBLE:
        return COLUMN_NUMBER;
    case COLUMN_SEEN_BOOLEAN:
        return COLUMN_BOOLEAN;
    default:
        return COLUMN_TEXT;
    }
}

struct colander_value
column_kind_read(enum column_kind kind, struct colander_slice text)
{
    enum {
        INTEGERS = 1 << COLANDER_INTEGER | 1 << COLANDER_UNSIGNED,
        NUMBERS = INTEGERS | 1 << COLANDER_DOUBLE,
        BOOLEANS = 1 << COLANDER_BOOLEAN,
    };
    static const unsigned fits[] = {
        [COLUMN_GUESSED] = NUMBERS | BOOLEANS,
        [COLUMN_TEXT] = 0,
        [COLUMN_NUMBER] = NUMBERS,
        [COLUMN_BOOLEAN] = BOOLEANS,
        [COLUMN_WHOLE] = INTEGERS,
    };
    const struct colander_value value = typed_value_guess(text);

    if ((fits[kind] >> value.type & 1) == 0 ||
        (kind == COLUMN_WHOLE && is_minus_zero(text)))
        return colander_string(text);
    return value;
}
