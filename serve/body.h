/*
 * Bodies: the bytes of a request, on their way from the connection to a command
 * that reads them while they come.
 *
 * What has come and was not read is held, up to BODY_HELD_MAX. Then the
 * connection is suspended: its client has to wait. A body that was cut is not
 * taken for a whole one: reading its end fails.
 *
 * Life:    body_create -> put*, end (the connection) and read*, close (the
 *          command) -> body_destroy
 * Threads: the connection's puts and ends; others may read, and close
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef SERVE_BODY_H
#define SERVE_BODY_H

#include "core/core.h"

struct MHD_Connection;
struct body;

#define BODY_HELD_MAX ((size_t)1 << 20)

/* What comes after close is dropped, for `drop_ms`. Before, something must come
 * every `idle_ms`; 0: whenever it likes. Returns NULL if memory is short. */
struct body *body_create(uint32_t drop_ms, uint32_t idle_ms);

/* NULL is allowed. */
void body_destroy(struct body *body);

/* Takes some of the bytes, *size of which are then left. If all room is taken
 * suspends the connection, which is resumed when there is. Returns false if no
 * one has read for a while, so that the connection is to be closed. */
bool body_put(struct body *body, struct MHD_Connection *connection,
              const void *data, size_t *size);

/* No more comes: the body is whole, or was cut. */
void body_end(struct body *body, bool is_whole);

/* Reads what there is; waits for it, up to a tenth of a second. Sets *is_end
 * after the last byte. Fails with CANCELLED if the body was cut. */
COLANDER_CHECKED enum colander_code body_read(struct body *body, void *data,
                                              size_t size, size_t *got,
                                              bool *is_end,
                                              struct colander_error *err);

/* Whether a read would wait. */
bool body_would_wait(struct body *body);

/* Whether nothing has come or was read for a while, and the rest has not come:
 * so that the connection is to be closed. */
bool body_is_overdue(struct body *body);

/* Nothing is read any more: what comes is dropped. To be called before the
 * answer ends, as a connection may wait for room. */
void body_close(struct body *body);

#endif
