/*
 * Queries as bytes, so that one process can ask another. For the layers above
 * only: exported, but not installed.
 *
 * The bytes are one msgpack map, with the version of their format. They have
 * the predicate, the key range, the paths, the limit and the options of a
 * query, but neither its snapshot, its thread_count nor its functions.
 *
 * Bytes from elsewhere are not trusted. The limits of limits.h apply, and the
 * memory for a decoded query is bounded by them and the size of the bytes.
 *
 * Bytes:  columns/FORMAT.md, "Queries"
 * Life:   colander_query_decode -> colander_decoded_query_get ->
 *         colander_decoded_query_destroy
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef COLANDER_COLUMNS_QUERY_BYTES_H
#define COLANDER_COLUMNS_QUERY_BYTES_H

#include "columns/columns.h"

/* Appends the query; NULL is every row. Fails with INVALID if a path is not
 * one, with LIMIT if the query has more than COLANDER_ROW_SIZE_MAX bytes or
 * COLANDER_ROW_NAMES_MAX paths. After a failure nothing is appended. */
COLANDER_API COLANDER_CHECKED enum colander_code
colander_query_encode(const struct colander_query *query,
                      struct colander_buffer *bytes,
                      struct colander_error *err);

/* A query that owns its predicate, paths and keys. */
struct colander_decoded_query;

/* Decodes all of the bytes, which are needed no longer then. Fails with INVALID
 * for another version and for anything that encoding never writes, with LIMIT
 * for what no query may have, with NO_MEMORY. On failure *decoded is NULL. */
COLANDER_API COLANDER_CHECKED enum colander_code
colander_query_decode(struct colander_slice bytes,
                      struct colander_decoded_query **decoded,
                      struct colander_error *err);

/* Returns the query, borrowed. A copy of the struct can get a snapshot and a
 * thread_count, and borrows the rest. */
COLANDER_API const struct colander_query *
colander_decoded_query_get(const struct colander_decoded_query *decoded);

/* Frees the query. NULL is allowed. */
COLANDER_API void
colander_decoded_query_destroy(struct colander_decoded_query *decoded);

#endif
