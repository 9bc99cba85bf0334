/*
 * Asks: what a command needs from its client while it runs: bytes of files, the
 * file of rejects, a yes, what is typed.
 *
 * The answer to a command is under way, so the client is asked in a frame of it
 * (RUNS_ASK), and replies with another request:
 *
 *     POST /input?run=RUN&ask=NUMBER
 *
 * While the command does not ask, interrupt=1 in place of the number makes a
 * shell stop what it runs, and ask for the next line.
 *
 * Nothing is read ahead, so a command holds one reply. A client that vanishes
 * is one whose answer is stopped: the ask fails.
 *
 * An ask:  run (32 digits) | kind u8 | number u32 | offset u64 | size u64 |
 *          size of the name u32 | name | bytes
 * A reply: 'd' | flags u8 | size u64 | bytes, or 'e' | code u8 | message
 *          big-endian
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef SERVE_ASKS_H
#define SERVE_ASKS_H

#include "serve/serve_inside.h"

#define ASK_RUN_SIZE ((size_t)32)
#define ASK_HEAD_SIZE (ASK_RUN_SIZE + 1 + 4 + 8 + 8 + 4)
#define ASK_REPLY_HEAD_SIZE ((size_t)10)
#define ASK_BYTES_MAX ((size_t)192 << 10) /* of a reply, or of an ask */

enum ask_kind {
    ASK_LOOK = 'l',    /* size, and the path as bytes */
    ASK_READ = 'r',    /* bytes from an offset on */
    ASK_CUT = 'c',     /* the file of rejects: its size */
    ASK_APPEND = 'a',  /* to it */
    ASK_CONFIRM = 'q', /* the bytes are a question; size 1: yes */
    ASK_LINE = 't',    /* typed after the bytes, a prompt; offset 1: it is the
                        * first of an entry; size 1: the entry is dropped */
};

enum ask_flag {
    ASK_IS_END = 1,     /* nothing follows */
    ASK_WOULD_WAIT = 2, /* nothing follows yet */
};

struct parameters;
struct run;
struct asks;

/* On success *asks is the caller's to destroy. */
COLANDER_CHECKED enum colander_code
asks_create(struct run *run, struct asks **asks, struct colander_error *err);

/* NULL is allowed. */
void asks_destroy(struct asks *asks);

/* Makes the answer to a reply, which is the body of the request. */
enum colander_code asks_input(struct server *server,
                              struct parameters *parameters,
                              struct writer **writer, const char **parameter,
                              size_t *offset, struct colander_error *err);

#endif
