/*
 * Samples of the keys make the ranges approximately equal. They were taken when
 * runs were written to disk, and from the run in memory. Each represents a part
 * of its run's bytes.
 *
 * SPDX-License-Identifier: MIT
 */
#include "columns/bulk/bulk_build.h"
#include "core/bulk_files.h"
#include "core/thread.h"

#include <pthread.h>
#include <stdlib.h>

/* Samples of the run in memory. */
#define RUN_SAMPLES 64

struct sample {
    struct colander_slice key;
    uint64_t weight;
};

/* A range of keys, and the thread that builds it. */
struct range {
    struct bulk_build *build;
    struct colander_slice from;
    struct colander_slice until;
    size_t passed_files;    /* kept files that are below the present key */
    atomic_bool *is_failed; /* one of the ranges is: stop */
    pthread_t thread;
    bool has_thread;
    enum colander_code code;
    struct colander_error err;
};

/* --------------------------------------------------------------- ranges --- */

static int
compare_samples(const void *left, const void *right)
{
    const struct sample *a = left;
    const struct sample *b = right;

    return colander_slice_compare(a->key, b->key);
}

static size_t
sample_run(const struct row_run *run, struct sample *samples)
{
    const size_t rows = row_run_count(run);
    const size_t count = rows < RUN_SAMPLES ? rows : RUN_SAMPLES;

    for (size_t i = 0; i < count; i++) {
        struct colander_slice row;

        row_run_get(run, rows * i / count, &samples[i].key, &row);
        samples[i].weight = row_run_bytes(run) / count;
    }
    return count;
}

/* Returns all samples, in the order of their keys. The caller frees them. */
static struct sample *
take_samples(const struct row_sources *sources, size_t *count)
{
    const size_t max = sources->file_count +
                       sources->region_count * SPILL_SAMPLES_MAX + RUN_SAMPLES;
    struct sample *samples = calloc(max, sizeof(*samples));

    *count = 0;
    if (samples == NULL)
        return NULL;
    for (size_t i = 0; i < sources->file_count; i++) {
        samples[*count].key = colander_buffer_slice(&sources->files[i].first);
        samples[(*count)++].weight = sources->files[i].size;
    }
    for (size_t i = 0; i < sources->region_count; i++) {
        const struct spill_region *region = &sources->regions[i];

        for (size_t k = 0; k < region->sample_count; k++) {
            samples[*count].key = spill_region_sample(region, k);
            samples[(*count)++].weight = region->size / region->sample_count;
        }
    }
    if (sources->run != NULL)
        *count += sample_run(sources->run, samples + *count);
    qsort(samples, *count, sizeof(*samples), compare_samples);
    return samples;
}

/* Sets the bounds of the ranges; some may stay empty. */
static void
cut_ranges(struct range *ranges, size_t count, const struct sample *samples,
           size_t sample_count)
{
    uint64_t all = 0;
    uint64_t weight = 0;
    size_t cut = 1;

    for (size_t i = 0; i < sample_count; i++)
        all += samples[i].weight;
    for (size_t i = 0; i < sample_count && cut < count; i++) {
        if (weight > 0 && weight >= all / count * cut) {
            ranges[cut - 1].until = samples[i].key;
            ranges[cut++].from = samples[i].key;
        }
        weight += samples[i].weight;
    }
    /* There are fewer ranges than threads. */
    for (; cut < count; cut++)
        ranges[cut].build = NULL;
}

/* ------------------------------------------------------------- building --- */

/* Passes the kept files below the key. Returns whether there were any. */
static bool
pass_files(struct range *range, struct colander_slice key)
{
    const struct bulk_build *build = range->build;
    const size_t before = range->passed_files;

    while (range->passed_files < build->kept_count &&
           colander_slice_compare(
               colander_buffer_slice(&build->kept[range->passed_files].first),
               key) < 0)
        range->passed_files++;
    return range->passed_files > before;
}

/* Adds rows to one SST until it is large enough. An SST ends before the keys of
 * a file that stays. Sets *is_over if there are no more rows. */
