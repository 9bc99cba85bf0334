/* SPDX-License-Identifier: MIT */
#include "columns/bulk/bulk_build.h"
#include "columns/bulk/bulk_head.h"
#include "columns/bulk/bulk_inside.h"
#include "columns/bulk/row_spill.h"
#include "columns/runs.h"
#include "columns/store.h"
#include "columns/unchecked.h"
#include "columns/write.h"
#include "core/bulk_files.h"
#include "core/engine.h"

#include <assert.h>
#include <stdlib.h>
#include <unistd.h>

/* For buffers of all threads that build, and the bytes of rows that are worth
 * another thread. */
#define BUILD_MEMORY (UINT32_C(24) << 20)
#define BYTES_PER_THREAD (UINT32_C(16) << 20)
#define LARGE_ROW (UINT32_C(1) << 20)

struct colander_bulk {
    struct colander_store *store;
    struct colander_family *family;
    struct bulk_limits limits;
    struct bulk_files *files;
    struct bulk_head head;
    struct row_sorter *sorter;
    atomic_bool is_cancelled;
    _Atomic(uint64_t) added;
    _Atomic(uint64_t) passed; /* in files, or replaced */
    bool is_committed;
    enum colander_code code; /* of the failure */
    struct colander_error err;
};

/* ----------------------------------------------------------------- life --- */

struct bulk_limits
bulk_limits_usual(void)
{
    const struct bulk_limits limits = {
        .sorter = {.run_size = ROW_RUN_SIZE,
                   .run_rows = ROW_RUN_ROWS_MAX,
                   .fan_in = ROW_SPILL_FAN_IN},
    };

    return limits;
}

static enum colander_code
begin_sorting(struct colander_bulk *bulk, struct colander_error *err)
{
    bulk_head_init(&bulk->head, bulk->files, bulk->limits.sst_size,
                   &bulk->is_cancelled);
    return row_sorter_create(bulk_files_path(bulk->files), &bulk->limits.sorter,
                             &bulk->head, &bulk->is_cancelled, &bulk->sorter,
                             err);
}

static enum colander_code
begin(struct colander_bulk *bulk, struct colander_error *err)
{
    struct engine_family *engine_family;
    enum colander_code code = store_check_writable(bulk->store, err);

    if (code == COLANDER_OK)
        code = family_make(bulk->family, &engine_family, err);
    if (code == COLANDER_OK)
        code = bulk_files_create(engine_family, !bulk->limits.is_run,
                                 &bulk->files, err);
    if (code == COLANDER_OK)
        code = begin_sorting(bulk, err);
    return code;
}

enum colander_code
bulk_create_limited(struct colander_family *family,
                    const struct bulk_limits *limits,
                    struct colander_bulk **bulk, struct colander_error *err)
{
    struct colander_bulk *created = calloc(1, sizeof(*created));
    struct colander_options options;
    enum colander_code code;

    *bulk = NULL;
    if (created == NULL)
        return COLANDER_FAIL(err, COLANDER_NO_MEMORY, "cannot make a bulk");
    created->store = family->store;
    created->family = family;
    created->limits = *limits;
    colander_store_options(created->store, &options);
    if (created->limits.sst_size == 0)
        created->limits.sst_size = options.sst_size;
    atomic_init(&created->is_cancelled, false);
    atomic_init(&created->added, 0);
    atomic_init(&created->passed, 0);
    atomic_fetch_add(&created->store->handle_count, 1);
    code = begin(created, err);
    if (code != COLANDER_OK) {
        colander_bulk_destroy(created);
        return code;
    }
    *bulk = created;
    return COLANDER_OK;
}

enum colander_code
colander_bulk_create(struct colander_family *family,
                     struct colander_bulk **bulk, struct colander_error *err)
{
    const struct bulk_limits usual = bulk_limits_usual();

    return bulk_create_limited(family, &usual, bulk, err);
}

enum colander_code
colander_run_create(struct colander_family *family, struct colander_bulk **run,
                    struct colander_error *err)
{
    struct bulk_limits limits = bulk_limits_usual();

    limits.is_run = true;
    return bulk_create_limited(family, &limits, run, err);
}

