/*
 * Finds: merges the candidates of a query from streams, in order of keys.
 *
 * A file may vanish after it was seen in a view and before it is read, because
 * a compaction has replaced it. Then the find makes a new plan for the same
 * snapshot, from a new view, and continues after the last key that it returned.
 * Because keys come in order, this is exact.
 *
 * SPDX-License-Identifier: MIT
 */
#include "filters/find.h"
#include "core/array.h"
#include "core/heap.h"
#include "core/zeroed.h"
#include "filters/direct.h"
#include "filters/find/plan.h"
#include "filters/live.h"

#include <stdlib.h>
#include <unistd.h>

/* A file that is missing in this many views is lost, not being replaced. */
#define PLANS_MAX 64

/* A lot holds about as many bytes of rows, and no more than this part of the
 * cache. Others are read again. */
#define LOT_BYTES ((size_t)4 << 20)
#define LOT_PART_OF_CACHE 8

/* The row of a key, if a stream has read it directly. */
struct lot_row {
    const struct sst_file *file; /* of the view; NULL: not known */
    uint64_t number;             /* of the row in the file */
    uint32_t place;              /* of the file in the levels */
    uint64_t hash;               /* of the key */
    struct direct_row row;
};

struct candidates {
    struct stream_find find;
    struct candidate_request request; /* a copy */
    struct plan plan;
    uint32_t plan_count;
    size_t heap_count;            /* the first plan.streams, which have a key */
    struct colander_buffer bound; /* start of a new plan */

    /* The current lot of keys, after the last key of the lot before. */
    struct colander_buffer keys;
    size_t last_size; /* of the last key, which is at their end */
    bool has_last;
    struct lot_row *rows; /* of the keys */
    size_t row_count;
    size_t row_capacity;
    size_t held_bytes; /* of blocks, */
    size_t held_max;   /* and about the most */
};

/* ----------------------------------------------------------------- heap --- */

static bool
is_before(const void *a, const void *b, const void *context)
{
    const struct candidates *candidates = context;
    const struct stream *const *one = a;
    const struct stream *const *other = b;
    int order = colander_slice_compare((*one)->key, (*other)->key);

    return candidates->request.is_reverse ? order > 0 : order < 0;
}

/* Moves stream `place` out of the heap. */
static void
remove_stream(struct candidates *candidates, size_t place)
{
    struct stream **heap = candidates->plan.streams;
    struct stream *removed = heap[place];

    heap[place] = heap[--candidates->heap_count];
    heap[candidates->heap_count] = removed;
}

/* Advances the stream at the top, and removes it at its end. */
static enum colander_code
step_top(struct candidates *candidates, struct colander_error *err)
{
    struct stream *top = candidates->plan.streams[0];
    enum colander_code code = stream_next(top, err);

    if (code != COLANDER_OK)
        return code;
    if (top->key.data == NULL)
        remove_stream(candidates, 0);
    heap_sift_down(candidates->plan.streams, sizeof(struct stream *),
                   candidates->heap_count, 0, is_before, candidates);
    return COLANDER_OK;
}

/* Fetches the first rows of all streams, so that misses overlap. */
static void
fetch_rows(const struct candidates *candidates)
{
    const struct plan *plan = &candidates->plan;

    for (unsigned step = 0; step < DIRECT_STEPS; step++) {
        for (size_t i = 0; i < plan->stream_count; i++) {
            if (plan->streams[i]->fetch != NULL)
                plan->streams[i]->fetch(plan->streams[i], step);
        }
    }
}

static enum colander_code
fill_heap(struct candidates *candidates, struct colander_error *err)
{
    const struct plan *plan = &candidates->plan;

    fetch_rows(candidates);
    candidates->heap_count = plan->stream_count;
    for (size_t i = plan->stream_count; i-- > 0;) {
        enum colander_code code = stream_next(plan->streams[i], err);

        if (code != COLANDER_OK)
            return code;
        if (plan->streams[i]->key.data == NULL)
            remove_stream(candidates, i);
    }
    heap_build(plan->streams, sizeof(struct stream *), candidates->heap_count,
               is_before, candidates);
    return COLANDER_OK;
}

