/*
 * Finds: the candidates of a question, merged from streams in order of keys.
 *
 * A file may vanish between being seen in a view and being read: a compaction
 * has replaced it. Then a new plan is made for the same snapshot, from a new
 * view, and goes on behind the last key that was given: order of keys makes
 * that exact.
 *
 * SPDX-License-Identifier: MIT
 */
#include "filters/context.h"
#include "filters/plan.h"

#include <stdlib.h>
#include <unistd.h>

/* A file that is gone in so many views is not being replaced, but lost. */
#define PLANS_MAX 64

struct candidates {
    struct stream_find find;
    struct candidate_request request; /* a copy */
    struct plan plan;
    uint32_t plan_count;
    size_t heap_count; /* of plan.streams: those with a key, which come first */
    struct colander_buffer bound; /* where a new plan begins */

    /* The keys of the lot under way, behind the last of the lot before. */
    struct colander_buffer keys;
    size_t last_size; /* of the key at their end, which was given last */
    bool has_last;
};

/* ----------------------------------------------------------------- heap --- */

static bool
is_before(const struct candidates *candidates, const struct stream *a,
          const struct stream *b)
{
    int order = colander_slice_compare(a->key, b->key);

    return candidates->request.is_reverse ? order > 0 : order < 0;
}

/* Moves the stream at the top to where it belongs. */
static void
sift_down(struct candidates *candidates, size_t place)
{
    struct stream **heap = candidates->plan.streams;

    for (;;) {
        size_t least = place;

        for (size_t child = 2 * place + 1;
             child <= 2 * place + 2 && child < candidates->heap_count;
             child++) {
            if (is_before(candidates, heap[child], heap[least]))
                least = child;
        }
        if (least == place)
            return;

        struct stream *moved = heap[place];
        heap[place] = heap[least];
        heap[least] = moved;
        place = least;
    }
}

/* Takes stream `place` off the heap, of which it need not be one yet. */
static void
remove_stream(struct candidates *candidates, size_t place)
{
    struct stream **heap = candidates->plan.streams;
    struct stream *removed = heap[place];

    heap[place] = heap[--candidates->heap_count];
    heap[candidates->heap_count] = removed;
}

/* Steps the stream at the top; it leaves at its end. */
static enum colander_code
step_top(struct candidates *candidates, struct colander_error *err)
{
    struct stream *top = candidates->plan.streams[0];
    enum colander_code code = stream_next(top, err);

    if (code != COLANDER_OK)
        return code;
    if (top->key.data == NULL)
        remove_stream(candidates, 0);
    sift_down(candidates, 0);
    return COLANDER_OK;
}

static enum colander_code
fill_heap(struct candidates *candidates, struct colander_error *err)
{
    const struct plan *plan = &candidates->plan;

    candidates->heap_count = plan->stream_count;
    for (size_t i = plan->stream_count; i-- > 0;) {
        enum colander_code code = stream_next(plan->streams[i], err);

        if (code != COLANDER_OK)
            return code;
        if (plan->streams[i]->key.data == NULL)
            remove_stream(candidates, i);
    }
    for (size_t i = candidates->heap_count; i-- > 0;)
        sift_down(candidates, i);
    return COLANDER_OK;
}

/* The key given last; there is one. */
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

/* Sets where the next plan begins: behind the key given last. */
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

/* Whether the filter is missing. It is, too, when its SST is gone; but then
 * doubting it does nothing. */
static bool
is_filter_lost(struct filters *filters, const struct sst_file *file)
{
    char path[FILTER_PATH_MAX];

    return filter_path_of_sst(filters, file->number, file->size, path) &&
           access(path, F_OK) != 0;
}

/* Whether another plan may help: a file was replaced, or its filter is no good
 * and doubted from now on. */
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
    /* of the filter, or of the SST? Reading the SST without it tells. */
    for (size_t i = 0; i < candidates->plan.stream_count; i++) {
        struct stream *stream = candidates->plan.streams[i];

        if (!stream->has_failed || stream->file == NULL ||
            stream->file->filter == NULL)
            continue;
        if (!is_gone || is_filter_lost(filters, stream->file)) {
            filters_doubt(filters, stream->file, err);
            return true;
        }
    }
    return is_gone;
}

