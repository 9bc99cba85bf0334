/*
 * Grid and text: what fits, what is cut, and no control characters.
 *
 * SPDX-License-Identifier: MIT
 */
#include "shell/output/grid.h"
#include "shell/report.h"
#include "shell/text.h"
#include "support/cases.h"
#include "support/scoped.h"

#include <locale.h>
#include <stdlib.h>

SCOPED_DEFINE(struct grid, grid_destroy)

#define SCOPED_GRID SCOPED(scoped_grid_destroy) struct grid *

static char *
printable(struct colander_slice bytes)
{
    SCOPED_BUFFER text = COLANDER_BUFFER_EMPTY;
    char *copy;

    OK(text_append_printable(&text, bytes, NULL));
    copy = text_copy(colander_buffer_slice(&text));
    assert_non_null(copy);
    return copy;
}

/* U+202E, which would reverse the line even in this source. */
static const char right_to_left[] = {'\xE2', '\x80', '\xAE', 'o',
                                     'v',    'e',    'r',    '\0'};

TEST(text_shows_no_control_character)
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

    for (size_t i = 0; i < COUNT(cases); i++) {
        SCOPED_MEMORY char *shown =
            printable(colander_slice_text(cases[i].text));

        assert_string_equal(shown, cases[i].shown);
    }
}

TEST(width_counts_cells_and_not_bytes)
{
    assert_int_equal(text_width(colander_slice_text("abc")), 3);
    assert_int_equal(text_width(colander_slice_text("\xC5\x82")), 1);
    assert_int_equal(text_width(colander_slice_text("\xE6\x97\xA5")), 2);
    assert_int_equal(text_width(colander_slice_text("e\xCC\x81")), 1);
    assert_int_equal(text_fit(colander_slice_text("\xE6\x97\xA5z"), 1), 0);
    assert_int_equal(text_fit(colander_slice_text("\xE6\x97\xA5z"), 2), 3);
}

TEST(counts_have_commas_between_thousands)
{
    assert_string_equal(THOUSANDS(0), "0");
    assert_string_equal(THOUSANDS(999), "999");
    assert_string_equal(THOUSANDS(1000), "1,000");
    assert_string_equal(NUMBER_OF(UINT64_MAX, "row"),
                        "18,446,744,073,709,551,615 rows");
}

/* A table keeps hundreds of values, each of which may be megabytes. */
TEST(of_a_large_value_only_the_beginning_is_shown)
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

    memset(large, 'z', sizeof(large) - 1);
    for (size_t i = 0; i < COUNT(cases); i++) {
        SCOPED_BUFFER text = COLANDER_BUFFER_EMPTY;
        struct colander_value value = colander_text(cases[i].text);

        OK(text_append_value(&text, &value, cases[i].size_max, NULL));
        assert_true(colander_slice_equal(colander_buffer_slice(&text),
                                         colander_slice_text(cases[i].shown)));
    }
}

static void
put(struct grid *grid, const char *name, const char *text, bool is_number)
{
    size_t column;

    OK(grid_column(grid, colander_slice_text(name), &column, NULL));
    OK(grid_put(grid, column, colander_slice_text(text), is_number, NULL));
}

/* Returns what the grid prints. The caller frees it. */
static char *
printed(struct grid *grid)
{
    char *text = NULL;
    size_t size = 0;
    FILE *file = open_memstream(&text, &size);

    assert_non_null(file);
    grid_print(grid, file);
    ZERO(fclose(file));
    return text;
}

static void
assert_printed(struct grid *grid, const char *expected)
{
    SCOPED_MEMORY char *text = printed(grid);

    assert_string_equal(text, expected);
}

static void
assert_left_out(const struct grid *grid, const char *expected)
{
    struct report report = REPORT_EMPTY;

    grid_add_left_out(grid, &report);
    OK(report.code);
    assert_true(colander_slice_equal(colander_buffer_slice(&report.text),
                                     colander_slice_text(expected)));
    report_release(&report);
}

TEST(numbers_are_aligned_right_and_texts_left)
{
    SCOPED_GRID grid = grid_create(80, GRID_PLAIN);

    OK(grid_row(grid, NULL));
    put(grid, "name", "a", false);
    put(grid, "n", "1", true);
    OK(grid_row(grid, NULL));
    put(grid, "n", "100", true);
    put(grid, "last", "z", false);
    assert_printed(grid, "name    n  last\n"
                         "----  ---  ----\n"
                         "a       1  \n"
                         "      100  z\n");
    assert_left_out(grid, "");
}

TEST(what_does_not_fit_is_cut_or_left_out_and_reported)
{
    SCOPED_GRID grid = grid_create(20, GRID_PLAIN);

    OK(grid_row(grid, NULL));
    put(grid, "k", "1", false);
    put(grid, "text", "abcdefghijklmnopqrstuvwxyz", false);
    put(grid, "other", "abcdefghij", false);
    assert_printed(grid, "k  text\n"
                         "-  -----------------\n"
                         "1  abcdefghijklmnop\xE2\x80\xA6\n");
    assert_left_out(grid, "columns left out: other; 1 value cut "
                          "(\xE2\x80\xA6): the format line prints all");
}

