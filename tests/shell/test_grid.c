/*
 * Grid and text: what fits, what is cut, and nothing that moves a cursor.
 *
 * SPDX-License-Identifier: MIT
 */
#include "shell/grid.h"
#include "shell/text.h"

#include <locale.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

static char *
printable(struct colander_slice bytes)
{
    struct colander_buffer text = COLANDER_BUFFER_EMPTY;
    char *copy;

    assert_int_equal(text_append_printable(&text, bytes, NULL), COLANDER_OK);
    copy = text_copy(colander_buffer_slice(&text));
    assert_non_null(copy);
    colander_buffer_release(&text);
    return copy;
}

/* U+202E, which would turn the line around also where it stands in a source. */
static const char right_to_left[] = {'\xE2', '\x80', '\xAE', 'o',
                                     'v',    'e',    'r',    '\0'};

static void
text_shows_no_control_character(void **state)
{
    static const struct {
        const char *text;
        const char *shown;
    } cases[] = {
        {"plain \xC5\xBC\xC3\xB3\xC5\x82w", "plain \xC5\xBC\xC3\xB3\xC5\x82w"},
        {"a\nb\tc\r", "a\\nb\\tc\\r"},
        {"\x1b[31mred\x7f", "\\x1b[31mred\\x7f"},
        {"\xC2\x9B", "\\x9b"},
        {"bad\xFF", "bad\xEF\xBF\xBD"},
        {"cut\xE2\x80", "cut\xEF\xBF\xBD\xEF\xBF\xBD"},
        {right_to_left, "\xEF\xBF\xBDover"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char *shown = printable(colander_slice_text(cases[i].text));

        assert_string_equal(shown, cases[i].shown);
        free(shown);
    }
}

static void
width_counts_cells_and_not_bytes(void **state)
{
    (void)state;
    assert_int_equal(text_width(colander_slice_text("abc")), 3);
    assert_int_equal(text_width(colander_slice_text("\xC5\x82")), 1);
    assert_int_equal(text_width(colander_slice_text("\xE6\x97\xA5")), 2);
    assert_int_equal(text_width(colander_slice_text("e\xCC\x81")), 1);
    assert_int_equal(text_fit(colander_slice_text("\xE6\x97\xA5z"), 1), 0);
    assert_int_equal(text_fit(colander_slice_text("\xE6\x97\xA5z"), 2), 3);
}

static void
counts_have_commas_between_thousands(void **state)
{
    static const struct {
        uint64_t count;
        const char *text;
    } cases[] = {
        {0, "0"},
        {999, "999"},
        {1000, "1,000"},
        {UINT64_MAX, "18,446,744,073,709,551,615"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct colander_buffer text = COLANDER_BUFFER_EMPTY;

        assert_int_equal(text_append_count(&text, cases[i].count, NULL),
                         COLANDER_OK);
        assert_true(colander_slice_equal(colander_buffer_slice(&text),
                                         colander_slice_text(cases[i].text)));
        colander_buffer_release(&text);
    }
}

/* A table keeps hundreds of values that may be megabytes each. */
static void
of_a_large_value_only_the_beginning_is_shown(void **state)
{
    static char large[1 << 20];
    const struct {
        const char *text;
        size_t size_max;
        const char *shown;
    } cases[] = {
        {"abcd", 4, "abcd"},
        {"abcde", 4, "abcd\xE2\x80\xA6"},
        {"abc\xC5\x82", 4, "abc\xE2\x80\xA6"},
        {large, 2, "zz\xE2\x80\xA6"},
    };

    (void)state;
    memset(large, 'z', sizeof(large) - 1);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct colander_buffer text = COLANDER_BUFFER_EMPTY;
        struct colander_value value = colander_text(cases[i].text);

        assert_int_equal(
            text_append_value(&text, &value, cases[i].size_max, NULL),
            COLANDER_OK);
        assert_true(colander_slice_equal(colander_buffer_slice(&text),
                                         colander_slice_text(cases[i].shown)));
        colander_buffer_release(&text);
    }
}

static void
put(struct grid *grid, const char *name, const char *text, bool is_number)
{
    size_t column;

    assert_int_equal(
        grid_column(grid, colander_slice_text(name), &column, NULL),
        COLANDER_OK);
    assert_int_equal(
        grid_put(grid, column, colander_slice_text(text), is_number, NULL),
        COLANDER_OK);
}

/* What the grid prints, for the caller to free. */
static char *
printed(struct grid *grid)
{
    char *text = NULL;
    size_t size = 0;
    FILE *file = open_memstream(&text, &size);

    assert_non_null(file);
    grid_print(grid, file);
    assert_int_equal(fclose(file), 0);
    return text;
}

static char *
left_out(const struct grid *grid)
{
    struct colander_buffer text = COLANDER_BUFFER_EMPTY;
    char *copy;

    assert_int_equal(grid_append_left_out(grid, &text, NULL), COLANDER_OK);
    copy = text_copy(colander_buffer_slice(&text));
    colander_buffer_release(&text);
    return copy;
}

static void
numbers_stand_right_and_texts_left(void **state)
{
    struct grid *grid = grid_create(80);
    char *text;

    (void)state;
    assert_int_equal(grid_row(grid, NULL), COLANDER_OK);
    put(grid, "name", "a", false);
    put(grid, "n", "1", true);
    assert_int_equal(grid_row(grid, NULL), COLANDER_OK);
    put(grid, "n", "100", true);
    put(grid, "last", "z", false);
    text = printed(grid);
    assert_string_equal(text, "name    n  last\n"
                              "----  ---  ----\n"
                              "a       1  \n"
                              "      100  z\n");
    free(text);
    text = left_out(grid);
    assert_string_equal(text, "");
    free(text);
    grid_destroy(grid);
}

static void
what_does_not_fit_is_cut_or_left_out_and_told(void **state)
{
    struct grid *grid = grid_create(20);
    char *text;

    (void)state;
    assert_int_equal(grid_row(grid, NULL), COLANDER_OK);
    put(grid, "k", "1", false);
    put(grid, "text", "abcdefghijklmnopqrstuvwxyz", false);
    put(grid, "other", "abcdefghij", false);
    text = printed(grid);
    assert_string_equal(text, "k  text\n"
                              "-  -----------------\n"
                              "1  abcdefghijklmnop\xE2\x80\xA6\n");
    free(text);
    text = left_out(grid);
    assert_string_equal(text, "columns not shown: other; values cut short: 1");
    free(text);
    grid_destroy(grid);
}

/* Also where the last cell of the line is half of a character. */
static void
a_text_far_wider_than_the_line_is_told_as_cut(void **state)
{
    static const char *const units[] = {"z", "\xE6\x97\xA5"};

    (void)state;
    for (size_t i = 0; i < 2; i++) {
        struct grid *grid = grid_create(9);
        char text[3 * 400 + 1] = "";
        char *shown;

        for (size_t j = 0; j < 400; j++)
            strcat(text, units[i]);
        assert_int_equal(grid_row(grid, NULL), COLANDER_OK);
        put(grid, "k", text, false);
        shown = printed(grid);
        assert_non_null(strstr(shown, i == 0 ? "\nzzzzzzzz\xE2\x80\xA6\n"
                                             : "\xE6\x97\xA5\xE2\x80\xA6"));
        free(shown);
        shown = left_out(grid);
        assert_string_equal(shown, "values cut short: 1");
        free(shown);
        grid_destroy(grid);
    }
}

static void
later_rows_stand_under_the_first_heads(void **state)
{
    struct grid *grid = grid_create(80);
    char *text;

    (void)state;
    assert_int_equal(grid_row(grid, NULL), COLANDER_OK);
    put(grid, "k", "abc", false);
    free(printed(grid));
    assert_int_equal(grid_row_count(grid), 0);
    assert_int_equal(grid_row(grid, NULL), COLANDER_OK);
    put(grid, "k", "abcdef", false);
    put(grid, "late", "x", false);
    text = printed(grid);
    assert_string_equal(text, "ab\xE2\x80\xA6\n");
    free(text);
    text = left_out(grid);
    assert_string_equal(text, "columns not shown: late; values cut short: 1");
    free(text);
    grid_destroy(grid);
}

static void
columns_beyond_the_most_are_told_together(void **state)
{
    struct grid *grid = grid_create(80);
    char name[16];
    char *text;

    (void)state;
    assert_int_equal(grid_row(grid, NULL), COLANDER_OK);
    for (int i = 0; i < 2 * GRID_COLUMNS_MAX; i++) {
        snprintf(name, sizeof(name), "c%d", i);
        put(grid, name, "x", false);
    }
    free(printed(grid));
    text = left_out(grid);
    assert_non_null(strstr(text, ", c255, and more"));
    assert_null(strstr(text, "c256"));
    free(text);
    grid_destroy(grid);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(text_shows_no_control_character),
        cmocka_unit_test(width_counts_cells_and_not_bytes),
        cmocka_unit_test(counts_have_commas_between_thousands),
        cmocka_unit_test(of_a_large_value_only_the_beginning_is_shown),
        cmocka_unit_test(numbers_stand_right_and_texts_left),
        cmocka_unit_test(what_does_not_fit_is_cut_or_left_out_and_told),
        cmocka_unit_test(a_text_far_wider_than_the_line_is_told_as_cut),
        cmocka_unit_test(later_rows_stand_under_the_first_heads),
        cmocka_unit_test(columns_beyond_the_most_are_told_together),
    };

    if (setlocale(LC_CTYPE, "C.UTF-8") == NULL)
        return 1;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
