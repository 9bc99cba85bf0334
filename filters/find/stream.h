/*
 * Streams: keys of candidates from one source, in order.
 *
 * A source is a part of a filter, an SST without a usable filter, the rows that
 * are in no SST yet, or keys collected from the recent rows. Keys are
 * ascending, or descending if the find is reversed, and inside the find's
 * range.
 *
 * Streams that read rows on the way to their keys (segments, whole files) skip
 * rows that do not match in that file. If the snapshot sees the row in another
 * file, that file's stream returns the key.
 *
 * Life: stream_open_* -> next until `key` is empty -> close
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef COLANDER_FILTERS_FIND_STREAM_H
#define COLANDER_FILTERS_FIND_STREAM_H

#include "filters/direct.h"
#include "filters/part_find.h"

#define STREAM_AHEAD_MAX 8 /* rows that a stream fetches at once */

/* What the streams of one find share. */
struct stream_find {
    struct filters *filters;
    const struct candidate_request *request;
    struct colander_slice from; /* the request's, or where a new plan begins */
    struct colander_slice until;
};

struct stream {
    const struct stream_find *find;
    struct colander_slice key; /* returned last; empty: the end */
    struct direct_row row; /* of the key, if it was read directly; held by the
                            * stream, or by who sets its block to NULL */
    uint64_t number;       /* then of this row in the file */
    uint32_t place;        /* of the file in the levels, or LEVELS_NONE */
    uint32_t ahead_max;    /* rows to fetch at once */
    enum colander_code (*next)(struct stream *stream,
                               struct colander_error *err);
    void (*fetch)(struct stream *stream, unsigned step); /* before the first
                                     * `next`, see direct_fetch; or NULL */
    void (*close)(struct stream *stream);
    struct sst_file *file; /* of part and SST streams, borrowed; else NULL */
    bool is_put_off;       /* `key` is none: all others come after it */
    bool has_failed;       /* `next` failed, */
    bool is_sst_damaged;   /* whatever the filter may say */
};

/* Opens a stream of rows in `ranges` of part `index` of the file's filter.
 * `are_doubtful`: few of them will match, so that they had better be evaluated
 * before they are merged. */
COLANDER_CHECKED enum colander_code
stream_open_part(const struct stream_find *find, struct sst_file *file,
                 uint32_t index, const struct row_ranges *ranges,
                 bool are_doubtful, struct stream **stream,
                 struct colander_error *err);

/* The same of rows in `bounds` that match. They are located once the stream is
 * reached: the first `next` only tells after which key they come. Borrows what
 * the hints refer to. */
COLANDER_CHECKED enum colander_code
stream_put_off(const struct stream_find *find, struct sst_file *file,
               uint32_t index, const struct hash_hints *hints,
               const struct row_range *bounds, struct stream **stream,
               struct colander_error *err);

/* Opens a stream of all matching rows of a file. The first `next` reads it. */
COLANDER_CHECKED enum colander_code
stream_open_sst(const struct stream_find *find, struct sst_file *file,
                struct stream **stream, struct colander_error *err);

/* Opens a stream of all matching rows that are in no SST. */
COLANDER_CHECKED enum colander_code
stream_open_unflushed(const struct stream_find *find, struct stream **stream,
                      struct colander_error *err);

/* Opens a stream of the `count` keys of recent rows that may match. The view is
 * borrowed until the stream is closed. *stream is NULL if there are no keys,
 * or, with *do_suffice false, if the recent rows cannot tell; then the
 * unflushed rows must be read. */
COLANDER_CHECKED enum colander_code stream_open_recent(
    const struct stream_find *find, const struct recent_view *view,
    const struct settings *settings, struct stream **stream, uint64_t *count,
    bool *do_suffice, struct colander_error *err);

/* NULL is allowed. */
static inline void
stream_close(struct stream *stream)
{
    if (stream != NULL)
        stream->close(stream);
}

/* Advances, and remembers a failure. */
COLANDER_CHECKED static inline enum colander_code
stream_next(struct stream *stream, struct colander_error *err)
{
    enum colander_code code = stream->next(stream, err);

    stream->has_failed = code != COLANDER_OK;
    return code;
}

/* Returns whether the key is in the find's range. */
bool stream_has_key(const struct stream_find *find, struct colander_slice key);

/* Opens the SST of the file, and a cursor on it at the find's snapshot. On
 * failure the caller must close both too. */
COLANDER_CHECKED enum colander_code
stream_open_cursor(const struct stream_find *find, const struct sst_file *file,
                   struct sst **sst, struct engine_cursor **cursor,
                   struct colander_error *err);

/* Evaluates a row that was read on the way, and counts it. Fails with CANCELLED
 * if the find was cancelled. */
COLANDER_CHECKED enum colander_code
stream_evaluate(const struct stream_find *find, struct colander_slice row,
                bool *is_match, struct colander_error *err);

#endif