/* Even if the last cell of the line is half of a wide character. */
TEST(a_text_far_wider_than_the_line_is_reported_as_cut)
{
    static const char *const units[] = {"z", "\xE6\x97\xA5"};

    for (size_t i = 0; i < 2; i++) {
        SCOPED_GRID grid = grid_create(9, GRID_PLAIN);
        char text[3 * 400 + 1] = "";
        char *shown;

        for (size_t j = 0; j < 400; j++)
            strcat(text, units[i]);
        OK(grid_row(grid, NULL));
        put(grid, "k", text, false);
        shown = printed(grid);
        assert_non_null(strstr(shown, i == 0 ? "\nzzzzzzzz\xE2\x80\xA6\n"
                                             : "\xE6\x97\xA5\xE2\x80\xA6"));
        free(shown);
        assert_left_out(
            grid, "1 value cut (\xE2\x80\xA6): the format line prints all");
    }
}

TEST(later_rows_are_under_the_first_heads)
{
    SCOPED_GRID grid = grid_create(80, GRID_PLAIN);

    OK(grid_row(grid, NULL));
    put(grid, "k", "abc", false);
    free(printed(grid));
    assert_int_equal(grid_row_count(grid), 0);
    OK(grid_row(grid, NULL));
    put(grid, "k", "abcdef", false);
    put(grid, "late", "x", false);
    assert_printed(grid, "ab\xE2\x80\xA6\n");
    assert_left_out(grid, "columns left out: late; 1 value cut (\xE2\x80\xA6): "
                          "the format line prints all");
}

TEST(a_key_is_never_cut_and_columns_stand_where_they_are_placed)
{
    SCOPED_GRID grid = grid_create(24, GRID_PLAIN);
    size_t column;

    OK(grid_row(grid, NULL));
    put(grid, "list", "[1]", false);
    OK(grid_column(grid, colander_slice_text("list"), &column, NULL));
    grid_place(grid, column, GRID_LAST);
    put(grid, "text", "abcdefghijklmnopqrstuvwxyz", false);
    OK(grid_column(grid, colander_slice_text("key"), &column, NULL));
    grid_place(grid, column, GRID_KEY);
    put(grid, "key", "0123456789", false);
    put(grid, "n", "1", true);
    OK(grid_column(grid, colander_slice_text("n"), &column, NULL));
    grid_place(grid, column, GRID_FIRST);
    assert_printed(grid, "key         n  text\n"
                         "----------  -  ---------\n"
                         "0123456789  1  abcdefgh\xE2\x80\xA6\n");
    assert_left_out(grid, "columns left out: list; 1 value cut (\xE2\x80\xA6): "
                          "the format line prints all");
}

TEST(maps_and_arrays_get_the_width_that_other_columns_leave)
{
    SCOPED_GRID grid = grid_create(34, GRID_PLAIN);
    size_t column;

    OK(grid_row(grid, NULL));
    put(grid, "k", "1", true);
    put(grid, "list", "[1,2,3,4,5,6,7,8,9,10,11,12]", false);
    OK(grid_column(grid, colander_slice_text("list"), &column, NULL));
    grid_place(grid, column, GRID_LAST);
    put(grid, "text", "abcdefghijklmnopqrst", false);
    assert_printed(grid, "k  text                  list\n"
                         "-  --------------------  ---------\n"
                         "1  abcdefghijklmnopqrst  [1,2,3,4\xE2\x80\xA6\n");
}

TEST(a_grid_without_a_width_cuts_nothing_in_later_rows_either)
{
    SCOPED_GRID grid = grid_create(GRID_UNCUT, GRID_PLAIN);

    OK(grid_row(grid, NULL));
    put(grid, "k", "abc", false);
    put(grid, "l", "x", false);
    free(printed(grid));
    OK(grid_row(grid, NULL));
    put(grid, "k", "abcdef", false);
    put(grid, "l", "y", false);
    assert_printed(grid, "abcdef  y\n");
    assert_left_out(grid, "");
}

TEST(columns_beyond_the_limit_are_reported_together)
{
    SCOPED_GRID grid = grid_create(80, GRID_PLAIN);
    char name[16];
    const char *text;
    struct report report = REPORT_EMPTY;

    OK(grid_row(grid, NULL));
    for (int i = 0; i < 2 * GRID_COLUMNS_MAX; i++) {
        snprintf(name, sizeof(name), "c%d", i);
        put(grid, name, "x", false);
    }
    free(printed(grid));
    grid_add_left_out(grid, &report);
    OK(colander_buffer_append(&report.text, "", 1, NULL));
    text = (const char *)report.text.data;
    assert_non_null(strstr(text, ", c255, and more"));
    assert_null(strstr(text, "c256"));
    report_release(&report);
}

int
main(void)
{
    if (setlocale(LC_CTYPE, "C.UTF-8") == NULL)
        return 1;
    return tests_run(NULL, NULL);
}
