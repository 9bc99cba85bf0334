/*
 * Ranges, prefixes, orders and what combines them, through filters: many are
 * compared with one scan of the same snapshot, over values of every type, while
 * rows are written, patched and deleted, and files flushed, compacted and
 * filtered again. The ends of ranges are mostly values of rows and neighbours.
 * COLANDER_RUNS sets the number of questions.
 *
 * SPDX-License-Identifier: MIT
 */
#include "filters/range_values.h"
#include "support/cases.h"
#include "support/compared_finds.h"
#include "support/filter_files.h"

#include "core/array.h"

#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>
#include <xxhash.h>

#define MANY_ROWS 12000 /* of one file */
#define FEW_ROWS 2000
#define ROUND 2000  /* questions to a store, then there is another one */
#define BATCH 64    /* questions that are compared with one scan */
#define SAMPLES 250 /* values of rows, for each path */

/* ------------------------------------------------------------- the rows --- */

/* The paths that are asked. */
enum path {
    INTEGER,
    NUMBER, /* integers and doubles */
    WHEN,
    NAME,
    BLOB,
    OTHER,
    MIXED,  /* everything */
    FEW,    /* few values */
    NEAR,   /* integers that grow with the key */
    SPREAD, /* hardly any value twice */
    SAME,   /* one value, but for a few rows */
    RARE,   /* in few rows, everything */
    ELEMENT,
    DEEP,
    PATHS
};

static const char *const paths[PATHS] = {
    "integer", "number", "when",   "name", "blob", "other",  "mixed",
    "few",     "near",   "spread", "same", "rare", "list[]", "map.in.deep"};

/* A family, and the values that its rows have or had. */
struct rows {
    struct store_fixture *fixture;
    struct colander_family *family;
    struct colander_row_builder *builder;
    uint64_t key_count;
    struct sample samples[PATHS][SAMPLES];
    const struct sample *sorted[PATHS][SAMPLES]; /* the same, by their order */
    size_t sample_counts[PATHS];
    uint64_t seen[PATHS];
    struct find_counts counts; /* of the finds */
    uint64_t asked;
    uint64_t answered;    /* questions with rows */
    uint64_t orders;      /* questions for the first rows in an order, */
    uint64_t ordered;     /* those that have some, */
    uint64_t order_finds; /* and finds for them */
};

/* Adds a value to the row, and keeps it with the same chance as all others. */
static void
add(struct rows *it, enum path path, struct colander_value value,
    uint64_t *random)
{
    const char *name = path == ELEMENT ? NULL
                       : path == DEEP  ? "deep"
                                       : paths[path];
    uint64_t place = random_below(random, ++it->seen[path]);

    colander_row_builder_add(it->builder, name, value);
    if (it->sample_counts[path] < SAMPLES)
        place = it->sample_counts[path]++;
    if (place < SAMPLES)
        sample_set(&it->samples[path][place], value);
}

static void
add_kind(struct rows *it, enum path path, enum kind kind, uint64_t *random)
{
    uint8_t bytes[VALUE_SIZE];

    add(it, path, random_of_kind(kind, random, bytes), random);
}

/* The value that a path has in rows with a key. */
static void
add_random(struct rows *it, enum path path, uint64_t key, uint64_t *random)
{
    /* none is above zero, which equals the last */
    const struct colander_value few[] = {
        colander_integer(-(INT64_C(1) << 53) - 1),
        colander_double(-0x1p53),
        colander_integer(-2),
        colander_double(-2.0),
        colander_double(-1.5),
        colander_integer(-1),
        colander_double(-0.0)};

    switch (path) {
    case NUMBER:
        add_kind(it, path, (enum kind)random_below(random, 2), random);
        break;
    case FEW:
        add(it, path, few[random_below(random, COUNT(few))], random);
        break;
    case NEAR:
        add(it, path,
            colander_integer((int64_t)(16 * key + random_below(random, 64))),
            random);
        break;
    case SPREAD:
    case DEEP:
        add(it, path, colander_double((double)(random_next(random) >> 11) / 8),
            random);
        break;
    case SAME:
        if (random_below(random, 1000) == 0)
            add_kind(it, path, (enum kind)random_below(random, KINDS), random);
        else
            add(it, path, colander_text("always"), random);
        break;
    case MIXED:
    case RARE:
    case ELEMENT:
        add_kind(it, path, (enum kind)random_below(random, KINDS), random);
        break;
    default: /* in the order of kinds, but for NUMBER */
        add_kind(it, path,
                 (enum kind[]){INTEGERS, DOUBLES, TIMES, TEXTS, BINARIES,
                               OTHERS}[path],
                 random);
        break;
    }
}

