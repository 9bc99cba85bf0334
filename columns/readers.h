/*
 * Readers: threads that read the rows of a large result ahead of the one who
 * gives them out, and who reads with them.
 *
 * The keys of a lot are read in groups. They are given in the order of the
 * keys, whoever was first. What a reader cannot do, it leaves undone and says
 * nothing: the one who gives out does it himself, and so meets every error in
 * its place.
 *
 * Life:   create -> (begin -> next until false -> end)* -> destroy, all by one
 *         thread, the giver
 * Memory: about READERS_BYTES of rows and one group more for each thread, as
 *         long as the lot
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef COLANDER_COLUMNS_READERS_H
#define COLANDER_COLUMNS_READERS_H

#include "columns/candidates.h"

/* Groups of a lot, and rows of a group, at most. */
#define READERS_GROUPS 16
#define READERS_GROUP_ROWS 32

/* What the rows of a lot should stay under. */
#define READERS_BYTES (16u << 20)

/* What a reader has found out about a row. */
enum row_answer {
    ROW_UNKNOWN, /* to be evaluated by the giver */
    ROW_FALSE,
    ROW_TRUE,
};

struct row_group {
    size_t first; /* of the keys of the lot */
    size_t count;
    struct colander_engine_rows *rows;
    enum row_answer answers[READERS_GROUP_ROWS]; /* of rows that were found */
};

struct readers;

/* `thread_count` is with the giver; 0: as many as there are cores. `request` is
 * borrowed. NULL: there would be no other thread, or memory is short. */
struct readers *readers_create(const struct candidate_request *request,
                               uint32_t thread_count);

/* NULL is allowed. Waits for groups that are being read. */
void readers_destroy(struct readers *readers);

/* Begins to read `count` keys in groups of `group_size` rows; what is too much
 * for READERS_GROUPS groups is left out. The keys are borrowed until the end of
 * the lot. Makes threads, some more for each lot; without them the giver reads
 * alone. */
void readers_begin(struct readers *readers, const struct colander_slice *keys,
                   size_t count, size_t group_size);

/* Gives the next group, borrowed until the end of the lot. False: there is
 * none, or the giver should read it, or memory is used up, or the find is
 * cancelled; then the lot is to be ended. */
bool readers_next(struct readers *readers, const struct row_group **group);

/* Ends the lot; its keys may go, and its rows do. */
void readers_end(struct readers *readers);

#endif
