/*
 * Serve: a store that this process has open, for other processes.
 *
 * A server answers HTTP/1.1 on a Unix socket in the store's directory and, if
 * it is asked to, on a TCP address. docs/serve.md describes the requests. Rows
 * of a find are those of one moment. They are read no faster than the client
 * takes them, and an answer ends with a last frame, so that one that was
 * cut is never taken for whole.
 *
 * The socket can be used by processes of this process's user and of root. A
 * client that comes by TCP must know the token.
 *
 * Life:    server_start -> (threads of the server answer) -> server_stop
 * Memory:  the store is borrowed until server_stop returns; options are copied
 * Threads: the store may be used by others meanwhile, but not closed
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef SERVE_SERVE_H
#define SERVE_SERVE_H

#include "columns/columns.h"

#include <stdio.h>

#define SERVER_SOCKET "SOCKET" /* in the directory of the store */

/* A command of the program, with the words that a client was given. What is
 * printed goes to the client; once that has left, writes fail with EPIPE. */
struct server_command {
    const char *const *words; /* "find", "data", "tweets", ... */
    size_t word_count;        /* 1 at least */
    FILE *out;
    FILE *err;
    uint64_t width; /* of the terminal of the client; 0: unknown */
    bool out_is_terminal;
    bool err_is_terminal;
    bool is_local; /* the client came through the Unix socket */
};

/* Makes the end of the client cancel `cursor`; NULL: nothing any more. */
void server_command_watch(const struct server_command *command,
                          struct colander_cursor *cursor);

/* Whether the client has left, or the server ends. */
bool server_command_is_over(const struct server_command *command);

/* Runs it, in a thread that it may block. Returns the exit status. */
typedef int server_run(void *context, const struct server_command *command);

struct server_options {
    const char *address; /* ADDRESS:PORT, as numbers; the port 0 means any that
                          * is free; NULL: only the socket */
    const char *token;   /* required with an address: as token.h has it */
    bool is_read_only;   /* the store is; reported to clients */
    server_run *run;     /* NULL: no commands */
    void *run_context;   /* borrowed until server_stop returns */

    /* limits; what server_options_init sets is in braces */
    uint32_t connection_max; /* for each of socket and address (1024) */
    uint32_t answer_max;     /* answers under way; more are refused, to be
                              * asked again later (256) */
    uint32_t thread_max;     /* that read rows (32) */
    uint32_t command_max;    /* commands under way, each in a thread (64) */
    uint32_t request_ms;     /* a request must have come whole after this time,
                              * and an idle connection is closed (30,000) */
    uint32_t stop_ms;        /* that server_stop waits for answers (10,000) */
};

void server_options_init(struct server_options *options);

struct server;

/*
 * Starts to answer. On success *server is the caller's to stop. Fails with BUSY
 * if another process serves the store, with INVALID if the address is none or
 * has no token, and with IO if it cannot be listened on. A socket that a killed
 * server left is replaced.
 */
COLANDER_CHECKED enum colander_code
server_start(struct colander_store *store, const struct server_options *options,
             struct server **server, struct colander_error *err);

/* Returns the address with its port, "127.0.0.1:40123", borrowed until
 * server_stop; NULL if there is none. */
const char *server_address(const struct server *server);

/* Whether only this machine can reach the address. */
bool server_is_loopback(const char *address);

/* Removes the socket and takes no more requests. Waits for the answers under
 * way, `stop_ms` at most; those that are left are ended with an error that
 * their clients see. NULL is allowed. */
void server_stop(struct server *server);

#endif
