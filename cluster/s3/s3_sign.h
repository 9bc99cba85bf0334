/*
 * Signatures of requests: AWS Signature Version 4.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef CLUSTER_S3_SIGN_H
#define CLUSTER_S3_SIGN_H

#include "cluster/objects.h"
#include "cluster/text.h"

#define SIGN_HASH_SIZE 65 /* a SHA-256 in hexadecimal, and a zero */
#define SIGN_PAIRS_MAX 16

/* A parameter, decoded, or a header, whose name is in lower case. */
struct sign_pair {
    const char *name;
    const char *value;
};

/* All is borrowed. */
struct sign_request {
    const char *method;
    const char *path; /* decoded, with a slash first */
    struct sign_pair parameters[SIGN_PAIRS_MAX];
    size_t parameter_count;
    struct sign_pair headers[SIGN_PAIRS_MAX]; /* with host and x-amz-date */
    size_t header_count;
    const char *body_hash;
    const char *time; /* "20150830T123600Z" */
    const char *region;
    const char *service;
    const char *key_id;
    const char *key;
};

/* Sets `hash` to that of `size` bytes of the body at `offset`. */
COLANDER_CHECKED enum colander_code sign_hash(const struct object_body *body,
                                              uint64_t offset, uint64_t size,
                                              char hash[SIGN_HASH_SIZE],
                                              struct colander_error *err);

/* Sorts the parameters and headers, and adds to `authorization` the value of
 * that header. */
COLANDER_CHECKED enum colander_code sign(struct sign_request *request,
                                         struct text *authorization,
                                         struct colander_error *err);

/* Adds "a=1&b=", encoded, in the order in which they are signed. */
void sign_add_parameters(const struct sign_request *request, struct text *text);

#endif
