/*
 * Objects: named bytes, in a directory or in an S3 bucket.
 *
 * An object is there as a whole or not at all, and a list shows it as soon as
 * its put has returned. Names are of letters, digits, '.', '-', '_' and at most
 * one '/', and are relative to the address:
 *
 *     file:///path          a directory; "%20" in it is a space
 *     s3://bucket/prefix    s3_settings.h says where the server is
 *
 * Threads: any number of them may use one `struct objects`.
 * Life:    open -> put, get, list, delete -> close
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef CLUSTER_OBJECTS_H
#define CLUSTER_OBJECTS_H

#include "core/core.h"

#include <stdatomic.h>

struct objects;

/* Fails with INVALID if it is another address, or says what is missing. Sends
 * nothing yet. */
COLANDER_CHECKED enum colander_code objects_open(const char *address,
                                                 struct objects **objects,
                                                 struct colander_error *err);

/* Once the flag, borrowed until close, is set, requests to servers fail with
 * CANCELLED within some seconds. NULL: never. */
void objects_stop_by(struct objects *objects, const atomic_bool *is_stopped);

/* Sends each request once from now on, whatever the settings say, and waits for
 * a server that is silent for ten seconds only. */
void objects_try_once(struct objects *objects);

/* NULL is allowed. */
void objects_close(struct objects *objects);

/* What is put: `size` bytes of a file, or in memory if `fd` is -1. Borrowed. */
struct object_body {
    int fd;
    const uint8_t *bytes;
    uint64_t size;
};

/* Reads `size` bytes at `offset`. Fails with IO if there are fewer. */
COLANDER_CHECKED enum colander_code
object_body_read(const struct object_body *body, uint64_t offset, void *to,
                 size_t size, struct colander_error *err);

/* Puts an object, and replaces one of that name. */
COLANDER_CHECKED enum colander_code objects_put(struct objects *objects,
                                                const char *name,
                                                const struct object_body *body,
                                                struct colander_error *err);

/* Appends to `bytes` at most `size` bytes of an object from `offset` on: fewer
 * only if it ends there. Fails with NOT_FOUND if there is no such object. */
COLANDER_CHECKED enum colander_code objects_get(struct objects *objects,
                                                const char *name,
                                                uint64_t offset, size_t size,
                                                struct colander_buffer *bytes,
                                                struct colander_error *err);

/* Deletes an object, if it exists. */
COLANDER_CHECKED enum colander_code objects_delete(struct objects *objects,
                                                   const char *name,
                                                   struct colander_error *err);

struct object {
    char *name; /* owned */
    uint64_t size;
    int64_t modified; /* when it was put, in seconds since 1970, by the clock of
                       * what stores it */
};

/* Owned by the caller. Starts zeroed. */
struct object_list {
    struct object *items; /* by name, in byte order */
    size_t count;
    size_t capacity;
};

/* Lists the objects FOLDER/... */
COLANDER_CHECKED enum colander_code objects_list(struct objects *objects,
                                                 const char *folder,
                                                 struct object_list *list,
                                                 struct colander_error *err);

/* Returns the object with the name, or NULL. */
const struct object *object_list_find(const struct object_list *list,
                                      const char *name);

/* The list is empty. */
void object_list_release(struct object_list *list);

#endif
