/*
 * range: ranges, prefixes and order over columns of several kinds, in a
 * compacted and warm store, compared with SQLite (bench_sqlite_rows.h) with an
 * index on each of them, and with a scan.
 *
 * Both have a cache of 256 MiB, in which the rows of one kind of questions
 * about a column fit. Both read the same rows as a whole, and the first answers
 * to each question are checked.
 *
 * A figure is the mean of those of the columns; the list has these.
 *
 * SPDX-License-Identifier: MIT
 */
#include "bench_figures.h"
#include "bench_range_rows.h"
#include "bench_sqlite_rows.h"
#include "bench_store.h"

#include <stdlib.h>
#include <sys/stat.h>

#define CACHE_SIZE ((size_t)256 << 20) /* as bench_sqlite_rows.c has it */

/* The time of a way in a round, in seconds: once to warm, once measured. */
#define WAY_TIME_MAX 0.5
#define WAY_TIME_OF_ROW 10e-6

/* Who answers. */
enum asked { STORE, SCAN, SQLITE, ASKED };

static const struct kind {
    const char *name;
    uint64_t questions; /* different ones: their blocks fit into the caches */
    unsigned repeats;   /* of each in a round */
} kinds[BENCH_RANGE_KINDS] = {
    [BENCH_RANGE_10] = {"range_10", 5, 200},
    [BENCH_RANGE_100] = {"range_100", 5, 40},
    [BENCH_RANGE_1000] = {"range_1000", 2, 20},
    [BENCH_RANGE_10000] = {"range_10000", 1, 5},
    [BENCH_PREFIX_100] = {"prefix_100", 5, 40},
    [BENCH_TOP] = {"top20", 1, 200},
};

/* Questions of a kind about a column, answered by one. */
struct way {
    struct experiment *it;
    enum bench_range_kind kind;
    enum bench_range_column column;
    enum asked asked;
    struct bench_sqlite_question *question; /* prepared */
    uint64_t rows_read; /* for the first answers of the last round */
    uint64_t rows_returned;
};

struct experiment {
    uint64_t rows;
    struct bench_store store;
    uint64_t json_size;   /* of the rows as JSON lines */
    double load_times[2]; /* seconds, without groups of orders and with them,
                             of all rounds */
    struct colander_filter_stats plain; /* without them */
    struct bench_sqlite *sqlite;        /* NULL: it is not there */
    struct bench_range_set sets[BENCH_RANGE_COLUMNS][BENCH_RANGE_KINDS];
    struct way ways[BENCH_RANGE_COLUMNS * BENCH_RANGE_KINDS * ASKED];
    unsigned way_count;
    struct bench_turns turns;
};

/* ------------------------------------------------------------- loading --- */

static void
add_size(void *context, struct colander_slice key, struct colander_slice row)
{
    struct experiment *it = context;
    struct colander_buffer json = COLANDER_BUFFER_EMPTY;

    bench_check(colander_json_append_row(&json, key, row, &bench_error));
    it->json_size += json.size + 1;
    colander_buffer_release(&json);
}

/* Loads a store. `has_groups`: with the default budget for orders, otherwise
 * without one. Returns the time until it has its filters. */
static double
load(struct bench_store *store, uint64_t rows, const char *path,
     bool has_groups)
{
    struct colander_filter_options filters;
    struct colander_options options;
    double start;

    colander_options_init(&options);
    colander_filter_options_init(&filters);
    options.cache_size = CACHE_SIZE;
    if (!has_groups)
        filters.order_budget = 0;
    bench_store_open(store, path, &options, &filters);
    start = bench_now();
    bench_range_rows_make(rows, bench_store_put, store);
    bench_store_commit(store);
    bench_check(colander_family_flush(store->family, &bench_error));
    bench_check(colander_family_compact(store->family, &bench_error));
    bench_check(colander_family_await_filters(store->family, &bench_error));
    return bench_now() - start;
}

