/*
 * A heap of the sources, by their present keys. Of equal keys the latest source
 * is on top, and the rows of the others are skipped.
 *
 * SPDX-License-Identifier: MIT
 */
#include "columns/bulk/row_merge.h"
#include "core/heap.h"

#include <stdlib.h>

#define BUFFER_MAX (1u << 20)

/* A run, the files, or a region. */
struct row_source {
    struct colander_slice key; /* present; data NULL: over */
    const struct row_run *run;
    size_t place; /* of the run, after the present row */
    struct bulk_reader *files;
    struct spill_reader reader; /* where there is neither run nor files */
    struct colander_slice row;  /* of a run or the files */
};

struct row_merge {
    struct row_source *sources;
    size_t source_count;
    uint32_t *heap; /* sources that are not over */
    size_t heap_count;
    bool has_last; /* a row was returned */
    uint8_t *buffers;
    struct colander_slice until;
    struct colander_buffer until_bytes;
    struct colander_buffer last;  /* key returned */
    struct colander_buffer large; /* a row */
};

/* -------------------------------------------------------------- sources --- */

static enum colander_code
source_next(const struct row_merge *merge, struct row_source *source,
            struct colander_error *err)
{
    enum colander_code code = COLANDER_OK;
    bool is_row;

    if (source->files != NULL) {
        code = bulk_reader_next(source->files, &is_row, &source->key,
                                &source->row, err);
    } else if (source->run == NULL) {
        code = spill_reader_next(&source->reader, err);
        source->key = source->reader.key;
    } else if (source->place < row_run_count(source->run)) {
        row_run_get(source->run, source->place++, &source->key, &source->row);
    } else {
        source->key = colander_slice_of(NULL, 0);
    }
    if (code == COLANDER_OK && source->key.data != NULL &&
        merge->until.size > 0 &&
        colander_slice_compare(source->key, merge->until) >= 0)
        source->key = colander_slice_of(NULL, 0);
    return code;
}

/* Moves to the first key in the range. */
static enum colander_code
source_begin(const struct row_merge *merge, struct row_source *source,
             struct colander_slice from, struct colander_error *err)
{
    enum colander_code code;

    if (source->run != NULL)
        source->place = row_run_find(source->run, from);
    else if (source->files == NULL)
        spill_reader_seek(&source->reader, from);
    do {
        code = source_next(merge, source, err);
    } while (code == COLANDER_OK && source->key.data != NULL &&
             colander_slice_compare(source->key, from) < 0);
    return code;
}

static enum colander_code
source_row(struct row_merge *merge, struct row_source *source,
           struct colander_slice *row, struct colander_error *err)
{
    enum colander_code code;

    *row = source->row;
    if (source->run != NULL || source->files != NULL)
        return COLANDER_OK;
    code = spill_reader_row(&source->reader, &merge->large, row, err);
    source->key = source->reader.key;
    return code;
}

/* ----------------------------------------------------------------- heap --- */

/* Of equal keys the latest source is first. */
static bool
is_before(const void *left, const void *right, const void *context)
{
    const struct row_source *sources = context;
    const uint32_t a = *(const uint32_t *)left;
    const uint32_t b = *(const uint32_t *)right;
    const int order = colander_slice_compare(sources[a].key, sources[b].key);

    return order < 0 || (order == 0 && a > b);
}

/* Steps the source on top. */
static enum colander_code
step_top(struct row_merge *merge, struct colander_error *err)
{
    struct row_source *top = &merge->sources[merge->heap[0]];
    enum colander_code code = source_next(merge, top, err);

    if (code != COLANDER_OK)
        return code;
    if (top->key.data == NULL)
        merge->heap[0] = merge->heap[--merge->heap_count];
    heap_sift_down(merge->heap, sizeof(*merge->heap), merge->heap_count, 0,
                   is_before, merge->sources);
    return COLANDER_OK;
}

enum colander_code
row_merge_next(struct row_merge *merge, struct colander_slice *key,
               struct colander_slice *row, size_t *passed,
               struct colander_error *err)
{
    enum colander_code code = COLANDER_OK;
    struct row_source *top;

