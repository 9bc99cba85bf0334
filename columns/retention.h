/*
 * Retention: rows that have become old are deleted.
 *
 * A policy says how long the rows of a family are kept, and how many bytes of
 * them. It deletes nothing alone: a program, or the command `colander
 * retain`, applies it from time to time, and the commands `serve` and `load
 * --follow` every hour.
 *
 * The time of a row is the TIMESTAMP in the family's time column
 * (colander_family_set_time_column); of several, the latest. A row without one
 * is kept. The age of a row is counted back from a reference: the latest time
 * in the family, or the clock if that is earlier. So a clock that is wrong
 * deletes nothing that is not old among the rows, a row dated in the future
 * nothing that the clock does not find old, and the rows of a source that has
 * ended are kept.
 *
 * Deletes are those of colander_family_delete_found: in batches, and each row
 * is looked at once more under its lock, so that one that was written meanwhile
 * with a newer time stays. Snapshots keep what they have.
 *
 * Families by time (partitions.h) have one policy together, that of the family
 * with the name of the pattern. It drops a family as a whole, once all times
 * that its name says and all times of its rows are too old. Its `size_max`
 * counts bytes of SST files, and its conditions have no words. A dropped family
 * is not in snapshots either; cursors that have begun continue.
 *
 * A policy belongs to one family of one store and to its time column. In a
 * restored or salvaged store it is there, but paused until it is set again. A
 * renamed family keeps it, a copy of a family does not have it.
 *
 * Life:    colander_family_set_retention -> colander_family_retain, now and
 *          then
 * Threads: several may use a family at once
 * Bytes:   columns/FORMAT.md
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef COLANDER_RETENTION_H
#define COLANDER_RETENTION_H

#include "columns/values.h"
#include "core/core.h"

#ifdef __cplusplus
extern "C" {
#endif

struct colander_cursor;
struct colander_family;
struct colander_fault;

/* -------------------------------------------------------------- policy --- */

/* How long the rows are kept that meet conditions. All is borrowed. */
struct colander_keep {
    const char *const *words; /* conditions as in words.h, without @now */
    size_t word_count;        /* 0: every row */
    int64_t seconds;          /* at least 1 */
};

/* A policy. Start from colander_retention_init. */
struct colander_retention {
    size_t struct_size; /* set by colander_retention_init */

    const struct colander_keep *keeps; /* the first whose conditions a row meets
                                        * counts. A row that meets none is kept.
                                        * One without conditions comes last */
    size_t keep_count;
    uint64_t size_max; /* bytes of encoded keys and rows, as they are before
                        * compression and without value filters; at least 1;
                        * UINT64_MAX: any. The oldest rows above it go */
};

/* Sets the defaults: keeps every row. */
COLANDER_API void
colander_retention_init_sized(struct colander_retention *retention,
                              size_t struct_size);

static inline void
colander_retention_init(struct colander_retention *retention)
{
    colander_retention_init_sized(retention, sizeof(*retention));
}

/* Whether a policy is in force. */
enum colander_retention_state {
    COLANDER_RETENTION_NONE,         /* there is none */
    COLANDER_RETENTION_IN_FORCE,     /* it can be applied */
    COLANDER_RETENTION_PAUSED_STORE, /* it was set in a store of which this one
                                      * was restored or salvaged */
    COLANDER_RETENTION_PAUSED_TIME,  /* the family had another time column */
};

/* Gives the family the policy `retention`, instead of the one that it has, if
 * it has one; NULL: none. Returns once that is on disk. Deletes no row. Fails
 * with INVALID if the policy keeps every row, if a condition cannot be read or
 * has @now, or if the family has no time column, and with NOT_FOUND if there is
 * no such family. */
COLANDER_API COLANDER_CHECKED enum colander_code
colander_family_set_retention(struct colander_family *family,
                              const struct colander_retention *retention,
                              struct colander_error *err);

/* Sets *retention to the family's policy, owned by the caller, and *state;
 * NULL: there is none. Fails with TOO_NEW for a policy of a later version, and
 * with CORRUPT for a damaged one. */
COLANDER_API COLANDER_CHECKED enum colander_code colander_family_retention(
    struct colander_family *family, struct colander_retention **retention,
    enum colander_retention_state *state, struct colander_error *err);

/* Frees what colander_family_retention returned. NULL is allowed. */
COLANDER_API void
colander_retention_destroy(struct colander_retention *retention);

