/*
 * Blocks of a table file without its index, from the beginning of the file.
 *
 * A block ends where a checksum is right, and the next one follows it. Blocks
 * after a damaged one cannot be found.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef COLANDER_CORE_TABLES_TABLE_WALK_H
#define COLANDER_CORE_TABLES_TABLE_WALK_H

#include "core/tables/table_block.h"

struct table_walk {
    const struct table_source *source; /* borrowed */
    uint64_t end;                      /* of the search */
    uint64_t at;                       /* after the last block */
    uint64_t data_end;                 /* of the last block of data */
    uint64_t
        index_end; /* end of the data according to an index; 0: not known */
    struct colander_buffer bytes; /* of the file, from `at` */
};

/* Starts zeroed and with this; ends with table_walk_release. */
void table_walk_start(struct table_walk *walk,
                      const struct table_source *source, uint64_t end);

void table_walk_release(struct table_walk *walk);

struct table_found {
    bool is_block;            /* false: there are no more */
    bool is_damaged;          /* the file is damaged at `at` of the walk */
    bool is_end;              /* an index says that there are no more */
    struct table_place place; /* of the block */
    uint64_t skipped_at; /* where the search began; other blocks may be between
                          * that and `at` of the walk */
};

/* Reads the next block of data into `block`. Fails with IO or NO_MEMORY. */
COLANDER_CHECKED enum colander_code table_walk_next(struct table_walk *walk,
                                                    struct table_block *block,
                                                    struct table_found *found,
                                                    struct colander_error *err);

#endif
