/* See union_find.h. SPDX-License-Identifier: MIT */
#include "columns/union/union_find.h"

#include "columns/source.h"
#include "core/heap.h"

#include <stdlib.h>

/* The find in one member. */
struct part {
    struct colander_family *family;
    struct colander_cursor *cursor; /* NULL: it was lost when it began */
    bool is_lost;
    struct colander_result row; /* that is next, of a part in the heap */
};

struct union_find {
    bool is_reverse;
    size_t unasked;
    bool is_paused; /* a failure with BUSY may be only that */
    struct union_missing *missing;
    size_t part_count;
    struct part *parts;

    struct part **heap; /* parts with a row, the next one first */
    size_t heap_count;
    size_t started;    /* number of parts that were asked for a row */
    bool is_first_old; /* the row of the first was returned */
};

/* --------------------------------------------------------------- merge --- */

static bool
is_before(const void *a, const void *b, const void *context)
{
    const struct union_find *find = context;
    const struct part *first = *(const struct part *const *)a;
    const struct part *second = *(const struct part *const *)b;
    const int order = colander_slice_compare(first->row.key, second->row.key);

    if (order == 0)
        return first < second;
    return find->is_reverse ? order > 0 : order < 0;
}

/* Goes on without a part that has failed with `code`, if that is allowed. */
static enum colander_code
lose(struct union_find *find, struct part *part, enum colander_code code,
     struct colander_error *err)
{
    const struct colander_store *store = colander_family_store(part->family);

    if (code != COLANDER_BUSY || find->is_paused)
        return code;
    if (find->missing == NULL) {
        union_name_member(store, err);
        return code;
    }
    code = union_missing_note(find->missing, colander_family_name(part->family),
                              store, err);
    part->is_lost = code == COLANDER_OK; /* others may cancel its cursor */
    return code;
}

/* Asks a part for its next row. One that is lost has none. */
static enum colander_code
ask(struct union_find *find, struct part *part, bool *is_row,
    struct colander_error *err)
{
    enum colander_code code = COLANDER_OK;

    *is_row = false;
    if (!part->is_lost)
        code = colander_cursor_next(part->cursor, is_row, &part->row, err);
    *is_row = *is_row && code == COLANDER_OK;
    return code == COLANDER_OK ? COLANDER_OK : lose(find, part, code, err);
}

/* Asks each part for its first row. Continues where it was paused. */
static enum colander_code
fill_heap(struct union_find *find, struct colander_error *err)
{
    for (; find->started < find->part_count; find->started++) {
        struct part *part = &find->parts[find->started];
        bool is_row;
        const enum colander_code code = ask(find, part, &is_row, err);

        if (code != COLANDER_OK)
            return code;
        if (!is_row)
            continue;
        find->heap[find->heap_count++] = part;
        heap_sift_up(find->heap, sizeof(find->heap[0]), find->heap_count - 1,
                     is_before, find);
    }
    return COLANDER_OK;
}

/* Replaces the row that was returned. */
static enum colander_code
step_first(struct union_find *find, struct colander_error *err)
{
    bool is_row;
    struct part *first = find->heap[0];
    const enum colander_code code = ask(find, first, &is_row, err);

    if (code != COLANDER_OK)
        return code;
    find->is_first_old = false;
    if (!is_row)
        find->heap[0] = find->heap[--find->heap_count];
    heap_sift_down(find->heap, sizeof(find->heap[0]), find->heap_count, 0,
                   is_before, find);
    return COLANDER_OK;
}

enum colander_code
union_find_next(void *context, bool *is_row, struct colander_result *result,
                struct colander_error *err)
{
    struct union_find *find = context;
    enum colander_code code = COLANDER_OK;

    if (find->is_first_old)
        code = step_first(find, err);
    if (code == COLANDER_OK)
        code = fill_heap(find, err);
    *is_row = code == COLANDER_OK && find->heap_count > 0;
    if (*is_row) {
        *result = find->heap[0]->row;
        find->is_first_old = true;
    }
    return code;
}

/* ------------------------------------------------------------ the finds --- */

/* Frees families that no find has taken. */
static void
release_families(struct colander_family **families, size_t count)
{
    for (size_t i = 0; i < count; i++)
        colander_family_close(families[i]);
    free(families);
}

