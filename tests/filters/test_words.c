/*
 * Words in filters: files that were written with words and without, rows in no
 * file, and what a search reads.
 *
 * SPDX-License-Identifier: MIT
 */
#include "filters/context.h"
#include "filters/find/plan.h"
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

/* Puts rows whose columns have the same words, from the key `first` on. */
static void
put_columns(struct store_fixture *fixture, struct colander_family *family,
            unsigned first)
{
    for (unsigned i = first; i < first + ROWS; i++) {
        struct colander_row_builder *builder = fixture->builder;
        char text[80];

        (void)snprintf(text, sizeof(text), "Every Word%u, and more", i);
        colander_row_builder_add(builder, "text", colander_text(text));
        colander_row_builder_begin_map(builder, "user");
        colander_row_builder_add(builder, "about", colander_text(text));
        colander_row_builder_begin_array(builder, "tags");
        colander_row_builder_add(builder, NULL, colander_text(text));
        colander_row_builder_end(builder);
        colander_row_builder_end(builder);
        (void)snprintf(text, sizeof(text), "Every Word%u, and more Title%u", i,
                       i);
        put_at(family, i, fixture_row(fixture, "title", colander_text(text)));
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

static struct colander_predicate *
where_piece(const char *piece)
{
    return colander_where_search("text", COLANDER_SEARCH_PIECE,
                                 colander_slice_text(piece), 0, NULL, NULL);
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

FIXTURE_TEST(explanations_name_a_word_of_several_columns_once)
{
    struct colander_family *family = kept_family(fixture, "rows");
    struct colander_explain explain;

    put_columns(fixture, family, 0);
    OK(colander_family_flush(family, NULL));
    OK(colander_family_await_filters(family, NULL));
    (void)find_one(family,
                   colander_where_search(NULL, COLANDER_SEARCH_PIECE,
                                         colander_slice_text("ord123"), 0, NULL,
                                         NULL),
                   &explain);
    assert_true(explain.words_found > 1);
    assert_string_equal(explain.some_words, "word123");
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

FIXTURE_TEST(pieces_of_many_words_and_without_words_are_scans)
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
        strstr(reason_of(family, where_piece("ot0_123")), "no words of a"));
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

/* -------------------------------------------- much text, and many rows --- */

/* A text of some 200 KiB, with a word that no other has at its end. */
FIXTURE_TEST(the_last_words_of_a_very_long_text_are_found)
{
    struct colander_family *family = kept_family(fixture, "rows");
    SCOPED_MEMORY char *text = malloc(300000);
    struct colander_explain explain;
    char *at = text;

    for (unsigned i = 0; i < 20000; i++)
        at += sprintf(at, "word%u, ", i);
    strcpy(at, "the lastofall. End");
    put_lot(fixture, family, 0);
    put_at(family, ROWS, fixture_row(fixture, "text", colander_text(text)));
    for (unsigned is_flushed = 0; is_flushed < 2; is_flushed++) {
        (void)find_one(family,
                       colander_where_all_words(NULL, "word7 lastofall", NULL),
                       &explain);
        assert_int_equal(explain.candidate_count, 1);
        (void)find_one(family,
                       colander_where_phrase("text", "THE LastOfAll", NULL),
                       &explain);
        assert_int_equal(explain.candidate_count, 1);
        (void)find_one(family, where_piece("stofal"), &explain);
        OK(colander_family_flush(family, NULL));
        OK(colander_family_await_filters(family, NULL));
    }
    (void)find_one(family, where_piece("stofal"), &explain);
    assert_int_equal(explain.candidate_count, 1);
}

/* What all rows have costs a scan, or as few rows as are wanted. */
FIXTURE_TEST(a_word_of_all_rows_costs_no_more_than_a_scan)
{
    struct colander_family *family = kept_family(fixture, "rows");
    struct colander_query query = usual_query();
    struct colander_explain explain;
    struct colander_cursor *cursor;
    struct colander_result result;
    bool is_row = true;

    put_columns(fixture, family, 0);
    OK(colander_family_flush(family, NULL));
    OK(colander_family_await_filters(family, NULL));
    for (unsigned limit = 1; limit <= ROWS; limit += ROWS - 1) {
        query.where = colander_where_all_words("text", "every more", NULL);
        query.limit = limit;
        OK(colander_family_find(family, &query, &cursor, NULL));
        for (is_row = true; is_row;)
            OK(colander_cursor_next(cursor, &is_row, &result, NULL));
        colander_cursor_explain(cursor, &explain);
        assert_int_equal(explain.plan, COLANDER_PLAN_SCAN);
        assert_int_equal(explain.rows_returned, limit);
        assert_int_equal(explain.rows_read, limit);
        colander_cursor_close(cursor);
        colander_predicate_destroy((struct colander_predicate *)query.where);
    }
}

/* ------------------------------------------------ words that come later --- */

#define FILLED_MAX 20000 /* rows; far fewer are needed */

/* Puts a row of some KiB. */
static void
put_large(struct store_fixture *fixture, struct colander_family *family,
          unsigned number)
{
    struct colander_row_builder *builder = fixture->builder;
    char text[40];
    char fill[4000];

    memset(fill, 'x', sizeof(fill));
    (void)snprintf(text, sizeof(text), "every Word%u", number);
    colander_row_builder_add(
        builder, "fill",
        colander_string(colander_slice_of(fill, sizeof(fill))));
    put_at(family, number, fixture_row(fixture, "text", colander_text(text)));
}

/* Returns how many files get their words later. */
static size_t
count_wordless(struct colander_family *family)
{
    struct engine_family *engine_family;
    struct family_filters *found;
    struct filters *filters;
    struct file_view *view;
    size_t count = 0;

    OK(filters_look_up(family, &filters, &engine_family, &found, NULL));
    OK(plan_view(filters, found, NULL, &view, NULL));
    for (size_t i = 0; i < view->file_count; i++)
        count +=
            view->files[i]->filter != NULL &&
            view->files[i]->filter->head.words_version == FILTER_WORDS_LATER;
    file_view_release(view);
    return count;
}

/* Finds rows by their words. Returns how many were read. */
static uint64_t
find_large(struct colander_family *family, unsigned count)
{
    uint64_t read = 0;

    for (unsigned i = 0; i < 20; i++) {
        struct colander_explain explain;
        char word[40];

        (void)snprintf(word, sizeof(word), "word%u", i * (count - 1) / 19);
        read += find_one(
            family,
            colander_where_all_words(i % 2 == 0 ? "text" : NULL, word, NULL),
            &explain);
    }
    return read;
}

/* Puts rows as fast as it can until a file lacks words. Returns how many. */
static unsigned
fill_fast(struct store_fixture *fixture, struct colander_family *family,
          unsigned count)
{
    const unsigned before = count;

    do {
        assert_true(count < before + FILLED_MAX);
        put_large(fixture, family, count++);
    } while (count % 50 != 0 || count_wordless(family) == 0);
    return count;
}

/* Rows are found meanwhile, too. */
FIXTURE_TEST(files_of_fast_writing_get_their_words_when_it_ends)
{
    struct colander_family *family;
    unsigned count;

    fixture->options.write_buffer_size = 1 << 20;
    fixture_remake(fixture);
    family = kept_family(fixture, "rows");
    count = fill_fast(fixture, family, 0);
    (void)find_large(family, count);
    OK(colander_family_await_filters(family, NULL));
    assert_int_equal(count_wordless(family), 0);
    assert_int_equal(find_large(family, count), 20);
    count = fill_fast(fixture, family, count);
    fixture_reopen(fixture, COLANDER_OPEN_READ_ONLY);
    family = kept_family(fixture, "rows");
    assert_int_equal(find_large(family, count), 20);
    assert_int_equal(count_wordless(family), 0);
}

/* ----------------------------------------------- columns without words --- */

static void
set_word_columns(struct colander_family *family, const char *const *paths,
                 size_t count)
{
    struct colander_filter_options options = usual_filters();

    options.word_columns = paths;
    options.word_column_count = count;
    OK(colander_family_set_filters(family, &options, NULL));
}

/* Finds rows by a word, or by a piece of it. Returns how many were read. */
static uint64_t
find_columns(struct colander_family *family, unsigned first, const char *path)
{
    uint64_t read = 0;

    for (unsigned i = first; i < first + ROWS; i += 71) {
        const bool is_piece = i % 2 == 0;
        struct colander_explain explain;
        char text[40];

        (void)snprintf(text, sizeof(text), is_piece ? "rD%u, " : "word%u", i);
        read += find_one(
            family,
            colander_where_search(
                path, is_piece ? COLANDER_SEARCH_PIECE : COLANDER_SEARCH_WORDS,
                colander_slice_text(text), COLANDER_SEARCH_ICASE, NULL, NULL),
            &explain);
        if (explain.plan == COLANDER_PLAN_SCAN)
            assert_non_null(strstr(explain.reason, "no words of a column"));
    }
    return read;
}

/* What is found in them does not depend on that, whatever files there are. */
FIXTURE_TEST(words_of_some_columns_are_in_filters)
{
    static const char *const paths[] = {"text", "user"};
    static const char *const listed[] = {"text", "user.about", "user.tags[]"};
    struct colander_family *family = kept_family(fixture, "rows");
    const uint64_t asked = (ROWS + 70) / 71;
    struct colander_explain explain;

    set_word_columns(family, paths, 2);
    put_columns(fixture, family, 0);
    for (unsigned is_flushed = 0; is_flushed < 2; is_flushed++) {
        for (size_t i = 0; i < COUNT(listed) && is_flushed; i++)
            assert_int_equal(find_columns(family, 0, listed[i]), asked);
        (void)find_columns(family, 0, "text");
        assert_true(find_columns(family, 0, "title") > 10 * asked);
        assert_true(find_columns(family, 0, NULL) > 10 * asked);
        /* no other column has it */
        (void)find_one(family,
                       colander_where_all_words("title", "title77", NULL),
                       &explain);
        (void)find_one(family, colander_where_all_words(NULL, "title77", NULL),
                       &explain);
        OK(colander_family_flush(family, NULL));
        OK(colander_family_await_filters(family, NULL));
    }
    /* Another setting for later files, and then for all. */
    set_word_columns(family, paths + 1, 1);
    put_columns(fixture, family, ROWS);
    for (unsigned is_refiltered = 0; is_refiltered < 3; is_refiltered++) {
        for (unsigned first = 0; first <= ROWS; first += ROWS) {
            (void)find_columns(family, first, "text");
            (void)find_columns(family, first, "title");
            (void)find_columns(family, first, "user.about");
            (void)find_columns(family, first, NULL);
        }
        if (is_refiltered == 1) {
            OK(colander_family_refilter(family, NULL, NULL));
            assert_int_equal(find_columns(family, 0, "user.about"), asked);
            assert_true(find_columns(family, 0, "text") > 10 * asked);
        }
        OK(colander_family_flush(family, NULL));
        OK(colander_family_await_filters(family, NULL));
    }
    set_word_columns(family, NULL, 0);
    OK(colander_family_refilter(family, NULL, NULL));
    assert_int_equal(find_columns(family, 0, "title"), asked);
    assert_int_equal(find_columns(family, ROWS, NULL), asked);
}

/* Returns a column that a locator does not tell from "text". */
static const char *
twin_column(void)
{
    static char twin[20];
    const uint64_t hash =
        path_hash_name(PATH_HASH_START, colander_slice_text("text"));

    for (unsigned i = 0;; i++) {
        (void)snprintf(twin, sizeof(twin), "column%u", i);
        if (column_tag(
                path_hash_name(PATH_HASH_START, colander_slice_text(twin))) ==
            column_tag(hash))
            return twin;
    }
}

/* They share the words of dictionaries. What is found in the other is read, and
 * is not returned. */
FIXTURE_TEST(columns_of_one_tag_are_told_apart)
{
    struct colander_family *family = kept_family(fixture, "rows");
    const char *const columns[] = {"text", twin_column()};
    uint64_t wrong = 0;

    for (unsigned i = 0; i < 2 * ROWS; i++) {
        char text[40];

        (void)snprintf(text, sizeof(text), "every word%ux", i / 2);
        put_at(family, i,
               fixture_row(fixture, columns[i % 2], colander_text(text)));
    }
    OK(colander_family_flush(family, NULL));
    OK(colander_family_await_filters(family, NULL));
    for (unsigned i = 100; i < 2 * ROWS; i += 37) {
        const enum colander_search how =
            i % 3 == 0 ? COLANDER_SEARCH_WORDS : COLANDER_SEARCH_PIECE;
        struct colander_explain explain;
        char text[40];

        (void)snprintf(text, sizeof(text), i % 3 == 0 ? "word%ux" : "ord%ux",
                       i / 2);
        (void)find_one(family,
                       colander_where_search(columns[i % 2], how,
                                             colander_slice_text(text), 0, NULL,
                                             NULL),
                       &explain);
        wrong += explain.rows_false;
    }
    assert_true(wrong > 0);
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

FIXTURE_TEST(a_check_asks_for_words_of_columns_that_have_some)
{
    static const char *const paths[] = {"user.about"};
    struct colander_family *family = kept_family(fixture, "rows");
    struct colander_check check = {0};

    set_word_columns(family, paths, 1);
    put_columns(fixture, family, 0);
    OK(colander_family_flush(family, NULL));
    OK(colander_store_check_filters(fixture->store, false, &check, fail_finding,
                                    NULL, NULL));
    assert_true(check.value_count >= ROWS);
}
