/*
 * The list of a backup: its files, and the object of each. FORMAT.md has the
 * bytes.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef CLUSTER_FILE_LIST_H
#define CLUSTER_FILE_LIST_H

#include "cluster/content.h"

struct listed_file {
    char *name; /* in the store; owned */
    struct content content;
    uint8_t end[CONTENT_HASH_SIZE]; /* content_end */
    uint64_t id;                    /* of the object: content_object */
};

/* Starts zeroed. */
struct file_list {
    struct listed_file *items;
    size_t count;
    size_t capacity;
};

/* Adds a copy of `file`, whose name is copied. */
COLANDER_CHECKED enum colander_code
file_list_add(struct file_list *list, const struct listed_file *file,
              struct colander_error *err);

/* Puts the files in the order of their names. */
void file_list_sort(struct file_list *list);

/* Returns the file of that name, or NULL. Requires a sorted list. */
const struct listed_file *file_list_find(const struct file_list *list,
                                         const char *name);

/* Requires a sorted list. */
COLANDER_CHECKED enum colander_code
file_list_encode(const struct file_list *list, struct colander_buffer *bytes,
                 struct colander_error *err);

/* Fails with CORRUPT, TOO_NEW or NO_MEMORY. `list` is empty then. */
COLANDER_CHECKED enum colander_code
file_list_decode(struct file_list *list, struct colander_slice bytes,
                 struct colander_error *err);

uint64_t file_list_size(const struct file_list *list);

void file_list_release(struct file_list *list);

#endif
