/*
 * The members of a union, and what is asked of each.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef COLUMNS_UNION_UNION_MEMBERS_H
#define COLUMNS_UNION_UNION_MEMBERS_H

#include "columns/union.h"
#include "columns/union/union_missing.h"

#include <pthread.h>

/* The stores that a union had at some time. */
struct union_members {
    size_t users; /* calls that use it now; under the mutex of the union */
    struct union_members *whole; /* these are a part of it; NULL: all */
    size_t count;
    struct colander_store *stores[];
};

struct unified {
    pthread_mutex_t mutex;
    pthread_cond_t left; /* the last user of some members has */
    struct union_members *members;
    colander_choose_member *choose; /* NULL: all members are read */
    void *choose_context;
    uint64_t change_count; /* how often there were others */
    char name[];
};

/* The context of a source: a union, or a view or a part of it. */
struct union_view {
    struct unified *unified;
    bool is_whole; /* it owns the union */
    struct colander_union_view how;
    uint64_t change_count; /* of the union when it was opened */
    struct union_missing missing;
    bool is_part; /* only what ends so is in it: */
    size_t end_count;
    char *ends[];
};

/* Creates members of these stores; NULL: they are set later. NULL without
 * memory. */
struct union_members *union_members_create(struct colander_store *const *stores,
                                           size_t count,
                                           struct colander_error *err);

/* Sets *members to those that a view has now, until they are left. On failure
 * there are none. */
COLANDER_CHECKED enum colander_code
union_members_take(const struct union_view *view,
                   struct union_members **members, struct colander_error *err);

void union_members_leave(const struct union_view *view,
                         struct union_members *members);

/* Returns what a member may have of a family. */
enum colander_member_use union_use_of(const struct union_view *view,
                                      const struct colander_store *member,
                                      const char *family,
                                      const struct colander_key_range *keys);

/* The families of all members, which hold these open. So members are left
 * before any is asked, and can be replaced while one does not answer. */
struct union_families {
    struct colander_family **items;
    size_t count;
    size_t unasked; /* other members, which cannot have the keys */
};

/* A family of which only the store is used. */
extern const char union_any_family[];

/* Opens them. On failure there are none. A member that has no rows of the
 * family is left out. */
COLANDER_CHECKED enum colander_code
union_families_open(const struct union_view *view, const char *name,
                    const struct colander_key_range *keys,
                    struct union_families *families,
                    struct colander_error *err);

void union_families_close(struct union_families *families);

/* What is done with the family of one member. */
typedef enum colander_code union_visit_family(void *context,
                                              struct colander_family *family,
                                              struct colander_error *err);

/* Calls `visit` for the family of each member, until it fails or *is_enough.
 * A failure names the member. */
COLANDER_CHECKED enum colander_code
union_visit(const struct union_view *view, const char *name,
            union_visit_family *visit, void *context, const bool *is_enough,
            struct colander_error *err);

#endif
