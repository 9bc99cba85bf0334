/*
 * A salvage, from the inside.
 *
 *     salvage.c        the store opened, its families, losses told
 *     salvage_files.c  what files there are, and what is known of each
 *     salvage_logs.c   what the logs of writes hold
 *     salvage_merge.c  the rows of a family
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef COLANDER_CORE_SALVAGE_SALVAGE_INSIDE_H
#define COLANDER_CORE_SALVAGE_SALVAGE_INSIDE_H

#include "core/directory.h"
#include "core/ledger.h"
#include "core/salvage.h"
#include "core/tables.h"
#include "core/version_log.h"

#define SALVAGE_NAME_SIZE 64

/* A family that gives rows: those of the database, and one for rows of which
 * nobody knows whose they are. */
struct salvage_family {
    uint32_t id;
    char *name; /* as users have it */
};

#define SALVAGE_UNKNOWN UINT32_MAX

/* An SST file. */
struct salvage_table {
    uint64_t number;
    uint32_t family;
    uint64_t external_sequence; /* that stands for 0 in it; 0: none does */
    bool has_rows;
    struct colander_buffer first_key;
};

/* A write that stands in a log. */
struct salvage_entry {
    uint32_t family;
    bool is_delete;
    uint64_t sequence;
    size_t key_at; /* in `bytes` */
    size_t key_size;
    size_t value_at;
    size_t value_size;
};

struct salvage_log {
    struct colander_buffer bytes;
    struct salvage_entry *entries; /* by family, key, and newest first */
    size_t count;
    size_t capacity;
};

/* What the rows of a family come from: an SST, or the logs. */
struct salvage_source {
    const struct salvage_table *table; /* NULL: the logs */
    struct table_file *file;           /* open: NULL for the logs */
    size_t entry_at;                   /* the next one of the logs */
    struct colander_buffer last_key;   /* before the entry that it stands at */
    struct table_entry entry;          /* that it stands at */
};

struct salvage {
    struct directory directory; /* of the store */
    int engine_fd;              /* of rocksdb/ */
    salvage_tell *tell;
    void *context;
    struct ledger *ledger;
    struct version_log versions;
    struct salvage_family *families;
    size_t family_count;
    struct salvage_table *tables; /* by first key */
    size_t table_count;
    struct salvage_log log;
    bool is_log_misplaced; /* then its name does not tell how old a log is */

    /* The family under way. */
    const struct salvage_family *family;
    size_t table_next;              /* the first that is not a source yet */
    struct salvage_source *sources; /* a heap, the next one first */
    size_t source_count;
    struct colander_buffer key; /* of the row that was given last */
    struct colander_buffer row;
};

/* Rows of a family, or UNKNOWN: of any; all of their keys. */
struct salvage_loss salvage_rows_of(const struct salvage *salvage,
                                    uint32_t family);

/* Tells that such rows are lost with a file in the store. */
void salvage_lose(const struct salvage *salvage, struct salvage_loss rows,
                  const char *name, const char *format, ...)
    COLANDER_FORMAT(4, 5);

/* The family of that id; NULL: it was dropped, or is the store's own, or is not
 * known. */
const struct salvage_family *salvage_family(const struct salvage *salvage,
                                            uint32_t id);

/* Adds one whose name is lost, under this or, when a family has it, a similar
 * one: after all whose names are known. */
COLANDER_CHECKED enum colander_code
salvage_add_nameless(struct salvage *salvage, uint32_t id, const char *name,
                     struct colander_error *err);

/* Of two with one name the later stays. */
COLANDER_CHECKED enum colander_code
salvage_add_family(struct salvage *salvage, uint32_t id, const char *name,
                   struct colander_error *err);

COLANDER_CHECKED enum colander_code
salvage_find_files(struct salvage *salvage, struct colander_error *err);

COLANDER_CHECKED enum colander_code
salvage_read_logs(struct salvage *salvage, struct colander_error *err);

/* Closes all sources. */
void salvage_end_family(struct salvage *salvage);

#endif
