/*
 * Chunks: parts of a file, which pass from the reader thread to parser threads
 * and to the writer thread.
 *
 * Chunks are in a ring: free, filled, parsed, free again. Several are parsed at
 * once, but they are written in the order in which they were filled. A large
 * record waits for all other chunks to become free. So there is one at a time,
 * and memory is bounded.
 *
 * Life:    ring_create -> take and put, by each thread -> ring_stop ->
 *          ring_destroy, after the threads have ended
 * Threads: as above; a chunk belongs to the thread that has taken it
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef LOADING_CHUNK_H
#define LOADING_CHUNK_H

#include "loading/load.h"

#define CHUNK_SIZE (512u << 10)    /* bytes of text, except large records */
#define CHUNK_ROWS_SIZE (8u << 20) /* of rows, approximately */

enum piece_kind {
    PIECE_RECORD,
    PIECE_BAD,  /* not a record: the reader has rejected it */
    PIECE_REST, /* more of the bad record before */
    PIECE_NULL, /* a record of a stream without a value: its key */
};

/* A record in the text of a chunk. */
struct piece {
    enum piece_kind kind;
    uint32_t offset;
    uint32_t size;
    uint32_t key_size; /* of a stream: of its key, which follows it, if that
                        * decides about partitions */
    uint8_t operation; /* of a stream (enum colander_load_operation) */
};

/* A record that was rejected. */
struct reject {
    uint32_t piece;
    uint32_t fault;  /* byte of the piece */
    uint32_t reason; /* offset in the chunk's reasons */
    bool lacks_key;  /* a key column is missing */
    bool lacks_time; /* that by which it has its family is missing */
    size_t size;     /* of the record, if the piece has only its beginning */
};

/* A checked row that waits to be written: the sizes of its parts, and where
 * they are in the chunk's waiting bytes. */
struct waiting_row {
    uint32_t piece;
    uint32_t key_size;
    uint32_t row_size;
    bool has_new_key;     /* the reader has made it */
    bool is_taken;        /* it is not rejected, and replaces what is there */
    size_t key_at;        /* the row follows, and then, of an item, */
    uint32_t family_size; /* the name of the family, */
    uint8_t action;       /* what is done (enum item_action; of a stream: NONE,
                           * UPDATE or DELETE), */
    bool is_upsert;       /* and whether an update may create a row */
    int64_t second;       /* its time, of a partition */
    struct colander_family *family; /* set by the writer, except of an item;
                                     * borrowed */
};

struct chunk {
    /* set by the reader */
    struct colander_buffer text;
    struct piece *pieces;
    size_t piece_count;
    size_t piece_capacity;
    uint64_t offset;      /* of the text in the file */
    uint64_t line;        /* of its first byte, from 1 */
    uint64_t line_offset; /* where that line begins in the file */
    uint64_t end_offset;  /* the same for the end of the text */
    uint64_t end_line;
    uint64_t end_line_offset;
    uint32_t end_state; /* of the splitter there */
    bool has_end;       /* a record ends there, so it is a resume point */
    bool is_last;       /* of the file */
    bool is_unended; /* it is the last record, without an end: JSON, or a line
                         * of JSONL without a line end */
    struct colander_error failure; /* of reading, after the text; or OK */
    struct colander_buffer keys;   /* new ones, for records without a key */
    size_t key_size;               /* of each of them */
    struct colander_load_place *places; /* of the pieces of a stream; NULL */
    size_t place_capacity;
    bool has_changes;             /* of a stream: other than puts */
    struct colander_buffer marks; /* of a stream, after the records: see
                                   * chunk_next_mark */

    /* set by the reader and a parser */
    struct reject *rejects; /* in any order */
    size_t reject_count;
    size_t reject_capacity;
    struct colander_buffer reasons; /* C strings */

    /* set by a parser */
    struct colander_buffer waiting_bytes; /* key, row, key, row, ... */
    struct waiting_row *waiting;
    size_t waiting_count;
    size_t waiting_capacity;
    bool retains;   /* the last record is a retain */
    bool is_broken; /* rows are missing, see `failure`; of a stream the reader
                     * may set it, too */
};

/* Add to the lists of a chunk. */
COLANDER_CHECKED enum colander_code chunk_add_piece(struct chunk *chunk,
                                                    const struct piece *piece,
                                                    struct colander_error *err);
