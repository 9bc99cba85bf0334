/*
 * Finds compared with scans of the same snapshot, in any thread.
 *
 * The scan is the same find with its predicate inside two negations, which hide
 * it from value filters.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef TESTS_SUPPORT_COMPARED_FINDS_H
#define TESTS_SUPPORT_COMPARED_FINDS_H

#include "support/claims.h"
#include "support/random_rows.h"
#include "support/scoped.h"

/* What finds have done, in total. */
struct find_counts {
    uint64_t plans[3];     /* finds, by enum colander_plan */
    uint64_t row_count;    /* rows returned by plans of candidates */
    uint64_t recent_found; /* candidates in no SST */
    uint64_t rows_verified;
    uint64_t rows_direct; /* of these, read directly */
    uint64_t files_unsure;
};

static inline void
assert_counts_add_up(const struct colander_explain *explain)
{
    CLAIM(explain->file_count ==
          explain->files_pruned + explain->files_located + explain->files_read);
    CLAIM(explain->files_unsure <= explain->files_read);
    if (explain->plan == COLANDER_PLAN_CANDIDATES)
        CLAIM(explain->candidate_count >= explain->rows_returned +
                                              explain->rows_gone +
                                              explain->rows_false);
}

static inline bool
next_row(struct colander_cursor *cursor, struct colander_result *result)
{
    bool is_row;

    DID(colander_cursor_next(cursor, &is_row, result, why()));
    return is_row;
}

static inline void
count_find(const struct colander_cursor *cursor, struct find_counts *counts)
{
    struct colander_explain explain;

    colander_cursor_explain(cursor, &explain);
    assert_counts_add_up(&explain);
    counts->plans[explain.plan]++;
    counts->recent_found += explain.recent_found;
    counts->rows_verified += explain.rows_verified;
    counts->rows_direct += explain.rows_direct;
    counts->files_unsure += explain.files_unsure;
    if (explain.plan == COLANDER_PLAN_CANDIDATES)
        counts->row_count += explain.rows_returned;
}

/* Prints how many rows were read directly, and asserts that one of `parts` was:
 * of two where files have their filters. On a busy machine files wait for
 * these, and rows for their files: a test had a tenth. */
static inline void
assert_direct(const struct find_counts *counts, unsigned parts)
{
    printf("%llu of %llu rows read directly\n",
           (unsigned long long)counts->rows_direct,
           (unsigned long long)counts->rows_verified);
    (void)fflush(stdout);
    CLAIM(parts * counts->rows_direct >= counts->rows_verified);
}

/* Asserts that both return the same rows in the same order from one snapshot.
 * Returns their number. */
static inline uint64_t
compare_find(struct colander_family *family, const struct colander_query *find,
             const struct colander_query *scan, struct find_counts *counts)
{
    struct colander_cursor *cursors[2];
    struct colander_result results[2];
    uint64_t count = 0;
    bool is_row;

    DID(colander_family_find(family, find, &cursors[0], why()));
    DID(colander_family_find(family, scan, &cursors[1], why()));
    for (;;) {
        is_row = next_row(cursors[0], &results[0]);
        CLAIM(next_row(cursors[1], &results[1]) == is_row);
        if (!is_row)
            break;
        CLAIM(colander_slice_equal(results[0].key, results[1].key));
        CLAIM(colander_slice_equal(results[0].row, results[1].row));
        count++;
    }
    count_find(cursors[0], counts);
    colander_cursor_close(cursors[0]);
    colander_cursor_close(cursors[1]);
    return count;
}

/* A random question, asked of a given snapshot. */
static inline void
compare_random_tree(struct colander_family *family,
                    const struct colander_snapshot *snapshot,
                    uint64_t key_count, random_leaf_maker *leaf,
                    uint64_t *random, struct find_counts *counts)
{
    uint64_t again = *random;
    SCOPED_PREDICATE predicate = random_tree(random, 2, leaf);
    SCOPED_PREDICATE hidden =
        colander_not(colander_not(random_tree(&again, 2, leaf), NULL), NULL);
    struct colander_buffer bounds[2] = {COLANDER_BUFFER_EMPTY,
                                        COLANDER_BUFFER_EMPTY};
    struct colander_query find = usual_query();
    struct colander_query scan;

    CLAIM(predicate != NULL);
    CLAIM(hidden != NULL);
    find.snapshot = snapshot;
    random_bounds(random, key_count, &find, bounds);
    scan = find;
    find.where = predicate;
    scan.where = hidden;
    (void)compare_find(family, &find, &scan, counts);
    colander_buffer_release(&bounds[0]);
    colander_buffer_release(&bounds[1]);
}

static inline void
compare_random_find(struct colander_family *family,
                    const struct colander_snapshot *snapshot,
                    uint64_t key_count, uint64_t *random,
                    struct find_counts *counts)
{
    compare_random_tree(family, snapshot, key_count, random_leaf, random,
                        counts);
}

/* `count` random questions, each asked of a new snapshot. */
static inline void
compare_random_finds(struct colander_store *store,
                     struct colander_family *family, uint64_t key_count,
                     uint64_t count, uint64_t *random,
                     struct find_counts *counts)
{
    while (count-- > 0) {
        SCOPED_SNAPSHOT now = NULL;

        DID(colander_store_snapshot(store, &now, why()));
        compare_random_find(family, now, key_count, random, counts);
    }
}

/* Finds and scans the rows of the snapshot whose value at `path` (NULL: in any
 * column) equals `value`. Returns their number. */
static inline uint64_t
compare_equal_at(struct colander_family *family,
                 const struct colander_snapshot *snapshot, const char *path,
                 struct colander_value value, struct find_counts *counts)
{
    struct colander_predicate *predicates[2];
    struct colander_query find = usual_query();
    struct colander_query scan;
    uint64_t count;

    for (size_t i = 0; i < 2; i++)
        predicates[i] = path == NULL
                            ? colander_where_any_column(value, NULL)
                            : colander_where(path, COLANDER_EQ, value, NULL);
    predicates[1] = colander_not(colander_not(predicates[1], NULL), NULL);
    CLAIM(predicates[0] != NULL && predicates[1] != NULL);
    find.snapshot = snapshot;
    scan = find;
    find.where = predicates[0];
    scan.where = predicates[1];
    count = compare_find(family, &find, &scan, counts);
    colander_predicate_destroy(predicates[0]);
    colander_predicate_destroy(predicates[1]);
    return count;
}

/* The same, in a new snapshot. */
static inline uint64_t
compare_equal(struct colander_store *store, struct colander_family *family,
              const char *path, struct colander_value value,
              struct find_counts *counts)
{
    SCOPED_SNAPSHOT now = NULL;

    DID(colander_store_snapshot(store, &now, why()));
    return compare_equal_at(family, now, path, value, counts);
}

static inline uint64_t
count_equal(struct store_fixture *fixture, struct colander_family *family,
            const char *path, int64_t value)
{
    struct find_counts counts = {.row_count = 0};

    return compare_equal(fixture->store, family, path, colander_integer(value),
                         &counts);
}

#endif
