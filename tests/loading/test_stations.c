/*
 * The measurements of four stations: ranges over their columns, alone and
 * together, and the rows with the greatest and the least values, compared with
 * columns held in memory. Prints how many rows were read for those returned.
 *
 * COLANDER_RUNS sets the number of random questions.
 *
 * The files are not part of the project. They are searched for in
 * $COLANDER_DATA, or in ../shared/data next to the sources. Without them the
 * test is skipped.
 *
 * SPDX-License-Identifier: MIT
 */
#include "loading/load.h"
#include "support/cases.h"
#include "support/random.h"
#include "support/scoped.h"
#include "support/store_fixture.h"

#include <math.h>
#include <unistd.h>

#define STATIONS 4
#define TOP 20
#define MANY 100 /* rows of an answer whose cost is told */

/* Columns of numbers. */
enum column { PM25, PM10, SO2, NO2, CO, O3, TEMP, PRES, DEWP, RAIN, WSPM, NO };
#define COLUMNS (NO + 1)

static const char *const names[COLUMNS] = {"PM2.5", "PM10", "SO2",  "NO2",
                                           "CO",    "O3",   "TEMP", "PRES",
                                           "DEWP",  "RAIN", "WSPM", "No"};
static const char *const paths[COLUMNS] = {"PM2\\.5", "PM10", "SO2",  "NO2",
                                           "CO",      "O3",   "TEMP", "PRES",
                                           "DEWP",    "RAIN", "WSPM", "No"};

/* All rows, in the order of their keys. */
struct stations {
    struct colander_family *family;
    struct colander_buffer keys;
    size_t *key_ends;
    size_t count;
    double *values[COLUMNS]; /* NAN: none */
    double *sorted[COLUMNS]; /* those that there are */
    size_t sorted_counts[COLUMNS];
    double cost_sum; /* rows read over rows returned, of answers of MANY rows */
    unsigned cost_count;
};

/* ------------------------------------------------------------- loading --- */

static void
load(struct store_fixture *fixture, struct colander_family *family,
     char files[STATIONS][4096])
{
    const char *const given[STATIONS] = {files[0], files[1], files[2],
                                         files[3]};
    SCOPED_SCHEMA schema = NULL;
    struct colander_load_options options;
    struct colander_load *load;

    OK(colander_schema_open("air-quality", &schema, why()));
    colander_load_options_init(&options);
    options.schema = schema;
    options.is_bulk = true;
    OK(colander_load_create(fixture->store, family, &options, &load, why()));
    OK(colander_load_run(load, given, STATIONS, why()));
    colander_load_destroy(load);
}

static bool
number_of(const struct colander_value *value, double *number)
{
    *number = value->type == COLANDER_INTEGER  ? (double)value->integer
              : value->type == COLANDER_DOUBLE ? value->number
                                               : NAN;
    return colander_type_is_number(value->type);
}

static void
hold_row(struct stations *it, size_t index, struct colander_slice row)
{
    struct colander_members members;
    struct colander_slice name;
    struct colander_value value;
    bool is_member = true;

    for (enum column column = 0; column < COLUMNS; column++)
        it->values[column][index] = NAN;
    OK(colander_members_init(&members, row, NULL));
    for (;;) {
        OK(colander_members_next(&members, &is_member, &name, &value, NULL));
        if (!is_member)
            break;
        for (enum column column = 0; column < COLUMNS; column++)
            if (colander_slice_equal(name, colander_slice_text(names[column])))
                (void)number_of(&value, &it->values[column][index]);
    }
}

static int
compare_doubles(const void *a, const void *b)
{
    const double *left = a;
    const double *right = b;

    return (*left > *right) - (*left < *right);
}

static void
sort_columns(struct stations *it)
{
    for (enum column column = 0; column < COLUMNS; column++) {
        size_t count = 0;

        for (size_t i = 0; i < it->count; i++)
            if (!isnan(it->values[column][i]))
                it->sorted[column][count++] = it->values[column][i];
        qsort(it->sorted[column], count, sizeof(double), compare_doubles);
        it->sorted_counts[column] = count;
    }
}

