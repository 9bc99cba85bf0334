/*
 * Peer stores: a store that another process serves, read as a store here.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef SERVE_PEER_STORE_H
#define SERVE_PEER_STORE_H

#include "columns/union.h"

/* All is copied. */
struct peer_store_options {
    const char *address; /* http://10.0.0.7:7411 */
    const char *token;
    const char *ca_file;      /* as that of remote_command; NULL */
    const char *const *parts; /* ends of paths: only these members (union.h) */
    size_t part_count;
    colander_choose_member *choose; /* which parts are asked; NULL: all. The */
    void *choose_context;           /* context is borrowed until close */
    unsigned wait_ms; /* for an answer to begin or go on; 0: 30 seconds */
};

/* Opens it without asking the server. Its path is the address, and after blanks
 * the parts. What is asked of the store fails with BUSY, and names the address,
 * if the server does not answer. A find reads no more than the server has at
 * one moment. */
COLANDER_CHECKED enum colander_code
peer_store_open(const struct peer_store_options *options,
                struct colander_store **store, struct colander_error *err);

#endif
