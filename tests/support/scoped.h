/*
 * Locals of tests that are released at the end of their block, in reverse
 * order:
 *
 *     SCOPED_FAMILY family = fixture_family(fixture, "rows");
 *     SCOPED_BUFFER key = text_key("k");
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef TESTS_SUPPORT_SCOPED_H
#define TESTS_SUPPORT_SCOPED_H

#include "columns/bulk.h"
#include "columns/columns.h"
#include "core/engine.h"
#include "loading/load.h"

#include <stdlib.h>
#include <string.h>

/* A pointer, or NULL, that `release` takes. */
#define SCOPED_DEFINE(type, release)                                           \
    static inline void scoped_##release(__typeof__(type) **pointer)            \
    {                                                                          \
        release(*pointer);                                                     \
    }

SCOPED_DEFINE(struct colander_batch, colander_batch_destroy)
SCOPED_DEFINE(struct colander_bulk, colander_bulk_destroy)
SCOPED_DEFINE(struct colander_cursor, colander_cursor_close)
SCOPED_DEFINE(struct colander_family, colander_family_close)
SCOPED_DEFINE(struct colander_matches, colander_matches_destroy)
SCOPED_DEFINE(struct colander_predicate, colander_predicate_destroy)
SCOPED_DEFINE(struct colander_row_builder, colander_row_builder_destroy)
SCOPED_DEFINE(struct colander_schema, colander_schema_close)
SCOPED_DEFINE(struct colander_snapshot, colander_snapshot_release)
SCOPED_DEFINE(struct engine_batch, engine_batch_destroy)
SCOPED_DEFINE(struct engine_cursor, engine_cursor_close)

#define SCOPED(release) __attribute__((cleanup(release)))

/* A pointer, or NULL, that free takes. */
#define SCOPED_MEMORY SCOPED(scoped_free)

static inline void
scoped_free(void *pointer)
{
    void *memory;

    memcpy(&memory, pointer, sizeof(memory));
    free(memory);
}

#define SCOPED_BATCH                                                           \
    SCOPED(scoped_colander_batch_destroy) struct colander_batch *
#define SCOPED_BUFFER SCOPED(colander_buffer_release) struct colander_buffer
#define SCOPED_BUILDER                                                         \
    SCOPED(scoped_colander_row_builder_destroy) struct colander_row_builder *
#define SCOPED_BULK SCOPED(scoped_colander_bulk_destroy) struct colander_bulk *
#define SCOPED_CURSOR                                                          \
    SCOPED(scoped_colander_cursor_close) struct colander_cursor *
#define SCOPED_ENGINE_BATCH                                                    \
    SCOPED(scoped_engine_batch_destroy) struct engine_batch *
#define SCOPED_ENGINE_CURSOR                                                   \
    SCOPED(scoped_engine_cursor_close) struct engine_cursor *
#define SCOPED_FAMILY                                                          \
    SCOPED(scoped_colander_family_close) struct colander_family *
#define SCOPED_MATCHES                                                         \
    SCOPED(scoped_colander_matches_destroy) struct colander_matches *
#define SCOPED_PREDICATE                                                       \
    SCOPED(scoped_colander_predicate_destroy) struct colander_predicate *
#define SCOPED_SCHEMA                                                          \
    SCOPED(scoped_colander_schema_close) struct colander_schema *
#define SCOPED_SNAPSHOT                                                        \
    SCOPED(scoped_colander_snapshot_release) struct colander_snapshot *

#endif
