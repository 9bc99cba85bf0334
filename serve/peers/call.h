/*
 * Calls: a request to the server of a peer store, and the frames of its answer,
 * as they come.
 *
 * Life: a zeroed struct with its store -> frames are appended to the body ->
 *       begin -> next_frame, ... -> end (-> begin again) -> release
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef SERVE_PEERS_CALL_H
#define SERVE_PEERS_CALL_H

#include "serve/peer.h"
#include "serve/peer_store.h"

#include <curl/curl.h>
#include <pthread.h>
#include <stdatomic.h>

/* A connection. */
struct line {
    CURLM *multi;
    CURL *easy;
    struct line *next; /* that is idle */
};

struct peer_store {
    struct peer_store_options options; /* all copied */
    char **parts;
    size_t part_count;
    struct curl_slist *headers;
    pthread_mutex_t mutex;
    struct line *idle;
    size_t idle_count;
    char *address;
    char *path; /* the address and the parts */
    char *ca_file;
};

/* A request, and the frames of its answer. */
struct call {
    struct peer_store *store;
    struct line *line; /* NULL: none was begun */
    bool is_added;     /* to its multi */
    struct colander_buffer body;
    bool is_void;
    size_t unasked; /* parts that cannot have the keys */
    struct colander_buffer got;
    size_t at;         /* of `got` is not taken yet */
    bool is_over;      /* nothing more comes */
    CURLcode result;   /* then */
    uint64_t heard_us; /* something came last */
    char reason[CURL_ERROR_SIZE];
    const atomic_bool *is_cancelled; /* may be NULL */
    const uint64_t *pause_us;        /* of the clock; 0: never; may be NULL */
    bool is_paused;                  /* that is why the last wait has failed */
    bool was_paused;                 /* and nothing has come since */
    const struct colander_groups *groups; /* may be cancelled; NULL: none */
};

/* Frees the connections that are kept. */
void call_free_idle(struct peer_store *store);

/* Replaces the body by the parts that may have the keys of the family (NULL:
 * any). Without any the call `is_void`, and there is nothing to ask. */
COLANDER_CHECKED enum colander_code
call_begin_body(struct call *call, const char *family,
                const struct colander_key_range *keys,
                struct colander_error *err);

/* Begins to ask, with the frames in the body. Does not wait, so the request may
 * be sent only by the next call_next_frame, if there was no connection. */
COLANDER_CHECKED enum colander_code call_begin(struct call *call,
                                               const char *ask,
                                               const char *family,
                                               struct colander_error *err);

/* Waits a moment for a call that has begun until its request is sent, so that
 * the node works while others are waited for. */
void call_send(struct call *call);

/* Returns the next frame, borrowed until the next call. Fails with BUSY if the
 * server cannot be reached or does not answer. */
COLANDER_CHECKED enum colander_code call_next_frame(struct call *call,
                                                    uint8_t *kind,
                                                    struct colander_slice *data,
                                                    struct colander_error *err);

/* Takes a frame. Fails with INVALID, without a message, if it makes no
 * sense. */
typedef enum colander_code call_take(void *context, uint8_t kind,
                                     struct colander_slice data,
                                     struct colander_error *err);

/* Passes on all frames but the last. */
COLANDER_CHECKED enum colander_code call_take_all(struct call *call,
                                                  call_take *take,
                                                  void *context,
                                                  struct colander_error *err);

/* Whether the last failure was only a pause. Forgets it. */
bool call_is_paused(struct call *call);

/* Receives what comes after the last frame, so that the connection can be
 * kept. */
COLANDER_CHECKED enum colander_code call_finish(struct call *call,
                                                struct colander_error *err);

/* Ends the call, whether or not it was answered. It can be begun again. */
void call_end(struct call *call);

void call_release(struct call *call);

/* Fails because a frame makes no sense. */
COLANDER_CHECKED enum colander_code
call_fail_malformed(const struct call *call, struct colander_error *err);

/* Fails as the frame of a failure says. */
COLANDER_CHECKED enum colander_code call_fail_as(const struct call *call,
                                                 struct colander_slice data,
                                                 struct colander_error *err);

#endif