static void
hold_rows(struct stations *it)
{
    const uint64_t count = count_rows(it->family);
    struct colander_result result;
    SCOPED_CURSOR cursor = NULL;
    bool is_row;

    it->key_ends = calloc(count, sizeof(*it->key_ends));
    for (enum column column = 0; column < COLUMNS; column++) {
        it->values[column] = calloc(count, sizeof(double));
        it->sorted[column] = calloc(count, sizeof(double));
    }
    OK(colander_family_find(it->family, NULL, &cursor, NULL));
    for (;; it->count++) {
        OK(colander_cursor_next(cursor, &is_row, &result, NULL));
        if (!is_row)
            break;
        OK(colander_buffer_append(&it->keys, result.key.data, result.key.size,
                                  NULL));
        it->key_ends[it->count] = it->keys.size;
        hold_row(it, it->count, result.row);
    }
    assert_int_equal(it->count, count);
    sort_columns(it);
}

static void
stations_release(struct stations *it)
{
    colander_family_close(it->family);
    colander_buffer_release(&it->keys);
    free(it->key_ends);
    for (enum column column = 0; column < COLUMNS; column++) {
        free(it->values[column]);
        free(it->sorted[column]);
    }
}

/* ----------------------------------------------------------- questions --- */

/* Values from `low` to `high` in a column, both included. */
struct range {
    enum column column;
    double low;
    double high;
};

static bool
has_all(const struct stations *it, size_t index, const struct range *ranges,
        size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const double value = it->values[ranges[i].column][index];

        if (!(value >= ranges[i].low && value <= ranges[i].high))
            return false;
    }
    return true;
}

static struct colander_predicate *
where_range(const struct range *range)
{
    const char *path = paths[range->column];
    const struct colander_value low = colander_double(range->low);
    const struct colander_value high = colander_double(range->high);

    if (isinf(range->low))
        return colander_where(path, COLANDER_LE, high, NULL);
    if (isinf(range->high))
        return colander_where(path, COLANDER_GE, low, NULL);
    return colander_where_between(path, low, high, NULL);
}

static void
count_cost(struct stations *it, const struct colander_cursor *cursor)
{
    struct colander_explain explain;

    colander_cursor_explain(cursor, &explain);
    if (explain.rows_returned < MANY)
        return;
    it->cost_sum += (double)(explain.rows_read + explain.rows_verified) /
                    (double)explain.rows_returned;
    it->cost_count++;
}

static void
ask(struct stations *it, const struct range *ranges, size_t count)
{
    struct colander_predicate *operands[4];
    struct colander_query query = usual_query();
    SCOPED_PREDICATE where = NULL;
    SCOPED_CURSOR cursor = NULL;

    for (size_t i = 0; i < count; i++)
        operands[i] = where_range(&ranges[i]);
    where = colander_all_of(operands, count, NULL);
    query.where = where;
    OK(colander_family_find(it->family, &query, &cursor, NULL));
    for (size_t i = 0; i <= it->count; i++) {
        const size_t start = i == 0 ? 0 : it->key_ends[i - 1];
        struct colander_result result;
        bool is_row;

        if (i < it->count && !has_all(it, i, ranges, count))
            continue;
        OK(colander_cursor_next(cursor, &is_row, &result, NULL));
        assert_int_equal(is_row, i < it->count);
        if (is_row)
            ASSERT_SAME(result.key, colander_slice_of(it->keys.data + start,
                                                      it->key_ends[i] - start));
    }
    count_cost(it, cursor);
}

/* Returns a range of about a share of the rows: at an end of the column, or
 * anywhere. */
static struct range
random_range(const struct stations *it, double share, uint64_t *random)
{
    const enum column column = (enum column)random_below(random, COLUMNS);
    const double *sorted = it->sorted[column];
    const size_t count = it->sorted_counts[column];
    const size_t size = 1 + (size_t)(share * (double)count);
    const size_t first = random_below(random, count - size);
    struct range range = {column, -HUGE_VAL, HUGE_VAL};

    switch (random_below(random, 3)) {
    case 0:
        range.low = sorted[count - size];
        break;
    case 1:
        range.high = sorted[size];
        break;
    default:
        range.low = sorted[first];
        range.high = sorted[first + size];
        break;
    }
    return range;
}

