/*
 * Candidates: what a layer above needs to know of rows and questions to say
 * which rows may match, and the interface by which it is asked.
 *
 * A store is complete without such a layer: then every find scans. With one,
 * a find asks it for the keys of candidates, reads each as its snapshot has it
 * and evaluates the whole predicate: so a candidate too many costs time, and
 * only one too few would be wrong.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef COLANDER_COLUMNS_CANDIDATES_H
#define COLANDER_COLUMNS_CANDIDATES_H

#include "columns/columns.h"
#include "core/sst.h"

#include <stdatomic.h>

/* ------------------------------------------------------- values of rows --- */

/* The hash of a path's beginning: start with PATH_HASH_START, then a step for
 * each name or []. Stands in files, under COLANDER_HASH_VERSION. */
#define PATH_HASH_START UINT64_C(0)

uint64_t path_hash_name(uint64_t parent, struct colander_slice name);
uint64_t path_hash_element(uint64_t parent);

/* A value of a row: a scalar at any depth, or a container before its members,
 * of which only the type is given. */
struct row_value {
    struct colander_value value;
    uint64_t path_hash;
    uint32_t depth; /* 1 for the columns of the row */
};

/* Calls `visit` for each value of the row, in its order. CORRUPT when the bytes
 * are no row: what was visited until then may be anything. */
COLANDER_CHECKED enum colander_code
row_values(struct colander_slice row,
           void (*visit)(void *context, const struct row_value *value),
           void *context, struct colander_error *err);

/* Puts `path`, a text as in columns.h, into `hash`; INVALID when it is none. */
COLANDER_CHECKED enum colander_code
path_hash_of_text(const char *path, uint64_t *hash, struct colander_error *err);

/* ------------------------------------------------------------ questions --- */

/* What a predicate says about candidates. What it says besides, only the
 * evaluation knows. */
enum question_kind {
    QUESTION_EQUAL,  /* a scalar at the path equals one of `values` */
    QUESTION_RANGE,  /* a scalar at the path is from `values`[0] to [1] */
    QUESTION_PREFIX, /* a string or binary there begins with `values`[0] */
    QUESTION_EXISTS, /* something is at the path */
    QUESTION_ALL_OF, /* all operands */
    QUESTION_ANY_OF, /* one of the operands; without any, no row */
    QUESTION_OPEN,   /* any row may match */
};

struct question {
    enum question_kind kind;

    /* The path: hashes of all its beginnings, its own last. None (length 0) for
     * a value in any column (EQUAL only). */
    const uint64_t *path_hashes;
    size_t path_length;
    struct colander_slice path; /* as text */

    /* Scalars. EQUAL: one at least, ascending, none twice. RANGE: two of one
     * type (numbers are one), as if both bounds were included; without a bound
     * it goes to the end of that type, and the other bound stands in its place.
     */
    const struct colander_value *values;
    size_t value_count;
    const uint64_t *value_hashes; /* EQUAL: of each */
    size_t first_value; /* EQUAL: the place of values[0] among those of all */
    bool has_low;
    bool has_high;

    const struct question *const *operands;
    size_t operand_count;
};

/*
 * Makes the question of `predicate`, which must outlive it. ALL_OF and ANY_OF
 * have no OPEN operands: an ALL_OF leaves them out, an ANY_OF becomes OPEN.
 * They have two operands at least, and none that no row can meet: what no row
 * can meet is an ANY_OF without operands, as a whole.
 */
COLANDER_CHECKED enum colander_code
question_create(const struct colander_predicate *predicate,
                struct question **question, struct colander_error *err);

/* NULL is allowed. */
void question_destroy(struct question *question);

/* All values of EQUAL questions in it have places below this. */
size_t question_value_places(const struct question *question);

/* ----------------------------------------------------------- candidates --- */

