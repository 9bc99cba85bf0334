/*
 * Remote: a command that the server of a store runs, for a client.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef SERVE_REMOTE_H
#define SERVE_REMOTE_H

#include "core/core.h"

struct remote_command {
    const char *store; /* the directory of a store that another process serves,
                        * or the address of a server: http://127.0.0.1:7411 */
    const char *token; /* for an address; NULL: none */
    const char *const *words; /* "find", "data", "tweets", ... */
    size_t word_count;
    uint64_t width; /* of the terminal, if there is one */
    bool out_is_terminal;
    bool err_is_terminal;

    /* Takes what the command prints, piece by piece. A failure ends it. */
    enum colander_code (*take)(void *context, bool is_err,
                               struct colander_slice bytes,
                               struct colander_error *err);
    bool (*is_cancelled)(void *context); /* called about once a second */
    void *context;                       /* of both */
};

/* Whether `store` is the address of a server, and not a path. */
bool remote_is_address(const char *store);

/*
 * Runs the command, and sets *status to its exit status. Fails with NOT_FOUND
 * if no process serves the directory; with CANCELLED if `is_cancelled` returns
 * true; with INVALID if the server refuses the command; and with BUSY if it
 * cannot be reached, or ends before the answer is whole.
 */
COLANDER_CHECKED enum colander_code
remote_run(const struct remote_command *command, int *status,
           struct colander_error *err);

#endif