/* Returns the last key returned. Requires that there is one. */
static struct colander_slice
last_key(const struct candidates *candidates)
{
    const struct colander_buffer *keys = &candidates->keys;

    return colander_slice_of(keys->data + keys->size - candidates->last_size,
                             candidates->last_size);
}

/* ---------------------------------------------------------------- plans --- */

static void
drop_plan(struct candidates *candidates)
{
    plan_release(&candidates->plan);
    candidates->heap_count = 0;
}

/* Sets the start of the next plan: after the last key returned. */
static enum colander_code
set_bounds(struct candidates *candidates, struct colander_error *err)
{
    struct stream_find *find = &candidates->find;
    struct colander_slice last;
    enum colander_code code;

    find->from = candidates->request.from;
    find->until = candidates->request.until;
    if (!candidates->has_last)
        return COLANDER_OK;
    last = last_key(candidates);
    colander_buffer_clear(&candidates->bound);
    code =
        colander_buffer_append(&candidates->bound, last.data, last.size, err);
    if (code == COLANDER_OK && !candidates->request.is_reverse)
        code = colander_buffer_append(&candidates->bound, "", 1, err);
    if (candidates->request.is_reverse)
        find->until = colander_buffer_slice(&candidates->bound);
    else
        find->from = colander_buffer_slice(&candidates->bound);
    return code;
}

/* Returns whether the filter file is missing. It is also missing if its SST is
 * gone; then doubting it has no effect. */
static bool
is_filter_lost(struct filters *filters, const struct sst_file *file)
{
    char path[FILTER_PATH_MAX];

    return filter_path_of_sst(&filters->names, file->number, file->size,
                              path) &&
           access(path, F_OK) != 0;
}

/* Releases the rows of the lot. */
static void
release_rows(struct candidates *candidates)
{
    for (size_t i = 0; i < candidates->row_count; i++)
        direct_release(candidates->find.filters, &candidates->rows[i].row);
    candidates->row_count = 0;
    candidates->held_bytes = 0;
}

/* Returns whether another plan may help: a file was replaced, or its filter is
 * unusable and doubted from now on. */
static bool
can_plan_again(struct candidates *candidates, enum colander_code code,
               const struct colander_error *err)
{
    struct filters *filters = candidates->find.filters;
    const bool is_gone = code == COLANDER_NOT_FOUND;

    if (candidates->plan_count >= PLANS_MAX)
        return false;
    if (!is_gone && code != COLANDER_CORRUPT)
        return false;
    /* Is the filter damaged or the SST? A read of the SST without it shows. */
    for (size_t i = 0; i < candidates->plan.stream_count; i++) {
        struct stream *stream = candidates->plan.streams[i];

        if (!stream->has_failed || stream->file == NULL ||
            stream->file->filter == NULL)
            continue;
        if (stream->is_sst_damaged)
            return false;
        if (!is_gone || is_filter_lost(filters, stream->file)) {
            filters_doubt(filters, stream->file, err);
            return true;
        }
    }
    return is_gone;
}

/* Makes plans until one succeeds. */
static enum colander_code
make_plan(struct candidates *candidates, bool may_scan,
          struct colander_error *err)
{
    struct colander_error failure;
    enum colander_code code;

    do {
        drop_plan(candidates);
        candidates->plan_count++;
        code = set_bounds(candidates, &failure);
        if (code == COLANDER_OK)
            code = plan_make(&candidates->plan, &candidates->find, may_scan,
                             &failure);
        if (code == COLANDER_OK && !candidates->plan.is_scan)
            code = fill_heap(candidates, &failure);
    } while (code != COLANDER_OK && can_plan_again(candidates, code, &failure));
    if (code != COLANDER_OK && err != NULL)
        *err = failure;
    return code;
}

enum colander_code
find_candidates_open(void *context, const struct candidate_request *request,
                     struct candidates **candidates, struct colander_error *err)
{
    struct filters *filters = context;
    struct candidates *created;
    enum colander_code code;

