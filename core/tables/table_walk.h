/*
 * Blocks of data found without an index, one behind the other.
 *
 * A compressed block tells where it ends, as do the entries of another; whether
 * it is one says the checksum behind it. Where none begins each byte behind is
 * tried as the beginning of one.
 *
 * A row that holds the bytes of a whole block of data is taken for one when
 * the block that it is in is damaged: nothing tells them apart.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef COLANDER_CORE_TABLES_TABLE_WALK_H
#define COLANDER_CORE_TABLES_TABLE_WALK_H

#include "core/tables/table_block.h"

#ifdef __cplusplus
extern "C" {
#endif

struct table_walk {
    const struct table_source *source; /* borrowed */
    uint64_t end;                      /* nothing is looked for behind it */
    uint64_t at;                       /* behind the block found last */
    uint64_t data_end;                 /* of the last block of data */
    uint64_t index_end; /* what an index that was met has for the end of the
                         * data; 0: none was */
    uint64_t work_left; /* bytes that may yet be looked at in vain, so that a
                         * file made for it does not take for ever */
    struct colander_buffer window; /* bytes of the file */
    uint64_t window_at;            /* the first of them */
};

/* Begins as zeros and this; ends with table_walk_release. */
void table_walk_start(struct table_walk *walk,
                      const struct table_source *source, uint64_t end);

void table_walk_release(struct table_walk *walk);

/* What was found. */
struct table_found {
    bool is_block;    /* false: none up to the end, or it was given up */
    bool is_given_up; /* the work was too much */
    bool is_end;      /* without a block: an index says there is none */
    struct table_place place; /* of the block; without one, from where on the
                               * file was not looked at */
    uint64_t skipped_at;      /* before it; up to `place` there is no block */
};

/* Puts the next block into `block`. OK, IO or NO_MEMORY. */
COLANDER_CHECKED enum colander_code table_walk_next(struct table_walk *walk,
                                                    unsigned *checksum_kind,
                                                    struct table_block *block,
                                                    struct table_found *found,
                                                    struct colander_error *err);

#ifdef __cplusplus
}
#endif

#endif
