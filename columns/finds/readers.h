/*
 * Read-ahead: worker threads fetch rows of a large result before the cursor
 * needs them. The cursor's thread helps.
 *
 * The keys of a lot are read in groups, which are returned in the order of the
 * keys. A reader that fails reports nothing and leaves its group unread. The
 * cursor then reads that group itself, so every error appears in its place.
 *
 * Life:   create -> (begin -> next until false -> end)* -> destroy, all by the
 *         cursor's thread
 * Memory: about READERS_BYTES of rows, and one group more for each thread,
 *         until the end of the lot
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef COLANDER_COLUMNS_FINDS_READERS_H
#define COLANDER_COLUMNS_FINDS_READERS_H

#include "columns/finds/found_rows.h"

/* The most groups of a lot and rows of a group. */
#define READERS_GROUPS 16
#define READERS_GROUP_ROWS FOUND_ROWS_MAX

/* Approximately the most bytes of the rows of a lot. */
#define READERS_BYTES (16u << 20)

/* The result of evaluating a row. */
enum row_answer {
    ROW_UNKNOWN, /* the cursor evaluates it */
    ROW_FALSE,
    ROW_TRUE,
};

struct row_group {
    size_t first; /* index among the keys of the lot */
    size_t count;
    struct found_rows rows;
    enum row_answer answers[READERS_GROUP_ROWS]; /* of rows that were found */
};

struct readers;

/* `thread_count` includes the cursor's thread; 0: one for each core. `source`
 * is borrowed. Returns NULL if there would be no other thread, or memory is
 * short. */
struct readers *readers_create(const struct candidate_source *source,
                               uint32_t thread_count);

/* NULL is allowed. Waits for groups that are being read. */
void readers_destroy(struct readers *readers);

/* Begins to read `count` rows in groups of `group_size` rows, at most
 * READERS_GROUPS of them; those after these are not read. `found` is
 * borrowed until the end of the lot. Starts threads, some more for each lot.
 * Without threads the cursor's thread reads alone. */
void readers_begin(struct readers *readers, const struct candidate *found,
                   size_t count, size_t group_size);

/* Returns the next group. Valid until the end of the lot. Returns false if
 * there is none, if the cursor has to read it, if READERS_BYTES are used, or if
 * the find is cancelled; the caller then ends the lot. */
bool readers_next(struct readers *readers, const struct row_group **group);

/* Ends the lot and releases its rows. */
void readers_end(struct readers *readers);

#endif
