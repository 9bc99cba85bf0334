/*
 * Rows, keys, paths and JSON while memory is short: each allocation in turn
 * fails, which returns NO_MEMORY, changes nothing and leaks nothing (the leak
 * checker verifies that).
 *
 * SPDX-License-Identifier: MIT
 */
#include "rows.h"
#include "support/cases.h"
#include "support/scoped.h"

#include <math.h>
#include <stdlib.h>

#include "columns/candidates.h"
#include "columns/finds/match_paths.h"
#include "columns/groups.h"
#include "columns/names.h"
#include "columns/row.h"
#include "support/failing_memory.h"

/*
 * Calls `work` with the first allocation failing, then with the second, until
 * it succeeds. Returns the number of failures. Afterwards none fails.
 */
typedef enum colander_code some_work(struct colander_error *err);

static long
failures_of(some_work *work)
{
    struct colander_error err;
    enum colander_code code;
    long failed = 0;

    for (;; failed++) {
        err.code = COLANDER_OK;
        allocations_left = failed;
        code = work(&err);
        allocations_left = -1;
        if (code == COLANDER_OK)
            return failed;
        assert_int_equal(code, COLANDER_NO_MEMORY);
        assert_int_equal(err.code, COLANDER_NO_MEMORY);
    }
}

/* A row too large for small tables and buffers; created by row_create. */
static struct colander_buffer large_row;

static int
row_create(void **state)
{
    (void)state;
    put_bytes(&large_row, "\x82\xa1m\xde\x00\xc8", 6);
    for (unsigned i = 0; i < 200; i++) {
        char name[8];

        snprintf(name, sizeof(name), "\xa4n%03u", i);
        put_bytes(&large_row, name, 5);
        put_byte(&large_row, i % 100);
    }
    put_bytes(&large_row, "\xa1l\x92\xa1x\x81\xa1y\xc0", 9);
    return 0;
}

static int
row_release(void **state)
{
    (void)state;
    colander_buffer_release(&large_row);
    return 0;
}

/* ----------------------------------------------------------------- rows --- */

static enum colander_code
check_large(struct colander_error *err)
{
    return colander_row_check(colander_buffer_slice(&large_row), err);
}

static enum colander_code
check_and_find_names(struct colander_error *err)
{
    struct names names;
    enum colander_code code;

    names_init(&names);
    code = row_check_names(colander_buffer_slice(&large_row), &names, err);
    if (code == COLANDER_OK)
        assert_int_equal(names.count, 203);
    names_release(&names);
    return code;
}

/* The path of a mistake is reported if there is memory for it. The mistake
 * itself always is. */
TEST(a_mistake_is_reported_even_without_memory)
{
    for (long failing = 0; failing < 3; failing++) {
        allocations_left = failing;
        FAILS(colander_row_check(BYTES("\x81\xa1x\xc1"), why()),
              COLANDER_INVALID);
        allocations_left = -1;
        assert_string_equal(
            error_text(),
            failing == 0 ? "row has bytes that are not a value"
                         : "column 'x': row has bytes that are not a value");
    }
}

static void
build_some(struct colander_row_builder *builder)
{
    colander_row_builder_begin_map(builder, "m");
    for (unsigned i = 0; i < 100; i++) {
        char name[8];

        snprintf(name, sizeof(name), "n%03u", i);
        colander_row_builder_add(builder, name, colander_text("0123456789"));
    }
    colander_row_builder_end(builder);
    colander_row_builder_begin_array(builder, "l");
    for (unsigned i = 0; i < 100; i++)
        colander_row_builder_add(builder, NULL, colander_timestamp(1, i));
    colander_row_builder_end(builder);
}

static enum colander_code
build(struct colander_error *err)
{
    SCOPED_BUILDER builder = colander_row_builder_create();
    struct colander_slice row;
    enum colander_code code;

    if (builder == NULL)
        return COLANDER_FAIL(err, COLANDER_NO_MEMORY, "no builder");
    build_some(builder);
    code = colander_row_builder_finish(builder, &row, err);
    allocations_left = -1;
    if (code == COLANDER_OK)
        assert_true(row.size > 1500);
    else
        assert_int_equal(row.size, 0);
    if (code != COLANDER_OK)
        OK(colander_row_builder_finish(builder, &row, NULL));
    return code;
}

/* For select and patch: a failure leaves nothing in `out`. */
static enum colander_code
select_some(struct colander_error *err)
{
    const char *const paths[] = {"m.n007", "l[].y", "m.n003", "l"};
    SCOPED_BUFFER out = COLANDER_BUFFER_EMPTY;
    enum colander_code code = colander_row_select(
        colander_buffer_slice(&large_row), paths, 4, &out, err);

    assert_int_equal(out.size > 0, code == COLANDER_OK);
    return code;
}