static enum colander_code
fill_sst(struct range *range, struct row_merge *merge, struct bulk_sst **sst,
         bool *is_over)
{
    struct bulk_build *build = range->build;
    struct colander_error *err = &range->err;
    uint64_t size = 0;

    while (size < build->sst_size) {
        struct colander_slice key;
        struct colander_slice row;
        enum colander_code code;
        size_t passed;

        code = bulk_check_cancelled(build->is_cancelled, err);
        if (code == COLANDER_OK)
            code = bulk_check_cancelled(range->is_failed, err);
        if (code == COLANDER_OK)
            code = row_merge_next(merge, &key, &row, &passed, err);
        if (code != COLANDER_OK)
            return code;
        atomic_fetch_add_explicit(build->passed, passed, memory_order_relaxed);
        *is_over = key.data == NULL;
        if (*is_over)
            break;
        if (pass_files(range, key))
            code = bulk_sst_finish(sst, err);
        if (code == COLANDER_OK && *sst == NULL)
            code = bulk_sst_begin(build->files, sst, err);
        if (code == COLANDER_OK)
            code = bulk_sst_add(*sst, key, row, &size, err);
        if (code != COLANDER_OK)
            return code;
        atomic_fetch_add_explicit(&build->built, 1, memory_order_relaxed);
    }
    return bulk_sst_finish(sst, err);
}

/* Builds a range, in a thread of its own or in that of the caller. */
static void *
build_range(void *context)
{
    struct range *range = context;
    struct row_merge *merge;
    bool is_over = false;

    range->code = row_merge_create(
        &range->build->sources, range->from, range->until,
        range->build->memory / range->build->thread_count, &merge, &range->err);
    while (range->code == COLANDER_OK && !is_over) {
        struct bulk_sst *sst = NULL;

        range->code = fill_sst(range, merge, &sst, &is_over);
        bulk_sst_destroy(sst);
    }
    row_merge_destroy(merge);
    if (range->code != COLANDER_OK)
        atomic_store(range->is_failed, true);
    return NULL;
}

/* Returns the first real failure. It has cancelled the other ranges. */
static enum colander_code
result_of(const struct range *ranges, size_t count, struct colander_error *err)
{
    const struct range *failed = NULL;

    for (size_t i = 0; i < count; i++) {
        if (ranges[i].code != COLANDER_OK &&
            (failed == NULL || failed->code == COLANDER_CANCELLED))
            failed = &ranges[i];
    }
    if (failed == NULL)
        return COLANDER_OK;
    if (err != NULL)
        *err = failed->err;
    return failed->code;
}

/* Builds one range in this thread, and the others each in its own. */
static void
build_ranges(struct range *ranges, size_t count)
{
    for (size_t i = 1; i < count; i++) {
        if (ranges[i].build != NULL)
            ranges[i].has_thread =
                thread_create(&ranges[i].thread, build_range, &ranges[i]) == 0;
    }
    for (size_t i = 0; i < count; i++) {
        if (ranges[i].build != NULL && !ranges[i].has_thread)
            (void)build_range(&ranges[i]);
    }
    for (size_t i = 1; i < count; i++) {
        if (ranges[i].has_thread)
            pthread_join(ranges[i].thread, NULL);
    }
}

enum colander_code
bulk_build(struct bulk_build *build, struct colander_error *err)
{
    struct range ranges[BULK_THREADS_MAX];
    struct sample *samples;
    atomic_bool is_failed;
    size_t sample_count;

    atomic_init(&is_failed, false);
    atomic_init(&build->built, 0);
    memset(ranges, 0, sizeof(ranges));
    for (size_t i = 0; i < build->thread_count; i++) {
        ranges[i].build = build;
        ranges[i].is_failed = &is_failed;
    }
    samples = take_samples(&build->sources, &sample_count);
    if (samples == NULL)
        return COLANDER_FAIL(err, COLANDER_NO_MEMORY,
                             "no memory to divide rows");
    cut_ranges(ranges, build->thread_count, samples, sample_count);
    build_ranges(ranges, build->thread_count);
    free(samples);
    return result_of(ranges, build->thread_count, err);
}
