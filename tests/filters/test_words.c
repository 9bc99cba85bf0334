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

/* Finds one row, and fills `explain`. Takes the condition. Returns how many
 * rows were read. */
static uint64_t
find_one(struct colander_family *family, struct colander_predicate *where,
         struct colander_explain *explain)
{
    struct colander_query query = usual_query();
    struct colander_cursor *cursor;
    struct colander_result result;
    bool is_row;

    assert_non_null(where);
    query.where = where;
    OK(colander_family_find(family, &query, &cursor, NULL));
    OK(colander_cursor_next(cursor, &is_row, &result, NULL));
    assert_true(is_row);
    OK(colander_cursor_next(cursor, &is_row, &result, NULL));
    assert_false(is_row);
    colander_cursor_explain(cursor, explain);
    colander_cursor_close(cursor);
    colander_predicate_destroy(where);
    return explain->plan == COLANDER_PLAN_CANDIDATES
               ? explain->rows_read + explain->rows_verified
               : ROWS;
}

/* Finds each row of a lot by its word. Returns how many rows were read. */
static uint64_t
find_lot(struct colander_family *family, unsigned lot, const char *path)
{
    uint64_t read = 0;

    for (unsigned i = 0; i < ROWS; i += 7) {
        struct colander_explain explain;
        char word[40];

        (void)snprintf(word, sizeof(word), "LOT%u_%u", lot, i);
        read += find_one(family, colander_where_all_words(path, word, NULL),
                         &explain);
    }
    return read;
}

/* Finds rows of a lot by parts of their words. Returns how many were read. */
static uint64_t
find_pieces(struct colander_family *family, unsigned lot, const char *path)
{
    uint64_t read = 0;

    for (unsigned i = 100; i < ROWS; i += 7) {
        const enum colander_search how =
            i % 2 == 0 ? COLANDER_SEARCH_WORDS : COLANDER_SEARCH_PIECE;
        struct colander_explain explain;
        char text[40];

        (void)snprintf(text, sizeof(text), i % 2 == 0 ? "lot%u_%u*" : "ot%u_%u",
                       lot, i);
        read +=
            find_one(family,
                     colander_where_search(path, how, colander_slice_text(text),
                                           COLANDER_SEARCH_ICASE, NULL, NULL),
                     &explain);
    }
    return read;
}

