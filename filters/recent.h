/*
 * Recent rows: the values of rows that may be in no SST yet.
 *
 * A row is noted before it is written to the engine, so that it is found by
 * value the moment it is acknowledged, and however many rows wait for a flush.
 * Notes lie in *chunks* (recent_chunk.h), each a hash table that is never
 * grown; a full chunk is closed and another begun, the larger the more there
 * are, up to some 40,000 distinct values. A chunk goes when all writes that
 * noted something in it are over and the engine has said that everything up to
 * the last of them is in SST files of the view. Until then old values stay,
 * which older snapshots may ask for.
 *
 * A note is a hint: the row may have changed since, or never been written.
 *
 * Threads: notes of one family are made by many threads at once, under a mutex
 *          of the family's; finding takes none, beside one to get the list of
 *          chunks (recent_view)
 * Memory:  in proportion to the rows that the engine has not flushed. A chunk
 *          whose writes have all failed goes at once.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef COLANDER_FILTERS_RECENT_H
#define COLANDER_FILTERS_RECENT_H

#include "core/core.h"

/* Recent rows of one family. */
struct recent;

/* NULL when memory is short. */
struct recent *recent_create(void);

/* No write is under way and every view is released. NULL is allowed. */
void recent_destroy(struct recent *recent);

/* A value of a row that is noted: its hash and its column's tag. */
struct recent_value {
    uint64_t hash;
    uint32_t tag; /* below LOCATOR_TAGS */
};

/* One write that notes rows: chunks that it has touched. Starts with zeros, and
 * stays where it is. */
struct recent_write {
    struct recent_chunk **chunks; /* counted: they cannot go before its end */
    size_t count;
    size_t capacity;
    struct recent_chunk *first[4]; /* what `chunks` is while it suffices */
};

/* Notes the row of `key` with its values (copied), for `write`. NO_MEMORY, or
 * LIMIT for a key over 65,535 bytes: the row must not be written; the write may
 * note others. A row without values leaves nothing. */
COLANDER_CHECKED enum colander_code
recent_note(struct recent *recent, struct recent_write *write,
            struct colander_slice key, const struct recent_value *values,
            size_t count, struct colander_error *err);

/*
 * The write is over. `sequence` is that of the newest write of the store once
 * it was; or the write failed (`is_written` false), and nothing of it is in the
 * engine. Frees what `write` holds. A write may have noted rows of several
 * families.
 */
void recent_write_end(struct recent_write *write, bool is_written,
                      uint64_t sequence);

/* Everything of the family up to `sequence` is in files of the view: drops the
 * chunks of which that is true now, or once their writes are over. */
void recent_flushed(struct recent *recent, uint64_t sequence);

/* The chunks as they are now, counted. Rows that are noted later may be found
 * in them as well. */
struct recent_view;

/* NULL when memory is short. */
struct recent_view *recent_view_create(struct recent *recent);

/* NULL is allowed. */
void recent_view_release(struct recent_view *view);

/* Whether no row was noted when it was made, nor can be seen in it later. */
bool recent_view_is_empty(const struct recent_view *view);

/*
 * Gives to `visit` the key (borrowed until the view is released) of every row
 * of the view that may hold a value of this hash in a column of `tag`
 * (LOCATOR_TAG_ANY: any), in no order; a key more than once where the row was
 * overwritten, or has the value more than once. Stops when `visit` gives a code
 * other than OK, and returns it.
 */
COLANDER_CHECKED enum colander_code recent_find(
    const struct recent_view *view, uint64_t hash, unsigned tag,
    enum colander_code (*visit)(void *context, struct colander_slice key,
                                struct colander_error *err),
    void *context, struct colander_error *err);

/* How many notes a value of this hash has, at most `limit` of them counted. */
uint64_t recent_count(const struct recent_view *view, uint64_t hash,
                      unsigned tag, uint64_t limit);

/* Now. */
struct recent_sizes {
    uint64_t bytes;     /* of chunks, also of those that only views hold */
    uint64_t row_count; /* noted and not gone */
};

struct recent_sizes recent_sizes(struct recent *recent);

#endif
