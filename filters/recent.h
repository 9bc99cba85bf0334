/*
 * Recent rows: the values of rows that may be in no SST yet.
 *
 * Values are added before their row is written to the engine. So a row is found
 * by value the moment it is acknowledged, however many rows wait for a flush.
 * Entries are kept in *chunks* (recent_chunk.h): hash tables that never grow. A
 * full chunk is closed and another one opened; chunks are larger the more there
 * are, up to some 40,000 distinct values. A chunk is removed when all writes
 * that added to it have ended and the engine has reported that everything up to
 * the last of them is in SST files of the view. Until then it keeps old values
 * too, for older snapshots.
 *
 * An entry is a hint: the row may have changed since, or may never have been
 * written.
 *
 * Threads: many threads may add rows of a family; its mutex orders them.
 *          Finding takes it only to get the list of chunks (recent_view)
 * Memory:  proportional to the rows that the engine has not flushed. A chunk
 *          whose writes have all failed is removed at once.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef COLANDER_FILTERS_RECENT_H
#define COLANDER_FILTERS_RECENT_H

#include "core/core.h"

/* Recent rows of one family. */
struct recent;

/* Returns NULL if memory is short. */
struct recent *recent_create(void);

/* Requires that no write is active, and all views released. NULL is allowed. */
void recent_destroy(struct recent *recent);

/* A value of a row: its hash and the tag of its column. */
struct recent_value {
    uint64_t hash;
    uint32_t tag; /* below LOCATOR_TAGS */
    bool is_key;  /* the hash is that of the row's key: see recent_has_key */
};

/* The chunks that one write has added to. Starts zeroed, and must not move. */
struct recent_write {
    struct recent_chunk **chunks; /* counted: they stay until the write has
                                   * ended */
    size_t count;
    size_t capacity;
    struct recent_chunk *first[4]; /* initial memory of `chunks` */
};

/* Adds the row of `key` with its values (copied), for `write`. Fails with
 * NO_MEMORY, or with LIMIT for a key of more than 65,535 bytes. Then the row
 * must not be written, but the write may add others. A row without values adds
 * nothing. */
COLANDER_CHECKED enum colander_code
recent_add(struct recent *recent, struct recent_write *write,
           struct colander_slice key, const struct recent_value *values,
           size_t count, struct colander_error *err);

/* Ends the write. `sequence` is the newest of the store after the write. If the
 * write failed (`is_written` false), none of it is in the engine. Frees the
 * memory of `write`. A write may have added rows of several families. */
void recent_write_end(struct recent_write *write, bool is_written,
                      uint64_t sequence);

/* Reports that everything of the family up to `sequence` is in files of the
 * view. Removes the chunks for which that suffices, now or when their writes
 * have ended. */
void recent_flushed(struct recent *recent, uint64_t sequence);

/* The chunks at one moment, counted. Rows that are added later may be found in
 * them too. */
struct recent_view;

/* Returns NULL if memory is short. */
struct recent_view *recent_view_create(struct recent *recent);

/* NULL is allowed. */
void recent_view_release(struct recent_view *view);

/* Returns whether the view has no chunks; then it never finds a row. */
bool recent_view_is_empty(const struct recent_view *view);

/* Passes to `visit` the key of every row of the view that may have a value of
 * this hash in a column of `tag` (LOCATOR_TAG_ANY: any), in no order. A key may
 * come several times, if the row was overwritten or has the value more than
 * once. It is borrowed until the view is released. Stops if `visit` fails, and
 * returns its code. */
COLANDER_CHECKED enum colander_code recent_find(
    const struct recent_view *view, uint64_t hash, unsigned tag,
    enum colander_code (*visit)(void *context, struct colander_slice key,
                                struct colander_error *err),
    void *context, struct colander_error *err);

/* Returns how many entries the hash has, at most `limit`. */
uint64_t recent_count(const struct recent_view *view, uint64_t hash,
                      unsigned tag, uint64_t limit);

/* Returns whether the view may have a row whose key has the hash, which was
 * added as one of a key. */
bool recent_has_key(const struct recent_view *view, uint64_t hash);

/* Begins to fetch what that will read, so that misses of several searches
 * overlap. */
void recent_fetch_key(const struct recent_view *view, uint64_t hash);

/* The current sizes. */
struct recent_sizes {
    uint64_t bytes;     /* of chunks, including those that only views hold */
    uint64_t row_count; /* added and not removed */
};

struct recent_sizes recent_sizes(struct recent *recent);

#endif
