/*
 * Loading: files of records, read into a family.
 *
 * One thread reads and cuts records, others make rows of them, and the caller's
 * writes them, in the order of the file. A record that cannot be read never
 * stops a load: it is rejected, told, and kept as it was.
 *
 * With each batch of rows goes the place in the file behind them, so that a
 * load can be resumed after whatever stopped it: no row is lost, none is
 * written twice.
 *
 * Life:    loading_options_init -> run -> figures read
 * Threads: the caller's thread writes and calls back; see `stops`
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef LOADING_LOADING_H
#define LOADING_LOADING_H

#include "loading/schema.h"

#include <stdatomic.h>

/* What becomes of a record whose key has a row already. */
enum loading_duplicates {
    LOADING_REPLACE = 0, /* it takes the row's place */
    LOADING_KEEP,        /* the row stays, the record is counted */
    LOADING_PATCH,       /* its columns are merged into the row */
    LOADING_REJECT,      /* the row stays, the record is rejected */
};

/* How a load goes; also given while it is under way. */
struct loading_figures {
    const char *file;    /* under way; borrowed until the load returns */
    uint64_t bytes_read; /* of the files themselves, of all of them */
    uint64_t bytes_all;  /* 0: not known */
    uint64_t text_size;  /* uncompressed, of records read */
    uint64_t row_count;  /* written */
    uint64_t kept_count; /* records that a row stood in the way of */
    uint64_t reject_count;
    uint64_t files_skipped; /* that were loaded already */
    uint64_t bulk_rows;     /* of a bulk load's rows, those put in files */
    uint64_t bulk_all;      /* 0: still reading */
};

struct loading_options {
    const struct schema *schema; /* NULL: none */
    const char *format;          /* jsonl, json, csv, tsv, msgpack; NULL:
                                  * guessed from name and content */
    enum loading_duplicates duplicates;
    const char *rejects; /* file for rejected records; NULL: none */
    uint64_t errors_max; /* stops when more are rejected (UINT64_MAX) */
    size_t record_size;  /* bytes of a record at most (8 MiB) */
    bool resumes;        /* goes on where an earlier load stopped */
    bool is_bulk;        /* all at once, into a family without rows */
    bool has_no_place;   /* keeps no place: it cannot be resumed */

    const atomic_bool *stops; /* set by any thread or signal handler: stop
                               * behind the batch under way; NULL: never */

    /* Told of each rejected record, "file:line:column: reason", without a line
     * end; and of what else there is to say of a file. NULL: nobody. */
    void (*complain)(void *context, const char *text, bool is_reject);
    void (*progress)(void *context, const struct loading_figures *figures);
    void *context;
};

void loading_options_init(struct loading_options *options);

/*
 * Loads the files, one after the other; "-" is standard input. On failure
 * *figures tell what is in, which stays. CANCELLED when it was stopped; LIMIT
 * when more records were rejected than errors_max.
 */
COLANDER_CHECKED enum colander_code
loading_run(struct colander_store *store, struct colander_family *family,
            const char *const *files, size_t file_count,
            const struct loading_options *options,
            struct loading_figures *figures, struct colander_error *err);

#endif
