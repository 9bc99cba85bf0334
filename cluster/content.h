/*
 * Content: the bytes of a file, known by their hash and size.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef CLUSTER_CONTENT_H
#define CLUSTER_CONTENT_H

#include "cluster/objects.h"

#define CONTENT_HASH_SIZE 16
#define CONTENT_NAME_SIZE 96

struct content {
    uint8_t hash[CONTENT_HASH_SIZE]; /* XXH3, 128 bits, big-endian */
    uint64_t size;
};

struct content_name {
    char text[CONTENT_NAME_SIZE];
};

/* Returns the name of the object with this content that was sent under `id`:
 * "files/HASH-SIZE-ID". */
struct content_name content_object(const struct content *content, uint64_t id);

/* Returns what all such names begin with. */
struct content_name content_prefix(const struct content *content);

/* Whether it is such a name, or what an unfinished put has left of one. */
bool content_is_object(const char *name);

/* Reads a file. */
COLANDER_CHECKED enum colander_code content_of(const struct object_body *body,
                                               struct content *content,
                                               struct colander_error *err);

/* The hash of the last 4 KiB: enough to know a file again that ends with a
 * directory of its content and a random mark. */
COLANDER_CHECKED enum colander_code content_end(const struct object_body *body,
                                                uint8_t end[CONTENT_HASH_SIZE],
                                                struct colander_error *err);

/* Reads an object, piece by piece, and writes it to `fd` unless that is -1.
 * Fails with CORRUPT if it has other bytes. */
COLANDER_CHECKED enum colander_code content_fetch(struct objects *objects,
                                                  const char *name,
                                                  const struct content *content,
                                                  int fd,
                                                  struct colander_error *err);

#endif