COLANDER_CHECKED enum colander_code
chunk_add_waiting(struct chunk *chunk, size_t piece, bool has_new_key,
                  struct colander_slice key, struct colander_slice row,
                  struct colander_error *err);
/* Adds a record of a stream; one with a fault is rejected. `keeps_key`: with
 * its key. */
COLANDER_CHECKED enum colander_code
chunk_add_record(struct chunk *chunk, const struct colander_load_record *record,
                 bool keeps_key, struct colander_error *err);
/* Sets `key` to {topic, partition, offset}, after the time `with_time`. */
COLANDER_CHECKED enum colander_code
place_key(const struct colander_load_place *place, bool with_time,
          struct colander_buffer *key, struct colander_error *err);

COLANDER_CHECKED enum colander_code chunk_add_mark(struct chunk *chunk,
                                                   struct colander_slice name,
                                                   struct colander_slice value,
                                                   struct colander_error *err);

/* Returns whether there is a mark at *at, and moves *at, 0 at first, after it.
 * Both are borrowed. */
bool chunk_next_mark(const struct chunk *chunk, size_t *at,
                     struct colander_slice *name, struct colander_slice *value);

/* Notes which item the row that was added last is of. */
COLANDER_CHECKED enum colander_code
chunk_note_item(struct chunk *chunk, uint8_t action, bool is_upsert,
                struct colander_slice family, struct colander_error *err);
COLANDER_CHECKED enum colander_code
chunk_add_reject(struct chunk *chunk, size_t piece, size_t fault,
                 const char *reason, struct colander_error *err);

/* Leaves only the waiting rows that are taken. */
void chunk_drop_untaken(struct chunk *chunk);

/* Puts the rejects in the order of their pieces. */
void chunk_sort_rejects(struct chunk *chunk);

/* A byte of a chunk's text, and the line that it is on. */
struct chunk_spot {
    size_t at;
    uint64_t line;
    uint64_t begin; /* where that begins in the file */
};

/* Moves a spot forward to byte `at`, or starts again at the beginning. */
void chunk_spot_move(struct chunk_spot *spot, const struct chunk *chunk,
                     size_t at);

static inline struct colander_slice
chunk_piece(const struct chunk *chunk, const struct piece *piece)
{
    return colander_slice_of(chunk->text.data + piece->offset, piece->size);
}

static inline struct colander_slice
chunk_waiting_key(const struct chunk *chunk, size_t index)
{
    const struct waiting_row *waiting = &chunk->waiting[index];

    return colander_slice_of(chunk->waiting_bytes.data + waiting->key_at,
                             waiting->key_size);
}

static inline struct colander_slice
chunk_waiting_row(const struct chunk *chunk, size_t index)
{
    const struct colander_slice key = chunk_waiting_key(chunk, index);

    return colander_slice_of(key.data + key.size,
                             chunk->waiting[index].row_size);
}

static inline struct colander_slice
chunk_waiting_family(const struct chunk *chunk, size_t index)
{
    const struct colander_slice row = chunk_waiting_row(chunk, index);

    return colander_slice_of(row.data + row.size,
                             chunk->waiting[index].family_size);
}

/* ---------------------------------------------------------------- ring --- */

struct ring;

enum chunk_state { CHUNK_FREE = 0, CHUNK_FILLED, CHUNK_PARSED };

/* Returns NULL without memory. */
struct ring *ring_create(size_t chunk_count);

/* Requires that no thread uses the ring. NULL is allowed. */
void ring_destroy(struct ring *ring);

/* Waits for the next free chunk and clears it. Returns NULL once the ring is
 * stopped. */
struct chunk *ring_take_free(struct ring *ring);

/* Waits for the next filled chunk. Returns NULL after the last, or once the
 * ring is stopped. */
struct chunk *ring_take_filled(struct ring *ring);

/* Waits at most `wait_ms` for the next parsed chunk, in the order of filling.
 * Returns NULL if there is none, or once the ring is stopped. */
struct chunk *ring_take_parsed(struct ring *ring, unsigned wait_ms);

/* Returns whether all chunks are free except the one being filled. */
bool ring_is_idle(struct ring *ring);

/* Waits until all other chunks are free; for the thread that fills one. Returns
 * false once the ring is stopped. */
bool ring_await_others(struct ring *ring);

/* Passes on a chunk that was taken. */
void ring_put(struct ring *ring, struct chunk *chunk, enum chunk_state state);

/* Wakes all threads that wait; no chunk can be taken any more. */
void ring_stop(struct ring *ring);

#endif
