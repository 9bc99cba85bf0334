/*
 * Bulk builds: sorted rows turned into SST files, by several threads, each with
 * a range of the keys.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef COLANDER_COLUMNS_BULK_BULK_BUILD_H
#define COLANDER_COLUMNS_BULK_BULK_BUILD_H

#include "columns/bulk/row_merge.h"
#include "core/bulk_files.h"
#include "core/sst.h"

#define BULK_THREADS_MAX 4

/* A build. Pointers are borrowed until it is over. */
struct bulk_build {
    struct bulk_files *files;
    struct row_sources sources;
    const struct row_file *kept; /* files that stay, in the order of their */
    size_t kept_count;           /* keys; rows belong between them */
    uint64_t sst_size;
    size_t thread_count; /* BULK_THREADS_MAX at most */
    size_t memory;       /* for buffers */
    const atomic_bool *is_cancelled;
    _Atomic(uint64_t) *passed; /* rows of the sources that are done */
    _Atomic(uint64_t) built;   /* rows in SST files */
};

/* Builds all files. On failure some may exist. Fails with CANCELLED after
 * `is_cancelled` is set. */
COLANDER_CHECKED enum colander_code bulk_build(struct bulk_build *build,
                                               struct colander_error *err);

#endif
