/*
 * Context: the filters of one open store, from the inside.
 *
 *     store_open.c     a store opened with filters
 *     observer.c       what the engine tells: filters built beside SST files
 *     notes.c          values of rows about to be written
 *     worker.c         a thread that loads filters and makes missing ones
 *     family_filters.c the functions of filters.h
 *     measure.c        how often filters are wrong
 *     check.c          that they deny nothing
 *     find.c           candidates for a question
 *
 * Locks: change_mutex, under which the engine may be called; names_mutex; then
 * any one of the others: the registry's, mutex, the log's, the worker's.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef COLANDER_FILTERS_CONTEXT_H
#define COLANDER_FILTERS_CONTEXT_H

#include "columns/candidates.h"
#include "filters/registry.h"

#include <pthread.h>

/* What went well and what did not, since the store was opened. */
struct filter_log {
    pthread_mutex_t mutex;
    uint64_t built_count;
    uint64_t rebuilt_count;
    uint64_t damaged_count;
    uint64_t error_count;
    char last_error[700];
};

/* How often the filter of an SST was made anew, or could not be. */
struct worker_try {
    uint64_t number;
    uint32_t count;
};

struct worker {
    pthread_t thread;
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    bool is_running;
    bool is_stopping;
    bool is_kicked;           /* there may be something to do */
    bool is_idle;             /* and what there was is done, */
    bool is_waiting;          /* but for files that are young yet */
    size_t awaiting;          /* threads that wait for all of it */
    struct worker_try *tries; /* filters made anew */
    size_t try_count;
    size_t try_capacity;
};

struct filters {
    char *given_path; /* of the store, as it was opened */
    char *directory;  /* where filter files are, once known; under mutex */
    pthread_mutex_t mutex;
    pthread_mutex_t names_mutex; /* held while a filter gets its name */
    uint64_t run;                /* of tags: no other open store has it */
    _Atomic(uint64_t) tag_count;
    bool is_read_only;
    struct colander_engine *engine; /* while it is open */
    atomic_uint epoch;              /* flipped by a change of settings, */
    atomic_size_t writes[2];        /* which waits for writes of the last */
    pthread_mutex_t change_mutex;   /* one change of settings at a time */
    struct registry registry;
    struct worker worker;
    struct filter_log log;
};

#define FILTER_PATH_MAX 4352

/* The name of a filter while it is built, and of that of the SST of this number
 * and size: so a filter never serves another SST, be it one that was given the
 * same number after a crash. False: the path is too long, or the store's
 * directory is not there. */
bool filter_path_of_tag(struct filters *filters,
                        const uint8_t tag[SST_TAG_SIZE],
                        char path[FILTER_PATH_MAX]);
bool filter_path_of_sst(struct filters *filters, uint64_t number, uint64_t size,
                        char path[FILTER_PATH_MAX]);

/* The latter's name in the store; false: there is no such filter. */
bool filter_name_of_sst(void *context, uint64_t number, uint64_t size,
                        char name[COMPANION_PATH_MAX]);

/* A new tag, like no other. */
void filter_tag_make(struct filters *filters, uint8_t tag[SST_TAG_SIZE]);

/* Gives a finished filter the name by which it is found. */
COLANDER_CHECKED enum colander_code
filter_publish(struct filters *filters, const char *path, uint64_t number,
               uint64_t size, struct colander_error *err);

/* Counts an error, and keeps its text. */
void filter_log_error(struct filters *filters, const char *what,
                      uint64_t number, const struct colander_error *err);

/* Says that the filter of `file` is not what was written: it is doubted from
 * now on, and made again. */
void filters_doubt(struct filters *filters, struct sst_file *file,
                   const struct colander_error *err);

/* The filters of the store of `family`, and those of the family itself: NULL
 * where the family does not exist. */
COLANDER_CHECKED enum colander_code
filters_look_up(struct colander_family *family, struct filters **filters,
                struct colander_engine_family **engine_family,
                struct family_filters **found, struct colander_error *err);

/* ------------------------------------------------------------- observer --- */

/* Callbacks whose context is `filters`. */
struct sst_observer observer_of(struct filters *filters);

/* Lists the SST files that are there, and removes filters without one. */
COLANDER_CHECKED enum colander_code
observer_list_files(struct filters *filters, struct colander_error *err);

/* Visits the files in the filters' directory that belong to no SST, under
 * names_mutex. */
void observer_visit_orphans(struct filters *filters,
                            void (*visit)(void *context, int directory_fd,
                                          const char *name),
                            void *context);

/* --------------------------------------------------------------- worker --- */

/* Starts the thread; it may be started and stopped several times. */
COLANDER_CHECKED enum colander_code worker_start(struct filters *filters,
                                                 struct colander_error *err);
void worker_stop(struct filters *filters);

/* There may be something to do. Any thread, also callbacks. */
void worker_kick(struct filters *filters);

/* Waits until there is nothing left to do; false: the worker does not run. */
bool worker_await(struct filters *filters);

/* Makes the filter of `file` anew, with the family's settings. *is_done is
 * false when the file has changed its state meanwhile: then nothing was. */
COLANDER_CHECKED enum colander_code worker_rebuild(struct filters *filters,
                                                   struct sst_file *file,
                                                   bool *is_done,
                                                   struct colander_error *err);

/* The same for SST `number`, whatever happens to its filter meanwhile; a file
 * that is gone is fine. */
COLANDER_CHECKED enum colander_code
worker_rebuild_latest(struct filters *filters, uint64_t number,
                      struct colander_error *err);

/* Whether a filter is of this program's making (TOO_NEW), and of the SST with
 * so many entries (0: not known) and that tag (NULL: not known): CORRUPT. */
COLANDER_CHECKED enum colander_code
filter_check_head(const struct filter_head *head, uint64_t entry_count,
                  const uint8_t *tag, struct colander_error *err);

/* Opens the filter of a PENDING file: it becomes OPEN, or UNSURE if the filter
 * is no good, or stays if it cannot be read now (and then OK is said, too). */
COLANDER_CHECKED enum colander_code
filters_open_pending(struct filters *filters, struct sst_file *file,
                     struct colander_error *err);

/* ---------------------------------------------------------------- notes --- */

COLANDER_CHECKED enum colander_code
notes_row(void *context, struct candidate_write **write,
          struct colander_engine_family *family, struct colander_slice key,
          struct colander_slice row, struct colander_error *err);
void notes_end(void *context, struct candidate_write *write, bool is_written);

/* In a store that is read only: notes the rows that were in the log when it was
 * opened, which nobody noted when they were written. The first time. */
COLANDER_CHECKED enum colander_code
notes_of_log(struct filters *filters, struct colander_engine_family *family,
             struct family_filters *found, struct colander_error *err);

/* ------------------------------------------------------------- settings --- */

#define RECORD_NAME_MAX 64

/* The name of the record of a family's settings. */
void settings_record_name(uint32_t family, char name[RECORD_NAME_MAX]);

/* ----------------------------------------------------------------- find --- */

COLANDER_CHECKED enum colander_code
find_candidates_open(void *context, const struct candidate_request *request,
                     struct candidates **candidates,
                     struct colander_error *err);
COLANDER_CHECKED enum colander_code
find_candidates_next(struct candidates *candidates, struct colander_slice *keys,
                     size_t max, size_t *count, struct colander_error *err);
void find_candidates_close(struct candidates *candidates);

#endif
