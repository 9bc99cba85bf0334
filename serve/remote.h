/*
 * Remote: a command that the server of a store runs, for a client.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef SERVE_REMOTE_H
#define SERVE_REMOTE_H

#include "core/core.h"

enum remote_ask_kind {
    REMOTE_LOOK,    /* sets `size`, UINT64_MAX for a pipe, and the path */
    REMOTE_READ,    /* appends up to `size` bytes from `offset` on */
    REMOTE_CUT,     /* cuts the file of rejects to `size`; sets `size` */
    REMOTE_APPEND,  /* appends the bytes to it */
    REMOTE_CONFIRM, /* asks; sets `size` to 1 for yes */
    REMOTE_LINE,    /* appends what is typed; sets `is_end`, or `size` to 1 if
                     * the entry is dropped */
};

/* What a command asks its client for. */
struct remote_ask {
    enum remote_ask_kind kind;
    const char *name; /* of the file; any text, as servers may lie */
    uint64_t offset;  /* of LINE: 1 for the first one of an entry */
    uint64_t size;
    struct colander_slice bytes;
};

struct remote_reply {
    uint64_t size;
    bool is_end;                   /* no bytes follow */
    bool would_wait;               /* none have come yet */
    struct colander_buffer *bytes; /* to be appended to */
};

struct remote_command {
    const char *store; /* the directory of a store that another process serves,
                        * or the address of a server: http://127.0.0.1:7411 */
    const char *token; /* for an address; NULL: none */
    const char *ca_file; /* certificates that sign those of servers, in PEM;
                          * NULL: those of the system */
    const char *const *words; /* "find", "data", "tweets", ... */
    size_t word_count;
    uint64_t width; /* of the terminal, if there is one */
    bool in_is_terminal;
    bool out_is_terminal;
    bool err_is_terminal;

    /* Takes what the command prints, piece by piece. A failure ends it. */
    enum colander_code (*take)(void *context, bool is_err,
                               struct colander_slice bytes,
                               struct colander_error *err);
    bool (*is_cancelled)(void *context); /* called about once a second */

    /* The same: whether a shell is to stop what it runs, and ask for the next
     * line; returns true once. NULL: never. */
    bool (*interrupts)(void *context);

    /* Replies to an ask (asks.h). NULL: the command needs nothing. */
    enum colander_code (*reply)(void *context, const struct remote_ask *ask,
                                struct remote_reply *reply,
                                struct colander_error *err);
    void *context; /* of all */
};

/* Whether `store` is the address of a server, and not a path. */
bool remote_is_address(const char *store);

/*
 * Runs the command, and sets *status to its exit status. Fails with NOT_FOUND
 * if no process serves the directory; with CANCELLED if `is_cancelled` returns
 * true; with INVALID if the server refuses the command; and with BUSY if it
 * cannot be reached, ends before the answer is whole, or says nothing for 15
 * seconds and does not answer GET /health within 10 more.
 */
COLANDER_CHECKED enum colander_code
remote_run(const struct remote_command *command, int *status,
           struct colander_error *err);

#endif
