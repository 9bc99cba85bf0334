/*
 * Candidates: the interface to a layer above that knows which rows may match.
 *
 * A store is complete without such a layer, and every find is a scan. With it,
 * a find gets the keys of candidates from the layer, reads each row at its
 * snapshot and evaluates the whole predicate. So an extra candidate costs time,
 * and only a missing one would be wrong.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef COLANDER_COLUMNS_CANDIDATES_H
#define COLANDER_COLUMNS_CANDIDATES_H

#include "columns/columns.h"
#include "core/sst.h"

#include <stdatomic.h>

/* ------------------------------------------------------- values of rows --- */

/* Hashes of paths: PATH_HASH_START, then one step for each name or []. They are
 * in files, under COLANDER_HASH_VERSION. */
#define PATH_HASH_START UINT64_C(0)

uint64_t path_hash_name(uint64_t parent, struct colander_slice name);
uint64_t path_hash_element(uint64_t parent);

/* A value of a row: a scalar at any depth, or a container before its members.
 * Of a container only the type is set. */
struct row_value {
    struct colander_value value;
    uint64_t path_hash;
    uint32_t depth; /* 1 for the columns of the row */
};

/* Calls `visit` for each value of the row, in its order. Fails with CORRUPT if
 * the row is malformed; then the values visited before may be wrong. */
COLANDER_CHECKED enum colander_code
row_values(struct colander_slice row,
           void (*visit)(void *context, const struct row_value *value),
           void *context, struct colander_error *err);

/* Sets *hash to that of `path`, a text as in columns.h. Fails with INVALID if
 * the path is malformed. */
COLANDER_CHECKED enum colander_code
path_hash_of_text(const char *path, uint64_t *hash, struct colander_error *err);

/* ------------------------------------------------------ words of texts --- */

/* Of the words of texts and their hashes, which are in files. */
#define TEXT_WORDS_VERSION 1

/* Returns the hash of a word (columns/tokens.h), folded. */
uint64_t text_word_hash(struct colander_slice word);

/* A word of a text. */
struct text_word {
    uint64_t hash;
    struct colander_slice folded; /* borrowed; empty: some 250 bytes or more */
    bool is_value; /* all of the text: the hash of that value stands for it */
};

/* Calls `visit` with each word of the text, as often as it comes. */
void text_words(struct colander_slice text,
                void (*visit)(void *context, const struct text_word *word),
                void *context);

/* ------------------------------------------------------- filter queries --- */

/* The part of a predicate that filters can answer. Only the evaluation knows
 * the whole predicate. */
enum filter_query_kind {
    FILTER_QUERY_EQUAL,  /* a scalar at the path equals one of `values` */
    FILTER_QUERY_RANGE,  /* a scalar at the path is from `values`[0] to [1] */
    FILTER_QUERY_PREFIX, /* a string or binary there begins with `values`[0] */
    FILTER_QUERY_EXISTS, /* something is at the path */
    FILTER_QUERY_WORD,   /* a text at the path has a word */
    FILTER_QUERY_PIECE,  /* a text at the path has a word with `piece` in it */
    FILTER_QUERY_ALL_OF, /* all operands */
    FILTER_QUERY_ANY_OF, /* one of the operands; without any, no row */
    FILTER_QUERY_OPEN,   /* any row may match */
};

struct filter_query {
    enum filter_query_kind kind;

    /* RANGE */
    bool has_low;
    bool has_high;
    bool excludes_low; /* the bound itself is not wanted */
    bool excludes_high;

    /* The path: the hashes of all its beginnings, the last its own. Length 0: a
     * value in any column (EQUAL, RANGE, WORD and PIECE only). */
    const uint64_t *path_hashes;
    size_t path_length;
    struct colander_slice path; /* as text */

    /* Scalars. EQUAL: at least one, ascending, none twice. RANGE: two of one
     * type (all numbers are one type), both included. A missing bound is the
     * end of that type, and has the value of the other bound. */
    const struct colander_value *values;
    size_t value_count;

