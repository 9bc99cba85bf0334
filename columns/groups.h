/*
 * Groups: rows with equal values in some columns, counted and summed up.
 *
 * A grouping has keys (columns that are equal in all rows of a group, or the
 * bucket of time that they are in) and measures (what is computed of each
 * group). The result of each group is a row, with a column for each key and
 * each measure.
 *
 *     sensor  at                    count  avg t
 *     s1      2026-03-24T10:00:00Z     60  21.5
 *
 * Keys. A row without a value at the path of a key, and one with null there,
 * are in groups of their own. The column of the first is missing in the result.
 * Equal values are equal as colander_value_compare says; maps and arrays if
 * their bytes are.
 *
 * Measures. All are exact but APPROX_DISTINCT and QUANTILE. They do not depend
 * on the order of the rows: sums are computed exactly and rounded once, and of
 * equal values the one that represents them is always the same. Null and
 * missing values do not count. Values of other types than a measure is for
 * (texts in a sum) are left out; colander_groups_left_out counts them. A
 * measure without values is null, COUNT and DISTINCT are 0.
 *
 * Memory: groups take memory that grows with their number. A limit is an error
 *         that says so; nothing is left out. The words are those of core.h
 * Life:   grouping_init -> groups_create -> add, merge, colander_family_group
 *         -> groups_next until there is no group -> groups_destroy
 * Threads: groups are used by one thread at a time
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef COLANDER_GROUPS_H
#define COLANDER_GROUPS_H

#include "columns/columns.h"
#include "core/core.h"

#ifdef __cplusplus
extern "C" {
#endif

#define COLANDER_GROUP_KEYS_MAX 16
#define COLANDER_GROUP_MEASURES_MAX 64

/* A key of groups. All texts are copied. */
struct colander_group_key {
    const char *name;   /* of its column in the result */
    const char *path;   /* NULL: the caller gives the values. In one key it may
                         * have []: a row is then in a group for each of its
                         * different values there */
    const char *bucket; /* its times are grouped by these intervals: "15m",
                         * "1h", "1d", "1w", "1mo", "1y"; NULL: values are */
    const char *zone;   /* of a bucket: "Europe/Berlin", or "local" for that of
                         * the system; NULL: UTC */
};

/*
 * A bucket of time is the TIMESTAMP at which it begins. Buckets are half open:
 * they end before the next begins. A string that is a time (words.h) counts as
 * one; all other values are left out, and their rows are in the group without
 * a bucket. Buckets of less than a day have a fixed size, and those of up to
 * an hour end when the clocks of the zone change. Longer ones begin when the
 * clocks show a multiple of their size, or later if that is skipped. So a day
 * of a zone may have 23 or 25 hours. Weeks begin on Monday.
 */

enum colander_aggregate {
    COLANDER_COUNT,    /* rows; with a path those with a value there */
    COLANDER_SUM,      /* an integer if all values are and it has 64 bits,
                        * otherwise the nearest double */
    COLANDER_AVG,      /* a double; of numbers, as the sum */
    COLANDER_MIN,      /* of scalars of any type, as colander_value_compare */
    COLANDER_MAX,      /* orders them */
    COLANDER_FIRST,    /* the value of the row with the least time, of those
                        * that have both; of equal times that of the least key,
                        * and of rows of several families that have both the
                        * least value. Times are numbers, timestamps and texts
                        * that are times; without one a value is left out */
    COLANDER_LAST,     /* that with the greatest time, or of those the key */
    COLANDER_DISTINCT, /* the number of different values; holds them all */
    COLANDER_APPROX_DISTINCT, /* the same within 2 % in 95 of 100 cases, in at
                               * most 25 kB for each group */
    COLANDER_QUANTILE,        /* a double within 1 % of a number so that a part
                        * `quantile` of the others is less */
};

/* A measure of groups. All texts are copied. */
struct colander_measure {
    const char *name; /* of its column in the result */
    enum colander_aggregate aggregate;
    const char *path; /* without []; NULL: of COUNT the rows, otherwise the
                       * caller gives the values */
    double quantile;  /* of QUANTILE, 0 to 1 */
};

/* What buckets without rows have. */
enum colander_fill {
    COLANDER_FILL_NOTHING,  /* they are not in the result */
    COLANDER_FILL_NULL,     /* measures are null */
    COLANDER_FILL_PREVIOUS, /* what the bucket before has, with equal other
                             * keys; null if there is none */
    COLANDER_FILL_ZERO,     /* measures are 0 */
};

/* How rows are grouped. Start from colander_grouping_init. */
struct colander_grouping {
    size_t struct_size; /* set by colander_grouping_init */