/* Makes a row, or a patch of a few columns. Borrowed until the next one. */
static struct colander_slice
make_row(struct rows *it, uint64_t key, bool is_patch, uint64_t *random)
{
    const uint64_t absent = is_patch ? 3 : 1; /* of 4, or of 8 */
    struct colander_slice row;

    for (enum path path = 0; path < RARE; path++)
        if (random_below(random, is_patch ? 4 : 8) >= absent)
            add_random(it, path, key, random);
    if (random_below(random, 200) == 0)
        add_random(it, RARE, key, random);
    if (random_below(random, 2) == 0) {
        colander_row_builder_begin_array(it->builder, "list");
        for (uint64_t i = random_below(random, 4); i > 0; i--)
            add_random(it, ELEMENT, key, random);
        colander_row_builder_end(it->builder);
    }
    if (random_below(random, 3) == 0) {
        colander_row_builder_begin_map(it->builder, "map");
        colander_row_builder_begin_map(it->builder, "in");
        add_random(it, DEEP, key, random);
        colander_row_builder_end(it->builder);
        colander_row_builder_end(it->builder);
    }
    DID(colander_row_builder_finish(it->builder, &row, why()));
    return row;
}

/* ---------------------------------------------------------- the writing --- */

/* Creates a family of `count` rows in one file. */
static void
rows_create(struct rows *it, struct store_fixture *fixture, uint64_t count,
            uint64_t *random)
{
    struct colander_bulk *bulk;

    memset(it, 0, sizeof(*it));
    it->fixture = fixture;
    it->builder = colander_row_builder_create();
    it->family = fixture_family(fixture, "rows");
    it->key_count = count + count / 16;
    OK(colander_bulk_create(it->family, &bulk, NULL));
    while (count-- > 0) { /* rows in the order of keys become two files */
        const uint64_t number = count + count / 16;
        const struct colander_value part = colander_integer((int64_t)number);
        SCOPED_BUFFER key = COLANDER_BUFFER_EMPTY;

        OK(colander_key_encode(&part, 1, &key, NULL));
        OK(colander_bulk_add(bulk, colander_buffer_slice(&key),
                             make_row(it, number, false, random), NULL));
    }
    OK(colander_bulk_commit(bulk, NULL, NULL));
    colander_bulk_destroy(bulk);
}

static void
rows_drop(struct rows *it)
{
    OK(colander_family_drop(it->family, NULL));
    colander_family_close(it->family);
    colander_row_builder_destroy(it->builder);
}

/* Writes some rows, mostly others' successors. */
static void
write_some(struct rows *it, uint64_t count, uint64_t *random)
{
    while (count-- > 0) {
        const uint64_t number = random_below(random, it->key_count);
        const struct colander_value part = colander_integer((int64_t)number);
        SCOPED_BUFFER bytes = COLANDER_BUFFER_EMPTY;
        struct colander_slice key;

        DID(colander_key_encode(&part, 1, &bytes, why()));
        key = colander_buffer_slice(&bytes);
        switch (random_below(random, 4)) {
        case 0:
            DID(colander_family_delete(it->family, key, NULL, why()));
            break;
        case 1:
            DID(colander_family_patch(it->family, key,
                                      make_row(it, number, true, random), NULL,
                                      NULL));
            break;
        default:
            DID(colander_family_put(it->family, key,
                                    make_row(it, number, false, random), NULL,
                                    NULL));
            break;
        }
    }
}