static enum colander_code
patch_with_itself(struct colander_error *err)
{
    struct colander_slice row = colander_buffer_slice(&large_row);
    SCOPED_BUFFER out = COLANDER_BUFFER_EMPTY;
    enum colander_code code = colander_row_patch(row, row, &out, err);

    assert_int_equal(out.size > 0, code == COLANDER_OK);
    return code;
}

static enum colander_code
get_one(struct colander_error *err)
{
    struct colander_value value;
    bool found;
    enum colander_code code = colander_row_get(
        colander_buffer_slice(&large_row), "l[].y", &value, &found, err);

    if (code == COLANDER_OK)
        assert_true(found);
    return code;
}

static enum colander_code
append_name(struct colander_error *err)
{
    SCOPED_BUFFER text = COLANDER_BUFFER_EMPTY;
    enum colander_code code =
        colander_path_append_name(&text, BYTES("a.b"), err);

    assert_int_equal(text.size, code == COLANDER_OK ? 4 : 0);
    return code;
}

/* ----------------------------------------------------------------- keys --- */

static char long_text[1000];

/* Decodes into a key with contents, which a failure leaves unchanged. */
static enum colander_code
encode_over(struct colander_error *err)
{
    struct colander_value part =
        colander_string(colander_slice_of(long_text, sizeof(long_text)));
    SCOPED_BUFFER key = COLANDER_BUFFER_EMPTY;
    uint8_t old[4];
    enum colander_code code = colander_key_text("ab", &key, err);

    if (code == COLANDER_OK) {
        memcpy(old, key.data, sizeof(old));
        code = colander_key_encode(&part, 1, &key, err);
        if (code == COLANDER_OK)
            assert_int_equal(key.size, 1 + 2 * sizeof(long_text) + 1);
        else
            ASSERT_SAME(colander_buffer_slice(&key), colander_slice_of(old, 4));
    }
    return code;
}

static enum colander_code
generate(struct colander_error *err)
{
    SCOPED_BUFFER key = COLANDER_BUFFER_EMPTY;
    enum colander_code code = colander_key_generate(&key, err);

    assert_int_equal(key.size, code == COLANDER_OK ? 28 : 0);
    return code;
}

static enum colander_code
decode_escaped(struct colander_error *err)
{
    struct colander_value parts[COLANDER_KEY_PARTS_MAX];
    SCOPED_BUFFER scratch = COLANDER_BUFFER_EMPTY;
    size_t count;
    enum colander_code code = colander_key_decode(
        BYTES("\x30\0\xff\0\x30\0\xff\0"), parts, &count, &scratch, err);

    assert_int_equal(count, code == COLANDER_OK ? 2 : 0);
    return code;
}

/* ----------------------------------------------------------------- JSON --- */

/* Failing to append leaves the text before it unchanged. */
static enum colander_code
append_json_row(struct colander_error *err)
{
    struct colander_slice key = BYTES("\x30\0\xff\0\x1a\x05");
    SCOPED_BUFFER json = COLANDER_BUFFER_EMPTY;
    enum colander_code code = colander_buffer_append(&json, "[", 1, err);

    if (code == COLANDER_OK) {
        code = colander_json_append_row(&json, key,
                                        colander_buffer_slice(&large_row), err);
        assert_int_equal(json.data[0], '[');
        assert_int_equal(json.size > 1, code == COLANDER_OK);
    }
    return code;
}

static struct colander_buffer large_json;

/* A failure changes nothing: the reader continues after it. */
static enum colander_code
read_json_row(struct colander_error *err)
{
    struct colander_slice text = colander_buffer_slice(&large_json);
    struct colander_json_reader *reader = colander_json_reader_create();
    struct colander_slice key, row;
    enum colander_code code;
    bool has_key;

    if (reader == NULL)
        return COLANDER_FAIL(err, COLANDER_NO_MEMORY, "no reader");
    code = colander_json_reader_row(reader, text, &key, &has_key, &row, err);
    allocations_left = -1;
    if (code != COLANDER_OK) {
        assert_int_equal(row.size, 0);
        OK(colander_json_reader_row(reader, text, &key, &has_key, &row, NULL));
    }
    assert_true(has_key);
    ASSERT_SAME(row, colander_buffer_slice(&large_row));
    colander_json_reader_destroy(reader);
    return code;
}

TEST(a_row_is_read_or_memory_is_short)
{
    struct colander_slice key = BYTES("\x30\0\xff\0\x1a\x05");

    OK(colander_json_append_row(&large_json, key,
                                colander_buffer_slice(&large_row), NULL));
    assert_true(failures_of(read_json_row) >= 10);
    colander_buffer_release(&large_json);
}

/* ------------------------------------------------------- filter queries --- */

