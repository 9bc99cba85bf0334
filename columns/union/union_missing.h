/*
 * What members of a union stand for, and which of it a view has left out.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef COLANDER_COLUMNS_UNION_MISSING_H
#define COLANDER_COLUMNS_UNION_MISSING_H

#include "columns/columns.h"

#include <pthread.h>

/* Names, in order. */
struct union_missing {
    pthread_mutex_t mutex;
    struct colander_names names;
};

/* Notes what of the family (NULL: of any) the store stands for. */
COLANDER_CHECKED enum colander_code
union_missing_note(struct union_missing *missing, const char *family,
                   const struct colander_store *store,
                   struct colander_error *err);

/* Copies the names. */
COLANDER_CHECKED enum colander_code
union_missing_list(struct union_missing *missing, struct colander_names *names,
                   struct colander_error *err);

/* Whether a store may have rows of the family. */
bool union_may_have(const struct colander_store *store, const char *family);

/* Puts what a store stands for, or its path, before the message. */
void union_name_member(const struct colander_store *store,
                       struct colander_error *err);

#endif