static void
ask_random(struct stations *it, uint64_t count, uint64_t *random)
{
    while (count-- > 0) {
        const size_t range_count = 1 + random_below(random, 3);
        struct range ranges[3];

        for (size_t i = 0; i < range_count; i++) {
            /* from a hundredth of a percent to a few, more of several */
            const double share = exp(-(double)random_below(random, 600) / 100) *
                                 (range_count == 1 ? 0.04 : 0.3);

            ranges[i] = random_range(it, share, random);
        }
        ask(it, ranges, range_count);
    }
}

/* Asks for the rows that are first in the order of a column. */
static void
ask_top(struct stations *it, enum column column, bool is_descending)
{
    const double *sorted = it->sorted[column];
    const size_t count = it->sorted_counts[column];
    const size_t null_count = it->count - count; /* they are the least */
    struct colander_ordered *ordered;
    struct colander_order order;
    struct colander_result result;
    SCOPED_CURSOR cursor = NULL;
    bool is_row;

    colander_order_init(&order);
    order.path = paths[column];
    order.is_descending = is_descending;
    order.limit = TOP;
    OK(colander_ordered_create(&order, &ordered, NULL));
    OK(colander_family_find(it->family, NULL, &cursor, NULL));
    for (;;) {
        OK(colander_cursor_next(cursor, &is_row, &result, NULL));
        if (!is_row)
            break;
        OK(colander_ordered_add(ordered, &result, NULL));
    }
    for (size_t i = 0; i <= TOP; i++) {
        struct colander_value value;
        double number;
        bool found;

        OK(colander_ordered_next(ordered, &is_row, &result, NULL));
        assert_int_equal(is_row, i < TOP);
        if (!is_row)
            break;
        OK(colander_row_get(result.row, paths[column], &value, &found, NULL));
        assert_true(found);
        if (!is_descending && i < null_count)
            assert_int_equal(value.type, COLANDER_NULL);
        else
            assert_true(
                number_of(&value, &number) &&
                number ==
                    sorted[is_descending ? count - 1 - i : i - null_count]);
    }
    colander_ordered_destroy(ordered);
}

/* --------------------------------------------------------------- tests --- */

/* Sets the paths of the files. Returns false if one is missing. */
static bool
find_files(char files[STATIONS][4096])
{
    static const char *const stations[STATIONS] = {"Aotizhongxin", "Changping",
                                                   "Dingling", "Dongsi"};
    const char *data = getenv("COLANDER_DATA");
    const char *source = getenv("COLANDER_SOURCE");

    for (unsigned i = 0; i < STATIONS; i++) {
        snprintf(files[i], 4096, "%s%s/air-%s.csv.gz",
                 data != NULL     ? data
                 : source != NULL ? source
                                  : ".",
                 data != NULL ? "" : "/../shared/data", stations[i]);
        if (access(files[i], R_OK) != 0) {
            printf("skipped: there is no %s (COLANDER_DATA says where)\n",
                   files[i]);
            return false;
        }
    }
    return true;
}

FIXTURE_TEST(ranges_and_order_are_those_of_the_columns)
{
    static const struct range some[][2] = {
        {{PM25, 400, HUGE_VAL}}, {{TEMP, -HUGE_VAL, -10}, {WSPM, 5, HUGE_VAL}}};
    uint64_t random = random_seed("stations");
    struct stations it = {.count = 0};
    char files[STATIONS][4096];

    if (!find_files(files))
        return;
    it.family = fixture_family(fixture, "air");
    load(fixture, it.family, files);
    hold_rows(&it);
    ask(&it, some[0], 1);
    ask(&it, some[1], 2);
    ask_random(&it, random_runs(198), &random);
    for (enum column column = 0; column < COLUMNS; column++) {
        ask_top(&it, column, true);
        ask_top(&it, column, false);
    }
    printf("%.1f rows read for each one returned, on average of %u questions "
           "of %d rows or more\n",
           it.cost_sum / it.cost_count, it.cost_count, MANY);
#ifdef COLANDER_FILTERS
    assert_true(it.cost_sum < 3 * it.cost_count); /* without orders 93 */
#endif
    stations_release(&it);
}
