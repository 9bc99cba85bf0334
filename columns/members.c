/*
 * Members: the direct content of one encoded map or array.
 *
 * SPDX-License-Identifier: MIT
 */
#include "columns/msgpack.h"

enum colander_code
colander_members_init(struct colander_members *members,
                      struct colander_slice container,
                      struct colander_error *err)
{
    struct msgpack_reader reader = msgpack_reader_of(container);
    struct colander_value value;
    enum msgpack_result result;
    uint32_t count;

    memset(members, 0, sizeof(*members));
    result = msgpack_read(&reader, &value, &count);
    if (result != MSGPACK_FINE)
        return msgpack_fail(result, COLANDER_CORRUPT, "container", err);
    if (value.type < COLANDER_ARRAY)
        return COLANDER_FAIL(err, COLANDER_CORRUPT,
                             "container is neither a map nor an array");
    members->at = reader.at;
    members->end = reader.end;
    members->left = count;
    members->is_map = value.type == COLANDER_MAP;
    return COLANDER_OK;
}

enum colander_code
colander_members_next(struct colander_members *members, bool *is_member,
                      struct colander_slice *name, struct colander_value *value,
                      struct colander_error *err)
{
    struct msgpack_reader reader = {members->at, members->end};
    enum msgpack_result result = MSGPACK_FINE;

    *is_member = false;
    *name = colander_slice_of(NULL, 0);
    if (members->left == 0)
        return COLANDER_OK;
    if (members->is_map)
        result = msgpack_read_name(&reader, name);
    if (result == MSGPACK_FINE)
        result = msgpack_read_whole(&reader, value);
    if (result != MSGPACK_FINE)
        return msgpack_fail(result, COLANDER_CORRUPT, "container", err);
    members->at = reader.at;
    members->left--;
    *is_member = true;
    return COLANDER_OK;
}