/* ------------------------------------------------------------ questions --- */

static int
compare_samples(const void *a, const void *b)
{
    const struct sample *const *left = a;
    const struct sample *const *right = b;

    return colander_value_compare(&(*left)->value, &(*right)->value);
}

static void
sort_samples(struct rows *it)
{
    for (enum path path = 0; path < PATHS; path++) {
        for (size_t i = 0; i < it->sample_counts[path]; i++)
            it->sorted[path][i] = &it->samples[path][i];
        qsort(it->sorted[path], it->sample_counts[path],
              sizeof(it->sorted[path][0]), compare_samples);
    }
}

/* Sets two values of rows that are close to each other, or their neighbours, or
 * some that the path hardly has. */
static void
pick_ends(const struct rows *it, enum path path, uint64_t *random,
          struct sample ends[2])
{
    const enum path of = random_below(random, 12) == 0
                             ? (enum path)random_below(random, PATHS)
                             : path;
    const size_t count = it->sample_counts[of];
    size_t place = random_below(random, count + 1);

    for (unsigned i = 0; i < 2; i++) {
        if (place < count)
            sample_set(&ends[i], it->sorted[of][place]->value);
        else
            sample_set(&ends[i], random_integer(random));
        if (random_below(random, 4) == 0)
            make_neighbour(&ends[i], random);
        place += random_below(random, random_below(random, 8) == 0 ? 99 : 3);
    }
}

static struct colander_predicate *
compare_with(const char *path, const struct colander_value *value,
             uint64_t *random)
{
    static const enum colander_comparison comparisons[] = {
        COLANDER_LT, COLANDER_LE, COLANDER_GT, COLANDER_GE, COLANDER_NE};
    const uint64_t choice = random_below(random, 4);

    return colander_where(
        path, value->type == COLANDER_NULL ? COLANDER_NE : comparisons[choice],
        *value, NULL);
}

static struct colander_predicate *
random_range(const char *path, const struct colander_value ends[2],
             uint64_t *random)
{
    const bool are_numbers = colander_type_is_number(ends[0].type) &&
                             colander_type_is_number(ends[1].type);

    if (ends[0].type == COLANDER_NULL ||
        (ends[0].type != ends[1].type && !are_numbers))
        return compare_with(path, &ends[0], random);
    switch (random_below(random, 12)) {
    case 0:
        return predicate_any_between(ends[0], ends[1], NULL);
    case 1:
        return predicate_outside(path, ends, 1, NULL);
    case 2:
        return colander_not(
            colander_where_between(path, ends[0], ends[1], NULL), NULL);
    default:
        return colander_where_between(path, ends[0], ends[1], NULL);
    }
}

static struct colander_predicate *
random_beginning(const char *path, struct colander_value value,
                 uint64_t *random)
{
    if (value.type != COLANDER_STRING && value.type != COLANDER_BINARY)
        return compare_with(path, &value, random);
    if (random_below(random, 4) != 0)
        value.bytes.size -= random_below(
            random, value.bytes.size < 4 ? value.bytes.size + 1 : 4);
    while (value.type == COLANDER_STRING && value.bytes.size > 0 &&
           value.bytes.data[value.bytes.size - 1] >= 0x80)
        value.bytes.size--; /* perhaps half of a character */
    return colander_where_prefix(path, value, NULL);
}

