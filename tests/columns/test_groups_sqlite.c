/*
 * Random groupings of random rows: what SQLite says of the same rows, whether
 * they are grouped by the store or added and merged in parts, in any order.
 *
 * SQLite has no type for missing columns: a column that may be missing has
 * another beside it that says whether it is there.
 *
 * SPDX-License-Identifier: MIT
 */
#include "group_moves.h"
#include "support/random.h"
#include "support/store_fixture.h"

#include <math.h>
#include <sqlite3.h>

#define ROWS 600
#define ROUNDS_OF_ROWS 100 /* groupings of the same rows */
#define PARTS_MAX 4
#define START 1577836800 /* seconds since 1970 at which times begin */

static const char *const paths[] = {"a", "b", "t", "x", "u", "at"};
static const char *const sizes[] = {"15m", "1h", "6h", "1d", "90s"};
static const int seconds[] = {900, 3600, 21600, 86400, 90};

enum { A, B, T, X, U, AT, COLUMNS };

struct rows {
    struct colander_family *family;
    sqlite3 *database;
    struct colander_buffer *bytes; /* of each row */
};

struct measure {
    enum colander_aggregate aggregate;
    int column; /* -1: rows */
    char name[32];
};

struct question {
    int keys[3]; /* columns; AT is a bucket */
    int key_count;
    int size; /* of the bucket */
    struct measure measures[5];
    int measure_count;
    int above; /* a condition on t; -1: none */
};

/* ----------------------------------------------------------------- rows --- */

static void
execute(sqlite3 *database, const char *sql)
{
    char *message = NULL;

    if (sqlite3_exec(database, sql, NULL, NULL, &message) != SQLITE_OK)
        fail_msg("%s: %s", sql, message);
}

/* A value of a column. False: it is missing. */
static bool
random_value(uint64_t *random, int column, struct colander_value *value)
{
    static const char *const texts[] = {"", "a", "b", "ab", "\xc3\xa4", "B"};
    const uint64_t kind = random_below(random, 12);

    *value = colander_null();
    if (kind == 0)
        return false;
    if (kind == 1)
        return true;
    if (column == B || column == U || kind == 2)
        *value = colander_text(texts[random_below(random, COUNT(texts))]);
    else if (column == A)
        *value = kind < 7
                     ? colander_integer((int64_t)random_below(random, 4))
                     : colander_double((double)random_below(random, 8) / 2);
    else if (column == T) /* sums of these are exact in doubles, too */
        *value =
            kind < 7
                ? colander_integer((int64_t)random_below(random, 2000) - 1000)
                : colander_double((double)random_below(random, 4000) / 4 - 500);
    else if (column == X)
        *value = colander_double(
            ldexp((double)random_next(random), (int)random_below(random, 40)) -
            1e23);
    else
        *value = colander_timestamp(
            START + (int64_t)random_below(random, 9 * 96) * 900,
            (uint32_t)random_below(random, 2));
    return true;
}

static void
bind(sqlite3_stmt *statement, int at, const struct colander_value *value,
     bool found)
{
    ZERO(sqlite3_bind_int(statement, at + 1, found));
    if (!found || value->type == COLANDER_NULL)
        ZERO(sqlite3_bind_null(statement, at));
    else if (value->type == COLANDER_STRING)
        ZERO(sqlite3_bind_text(statement, at, (const char *)value->bytes.data,
                               (int)value->bytes.size, SQLITE_TRANSIENT));
    else if (value->type == COLANDER_DOUBLE)
        ZERO(sqlite3_bind_double(statement, at, value->number));
    else if (value->type == COLANDER_TIMESTAMP)
        ZERO(sqlite3_bind_int64(statement, at, value->second));
    else
        ZERO(sqlite3_bind_int64(statement, at, value->integer));
}

