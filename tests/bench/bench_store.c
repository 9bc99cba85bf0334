/*
 * A store of one family: made, loaded, asked.
 *
 * SPDX-License-Identifier: MIT
 */
#include "bench_store.h"

#include <time.h>

#define BATCH 1000

#define SMALL_STORE (UINT64_C(4) << 20) /* bytes: compacted in no time */
#define IDLE_SHARE 0.05 /* of a processor's time: less than a compaction's */

/* --------------------------------------------------------- open, close --- */

void
bench_store_open(struct bench_store *store, const char *path,
                 const struct colander_options *options,
                 const struct colander_filter_options *filters)
{
    struct colander_error err;

    bench_check(colander_store_open(path, options, &store->store, &err), &err);
    bench_check(
        colander_family_open(store->store, "rows", &store->family, &err), &err);
    if (filters != NULL)
        bench_check(colander_family_set_filters(store->family, filters, &err),
                    &err);
}

void
bench_store_close(struct bench_store *store)
{
    struct colander_error err;

    colander_family_close(store->family);
    bench_check(colander_store_close(store->store, &err), &err);
}

void
bench_store_load(struct bench_store *store, uint64_t rows, uint64_t first,
                 uint64_t end)
{
    struct colander_batch *batch;
    struct colander_error err;
    struct bench_maker maker;

    bench_maker_init(&maker, rows);
    bench_check(colander_batch_create(store->store, &batch, &err), &err);
    for (uint64_t i = first; i < end; i++) {
        struct colander_slice key;
        struct colander_slice row;

        bench_make(&maker, i, &key, &row);
        bench_check(colander_batch_put(batch, store->family, key, row, &err),
                    &err);
        if (i % BATCH != BATCH - 1 && i != end - 1)
            continue;
        bench_check(colander_batch_commit(batch, COLANDER_NO_SYNC, &err), &err);
        if (i % (100ull * BATCH) == 100ull * BATCH - 1)
            bench_progress("loading: %.1f of %.1f M rows", (double)i / 1e6,
                           (double)end / 1e6);
    }
    bench_progress("%s", "");
    colander_batch_destroy(batch);
    bench_maker_release(&maker);
}

void
bench_store_refilter(struct bench_store *store, uint32_t rows_per_segment,
                     uint32_t hash_bits)
{
    struct colander_filter_options filters;
    struct colander_error err;

    colander_filter_options_init(&filters);
    filters.rows_per_segment = rows_per_segment;
    filters.hash_bits = hash_bits;
    bench_check(colander_family_set_filters(store->family, &filters, &err),
                &err);
    bench_check(colander_family_refilter(store->family, NULL, &err), &err);
    (void)bench_store_wait(store);
}

/* There is no telling when compactions are over: they are when the files have
 * stayed the same, and processors have done next to nothing, for a while. Files
 * alone do not tell: a compaction brings in all of its files at its end. */
double
bench_store_wait(struct bench_store *store)
{
    struct colander_family_sizes before = bench_store_sizes(store);
    const double seconds = before.sst_size < SMALL_STORE ? 0.02 : 0.1;
    const struct timespec pause = {0, (long)(seconds * 1e9)};
    double changed = bench_now();
    struct colander_error err;
    unsigned same = 0;

    while (same < 5) {
        const double work = bench_processor_now();
        struct colander_family_sizes now;
        bool is_idle;

        (void)nanosleep(&pause, NULL);
        is_idle = bench_processor_now() - work < IDLE_SHARE * seconds;
        now = bench_store_sizes(store);
        if (is_idle && now.sst_count == before.sst_count &&
            now.sst_size == before.sst_size)
            same++;
        else {
            same = 0;
            changed = bench_now();
        }
        before = now;
    }
    bench_check(colander_family_await_filters(store->family, &err), &err);
    return changed;
}

void
bench_store_settle(struct bench_store *store)
{
    struct colander_error err;

    bench_progress("compacting");
    bench_check(colander_family_flush(store->family, &err), &err);
    bench_check(colander_family_compact(store->family, &err), &err);
    (void)bench_store_wait(store);
    bench_progress("%s", "");
}

struct colander_filter_stats
bench_store_stats(struct bench_store *store)
{
    struct colander_filter_stats stats;
    struct colander_error err;

    bench_check(colander_family_filter_stats(store->family, &stats, &err),
                &err);
    if (stats.filter_count != stats.file_count)
        bench_fail("a file has no filter", stats.last_error);
    return stats;
}

