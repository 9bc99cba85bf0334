/*
 * The MANIFEST, read without RocksDB: the families and SST files of a database,
 * as far as they can be read.
 *
 * A MANIFEST is a log of edits, each of which adds and removes files. After a
 * lost edit the list of files is uncertain. Names of families and removals stay
 * certain, because no number is used twice.
 *
 * Life:   zeroed -> read -> release
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef COLANDER_CORE_MANIFEST_H
#define COLANDER_CORE_MANIFEST_H

#include "core/ledger.h"

struct manifest_family {
    uint32_t id;
    char *name;          /* of the column family */
    uint64_t log_number; /* older logs have no writes of the family that are not
                          * in an SST */
    bool is_dropped;
};

struct manifest_table {
    uint64_t number;
    size_t edit_index; /* order of edits, while the file is read */
    uint64_t size;
    uint64_t only_sequence; /* of all its entries; 0: they have several */
    uint64_t session;       /* of the writer; 0: not known */
    uint32_t family;
    bool is_live;                    /* false: it was removed */
    struct colander_buffer smallest; /* user keys */
    struct colander_buffer largest;
};

struct manifest {
    struct manifest_family *families;
    size_t family_count;
    size_t family_capacity;
    struct manifest_table *tables; /* by number, ascending */
    size_t table_count;
    size_t table_capacity;
    uint32_t family_max;    /* the highest id given to a family */
    bool is_whole;          /* all of it was read: these are all files */
    uint64_t whole;         /* bytes before the first that cannot be read */
    uint64_t last_sequence; /* of the writes that it knows of */
    uint64_t least_log;     /* older logs are not needed */
};

/* Reads the MANIFEST of that number. Damage in it is not a failure. An
 * incomplete edit at its end counts as not written, and so does what the ledger
 * (NULL: none) knows not to count. If the ledger knows of more bytes than can
 * be read, or of others, it is not whole. Fails with NOT_FOUND, IO or
 * NO_MEMORY. */
COLANDER_CHECKED enum colander_code
manifest_read(struct manifest *manifest, int directory, uint64_t number,
              struct ledger *ledger, struct colander_error *err);

/* Notes that a family was dropped, which the MANIFEST may not say or know. */
COLANDER_CHECKED enum colander_code
manifest_drop_family(struct manifest *manifest, uint32_t id,
                     struct colander_error *err);

void manifest_release(struct manifest *manifest);

/* Return NULL if there is none. */
const struct manifest_family *manifest_family(const struct manifest *manifest,
                                              uint32_t id);
const struct manifest_table *manifest_table(const struct manifest *manifest,
                                            uint64_t number);

/* Whether a family may have writes in the log that are not in a table. */
bool manifest_needs_log(const struct manifest *manifest, uint64_t number);

/* Whether the table is live, and its family as well. */
bool manifest_has_table(const struct manifest *manifest,
                        const struct manifest_table *table);

#endif
