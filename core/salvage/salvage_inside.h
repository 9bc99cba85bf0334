/*
 * The inside of a salvage.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef COLANDER_CORE_SALVAGE_SALVAGE_INSIDE_H
#define COLANDER_CORE_SALVAGE_SALVAGE_INSIDE_H

#include "core/directory.h"
#include "core/files.h"
#include "core/ledger.h"
#include "core/manifest.h"
#include "core/salvage.h"
#include "core/tables.h"

/* A family with rows: of the database, or SALVAGE_UNKNOWN for rows of files
 * whose family is not known. */
struct salvage_family {
    uint32_t id;
    char *name; /* without the prefix of column families */
};

#define SALVAGE_UNKNOWN UINT32_MAX

/* The id of the column family for marks and records, which is not in the list
 * of families. */
#define SALVAGE_ITEMS 0

/* An SST file. */
struct salvage_table {
    uint64_t number;
    uint32_t family;
    uint64_t external_sequence; /* stands for 0 in it; 0: does not */
    bool has_rows;
    struct colander_buffer first_key;
};

/* A write in a log. */
struct salvage_entry {
    uint32_t family;
    bool is_delete;
    uint64_t sequence;
    size_t key_at; /* in `bytes`; the value follows the key */
    size_t key_size;
    size_t value_size;
};

struct salvage_log {
    struct colander_buffer bytes;
    struct salvage_entry *entries; /* by family, key, and newest first */
    size_t count;
    size_t capacity;
};

/* A source of rows of a family: an SST, or the logs. */
struct salvage_source {
    const struct salvage_table *table; /* NULL: the logs */
    struct table_file *file;           /* NULL for the logs */
    size_t entry_at;                   /* index of the next entry of the logs */
    struct colander_buffer last_key;   /* of the entry before */
    struct table_entry entry;          /* the present one */
};

struct salvage {
    struct directory directory;
    int engine_fd; /* of rocksdb/ */
    salvage_report *report;
    void *context;
    struct ledger *ledger;
    struct manifest manifest;
    struct salvage_family *families;
    size_t family_count;
    size_t family_capacity;
    struct salvage_table *tables; /* by first key */
    size_t table_count;
    size_t table_capacity;
    struct salvage_log log;
    bool is_log_misplaced; /* names of logs do not say how old they are */

    /* the present family */
    const struct salvage_family *family;
    size_t table_next;              /* the first table that is not open yet */
    struct salvage_source *sources; /* one for each table, and for the logs */
    size_t opened_count;            /* those that were used */
    struct salvage_source **heap;   /* those with entries, the next one first */
    size_t heap_count;
    struct colander_buffer key; /* of the last row */
    struct colander_buffer row;
};

/* -------------------------------------------------------------- losses --- */

/* Returns a loss of all rows of a family, of any for SALVAGE_UNKNOWN, or of
 * items for SALVAGE_ITEMS. */
struct salvage_loss salvage_rows_of(const struct salvage *salvage,
                                    uint32_t family);

/* Reports that these rows are lost with a file in rocksdb/, or with the record
 * of the store. */
void salvage_lose(const struct salvage *salvage, struct salvage_loss rows,
                  const char *name, const char *format, ...)
    COLANDER_FORMAT(4, 5);

/* ------------------------------------------------------------- families --- */

/* Returns the family of that id. NULL: it was dropped, is not known, or is the
 * store's own. */
const struct salvage_family *salvage_family(const struct salvage *salvage,
                                            uint32_t id);

/* Adds a family. Of two with one name the later stays. */
COLANDER_CHECKED enum colander_code
salvage_add_family(struct salvage *salvage, uint32_t id, const char *name,
                   struct colander_error *err);

/* Adds a family whose name is lost, under this or a similar name. Requires that
 * all known names were added. */
COLANDER_CHECKED enum colander_code
salvage_add_nameless(struct salvage *salvage, uint32_t id, const char *name,
                     struct colander_error *err);

/* ---------------------------------------------------------------- steps --- */

COLANDER_CHECKED enum colander_code
salvage_find_files(struct salvage *salvage, struct colander_error *err);

COLANDER_CHECKED enum colander_code
salvage_read_logs(struct salvage *salvage, struct colander_error *err);

/* Gives families that were renamed their names. */
COLANDER_CHECKED enum colander_code
salvage_read_names(struct salvage *salvage, struct colander_error *err);

/* Closes all sources. */
void salvage_end_family(struct salvage *salvage);

#endif