/* Makes plans until one stands. */
static enum colander_code
make_plan(struct candidates *candidates, bool may_scan,
          struct colander_error *err)
{
    struct colander_error why;
    enum colander_code code;

    do {
        drop_plan(candidates);
        candidates->plan_count++;
        code = set_bounds(candidates, &why);
        if (code == COLANDER_OK)
            code =
                plan_make(&candidates->plan, &candidates->find, may_scan, &why);
        if (code == COLANDER_OK && !candidates->plan.is_scan)
            code = fill_heap(candidates, &why);
    } while (code != COLANDER_OK && can_plan_again(candidates, code, &why));
    if (code != COLANDER_OK && err != NULL)
        *err = why;
    return code;
}

enum colander_code
find_candidates_open(void *context, const struct candidate_request *request,
                     struct candidates **candidates, struct colander_error *err)
{
    struct filters *filters = context;
    struct candidates *made;
    enum colander_code code;

    *candidates = NULL;
    if (atomic_load(&filters->registry.is_blind)) {
        request->explain->reason = "memory was short to list a file";
        return COLANDER_OK;
    }
    made = calloc(1, sizeof(*made));
    if (made == NULL)
        return COLANDER_FAIL(err, COLANDER_NO_MEMORY, "no memory for a find");
    made->request = *request;
    made->find.filters = filters;
    made->find.request = &made->request;
    code = make_plan(made, true, err);
    if (code != COLANDER_OK || made->plan.is_scan) {
        find_candidates_close(made);
        return code;
    }
    *candidates = made;
    return COLANDER_OK;
}

void
find_candidates_close(struct candidates *candidates)
{
    if (candidates == NULL)
        return;
    drop_plan(candidates);
    colander_buffer_release(&candidates->bound);
    colander_buffer_release(&candidates->keys);
    free(candidates);
}

/* ----------------------------------------------------------------- next --- */

/* Of what was given before keeps the last key. */
static void
begin_lot(struct candidates *candidates)
{
    struct colander_buffer *keys = &candidates->keys;

    if (candidates->has_last)
        memmove(keys->data, last_key(candidates).data, candidates->last_size);
    keys->size = candidates->last_size;
}

/* Adds keys until there are `max`. They get their sizes; their bytes stay
 * where they are only once all are there. */
static enum colander_code
collect_lot(struct candidates *candidates, struct colander_slice *keys,
            size_t max, size_t *count, struct colander_error *err)
{
    enum colander_code code = COLANDER_OK;

    while (code == COLANDER_OK && *count < max && candidates->heap_count > 0) {
        const struct colander_slice key = candidates->plan.streams[0]->key;

        if (!candidates->has_last ||
            !colander_slice_equal(key, last_key(candidates))) {
            code = colander_buffer_append(&candidates->keys, key.data, key.size,
                                          err);
            if (code != COLANDER_OK)
                break;
            candidates->has_last = true;
            candidates->last_size = key.size;
            keys[(*count)++].size = key.size;
        }
        code = step_top(candidates, err);
    }
    return code;
}

enum colander_code
find_candidates_next(struct candidates *candidates, struct colander_slice *keys,
                     size_t max, size_t *count, struct colander_error *err)
{
    size_t at = candidates->last_size;
    struct colander_error why;
    enum colander_code code;

    *count = 0;
    begin_lot(candidates);
    code = collect_lot(candidates, keys, max, count, &why);
    while (code != COLANDER_OK && can_plan_again(candidates, code, &why)) {
        code = make_plan(candidates, false, &why);
        if (code == COLANDER_OK)
            code = collect_lot(candidates, keys, max, count, &why);
    }
    if (code != COLANDER_OK) {
        if (err != NULL)
            *err = why;
        return code;
    }
    candidates->plan_count = 0; /* the find goes on */
    for (size_t i = 0; i < *count; i++) {
        keys[i].data = candidates->keys.data + at;
        at += keys[i].size;
    }
    return COLANDER_OK;
}