    /* EQUAL: of each value. EXISTS: one, that of the path. WORD: two, that of
     * the word, and of the text that is this word alone. All are looked up in
     * the same way. The first has this index among all hashes. */
    const uint64_t *hashes;
    size_t hash_count;
    size_t first_hash;

    /* PIECE: letters of a folded word, with a zero byte before them if the word
     * begins with them, and one after them if it ends with them. */
    struct colander_slice piece;

    const struct filter_query *const *operands;
    size_t operand_count;
};

/*
 * Creates the filter query of `predicate`, which must outlive it. The operands
 * of ALL_OF and ANY_OF are never OPEN: an ALL_OF omits such an operand, an
 * ANY_OF becomes OPEN. There are at least two, and each may match some row. A
 * predicate that no row can match becomes an ANY_OF without operands.
 */
COLANDER_CHECKED enum colander_code
filter_query_create(const struct colander_predicate *predicate,
                    struct filter_query **query, struct colander_error *err);

/* NULL is allowed. */
void filter_query_destroy(struct filter_query *query);

/* Returns the number of hashes of all queries in it. */
size_t filter_query_hashes(const struct filter_query *query);

/* ----------------------------------------------------------- candidates --- */

/* A find that asks for candidates. All pointers are borrowed until they are
 * closed. */
struct candidate_request {
    struct engine_family *family;
    const struct colander_snapshot *snapshot; /* never NULL */
    const struct filter_query *query;
    const struct colander_predicate *where; /* of the filter query */
    struct colander_slice from;             /* first key; empty: no bound */
    struct colander_slice until; /* first key after; empty: no bound */
    bool is_reverse;
    uint64_t limit; /* rows wanted, or probably; UINT64_MAX: all */
    const atomic_bool *is_cancelled;

    /* The layer above sets plan, reason and rows_expected, updates the counts
     * from file_count to recent_found and rows_read, and adds to bytes_read.
     * columns/ counts the rest. */
    struct colander_explain *explain;
};

/* Where the first rows in the order of a column lie. */
struct bound_request {
    struct engine_family *family;
    uint64_t path_hash;
    bool is_descending; /* from the greatest value on */
    uint64_t rows;      /* how many */
};

/* Candidates of one find. */
struct candidates;

/* A row that may match. */
struct candidate {
    struct colander_slice key;
    uint32_t index; /* the layer above knows it by this */
};

/* Rows of some candidates that the layer above could read. */
#define CANDIDATE_ROWS_MAX 32
struct candidate_rows {
    struct colander_slice rows[CANDIDATE_ROWS_MAX]; /* {NULL, 0}: not read */
    void *held[CANDIDATE_ROWS_MAX];                 /* of the layer above */
    uint32_t held_sizes[CANDIDATE_ROWS_MAX]; /* bytes of these, with the row */
    size_t count;
};

/* A write whose rows the layer above has been passed. */
struct candidate_write;

/* The layer above, as a store sees it. Copied. The store owns `context` until
 * `closed`. Many threads call these functions at once, except opened, closing
 * and closed. Only those for backups may be NULL, and either all or none of the
 * functions of the observer. */
struct store_hooks {
    void *context;
    struct sst_observer observer; /* notified by the engine */

    /* The engine is open. May start threads. If the first call fails, the store
     * is closed and `closed` is called. If a later call fails, the store stays
     * open and no longer calls what is below `closed`. */
    enum colander_code (*opened)(void *context, struct engine *engine,
                                 struct colander_error *err);

    /* The engine will be closed, and may not be used once this returns. If
     * closing fails with BUSY, it stays open and `opened` is called again. */
    void (*closing)(void *context);

    /* The engine is closed, or never was open. Frees the context. */
    void (*closed)(void *context);

    /* Fills `name` with the file of the store that belongs to the SST of that
     * number and size. Returns false if there is none. For backups. */
    bool (*sst_sidecar)(void *context, uint64_t number, uint64_t size,
                        char name[SIDECAR_PATH_MAX]);

    /* A backup begins that is sent elsewhere: prepares what its readers can use
     * beside the sidecars. Then fills `name` with file `index` of that,
     * relative to the store; false: there is none. */
    void (*backup_begin)(void *context);
    bool (*backup_more)(void *context, size_t index,
                        char name[SIDECAR_PATH_MAX]);