enum colander_code
union_find_open(struct colander_family **families, size_t count, size_t unasked,
                const struct colander_query *query,
                struct union_missing *missing, struct union_find **find,
                struct colander_error *err)
{
    struct union_find *created = calloc(1, sizeof(*created));
    enum colander_code code = COLANDER_OK;

    *find = created;
    if (created != NULL) {
        created->is_reverse = query->is_reverse;
        created->unasked = unasked;
        created->missing = missing;
        created->parts = calloc(count + 1, sizeof(*created->parts));
        created->heap = calloc(count + 1, sizeof(*created->heap));
    }
    if (created == NULL || created->parts == NULL || created->heap == NULL)
        code = COLANDER_FAIL(err, COLANDER_NO_MEMORY, "cannot start a find");
    for (size_t i = 0; i < count && code == COLANDER_OK; i++) {
        struct part *part = &created->parts[created->part_count++];

        part->family = families[i];
        families[i] = NULL;
        code = colander_family_find(part->family, query, &part->cursor, err);
        if (code == COLANDER_BUSY)
            code = lose(created, part, code, err);
        else if (code != COLANDER_OK)
            union_name_member(colander_family_store(part->family), err);
    }
    release_families(families, count);
    if (code != COLANDER_OK && created != NULL) {
        union_find_close(created);
        *find = NULL;
    }
    return code;
}

void
union_find_close(void *context)
{
    struct union_find *find = context;

    for (size_t i = 0; i < find->part_count; i++) {
        colander_cursor_close(find->parts[i].cursor);
        colander_family_close(find->parts[i].family);
    }
    free(find->heap);
    free(find->parts);
    free(find);
}

enum colander_code
union_find_seek(void *context, struct colander_slice key,
                struct colander_error *err)
{
    struct union_find *find = context;
    struct colander_buffer sought = COLANDER_BUFFER_EMPTY;
    enum colander_code code = COLANDER_OK;

    /* It may be the key of the row at which a part is. */
    if (key.size > 0)
        code = colander_buffer_append(&sought, key.data, key.size, err);
    find->heap_count = 0;
    find->started = 0;
    find->is_first_old = false;
    for (size_t i = 0; i < find->part_count && code == COLANDER_OK; i++) {
        struct part *part = &find->parts[i];

        if (part->is_lost)
            continue;
        code = colander_cursor_seek(part->cursor,
                                    colander_buffer_slice(&sought), err);
        if (code != COLANDER_OK)
            code = lose(find, part, code, err);
    }
    colander_buffer_release(&sought);
    return code;
}

void
union_find_cancel(void *context)
{
    struct union_find *find = context;

    for (size_t i = 0; i < find->part_count; i++) {
        if (find->parts[i].cursor != NULL)
            colander_cursor_cancel(find->parts[i].cursor);
    }
}

void
union_find_pause(void *context, uint64_t time_us)
{
    struct union_find *find = context;

    find->is_paused = time_us > 0;
    for (size_t i = 0; i < find->part_count; i++) {
        if (find->parts[i].cursor != NULL)
            colander_cursor_pause(find->parts[i].cursor, time_us);
    }
}

/* ------------------------------------------------------------- explain --- */

void
union_explain_begin(struct colander_explain *explain, size_t unasked)
{
    memset(explain, 0, sizeof(*explain));
    explain->store_count = unasked;
    explain->stores_unasked = unasked;
    explain->plan = COLANDER_PLAN_NOTHING;
    explain->reason = "the union has no members";
}

void
union_explain_add(struct colander_explain *explain,
                  const struct colander_explain *member)
{
    struct colander_explain one = *member;

    if (one.store_count == 0) {
        one.store_count = 1;
        one.stores_pruned = one.plan == COLANDER_PLAN_NOTHING;
    }
    colander_explain_add(explain, &one);
}

void
union_find_explain(const void *context, struct colander_explain *explain)
{
    const struct union_find *find = context;

    union_explain_begin(explain, find->unasked);
    for (size_t i = 0; i < find->part_count; i++) {
        struct colander_explain part;

        if (find->parts[i].cursor == NULL)
            continue;
        colander_cursor_explain(find->parts[i].cursor, &part);
        union_explain_add(explain, &part);
    }
}
