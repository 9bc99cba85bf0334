/*
 * Answers: bytes that a worker writes and a connection sends.
 *
 * A writer appends to a buffer, step by step, while the connection sends the
 * one before. If both are full, the writer has to wait and no thread does; if
 * both are empty, the connection is suspended. So a client that reads slowly
 * holds two buffers and a cursor. What is short is written by the connection's
 * thread itself. Only a writer that cannot stop in the middle
 * waits for its client, in a thread that has nothing else to do.
 *
 * What fails before anything was sent becomes a reply with the status of the
 * error. Later failures are the last frame.
 *
 * Life:    create -> start -> (resumed) respond -> leave
 *          with a body: create -> begin -> (it has ended) await -> respond
 *          -> leave
 *          answer_stop at any time before leave, from any thread
 * Threads: start, respond and leave are called by the connection's thread
 * Locks:   the answer's, and within it those of libmicrohttpd
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef SERVE_ANSWER_H
#define SERVE_ANSWER_H

#include "columns/columns.h"
#include "serve/reply.h"
#include "serve/workers.h"

#include <stdatomic.h>

struct MHD_Connection;
struct answer;

/* Writes what an answer says. Embedded in a struct that knows more. */
struct writer {
    /* Appends some bytes, at least ANSWER_STEP unless *is_end is set to true.
     * A failure leaves whole frames in `bytes`. */
    enum colander_code (*write)(struct writer *writer, struct answer *answer,
                                struct colander_buffer *bytes, bool *is_end,
                                struct colander_error *err);

    /* The same, in the thread of the connection, so in little time: it may
     * append any number of bytes, and write the rest. NULL: it cannot. */
    enum colander_code (*begin)(struct writer *writer, struct answer *answer,
                                struct colander_buffer *bytes, bool *is_end,
                                struct colander_error *err);

    /* Appends the frame that ends an answer which has begun. */
    enum colander_code (*fail)(struct writer *writer,
                               struct colander_buffer *bytes,
                               const struct colander_error *failure);
    void (*destroy)(struct writer *writer);
    const char *content_type; /* static */
    bool waits;               /* write appends everything, with answer_flush */
    bool is_for_peer;         /* which waits for it in one of its workers: so it
                               * must not wait for those here, which may wait
                               * for that peer */
    struct body *body;        /* that it reads while it comes; NULL: none */
    bool writes;              /* to the store */
    atomic_bool counts_rows;  /* in the next: that were written or are in the
                               * answer */
    atomic_uint_fast64_t row_count;
    unsigned status;        /* of what it has written; 0: 200 */
    enum reply_shape shape; /* of an error before it has written */
    const char *header;     /* of the reply, and its value; NULL: none more */
    const char *header_value;

    /* Where a failure is, for the client; NULL: nowhere. Static. */
    const char *parameter;
    size_t offset;
};

#define ANSWER_STEP ((size_t)32 << 10)

enum answer_stop {
    ANSWER_GOES_ON,
    ANSWER_LEFT,  /* the client has left */
    ANSWER_LATE,  /* the time that it asked for is over */
    ANSWER_ENDED, /* the server ends */
};

/* What the answers of a server share. */
struct answers {
    struct workers *workers;
    struct workers *runners;          /* of writers that wait */
    struct workers *peer_workers;     /* of writers for peers; NULL: workers */
    void (*destroyed)(void *context); /* an answer is gone */
    void *context;
};

/* Takes `writer`. Returns NULL, and destroys it, if memory is short. */
struct answer *answer_create(const struct answers *answers,
                             struct writer *writer);

/* Has the answer written. Returns whether it has begun, or else suspends the
 * connection. */
bool answer_start(struct answer *answer, struct MHD_Connection *connection);

/* Has it written, while the body of the request comes. */
void answer_begin(struct answer *answer, struct MHD_Connection *connection);

/* Returns whether the answer has begun, or else suspends the connection. */
bool answer_await(struct answer *answer);

/* Queues the reply on the connection, which was resumed. Returns its status, or
 * 0 if it cannot be queued. */
unsigned answer_respond(struct answer *answer);

struct answer_report {
    uint64_t streamed; /* bytes that were sent in pieces */
    uint64_t row_count;
    bool counts_rows;
    bool is_failed; /* it ends with an error */
};

/* Says how far it has come. Before leave. */
void answer_report(struct answer *answer, struct answer_report *report);

/* The connection is done with the answer, which frees itself. */
void answer_leave(struct answer *answer);

/* Ends the answer for this reason. It is not freed before leave. */
void answer_stop(struct answer *answer, enum answer_stop why);

/* Cancels the cursor that is watched; the answer goes on. */
void answer_interrupt(struct answer *answer);

/* Hands over what is in `bytes`, and empties it. Waits until the connection has
 * taken what was handed over before. Fails with CANCELLED if the answer has
 * been stopped. For a writer that waits. */
COLANDER_CHECKED enum colander_code answer_flush(struct answer *answer,
                                                 struct colander_buffer *bytes,
                                                 struct colander_error *err);

/* Returns why the answer ends, for its writer: any thread may ask. */
enum answer_stop answer_stopped(const struct answer *answer);

/* Returns whether the answer that this thread writes has been stopped; false if
 * it writes none. For what waits, and does not know for whom. */
bool answer_is_over_here(void);

/* Makes a stop cancel `cursor`. NULL: nothing any more, to be called before the
 * cursor is closed. For the writer. */
void answer_watch(struct answer *answer, struct colander_cursor *cursor);

#endif
