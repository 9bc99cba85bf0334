/*
 * The newest checkpoints of a cluster, read where they are, as one store: for
 * when no node answers.
 *
 * Life: cluster_store_open -> the store is read -> cluster_store_close
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef SHELL_CLUSTER_STORE_H
#define SHELL_CLUSTER_STORE_H

#include "cluster/cluster.h"
#include "cluster/definition.h"

struct cluster_store;

/* Opens the checkpoints of all families, or of those that `family` is about
 * (NULL: of all). A partition without a checkpoint has no rows. One whose
 * checkpoints are all damaged is an error, and so is one of a later generation
 * without all rows of that before. `name` is what messages call the store. */
COLANDER_CHECKED enum colander_code
cluster_store_open(struct cluster *cluster, const char *name,
                   const char *family, struct cluster_store **store,
                   struct colander_error *err);

/* Returns the store, borrowed until close. */
struct colander_store *cluster_store_get(const struct cluster_store *store);

/* Appends which rows are missing: from which offset of each partition on. */
COLANDER_CHECKED enum colander_code
cluster_store_describe(const struct cluster_store *store,
                       struct colander_buffer *text,
                       struct colander_error *err);

/* What was read so far, of all. */
struct cluster_reads cluster_store_reads(const struct cluster_store *store);

/* NULL is allowed. */
COLANDER_CHECKED enum colander_code
cluster_store_close(struct cluster_store *store, struct colander_error *err);

#endif
