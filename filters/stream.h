/*
 * Streams: keys of candidates from one source, in order.
 *
 * A source is a part of a filter, an SST without a usable filter, the rows that
 * no SST holds yet, or keys that were collected from the recent rows. Keys come
 * ascending, or descending when the find is reversed, each within the key range
 * of the find.
 *
 * Where rows are read on the way to their keys (segments, whole files), those
 * that do not match as that file has them are left out: if another file has the
 * row as the snapshot sees it, that file's stream gives the key.
 *
 * Life: stream_open_* -> next until `key` is empty -> close
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef COLANDER_FILTERS_STREAM_H
#define COLANDER_FILTERS_STREAM_H

#include "filters/context.h"

/* What the streams of one find have in common. */
struct stream_find {
    struct filters *filters;
    const struct candidate_request *request;
    struct colander_slice from; /* as in the request, or where it goes on */
    struct colander_slice until;
};

struct stream {
    const struct stream_find *find;
    struct colander_slice key; /* given last; empty: the end */
    enum colander_code (*next)(struct stream *stream,
                               struct colander_error *err);
    void (*close)(struct stream *stream);
    struct sst_file *file; /* of part and SST streams, borrowed; else NULL */
    bool has_failed;       /* `next` gave an error */
};

/* The rows in `ranges` of part `index` of the file's filter. */
COLANDER_CHECKED enum colander_code
stream_open_part(const struct stream_find *find, struct sst_file *file,
                 uint32_t index, const struct row_ranges *ranges,
                 struct stream **stream, struct colander_error *err);

/* All rows of a file that match. It is first read by `next`. */
COLANDER_CHECKED enum colander_code
stream_open_sst(const struct stream_find *find, struct sst_file *file,
                struct stream **stream, struct colander_error *err);

/* All rows that are in no SST and match. */
COLANDER_CHECKED enum colander_code
stream_open_unflushed(const struct stream_find *find, struct stream **stream,
                      struct colander_error *err);

/* Keys of recent rows that may answer the question, `count` of them; *stream
 * NULL: there are none, or (*is_told false) the recent rows do not tell, and
 * the unflushed ones are to be asked. */
COLANDER_CHECKED enum colander_code
stream_open_recent(const struct stream_find *find,
                   const struct recent_view *recent,
                   const struct settings *settings, struct stream **stream,
                   uint64_t *count, bool *is_told, struct colander_error *err);

/* NULL is allowed. */
static inline void
stream_close(struct stream *stream)
{
    if (stream != NULL)
        stream->close(stream);
}

/* Steps, and notes a failure. */
COLANDER_CHECKED static inline enum colander_code
stream_next(struct stream *stream, struct colander_error *err)
{
    enum colander_code code = stream->next(stream, err);

    stream->has_failed = code != COLANDER_OK;
    return code;
}

/* Whether the key is in the find's range. */
bool stream_has_key(const struct stream_find *find, struct colander_slice key);

#endif