    *key = colander_slice_of(NULL, 0);
    *passed = 0;
    while (merge->heap_count > 0) {
        top = &merge->sources[merge->heap[0]];
        if (!merge->has_last ||
            !colander_slice_equal(top->key,
                                  colander_buffer_slice(&merge->last)))
            break;
        code = step_top(merge, err);
        if (code != COLANDER_OK)
            return code;
        ++*passed;
    }
    if (merge->heap_count == 0)
        return COLANDER_OK;
    merge->has_last = true;
    colander_buffer_clear(&merge->last);
    code = source_row(merge, top, row, err);
    if (code == COLANDER_OK)
        code = colander_buffer_append(&merge->last, top->key.data,
                                      top->key.size, err);
    if (code == COLANDER_OK)
        *key = colander_buffer_slice(&merge->last);
    return code;
}

/* ----------------------------------------------------------------- life --- */

static size_t
buffer_size(size_t memory, size_t count)
{
    size_t size = memory / (count + 1);

    if (size < SPILL_BUFFER_MIN)
        return SPILL_BUFFER_MIN;
    return size > BUFFER_MAX ? BUFFER_MAX : size;
}

/* Memory for all that it needs. */
static enum colander_code
allocate(struct row_merge *merge, const struct row_sources *sources,
         size_t buffer, struct colander_error *err)
{
    merge->sources = calloc(sources->region_count + 2, sizeof(*merge->sources));
    merge->heap = calloc(sources->region_count + 2, sizeof(*merge->heap));
    merge->buffers = malloc(sources->region_count * buffer + 1);
    if (merge->sources == NULL || merge->heap == NULL || merge->buffers == NULL)
        return COLANDER_FAIL(err, COLANDER_NO_MEMORY,
                             "no memory to merge rows");
    return COLANDER_OK;
}

/* Lists the sources from the oldest to the latest. */
static enum colander_code
list_sources(struct row_merge *merge, const struct row_sources *sources,
             struct colander_slice from, size_t buffer,
             struct colander_error *err)
{
    enum colander_code code = COLANDER_OK;

    if (sources->file_count > 0)
        code =
            bulk_reader_open(sources->withdrawn, from,
                             &merge->sources[merge->source_count++].files, err);
    for (size_t i = 0; i < sources->region_count; i++)
        spill_reader_init(&merge->sources[merge->source_count++].reader,
                          &sources->regions[i], merge->buffers + i * buffer,
                          buffer);
    if (sources->run != NULL)
        merge->sources[merge->source_count++].run = sources->run;
    return code;
}

static enum colander_code
begin(struct row_merge *merge, struct colander_slice from,
      struct colander_error *err)
{
    for (uint32_t i = 0; i < merge->source_count; i++) {
        enum colander_code code =
            source_begin(merge, &merge->sources[i], from, err);

        if (code != COLANDER_OK)
            return code;
        if (merge->sources[i].key.data != NULL)
            merge->heap[merge->heap_count++] = i;
    }
    heap_build(merge->heap, sizeof(*merge->heap), merge->heap_count, is_before,
               merge->sources);
    return COLANDER_OK;
}

enum colander_code
row_merge_create(const struct row_sources *sources, struct colander_slice from,
                 struct colander_slice until, size_t memory,
                 struct row_merge **merge, struct colander_error *err)
{
    const size_t buffer = buffer_size(memory, sources->region_count);
    struct row_merge *created = calloc(1, sizeof(*created));
    enum colander_code code;

    *merge = NULL;
    if (created == NULL)
        return COLANDER_FAIL(err, COLANDER_NO_MEMORY,
                             "no memory to merge rows");
    code = allocate(created, sources, buffer, err);
    if (code == COLANDER_OK)
        code = list_sources(created, sources, from, buffer, err);
    if (code == COLANDER_OK)
        code = colander_buffer_append(&created->until_bytes, until.data,
                                      until.size, err);
    if (code == COLANDER_OK) {
        created->until = colander_buffer_slice(&created->until_bytes);
        code = begin(created, from, err);
    }
    if (code != COLANDER_OK) {
        row_merge_destroy(created);
        return code;
    }
    *merge = created;
    return COLANDER_OK;
}

void
row_merge_destroy(struct row_merge *merge)
{
    if (merge == NULL)
        return;
    for (size_t i = 0; i < merge->source_count; i++)
        bulk_reader_close(merge->sources[i].files);
    colander_buffer_release(&merge->until_bytes);
    colander_buffer_release(&merge->last);
    colander_buffer_release(&merge->large);
    free(merge->sources);
    free(merge->heap);
    free(merge->buffers);
    free(merge);
}