/* Loads the store with orders and without, in turns. The last one stays. */
static void
load_store(struct experiment *it, uint32_t rounds, const char *path)
{
    for (uint32_t i = 0; i < 2 * rounds; i++) {
        char below[4200];

        (void)snprintf(below, sizeof(below), "%s/store%u", path, i);
        if (i > 0)
            bench_store_close(&it->store);
        it->load_times[i % 2] += load(&it->store, it->rows, below, i % 2 == 1);
        if (i % 2 == 0)
            it->plain = bench_store_stats(&it->store);
    }
    (void)bench_store_wait(&it->store);
    bench_range_rows_make(it->rows, add_size, it);
}

#ifdef BENCH_SQLITE
static void
load_sqlite(struct experiment *it, const char *path)
{
    char below[4200];

    (void)snprintf(below, sizeof(below), "%s/sqlite", path);
    if (mkdir(below, 0700) != 0)
        bench_fail(below, "cannot be created");
    bench_progress("loading SQLite");
    it->sqlite = bench_sqlite_open(below);
    bench_range_rows_make(it->rows, bench_sqlite_put, it->sqlite);
    bench_sqlite_commit(it->sqlite);
    for (unsigned column = 0; column < BENCH_RANGE_COLUMNS; column++)
        bench_sqlite_index(it->sqlite, bench_range_column_name(column));
    bench_sqlite_settle(it->sqlite);
}

static void
prepare(struct way *way)
{
    const char *path = bench_range_column_name(way->column);

    if (way->asked == SQLITE)
        way->question =
            way->kind == BENCH_TOP
                ? bench_sqlite_top_prepare(way->it->sqlite, path,
                                           BENCH_TOP_ROWS)
                : bench_sqlite_range_prepare(way->it->sqlite, path,
                                             way->kind != BENCH_PREFIX_100);
}

static void
close_sqlite(struct experiment *it)
{
    for (unsigned i = 0; i < it->way_count; i++)
        bench_sqlite_question_destroy(it->ways[i].question);
    bench_sqlite_close(it->sqlite);
}
#else
static void
load_sqlite(struct experiment *it, const char *path)
{
    (void)it;
    (void)path;
}

static void
prepare(struct way *way)
{
    (void)way;
}

static void
close_sqlite(struct experiment *it)
{
    (void)it;
}
#endif

static void
make_questions(struct experiment *it)
{
    uint64_t counts[BENCH_RANGE_KINDS];

    for (unsigned kind = 0; kind < BENCH_RANGE_KINDS; kind++)
        counts[kind] = kinds[kind].questions;
    for (unsigned column = 0; column < BENCH_RANGE_COLUMNS; column++) {
        bench_progress("questions about %s", bench_range_column_name(column));
        bench_range_sets_make(it->rows, column, counts, it->sets[column]);
    }
}

/* Adds the ways of answering the questions that there are. */
static void
add_ways(struct experiment *it)
{
    for (unsigned i = 0; i < BENCH_RANGE_COLUMNS * BENCH_RANGE_KINDS * ASKED;
         i++) {
        struct way *way = &it->ways[it->way_count];
        const enum asked asked = i % ASKED;
        const enum bench_range_kind kind = i / ASKED % BENCH_RANGE_KINDS;

        *way = (struct way){
            .it = it,
            .kind = kind,
            .column = i / ASKED / BENCH_RANGE_KINDS,
            .asked = asked,
        };
        if (it->sets[way->column][kind].count == 0 ||
            (asked == SCAN && kind != BENCH_RANGE_100) ||
            (asked == SQLITE && it->sqlite == NULL))
            continue;
        prepare(way);
        it->way_count++;
    }
}

/* -------------------------------------------------------------- answers --- */

/* What is done with the rows of an answer: they are checked, or only read. */
struct answer {
    const struct bench_range_question *question;
    const struct way *way;
    struct colander_json_reader *reader; /* NULL: they are only read */
    uint64_t row_count;
    uint64_t key_sum;
    uint64_t touched;
};

static void
touch(struct answer *answer, struct colander_slice bytes)
{
    for (size_t i = 0; i < bytes.size; i += 64)
        answer->touched += bytes.data[i];
}

