/*
 * A kind of objects: what each of them implements.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef CLUSTER_OBJECTS_INSIDE_H
#define CLUSTER_OBJECTS_INSIDE_H

#include "cluster/objects.h"

/* As the functions of objects.h. A list need not be in order. */
struct objects_kind {
    enum colander_code (*put)(struct objects *objects, const char *name,
                              const struct object_body *body,
                              struct colander_error *err);
    enum colander_code (*get)(struct objects *objects, const char *name,
                              uint64_t offset, size_t size,
                              struct colander_buffer *bytes,
                              struct colander_error *err);
    enum colander_code (*delete)(struct objects *objects, const char *name,
                                 struct colander_error *err);
    enum colander_code (*list)(struct objects *objects, const char *folder,
                               struct object_list *list,
                               struct colander_error *err);
    void (*close)(struct objects *objects);
};

/* The first member of the struct of a kind. */
struct objects {
    const struct objects_kind *kind;
    const atomic_bool *is_stopped; /* NULL: never */
    bool tries_once;
};

/* Open what comes after "file://" and "s3://". */
COLANDER_CHECKED enum colander_code
objects_open_file(const char *place, struct objects **objects,
                  struct colander_error *err);
COLANDER_CHECKED enum colander_code objects_open_s3(const char *place,
                                                    struct objects **objects,
                                                    struct colander_error *err);

/* Adds an object; the name is copied. */
COLANDER_CHECKED enum colander_code
object_list_add(struct object_list *list, struct colander_slice name,
                uint64_t size, int64_t modified, struct colander_error *err);

#endif
