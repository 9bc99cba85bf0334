/*
 * A store for the paper's experiments.
 *
 * SPDX-License-Identifier: MIT
 */
#include "bench_paper.h"
#include "tests/support/temporary.h"

#include <fcntl.h>
#include <ftw.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "columns/store.h"
#include "core/array.h"
#include "core/engine.h"

/* -------------------------------------------------------- open, close --- */

/* RocksDB's default level sizes apply: each level is ten times as large as the
 * one before, seven at most. Random texts do not compress. */
static void
settings_of(struct colander_options *options)
{
    colander_options_init(options);
    options->sst_size = PAPER_SST_SIZE;
    options->write_buffer_size = PAPER_BUFFER_SIZE;
    options->cache_size = PAPER_CACHE_SIZE;
    options->block_size = PAPER_BLOCK_SIZE;
    options->compression = COLANDER_COMPRESSION_NONE;
}

static void
filters_of(enum paper_filters kind, struct colander_filter_options *filters)
{
    colander_filter_options_init(filters);
    filters->is_on = kind != PAPER_NO_FILTERS;
    if (kind != PAPER_TREE_FILTERS)
        return;
    filters->rows_per_segment = 0;
    filters->filter_bits = PAPER_FILTER_BITS;
    filters->hierarchy = COLANDER_HIERARCHY_TREE;
    filters->tree_order = PAPER_ORDER;
    filters->memory_budget = UINT64_C(1) << 32; /* nothing is folded */
}

static void
insert(struct paper_store *store, struct paper_entries *entries)
{
    for (uint64_t i = 0; i < entries->count; i++) {
        struct colander_slice key;
        struct colander_slice row;

        paper_entry_make(entries, i, &key, &row);
        bench_store_put(&store->store, key, row);
    }
    bench_store_commit(&store->store);
}

void
paper_store_create(struct paper_store *store, const char *directory,
                   enum paper_filters kind, struct paper_entries *entries)
{
    struct colander_filter_options filters;
    struct colander_options options;
    double start;
    double work;

    memset(store, 0, sizeof(*store));
    (void)snprintf(store->path, sizeof(store->path), "%s/store", directory);
    settings_of(&options);
    filters_of(kind, &filters);
    bench_store_open(&store->store, store->path, &options, &filters);
    start = bench_now();
    work = bench_processor_now();
    insert(store, entries);
    store->insert_seconds = bench_now() - start;
    bench_check(colander_family_flush(store->store.family, &bench_error));
    store->create_seconds = bench_store_wait(&store->store) - start;
    store->create_work = bench_processor_now() - work;
}

static void
forget_list(struct paper_store *store)
{
    for (size_t i = 0; i < store->sst_count; i++)
        free(store->ssts[i].hashes);
    free(store->ssts);
    store->ssts = NULL;
    store->sst_count = 0;
    store->sst_capacity = 0;
    store->sst_size = 0;
}

void
paper_store_remove(struct paper_store *store)
{
    forget_list(store);
    bench_store_close(&store->store);
    temporary_remove(store->path);
}

void
paper_store_cool(struct paper_store *store, double *cold_share)
{
    struct colander_options options;

    bench_store_close(&store->store);
    settings_of(&options);
    bench_store_open(&store->store, store->path, &options, NULL);
    bench_check(
        colander_family_await_filters(store->store.family, &bench_error));
    paper_cool(cold_share, store->path);
}

/* --------------------------------------------------------- cold files --- */

/* nftw has no context. */
static struct {
    uint64_t count;
    uint64_t kept;
} pages;

/* Counts the pages of a file, and how many of them are in memory; if that is
 * unknown, all. */
static void
count_pages(int file, size_t size)
{
    const size_t page_size = (size_t)sysconf(_SC_PAGESIZE);
    const size_t count = (size + page_size - 1) / page_size;
    unsigned char *kept = bench_allocate(count, 1);
    void *map = mmap(NULL, size, PROT_READ, MAP_SHARED, file, 0);
    const bool is_known = map != MAP_FAILED && mincore(map, size, kept) == 0;

    pages.count += count;
    for (size_t i = 0; i < count; i++)
        pages.kept += !is_known || (kept[i] & 1) != 0;
    if (map != MAP_FAILED)
        (void)munmap(map, size);
    free(kept);
}

