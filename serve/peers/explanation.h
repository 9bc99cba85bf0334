/*
 * What a find or a grouping of a peer has cost, as frames.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef SERVE_PEERS_EXPLANATION_H
#define SERVE_PEERS_EXPLANATION_H

#include "serve/peers/call.h"

COLANDER_CHECKED enum colander_code
explanation_append(const struct colander_explain *explain,
                   struct colander_buffer *bytes, struct colander_error *err);

/* Explains what has not been answered yet. */
void explanation_begin(struct colander_explain *explain);

/* Takes a frame, of PEER_WORDS or PEER_NUMBERS. What an older version has not
 * counted is 0. */
void explanation_take(struct colander_explain *explain, uint8_t kind,
                      struct colander_slice data);

/* Adds the parts that were not asked. */
void explanation_add_unasked(struct colander_explain *explain,
                             const struct call *call);

#endif