static struct colander_predicate *
random_condition(const struct rows *it, uint64_t *random)
{
    const enum path place = (enum path)random_below(random, PATHS);
    const char *path = paths[place];
    struct sample samples[2];
    struct colander_value ends[2];

    pick_ends(it, place, random, samples);
    ends[0] = samples[0].value;
    ends[1] = samples[1].value;
    switch (random_below(random, 16)) {
    case 0:
        return colander_where(path, COLANDER_EQ, ends[0], NULL);
    case 1:
        return colander_where_in(path, ends, 2, NULL);
    case 2:
        return random_below(random, 2) == 0
                   ? colander_where_exists(path, NULL)
                   : colander_where_missing(path, NULL);
    case 3:
        return colander_where_any_column(ends[0], NULL);
    case 4:
    case 5:
    case 6:
        return compare_with(path, &ends[0], random);
    case 7:
    case 8:
    case 9:
        return random_beginning(path, ends[0], random);
    default:
        return random_range(path, ends, random);
    }
}

static struct colander_predicate *
random_conditions(const struct rows *it, unsigned depth, uint64_t *random)
{
    struct colander_predicate *operands[3];
    const size_t count = 1 + random_below(random, 3);

    if (depth == 0 || random_below(random, 2) == 0)
        return random_condition(it, random);
    if (random_below(random, 8) == 0)
        return colander_not(random_conditions(it, depth - 1, random), NULL);
    for (size_t i = 0; i < count; i++)
        operands[i] = random_conditions(it, depth - 1, random);
    return random_below(random, 3) != 0
               ? colander_all_of(operands, count, NULL)
               : colander_any_of(operands, count, NULL);
}

/* What is known of rows, in their order. */
struct hashes {
    uint64_t *hashes;
    size_t count;
    size_t capacity;
};

static void
note_row(struct hashes *rows, struct colander_slice key,
         struct colander_slice row)
{
    DID(array_reserve(&rows->hashes, rows->count, &rows->capacity, 1, why()));
    rows->hashes[rows->count++] = XXH3_64bits_withSeed(
        row.data, row.size, XXH3_64bits(key.data, key.size));
}

struct question {
    struct colander_query find;
    struct colander_predicate *where;
    struct colander_buffer bounds[2];
    struct hashes found;
    struct hashes expected; /* in the order of keys, without a limit */
};

static void
question_make(struct question *question, const struct rows *it,
              const struct colander_snapshot *snapshot, uint64_t *random)
{
    memset(question, 0, sizeof(*question));
    question->where = random_conditions(it, 2, random);
    CLAIM(question->where != NULL);
    question->find = usual_query();
    question->find.snapshot = snapshot;
    question->find.where = question->where;
    random_bounds(random, it->key_count, &question->find, question->bounds);
}

static void
question_find(struct question *question, struct rows *it)
{
    struct colander_cursor *cursor;
    struct colander_result result;

    DID(colander_family_find(it->family, &question->find, &cursor, why()));
    while (next_row(cursor, &result))
        note_row(&question->found, result.key, result.row);
    count_find(cursor, &it->counts);
    colander_cursor_close(cursor);
}

/* Notes the row if the question is for it. */
static void
question_judge(struct question *question, const struct colander_result *result)
{
    const struct colander_key_range *keys = &question->find.keys;
    struct colander_slice begin = result->key;
    bool is_match;

    if (begin.size > keys->to.size)
        begin.size = keys->to.size;
    if (colander_slice_compare(result->key, keys->from) < 0 ||
        (keys->to.size > 0 && colander_slice_compare(begin, keys->to) > 0))
        return;
    DID(colander_predicate_evaluate(question->where, result->row, &is_match,
                                    NULL, why()));
    if (is_match)
        note_row(&question->expected, result->key, result->row);
}

/* Asserts that the rows that were found are those of the scan. */
static void
question_settle(struct question *question, struct rows *it)
{
    const struct hashes *expected = &question->expected;
    const struct hashes *found = &question->found;
    size_t count = expected->count;

    if (count > question->find.limit)
        count = question->find.limit;
    CLAIM(found->count == count);
    for (size_t i = 0; i < count; i++)
        CLAIM(
            found->hashes[i] ==
            expected->hashes[question->find.is_reverse ? expected->count - 1 - i
                                                       : i]);
    it->asked++;
    it->answered += count > 0;
    free(question->expected.hashes);
    free(question->found.hashes);
    colander_predicate_destroy(question->where);
    colander_buffer_release(&question->bounds[0]);
    colander_buffer_release(&question->bounds[1]);
}

