/*
 * The record by which a member says that it is there. FORMAT.md has the bytes.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef CLUSTER_MEMBER_RECORD_H
#define CLUSTER_MEMBER_RECORD_H

#include "core/core.h"

struct member_record {
    bool is_goodbye;
    uint64_t process;    /* its id */
    uint64_t generation; /* of the processes with this name, from 1 on */
    struct colander_slice cluster;
    struct colander_slice name;
    struct colander_slice text;
};

/* Replaces the bytes. */
COLANDER_CHECKED enum colander_code
member_record_encode(const struct member_record *record,
                     struct colander_buffer *bytes, struct colander_error *err);

/* Returns whether the bytes are a record, from which *record then borrows. */
bool member_record_decode(struct colander_slice bytes,
                          struct member_record *record);

/* Whether these bytes may be the name of a member. */
bool member_record_is_name(struct colander_slice name);

#endif