/* Fills the family and the table with the same rows. */
static void
make_rows(struct rows *rows, struct store_fixture *fixture, uint64_t *random)
{
    sqlite3_stmt *statement;

    execute(rows->database, "DROP TABLE IF EXISTS r");
    execute(rows->database,
            "CREATE TABLE r (id INTEGER PRIMARY KEY, a, a_is, b, b_is, t, t_is,"
            " x, x_is, u, u_is, at, at_is, moment)");
    execute(rows->database, "BEGIN");
    ZERO(sqlite3_prepare_v2(
        rows->database, "INSERT INTO r VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?)",
        -1, &statement, NULL));
    for (int64_t i = 0; i < ROWS; i++) {
        struct colander_slice row;

        ZERO(sqlite3_bind_int64(statement, 1, i));
        for (int column = 0; column < COLUMNS; column++) {
            struct colander_value value;
            bool found = random_value(random, column, &value);

            if (column == AT && value.type == COLANDER_STRING)
                found = false; /* not a time: as if it was missing */
            bind(statement, 2 + 2 * column, &value, found);
            if (column == AT) /* in nanoseconds */
                ZERO(found && value.type == COLANDER_TIMESTAMP
                         ? sqlite3_bind_int64(statement, 14,
                                              (value.second - START) *
                                                      1000000000 +
                                                  value.nanosecond)
                         : sqlite3_bind_null(statement, 14));
            if (found || value.type == COLANDER_STRING)
                colander_row_builder_add(fixture->builder, paths[column],
                                         value);
        }
        OK(colander_row_builder_finish(fixture->builder, &row, why()));
        put_at(rows->family, i, row);
        colander_buffer_clear(&rows->bytes[i]);
        OK(colander_buffer_append(&rows->bytes[i], row.data, row.size, NULL));
        assert_int_equal(sqlite3_step(statement), SQLITE_DONE);
        ZERO(sqlite3_reset(statement));
    }
    ZERO(sqlite3_finalize(statement));
    execute(rows->database, "COMMIT");
    if (random_below(random, 2) == 0)
        OK(colander_family_flush(rows->family, NULL));
}

/* ------------------------------------------------------------ questions --- */

static void
make_question(struct question *question, uint64_t *random)
{
    static const int key_columns[] = {A, B, AT, U};
    static const enum colander_aggregate aggregates[] = {
        COLANDER_COUNT, COLANDER_SUM,   COLANDER_AVG,  COLANDER_MIN,
        COLANDER_MAX,   COLANDER_FIRST, COLANDER_LAST, COLANDER_DISTINCT,
    };
    const unsigned mask = (unsigned)random_below(random, 16);

    memset(question, 0, sizeof(*question));
    for (int i = 0; i < 4 && question->key_count < 3; i++) {
        if ((mask >> i & 1) != 0)
            question->keys[question->key_count++] = key_columns[i];
    }
    question->size = (int)random_below(random, COUNT(sizes));
    question->measure_count = (int)random_below(random, 5) + 1;
    for (int i = 0; i < question->measure_count; i++) {
        struct measure *measure = &question->measures[i];

        measure->aggregate =
            aggregates[random_below(random, COUNT(aggregates))];
        measure->column = random_below(random, 2) == 0 ? T : X;
        if (measure->aggregate == COLANDER_COUNT &&
            random_below(random, 2) == 0)
            measure->column = -1;
        if (measure->aggregate == COLANDER_DISTINCT)
            measure->column = random_below(random, 2) == 0 ? U : A;
        snprintf(measure->name, sizeof(measure->name), "m%d", i);
    }
    question->above =
        random_below(random, 3) == 0 ? (int)random_below(random, 900) : -1;
}

static struct colander_groups *
make_groups(const struct question *question)
{
    struct colander_group_key keys[3];
    struct colander_measure measures[5];
    struct colander_grouping grouping;
    struct colander_groups *groups;

    memset(keys, 0, sizeof(keys));
    memset(measures, 0, sizeof(measures));
    colander_grouping_init(&grouping);
    for (int i = 0; i < question->key_count; i++) {
        keys[i].name = keys[i].path = paths[question->keys[i]];
        if (question->keys[i] == AT)
            keys[i].bucket = sizes[question->size];
    }
    for (int i = 0; i < question->measure_count; i++) {
        const struct measure *measure = &question->measures[i];

        measures[i].name = measure->name;
        measures[i].aggregate = measure->aggregate;
        measures[i].path = measure->column < 0 ? NULL : paths[measure->column];
    }
    grouping.keys = keys;
    grouping.key_count = (size_t)question->key_count;
    grouping.measures = measures;
    grouping.measure_count = (size_t)question->measure_count;
    grouping.time_path = "at";
    OK(colander_groups_create(&grouping, &groups, why()));
    return groups;
}

static void
append(char *sql, const char *format, ...)
{
    const size_t size = strlen(sql);
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(sql + size, 4096 - size, format, arguments);
    va_end(arguments);
}