/* Asks questions, and compares the rows with those that one scan finds for all
 * of them. */
static void
ask(struct rows *it, const struct colander_snapshot *snapshot, uint64_t count,
    uint64_t *random)
{
    struct question questions[BATCH];
    struct colander_query scan = usual_query();
    struct colander_cursor *cursor;
    struct colander_result result;

    for (uint64_t i = 0; i < count; i++) {
        question_make(&questions[i], it, snapshot, random);
        question_find(&questions[i], it);
    }
    scan.snapshot = snapshot;
    DID(colander_family_find(it->family, &scan, &cursor, why()));
    while (next_row(cursor, &result)) {
        for (uint64_t i = 0; i < count; i++)
            question_judge(&questions[i], &result);
    }
    colander_cursor_close(cursor);
    for (uint64_t i = 0; i < count; i++)
        question_settle(&questions[i], it);
}

/* ---------------------------------------------------------------- order --- */

/* Adds rows of the cursor, but those with keys that are not wanted. */
static void
add_rows(struct colander_ordered *ordered, struct colander_cursor *cursor,
         uint64_t unwanted)
{
    struct colander_result result;
    bool is_row = true;

    while (is_row && !colander_ordered_is_sated(ordered)) {
        OK(colander_cursor_next(cursor, &is_row, &result, NULL));
        if (is_row && (unwanted == 0 ||
                       result.key.data[result.key.size - 1] % unwanted != 0))
            OK(colander_ordered_add(ordered, &result, NULL));
    }
}

/* The same first rows as of all rows, sorted; some rows are not wanted. */
static void
ask_order(struct rows *it, const struct colander_snapshot *snapshot,
          uint64_t *random)
{
    const enum path place = (enum path)random_below(random, PATHS);
    const uint64_t unwanted =
        random_below(random, 3) == 0 ? 2 + random_below(random, 5) : 0;
    SCOPED_PREDICATE where =
        random_below(random, 2) == 0 ? random_conditions(it, 1, random) : NULL;
    struct colander_query query = usual_query();
    struct colander_ordered *lists[2];
    struct colander_result rows[2];
    struct colander_cursor *cursor = NULL;
    struct colander_order order;
    uint64_t count = 0;
    bool is_row = true;
    bool is_done;

    query.snapshot = snapshot;
    query.where = where;
    query.is_reverse = random_below(random, 4) == 0;
    colander_order_init(&order);
    order.path = paths[place];
    order.is_descending = random_below(random, 2) == 0;
    order.limit = random_below(random, random_below(random, 4) == 0 ? 300 : 30);
    for (size_t i = 0; i < 2; i++)
        OK(colander_ordered_create(&order, &lists[i], NULL));
    for (;; it->order_finds++) {
        OK(colander_ordered_find(lists[0], it->family, &query, &cursor,
                                 &is_done, NULL));
        if (is_done)
            break;
        add_rows(lists[0], cursor, unwanted);
    }
    colander_cursor_close(cursor);
    OK(colander_family_find(it->family, &query, &cursor, NULL));
    add_rows(lists[1], cursor, unwanted);
    colander_cursor_close(cursor);
    while (is_row) {
        for (size_t i = 0; i < 2; i++) {
            const bool was_row = is_row;

            OK(colander_ordered_next(lists[i], &is_row, &rows[i], NULL));
            assert_true(i == 0 || is_row == was_row);
        }
        if (!is_row)
            break;
        assert_true(colander_slice_equal(rows[0].key, rows[1].key));
        assert_true(colander_slice_equal(rows[0].row, rows[1].row));
        count++;
    }
    it->ordered += count > 0;
    it->orders++;
    for (size_t i = 0; i < 2; i++)
        colander_ordered_destroy(lists[i]);
}

