/*
 * The finds of a union: those of its members, merged by key.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef COLANDER_COLUMNS_UNION_FIND_H
#define COLANDER_COLUMNS_UNION_FIND_H

#include "columns/columns.h"

struct union_find;

/* Gets the stores that a find goes on without, as they fail with BUSY. */
struct union_losses {
    enum colander_code (*note)(void *context, const char *family,
                               const struct colander_store *store,
                               struct colander_error *err);
    void *context;
};

/* Begins a find in the family of each store. All are begun before the first one
 * is asked for a row. `losses` NULL: one that fails is the end. */
COLANDER_CHECKED enum colander_code
union_find_open(struct colander_store *const *stores, size_t count,
                const char *family, const struct colander_query *query,
                const struct union_losses *losses, struct union_find **find,
                struct colander_error *err);

/* Returns what a store stands for, with a blank before each; NULL: all that it
 * has. */
const char *union_member_parts(const struct colander_store *store);

/* Whether the family (NULL: any) has rows in the partition that a text begins
 * with. */
bool union_is_part_of(const char *part, const char *family);

/* Whether a store may have rows of the family. */
bool union_may_have(const struct colander_store *store, const char *family);

/* Puts what a store stands for, or its path, before the message. */
void union_name_member(const struct colander_store *store,
                       struct colander_error *err);

/* What follows are functions of a source (source.h). */

enum colander_code union_find_next(void *find, bool *is_row,
                                   struct colander_result *result,
                                   struct colander_error *err);

enum colander_code union_find_seek(void *find, struct colander_slice key,
                                   struct colander_error *err);

void union_find_cancel(void *find);

void union_find_pause(void *find, uint64_t time_us);

void union_find_explain(const void *find, struct colander_explain *explain);

void union_find_close(void *find);

#endif
