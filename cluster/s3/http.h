/*
 * One HTTP request and its answer, by libcurl. Connections are kept.
 *
 * Threads: any number of them may use one `struct http`.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef CLUSTER_HTTP_H
#define CLUSTER_HTTP_H

#include "cluster/objects.h"

struct http;

/* `ca_bundle`: a file of certificates, borrowed; NULL: those of the system. */
COLANDER_CHECKED enum colander_code http_create(const char *ca_bundle,
                                                struct http **http,
                                                struct colander_error *err);

/* NULL is allowed. */
void http_destroy(struct http *http);

/* All is borrowed. */
struct http_request {
    const char *method;
    const char *url;
    const char *const *headers;     /* "Name: value", then NULL */
    const struct object_body *body; /* NULL: none */
    uint64_t body_offset;           /* of it, these bytes are sent */
    uint64_t body_size;
    size_t answer_max;      /* bytes of an answer, unless it is an error */
    unsigned stall_seconds; /* without a byte, after which it fails */
    const atomic_bool *is_stopped; /* ends it with CANCELLED; NULL: never */
};

struct http_answer {
    long status;
    struct colander_buffer bytes; /* those of an error only to 64 KiB */
    char etag[160];
    bool has_range; /* Content-Range: bytes first-last/total */
    uint64_t first;
    uint64_t last;
    uint64_t total;
};

/* Sends a request and receives an answer, whatever its status is. `answer`
 * starts zeroed; its bytes are kept to be filled again. Fails with IO if that
 * is not possible, or the answer has more bytes than it may have; sets
 * `is_final` if it would fail again. */
COLANDER_CHECKED enum colander_code
http_do(struct http *http, const struct http_request *request,
        struct http_answer *answer, bool *is_final, struct colander_error *err);

#endif
