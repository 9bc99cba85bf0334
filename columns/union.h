/*
 * Unions: stores that are read as one. For the layers above only: exported, but
 * not installed.
 *
 * A family of a union has the rows of the families of that name in all its
 * members, in key order. A key should be in one member: of a key that several
 * have, finds return each row, and gets the first.
 *
 * Members may be replaced at any time. What is under way, such as an open
 * cursor, goes on with those that there were, and holds them open: to close one
 * of them fails with BUSY.
 *
 * A member whose path has words after a blank, and does not begin with a slash,
 * stands for these: partitions, such as FAMILY/0017 or FAMILY.1/0017, of that
 * family, and of families with a name that begins so, and then has a dot.
 *
 * Life: colander_union_open -> colander_union_replace, ... ->
 *       colander_store_close
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef COLANDER_COLUMNS_UNION_H
#define COLANDER_COLUMNS_UNION_H

#include "columns/columns.h"

/* Opens a union of stores, which are borrowed until they are replaced. `name`
 * (copied) is what messages call it. A snapshot of it has one of each member;
 * they are not of one moment. */
COLANDER_API COLANDER_CHECKED enum colander_code
colander_union_open(const char *name, struct colander_store *const *members,
                    size_t count, struct colander_store **store,
                    struct colander_error *err);

/* Replaces the members. Calls that began before hold those open until they end,
 * which is not waited for: closing one fails with BUSY until then. A snapshot
 * that was taken before is missing for members that are new: these are read as
 * they are. After a failure the members are those of before. */
COLANDER_API COLANDER_CHECKED enum colander_code
colander_union_replace(struct colander_store *store,
                       struct colander_store *const *members, size_t count,
                       struct colander_error *err);

/* What a member may have of a family, under keys of a range (NULL: any). */
enum colander_member_use {
    COLANDER_MEMBER_READ,    /* rows, perhaps */
    COLANDER_MEMBER_UNASKED, /* none under these keys */
    COLANDER_MEMBER_OTHER,   /* it is of other families */
};

typedef enum colander_member_use
colander_choose_member(void *context, const char *path, const char *family,
                       const struct colander_key_range *keys);

/* Sets what decides which members are read; it gets their paths. Any thread
 * calls it. To be set before the union is used. */
COLANDER_API void colander_union_choose(struct colander_store *store,
                                        colander_choose_member *choose,
                                        void *context);

/*
 * Opens a part of a union, to be closed before that: the members whose paths
 * end with these texts (copied), each of which has a slash before it. What it
 * is asked fails with BUSY, and names one, while some of them are missing.
 */
COLANDER_API COLANDER_CHECKED enum colander_code
colander_union_open_part(struct colander_store *whole, const char *const *ends,
                         size_t count, struct colander_store **part,
                         struct colander_error *err);

/* Returns whether the store is a union, or a view or a part of one. */
COLANDER_API bool colander_store_is_union(const struct colander_store *store);

/* How a view differs from its union. */
struct colander_union_view {
    bool
        is_partial; /* it has what can be read: a member that fails with BUSY is
                      * left out, from then on if a find has begun */
    bool is_fixed;  /* it fails with BUSY once members were replaced by others
                      * after it was opened */
};

/* Opens a view of a union, to be closed before that. */
COLANDER_API COLANDER_CHECKED enum colander_code colander_union_open_view(
    struct colander_store *whole, const struct colander_union_view *how,
    struct colander_store **view, struct colander_error *err);

/* Lists what the view has left out so far: for what these members stand, or
 * their paths. Release the names. */
COLANDER_API COLANDER_CHECKED enum colander_code
colander_union_missing(struct colander_store *view,
                       struct colander_names *names,
                       struct colander_error *err);

#endif
