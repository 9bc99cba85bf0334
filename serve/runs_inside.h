/*
 * A run, for the files that make runs: a command for a client, in a thread.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef SERVE_RUNS_INSIDE_H
#define SERVE_RUNS_INSIDE_H

#include "serve/parameters.h"
#include "serve/runs.h"

#include <stdio.h>

struct asks;
struct run;

/* One of the streams of a command. */
struct run_stream {
    struct run *run;
    enum runs_frame kind;
    bool is_terminal; /* what is written is sent at once */
    uint64_t size;    /* bytes so far */
    FILE *file;
};

struct run {
    struct writer writer;          /* first */
    struct server_command command; /* second: see run_of */
    struct server *server;
    struct parameters parameters;
    const char **words;
    struct run_stream out;
    struct run_stream err;
    struct answer *answer;         /* while it is written */
    pthread_mutex_t lock;          /* of `bytes`: threads print and ask */
    struct colander_buffer *bytes; /* of the answer: frames */
    struct asks *asks;             /* for files of the client; owned. NULL: what
                                    * is printed is not in frames, and only with
                                    * `prints` in the answer */
    bool prints;                   /* its output is in `bytes`, as it is, */
    bool streams;                  /* and is sent while it comes */
    enum server_kind kind;         /* it is counted as one of these */
    bool is_awake;                 /* a shell that counts as a script, too */
    uint64_t reject_count;         /* of a load that has ended */
    atomic_bool is_interrupted;    /* by Ctrl-C, as its client says */
};

struct run *run_of(const struct server_command *command);

/* Creates a run of `size` bytes, with room for `word_count` words, which counts
 * as a command. On success *run is the caller's to destroy. */
COLANDER_CHECKED enum colander_code run_create(struct server *server,
                                               size_t size, size_t word_count,
                                               struct run **run,
                                               struct colander_error *err);
void run_destroy(struct run *run);

/* Make a shell count as a script no more while it waits for its client, and
 * again before it goes on: once there are few enough, which it says that it
 * waits for. Nothing for other commands. Fails with CANCELLED if the client has
 * left. */
void run_rest(struct run *run);
COLANDER_CHECKED enum colander_code run_go_on(struct run *run,
                                              struct colander_error *err);

/* Counts the command as a load or a script, if it is one. Fails with BUSY if
 * there are too many. Requires that its words are there. */
COLANDER_CHECKED enum colander_code run_admit(struct run *run,
                                              struct colander_error *err);

/* Sends a frame at once. Any thread of the command. */
COLANDER_CHECKED enum colander_code run_send(struct run *run,
                                             enum runs_frame kind,
                                             struct colander_slice bytes,
                                             struct colander_error *err);

/* Runs the command, whose streams are open meanwhile. Sets *status to its exit
 * status. Fails only if memory is short. */
COLANDER_CHECKED enum colander_code run_perform(struct run *run,
                                                struct answer *answer,
                                                struct colander_buffer *bytes,
                                                int *status,
                                                struct colander_error *err);

#endif