/* ----------------------------------------------------------- retaining --- */

/* How a policy is applied. Start from colander_retain_options_init. */
struct colander_retain_options {
    size_t struct_size; /* set by colander_retain_options_init */

    bool is_dry; /* deletes no row, and says how many would be deleted */
    bool counts; /* also counts what is kept: reads every row */
    bool yields; /* other threads that write hardly wait: locks few rows at a
                  * time and, if others write, works a 32nd of the time */
    struct colander_value now; /* TIMESTAMP: instead of the system's clock;
                                * default null */
    const struct colander_retained *asked; /* what a dry call has found: ages
                                            * count from its reference, and no
                                            * row or family that came meanwhile
                                            * goes because of `size_max`. NULL:
                                            * there was none */
    const struct colander_write_options *writes; /* NULL: the defaults */

    /* Called with each cursor before it is read, and with NULL before that is
     * closed, so that another thread or a signal handler can cancel it. May be
     * NULL. */
    void (*watch)(void *context, struct colander_cursor *cursor);
    /* Called every 1,000 rows with the number of rows deleted so far. If it
     * returns false, the call fails with CANCELLED. May be NULL. */
    bool (*goes_on)(void *context, uint64_t row_count);
    void *context; /* of both */
};

/* Sets the defaults. */
COLANDER_API void
colander_retain_options_init_sized(struct colander_retain_options *options,
                                   size_t struct_size);

static inline void
colander_retain_options_init(struct colander_retain_options *options)
{
    colander_retain_options_init_sized(options, sizeof(*options));
}

/* What was done. */
struct colander_retained {
    size_t struct_size; /* bytes that the library filled */

    uint64_t row_count; /* rows deleted; if it is dry, those that would be */
    struct colander_value newest;    /* the latest time; null: none */
    struct colander_value reference; /* from which ages count; null: none */

    bool is_counted;        /* what follows was counted, before the deletes */
    uint64_t all_count;     /* rows of the family */
    uint64_t untimed_count; /* of them, those without a time */
    uint64_t size;          /* bytes of all, as in size_max */

    uint64_t family_count; /* families dropped, of a pattern; row_count is then
                            * about that of their rows */

    /* Rows of this time, and older ones, went because of `size_max`; null: none
     * did. */
    struct colander_value cut;
};

/*
 * Deletes the rows of the family that the policy does not keep; `retention`
 * NULL: its own policy. `options` NULL means the defaults. Sets *retained, also
 * after a failure; then some rows may be deleted, and another call deletes the
 * rest. With `size_max` every row is read, unless the files show that all are
 * small enough. The rows with the latest time that exceeds it go with the older
 * ones, but never all that have a time.
 *
 * Fails with NOT_FOUND if the family or its policy does not exist, with INVALID
 * if its policy is paused or it has no time column, with CANCELLED if its own
 * policy is applied and that or the time column is changed meanwhile, and with
 * LIMIT if the rows without a time, or they and those of the newest time,
 * exceed `size_max` alone; then no row is deleted.
 */
COLANDER_API COLANDER_CHECKED enum colander_code
colander_family_retain_sized(struct colander_family *family,
                             const struct colander_retention *retention,
                             const struct colander_retain_options *options,
                             struct colander_retained *retained,
                             size_t retained_size, struct colander_error *err);

COLANDER_CHECKED static inline enum colander_code
colander_family_retain(struct colander_family *family,
                       const struct colander_retention *retention,
                       const struct colander_retain_options *options,
                       struct colander_retained *retained,
                       struct colander_error *err)
{
    return colander_family_retain_sized(family, retention, options, retained,
                                        sizeof(*retained), err);
}

/*
 * Fails if the conditions of `retention->keeps[index]` may be others than were
 * meant: rows that they were to keep would be deleted. With INVALID if they
 * cannot be read, or are one text where two conditions were meant, as
 * "level=error or level=warn" is; *fault is the place. With NOT_FOUND if no row
 * has one of their columns, or meets them while other rows are deleted sooner.
 * Of `options` it uses `watch`.
 */
COLANDER_API COLANDER_CHECKED enum colander_code colander_family_check_keep(
    struct colander_family *family, const struct colander_retention *retention,
    size_t index, const struct colander_retain_options *options,
    struct colander_fault *fault, struct colander_error *err);

#ifdef __cplusplus
}
#endif

#endif
