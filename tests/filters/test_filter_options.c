/*
 * The options of filters: which are rejected, how they are stored, and what
 * they affect.
 *
 * SPDX-License-Identifier: MIT
 */
#include "support/cases.h"
#include "support/filter_files.h"
#include "support/random_files.h"
#include "support/scoped.h"

static void
assert_refused(struct colander_family *family,
               const struct colander_filter_options *options, const char *word)
{
    FAILS(colander_family_set_filters(family, options, why()),
          COLANDER_INVALID);
    assert_non_null(strstr(error_text(), word));
}

FIXTURE_TEST(bad_options_are_refused_by_name)
{
    struct colander_family *family = kept_family(fixture, "rows");
    const char *const bad_path[] = {"a["};
    struct colander_filter_options good = usual_filters();
    struct colander_filter_options bad;

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
    REFUSED(order_budget, -0.1);
    REFUSED(order_budget, 1.5);
    REFUSED(hierarchy, (enum colander_hierarchy)7);
#undef REFUSED
    bad = good;
    bad.unfiltered = bad_path;
    bad.unfiltered_count = 1;
    assert_refused(family, &bad, "a[");
    bad = good;
    bad.word_columns = bad_path;
    bad.word_column_count = 1;
    assert_refused(family, &bad, "a[");
    bad = good;
    bad.unordered = bad_path;
    bad.unordered_count = 1;
    assert_refused(family, &bad, "a[");
    assert_false(colander_family_exists(family));
}

FIXTURE_TEST(options_are_kept_over_a_reopen)
{
    static const char *const left_out[] = {"a", "b.c[]"};
    static const char *const with_words[] = {"text", "user.name"};
    struct colander_family *family = kept_family(fixture, "rows");
    struct colander_filter_options options = usual_filters();

    options.rows_per_segment = 64;
    options.hash_bits = 24;
    options.fp_rate = 0.125;
    options.hierarchy = COLANDER_HIERARCHY_TREE;
    options.tree_order = 5;
    options.memory_budget = 1 << 20;
    options.order_budget = 0.5;
    options.unfiltered = left_out;
    options.unfiltered_count = 2;
    options.word_columns = with_words;
    options.word_column_count = 2;
    options.ordered = with_words;
    options.ordered_count = 1;
    options.unordered = left_out;
    options.unordered_count = 2;
    OK(colander_family_set_filters(family, &options, NULL));
    fixture_reopen(fixture, COLANDER_OPEN_READ_ONLY);
    family = kept_family(fixture, "rows");
    OK(colander_family_get_filters(family, &options, NULL));
    assert_true(options.is_on);
    assert_int_equal(options.rows_per_segment, 64);
    assert_int_equal(options.hash_bits, 24);
    assert_true(options.fp_rate == 0.125);
    assert_int_equal(options.hierarchy, COLANDER_HIERARCHY_TREE);
    assert_int_equal(options.tree_order, 5);
    assert_int_equal(options.memory_budget, 1 << 20);
    assert_true(options.order_budget == 0.5);
    assert_int_equal(options.unfiltered_count, 2);
    assert_string_equal(options.unfiltered[0], "a");
    assert_string_equal(options.unfiltered[1], "b.c[]");
    assert_true(options.words);
    assert_int_equal(options.word_column_count, 2);
    assert_string_equal(options.word_columns[0], "text");
    assert_string_equal(options.word_columns[1], "user.name");
    assert_int_equal(options.ordered_count, 1);
    assert_string_equal(options.ordered[0], "text");
    assert_int_equal(options.unordered_count, 2);
    assert_string_equal(options.unordered[1], "b.c[]");
    colander_filter_options_release(&options);
    assert_null(options.word_columns);
    assert_null(options.unordered);
}

/* It has no list of columns with words, and room for none. */
FIXTURE_TEST(an_older_program_gets_the_options_that_it_knows)
{
    static const char *const with_words[] = {"text"};
    const size_t size = offsetof(struct colander_filter_options, word_columns);
    struct colander_family *family = kept_family(fixture, "rows");
    struct colander_filter_options options = usual_filters();

    options.unfiltered = options.word_columns = with_words;
    options.unfiltered_count = options.word_column_count = 1;
    OK(colander_family_set_filters(family, &options, NULL));
    memset(&options, 0x55, sizeof(options));
    OK(colander_family_get_filters_sized(family, &options, size, NULL));
    assert_string_equal(options.unfiltered[0], "text");
    colander_filter_options_release(&options);
    assert_null(options.unfiltered);
    assert_int_equal(options.word_column_count, UINT64_C(0x5555555555555555));
}

/* Such rows have no recent notes. */
FIXTURE_TEST(rows_without_an_indexed_value_are_found_before_a_flush)
{
    static const char *const left_out[] = {"a"};
    static const uint8_t empty[] = {0x81, 0xa1, 't', 0x90}; /* {t: []} */
    struct colander_family *family = kept_family(fixture, "rows");
    SCOPED_BUFFER key = text_key("k2");
    struct colander_filter_options options = usual_filters();
    struct colander_query query = usual_query();
    uint64_t count;

    options.unfiltered = left_out;
    options.unfiltered_count = 1;
    OK(colander_family_set_filters(family, &options, NULL));
    OK(put_text(fixture, family, "k1", "a", colander_integer(7), NULL));
    assert_int_equal(count_equal(fixture, family, "a", 7), 1);
    OK(colander_family_flush(family, NULL));
    assert_int_equal(count_equal(fixture, family, "a", 7), 1);

    OK(colander_family_put(family, colander_buffer_slice(&key),
                           colander_slice_of(empty, sizeof(empty)), NULL,
                           NULL));
    query.where = colander_where_exists("t", NULL);
    OK(colander_family_count(family, &query, &count, NULL));
    assert_int_equal(count, 1);
    colander_predicate_destroy((struct colander_predicate *)query.where);
}

FIXTURE_TEST(columns_left_out_are_in_no_filter_and_found)
{
    static const char *const left_out[] = {"place"};
    struct colander_family *family = kept_family(fixture, "rows");
    uint64_t random = random_seed("left out");
    struct find_counts counts = {.row_count = 0};
    struct colander_filter_options options = usual_filters();
    uint64_t values;
    uint64_t done;

    write_files(fixture, family, 3, &random);
    OK(colander_family_compact(family, NULL)); /* so that none follows */
    assert_all_loaded(family);
    values = filter_stats(family).value_count;
    options.unfiltered = left_out;
    options.unfiltered_count = 1;
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
    options.unfiltered_count = 0;
    OK(colander_family_set_filters(family, &options, NULL));
    OK(colander_family_refilter(family, NULL, NULL));
    assert_int_equal(filter_stats(family).value_count, values);
    options.is_on = false;
    OK(colander_family_set_filters(family, &options, NULL));
    write_files(fixture, family, 1, &random);
    assert_true(filter_stats(family).filter_count <
                filter_stats(family).file_count);
    compare_some(fixture, family, &random, &counts);
}
