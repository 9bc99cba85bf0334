/*
 * Reasons for which rows are not read directly, but by the engine. Each is
 * forced: a path that is not known, a file whose size is not known or that
 * cannot be opened, a block that cannot be read, no memory for a block, levels
 * that cannot be listed, files that meet in one key.
 *
 * The linker redirects some calls of direct reads to this test.
 *
 * SPDX-License-Identifier: MIT
 */
#include "columns/runs.h"
#include "core/sst_places.h"
#include "filters/levels.h"
#include "support/direct_rows.h"

/* What the calls do; false, OK and NULL: what they always do. */
static bool paths_are_unknown;
static enum colander_code open_failure;
static enum colander_code read_failure;
static const struct block_cache *full_cache;
static bool runs_are_unknown;
static struct colander_slice met_at; /* the last key of the first file */

/* NOLINTBEGIN(bugprone-reserved-identifier): the names are the linker's. */
bool __real_engine_sst_path(const struct engine *engine, uint64_t number,
                            char path[SST_PATH_MAX]);
bool __wrap_engine_sst_path(const struct engine *engine, uint64_t number,
                            char path[SST_PATH_MAX]);
enum colander_code __real_sst_open_file(const char *path, int *fd,
                                        struct colander_error *err);
enum colander_code __wrap_sst_open_file(const char *path, int *fd,
                                        struct colander_error *err);
enum colander_code __real_sst_block_read(const struct sst_source *sst,
                                         uint64_t offset, uint64_t end,
                                         struct sst_room *room,
                                         struct colander_slice *block,
                                         struct colander_error *err);
enum colander_code __wrap_sst_block_read(const struct sst_source *sst,
                                         uint64_t offset, uint64_t end,
                                         struct sst_room *room,
                                         struct colander_slice *block,
                                         struct colander_error *err);
struct cached_block *__real_block_cache_allocate(struct block_cache *cache,
                                                 size_t size);
struct cached_block *__wrap_block_cache_allocate(struct block_cache *cache,
                                                 size_t size);

typedef enum colander_code visit_run(void *context,
                                     const struct sst_in_run *file,
                                     struct colander_error *err);
enum colander_code __real_engine_runs(struct engine_family *family,
                                      visit_run *visit, void *context,
                                      struct colander_error *err);
enum colander_code __wrap_engine_runs(struct engine_family *family,
                                      visit_run *visit, void *context,
                                      struct colander_error *err);
/* NOLINTEND(bugprone-reserved-identifier) */

bool
__wrap_engine_sst_path(const struct engine *engine, uint64_t number,
                       char path[SST_PATH_MAX])
{
    return !paths_are_unknown && __real_engine_sst_path(engine, number, path);
}

enum colander_code
__wrap_sst_open_file(const char *path, int *fd, struct colander_error *err)
{
    if (open_failure != COLANDER_OK)
        return COLANDER_FAIL(err, open_failure, "cannot open it");
    return __real_sst_open_file(path, fd, err);
}

enum colander_code
__wrap_sst_block_read(const struct sst_source *sst, uint64_t offset,
                      uint64_t end, struct sst_room *room,
                      struct colander_slice *block, struct colander_error *err)
{
    if (read_failure != COLANDER_OK)
        return COLANDER_FAIL(err, read_failure, "cannot read it");
    return __real_sst_block_read(sst, offset, end, room, block, err);
}

struct cached_block *
__wrap_block_cache_allocate(struct block_cache *cache, size_t size)
{
    return cache == full_cache ? NULL
                               : __real_block_cache_allocate(cache, size);
}

/* A visitor, and how many files it has seen. */
struct meeting {
    visit_run *visit;
    void *context;
    unsigned count;
};

/* Passes the files on as one run, of which the first ends at a key of the
 * second. */
static enum colander_code
let_meet(void *context, const struct sst_in_run *file,
         struct colander_error *err)
{
    struct meeting *meeting = context;
    struct sst_in_run met = *file;

    met.begins_run = meeting->count == 0;
    if (meeting->count == 0)
        met.last = met_at;
    meeting->count++;
    return meeting->visit(meeting->context, &met, err);
}

enum colander_code
__wrap_engine_runs(struct engine_family *family, visit_run *visit,
                   void *context, struct colander_error *err)
{
    struct meeting meeting = {visit, context, 0};

    if (runs_are_unknown)
        return COLANDER_FAIL(err, COLANDER_NO_MEMORY, "no memory for files");
    if (met_at.size == 0)
        return __real_engine_runs(family, visit, context, err);
    return __real_engine_runs(family, let_meet, &meeting, err);
}

/* Finds as before once the reason is gone: the rows are read directly. */
static void
assert_no_doubt(struct colander_family *family)
{
    assert_int_equal(direct_rows(family, NULL, "first", GROUP), GROUP);
}