    *candidates = NULL;
    if (atomic_load(&filters->registry.is_blind)) {
        request->explain->reason =
            "a file could not be listed for lack of memory";
        return COLANDER_OK;
    }
    created = zeroed(sizeof(*created));
    if (created == NULL)
        return COLANDER_FAIL(err, COLANDER_NO_MEMORY, "no memory for a find");
    created->request = *request;
    created->find.filters = filters;
    created->find.request = &created->request;
    created->held_max =
        block_cache_capacity(filters->commons->rows) / LOT_PART_OF_CACHE;
    if (created->held_max > LOT_BYTES)
        created->held_max = LOT_BYTES;
    code = make_plan(created, true, err);
    if (code != COLANDER_OK || created->plan.is_scan) {
        find_candidates_close(created);
        return code;
    }
    *candidates = created;
    return COLANDER_OK;
}

void
find_candidates_close(struct candidates *candidates)
{
    if (candidates == NULL)
        return;
    release_rows(candidates);
    drop_plan(candidates);
    free(candidates->rows);
    colander_buffer_release(&candidates->bound);
    colander_buffer_release(&candidates->keys);
    free(candidates);
}

/* ----------------------------------------------------------------- next --- */

/* Keeps only the last key of the lot before, and none of its rows. */
static void
begin_lot(struct candidates *candidates)
{
    struct colander_buffer *keys = &candidates->keys;

    if (candidates->has_last)
        memmove(keys->data, last_key(candidates).data, candidates->last_size);
    keys->size = candidates->last_size;
    release_rows(candidates);
}

/* Takes the row that the top stream has read, if any. Whether it is the newest
 * will be asked once the lot is complete: what that reads is fetched. */
static struct lot_row
take_row(struct candidates *candidates)
{
    struct stream *stream = candidates->plan.streams[0];
    struct lot_row taken = {.place = LEVELS_NONE};

    if (stream->row.block == NULL)
        return taken;
    taken.file = stream->file;
    taken.number = stream->number;
    taken.place = stream->place;
    taken.hash = engine_key_hash(stream->key);
    recent_fetch_key(candidates->plan.recent, taken.hash);
    if (candidates->held_bytes < candidates->held_max) {
        taken.row = stream->row;
        candidates->held_bytes += stream->row.block->bytes.size;
        stream->row.block = NULL;
    }
    return taken;
}

static enum colander_code
add_key(struct candidates *candidates, struct candidate *found,
        struct colander_error *err)
{
    const struct colander_slice key = candidates->plan.streams[0]->key;
    const size_t index = candidates->row_count;
    enum colander_code code =
        colander_buffer_append(&candidates->keys, key.data, key.size, err);

    if (code != COLANDER_OK)
        return code;
    candidates->has_last = true;
    candidates->last_size = key.size;
    found[index].key.size = key.size;
    found[index].index = (uint32_t)index;
    candidates->rows[index] = take_row(candidates);
    candidates->row_count++;
    return COLANDER_OK;
}

/* The last key was found again: the row that is searched first counts. */
static void
change_row(struct candidates *candidates)
{
    const struct stream *stream = candidates->plan.streams[0];
    struct lot_row *row;

    if (candidates->row_count == 0) /* it is of the lot before */
        return;
    row = &candidates->rows[candidates->row_count - 1];
    if (stream->row.block == NULL || stream->place >= row->place)
        return;
    direct_release(candidates->find.filters, &row->row);
    *row = take_row(candidates);
}

/* Returns how the top key compares with the last one, in the order of the find.
 * It is before it if a stream reads some rows again, which it has given. */
static int
order_after_last(const struct candidates *candidates)
{
    int order = 1;

    if (candidates->has_last)
        order = colander_slice_compare(candidates->plan.streams[0]->key,
                                       last_key(candidates));
    return candidates->has_last && candidates->request.is_reverse ? -order
                                                                  : order;
}

/* Adds keys until there are `max`. Sets their sizes only, since their bytes may
 * still move. */
