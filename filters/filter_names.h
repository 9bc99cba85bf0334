/*
 * Names of filter files. All of them are in the directory `filters` of the
 * store.
 *
 * While a filter is built, its file is named after a *tag*: a number that no
 * other filter has. When it is finished, it is renamed after the number and the
 * size of its SST. RocksDB may give a number again after a crash; the size
 * keeps a filter from serving another SST than its own.
 *
 * Threads: any. The caller holds `mutex` while it renames or removes files, so
 *          that a new SST, a rebuilt filter and the removal of leftovers do not
 *          take each other's files.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef COLANDER_FILTERS_FILTER_NAMES_H
#define COLANDER_FILTERS_FILTER_NAMES_H

#include "filters/registry.h"

#define FILTER_PATH_MAX 4352

struct filter_names {
    char *store_path;
    char *directory; /* NULL until it is first asked for */
    pthread_mutex_t directory_mutex;
    pthread_mutex_t mutex;
    uint64_t run; /* random: the first half of this run's tags */
    _Atomic(uint64_t) tag_count;
    bool is_read_only;
};

/* After a failure there is nothing to release. */
COLANDER_CHECKED enum colander_code
filter_names_init(struct filter_names *names, const char *store_path,
                  bool is_read_only, struct colander_error *err);
void filter_names_release(struct filter_names *names);

/* Returns the directory, which a store that is open for writing creates. NULL:
 * there is none yet. */
const char *filter_names_directory(struct filter_names *names);

/* Draws a new tag. */
void filter_tag_draw(struct filter_names *names, uint8_t tag[SST_TAG_SIZE]);

/* The path of a filter that is being built, and of the filter of an SST. They
 * return false if the path is too long, or the store has no directory yet. */
bool filter_path_of_tag(struct filter_names *names,
                        const uint8_t tag[SST_TAG_SIZE],
                        char path[FILTER_PATH_MAX]);
bool filter_path_of_sst(struct filter_names *names, uint64_t number,
                        uint64_t size, char path[FILTER_PATH_MAX]);

/* Writes the name of an SST's filter relative to the store; false: there is no
 * such filter. */
bool filter_name_of_sst(struct filter_names *names, uint64_t number,
                        uint64_t size, char *name, size_t name_size);

/* Renames the finished filter at `path` after its SST. */
COLANDER_CHECKED enum colander_code
filter_publish(struct filter_names *names, const char *path, uint64_t number,
               uint64_t size, struct colander_error *err);

/* Removes the filter of an SST, if there is one. */
void filter_remove(struct filter_names *names, uint64_t number, uint64_t size);

/* Visits the leftovers in the directory, under `mutex`: unfinished filters of
 * earlier runs, and filters of SST files that the registry does not know. */
void filter_names_visit_leftovers(struct filter_names *names,
                                  struct registry *registry,
                                  void (*visit)(void *context, int directory_fd,
                                                const char *name),
                                  void *context);

#endif