static void
find_lots(struct colander_family *family, unsigned count)
{
    for (unsigned lot = 0; lot < count; lot++) {
        (void)find_lot(family, lot, "text");
        (void)find_lot(family, lot, NULL);
        (void)find_pieces(family, lot, lot % 2 == 0 ? "text" : NULL);
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

/* A part of a word leads to the rows that have a word with it. */
FIXTURE_TEST(a_piece_of_a_word_of_one_row_reads_one_row)
{
    struct colander_family *family = kept_family(fixture, "rows");
    const uint64_t asked = (ROWS - 100 + 6) / 7;

    put_lot(fixture, family, 0);
    OK(colander_family_flush(family, NULL));
    OK(colander_family_await_filters(family, NULL));
    assert_int_equal(find_pieces(family, 0, "text"), asked);
    assert_int_equal(find_pieces(family, 0, NULL), asked);
    put_lot(fixture, family, 1);
    (void)find_pieces(family, 1, NULL);
    OK(colander_family_flush(family, NULL));
    OK(colander_family_await_filters(family, NULL));
    assert_int_equal(find_pieces(family, 1, "text"), asked);
}

static struct colander_predicate *
where_piece(const char *piece)
{
    return colander_where_search("text", COLANDER_SEARCH_PIECE,
                                 colander_slice_text(piece), 0, NULL, NULL);
}

FIXTURE_TEST(explanations_name_words_of_dictionaries)
{
    struct colander_family *family = kept_family(fixture, "rows");
    struct colander_predicate *pieces[2];
    struct colander_explain explain;

    put_lot(fixture, family, 0);
    OK(colander_family_flush(family, NULL));
    OK(colander_family_await_filters(family, NULL));
    assert_int_equal(find_one(family, where_piece("ot0_123"), &explain), 1);
    assert_int_equal(explain.words_found, 1);
    assert_string_equal(explain.some_words, "lot0_123");
    pieces[0] = where_piece("ot");
    pieces[1] = where_piece("t0_12, ");
    assert_int_equal(
        find_one(family, colander_all_of(pieces, 2, NULL), &explain), 1);
    assert_int_equal(explain.words_found, 1);
}

/* A range of few keys is read instead of a dictionary. */
FIXTURE_TEST(few_rows_are_read_rather_than_a_dictionary)
{
    const struct colander_value first = colander_integer(122);
    const struct colander_value last = colander_integer(124);
    SCOPED_BUFFER from = COLANDER_BUFFER_EMPTY;
    SCOPED_BUFFER to = COLANDER_BUFFER_EMPTY;
    struct colander_family *family = kept_family(fixture, "rows");
    struct colander_query query = usual_query();
    struct colander_explain explain;
    struct colander_cursor *cursor;
    struct colander_result result;
    bool is_row;

    put_lot(fixture, family, 0);
    OK(colander_family_flush(family, NULL));
    OK(colander_family_await_filters(family, NULL));
    OK(colander_key_encode(&first, 1, &from, NULL));
    OK(colander_key_encode(&last, 1, &to, NULL));
    query.where = where_piece("ot0_123");
    query.keys.from = colander_buffer_slice(&from);
    query.keys.to = colander_buffer_slice(&to);
    OK(colander_family_find(family, &query, &cursor, NULL));
    OK(colander_cursor_next(cursor, &is_row, &result, NULL));
    assert_true(is_row);
    OK(colander_cursor_next(cursor, &is_row, &result, NULL));
    assert_false(is_row);
    colander_cursor_explain(cursor, &explain);
    assert_non_null(strstr(explain.reason, "dictionaries"));
    colander_cursor_close(cursor);
    colander_predicate_destroy((struct colander_predicate *)query.where);
}

static const char *
reason_of(struct colander_family *family, struct colander_predicate *where)
{
    struct colander_query query = usual_query();
    struct colander_explain explain;
    struct colander_cursor *cursor;

    query.where = where;
    OK(colander_family_find(family, &query, &cursor, NULL));
    colander_cursor_explain(cursor, &explain);
    assert_int_equal(explain.plan, COLANDER_PLAN_SCAN);
    colander_cursor_close(cursor);
    colander_predicate_destroy(where);
    return explain.reason;
}

FIXTURE_TEST(pieces_of_many_words_and_without_dictionaries_are_scans)
{
    struct colander_family *family = kept_family(fixture, "rows");

    put_lot(fixture, family, 0);
    OK(colander_family_flush(family, NULL));
    OK(colander_family_await_filters(family, NULL));
    assert_non_null(
        strstr(reason_of(family, where_piece("ot")), "too many words"));
    set_words(family, false);
    OK(colander_family_refilter(family, NULL, NULL));
    assert_non_null(
        strstr(reason_of(family, where_piece("ot0_123")), "no dictionary"));
}

/* They are in no dictionary, but it is known which rows have some. */
FIXTURE_TEST(pieces_of_very_long_words_are_found)
{
    static const size_t sizes[] = {64, 65, 250, 253, 300, 1000};
    struct colander_family *family = kept_family(fixture, "rows");
    struct colander_explain explain;
    char text[1200] = "";

    put_lot(fixture, family, 0);
    for (size_t i = 0; i < COUNT(sizes); i++) {
        memset(text, 'x', sizes[i]);
        (void)snprintf(text + sizes[i] - 5, 20, "%cyz%02zu and more",
                       i % 2 == 0 ? 'A' : 'a', i);
        if (i == 3)
            text[sizes[i]] = '\0'; /* a text of one folded word */
        put_at(family, ROWS + (unsigned)i,
               fixture_row(fixture, "text", colander_text(text)));
    }
    OK(colander_family_flush(family, NULL));
    OK(colander_family_await_filters(family, NULL));
    for (size_t i = 0; i < COUNT(sizes); i++) {
        (void)snprintf(text, sizeof(text), "yz%02zu", i);
        assert_true(find_one(family, where_piece(text), &explain) <
                    ROWS / 10); /* they are in a few segments */
        assert_int_equal(explain.plan, COLANDER_PLAN_CANDIDATES);
        assert_int_equal(explain.words_found, i == 0);
    }
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