static enum colander_code
collect_lot(struct candidates *candidates, struct candidate *found, size_t max,
            struct colander_error *err)
{
    enum colander_code code = COLANDER_OK;

    while (code == COLANDER_OK && candidates->row_count < max &&
           candidates->heap_count > 0) {
        const bool is_key = !candidates->plan.streams[0]->is_put_off;
        const int order = is_key ? order_after_last(candidates) : -1;

        if (order == 0)
            change_row(candidates);
        else if (order > 0)
            code = add_key(candidates, found, err);
        if (code == COLANDER_OK)
            code = step_top(candidates, err);
    }
    return code;
}

/* Makes another plan after a failure. Files of the last one are not known any
 * more. */
static enum colander_code
plan_again(struct candidates *candidates, struct colander_error *err)
{
    for (size_t i = 0; i < candidates->row_count; i++) {
        direct_release(candidates->find.filters, &candidates->rows[i].row);
        candidates->rows[i].file = NULL;
    }
    return make_plan(candidates, false, err);
}

enum colander_code
find_candidates_next(struct candidates *candidates, struct candidate *found,
                     size_t max, size_t *count, struct colander_error *err)
{
    size_t at = candidates->last_size;
    struct colander_error failure;
    enum colander_code code;

    *count = 0;
    begin_lot(candidates);
    code = array_reserve(&candidates->rows, 0, &candidates->row_capacity, max,
                         &failure);
    if (code == COLANDER_OK)
        code = collect_lot(candidates, found, max, &failure);
    while (code != COLANDER_OK && can_plan_again(candidates, code, &failure)) {
        code = plan_again(candidates, &failure);
        if (code == COLANDER_OK)
            code = collect_lot(candidates, found, max, &failure);
    }
    if (code != COLANDER_OK) {
        if (err != NULL)
            *err = failure;
        return code;
    }
    candidates->plan_count = 0; /* the find made progress */
    *count = candidates->row_count;
    for (size_t i = 0; i < *count; i++) {
        found[i].key.data = candidates->keys.data + at;
        at += found[i].key.size;
    }
    return COLANDER_OK;
}

/* ----------------------------------------------------------------- read --- */

/* Fills in row `index` of `rows`, if it is certain. */
static enum colander_code
read_row(const struct candidates *candidates, const struct candidate *found,
         size_t index, struct candidate_rows *rows, struct colander_error *err)
{
    const struct plan *plan = &candidates->plan;
    const struct lot_row *known = &candidates->rows[found->index];
    struct direct_row row = known->row;
    enum colander_code code = COLANDER_OK;

    rows->rows[index] = colander_slice_of(NULL, 0);
    rows->held[index] = NULL;
    if (known->file == NULL ||
        !direct_is_newest(plan->recent, plan->levels, known->place, found->key,
                          known->hash))
        return COLANDER_OK;
    if (row.block == NULL) {
        struct direct_place place = direct_place_of(known->file, known->number);

        code = direct_read(candidates->find.filters, known->file, &place,
                           snapshot_sequence(candidates->request.snapshot),
                           &row, err);
        rows->held[index] = row.block;
        rows->held_sizes[index] =
            row.block == NULL ? 0 : (uint32_t)row.block->bytes.size;
    }
    if (code == COLANDER_OK && row.block != NULL)
        rows->rows[index] = row.value;
    return code;
}

enum colander_code
find_candidates_read(struct candidates *candidates,
                     const struct candidate *found, size_t count,
                     struct candidate_rows *rows, struct colander_error *err)
{
    enum colander_code code = COLANDER_OK;

    rows->count = 0;
    while (code == COLANDER_OK && rows->count < count) {
        code =
            read_row(candidates, &found[rows->count], rows->count, rows, err);
        rows->count++;
    }
    return code;
}

void
find_candidates_release(struct candidates *candidates,
                        struct candidate_rows *rows)
{
    for (size_t i = 0; i < rows->count; i++)
        block_cache_release(candidates->find.filters->commons->rows,
                            rows->held[i]);
    rows->count = 0;
}
