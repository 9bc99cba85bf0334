/*
 * Locals of tests that are released at the end of their block, the last one
 * first:
 *
 *     SCOPED_FAMILY family = fixture_family(fixture, "rows");
 *     SCOPED_BUFFER key = text_key("k");
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef TESTS_SUPPORT_SCOPED_H
#define TESTS_SUPPORT_SCOPED_H

#include "columns/columns.h"

/* A pointer, or NULL, that `release` takes. */
#define SCOPED_DEFINE(type, release)                                           \
    static inline void scoped_##release(type **pointer)                        \
    {                                                                          \
        release(*pointer);                                                     \
    }

SCOPED_DEFINE(struct colander_batch, colander_batch_destroy)
SCOPED_DEFINE(struct colander_cursor, colander_cursor_close)
SCOPED_DEFINE(struct colander_family, colander_family_close)
SCOPED_DEFINE(struct colander_matches, colander_matches_destroy)
SCOPED_DEFINE(struct colander_predicate, colander_predicate_destroy)
SCOPED_DEFINE(struct colander_row_builder, colander_row_builder_destroy)
SCOPED_DEFINE(struct colander_snapshot, colander_snapshot_release)

#define SCOPED(release) __attribute__((cleanup(release)))

#define SCOPED_BATCH                                                           \
    SCOPED(scoped_colander_batch_destroy) struct colander_batch *
#define SCOPED_BUFFER SCOPED(colander_buffer_release) struct colander_buffer
#define SCOPED_BUILDER                                                         \
    SCOPED(scoped_colander_row_builder_destroy) struct colander_row_builder *
#define SCOPED_CURSOR                                                          \
    SCOPED(scoped_colander_cursor_close) struct colander_cursor *
#define SCOPED_FAMILY                                                          \
    SCOPED(scoped_colander_family_close) struct colander_family *
#define SCOPED_MATCHES                                                         \
    SCOPED(scoped_colander_matches_destroy) struct colander_matches *
#define SCOPED_PREDICATE                                                       \
    SCOPED(scoped_colander_predicate_destroy) struct colander_predicate *
#define SCOPED_SNAPSHOT                                                        \
    SCOPED(scoped_colander_snapshot_release) struct colander_snapshot *

#endif
