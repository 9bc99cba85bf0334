/*
 * A store for the paper's experiments: see bench_paper_store.h.
 *
 * SPDX-License-Identifier: MIT
 */
#include "bench_paper_store.h"

#include <inttypes.h>
#include <stdlib.h>

#include "columns/store.h"

#define BATCH 1000

/* -------------------------------------------------------- open, close --- */

/* The sizes of levels, each ten times the one before, seven at most, are what
 * RocksDB has by itself. Random texts do not get smaller when compressed. */
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
    struct colander_batch *batch;
    struct colander_error err;

    bench_check(colander_batch_create(store->store.store, &batch, &err), &err);
    for (uint64_t i = 0; i < entries->count; i++) {
        struct colander_slice key;
        struct colander_slice row;

        paper_entry_make(entries, i, &key, &row);
        bench_check(
            colander_batch_put(batch, store->store.family, key, row, &err),
            &err);
        if (i % BATCH != BATCH - 1 && i != entries->count - 1)
            continue;
        bench_check(colander_batch_commit(batch, COLANDER_NO_SYNC, &err), &err);
        if (i % (100ull * BATCH) == 100ull * BATCH - 1)
            bench_progress("inserting: %.1f of %.1f M entries", (double)i / 1e6,
                           (double)entries->count / 1e6);
    }
    bench_progress("%s", "");
    colander_batch_destroy(batch);
}

void
paper_store_create(struct paper_store *store, const char *directory,
                   enum paper_filters kind, struct paper_entries *entries)
{
    struct colander_filter_options filters;
    struct colander_options options;
    struct colander_error err;
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
    bench_check(colander_family_flush(store->store.family, &err), &err);
    store->create_seconds = bench_store_wait(&store->store) - start;
    store->create_work = bench_processor_now() - work;
}

void
paper_store_settle(struct paper_store *store)
{
    bench_store_settle(&store->store);
}

static void
forget_list(struct paper_store *store)
{
    for (size_t i = 0; i < store->sst_count; i++)
        free(store->ssts[i].hashes);
    free(store->ssts);
    store->ssts = NULL;
    store->sst_count = 0;
    store->sst_size = 0;
}

void
paper_store_remove(struct paper_store *store)
{
    forget_list(store);
    bench_store_close(&store->store);
    bench_remove_directory(store->path);
}

static void
reopen(struct paper_store *store)
{
    struct colander_options options;

    bench_store_close(&store->store);
    settings_of(&options);
    bench_store_open(&store->store, store->path, &options, NULL);
}

void
paper_store_cool(struct paper_store *store, struct bench_cold *cold)
{
    struct colander_error err;

    reopen(store);
    bench_check(colander_family_await_filters(store->store.family, &err), &err);
    bench_cold_make(cold, store->path);
}

/* ----------------------------------------------------------- SST files --- */

static struct colander_engine *
engine_of(const struct paper_store *store)
{
    return store->store.store->engine;
}

/* The SST files of the store's own records are small and of another family. */
struct listing {
    struct paper_store *store;
    uint32_t family;
};

static enum colander_code
note_sst(void *context, const struct sst_info *file, struct colander_error *err)
{
    struct listing *listing = context;
    struct paper_store *store = listing->store;
    struct paper_sst *grown;

    if (file->family != listing->family)
        return COLANDER_OK;
    grown = realloc(store->ssts, (store->sst_count + 1) * sizeof(*grown));
    if (grown == NULL)
        return COLANDER_FAIL(err, COLANDER_NO_MEMORY, "cannot list SST files");
    store->ssts = grown;
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
    struct sst_cursor *cursor;
    struct colander_slice key;
    struct colander_slice row;
    struct colander_error err;
    struct sst *sst;

    bench_check(sst_open(engine_of(store), file->number, &sst, &err), &err);
    bench_check(sst_cursor_open(sst, NULL, false, &cursor, &err), &err);
    bench_check(sst_cursor_next(cursor, &key, &row, &err), &err);
    while (key.data != NULL) {
        visit(context, key, row);
        bench_check(sst_cursor_next(cursor, &key, &row, &err), &err);
    }
    sst_cursor_close(cursor);
    sst_close(sst);
}

static void
note_hash(void *context, struct colander_slice key, struct colander_slice row)
{
    struct paper_sst *file = context;
    struct colander_value value;
    struct colander_error err;
    bool is_there;

    (void)key;
    bench_check(colander_row_get(row, "v", &value, &is_there, &err), &err);
    if (!is_there)
        bench_fail("SST file", "a row has no value");
    if ((file->hash_count & (file->hash_count - 1)) == 0) {
        const size_t capacity =
            file->hash_count == 0 ? 1 : 2 * file->hash_count;
        uint64_t *grown =
            realloc(file->hashes, capacity * sizeof(*file->hashes));

        if (grown == NULL)
            bench_fail("SST file", "no memory");
        file->hashes = grown;
    }
    file->hashes[file->hash_count++] = colander_value_hash(&value);
}

void
paper_store_list(struct paper_store *store)
{
    struct colander_engine_family *family;
    struct listing listing = {.store = store};
    struct colander_error err;

    forget_list(store);
    bench_check(family_engine(store->store.family, &family, &err), &err);
    listing.family = colander_engine_family_id(family);
    bench_check(engine_ssts(engine_of(store), note_sst, &listing, &err), &err);
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
    struct colander_error err;
    bool is_match;

    bench_check(colander_predicate_evaluate(matching->predicate, row, &is_match,
                                            NULL, &err),
                &err);
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
