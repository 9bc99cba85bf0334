/*
 * Chunks: pieces of a file on their way from the thread that reads to those
 * that make rows, and to the one that writes.
 *
 * They go around a ring: empty, filled, made, empty again. Rows may be made of
 * several at once, but they are written in the order in which they were
 * filled. A large record has a chunk of its own that waits until all others
 * are empty; so there is one at a time, and memory stays bounded.
 *
 * Life:    ring_create -> fill, make and write, each by its threads ->
 *          ring_stop, once it is known that no more is wanted -> destroy
 * Threads: as above; what a chunk holds belongs to whoever has taken it
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef LOADING_CHUNK_H
#define LOADING_CHUNK_H

#include "columns/columns.h"

#define CHUNK_SIZE (512u << 10)    /* bytes of text, but for large records */
#define CHUNK_ROWS_SIZE (8u << 20) /* of rows, about, but for a large one */

enum piece_kind {
    PIECE_RECORD,
    PIECE_BAD, /* no record; `reason` says why */
    PIECE_REST /* of the record that was bad before it */
};

/* A record in the text of a chunk. */
struct piece {
    enum piece_kind kind;
    uint32_t offset;
    uint32_t size;
    uint32_t fault;  /* of BAD: the byte of the piece that is wrong */
    uint32_t reason; /* of BAD: where it begins in the chunk's reasons */
};

/* A record that was rejected. */
struct reject {
    uint32_t piece;
    uint32_t fault;  /* byte of the piece */
    uint32_t reason; /* where it begins in the chunk's reasons */
};

/* A row, checked, that waits for what is under its key; sizes of what stands in
 * the chunk's bytes. */
struct waiting_row {
    uint32_t piece;
    uint32_t key_size;
    uint32_t row_size;
};

struct chunk {
    /* by the thread that reads */
    struct colander_buffer text;
    struct piece *pieces;
    size_t piece_count;
    size_t piece_capacity;
    uint64_t offset;      /* where the text begins in the file, */
    uint64_t line;        /* on which line, from 1, */
    uint64_t line_offset; /* which begins there */
    uint64_t end_offset;  /* the same of its end */
    uint64_t end_line;
    uint64_t end_line_offset;
    uint32_t end_state; /* of the splitter there */
    bool has_end;       /* a record ends there: it is a place */
    bool is_last;       /* nothing comes behind it */
    bool is_unended;    /* of JSONL: it is the last line, without a line end */
    struct colander_error failure; /* of reading, behind the text; or OK */
    struct colander_buffer keys;   /* of records without one, ... */
    size_t key_size;               /* each of so many bytes */

    /* by a thread that makes rows */
    struct colander_batch *batch;         /* NULL: to be made */
    struct colander_buffer waiting_bytes; /* key, row, key, row, ... */
    struct waiting_row *waiting;
    size_t waiting_count;
    size_t waiting_capacity;
    struct reject *rejects;
    size_t reject_count;
    size_t reject_capacity;
    bool is_broken;                 /* rows are missing: the failure says why */
    struct colander_buffer reasons; /* texts, each with its zero byte */
};

/* Adds to the lists of a chunk. */
COLANDER_CHECKED enum colander_code chunk_add_piece(struct chunk *chunk,
                                                    const struct piece *piece,
                                                    struct colander_error *err);
COLANDER_CHECKED enum colander_code
chunk_add_waiting(struct chunk *chunk, size_t piece, struct colander_slice key,
                  struct colander_slice row, struct colander_error *err);
COLANDER_CHECKED enum colander_code
chunk_add_reject(struct chunk *chunk, size_t piece, size_t fault,
                 const char *reason, struct colander_error *err);

/* The same, with a reason that is among the chunk's. */
COLANDER_CHECKED enum colander_code chunk_reject(struct chunk *chunk,
                                                 const struct reject *reject,
                                                 struct colander_error *err);

/* Appends a text to the reasons: *at is where it begins. */
COLANDER_CHECKED enum colander_code
chunk_add_reason(struct chunk *chunk, const char *reason, uint32_t *at,
                 struct colander_error *err);

static inline struct colander_slice
chunk_piece(const struct chunk *chunk, const struct piece *piece)
{
    return colander_slice_of(chunk->text.data + piece->offset, piece->size);
}

/* ---------------------------------------------------------------- ring --- */

struct ring;

/* NULL when memory is short. */
struct ring *ring_create(size_t chunk_count);

/* No thread uses it any more. NULL is allowed. */
void ring_destroy(struct ring *ring);

/* These wait; NULL once the ring is stopped. The next empty chunk, cleared: */
struct chunk *ring_take_empty(struct ring *ring);

/* The next filled one; NULL also behind the last. */
struct chunk *ring_take_filled(struct ring *ring);

/* The next whose rows are made; NULL as well after `wait_ms`. */
struct chunk *ring_take_made(struct ring *ring, unsigned wait_ms);

/* Whether all are empty but the one that is being filled. */
bool ring_is_idle(struct ring *ring);

/* For who fills a chunk: waits until all others are empty; false: stopped. */
bool ring_await_others(struct ring *ring);

/* Hands over a chunk that was taken. */
void ring_fill(struct ring *ring, struct chunk *chunk);
void ring_make(struct ring *ring, struct chunk *chunk);
void ring_empty(struct ring *ring, struct chunk *chunk);

/* Makes everybody who waits go away. */
void ring_stop(struct ring *ring);

#endif