struct colander_family_sizes
bench_store_sizes(struct bench_store *store)
{
    struct colander_family_sizes sizes;
    struct colander_error err;

    bench_check(colander_family_sizes(store->family, &sizes, &err), &err);
    return sizes;
}

uint64_t
bench_json_size(uint64_t rows)
{
    struct colander_buffer json = COLANDER_BUFFER_EMPTY;
    struct colander_error err;
    struct bench_maker maker;
    uint64_t size = 0;

    bench_maker_init(&maker, rows);
    for (uint64_t i = 0; i < rows; i++) {
        struct colander_slice key;
        struct colander_slice row;

        bench_make(&maker, i, &key, &row);
        colander_buffer_clear(&json);
        bench_check(colander_json_append_row(&json, key, row, &err), &err);
        size += json.size + 1;
    }
    colander_buffer_release(&json);
    bench_maker_release(&maker);
    return size;
}

const char *
bench_segment_name(uint32_t rows_per_segment)
{
    static char name[16];

    if (rows_per_segment == COLANDER_SEGMENT_AUTO)
        return "auto";
    (void)snprintf(name, sizeof(name), "%u", rows_per_segment);
    return name;
}

/* ----------------------------------------------------------- questions --- */

static struct colander_predicate *
predicate_of(const struct bench_question *question)
{
    struct colander_error err;
    struct colander_predicate *predicate;

    if (question->path == NULL)
        predicate = colander_where_any(question->value, &err);
    else
        predicate =
            colander_where(question->path, COLANDER_EQ, question->value, &err);
    if (predicate == NULL)
        bench_fail("predicate", err.message);
    return predicate;
}

uint64_t
bench_store_find(struct bench_store *store,
                 const struct colander_predicate *where, bench_visit *visit,
                 void *context, enum colander_plan *plan)
{
    struct colander_cursor *cursor;
    struct colander_explain explain;
    struct colander_result result;
    struct colander_query query;
    struct colander_error err;
    uint64_t found = 0;
    bool is_row = true;

    colander_query_init(&query);
    query.where = where;
    bench_check(colander_family_find(store->family, &query, &cursor, &err),
                &err);
    while (is_row) {
        bench_check(colander_cursor_next(cursor, &is_row, &result, &err), &err);
        found += is_row;
        if (is_row && visit != NULL)
            visit(context, result.key);
    }
    if (plan != NULL) {
        colander_cursor_explain(cursor, &explain);
        *plan = explain.plan;
    }
    colander_cursor_close(cursor);
    return found;
}

/* Filters cannot help with a double denial. */
uint64_t
bench_store_scan(struct bench_store *store, struct colander_predicate *where,
                 bench_visit *visit, void *context)
{
    struct colander_error err;
    struct colander_predicate *predicate =
        colander_not(colander_not(where, &err), &err);
    enum colander_plan plan;
    uint64_t found;

    if (predicate == NULL)
        bench_fail("scan", err.message);
    found = bench_store_find(store, predicate, visit, context, &plan);
    if (plan != COLANDER_PLAN_SCAN)
        bench_fail("scan", "it was answered without one");
    colander_predicate_destroy(predicate);
    return found;
}

uint64_t
bench_find_rows(void *context, const struct bench_question *question)
{
    struct colander_predicate *predicate = predicate_of(question);
    uint64_t found = bench_store_find(context, predicate, NULL, NULL, NULL);

    colander_predicate_destroy(predicate);
    return found;
}

uint64_t
bench_scan_rows(void *context, const struct bench_question *question)
{
    return bench_store_scan(context, predicate_of(question), NULL, NULL);
}

uint64_t
bench_get_row(void *context, const struct bench_question *question)
{
    struct bench_store *store = context;
    struct colander_buffer key = COLANDER_BUFFER_EMPTY;
    struct colander_buffer row = COLANDER_BUFFER_EMPTY;
    struct colander_error err;
    bool found;

    bench_check(colander_key_encode(&question->key, 1, &key, &err), &err);
    bench_check(colander_family_get(store->family, colander_buffer_slice(&key),
                                    NULL, &row, &found, &err),
                &err);
    colander_buffer_release(&key);
    colander_buffer_release(&row);
    return found;
}

const char *
bench_plan(struct bench_store *store, enum bench_kind kind, uint64_t rows)
{
    struct bench_question question;
    struct colander_predicate *predicate;
    enum colander_plan plan;

    bench_question_make(&question, kind, rows, 0);
    predicate = predicate_of(&question);
    (void)bench_store_find(store, predicate, NULL, NULL, &plan);
    colander_predicate_destroy(predicate);
    return colander_plan_name(plan);
}
