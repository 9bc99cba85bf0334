/*
 * Row merges: see row_merge.h.
 *
 * A heap of the sources, by their present keys; of equal ones the latest source
 * is on top, and those below it are passed over.
 *
 * SPDX-License-Identifier: MIT
 */
#include "columns/row_merge.h"

#include <stdlib.h>

#define BUFFER_MAX (1u << 20)

/* A run, the files, or a region. */
struct row_source {
    struct colander_slice key; /* present; data NULL: over */
    const struct row_run *run;
    size_t place; /* of the run, behind the present row */
    struct bulk_reader *files;
    struct spill_reader reader; /* where there is neither run nor files */
    struct colander_slice row;  /* of a run or the files */
};

struct row_merge {
    struct row_source *sources;
    size_t source_count;
    uint32_t *heap; /* sources that are not over */
    size_t heap_count;
    bool is_given; /* the one on top */
    uint8_t *buffers;
    struct colander_slice until;
    struct colander_buffer until_bytes;
    struct colander_buffer last;  /* key given */
    struct colander_buffer large; /* a row */
};

/* -------------------------------------------------------------- sources --- */

static enum colander_code
source_next(const struct row_merge *merge, struct row_source *source,
            struct colander_error *err)
{
    enum colander_code code = COLANDER_OK;

    if (source->files != NULL) {
        code = bulk_reader_next(source->files, &source->key, &source->row, err);
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

/* Goes to the first key that is in the range. */
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

static bool
is_before(const struct row_merge *merge, uint32_t a, uint32_t b)
{
    int order =
        colander_slice_compare(merge->sources[a].key, merge->sources[b].key);

    return order < 0 || (order == 0 && a > b);
}

/* Puts the source at `place` where it belongs, below that. */
static void
sink(struct row_merge *merge, size_t place)
{
    const uint32_t source = merge->heap[place];
    size_t child;

    while ((child = 2 * place + 1) < merge->heap_count) {
        if (child + 1 < merge->heap_count &&
            is_before(merge, merge->heap[child + 1], merge->heap[child]))
            child++;
        if (is_before(merge, source, merge->heap[child]))
            break;
        merge->heap[place] = merge->heap[child];
        place = child;
    }
    merge->heap[place] = source;
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
    if (merge->heap_count > 0)
        sink(merge, 0);
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
        if (!merge->is_given ||
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
    merge->is_given = true;
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

/* The later they came, the further behind. */
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
    for (size_t i = merge->heap_count / 2; i-- > 0;)
        sink(merge, i);
    return COLANDER_OK;
}

enum colander_code
row_merge_create(const struct row_sources *sources, struct colander_slice from,
                 struct colander_slice until, size_t memory,
                 struct row_merge **merge, struct colander_error *err)
{
    const size_t buffer = buffer_size(memory, sources->region_count);
    struct row_merge *made = calloc(1, sizeof(*made));
    enum colander_code code;

    *merge = NULL;
    if (made == NULL)
        return COLANDER_FAIL(err, COLANDER_NO_MEMORY,
                             "no memory to merge rows");
    code = allocate(made, sources, buffer, err);
    if (code == COLANDER_OK)
        code = list_sources(made, sources, from, buffer, err);
    if (code == COLANDER_OK)
        code = colander_buffer_append(&made->until_bytes, until.data,
                                      until.size, err);
    if (code == COLANDER_OK) {
        made->until = colander_buffer_slice(&made->until_bytes);
        code = begin(made, from, err);
    }
    if (code != COLANDER_OK) {
        row_merge_destroy(made);
        return code;
    }
    *merge = made;
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
