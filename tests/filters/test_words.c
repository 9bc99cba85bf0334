/*
 * Words in filters: files that were written with words and without, rows in no
 * file, and what a search reads.
 *
 * SPDX-License-Identifier: MIT
 */
#include "support/cases.h"
#include "support/filter_files.h"

#define ROWS 500 /* each with a word that no other row has */

static void
set_words(struct colander_family *family, bool words)
{
    struct colander_filter_options options = usual_filters();

    options.words = words;
    OK(colander_family_set_filters(family, &options, NULL));
}

/* Puts rows of a lot. */
static void
put_lot(struct store_fixture *fixture, struct colander_family *family,
        unsigned lot)
{
    for (unsigned i = 0; i < ROWS; i++) {
        const bool is_alone = i % 5 == 0;
        char text[80];

        (void)snprintf(text, sizeof(text),
                       is_alone ? "lot%u_%u" : "Every Lot%u_%u, and more", lot,
                       i);
        put_at(family, lot * ROWS + i,
               fixture_row(fixture, "text", colander_text(text)));
    }
}

/* Finds each row of a lot by its word. Returns how many rows were read. */
static uint64_t
find_lot(struct colander_family *family, unsigned lot, const char *path)
{
    uint64_t read = 0;

    for (unsigned i = 0; i < ROWS; i += 7) {
        struct colander_query query = usual_query();
        struct colander_cursor *cursor;
        struct colander_explain explain;
        struct colander_result result;
        char word[40];
        bool is_row;

        (void)snprintf(word, sizeof(word), "LOT%u_%u", lot, i);
        query.where = colander_where_all_words(path, word, NULL);
        assert_non_null(query.where);
        OK(colander_family_find(family, &query, &cursor, NULL));
        OK(colander_cursor_next(cursor, &is_row, &result, NULL));
        assert_true(is_row);
        OK(colander_cursor_next(cursor, &is_row, &result, NULL));
        assert_false(is_row);
        colander_cursor_explain(cursor, &explain);
        read += explain.plan == COLANDER_PLAN_CANDIDATES
                    ? explain.rows_read + explain.rows_verified
                    : ROWS;
        colander_cursor_close(cursor);
        colander_predicate_destroy((struct colander_predicate *)query.where);
    }
    return read;
}

static void
find_lots(struct colander_family *family, unsigned count)
{
    for (unsigned lot = 0; lot < count; lot++) {
        (void)find_lot(family, lot, "text");
        (void)find_lot(family, lot, NULL);
    }
}

FIXTURE_TEST(rows_are_found_in_files_with_words_and_without)
{
    struct colander_family *family = kept_family(fixture, "rows");

    for (unsigned lot = 0; lot < 4; lot++) {
        set_words(family, lot % 2 == 1);
        put_lot(fixture, family, lot);
        find_lots(family, lot + 1);
        OK(colander_family_flush(family, NULL));
        find_lots(family, lot + 1);
        OK(colander_family_await_filters(family, NULL));
        find_lots(family, lot + 1);
    }
    set_words(family, true);
    OK(colander_family_refilter(family, NULL, NULL));
    OK(colander_family_await_filters(family, NULL));
    find_lots(family, 4);
    OK(colander_family_compact(family, NULL));
    find_lots(family, 4);
}

/* A word leads to its row, also while the row is in no file. */
FIXTURE_TEST(a_word_of_one_row_reads_one_row)
{
    struct colander_family *family = kept_family(fixture, "rows");
    const uint64_t asked = (ROWS + 6) / 7;

    put_lot(fixture, family, 0);
    assert_int_equal(find_lot(family, 0, "text"), asked);
    assert_int_equal(find_lot(family, 0, NULL), asked);
    OK(colander_family_flush(family, NULL));
    OK(colander_family_await_filters(family, NULL));
    assert_int_equal(find_lot(family, 0, "text"), asked);
    assert_int_equal(find_lot(family, 0, NULL), asked);
    set_words(family, false);
    OK(colander_family_refilter(family, NULL, NULL));
    assert_true(find_lot(family, 0, "text") > asked);
}

static void
fail_finding(void *context, const char *file, const char *what)
{
    fail_msg("%s: %s", file, what);
}

/* A check asks the filters for each word. */
FIXTURE_TEST(a_check_finds_all_words)
{
    struct colander_family *family = kept_family(fixture, "rows");
    struct colander_check check = {0};

    put_lot(fixture, family, 0);
    OK(colander_family_flush(family, NULL));
    OK(colander_store_check_filters(fixture->store, false, &check, fail_finding,
                                    NULL, NULL));
    assert_true(check.value_count >= ROWS);
}