/* Asks now, and sometimes the rows as they were at `old` (NULL: never). */
static void
ask_many(struct rows *it, const struct colander_snapshot *old, uint64_t count,
         uint64_t *random)
{
    sort_samples(it);
    while (count > 0) {
        const uint64_t batch = count < BATCH ? count : BATCH;
        const uint64_t orders =
            batch / 8 + (random_below(random, 8) < batch % 8);
        SCOPED_SNAPSHOT now = NULL;

        OK(colander_store_snapshot(it->fixture->store, &now, NULL));
        for (uint64_t i = 0; i < orders; i++)
            ask_order(it, now, random);
        ask(it, old != NULL && random_below(random, 4) == 0 ? old : now,
            batch - orders, random);
        count -= batch;
    }
}

/* Prints what the finds did. Many must have found rows, and by filters. */
static void
check_counts(const struct rows *it)
{
    const struct find_counts *counts = &it->counts;

    printf("%llu of %llu questions have rows; %llu scans, %llu by candidates, "
           "%llu for nothing: %llu rows verified for %llu returned\n",
           (unsigned long long)it->answered, (unsigned long long)it->asked,
           (unsigned long long)counts->plans[COLANDER_PLAN_SCAN],
           (unsigned long long)counts->plans[COLANDER_PLAN_CANDIDATES],
           (unsigned long long)counts->plans[COLANDER_PLAN_NOTHING],
           (unsigned long long)counts->rows_verified,
           (unsigned long long)counts->row_count);
    printf("%llu of %llu orders have rows, after %llu finds\n",
           (unsigned long long)it->ordered, (unsigned long long)it->orders,
           (unsigned long long)it->order_finds);
    assert_true(it->orders < 10 ||
                (2 * it->ordered > it->orders && it->order_finds > it->orders));
    assert_true(it->asked < 100 || 4 * it->answered > it->asked);
    assert_true(it->asked < 100 ||
                30 * counts->plans[COLANDER_PLAN_CANDIDATES] > it->asked);
}

/* ---------------------------------------------------------------- tests --- */

/* Asserts that the filters have one file, with many rows in each part. */
static void
assert_parts(const struct rows *it, uint64_t row_count)
{
    struct colander_filter_stats stats;

    OK(colander_family_await_filters(it->family, NULL));
    OK(colander_family_filter_stats(it->family, &stats, NULL));
    assert_int_equal(stats.file_count, 1);
    printf("%llu rows in %llu parts\n", (unsigned long long)stats.row_count,
           (unsigned long long)stats.part_count);
    assert_true(stats.row_count >= row_count * stats.part_count);
}

static void
filter_again(struct rows *it, uint64_t *random)
{
    static const uint32_t rows[] = {1, 16, COLANDER_SEGMENT_AUTO};
    struct colander_filter_options options = usual_filters();

    options.rows_per_segment = rows[random_below(random, COUNT(rows))];
    options.hash_bits = 16 + (uint32_t)random_below(random, 25);
    OK(colander_family_set_filters(it->family, &options, NULL));
    OK(colander_family_refilter(it->family, NULL, NULL));
}

/* Asks a store of one large file, of that and rows in memory, of that and small
 * files, with other filters, and compacted. */
static void
ask_one_file(struct rows *it, uint64_t count, uint64_t *random)
{
    const uint64_t part = (count + 5) / 6;
    SCOPED_SNAPSHOT old = NULL;

    ask_many(it, NULL, part, random);
    OK(colander_store_snapshot(it->fixture->store, &old, NULL));
    write_some(it, 300, random);
    ask_many(it, old, part, random);
    OK(colander_family_flush(it->family, NULL));
    OK(colander_family_await_filters(it->family, NULL));
    ask_many(it, old, part, random);
    write_some(it, 3000, random);
    OK(colander_family_flush(it->family, NULL));
    ask_many(it, old, part, random);
    filter_again(it, random);
    ask_many(it, old, part, random);
    OK(colander_family_compact(it->family, NULL));
    OK(colander_family_await_filters(it->family, NULL));
    ask_many(it, old, part, random);
}