/* A find that asks for candidates. All is borrowed until they are closed. */
struct candidate_request {
    struct colander_engine_family *family;
    const struct colander_snapshot *snapshot; /* never NULL */
    const struct question *question;
    const struct colander_predicate *where; /* what the question is of */
    struct colander_slice from;             /* first key; empty: no bound */
    struct colander_slice until; /* first key beyond; empty: no bound */
    bool is_reverse;
    uint64_t limit; /* rows that are wanted; UINT64_MAX: all */
    const atomic_bool *is_cancelled;

    /* Of this the layer above sets plan, reason and rows_expected, and keeps up
     * the counts from file_count to recent_found, rows_read and (adding to it)
     * bytes_read. The rest is counted for it. */
    struct colander_explain *explain;
};

/* Candidates of one find. */
struct candidates;

/* A write that notes rows. */
struct candidate_write;

/* The layer above, as a store sees it. Copied; `context` is the store's until
 * `closed`. All but opened, closing and closed: by many threads at once. All
 * functions are there, but `companion` need not; the observer's are, or none
 * is. */
struct store_extension {
    void *context;
    struct sst_observer observer; /* what the engine tells */

    /* The engine is open. May start threads. On failure the store is closed:
     * `closed` follows; or, when it was called again, goes on without all that
     * is below `closed`. */
    enum colander_code (*opened)(void *context, struct colander_engine *engine,
                                 struct colander_error *err);

    /* The engine is about to be closed: nothing may use it from here on. When
     * it says BUSY it stays open, and `opened` is called again. */
    void (*closing)(void *context);

    /* The engine is closed, or never was open: frees the context. */
    void (*closed)(void *context);

    /* Fills `name` with the file in the store that belongs to the SST of that
     * number and size; false: there is none. For backups. */
    bool (*companion)(void *context, uint64_t number, uint64_t size,
                      char name[COMPANION_PATH_MAX]);

    /* The family was dropped: nothing of it will be asked for, but by finds
     * that are under way. */
    void (*dropped)(void *context, struct colander_engine_family *family);

    /* A row is going to be written in *write (NULL at first). On failure it is
     * not written, nor is anything else of the write. Its key is locked. */
    enum colander_code (*note_row)(void *context,
                                   struct candidate_write **write,
                                   struct colander_engine_family *family,
                                   struct colander_slice key,
                                   struct colander_slice row,
                                   struct colander_error *err);

    /* All of a write is written, or nothing. Once for every write that note_row
     * has made. */
    void (*write_end)(void *context, struct candidate_write *write,
                      bool is_written);

    /* Plans the find; the question is never OPEN, nor one that no row can meet.
     * *candidates NULL: scan, and `explain` keeps the reason. */
    enum colander_code (*candidates_open)(
        void *context, const struct candidate_request *request,
        struct candidates **candidates, struct colander_error *err);

    /* Gives the keys of the next rows that may match, `max` at most, in the
     * order of the request, none twice; less than `max`: these were the last,
     * and there is no next call. Keys beyond the request's bounds do no harm.
     * Borrowed until the next call; after a failure, other than CANCELLED,
     * there is none. */
    enum colander_code (*candidates_next)(struct candidates *candidates,
                                          struct colander_slice *keys,
                                          size_t max, size_t *count,
                                          struct colander_error *err);

    /* Before the find's snapshot is released. */
    void (*candidates_close)(struct candidates *candidates);
};

/* As colander_store_open, with an extension; NULL: none. It is `closed` also
 * when opening fails. */
COLANDER_CHECKED enum colander_code
store_open_extended(const char *path, const struct colander_options *options,
                    const struct store_extension *extension,
                    struct colander_store **store, struct colander_error *err);

/* The context of the store's extension; NULL: it has none. */
void *store_extension_context(const struct colander_store *store);

/* The store of a handle. */
struct colander_store *family_store(const struct colander_family *family);

/* The engine's family of a handle, borrowed; NULL: there is none yet. DROPPED
 * when it is gone. */
COLANDER_CHECKED enum colander_code
family_engine(struct colander_family *family,
              struct colander_engine_family **engine_family,
              struct colander_error *err);

#endif
