/*
 * Groups that are merged as those of another process are: as bytes.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef TESTS_COLUMNS_GROUP_MOVES_H
#define TESTS_COLUMNS_GROUP_MOVES_H

#include "columns/group_bytes.h"
#include "support/cases.h"
#include "support/scoped.h"

/* Adds the rows of `from`, which can only be destroyed then: `there`, which is
 * made of the encoded grouping, takes them and is encoded. */
static inline void
merge_moved(struct colander_groups *to, struct colander_groups *from)
{
    struct colander_groups_place place = {0};
    SCOPED_BUFFER bytes = COLANDER_BUFFER_EMPTY;
    SCOPED_BUFFER again = COLANDER_BUFFER_EMPTY;
    struct colander_groups *there;

    assert_true(colander_groups_may_move(from));
    OK(colander_grouping_encode(from, &bytes, why()));
    OK(colander_grouping_decode(colander_buffer_slice(&bytes), SIZE_MAX, NULL,
                                &there, why()));
    OK(colander_grouping_encode(there, &again, why()));
    ASSERT_SAME(colander_buffer_slice(&bytes), colander_buffer_slice(&again));
    OK(colander_groups_merge(there, from, why()));
    while (!place.is_end) {
        colander_buffer_clear(&bytes);
        OK(colander_groups_encode(there, &place, &bytes, why()));
        OK(colander_groups_add_bytes(to, colander_buffer_slice(&bytes), why()));
    }
    colander_groups_destroy(there);
}

#endif
