/*
 * Finds of the first rows in the order of a column.
 *
 * The layer above knows a value within which about as many rows lie as are
 * wanted. A find of all rows up to it is exact, whatever the layer knows. If
 * these are not enough (some were deleted, or are not wanted), the next find
 * goes further, in the end to all rows.
 *
 * Many rows may have the same value. So after a few times as many rows as are
 * wanted, a find continues with those that come before the last one held.
 *
 * SPDX-License-Identifier: MIT
 */
#include "columns/candidates.h"
#include "columns/finds/find.h"
#include "columns/finds/ordered.h"

#define WANTED_GROWTH 16
#define WANTED_MORE 8 /* one for this many, as a bound is not exact */

/* Rows to be added before a find may continue with fewer. */
#define SATED_ROWS 64
#define SATED_SHARE 4
#define SATED_FIRST 32 /* more than wanted; many rows may have one value */

/* What a predicate takes that is combined with the one up to the bound. */
#define NODES_MORE 2

static void
release_condition(struct ordered_finds *finds)
{
    if (finds->within != NULL)
        finds->within->next = NULL; /* that of the query */
    colander_predicate_destroy(finds->within);
    finds->within = NULL;
}

void
ordered_finds_release(struct ordered_finds *finds)
{
    release_condition(finds);
    colander_buffer_release(&finds->bytes);
    colander_buffer_release(&finds->path);
    colander_buffer_release(&finds->last_key);
    colander_snapshot_release(finds->snapshot);
    finds->snapshot = NULL;
}

/* --------------------------------------------------------------- adding --- */

static uint64_t
rows_to_sate(uint64_t limit)
{
    return SATED_ROWS + SATED_SHARE * limit;
}

bool
ordered_finds_have(const struct ordered_finds *finds, struct colander_slice key)
{
    return finds->last_key.size > 0 &&
           colander_slice_equal(key, colander_buffer_slice(&finds->last_key));
}

enum colander_code
ordered_finds_note(struct colander_ordered *ordered, struct colander_slice key,
                   struct colander_error *err)
{
    struct ordered_finds *finds = ordered_finds_of(ordered);

    if (finds->state == FINDS_BOUNDED && --finds->left == 0) {
        finds->left = rows_to_sate(ordered_order(ordered)->limit);
        if (ordered_last(ordered) != NULL)
            finds->state = FINDS_SATED;
    }
    if (finds->state != FINDS_SATED)
        return COLANDER_OK;
    colander_buffer_clear(&finds->last_key);
    return colander_buffer_append(&finds->last_key, key.data, key.size, err);
}

/* -------------------------------------------------------------- finding --- */

/* With several values at the path, the first one decides, but a condition asks
 * for any. */
static bool
has_elements(const struct path *path)
{
    for (size_t i = 0; i < path->count; i++) {
        if (path->steps[i].is_element)
            return true;
    }
    return false;
}

/* Whether the predicate is such that only a scan can answer it: it is met by
 * other rows or by not all of nothing, which no filter can look for. */
static bool
asks_for_scan(const struct colander_predicate *where)
{
    const struct colander_predicate *operand =
        where != NULL && where->kind == PREDICATE_ANY_OF ? where->first : NULL;

    for (; operand != NULL; operand = operand->next) {
        if (operand->kind == PREDICATE_NOT &&
            operand->first->kind == PREDICATE_ALL_OF &&
            operand->first->first == NULL)
            return true;
    }
    return false;
}

/* Whether a bound is of use. */
static bool
may_bound(const struct colander_ordered *ordered,
          const struct colander_family *family,
          const struct colander_query *query)
{
    const struct colander_predicate *where = query->where;
    const uint64_t limit = ordered_order(ordered)->limit;

    return limit > 0 && limit < UINT64_MAX / WANTED_GROWTH &&
           query->limit == UINT64_MAX && family_may_bound(family) &&
           !has_elements(ordered_path(ordered)) && !asks_for_scan(where) &&
           (where == NULL ||
            (where->node_count <= COLANDER_PREDICATE_NODES_MAX - NODES_MORE &&
             where->values_total < COLANDER_PREDICATE_VALUES_MAX &&
             where->depth < COLANDER_PREDICATE_DEPTH_MAX));
}

/* Asks the layer above for a bound of the rows that are wanted. */
static enum colander_code
find_bound(struct colander_ordered *ordered, struct colander_family *family,
           bool *found, struct colander_error *err)
{
    struct ordered_finds *finds = ordered_finds_of(ordered);
    enum colander_code code;

    *found = false;
    colander_buffer_clear(&finds->path);
    code = path_append(&finds->path, ordered_path(ordered), err);
    if (code == COLANDER_OK)
        code = colander_buffer_append(&finds->path, "", 1, err);
    if (code != COLANDER_OK)
        return code;
    return colander_family_order_bound(
        family, (const char *)finds->path.data,
        ordered_order(ordered)->is_descending,
        finds->wanted + finds->wanted / WANTED_MORE, &finds->bytes,
        &finds->bound, found, err);
}

