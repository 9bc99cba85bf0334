/*
 * Salvage: the newest rows of a damaged store that can be read, and what cannot
 * be read. It needs neither RocksDB nor all files.
 *
 * It reads the MANIFEST for the families and SST files, and SST files and logs
 * for entries; the entry with the highest sequence of a key counts. It reads on
 * after damage, and reports a loss. All rows without a reported loss are as
 * they were. Marks of families and records of layers above are items, and read
 * likewise.
 *
 * The store is not written. Memory is needed for the content of its logs.
 *
 * Life:   open -> begin_items -> next_item ...
 *              -> (begin -> next ...) for each family -> close
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef COLANDER_CORE_SALVAGE_H
#define COLANDER_CORE_SALVAGE_H

#include "core/core.h"

/* Rows that may be missing or outdated. */
struct salvage_loss {
    const char *file;            /* relative to the store */
    const char *what;            /* the damage */
    bool is_none;                /* no row is lost */
    bool is_items;               /* marks and records are, and no row */
    const char *family;          /* of the rows; NULL: any */
    struct colander_slice after; /* their keys are above; {NULL, 0}: no bound */
    bool is_from;                /* `after` itself is one of them */
    struct colander_slice until; /* and at or below; {NULL, 0}: no bound */
};

typedef void salvage_report(void *context, const struct salvage_loss *loss);

struct salvage;

/* Opens the store at `path` (copied), and looks at its files. Any call may
 * report losses. Fails with NOT_FOUND, INVALID (it never was a store), BUSY, IO
 * or NO_MEMORY. */
COLANDER_CHECKED enum colander_code
salvage_open(const char *path, salvage_report *report, void *context,
             struct salvage **salvage, struct colander_error *err);

/* Fills `options` for a store at `to` with those kept in the store at `path`,
 * or the defaults if these cannot be read. Fails with NOT_FOUND, INVALID (also
 * if `to` is inside the store), TOO_NEW, BUSY, IO or NO_MEMORY. */
COLANDER_CHECKED enum colander_code
salvage_options(const char *path, const char *to,
                struct colander_options *options, struct colander_error *err);

size_t salvage_family_count(const struct salvage *salvage);

/* Returns the name, borrowed until close. */
const char *salvage_family_name(const struct salvage *salvage, size_t index);

/* A mark of a family, or a record that belongs to one: see core/sst.h. */
struct salvage_item {
    size_t family; /* its index */
    bool is_mark;
    struct colander_slice name; /* of a mark */
    struct colander_slice value;
};

/* Moves to the beginning of the items of all families. */
COLANDER_CHECKED enum colander_code
salvage_begin_items(struct salvage *salvage, struct colander_error *err);

/* Steps to the next item, borrowed until the next call. Clears *is_item at the
 * end. */
COLANDER_CHECKED enum colander_code
salvage_next_item(struct salvage *salvage, bool *is_item,
                  struct salvage_item *item, struct colander_error *err);

/* Moves to the beginning of a family. */
COLANDER_CHECKED enum colander_code salvage_begin(struct salvage *salvage,
                                                  size_t index,
                                                  struct colander_error *err);

/* Steps to its next row in key order, borrowed until the next call. Clears
 * *is_row at the end. */
COLANDER_CHECKED enum colander_code
salvage_next(struct salvage *salvage, bool *is_row, struct colander_slice *key,
             struct colander_slice *row, struct colander_error *err);

/* NULL is allowed. */
void salvage_close(struct salvage *salvage);

#endif