static void
check_row(struct answer *answer, struct colander_slice key,
          struct colander_slice row)
{
    const struct bench_range_question *question = answer->question;
    struct colander_value parts[COLANDER_KEY_PARTS_MAX];
    struct colander_buffer scratch = COLANDER_BUFFER_EMPTY;
    struct colander_value value;
    const uint64_t place = answer->row_count++;
    size_t count;
    bool found;

    bench_check(
        colander_key_decode(key, parts, &count, &scratch, &bench_error));
    answer->key_sum += (uint64_t)parts[0].integer;
    colander_buffer_release(&scratch);
    if (answer->way->kind != BENCH_TOP || place >= question->expected)
        return;
    bench_check(colander_row_get(row,
                                 bench_range_column_name(answer->way->column),
                                 &value, &found, &bench_error));
    if (!found || colander_value_compare(&value, &question->values[place]) != 0)
        bench_fail(bench_range_column_name(answer->way->column),
                   "the rows at the top are wrong");
}

static void
take_row(void *context, struct colander_slice key, struct colander_slice row)
{
    struct answer *answer = context;

    if (answer->reader != NULL)
        check_row(answer, key, row);
    else
        touch(answer, row);
}

/* Reads the rows with the greatest values at `path`, the greatest first. Sets
 * *explain to what that took. */
static uint64_t
read_top(struct bench_store *store, const char *path, bench_take_keyed *visit,
         void *context, struct colander_explain *explain)
{
    struct colander_ordered *ordered;
    struct colander_order order;
    struct colander_result result;
    struct colander_cursor *cursor = NULL;
    uint64_t found = 0;
    bool is_done;
    bool is_row;

    colander_order_init(&order);
    order.path = path;
    order.is_descending = true;
    order.limit = BENCH_TOP_ROWS;
    bench_check(colander_ordered_create(&order, &ordered, &bench_error));
    for (;;) {
        bench_check(colander_ordered_find(ordered, store->family, NULL, &cursor,
                                          &is_done, &bench_error));
        if (is_done)
            break;
        for (is_row = true; is_row && !colander_ordered_is_sated(ordered);) {
            bench_check(
                colander_cursor_next(cursor, &is_row, &result, &bench_error));
            if (is_row)
                bench_check(
                    colander_ordered_add(ordered, &result, &bench_error));
        }
    }
    colander_cursor_explain(cursor, explain);
    colander_cursor_close(cursor);
    for (is_row = true; is_row; found += is_row) {
        bench_check(
            colander_ordered_next(ordered, &is_row, &result, &bench_error));
        if (is_row)
            visit(context, result.key, result.row);
    }
    colander_ordered_destroy(ordered);
    return found;
}

static uint64_t
ask_store(struct way *way, const struct bench_range_question *question,
          struct answer *answer)
{
    struct bench_store *store = &way->it->store;
    const char *path = bench_range_column_name(way->column);
    const struct colander_value *values = question->values;
    struct colander_predicate *where;
    struct colander_explain explain;
    uint64_t found;

    if (way->kind == BENCH_TOP) {
        found = read_top(store, path, take_row, answer, &explain);
    } else {
        where = bench_sound(
            way->kind == BENCH_PREFIX_100
                ? colander_where_prefix(path, values[0], &bench_error)
                : colander_where_between(path, values[0], values[1],
                                         &bench_error));
        if (way->asked == SCAN)
            return bench_store_scan(store, where, take_row, answer);
        found = bench_store_find(store, where, take_row, answer, &explain);
        colander_predicate_destroy(where);
    }
    if (answer->reader != NULL) {
        way->rows_read += explain.rows_read + explain.rows_verified;
        way->rows_returned += found;
    }
    return found;
}

#ifdef BENCH_SQLITE
static void
take_json(void *context, struct colander_slice json)
{
    struct answer *answer = context;
    struct colander_slice key;
    struct colander_slice row;
    bool has_key;

    if (answer->reader == NULL) {
        touch(answer, json);
        return;
    }
    bench_check(colander_json_reader_row(answer->reader, json, &key, &has_key,
                                         &row, &bench_error));
    check_row(answer, key, row);
}

