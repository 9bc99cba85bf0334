/*
 * Private to writer*.c: the writer, and its runs (columns/runs.h).
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef LOADING_WRITER_INSIDE_H
#define LOADING_WRITER_INSIDE_H

#include "loading/key_tally.h"
#include "loading/new_keys.h"
#include "loading/partition.h"
#include "loading/rejects.h"
#include "loading/writer.h"

#include <pthread.h>

struct items;
struct sink_state;

/* The commit of a run or a bulk, by a separate thread, so that it can be
 * watched and cancelled, and the next run be filled meanwhile. */
struct run_commit {
    struct colander_bulk *run; /* owned; NULL: there is no commit */
    uint64_t taken;            /* its rows, which count already, */
    uint64_t new;              /* and of these with a new key */
    pthread_t thread;
    enum colander_code code; /* the thread's, as what follows */
    struct colander_error err;
    uint64_t row_count;
};

struct writer {
    struct colander_store *store;
    struct colander_family *family;
    const struct colander_load_options *options;
    const struct load_limits *limits;
    const atomic_bool *is_cancelled;
    struct colander_load_stats *stats;
    struct rejects rejects;
    struct colander_batch *batch; /* of the chunk */
    struct partition partition;   /* if the options have one */
    struct new_keys new_keys;     /* which waiting rows have a new key */
    struct key_tally tally;       /* how many rows have */
    struct items *items;          /* of a file of items, which it writes */
    struct sink_state *sink;      /* of records that go elsewhere */
    uint64_t taken_count;         /* rows of the chunk that are written, */
    uint64_t new_count;           /* and of these with a new key */
    uint64_t lacking_count;       /* records without the key columns, so far */
    bool has_key;                 /* another record was before */

    bool may_run;              /* runs may be written */
    unsigned batch_count;      /* chunks that go in batches yet */
    struct colander_bulk *run; /* being filled, or a bulk; NULL: none */
    uint64_t run_size;         /* bytes of its rows */
    uint64_t run_taken;        /* its rows */
    uint64_t run_new;          /* and of these with a new key */
    uint64_t run_text;         /* bytes of the text with its records */
    uint64_t run_begun;        /* when; of clock_us */
    struct run_commit commit;  /* of the run before */
    unsigned memory_count;     /* runs for which memory was taken */
    bool is_torn;              /* it has rows of a chunk without its end */
    bool has_end;              /* a load can be resumed after the last chunk */
    uint64_t flow_text;        /* of a pipe: bytes of text */
    uint64_t flow_begun;       /* since then; of clock_us */
    uint64_t run_count;        /* written */

    const struct source *source; /* of the chunks to come */
    struct colander_slice mark_name;
    struct resume_point point;
    struct resume_point_bytes tail; /* before it */
    struct resume_point_bytes head; /* of the records of the file */
    bool knows_head;                /* it was not opened in the middle */
    bool ends_line;                 /* rejects are lines */
};

/* Adds written rows to the figures of the load. */
void writer_count_rows(struct writer *writer, uint64_t taken, uint64_t new);

/* Adds the marks of a chunk of a stream to what is written with it. */
COLANDER_CHECKED enum colander_code
writer_stream_mark(struct writer *writer, const struct chunk *chunk,
                   struct colander_error *err);

/* Deletes the rows that the last record of a chunk does not retain, after the
 * chunk is written. */
COLANDER_CHECKED enum colander_code
writer_stream_retain(struct writer *writer, const struct chunk *chunk,
                     struct colander_error *err);

/* Ends what an earlier load has begun to delete so. */
COLANDER_CHECKED enum colander_code
writer_stream_begin(struct writer *writer, struct colander_error *err);

/* Writes the rejected records of such a chunk. */
COLANDER_CHECKED enum colander_code
writer_stream_rejects(struct writer *writer, const struct chunk *chunk,
                      struct colander_error *err);

/* Begins a file whose records go elsewhere, with the id of the load that is
 * resumed (0: a new one). */
COLANDER_CHECKED enum colander_code
writer_sink_begin(struct writer *writer, uint64_t id,
                  struct colander_error *err);

/* Passes on the records of a chunk; `is_point`: a load can be resumed after it,
 * at the point of the writer. */
COLANDER_CHECKED enum colander_code
writer_sink_chunk(struct writer *writer, struct chunk *chunk, bool is_point,
                  struct colander_error *err);

/* NULL is allowed. */
void writer_sink_destroy(struct sink_state *state);

/* Asks for the memory of a run or a bulk. */
bool writer_take_memory(struct writer *writer);

/* Gives back that of one, if any was taken. */
void writer_give_memory(struct writer *writer);

/* Begins a run, if the load is large and there is none. */
COLANDER_CHECKED enum colander_code
writer_run_begin(struct writer *writer, struct colander_error *err);

/* Ends the run, if there is one, before a chunk with deletes or patches, which
 * a run cannot have. It and some chunks after it go in batches. */
COLANDER_CHECKED enum colander_code
writer_run_leave(struct writer *writer, struct colander_error *err);

/* Counts what a pipe gives in the time of a run. */
void writer_run_count_flow(struct writer *writer, size_t text_size);

/* Whether the run has enough; `is_pause`: nothing more comes now. If most
 * records are rejected, so that there are few rows, resume points must not wait
 * until it is full. */
bool writer_run_is_due(const struct writer *writer, bool is_pause);

/* Begins to make the rows of the run visible, with the resume points after
 * them, once those of the run before are. Those of a bulk are then visible. */
COLANDER_CHECKED enum colander_code writer_run_end(struct writer *writer,
                                                   struct colander_error *err);

/* Waits until the rows of the run before are visible. Nothing that comes later
 * may be written sooner: if this fails, the next run is removed. */
COLANDER_CHECKED enum colander_code
writer_run_await(struct writer *writer, struct colander_error *err);

/* Removes the run, whose rows do not count then. */
void writer_run_drop(struct writer *writer);

#endif
