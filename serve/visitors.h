/*
 * Visitors: the connections of a server, and a thread that looks after them.
 *
 * It closes those whose request takes too long to come, or of whose answer
 * nothing is taken, ends answers whose client has left, which libmicrohttpd
 * does not notice while an answer is being computed, and those whose time is
 * over. It looks five times a second while there are any.
 *
 * A client of the address that closes its sending side is taken to have left,
 * unless its request writes.
 *
 * Life:    visitors_create -> visitor_enter -> (begin -> end)* -> visitor_leave
 *          -> visitors_destroy
 * Threads: all functions lock the list
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef SERVE_VISITORS_H
#define SERVE_VISITORS_H

#include "serve/answer.h"

struct visitors;
struct visitor;

/* A request may take `request_ms` to come, and a client from elsewhere may take
 * nothing of its answer for `stall_ms`. */
COLANDER_CHECKED enum colander_code visitors_create(uint32_t request_ms,
                                                    uint32_t stall_ms,
                                                    struct visitors **visitors,
                                                    struct colander_error *err);

/* Requires that all have left. NULL is allowed. */
void visitors_destroy(struct visitors *visitors);

/* Returns how many connections there are. */
size_t visitors_count(struct visitors *visitors);

/* Ends all answers. With `closes` also shuts the connections down. */
void visitors_stop(struct visitors *visitors, bool closes);

/* A connection was made. Returns NULL if memory is short. */
struct visitor *visitor_enter(struct visitors *visitors, int fd, bool is_local);

/* The connection is about to be closed. NULL is allowed. */
void visitor_leave(struct visitors *visitors, struct visitor *visitor);

/* Whether it came through the Unix socket, from a user who may. */
bool visitor_is_trusted(const struct visitor *visitor);

/* The request has come whole, or the body of `writer` comes, and `answer` is
 * written. It ends at `deadline_ns` (clock_ns); 0: never. */
void visitor_begin(struct visitors *visitors, struct visitor *visitor,
                   struct answer *answer, const struct writer *writer,
                   uint64_t deadline_ns);

/* The answer is no longer there; the next request may come. */
void visitor_end(struct visitors *visitors, struct visitor *visitor);

#endif
