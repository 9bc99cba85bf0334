/* SPDX-License-Identifier: MIT */
#include "columns/bulk/row_spill.h"
#include "core/array.h"

#include <stdlib.h>
#include <unistd.h>

void
row_spill_init(struct row_spill *spill, const char *directory, size_t fan_in)
{
    memset(spill, 0, sizeof(*spill));
    spill->directory = directory;
    spill->fan_in = fan_in;
    for (size_t i = 0; i < ROW_SPILL_LEVELS; i++)
        spill->fds[i] = -1;
}

void
row_spill_release(struct row_spill *spill)
{
    for (size_t i = 0; i < spill->count; i++)
        spill_region_release(&spill->regions[i]);
    for (size_t i = 0; i < ROW_SPILL_LEVELS; i++) {
        if (spill->fds[i] >= 0)
            (void)close(spill->fds[i]);
        spill->fds[i] = -1;
    }
    free(spill->regions);
    spill->regions = NULL;
    spill->count = spill->capacity = 0;
}

uint64_t
row_spill_bytes(const struct row_spill *spill, size_t first, uint64_t *rows)
{
    uint64_t size = 0;

    *rows = 0;
    for (size_t i = first; i < spill->count; i++) {
        size += spill->regions[i].size;
        *rows += spill->regions[i].count;
    }
    return size;
}

/* Begins a region at the end of the file of its level. */
static enum colander_code
begin_region(struct row_spill *spill, size_t level, uint64_t expected,
             struct spill_writer *writer, struct spill_region *region,
             struct colander_error *err)
{
    enum colander_code code = COLANDER_OK;

    if (spill->fds[level] < 0)
        code = spill_file_open(spill->directory, &spill->fds[level], err);
    spill_writer_init(writer, region, spill->fds[level], spill->ends[level],
                      expected);
    return code;
}

/* -------------------------------------------------------------- merging --- */

static enum colander_code
write_merged(struct row_merge *merge, struct spill_writer *writer,
             const atomic_bool *is_cancelled, struct colander_error *err)
{
    struct colander_slice key;
    struct colander_slice row;
    enum colander_code code;
    size_t passed;

    for (;;) {
        code = bulk_check_cancelled(is_cancelled, err);
        if (code == COLANDER_OK)
            code = row_merge_next(merge, &key, &row, &passed, err);
        if (code == COLANDER_OK && key.data == NULL)
            return spill_writer_finish(writer, err);
        if (code == COLANDER_OK)
            code = spill_writer_add(writer, key, row, err);
        if (code != COLANDER_OK)
            return code;
    }
}

/* Replaces the runs from `first` on, all runs of their file, by `region`. */
static void
replace_runs(struct row_spill *spill, size_t first, struct spill_region *region)
{
    const size_t level = spill->regions[first].level;

    for (size_t i = first; i < spill->count; i++)
        spill_region_release(&spill->regions[i]);
    (void)close(spill->fds[level]); /* it has no name, so this removes it */
    spill->fds[level] = -1;
    spill->ends[level] = 0;
    spill->ends[level + 1] += region->size;
    spill->regions[first] = *region;
    spill->regions[first].level = level + 1;
    spill->count = first + 1;
}

/* Merges the runs from `first` on into one of the next level. */
static enum colander_code
merge_runs(struct row_spill *spill, size_t first,
           const atomic_bool *is_cancelled, struct colander_error *err)
{
    const struct colander_slice all = {NULL, 0};
    const struct row_sources sources = {.regions = &spill->regions[first],
                                        .region_count = spill->count - first};
    struct row_merge *merge = NULL;
    struct spill_writer writer;
    struct spill_region region;
    enum colander_code code;
    uint64_t rows;

    code = begin_region(spill, spill->regions[first].level + 1,
                        row_spill_bytes(spill, first, &rows), &writer, &region,
                        err);
    if (code == COLANDER_OK)
        code =
            row_merge_create(&sources, all, all, ROW_SPILL_MEMORY, &merge, err);
    if (code == COLANDER_OK)
        code = write_merged(merge, &writer, is_cancelled, err);
    row_merge_destroy(merge);
    spill_writer_release(&writer);
    if (code == COLANDER_OK)
        replace_runs(spill, first, &region);
    else
        spill_region_release(&region);
    return code;
}

/* How many runs there are of the level of the last. */
static size_t
count_last(const struct row_spill *spill)
{
    const size_t level = spill->regions[spill->count - 1].level;
    size_t count = 0;

    while (count < spill->count &&
           spill->regions[spill->count - 1 - count].level == level)
        count++;
    return count;
}

/* --------------------------------------------------------------- adding --- */

static enum colander_code
write_run(const struct row_run *run, struct spill_writer *writer,
          const atomic_bool *is_cancelled, struct colander_error *err)
{
    const size_t count = row_run_count(run);
    enum colander_code code = COLANDER_OK;

    for (size_t i = 0; i < count && code == COLANDER_OK; i++) {
        struct colander_slice key;
        struct colander_slice row;

        row_run_get(run, i, &key, &row);
        code = bulk_check_cancelled(is_cancelled, err);
        if (code == COLANDER_OK)
            code = spill_writer_add(writer, key, row, err);
    }
    if (code == COLANDER_OK)
        code = spill_writer_finish(writer, err);
    return code;
}

enum colander_code
row_spill_add(struct row_spill *spill, const struct row_run *run,
              const atomic_bool *is_cancelled, struct colander_error *err)
{
    struct spill_writer writer;
    struct spill_region region;
    enum colander_code code =
        array_reserve(&spill->regions, spill->count, &spill->capacity, 1, err);

    if (code != COLANDER_OK)
        return code;
    code = begin_region(spill, 0, row_run_bytes(run), &writer, &region, err);
    if (code == COLANDER_OK)
        code = write_run(run, &writer, is_cancelled, err);
    spill_writer_release(&writer);
    if (code != COLANDER_OK) {
        spill_region_release(&region);
        return code;
    }
    spill->regions[spill->count++] = region;
    spill->ends[0] += region.size;
    while (code == COLANDER_OK && count_last(spill) >= spill->fan_in &&
           spill->regions[spill->count - 1].level < ROW_SPILL_LEVELS - 1)
        code =
            merge_runs(spill, spill->count - spill->fan_in, is_cancelled, err);
    return code;
}