static void
append_measure(char *sql, const struct measure *measure)
{
    const char *c = measure->column < 0 ? "*" : paths[measure->column];

    switch (measure->aggregate) {
    case COLANDER_COUNT:
        append(sql, ", count(%s)", c);
        return;
    case COLANDER_SUM:
    case COLANDER_AVG:
        append(sql, ", %s(CASE WHEN typeof(%s) <> 'text' THEN %s END)",
               measure->aggregate == COLANDER_SUM ? "sum" : "avg", c, c);
        return;
    case COLANDER_MIN:
    case COLANDER_MAX:
        append(sql, ", %s(%s)",
               measure->aggregate == COLANDER_MIN ? "min" : "max", c);
        return;
    case COLANDER_FIRST: /* the row, which is looked up */
    case COLANDER_LAST:
        append(sql,
               ", %s(CASE WHEN %s IS NOT NULL THEN moment * 1000 + id END) "
               "%% 1000",
               measure->aggregate == COLANDER_FIRST ? "min" : "max", c);
        return;
    default:
        append(sql, ", count(DISTINCT %s)", c);
    }
}

static sqlite3_stmt *
ask(struct rows *rows, const struct question *question)
{
    char sql[4096] = "SELECT 0";
    sqlite3_stmt *statement;

    for (int i = 0; i < question->key_count; i++) {
        const char *c = paths[question->keys[i]];

        if (question->keys[i] == AT)
            append(sql, ", at_is AS k%d, at / %d * %d AS v%d", i,
                   seconds[question->size], seconds[question->size], i);
        else
            append(sql, ", %s_is AS k%d, %s AS v%d", c, i, c, i);
    }
    for (int i = 0; i < question->measure_count; i++)
        append_measure(sql, &question->measures[i]);
    append(sql, " FROM r");
    if (question->above >= 0)
        append(sql, " WHERE typeof(t) <> 'text' AND t > %d", question->above);
    for (int i = 0; i < question->key_count; i++)
        append(sql, "%s k%d, v%d", i == 0 ? " GROUP BY" : ",", i, i);
    for (int i = 0; i < question->key_count; i++)
        append(sql, "%s k%d, v%d", i == 0 ? " ORDER BY" : ",", i, i);
    if (sqlite3_prepare_v2(rows->database, sql, -1, &statement, NULL) !=
        SQLITE_OK)
        fail_msg("%s: %s", sql, sqlite3_errmsg(rows->database));
    return statement;
}

/* ------------------------------------------------------------ comparing --- */

static double
double_of(const struct colander_value *value)
{
    return value->type == COLANDER_INTEGER ? (double)value->integer
                                           : value->number;
}

/* Asserts that a value is what SQLite has in a column. */
static void
assert_value(const struct colander_value *value, sqlite3_stmt *statement,
             int at, bool is_rounded)
{
    double number;

    switch (sqlite3_column_type(statement, at)) {
    case SQLITE_NULL:
        assert_int_equal(value->type, COLANDER_NULL);
        break;
    case SQLITE_TEXT:
        assert_int_equal(value->type, COLANDER_STRING);
        ASSERT_SAME(
            value->bytes,
            colander_slice_of(sqlite3_column_text(statement, at),
                              (size_t)sqlite3_column_bytes(statement, at)));
        break;
    default:
        number = sqlite3_column_double(statement, at);
        if (value->type == COLANDER_TIMESTAMP) {
            assert_int_equal(value->second,
                             sqlite3_column_int64(statement, at));
            break;
        }
        assert_true(colander_type_is_number(value->type));
        if (is_rounded)
            assert_true(fabs(double_of(value) - number) <=
                        1e-9 * fabs(number) + 1e12);
        else
            assert_true(double_of(value) == number);
    }
}

/* Asserts that a value is that of a column in the row whose number SQLite
 * has. */
static void
assert_value_of(const struct rows *rows, const struct colander_value *value,
                sqlite3_stmt *statement, int at, int column)
{
    struct colander_value expected = colander_null();
    bool found;

    if (sqlite3_column_type(statement, at) != SQLITE_NULL)
        OK(colander_row_get(
            colander_buffer_slice(
                &rows->bytes[sqlite3_column_int64(statement, at)]),
            paths[column], &expected, &found, why()));
    assert_int_equal(value->type, expected.type);
    ZERO(colander_value_compare(value, &expected));
}

static void
assert_group(const struct rows *rows, const struct question *question,
             struct colander_slice row, sqlite3_stmt *statement)
{
    struct colander_value value;
    int at = 1;
    bool found;

