/*
 * Salvage: the newest rows that can be read of a store that is damaged, in a
 * way that needs neither RocksDB nor all of its files, and what cannot be read.
 *
 * All files are read as they are: the MANIFEST for what families and SST files
 * there are, the SST files and logs for entries, of which for each key the one
 * with the highest sequence counts. Where something is damaged the rest is read
 * on, and a loss is told. What is not told of is as it was.
 *
 * Nothing is written to the store. It needs memory for what its logs hold.
 *
 * Life:   open -> (begin -> next ...) for each family -> close
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef COLANDER_CORE_SALVAGE_H
#define COLANDER_CORE_SALVAGE_H

#include "core/core.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Rows that may be missing, or be given as they once were. */
struct salvage_loss {
    const char *file;            /* in the store: "rocksdb/000012.sst" */
    const char *what;            /* what is wrong with it */
    bool is_none;                /* no row is concerned */
    const char *family;          /* of the rows; NULL: of any */
    struct colander_slice after; /* their keys are above; {NULL, 0}: all */
    bool is_from;                /* `after` is one of them itself */
    struct colander_slice until; /* and not above; {NULL, 0}: all */
};

typedef void salvage_tell(void *context, const struct salvage_loss *loss);

struct salvage;

/* Opens the store at `path` (copied), and looks at its files. Losses are told
 * as they are met, in every call. NOT_FOUND, INVALID (it never was a store),
 * BUSY, IO or NO_MEMORY. */
COLANDER_CHECKED enum colander_code
salvage_open(const char *path, salvage_tell *tell, void *context,
             struct salvage **salvage, struct colander_error *err);

/* Fills `options` with those that the store at `path` keeps, or the defaults
 * where they cannot be read, for a store at `to`. NOT_FOUND, INVALID (also when
 * that is in the other), TOO_NEW, BUSY, IO or NO_MEMORY. */
COLANDER_CHECKED enum colander_code
salvage_options(const char *path, const char *to,
                struct colander_options *options, struct colander_error *err);

size_t salvage_family_count(const struct salvage *salvage);

/* Borrowed until close. */
const char *salvage_family_name(const struct salvage *salvage, size_t index);

/* Goes to the beginning of a family. */
COLANDER_CHECKED enum colander_code salvage_begin(struct salvage *salvage,
                                                  size_t index,
                                                  struct colander_error *err);

/* Its next row, in the order of keys, borrowed until the next call; the key's
 * data is NULL at the end. */
COLANDER_CHECKED enum colander_code salvage_next(struct salvage *salvage,
                                                 struct colander_slice *key,
                                                 struct colander_slice *row,
                                                 struct colander_error *err);

/* NULL is allowed. */
void salvage_close(struct salvage *salvage);

#ifdef __cplusplus
}
#endif

#endif
