/* See range.h. SPDX-License-Identifier: MIT */
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

/* Sets `until` to `last` followed by the byte `next`, or to no bound. */
static enum colander_code
bound_after(struct colander_slice last, uint8_t next,
            struct colander_buffer *until, struct colander_error *err)
{
    enum colander_code code = COLANDER_OK;

    colander_buffer_clear(until);
    if (last.size == 0)
        return code;
    code = colander_buffer_append(until, last.data, last.size, err);
    if (code == COLANDER_OK)
        code = colander_buffer_append(until, &next, 1, err);
    return code;
}

static struct colander_slice
higher(struct colander_slice a, struct colander_slice b)
{
    return colander_slice_compare(a, b) > 0 ? a : b;
}

/* Exchanges the range's upper bound and `until` if `until` is the lower one. */
static void
lower_until(struct byte_range *bytes, struct colander_buffer *until)
{
    const struct colander_buffer former = bytes->until;

    if (until->size > 0 &&
        (former.size == 0 ||
         colander_slice_compare(colander_buffer_slice(until),
                                colander_buffer_slice(&former)) < 0)) {
        bytes->until = *until;
        *until = former;
    }
}

enum colander_code
byte_range_init(struct byte_range *bytes,
                const struct colander_key_range *range,
                struct colander_error *err)
{
    const struct colander_slice from =
        higher(higher(range->from, range->prefix), range->exact);
    struct colander_buffer until = COLANDER_BUFFER_EMPTY;
    enum colander_code code;

    memset(bytes, 0, sizeof(*bytes));
    code = check_key("prefix", range->prefix, err);
    if (code == COLANDER_OK)
        code = check_key("from", range->from, err);
    if (code == COLANDER_OK)
        code = check_key("to", range->to, err);
    if (code == COLANDER_OK)
        code = check_key("exact", range->exact, err);
    if (code == COLANDER_OK)
        code = bound_after(range->prefix, KEY_RANGE_END, &bytes->until, err);
    if (code == COLANDER_OK)
        code = bound_after(range->to, KEY_RANGE_END, &until, err);
    lower_until(bytes, &until);
    if (code == COLANDER_OK)
        code = bound_after(range->exact, 0, &until, err);
    lower_until(bytes, &until);
    bytes->is_empty =
        bytes->until.size > 0 &&
        colander_slice_compare(from, colander_buffer_slice(&bytes->until)) >= 0;
    if (code == COLANDER_OK)
        code = colander_buffer_append(&bytes->from, from.data, from.size, err);
    colander_buffer_release(&until);
    if (code != COLANDER_OK)
        byte_range_release(bytes);
    return code;
}

void
byte_range_release(struct byte_range *bytes)
{
    colander_buffer_release(&bytes->from);
    colander_buffer_release(&bytes->until);
    memset(bytes, 0, sizeof(*bytes));
}