/* Narrows the query to rows up to the bound, or before `last`. */
static enum colander_code
narrow(struct colander_ordered *ordered, const struct colander_value *last,
       struct colander_query *query, struct colander_error *err)
{
    struct ordered_finds *finds = ordered_finds_of(ordered);
    const bool is_descending = ordered_order(ordered)->is_descending;
    const struct colander_predicate *where = query->where;

    finds->within =
        predicate_up_to((const char *)finds->path.data,
                        last == NULL ? is_descending ? COLANDER_GE : COLANDER_LE
                        : is_descending ? COLANDER_GT
                                        : COLANDER_LT,
                        last == NULL ? finds->bound : *last, err);
    if (finds->within == NULL)
        return err == NULL ? COLANDER_NO_MEMORY : err->code;
    query->where = finds->within;
    if (where == NULL)
        return COLANDER_OK;
    finds->within->next = (struct colander_predicate *)where;
    finds->both = (struct colander_predicate){
        .kind = PREDICATE_ALL_OF,
        .depth = 1 + where->depth,
        .node_count = NODES_MORE + where->node_count,
        .values_total = 1 + where->values_total,
        .first = finds->within,
    };
    query->where = &finds->both;
    return COLANDER_OK;
}

/* Whether no other row can come before those that are held: rows beyond the
 * bound come after all of them. */
static bool
is_settled(const struct colander_ordered *ordered,
           const struct ordered_finds *finds)
{
    return finds->state == FINDS_ALL ||
           (finds->state == FINDS_BOUNDED && ordered_last(ordered) != NULL);
}

/* Continues the last find with rows that come before the last one held. */
static enum colander_code
find_before_last(struct colander_ordered *ordered,
                 struct colander_family *family, struct colander_query *query,
                 struct colander_cursor **cursor, struct colander_error *err)
{
    struct ordered_finds *finds = ordered_finds_of(ordered);
    enum colander_code code;

    release_condition(finds);
    code = narrow(ordered, ordered_last(ordered), query, err);
    if (code == COLANDER_OK)
        code = family_find_some(family, query, finds->left, cursor, err);
    if (code == COLANDER_OK)
        code = colander_cursor_seek(
            *cursor, colander_buffer_slice(&finds->last_key), err);
    finds->state = FINDS_BOUNDED;
    return code;
}

/* Finds rows up to a bound that is further away than the last one. */
static enum colander_code
find_further(struct colander_ordered *ordered, struct colander_family *family,
             struct colander_query *query, struct colander_cursor **cursor,
             struct colander_error *err)
{
    struct ordered_finds *finds = ordered_finds_of(ordered);
    const uint64_t limit = ordered_order(ordered)->limit;
    enum colander_code code = COLANDER_OK;
    bool has_bound = false;

    ordered_clear(ordered);
    release_condition(finds);
    colander_buffer_clear(&finds->last_key);
    finds->left = SATED_FIRST + limit;
    finds->wanted =
        finds->state == FINDS_NONE ? limit : finds->wanted * WANTED_GROWTH;
    if (finds->wanted <= UINT64_MAX / WANTED_GROWTH &&
        may_bound(ordered, family, query))
        code = find_bound(ordered, family, &has_bound, err);
    finds->state = has_bound ? FINDS_BOUNDED : FINDS_ALL;
    if (code == COLANDER_OK && has_bound && query->snapshot == NULL) {
        code = colander_store_snapshot(family->store, &finds->snapshot, err);
        query->snapshot = finds->snapshot;
    }
    if (code == COLANDER_OK && has_bound)
        code = narrow(ordered, NULL, query, err);
    return code == COLANDER_OK
               ? family_find_some(family, query,
                                  has_bound ? finds->left : UINT64_MAX, cursor,
                                  err)
               : code;
}

enum colander_code
colander_ordered_find(struct colander_ordered *ordered,
                      struct colander_family *family,
                      const struct colander_query *given,
                      struct colander_cursor **cursor, bool *is_done,
                      struct colander_error *err)
{
    const struct ordered_finds *finds = ordered_finds_of(ordered);
    struct colander_explain before;
    struct colander_query query;
    enum colander_code code;
    bool is_next;

    *is_done = is_settled(ordered, finds) || ordered_order(ordered)->limit == 0;
    if (*is_done)
        return COLANDER_OK;
    is_next = *cursor != NULL;
    if (is_next)
        colander_cursor_explain(*cursor, &before);
    colander_cursor_close(*cursor);
    *cursor = NULL;
    code = query_accept(&query, given, err);
    if (code != COLANDER_OK)
        return code;
    if (finds->snapshot != NULL)
        query.snapshot = finds->snapshot;
    code = finds->state == FINDS_SATED
               ? find_before_last(ordered, family, &query, cursor, err)
               : find_further(ordered, family, &query, cursor, err);
    if (code != COLANDER_OK) {
        colander_cursor_close(*cursor);
        *cursor = NULL;
    } else if (is_next) {
        cursor_continue(*cursor, &before);
    }
    return code;
}
