/* See decode.h. SPDX-License-Identifier: MIT */
#include "columns/decode.h"

enum colander_code
decode_expect(const struct colander_value *value, enum colander_type type,
              const char *what, struct colander_error *err)
{
    if (value->type == type)
        return COLANDER_OK;
    return COLANDER_FAIL(err, COLANDER_INVALID, "%s: %s where %s is expected",
                         what, colander_type_name(value->type),
                         colander_type_name(type));
}

enum colander_code
decode_enter(struct colander_members *members,
             const struct colander_value *value, enum colander_type type,
             const char *what, struct colander_error *err)
{
    enum colander_code code = decode_expect(value, type, what, err);

    return code == COLANDER_OK
               ? colander_members_init(members, value->bytes, err)
               : code;
}

enum colander_code
decode_next(struct colander_members *members, struct colander_value *value,
            struct colander_error *err)
{
    struct colander_slice name;
    bool is_member;
    enum colander_code code =
        colander_members_next(members, &is_member, &name, value, err);

    if (code != COLANDER_OK || is_member)
        return code;
    return COLANDER_FAIL(err, COLANDER_INVALID, "something is missing");
}

enum colander_code
decode_next_of(struct colander_members *members, enum colander_type type,
               const char *what, struct colander_value *value,
               struct colander_error *err)
{
    enum colander_code code = decode_next(members, value, err);

    return code == COLANDER_OK ? decode_expect(value, type, what, err) : code;
}

enum colander_code
decode_number(struct colander_members *members, const char *what, uint64_t end,
              uint64_t *number, struct colander_error *err)
{
    struct colander_value value;
    enum colander_code code = decode_next(members, &value, err);

    if (code != COLANDER_OK)
        return code;
    if ((value.type != COLANDER_UNSIGNED &&
         (value.type != COLANDER_INTEGER || value.integer < 0)) ||
        value.natural >= end)
        return COLANDER_FAIL(err, COLANDER_INVALID,
                             "%s is not a number that it can be", what);
    *number = value.natural;
    return COLANDER_OK;
}

size_t
decode_find_name(const char *const *names, size_t count,
                 struct colander_slice name)
{
    size_t i = 0;

    while (i < count &&
           !colander_slice_equal(colander_slice_text(names[i]), name))
        i++;
    return i;
}

enum colander_code
decode_name(struct colander_members *members, const char *const *names,
            size_t count, const char *what, size_t *index,
            struct colander_error *err)
{
    struct colander_value value;
    enum colander_code code =
        decode_next_of(members, COLANDER_STRING, what, &value, err);

    if (code != COLANDER_OK)
        return code;
    *index = decode_find_name(names, count, value.bytes);
    if (*index < count)
        return COLANDER_OK;
    return COLANDER_FAIL(err, COLANDER_INVALID, "unknown %s '%.*s'", what,
                         (int)(value.bytes.size < 32 ? value.bytes.size : 32),
                         (const char *)value.bytes.data);
}

enum colander_code
decode_append_text(struct colander_buffer *out,
                   const struct colander_value *value,
                   struct colander_error *err)
{
    enum colander_code code =
        decode_expect(value, COLANDER_STRING, "path", err);

    if (code == COLANDER_OK &&
        memchr(value->bytes.data, '\0', value->bytes.size) != NULL)
        code = COLANDER_FAIL(err, COLANDER_INVALID, "a zero byte in a path");
    if (code == COLANDER_OK)
        code = colander_buffer_append(out, value->bytes.data, value->bytes.size,
                                      err);
    return code == COLANDER_OK ? colander_buffer_append(out, "", 1, err) : code;
}

enum colander_code
decode_begin(struct colander_members *members, struct colander_slice bytes,
             int version, struct colander_error *err)
{
    struct colander_slice name;
    struct colander_value value;
    bool is_member;
    enum colander_code code = colander_row_check(bytes, err);

    if (code == COLANDER_OK)
        code = colander_members_init(members, bytes, err);
    if (code == COLANDER_OK)
        code = colander_members_next(members, &is_member, &name, &value, err);
    if (code != COLANDER_OK)
        return code;
    if (!is_member ||
        !colander_slice_equal(name, colander_slice_text(DECODE_VERSION)) ||
        value.type != COLANDER_INTEGER)
        return COLANDER_FAIL(err, COLANDER_INVALID,
                             "bytes do not begin with a version");
    if (value.integer == version)
        return COLANDER_OK;
    return COLANDER_FAIL(err, COLANDER_INVALID,
                         "bytes have version %lld, but version %s of the "
                         "library reads %d",
                         (long long)value.integer, colander_version(), version);
}
