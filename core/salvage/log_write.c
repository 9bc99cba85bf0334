/*
 * Writes in a log: see log_write.h.
 *
 * A batch begins with the sequence of its first operation and their number.
 * Each is a tag, the family where that is not the first one, a key, and for a
 * put a value.
 *
 * SPDX-License-Identifier: MIT
 */
#include "core/salvage/log_write.h"

#include "core/bytes_in.h"

/* Of RocksDB's tags those that a store of ours has. */
enum tag {
    TAG_DELETE = 0x0,
    TAG_PUT = 0x1,
    TAG_NOTE = 0x3, /* for readers of the log: no operation */
    TAG_FAMILY_DELETE = 0x4,
    TAG_FAMILY_PUT = 0x5,
    TAG_SINGLE_DELETE = 0x7,
    TAG_FAMILY_SINGLE_DELETE = 0x8,
    TAG_NOTHING = 0xd,
};

/* Takes what follows the tag. *is_one: it is an operation. */
static bool
take_operation(struct bytes_in *in, uint64_t tag,
               struct log_operation *operation, bool *is_one)
{
    *is_one = true;
    operation->family = 0;
    operation->is_delete = true;
    operation->value = colander_slice_of(NULL, 0);
    switch (tag) {
    case TAG_FAMILY_PUT:
        operation->family = (uint32_t)bytes_in_varint(in);
        operation->is_delete = false;
        break;
    case TAG_PUT:
        operation->is_delete = false;
        break;
    case TAG_FAMILY_DELETE:
    case TAG_FAMILY_SINGLE_DELETE:
        operation->family = (uint32_t)bytes_in_varint(in);
        break;
    case TAG_DELETE:
    case TAG_SINGLE_DELETE:
        break;
    case TAG_NOTE:
        (void)bytes_in_text(in);
        *is_one = false;
        return true;
    case TAG_NOTHING:
        *is_one = false;
        return true;
    default:
        return false;
    }
    operation->key = bytes_in_text(in);
    if (!operation->is_delete)
        operation->value = bytes_in_text(in);
    return true;
}

uint64_t
log_write_sequence(struct colander_slice record)
{
    struct bytes_in in = bytes_in(record);

    return bytes_in_fixed(&in, 8);
}

enum colander_code
log_write_visit(struct colander_slice record,
                enum colander_code (*visit)(
                    void *context, const struct log_operation *operation,
                    struct colander_error *err),
                void *context, struct colander_error *err)
{
    struct bytes_in in = bytes_in(record);
    struct log_operation operation = {.sequence = bytes_in_fixed(&in, 8)};
    const uint64_t count = bytes_in_fixed(&in, 4);
    enum colander_code code = COLANDER_OK;
    uint64_t seen = 0;

    while (bytes_in_are_left(&in) && code == COLANDER_OK) {
        const uint64_t tag = bytes_in_fixed(&in, 1);
        bool is_one;

        if (!take_operation(&in, tag, &operation, &is_one))
            return COLANDER_FAIL(err, COLANDER_CORRUPT,
                                 "a write has an operation of the unknown kind "
                                 "%llu",
                                 (unsigned long long)tag);
        if (!is_one || in.is_bad)
            continue;
        code = visit(context, &operation, err);
        operation.sequence++;
        seen++;
    }
    if (code == COLANDER_OK && (in.is_bad || seen != count))
        return COLANDER_FAIL(err, COLANDER_CORRUPT,
                             "a write is not what its head says");
    return code;
}