    const struct colander_group_key *keys; /* none: all rows are one group */
    size_t key_count;
    const struct colander_measure *measures;
    size_t measure_count;
    const char *time_path; /* of FIRST and LAST; NULL: there are none */
    size_t size_max;       /* bytes that groups may take; SIZE_MAX: any */

    /* The result. It is in the order of the keys, one after another; a missing
     * value comes first, then null. */
    enum colander_fill fill; /* from the first to the last bucket of all groups;
                              * needs exactly one key that is a bucket */
    const struct colander_predicate *having; /* which groups are in it: looks at
                                              * them as rows; borrowed; NULL:
                                              * all */
    const char *order; /* the name of a column; NULL: by keys. Null and missing
                        * values come last */
    bool is_descending;
    uint64_t limit; /* only this many groups, the first; UINT64_MAX: all */

    bool (*is_cancelled)(void); /* called often by the caller's thread; NULL:
                                 * never cancelled */
};

/* Sets the defaults: no keys and measures, any size, all groups by key. */
COLANDER_API void
colander_grouping_init_sized(struct colander_grouping *grouping,
                             size_t struct_size);

static inline void
colander_grouping_init(struct colander_grouping *grouping)
{
    colander_grouping_init_sized(grouping, sizeof(*grouping));
}

/* Groups, as far as rows were added. */
struct colander_groups;

/* Creates groups without rows. `grouping` is copied. Fails with INVALID if it
 * makes no sense: the text says why. */
COLANDER_API COLANDER_CHECKED enum colander_code
colander_groups_create(const struct colander_grouping *grouping,
                       struct colander_groups **groups,
                       struct colander_error *err);

/*
 * Adds a row to its group. `given` (borrowed) has a value for each key and each
 * measure without a path, but COUNT: keys first, each in its order. A value is
 * NULL if it is missing. Fails with LIMIT if groups take more than `size_max`
 * bytes; after a failure they can only be destroyed. Fails with INVALID if
 * groups were returned already.
 */
COLANDER_API COLANDER_CHECKED enum colander_code colander_groups_add(
    struct colander_groups *groups, const struct colander_result *row,
    const struct colander_value *const *given, struct colander_error *err);

/* Adds the rows of `from`, which has the same keys and measures, and can only
 * be destroyed then. The result is the same as if all rows had been added to
 * `groups`, in whatever order parts are added. */
COLANDER_API COLANDER_CHECKED enum colander_code
colander_groups_merge(struct colander_groups *groups,
                      struct colander_groups *from, struct colander_error *err);

/*
 * Adds the rows that `query` returns (NULL: every row); its `paths` mean
 * nothing. Threads read and group parts of a large family at once, as many as
 * the query says. Sets *explain, unless `explain` is NULL, to what was read, by
 * all threads together; times are those of the slowest. Fails as
 * colander_groups_add does, and with CANCELLED once `is_cancelled` returns
 * true.
 */
COLANDER_API COLANDER_CHECKED enum colander_code colander_family_group_sized(
    struct colander_family *family, const struct colander_query *query,
    struct colander_groups *groups, struct colander_explain *explain,
    size_t explain_size, struct colander_error *err);

COLANDER_CHECKED static inline enum colander_code
colander_family_group(struct colander_family *family,
                      const struct colander_query *query,
                      struct colander_groups *groups,
                      struct colander_explain *explain,
                      struct colander_error *err)
{
    return colander_family_group_sized(family, query, groups, explain,
                                       sizeof(*explain), err);
}

/* Returns the next group as a row, borrowed until the next call. *is_group is
 * false at the end. From the first call on no rows can be added. Without keys
 * there is one group, even if it has no rows. */
COLANDER_API COLANDER_CHECKED enum colander_code
colander_groups_next(struct colander_groups *groups, bool *is_group,
                     struct colander_slice *row, struct colander_error *err);

/* Returns the number of groups that have rows. */
COLANDER_API size_t colander_groups_count(const struct colander_groups *groups);

/* Returns how many bytes of memory the groups take. */
COLANDER_API size_t colander_groups_size(const struct colander_groups *groups);

/* Returns the number of values that the key or measure called `name` has left
 * out because of their type. */
COLANDER_API uint64_t colander_groups_left_out(
    const struct colander_groups *groups, const char *name);

/* Returns how many seconds the clocks in the zone of the bucket called `name`
 * are ahead of UTC at `second` since 1970; 0 if it has no zone. */
COLANDER_API int32_t colander_groups_offset(
    const struct colander_groups *groups, const char *name, int64_t second);

/* Frees the groups. NULL is allowed. */
COLANDER_API void colander_groups_destroy(struct colander_groups *groups);

#ifdef __cplusplus
}
#endif

#endif