FIXTURE_TEST(rows_of_a_file_without_a_path)
{
    struct colander_family *family = fill(fixture);

    paths_are_unknown = true;
    assert_int_equal(direct_rows(family, NULL, "first", GROUP), 0);
    paths_are_unknown = false;
    assert_no_doubt(family);
}

/* Also if no descriptor is left: then the file is opened for each block. */
FIXTURE_TEST(rows_of_a_file_that_cannot_be_opened)
{
    struct colander_family *family = fill(fixture);
    struct family_filters *found;

    open_failure = COLANDER_NOT_FOUND;
    assert_int_equal(direct_rows(family, NULL, "first", GROUP), 0);
    filters_of(family, &found)->commons->descriptors_max = 0;
    assert_int_equal(direct_rows(family, NULL, "first", GROUP), 0);
    open_failure = COLANDER_OK;
    assert_no_doubt(family);
    ZERO(atomic_load(&filters_of(family, &found)->commons->open_count));
}

/* The engine finds out whether it is damaged. */
FIXTURE_TEST(rows_of_blocks_that_cannot_be_read)
{
    static const enum colander_code codes[] = {COLANDER_IO, COLANDER_CORRUPT,
                                               COLANDER_NO_MEMORY};
    struct colander_family *family = fill(fixture);

    for (size_t i = 0; i < COUNT(codes); i++) {
        read_failure = codes[i];
        assert_int_equal(direct_rows(family, NULL, "first", GROUP), 0);
    }
    read_failure = COLANDER_OK;
    assert_no_doubt(family);
}

/* The end of its last block is not known then. */
FIXTURE_TEST(rows_of_the_last_block_of_a_file_of_unknown_size)
{
    struct colander_family *family = fill(fixture);
    struct family_filters *found;
    struct sst_file *file;
    uint64_t in_last = 0;
    uint64_t size;

    (void)filters_of(family, &found);
    file = found->files[0];
    size = file->data_size;
    for (uint64_t row =
             file->filter->spans[file->filter->span_count - 1].first_row;
         row < ROWS; row++)
        in_last += row % (ROWS / GROUP) == 7;
    assert_in_range(in_last, 1, GROUP - 1);
    file->data_size = 0;
    assert_int_equal(direct_rows(family, NULL, "first", GROUP),
                     GROUP - in_last);
    file->data_size = size;
    assert_no_doubt(family);
}

FIXTURE_TEST(rows_of_blocks_for_which_there_is_no_memory)
{
    struct colander_family *family = fill(fixture);
    struct family_filters *found;

    full_cache = filters_of(family, &found)->commons->rows;
    assert_int_equal(direct_rows(family, NULL, "first", GROUP), 0);
    full_cache = NULL;
    assert_no_doubt(family);
}

FIXTURE_TEST(rows_of_files_that_cannot_be_listed)
{
    struct colander_family *family = fill(fixture);

    runs_are_unknown = true;
    assert_int_equal(direct_rows(family, NULL, "first", GROUP), 0);
    runs_are_unknown = false;
    assert_no_doubt(family);
}

/* Newer versions may be in the file before: those of the key in which it ends,
 * and, as its range says no more, those below. */
FIXTURE_TEST(rows_up_to_the_key_in_which_files_of_a_run_meet)
{
    struct colander_family *family = kept_family(fixture, "rows");
    SCOPED_BUFFER key = text_key("00001107");
    struct family_filters *found;

    for (int i = ROWS / 2; i < ROWS; i++)
        put_row(fixture, family, i, "first");
    OK(colander_family_flush(family, NULL));
    for (int i = 0; i < ROWS / 2; i++) /* the newer file is listed first */
        put_row(fixture, family, i, "first");
    OK(colander_family_flush(family, NULL));
    assert_all_loaded(family);
    met_at = colander_buffer_slice(&key);
    assert_int_equal(direct_rows(family, NULL, "first", GROUP), GROUP - 2);
    met_at = colander_slice_of(NULL, 0);
    (void)filters_of(family, &found);
    atomic_fetch_add(&found->changes, 1);
    assert_no_doubt(family);
}

/* The old file is not the first any more in which the row is searched. */
FIXTURE_TEST(a_row_that_a_run_has_replaced)
{
    struct colander_family *family = fill(fixture);
    SCOPED_BUFFER key = text_key("00000007");
    struct colander_bulk *run;

    assert_no_doubt(family); /* lists the levels */
    OK(colander_run_create(family, &run, NULL));
    colander_row_builder_add(fixture->builder, "more", colander_text("second"));
    OK(colander_bulk_add(
        run, colander_buffer_slice(&key),
        fixture_row(fixture, "group", colander_text("group 7")), NULL));
    OK(colander_bulk_commit(run, NULL, NULL));
    colander_bulk_destroy(run);
    assert_all_loaded(family);
    assert_in_range(direct_rows(family, NULL, "first", GROUP - 1), GROUP - 5,
                    GROUP - 1);
    assert_int_equal(direct_rows(family, NULL, "second", 1), 1);
}
