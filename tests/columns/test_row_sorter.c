/*
 * Rows sorted in bounded memory: damage to a run on disk is reported, and so is
 * a failure of each allocation in turn.
 *
 * SPDX-License-Identifier: MIT
 */
#include "columns/bulk/row_sorter.h"
#include "columns/bulk/row_spill.h"
#include "support/cases.h"

#include "support/failing_memory.h"
#include "support/store_fixture.h"

#include <fcntl.h>
#include <unistd.h>

static char directory[TEMPORARY_SIZE];
static atomic_bool is_cancelled;

static int
make_directory(void **state)
{
    (void)state;
    temporary_make(directory);
    return 0;
}

static int
remove_directory(void **state)
{
    (void)state;
    temporary_remove(directory);
    return 0;
}

/* Merges all runs; sets *count to the number of rows. */
static enum colander_code
merge_all(const struct row_sources *sources, size_t *count,
          struct colander_error *err)
{
    const struct colander_slice all = {NULL, 0};
    struct colander_slice key = all;
    struct colander_slice row;
    struct row_merge *merge;
    enum colander_code code;
    size_t passed;

    *count = 0;
    code = row_merge_create(sources, all, all, 1, &merge, err);
    while (code == COLANDER_OK) {
        code = row_merge_next(merge, &key, &row, &passed, err);
        if (code != COLANDER_OK || key.data == NULL)
            break;
        assert_true(row.size == 8 || row.size == 10000);
        ++*count;
    }
    row_merge_destroy(merge);
    return code;
}

/* --------------------------------------------------------------- damage --- */

static void
flip(int fd, off_t offset)
{
    uint8_t byte;

    assert_int_equal(pread(fd, &byte, 1, offset), 1);
    byte ^= 0x10;
    assert_int_equal(pwrite(fd, &byte, 1, offset), 1);
}

TEST(rows_that_were_damaged_on_disk_are_reported)
{
    struct row_spill spill;
    struct row_sources sources;
    struct row_run *run;
    size_t count;
    bool is_full;

    OK(row_run_create(10000, 100, &run, NULL));
    row_spill_init(&spill, directory, 100);
    for (uint64_t i = 0; i < 20; i++) {
        char key[8];

        snprintf(key, sizeof(key), "k%llu", (unsigned long long)(i * 7 % 20));
        OK(row_run_add(run, colander_slice_text(key),
                       colander_slice_text("12345678"), &is_full, NULL));
        if (i != 9 && i != 19)
            continue;
        OK(row_run_sort(run, NULL));
        OK(row_spill_add(&spill, run, &is_cancelled, NULL));
        row_run_clear(run);
    }
    sources = (struct row_sources){.regions = spill.regions,
                                   .region_count = spill.count};
    assert_int_equal(spill.count, 2);
    OK(merge_all(&sources, &count, NULL));
    assert_int_equal(count, 20);
    for (uint64_t i = 0; i < spill.ends[0]; i++) {
        flip(spill.fds[0], (off_t)i);
        FAILS(merge_all(&sources, &count, NULL), COLANDER_CORRUPT);
        flip(spill.fds[0], (off_t)i);
    }
    for (uint64_t size = 0; size < spill.ends[0]; size++) {
        uint8_t bytes[2000];

        assert_true(spill.ends[0] <= sizeof(bytes));
        assert_int_equal(pread(spill.fds[0], bytes, spill.ends[0], 0),
                         spill.ends[0]);
        ZERO(ftruncate(spill.fds[0], (off_t)size));
        FAILS(merge_all(&sources, &count, NULL), COLANDER_CORRUPT);
        assert_int_equal(pwrite(spill.fds[0], bytes, spill.ends[0], 0),
                         spill.ends[0]);
    }
    OK(merge_all(&sources, &count, NULL));
    row_spill_release(&spill);
    row_run_destroy(run);
}

/* --------------------------------------------------------------- memory --- */

static enum colander_code
add_all(struct row_sorter *sorter, struct colander_error *err)
{
    static uint8_t large[10000];
    enum colander_code code = COLANDER_OK;

    for (unsigned i = 0; i < 60 && code == COLANDER_OK; i++) {
        struct colander_slice row = colander_slice_text("12345678");
        char key[16];

        if (i % 20 == 0)
            row = colander_slice_of(large, sizeof(large));
        snprintf(key, sizeof(key), "key %u", i * 7 % 60);
        code = row_sorter_add(sorter, colander_slice_text(key), row, err);
    }
    return code;
}

static enum colander_code
sort_all(struct colander_error *err)
{
    const struct row_sorter_limits limits = {
        .run_size = 400, .run_rows = 5, .fan_in = 2};
    struct row_sorter *sorter = NULL;
    struct row_sources sources;
    uint64_t bytes;
    uint64_t rows;
    size_t count;
    enum colander_code code = row_sorter_create(directory, &limits, NULL,
                                                &is_cancelled, &sorter, err);

    if (code == COLANDER_OK)
        code = add_all(sorter, err);
    if (code == COLANDER_OK)
        code = row_sorter_finish(sorter, &sources, &rows, &bytes, err);
    if (code == COLANDER_OK) {
        assert_int_equal(rows, 60);
        code = merge_all(&sources, &count, err);
    }
    if (code == COLANDER_OK)
        assert_int_equal(count, 60);
    row_sorter_destroy(sorter);
    return code;
}

TEST(rows_are_sorted_or_memory_is_short)
{
    struct colander_error err;
    enum colander_code code;
    long failed = 0;

    for (;; failed++) {
        err.code = COLANDER_OK;
        atomic_store(&allocations_left, failed);
        code = sort_all(&err);
        atomic_store(&allocations_left, -1);
        if (code == COLANDER_OK)
            break;
        assert_int_equal(code, COLANDER_NO_MEMORY);
        assert_int_equal(err.code, COLANDER_NO_MEMORY);
    }
    assert_true(failed > 20);
}

TEST(cancelled_rows_do_not_go_to_disk)
{
    atomic_store(&is_cancelled, true);
    FAILS(sort_all(why()), COLANDER_CANCELLED);
    atomic_store(&is_cancelled, false);
}

int
main(void)
{
    return tests_run(make_directory, remove_directory);
}
