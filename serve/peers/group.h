/*
 * A grouping that a peer asks for, or a reduction. A thread groups the rows,
 * and what is known of the groups is the answer; or it reduces them to a value.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef SERVE_PEERS_GROUP_H
#define SERVE_PEERS_GROUP_H

#include "serve/serve.h"

struct peer_group;

/* Begins to group the rows of the family, which is borrowed until close, as the
 * bytes say (query_bytes.h, group_bytes.h). */
COLANDER_CHECKED enum colander_code
peer_group_open(struct colander_family *family, struct colander_slice query,
                struct colander_slice grouping, struct peer_group **group,
                struct colander_error *err);

/* Begins to reduce the rows of the cursor by the texts of two functions. All
 * are borrowed until close. */
COLANDER_CHECKED enum colander_code
peer_group_open_reduction(server_reduce *reduce, struct colander_cursor *cursor,
                          const char *map_text, const char *reduce_text,
                          struct peer_group **group,
                          struct colander_error *err);

/* Appends frames of the answer, until there are `size` bytes. If the thread
 * still works after a second, the frame says so. Fails, and has appended
 * nothing, if rows are to be sent in place of what they are reduced to. */
COLANDER_CHECKED enum colander_code
peer_group_write(struct peer_group *group, size_t size,
                 struct colander_buffer *bytes, bool *is_end,
                 struct colander_error *err);

/* Ends the thread. NULL is allowed. */
void peer_group_close(struct peer_group *group);

#endif