/* The sorter has files in the directory of `files`, so it is first. */
static void
give_up(struct colander_bulk *bulk)
{
    row_sorter_destroy(bulk->sorter);
    bulk->sorter = NULL;
    bulk_head_release(&bulk->head);
    bulk_files_destroy(bulk->files);
    bulk->files = NULL;
}

void
colander_bulk_destroy(struct colander_bulk *bulk)
{
    if (bulk == NULL)
        return;
    atomic_store(&bulk->is_cancelled, true); /* stops its thread */
    give_up(bulk);
    atomic_fetch_sub(&bulk->store->handle_count, 1);
    free(bulk);
}

/* --------------------------------------------------------------- states --- */

void
colander_bulk_cancel(struct colander_bulk *bulk)
{
    atomic_store_explicit(&bulk->is_cancelled, true, memory_order_relaxed);
}

void
colander_bulk_progress(const struct colander_bulk *bulk,
                       struct colander_bulk_progress *progress)
{
    progress->built_count = atomic_load(&bulk->passed);
    progress->added_count = atomic_load(&bulk->added);
}

/* Fails if the bulk cannot be used any more. */
static enum colander_code
check_state(const struct colander_bulk *bulk, struct colander_error *err)
{
    enum colander_code code = bulk->code;

    if (code != COLANDER_OK) {
        if (err != NULL)
            *err = bulk->err;
        return code;
    }
    if (bulk->is_committed)
        code = COLANDER_FAIL(err, COLANDER_INVALID, "the bulk is committed");
    else if (atomic_load_explicit(&bulk->is_cancelled, memory_order_relaxed))
        code = COLANDER_FAIL(err, COLANDER_CANCELLED, "the bulk was cancelled");
    if (code != COLANDER_OK)
        colander_error_context(err, "family '%s'",
                               colander_family_name(bulk->family));
    return code;
}

/* Keeps the failure, and removes the files. */
static enum colander_code
fail(struct colander_bulk *bulk, enum colander_code code,
     struct colander_error *err)
{
    bulk->code = code;
    if (err != NULL)
        *err = bulk->err;
    atomic_store(&bulk->is_cancelled, true);
    give_up(bulk);
    return code;
}

/* --------------------------------------------------------------- adding --- */

/* Adds a row of which `check` accepts what has to be checked. */
static enum colander_code
add(struct colander_bulk *bulk, struct colander_slice key,
    struct colander_slice row,
    enum colander_code (*check)(const struct row_write *,
                                struct colander_error *),
    struct colander_error *err)
{
    const struct row_write write = {WRITE_PUT, bulk->family, key, row};
    enum colander_code code = check_state(bulk, err);

    if (code == COLANDER_OK)
        code = check(&write, err);
    if (code != COLANDER_OK)
        return code;
    code = row_sorter_add(bulk->sorter, key, row, &bulk->err);
    if (code != COLANDER_OK) {
        colander_error_context(&bulk->err, "family '%s'",
                               colander_family_name(bulk->family));
        return fail(bulk, code, err);
    }
    atomic_fetch_add_explicit(&bulk->added, 1, memory_order_relaxed);
    return COLANDER_OK;
}

enum colander_code
colander_bulk_add(struct colander_bulk *bulk, struct colander_slice key,
                  struct colander_slice row, struct colander_error *err)
{
    return add(bulk, key, row, write_check, err);
}

enum colander_code
colander_bulk_add_checked(struct colander_bulk *bulk, struct colander_slice key,
                          struct colander_slice row, struct colander_error *err)
{
    return add(bulk, key, row, write_check_key, err);
}

enum colander_code
colander_run_mark(struct colander_bulk *run, struct colander_slice name,
                  struct colander_slice value, struct colander_error *err)
{
    const struct row_write write = {WRITE_MARK, run->family, name, value};
    enum colander_code code = check_state(run, err);

    if (code == COLANDER_OK)
        code = write_check(&write, err);
    return code == COLANDER_OK ? bulk_files_mark(run->files, name, value, err)
                               : code;
}

bool
colander_run_must_wait(struct colander_family *family)
{
    struct engine_family *engine_family;

    return family_engine(family, &engine_family, NULL) == COLANDER_OK &&
           engine_family != NULL && engine_family_is_stalled(engine_family);
}

/* ----------------------------------------------------------- committing --- */