static uint64_t
ask_sqlite(const struct way *way, const struct bench_range_question *question,
           struct answer *answer)
{
    return bench_sqlite_read(way->question, question->values,
                             way->kind == BENCH_TOP ? 0 : 2, take_json, answer);
}
#else
static uint64_t
ask_sqlite(const struct way *way, const struct bench_range_question *question,
           struct answer *answer)
{
    (void)way;
    (void)question;
    (void)answer;
    return 0;
}
#endif

/* Asks all questions of a way `repeats` times, or as many as there is time for.
 * Returns microseconds for one. */
static double
ask(struct way *way, unsigned repeats, struct colander_json_reader *reader)
{
    const struct bench_range_set *set = &way->it->sets[way->column][way->kind];
    const double time = WAY_TIME_OF_ROW * (double)way->it->rows;
    double spent = 0;
    uint64_t asked;

    for (asked = 0; asked < repeats * set->count; asked++) {
        const struct bench_range_question *question =
            &set->questions[asked % set->count];
        struct answer answer = {question, way, reader, 0, 0, 0};
        const double start = bench_now();
        uint64_t found;

        if (spent > (time < WAY_TIME_MAX ? time : WAY_TIME_MAX))
            break;
        found = way->asked == SQLITE ? ask_sqlite(way, question, &answer)
                                     : ask_store(way, question, &answer);
        spent += bench_now() - start;
        if (found != question->expected ||
            (reader != NULL && way->kind != BENCH_TOP &&
             answer.key_sum != question->key_sum))
            bench_fail(kinds[way->kind].name, "found wrong rows");
    }
    return spent / (double)asked * 1e6;
}

/* Warms and checks, and measures. */
static void
take_turn(void *context, unsigned number, double times[BENCH_TIMES])
{
    struct way *way = (struct way *)context + number;
    struct colander_json_reader *reader = colander_json_reader_create();

    if (reader == NULL)
        bench_fail("cannot continue", "no memory");
    way->rows_read = 0;
    way->rows_returned = 0;
    (void)ask(way, 1, reader);
    colander_json_reader_destroy(reader);
    times[0] = ask(way, kinds[way->kind].repeats, NULL);
}

/* ------------------------------------------------------------- figures --- */

/* Sets *number to that of a way. Returns false if there is none. */
static bool
find_way(const struct experiment *it, enum bench_range_column column,
         enum bench_range_kind kind, enum asked asked, unsigned *number)
{
    for (*number = 0; *number < it->way_count; ++*number) {
        const struct way *way = &it->ways[*number];

        if (way->column == column && way->kind == kind && way->asked == asked)
            return true;
    }
    return false;
}

/* The mean over columns of the time of the store relative to another. Returns
 * false if no column has both. */
static bool
mean_over(const struct experiment *it, enum bench_range_kind kind,
          enum asked other, double *mean)
{
    double sum = 0;
    unsigned count = 0;

    for (unsigned column = 0; column < BENCH_RANGE_COLUMNS; column++) {
        unsigned a;
        unsigned b;

        if (find_way(it, column, kind, STORE, &a) &&
            find_way(it, column, kind, other, &b)) {
            sum += bench_turns_ratio(&it->turns, a, b, 0);
            count++;
        }
    }
    *mean = sum / count;
    return count > 0;
}

static void
print_ratios(const struct experiment *it, struct bench_figures *figures)
{
    double mean;

    if (mean_over(it, BENCH_RANGE_100, SCAN, &mean))
        bench_figure(figures, 1, 1 / mean, "scan_over_range_100");
    for (unsigned kind = 0; kind < BENCH_RANGE_KINDS; kind++)
        if (mean_over(it, kind, SQLITE, &mean))
            bench_figure(figures, 3, mean, "%s_over_sqlite", kinds[kind].name);
}