static enum colander_code
make_filter_query(struct colander_error *err)
{
    static struct colander_predicate *predicate;
    struct filter_query *query;
    enum colander_code code;

    if (predicate == NULL) {
        long left = allocations_left;

        allocations_left = -1;
        predicate =
            colander_where("a.b", COLANDER_LT, colander_integer(5), NULL);
        allocations_left = left;
    }
    code = filter_query_create(predicate, &query, err);
    assert_int_equal(query != NULL, code == COLANDER_OK);
    filter_query_destroy(query);
    if (code == COLANDER_OK) {
        colander_predicate_destroy(predicate);
        predicate = NULL;
    }
    return code;
}

static enum colander_code
hash_path(struct colander_error *err)
{
    uint64_t hash;

    return path_hash_of_text("a.b[]", &hash, err);
}

static enum colander_code
count_matched(struct colander_error *err)
{
    static const char *const paths[] = {"a", "b", "c", "d", "e",
                                        "f", "g", "h", "i"};
    const struct colander_columns columns = {paths, 9, false};
    struct match_counts *counts = match_counts_create();
    enum colander_code code;

    if (counts == NULL)
        return COLANDER_FAIL(err, COLANDER_NO_MEMORY, "no memory");
    code = match_counts_add(counts, columns, err);
    match_counts_destroy(counts);
    return code;
}

/* Adds rows with many groups and values to two groups, which are merged. */
static enum colander_code
add_to_groups(struct colander_groups *const groups[2],
              struct colander_error *err)
{
    enum colander_code code = COLANDER_OK;

    for (int64_t i = 0; i < 30 && code == COLANDER_OK; i++) {
        struct colander_value s = colander_text("a text that is a key 00");
        struct colander_value at = colander_timestamp(i / 5 * 200000, 0);
        struct colander_value t = colander_double(ldexp(1, (int)i * 30));
        const struct colander_value *const given[] = {&at, &s, &t, &t,
                                                      &s,  &s, &t};
        const struct colander_result row = {
            .key = colander_slice_text("\x01k"),
            .row = colander_buffer_slice(&large_row),
        };

        s.bytes.size = 10 + (size_t)i % 14;
        code = colander_groups_add(groups[i % 2], &row, given, err);
    }
    return code == COLANDER_OK
               ? colander_groups_merge(groups[0], groups[1], err)
               : code;
}

static enum colander_code
group_rows(struct colander_error *err)
{
    const struct colander_group_key keys[] = {
        {"at", NULL, "1d", "Europe/Berlin"}, {"s", NULL, NULL, NULL}};
    const struct colander_measure measures[] = {
        {"sum", COLANDER_SUM, NULL, 0},
        {"p", COLANDER_QUANTILE, NULL, 0.5},
        {"max", COLANDER_MAX, NULL, 0},
        {"distinct", COLANDER_DISTINCT, NULL, 0},
        {"approx", COLANDER_APPROX_DISTINCT, NULL, 0},
        {"first", COLANDER_FIRST, "l", 0},
    };
    struct colander_groups *groups[2] = {NULL, NULL};
    struct colander_grouping grouping;
    struct colander_slice row;
    bool is_group = true;
    enum colander_code code;

    colander_grouping_init(&grouping);
    grouping.keys = keys;
    grouping.key_count = COUNT(keys);
    grouping.measures = measures;
    grouping.measure_count = COUNT(measures);
    grouping.time_path = "m.n001";
    grouping.fill = COLANDER_FILL_PREVIOUS;
    grouping.order = "sum";
    code = colander_groups_create(&grouping, &groups[0], err);
    if (code == COLANDER_OK)
        code = colander_groups_create(&grouping, &groups[1], err);
    if (code == COLANDER_OK)
        code = add_to_groups(groups, err);
    while (code == COLANDER_OK && is_group)
        code = colander_groups_next(groups[0], &is_group, &row, err);
    colander_groups_destroy(groups[0]);
    colander_groups_destroy(groups[1]);
    return code;
}

TEST(operations_succeed_or_memory_is_short)
{
    static const struct {
        const char *name;
        some_work *work;
        long failures_min;
    } works[] = {
        {"check large", check_large, 4},
        {"check and find names", check_and_find_names, 4},
        {"build", build, 5},
        {"select some", select_some, 3},
        {"patch with itself", patch_with_itself, 4},
        {"get one", get_one, 1},
        {"append name", append_name, 1},
        {"encode over", encode_over, 2},
        {"generate", generate, 1},
        {"decode escaped", decode_escaped, 1},
        {"append json row", append_json_row, 4},
        {"make filter query", make_filter_query, 1},
        {"hash path", hash_path, 1},
        {"count matched", count_matched, 5},
        {"group rows", group_rows, 100},
    };

    for (size_t i = 0; i < COUNT(works); i++) {
        const long failures = failures_of(works[i].work);

        if (failures < works[i].failures_min)
            fail_msg("%s: %ld failures", works[i].name, failures);
    }
}

int
main(void)
{
    return tests_run(row_create, row_release);
}