/* Only pages on the storage can be dropped, so dirty ones are written first. */
static int
visit_file(const char *path, const struct stat *status, int kind,
           struct FTW *place)
{
    int file;

    (void)place;
    if (kind != FTW_F || status->st_size == 0)
        return 0;
    file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return 0; /* the store has removed it */
    (void)fdatasync(file);
    (void)posix_fadvise(file, 0, 0, POSIX_FADV_DONTNEED);
    count_pages(file, (size_t)status->st_size);
    (void)close(file);
    return 0;
}

void
paper_cool(double *share_max, const char *directory)
{
    double share;

    pages.count = 0;
    pages.kept = 0;
    (void)nftw(directory, visit_file, 16, FTW_PHYS);
    share = pages.count == 0 ? 0 : (double)pages.kept / (double)pages.count;
    if (share > *share_max)
        *share_max = share;
}

/* ----------------------------------------------------------- SST files --- */

static struct engine *
engine_of(const struct paper_store *store)
{
    return store->store.store->engine;
}

/* The SST files of the store's own records are small, in another family. */
struct listing {
    struct paper_store *store;
    uint32_t family;
};

static enum colander_code
note_sst(void *context, const struct sst_info *file, struct colander_error *err)
{
    struct listing *listing = context;
    struct paper_store *store = listing->store;

    if (file->family != listing->family)
        return COLANDER_OK;
    if (array_reserve(&store->ssts, store->sst_count, &store->sst_capacity, 1,
                      err) != COLANDER_OK)
        return COLANDER_NO_MEMORY;
    store->ssts[store->sst_count] =
        (struct paper_sst){.number = file->number, .size = file->size};
    store->sst_size += file->size;
    store->sst_count++;
    return COLANDER_OK;
}

/* Walks all rows of an SST. */
static void
walk(struct paper_store *store, const struct paper_sst *file, void *context,
     void (*visit)(void *context, struct colander_slice key,
                   struct colander_slice row))
{
    struct engine_cursor *cursor;
    struct colander_slice key;
    struct colander_slice row;
    struct sst *sst;
    bool is_row;

    bench_check(sst_open(engine_of(store), file->number, &sst, &bench_error));
    bench_check(sst_cursor_open(sst, NULL, false, &cursor, &bench_error));
    bench_check(engine_cursor_next(cursor, &is_row, &key, &row, &bench_error));
    while (is_row) {
        visit(context, key, row);
        bench_check(
            engine_cursor_next(cursor, &is_row, &key, &row, &bench_error));
    }
    engine_cursor_close(cursor);
    sst_close(sst);
}

static void
note_hash(void *context, struct colander_slice key, struct colander_slice row)
{
    struct paper_sst *file = context;
    struct colander_value value;
    bool is_there;

    (void)key;
    bench_check(colander_row_get(row, "v", &value, &is_there, &bench_error));
    if (!is_there)
        bench_fail("SST file", "a row has no value");
    bench_check(array_reserve(&file->hashes, file->hash_count,
                              &file->hash_capacity, 1, &bench_error));
    file->hashes[file->hash_count++] = colander_value_hash(&value);
}

void
paper_store_list(struct paper_store *store)
{
    struct engine_family *family;
    struct listing listing = {.store = store};

    forget_list(store);
    bench_check(family_engine(store->store.family, &family, &bench_error));
    listing.family = engine_family_id(family);
    bench_check(
        engine_ssts(engine_of(store), note_sst, &listing, &bench_error));
    for (size_t i = 0; i < store->sst_count; i++) {
        bench_progress("reading SST %zu of %zu", i + 1, store->sst_count);
        walk(store, &store->ssts[i], &store->ssts[i], note_hash);
    }
    bench_progress("%s", "");
}

struct matching {
    const struct colander_predicate *predicate;
    struct paper_answer *answer;
};

static void
match(void *context, struct colander_slice key, struct colander_slice row)
{
    const struct matching *matching = context;
    bool is_match;

    bench_check(colander_predicate_evaluate(matching->predicate, row, &is_match,
                                            NULL, &bench_error));
    if (is_match)
        paper_answer_add(matching->answer, key);
}

void
paper_store_read(struct paper_store *store, size_t index,
                 const struct colander_predicate *predicate,
                 struct paper_answer *answer)
{
    struct matching matching = {predicate, answer};

    walk(store, &store->ssts[index], &matching, match);
}