FIXTURE_TEST(ranges_equal_scans_in_a_file_of_many_rows)
{
    uint64_t random = random_seed("many");
    SCOPED_MEMORY struct rows *it = malloc(sizeof(*it));

    for (uint64_t left = random_runs(200); left > 0;) {
        const uint64_t count = left < ROUND ? left : ROUND;

        rows_create(it, fixture, MANY_ROWS, &random);
        assert_parts(it, 4000);
        ask_one_file(it, count, &random);
        check_counts(it);
        rows_drop(it);
        left -= count;
    }
}

/* ----------------------------------------------------- rows that change --- */

/* A thread that writes while others ask. */
struct writing {
    struct rows *rows;
    uint64_t random;
    _Atomic(uint64_t) asked; /* questions so far */
    atomic_bool is_over;
};

/* Writes some rows for each question, however busy the machine is. */
static void *
write_rows(void *context)
{
    struct writing *it = context;

    while (!atomic_load(&it->is_over)) {
        const uint64_t asked = atomic_load(&it->asked);

        write_some(it->rows, 20, &it->random);
        while (atomic_load(&it->asked) == asked && !atomic_load(&it->is_over))
            usleep(200);
    }
    return NULL;
}

static void
change_files(struct rows *it, uint64_t *random)
{
    switch (random_below(random, 12)) {
    case 0:
        OK(colander_family_compact(it->family, NULL));
        break;
    case 1:
        filter_again(it, random);
        break;
    case 2:
        OK(colander_family_await_filters(it->family, NULL));
        break;
    default:
        OK(colander_family_flush(it->family, NULL));
    }
}

/* The writer has values of its own. */
static struct rows *
writer_of(const struct rows *it)
{
    struct rows *writer = calloc(1, sizeof(*writer));

    writer->family = it->family;
    writer->key_count = it->key_count;
    writer->builder = colander_row_builder_create();
    return writer;
}

static void
ask_while_rows_change(struct rows *it, uint64_t count, uint64_t *random)
{
    struct writing writing = {.rows = writer_of(it),
                              .random = random_next(random)};
    struct colander_snapshot *old = NULL;
    pthread_t thread;

    ZERO(pthread_create(&thread, NULL, write_rows, &writing));
    for (uint64_t i = 0; i < count; i++) {
        if (i % 100 == 0) {
            colander_snapshot_release(old);
            OK(colander_store_snapshot(it->fixture->store, &old, NULL));
        }
        if (i % 10 == 0)
            change_files(it, random);
        ask_many(it, old, 1, random);
        atomic_fetch_add(&writing.asked, 1);
    }
    atomic_store(&writing.is_over, true);
    pthread_join(thread, NULL);
    colander_snapshot_release(old);
    colander_row_builder_destroy(writing.rows->builder);
    free(writing.rows);
}

FIXTURE_TEST(ranges_equal_scans_while_rows_and_files_change)
{
    uint64_t random = random_seed("changing");
    SCOPED_MEMORY struct rows *it = malloc(sizeof(*it));

    /* Few blocks have several versions of a row, and there are many files. */
    fixture->options.block_size = 1024;
    fixture->options.sst_size = 64 << 10;
    fixture_remake(fixture);
    for (uint64_t count, left = random_runs(800); left > 0; left -= count) {
        count = left < ROUND ? left : ROUND;
        rows_create(it, fixture, FEW_ROWS, &random);
        ask_while_rows_change(it, count, &random);
        check_counts(it);
        rows_drop(it);
    }
}
