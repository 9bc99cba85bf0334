/*
 * The options of filters: which are refused, that they are kept, and that finds
 * give what scans give whatever they say, also while they change.
 *
 * COLANDER_RUNS sets the number of finds while they change.
 *
 * SPDX-License-Identifier: MIT
 */
#include "support/filter_files.h"
#include "support/random_files.h"

#include <pthread.h>
#include <stdatomic.h>

static void
assert_refused(struct colander_family *family,
               const struct colander_filter_options *options, const char *word)
{
    struct colander_error err;

    assert_int_equal(colander_family_set_filters(family, options, &err),
                     COLANDER_INVALID);
    assert_non_null(strstr(err.message, word));
}

static void
bad_options_are_refused_by_name(void **state)
{
    struct colander_family *family = fixture_family(*state, "rows");
    const char *const bad_path[] = {"a["};
    struct colander_filter_options good;
    struct colander_filter_options bad;

    colander_filter_options_init(&good);
#define REFUSED(member, value)                                                 \
    do {                                                                       \
        bad = good;                                                            \
        bad.member = (value);                                                  \
        assert_refused(family, &bad, #member);                                 \
    } while (0)
    REFUSED(rows_per_segment, 3);
    REFUSED(rows_per_segment, 1u << 17);
    REFUSED(hash_bits, 15);
    REFUSED(hash_bits, 41);
    REFUSED(fp_rate, 0);
    REFUSED(fp_rate, 1);
    REFUSED(bits_per_value, -1);
    REFUSED(bits_per_value, 65);
    REFUSED(filter_bits, UINT64_MAX);
    REFUSED(tree_order, 1);
    REFUSED(memory_budget, 1);
    REFUSED(hierarchy, (enum colander_hierarchy)7);
#undef REFUSED
    bad = good;
    bad.left_out = bad_path;
    bad.left_out_count = 1;
    assert_refused(family, &bad, "a[");
    assert_false(colander_family_exists(family));
    colander_family_close(family);
}

static void
options_are_kept_over_a_reopen(void **state)
{
    static const char *const left_out[] = {"a", "b.c[]"};
    struct store_fixture *fixture = *state;
    struct colander_family *family = fixture_family(fixture, "rows");
    struct colander_filter_options options;

    colander_filter_options_init(&options);
    options.rows_per_segment = 64;
    options.hash_bits = 24;
    options.fp_rate = 0.125;
    options.hierarchy = COLANDER_HIERARCHY_TREE;
    options.tree_order = 5;
    options.memory_budget = 1 << 20;
    options.left_out = left_out;
    options.left_out_count = 2;
    OK(colander_family_set_filters(family, &options, NULL));
    colander_family_close(family);
    fixture_reopen(fixture, COLANDER_OPEN_READ_ONLY);
    family = fixture_family(fixture, "rows");
    OK(colander_family_get_filters(family, &options, NULL));
    assert_true(options.is_on);
    assert_int_equal(options.rows_per_segment, 64);
    assert_int_equal(options.hash_bits, 24);
    assert_true(options.fp_rate == 0.125);
    assert_int_equal(options.hierarchy, COLANDER_HIERARCHY_TREE);
    assert_int_equal(options.tree_order, 5);
    assert_int_equal(options.memory_budget, 1 << 20);
    assert_int_equal(options.left_out_count, 2);
    assert_string_equal(options.left_out[0], "a");
    assert_string_equal(options.left_out[1], "b.c[]");
    colander_filter_options_release(&options);
    colander_family_close(family);
}

/* Such rows leave no notes of what was written lately. */
static void
rows_without_an_indexed_value_are_found_before_a_flush(void **state)
{
    static const char *const left_out[] = {"a"};
    static const uint8_t empty[] = {0x81, 0xa1, 't', 0x90}; /* {t: []} */
    struct store_fixture *fixture = *state;
    struct colander_family *family = fixture_family(fixture, "rows");
    struct colander_buffer key = text_key("k2");
    struct colander_filter_options options;
    struct colander_query query;
    uint64_t count;

    colander_filter_options_init(&options);
    options.left_out = left_out;
    options.left_out_count = 1;
    OK(colander_family_set_filters(family, &options, NULL));
    OK(put_text(fixture, family, "k1", "a", colander_integer(7), NULL));
    assert_int_equal(count_equal(fixture, family, "a", 7), 1);
    OK(colander_family_flush(family, NULL));
    assert_int_equal(count_equal(fixture, family, "a", 7), 1);

    OK(colander_family_put(family, colander_buffer_slice(&key),
                           colander_slice_of(empty, sizeof(empty)),
                           COLANDER_AS_STORE, NULL));
    colander_query_init(&query);
    query.where = colander_where_exists("t", NULL);
    OK(colander_family_count(family, &query, &count, NULL));
    assert_int_equal(count, 1);
    colander_predicate_destroy((struct colander_predicate *)query.where);
    colander_buffer_release(&key);
    colander_family_close(family);
}

static void
columns_left_out_are_in_no_filter_and_found(void **state)
{
    static const char *const left_out[] = {"place"};
    struct store_fixture *fixture = *state;
    struct colander_family *family = fixture_family(fixture, "rows");
    uint64_t random = random_seed("left out");
    struct find_counts counts = {.row_count = 0};
    struct colander_filter_options options;
    uint64_t values;
    uint64_t done;

    write_files(fixture, family, 3, &random);
    assert_all_loaded(family);
    values = filter_stats(family).value_count;
    colander_filter_options_init(&options);
    options.left_out = left_out;
    options.left_out_count = 1;
    OK(colander_family_set_filters(family, &options, NULL));
    OK(colander_family_refilter(family, &done, NULL));
    assert_int_equal(done, filter_stats(family).file_count);
    assert_true(filter_stats(family).value_count < values);
    compare_some(fixture, family, &random, &counts);
    for (int64_t i = 0; i < 10; i++) {
        (void)compare_equal(fixture->store, family, "place.zip",
                            colander_integer(i), &counts);
        (void)compare_equal(fixture->store, family, NULL, colander_integer(i),
                            &counts);
    }
    options.left_out_count = 0;
    OK(colander_family_set_filters(family, &options, NULL));
    OK(colander_family_refilter(family, NULL, NULL));
    assert_int_equal(filter_stats(family).value_count, values);
    options.is_on = false;
    OK(colander_family_set_filters(family, &options, NULL));
    write_files(fixture, family, 1, &random);
    assert_true(filter_stats(family).filter_count <
                filter_stats(family).file_count);
    compare_some(fixture, family, &random, &counts);
    colander_family_close(family);
}

/* ------------------------------------------------- options while writing ---
 */

struct writing {
    struct colander_family *family;
    uint64_t random;
    atomic_bool is_over;
};

static void *
write_rows(void *context)
{
    struct writing *writing = context;
    struct colander_row_builder *builder = colander_row_builder_create();
    struct colander_buffer key = COLANDER_BUFFER_EMPTY;

    while (!atomic_load(&writing->is_over)) {
        for (unsigned i = 0; i < 20; i++) {
            random_key(&writing->random, KEYS, &key);
            OK(colander_family_patch(writing->family,
                                     colander_buffer_slice(&key),
                                     random_row(builder, &writing->random),
                                     COLANDER_AS_STORE, NULL));
        }
        pause_shortly();
    }
    colander_buffer_release(&key);
    colander_row_builder_destroy(builder);
    return NULL;
}

static void
random_options(uint64_t *random, struct colander_filter_options *options)
{
    static const uint32_t rows[] = {0, 1, 2, 16, 256, COLANDER_SEGMENT_AUTO};
    static const char *const left_out[] = {"user", "place.city", "tags"};

    colander_filter_options_init(options);
    options->is_on = random_below(random, 4) != 0;
    options->rows_per_segment = rows[random_below(random, 6)];
    options->hash_bits = 16 + (uint32_t)random_below(random, 25);
    options->left_out = left_out;
    options->left_out_count = random_below(random, 4);
    if (random_below(random, 3) == 0)
        options->bits_per_value = 4;
    if (random_below(random, 3) == 0)
        options->filter_bits = 20000;
    if (random_below(random, 2) == 0)
        options->hierarchy = COLANDER_HIERARCHY_TREE;
    options->tree_order = 2 + (uint32_t)random_below(random, 6);
}

static void *
change_options(void *context)
{
    struct writing *writing = context;
    uint64_t random = random_next(&writing->random);

    while (!atomic_load(&writing->is_over)) {
        struct colander_filter_options options;

        random_options(&random, &options);
        OK(colander_family_set_filters(writing->family, &options, NULL));
        if (random_below(&random, 4) == 0)
            OK(colander_family_refilter(writing->family, NULL, NULL));
        if (random_below(&random, 8) == 0)
            OK(colander_family_compact(writing->family, NULL));
        pause_shortly();
    }
    return NULL;
}

static void
finds_equal_scans_while_options_change(void **state)
{
    struct store_fixture *fixture = *state;
    struct writing writing = {.family = fixture_family(fixture, "rows")};
    struct writing changing = writing;
    uint64_t random = random_seed("options");
    struct colander_filter_options options;
    struct find_counts counts = {.row_count = 0};
    pthread_t threads[2];

    writing.random = random_next(&random);
    changing.random = random_next(&random);
    write_files(fixture, writing.family, 2, &random);
    assert_int_equal(pthread_create(&threads[0], NULL, write_rows, &writing),
                     0);
    assert_int_equal(
        pthread_create(&threads[1], NULL, change_options, &changing), 0);
    compare_random_finds(fixture->store, writing.family, KEYS,
                         random_runs(5000), &random, &counts);
    atomic_store(&changing.is_over, true);
    pthread_join(threads[1], NULL);
    atomic_store(&writing.is_over, true);
    pthread_join(threads[0], NULL);
    assert_true(counts.row_count > 0);
    assert_true(counts.recent_found > 0);
    colander_filter_options_init(&options); /* they may be off */
    OK(colander_family_set_filters(writing.family, &options, NULL));
    assert_all_loaded(writing.family);
    colander_family_close(writing.family);
}

int
main(void)
{
#define TEST(test)                                                             \
    cmocka_unit_test_setup_teardown(test, fixture_setup, fixture_teardown)
    const struct CMUnitTest tests[] = {
        TEST(bad_options_are_refused_by_name),
        TEST(options_are_kept_over_a_reopen),
        TEST(rows_without_an_indexed_value_are_found_before_a_flush),
        TEST(columns_left_out_are_in_no_filter_and_found),
        TEST(finds_equal_scans_while_options_change),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