    /* The family was dropped. Only finds that are under way still ask for
     * it. */
    void (*dropped)(void *context, struct engine_family *family);

    /* Takes over what a damaged store kept for this family in a record. Fails
     * with INVALID, LIMIT or CORRUPT if that is not possible. */
    enum colander_code (*record_salvaged)(void *context,
                                          struct colander_family *family,
                                          struct colander_slice record,
                                          struct colander_error *err);

    /* A row is about to be written, as part of *write (NULL at first), or
     * deleted: then `row` is empty. If this fails, nothing of the write is
     * written. The key is locked. */
    enum colander_code (*recent_add)(void *context,
                                     struct candidate_write **write,
                                     struct engine_family *family,
                                     struct colander_slice key,
                                     struct colander_slice row,
                                     struct colander_error *err);

    /* All of a write is written, or nothing. Called once for every write that
     * recent_add has created. */
    void (*write_end)(void *context, struct candidate_write *write,
                      bool is_written);

    /* Plans the find. The filter query is never OPEN, and some row may match
     * it. Sets *candidates to NULL for a scan; `explain` has the reason. */
    enum colander_code (*candidates_open)(
        void *context, const struct candidate_request *request,
        struct candidates **candidates, struct colander_error *err);

    /* Fills `found` with the next rows that may match, at most `max`, in the
     * order of their keys, none twice. Fewer than `max` are the last, and there
     * is no next call. Keys outside the bounds of the request are allowed.
     * Valid until the next call. After a failure other than CANCELLED there is
     * no next call. */
    enum colander_code (*candidates_next)(struct candidates *candidates,
                                          struct candidate *found, size_t max,
                                          size_t *count,
                                          struct colander_error *err);

    /* Reads `count` of the rows that candidates_next has found last, as far as
     * that is faster than by the engine and certain to be what the snapshot
     * has. At most CANDIDATE_ROWS_MAX. Any thread. Fails with CORRUPT. In any
     * case candidates_release must be called. */
    enum colander_code (*candidates_read)(struct candidates *candidates,
                                          const struct candidate *found,
                                          size_t count,
                                          struct candidate_rows *rows,
                                          struct colander_error *err);

    /* Releases the rows, and empties `rows`. Before candidates_close. */
    void (*candidates_release)(struct candidates *candidates,
                               struct candidate_rows *rows);

    /* Called before the find's snapshot is released. */
    void (*candidates_close)(struct candidates *candidates);

    /* Sets *bound to a value such that about that many rows have values at or
     * before it, in that order; its bytes are those of `bytes`, which is empty.
     * *found is false if that is not known, or if the rows are very many. */
    enum colander_code (*order_bound)(void *context,
                                      const struct bound_request *request,
                                      struct colander_buffer *bytes,
                                      struct colander_value *bound, bool *found,
                                      struct colander_error *err);
};

/*
 * Fills `hooks` for a store that is about to be opened at `path`. A layer above
 * defines this function, and colander_store_open calls it if it is linked:
 * columns/ only has a weak reference to it.
 */
COLANDER_CHECKED enum colander_code
store_hooks_create(const char *path, const struct colander_options *options,
                   struct store_hooks *hooks, struct colander_error *err);

/* Opens a store with `hooks` (copied; NULL: none). Calls `closed` also when
 * opening fails. */
COLANDER_CHECKED enum colander_code
store_open_hooked(const char *path, const struct colander_options *options,
                  const struct store_hooks *hooks,
                  struct colander_store **store, struct colander_error *err);

/* Returns the context of the store's hooks, or NULL if it has none. */
void *store_hooks_context(const struct colander_store *store);

/* Returns the store of a handle. */
struct colander_store *family_store(const struct colander_family *family);

/* Sets *engine_family to that of a handle, borrowed, or to NULL if there is
 * none yet. Fails with DROPPED after the handle's family was dropped. */
COLANDER_CHECKED enum colander_code
family_engine(struct colander_family *family,
              struct engine_family **engine_family, struct colander_error *err);

#endif