    for (int i = 0; i < question->key_count; i++, at += 2) {
        OK(colander_row_get(row, paths[question->keys[i]], &value, &found,
                            why()));
        assert_int_equal(found, sqlite3_column_int(statement, at));
        assert_value(&value, statement, at + 1, false);
    }
    for (int i = 0; i < question->measure_count; i++, at++) {
        const struct measure *measure = &question->measures[i];

        OK(colander_row_get(row, measure->name, &value, &found, why()));
        assert_true(found);
        if (measure->aggregate == COLANDER_FIRST ||
            measure->aggregate == COLANDER_LAST) {
            assert_value_of(rows, &value, statement, at, measure->column);
            continue;
        }
        assert_value(&value, statement, at,
                     measure->column == X &&
                         (measure->aggregate == COLANDER_SUM ||
                          measure->aggregate == COLANDER_AVG));
    }
}

/* Returns all groups as text, byte for byte, and compares them with SQLite. */
static void
take_groups(struct rows *rows, const struct question *question,
            struct colander_groups *groups, struct colander_buffer *all)
{
    sqlite3_stmt *statement = ask(rows, question);
    struct colander_slice row;
    bool is_group = true;

    colander_buffer_clear(all);
    while (is_group) {
        OK(colander_groups_next(groups, &is_group, &row, why()));
        assert_int_equal(sqlite3_step(statement),
                         is_group ? SQLITE_ROW : SQLITE_DONE);
        if (is_group) {
            assert_group(rows, question, row, statement);
            OK(colander_buffer_append(all, row.data, row.size, NULL));
        }
    }
    ZERO(sqlite3_finalize(statement));
    colander_groups_destroy(groups);
}

static struct colander_predicate *
condition_of(const struct question *question)
{
    return question->above < 0
               ? NULL
               : colander_where("t", COLANDER_GT,
                                colander_integer(question->above), NULL);
}

static struct colander_groups *
group_find(struct rows *rows, const struct question *question)
{
    SCOPED_PREDICATE where = condition_of(question);
    struct colander_groups *groups = make_groups(question);
    struct colander_query query = usual_query();

    query.where = where;
    OK(colander_family_group(rows->family, &query, groups, NULL, why()));
    return groups;
}

/* Adds the rows in a random order to parts, which are merged. */
static struct colander_groups *
group_parts(struct rows *rows, const struct question *question,
            uint64_t *random)
{
    SCOPED_PREDICATE where = condition_of(question);
    struct colander_groups *parts[PARTS_MAX];
    const size_t count = 1 + random_below(random, PARTS_MAX);
    int64_t order[ROWS];

    for (size_t i = 0; i < count; i++)
        parts[i] = make_groups(question);
    for (int64_t i = 0; i < ROWS; i++) {
        const size_t other = random_below(random, (uint64_t)i + 1);

        order[i] = order[other];
        order[other] = i;
    }
    for (int64_t i = 0; i < ROWS; i++) {
        struct colander_key key;
        const struct colander_value part = colander_integer(order[i]);
        const struct colander_result result = {
            .key = colander_key_of(&key, &part, 1),
            .row = colander_buffer_slice(&rows->bytes[order[i]]),
        };
        bool is_match = true;

        if (where != NULL)
            OK(colander_predicate_evaluate(where, result.row, &is_match, NULL,
                                           why()));
        if (is_match)
            OK(colander_groups_add(parts[random_below(random, count)], &result,
                                   NULL, why()));
    }
    for (size_t i = 1; i < count; i++) {
        if (i % 2 == 0)
            merge_moved(parts[0], parts[i]);
        else
            OK(colander_groups_merge(parts[0], parts[i], why()));
        colander_groups_destroy(parts[i]);
    }
    return parts[0];
}

FIXTURE_TEST(groups_are_those_of_sqlite)
{
    uint64_t random = random_seed(__func__);
    const uint64_t rounds = random_runs(2000);
    SCOPED_BUFFER found = COLANDER_BUFFER_EMPTY;
    SCOPED_BUFFER merged = COLANDER_BUFFER_EMPTY;
    struct rows rows = {.family = kept_family(fixture, "r")};

    rows.bytes = calloc(ROWS, sizeof(*rows.bytes));
    ZERO(sqlite3_open(":memory:", &rows.database));
    for (uint64_t round = 0; round < rounds; round++) {
        struct question question;

        if (round % ROUNDS_OF_ROWS == 0)
            make_rows(&rows, fixture, &random);
        make_question(&question, &random);
        take_groups(&rows, &question, group_find(&rows, &question), &found);
        take_groups(&rows, &question, group_parts(&rows, &question, &random),
                    &merged);
        ASSERT_SAME(colander_buffer_slice(&found),
                    colander_buffer_slice(&merged));
    }
    ZERO(sqlite3_close(rows.database));
    for (size_t i = 0; i < ROWS; i++)
        colander_buffer_release(&rows.bytes[i]);
    free(rows.bytes);
}
