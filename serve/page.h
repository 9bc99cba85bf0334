/*
 * The page: a client for browsers, compiled in. It is one file of HTML, made of
 * those in page/, and asks this server what every other client may ask. It has
 * no data, so everyone may see it; the user types the token into it.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef SERVE_PAGE_H
#define SERVE_PAGE_H

#include <stdbool.h>
#include <stddef.h>

struct MHD_Connection;
struct parameters;
struct server;

struct page_bytes {
    const unsigned char *bytes;
    size_t size;
};

/* Generated from page/ by cmake/EmbedPage.cmake. */
extern const struct page_bytes page_plain;
extern const struct page_bytes page_packed; /* the same, compressed by gzip */
extern const char page_policy[]; /* its Content-Security-Policy: only its own
                                  * script and style are used, by their hashes,
                                  * and only this server is asked */

/* Whether the client asks for HTML. Others that ask for the same path want to
 * know which server this is. */
bool page_is_wanted(struct MHD_Connection *connection);

/* Queues the page, compressed if the client can read that. Returns its status,
 * or 0 if it cannot be queued. */
unsigned page_reply(struct server *server, struct MHD_Connection *connection,
                    const struct parameters *parameters);

#endif