/* Rows read over rows returned, of all questions of a kind. */
static void
print_reads(const struct experiment *it, struct bench_figures *figures)
{
    for (unsigned kind = 0; kind < BENCH_RANGE_KINDS; kind++) {
        uint64_t rows_read = 0;
        uint64_t rows_returned = 0;

        for (unsigned i = 0; i < it->way_count; i++)
            if (it->ways[i].kind == kind && it->ways[i].asked == STORE) {
                rows_read += it->ways[i].rows_read;
                rows_returned += it->ways[i].rows_returned;
            }
        if (rows_returned > 0)
            bench_figure(figures, 2, (double)rows_read / (double)rows_returned,
                         "%s_read_over_returned", kinds[kind].name);
    }
}

/* Prints what was asked of a column as a group of a list. */
static void
print_way(const struct experiment *it, unsigned number,
          struct bench_figures *figures)
{
    const struct way *way = &it->ways[number];
    const struct bench_range_set *set = &it->sets[way->column][way->kind];
    uint64_t expected = 0;
    unsigned other;

    for (uint64_t i = 0; i < set->count; i++)
        expected += set->questions[i].expected;
    bench_figures_open(figures, NULL, '{');
    bench_figure_text(figures, "column", bench_range_column_name(way->column));
    bench_figure_text(figures, "question", kinds[way->kind].name);
    bench_figure(figures, 0, (double)expected / (double)set->count, "found");
    bench_figure(figures, 2,
                 (double)way->rows_read / (double)way->rows_returned,
                 "read_over_returned");
    bench_figure(figures, 1, bench_turns_median(&it->turns, number, 0), "us");
    if (find_way(it, way->column, way->kind, SQLITE, &other)) {
        bench_figure(figures, 1, bench_turns_median(&it->turns, other, 0),
                     "sqlite_us");
        bench_figure(figures, 3,
                     bench_turns_ratio(&it->turns, number, other, 0),
                     "over_sqlite");
    }
    if (find_way(it, way->column, way->kind, SCAN, &other))
        bench_figure(figures, 1,
                     bench_turns_ratio(&it->turns, other, number, 0),
                     "scan_over");
    bench_figures_close(figures, '}');
}

static void
print(struct experiment *it, const struct bench_options *options)
{
    struct bench_figures *figures =
        bench_figures_begin(options, "range", it->rows);
    const struct colander_filter_stats stats = bench_store_stats(&it->store);

    print_ratios(it, figures);
    print_reads(it, figures);
    bench_figure(figures, 4,
                 (double)(stats.filter_size - it->plain.filter_size +
                          it->plain.order_size) /
                     (double)it->json_size,
                 "order_share");
    bench_figure(figures, 4, (double)stats.filter_size / (double)it->json_size,
                 "filters_over_json");
    bench_figure(figures, 1, (double)it->json_size / (double)it->rows,
                 "row_size");
    bench_figure(figures, 3, it->load_times[0] / it->load_times[1], "ingest");
    bench_figure(figures, 2,
                 it->load_times[1] / options->rounds / (double)it->rows * 1e6,
                 "load_us_row");
    bench_figures_open(figures, "columns", '[');
    for (unsigned i = 0; i < it->way_count; i++)
        if (it->ways[i].asked == STORE)
            print_way(it, i, figures);
    bench_figures_close(figures, ']');
    bench_figures_end(figures);
}

/* ---------------------------------------------------------- experiment --- */

void
bench_range(const struct bench_options *options)
{
    struct experiment it = {.rows = bench_round_rows(options, 300000)};
    char *path = bench_make_directory(options);

    load_store(&it, options->rounds, path);
    load_sqlite(&it, path);
    make_questions(&it);
    add_ways(&it);
    bench_turns_take(&it.turns, options->rounds, it.way_count, take_turn,
                     it.ways);
    print(&it, options);
    bench_turns_release(&it.turns);
    close_sqlite(&it);
    bench_store_close(&it.store);
    for (unsigned i = 0; i < BENCH_RANGE_COLUMNS * BENCH_RANGE_KINDS; i++)
        free(it.sets[i / BENCH_RANGE_KINDS][i % BENCH_RANGE_KINDS].questions);
    bench_remove_directory(path);
}
