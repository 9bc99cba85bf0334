/*
 * Key ranges.
 *
 * SPDX-License-Identifier: MIT
 */
#include "columns/range.h"

#include "columns/key.h"

static enum colander_code
check_key(const char *what, struct colander_slice key,
          struct colander_error *err)
{
    if (key.size == 0 || key_is_valid(key))
        return COLANDER_OK;
    return COLANDER_FAIL(err, COLANDER_INVALID,
                         "the range's '%s' is not an encoded key", what);
}

/* Replaces `until` by the first bytes behind `last` and all it begins. */
static enum colander_code
bound_behind(struct colander_slice last, struct colander_buffer *until,
             struct colander_error *err)
{
    const uint8_t end = KEY_RANGE_END;
    enum colander_code code = COLANDER_OK;

    colander_buffer_clear(until);
    if (last.size == 0)
        return code;
    code = colander_buffer_append(until, last.data, last.size, err);
    if (code == COLANDER_OK)
        code = colander_buffer_append(until, &end, 1, err);
    return code;
}

enum colander_code
byte_range_init(struct byte_range *bytes,
                const struct colander_key_range *range,
                struct colander_error *err)
{
    struct colander_buffer until = COLANDER_BUFFER_EMPTY;
    enum colander_code code;

    memset(bytes, 0, sizeof(*bytes));
    code = check_key("prefix", range->prefix, err);
    if (code == COLANDER_OK)
        code = check_key("from", range->from, err);
    if (code == COLANDER_OK)
        code = check_key("to", range->to, err);
    if (code == COLANDER_OK)
        code = bound_behind(range->prefix, &bytes->until, err);
    if (code == COLANDER_OK)
        code = bound_behind(range->to, &until, err);
    if (code != COLANDER_OK)
        goto done;

    bytes->from = colander_slice_compare(range->from, range->prefix) > 0
                      ? range->from
                      : range->prefix;
    if (until.size > 0 &&
        (bytes->until.size == 0 ||
         colander_slice_compare(colander_buffer_slice(&until),
                                colander_buffer_slice(&bytes->until)) < 0)) {
        struct colander_buffer higher = bytes->until;

        bytes->until = until;
        until = higher;
    }
    bytes->is_empty =
        bytes->until.size > 0 &&
        colander_slice_compare(bytes->from,
                               colander_buffer_slice(&bytes->until)) >= 0;
done:
    colander_buffer_release(&until);
    if (code != COLANDER_OK)
        byte_range_release(bytes);
    return code;
}

void
byte_range_release(struct byte_range *bytes)
{
    colander_buffer_release(&bytes->until);
    memset(bytes, 0, sizeof(*bytes));
}