static size_t
threads_for(const struct colander_store *store, uint64_t rows, uint64_t bytes)
{
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    struct colander_options options;
    size_t threads;

    colander_store_options(store, &options);
    threads = options.thread_count;
    if (threads == 0)
        threads = cores < 1 ? 1 : (size_t)cores;
    if (bytes > rows * LARGE_ROW) /* each thread copies some of them */
        threads = 1;
    if (threads > bytes / BYTES_PER_THREAD + 1)
        threads = (size_t)(bytes / BYTES_PER_THREAD) + 1;
    return threads > BULK_THREADS_MAX ? BULK_THREADS_MAX : threads;
}

/* Adds the rows of files to *rows, and to *bytes. */
static void
count_files(const struct row_file *files, size_t count, uint64_t *rows,
            uint64_t *bytes)
{
    for (size_t i = 0; i < count; i++) {
        *rows += files[i].row_count;
        *bytes += files[i].size;
    }
}

/* Ends sorting, with what is to be built; *rows and *bytes of that. */
static enum colander_code
end_sorting(struct colander_bulk *bulk, struct bulk_build *build,
            uint64_t *rows, uint64_t *bytes)
{
    const struct bulk_head *head = &bulk->head;
    struct row_sources *sources = &build->sources;
    enum colander_code code =
        row_sorter_finish(bulk->sorter, sources, rows, bytes, &bulk->err);

    if (code == COLANDER_OK)
        code = bulk_head_settle(&bulk->head, sources->run, &build->kept_count,
                                &bulk->err);
    if (code != COLANDER_OK)
        return code;
    build->kept = head->list;
    sources->withdrawn = bulk->files;
    sources->files = head->list + build->kept_count;
    sources->file_count = head->count - build->kept_count;
    count_files(sources->files, sources->file_count, rows, bytes);
    return COLANDER_OK;
}

static enum colander_code
build_files(struct colander_bulk *bulk, uint64_t *row_count)
{
    struct bulk_build build = {
        .files = bulk->files,
        .sst_size = bulk->limits.sst_size,
        .thread_count = bulk->limits.thread_count,
        .memory = BUILD_MEMORY,
        .is_cancelled = &bulk->is_cancelled,
        .passed = &bulk->passed,
    };
    enum colander_code code;
    uint64_t bytes;
    uint64_t rows;

    code = end_sorting(bulk, &build, &rows, &bytes);
    if (code == COLANDER_OK) {
        if (build.thread_count == 0)
            build.thread_count = threads_for(bulk->store, rows, bytes);
        atomic_store(&bulk->passed, atomic_load(&bulk->added) - rows);
        code = bulk_build(&build, &bulk->err);
    }
    if (code != COLANDER_OK) {
        colander_error_context(&bulk->err, "family '%s'",
                               colander_family_name(bulk->family));
        return code;
    }
    *row_count = atomic_load(&build.built);
    count_files(build.kept, build.kept_count, row_count, &bytes);
    return COLANDER_OK;
}

/* With all keys locked: a patch, which reads a row and writes it, must not do
 * so before and after the rows are there. Meanwhile nobody writes to the store,
 * so what takes long is done before. */
static enum colander_code
install_files(struct colander_bulk *bulk)
{
    const struct key_locks all = {.alone = UINT32_MAX};
    enum colander_code code = bulk_files_prepare(bulk->files, &bulk->err);

    static_assert(KEY_LOCKS == 32, "a bit for each");
    if (code != COLANDER_OK)
        return code;
    key_locks_lock(&all, bulk->store);
    code = bulk_files_install(bulk->files, &bulk->err);
    key_locks_unlock(&all, bulk->store);
    return code;
}

enum colander_code
colander_bulk_commit(struct colander_bulk *bulk, uint64_t *row_count,
                     struct colander_error *err)
{
    enum colander_code code = check_state(bulk, err);
    uint64_t built = 0;

    if (code != COLANDER_OK)
        return code;
    code = build_files(bulk, &built);
    if (code == COLANDER_OK)
        code = check_state(bulk, &bulk->err);
    if (code == COLANDER_OK)
        code = install_files(bulk);
    if (code != COLANDER_OK)
        return fail(bulk, code, err);
    if (row_count != NULL)
        *row_count = built;
    bulk->is_committed = true;
    give_up(bulk);
    return COLANDER_OK;
}
