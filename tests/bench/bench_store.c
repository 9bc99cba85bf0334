/*
 * A store of one family: created, loaded, queried.
 *
 * SPDX-License-Identifier: MIT
 */
#include "bench_store.h"

#include <time.h>

#define SMALL_STORE (UINT64_C(4) << 20) /* bytes: compacted in no time */
#define IDLE_SHARE 0.05 /* of a processor's time: less than a compaction's */

/* --------------------------------------------------------- open, close --- */

void
bench_store_open(struct bench_store *store, const char *path,
                 const struct colander_options *options,
                 const struct colander_filter_options *filters)
{
    bench_check(
        colander_store_open(path, options, &store->store, &bench_error));
    bench_check(colander_family_open(store->store, "rows", &store->family,
                                     &bench_error));
    bench_check(
        colander_batch_create(store->store, &store->batch, &bench_error));
    store->put_count = 0;
    if (filters != NULL)
        bench_check(
            colander_family_set_filters(store->family, filters, &bench_error));
}

void
bench_store_close(struct bench_store *store)
{
    colander_batch_destroy(store->batch);
    colander_family_close(store->family);
    bench_check(colander_store_close(store->store, &bench_error));
}

void
bench_store_commit(struct bench_store *store)
{
    bench_check(colander_batch_commit(store->batch, NULL, &bench_error));
}

void
bench_store_put(void *context, struct colander_slice key,
                struct colander_slice row)
{
    struct bench_store *store = context;

    bench_check(colander_batch_put(store->batch, store->family, key, row,
                                   &bench_error));
    if (++store->put_count % BENCH_BATCH == 0)
        bench_store_commit(store);
    if (store->put_count % (100 * BENCH_BATCH) == 0)
        bench_progress("loading: %.1f M rows", (double)store->put_count / 1e6);
}

void
bench_store_put_rows(struct bench_store *store, const struct bench_rows *rows)
{
    for (uint64_t i = 0; i < rows->count; i++)
        bench_store_put(store, bench_key(rows, i), bench_row(rows, i));
    bench_store_commit(store);
}

void
bench_store_load(struct bench_store *store, uint64_t rows)
{
    bench_make_rows(rows, 0, rows, bench_store_put, store);
    bench_store_settle(store);
}

void
bench_store_refilter(struct bench_store *store, uint32_t rows_per_segment)
{
    struct colander_filter_options filters;

    colander_filter_options_init(&filters);
    filters.rows_per_segment = rows_per_segment;
    bench_check(
        colander_family_set_filters(store->family, &filters, &bench_error));
    bench_check(colander_family_refilter(store->family, NULL, &bench_error));
    (void)bench_store_wait(store);
}

/* RocksDB does not report that compactions are over. They are once the files
 * have not changed, and processors have been nearly idle, for a while. Files
 * alone do not show it: a compaction adds all of its files at its end. */
double
bench_store_wait(struct bench_store *store)
{
    struct colander_family_sizes before = bench_store_sizes(store);
    const double seconds = before.sst_size < SMALL_STORE ? 0.02 : 0.1;
    const struct timespec pause = {0, (long)(seconds * 1e9)};
    double changed = bench_now();
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
    bench_check(colander_family_await_filters(store->family, &bench_error));
    return changed;
}

void
bench_store_settle(struct bench_store *store)
{
    bench_store_commit(store);
    bench_progress("compacting");
    bench_check(colander_family_flush(store->family, &bench_error));
    bench_check(colander_family_compact(store->family, &bench_error));
    (void)bench_store_wait(store);
    bench_progress("%s", "");
}

struct colander_filter_stats
bench_store_stats(struct bench_store *store)
{
    struct colander_filter_stats stats;

    bench_check(
        colander_family_filter_stats(store->family, &stats, &bench_error));
    if (stats.filter_count != stats.file_count)
        bench_fail("a file has no filter", stats.last_error);
    return stats;
}

struct colander_family_sizes
bench_store_sizes(struct bench_store *store)
{
    struct colander_family_sizes sizes;

    bench_check(colander_family_sizes(store->family, &sizes, &bench_error));
    return sizes;
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

struct colander_predicate *
bench_sound(struct colander_predicate *predicate)
{
    if (predicate == NULL)
        bench_fail("predicate", bench_error.message);
    return predicate;
}

static struct colander_predicate *
predicate_of(const struct bench_question *question)
{
    if (question->path == NULL)
        return bench_sound(
            colander_where_any_column(question->value, &bench_error));
    return bench_sound(colander_where(question->path, COLANDER_EQ,
                                      question->value, &bench_error));
}

uint64_t
bench_store_find(struct bench_store *store,
                 const struct colander_predicate *where,
                 bench_take_keyed *visit, void *context,
                 struct colander_explain *explain)
{
    struct colander_cursor *cursor;
    struct colander_result result;
    struct colander_query query;
    uint64_t found = 0;
    bool is_row = true;

    colander_query_init(&query);
    query.where = where;
    bench_check(
        colander_family_find(store->family, &query, &cursor, &bench_error));
    while (is_row) {
        bench_check(
            colander_cursor_next(cursor, &is_row, &result, &bench_error));
        found += is_row;
        if (is_row && visit != NULL)
            visit(context, result.key, result.row);
    }
    if (explain != NULL)
        colander_cursor_explain(cursor, explain);
    colander_cursor_close(cursor);
    return found;
}

/* Filters cannot help with a double negation. */
uint64_t
bench_store_scan(struct bench_store *store, struct colander_predicate *where,
                 bench_take_keyed *visit, void *context)
{
    struct colander_predicate *predicate = bench_sound(
        colander_not(colander_not(where, &bench_error), &bench_error));
    struct colander_explain explain;
    uint64_t found;

    found = bench_store_find(store, predicate, visit, context, &explain);
    if (explain.plan != COLANDER_PLAN_SCAN)
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
    bool found;

    bench_check(colander_key_encode(&question->key, 1, &key, &bench_error));
    bench_check(colander_family_get(store->family, colander_buffer_slice(&key),
                                    NULL, &row, &found, &bench_error));
    colander_buffer_release(&key);
    colander_buffer_release(&row);
    return found;
}

const char *
bench_plan(struct bench_store *store, enum bench_kind kind, uint64_t rows)
{
    struct bench_question question;
    struct colander_predicate *predicate;
    struct colander_explain explain;

    bench_question_make(&question, kind, rows, 0);
    predicate = predicate_of(&question);
    (void)bench_store_find(store, predicate, NULL, NULL, &explain);
    colander_predicate_destroy(predicate);
    return colander_plan_name(explain.plan);
}
