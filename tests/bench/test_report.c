/*
 * Reports of colander-bench: what stands in the files that they make.
 *
 * SPDX-License-Identifier: MIT
 */
#include "bench_report.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

static const char *const columns[] = {"it's", "a_b", "with | bar", NULL};

static const struct bench_plot lines = {
    .name = "lines",
    .x_label = "it's \"x\"",
    .y_label = "y",
    .first = 1,
    .count = 1,
    .is_log_y = true,
};

static const struct bench_plot bars = {
    .name = "bars",
    .kind = BENCH_BARS,
    .x_label = "x",
    .y_label = "y's",
    .first = 1,
    .count = 2,
};

struct files {
    char directory[64];
    char text[8192]; /* of the file read last */
};

/* A table of two lines, with what needs care in each file. */
static void
fill(struct bench_table *table)
{
    bench_table_init(table, "table", "A table's title", columns);
    bench_table_number(table, 1);
    bench_table_number(table, 2.5);
    bench_table_text(table, "say \"a, b\" | c");
    bench_table_number(table, 2);
    bench_table_number(table, NAN);
    bench_table_number(table, 123456.789);
}

static int
make_report(void **state)
{
    struct files *files = calloc(1, sizeof(*files));
    struct bench_report *report;
    struct bench_table table;

    (void)snprintf(files->directory, sizeof(files->directory),
                   "/tmp/colander-report-XXXXXX");
    assert_non_null(mkdtemp(files->directory));
    report = bench_report_open(files->directory, "Title");
    bench_report_section(report, "Section");
    bench_report_text(report, "Text of %d %%.", 7);
    fill(&table);
    bench_report_table(report, &table);
    bench_report_plot(report, &table, &lines);
    bench_report_plot(report, &table, &bars);
    bench_table_release(&table);
    bench_report_close(report);
    *state = files;
    return 0;
}

static int
remove_report(void **state)
{
    struct files *files = *state;

    bench_remove_directory(files->directory);
    free(files);
    return 0;
}

static const char *
read_file(struct files *files, const char *name)
{
    char path[128];
    FILE *file;
    size_t size;

    (void)snprintf(path, sizeof(path), "%s/%s", files->directory, name);
    file = fopen(path, "re");
    assert_non_null(file);
    size = fread(files->text, 1, sizeof(files->text) - 1, file);
    files->text[size] = '\0';
    assert_int_equal(fclose(file), 0);
    return files->text;
}

static void
assert_has(const char *text, const char *part)
{
    if (strstr(text, part) == NULL)
        fail_msg("'%s' is not in:\n%s", part, text);
}

static void
csv_quotes_commas_and_quotes(void **state)
{
    assert_string_equal(read_file(*state, "table.csv"),
                        "it's,a_b,with | bar\n"
                        "1,2.50,\"say \"\"a, b\"\" | c\"\n"
                        "2,,123457\n");
}

static void
markdown_escapes_bars_in_cells(void **state)
{
    const char *text = read_file(*state, "report.md");

    assert_has(text, "# Title\n");
    assert_has(text, "\n## Section\n");
    assert_has(text, "\nText of 7 %.\n");
    assert_has(text, "A table's title ([CSV](table.csv))\n");
    assert_has(text, "| it's | a_b | with \\| bar |\n| --- | --: | --: |\n");
    assert_has(text, "| 1 | 2.50 | say \"a, b\" \\| c |\n");
}

static void
gnuplot_gets_quotes_doubled(void **state)
{
    const char *text = read_file(*state, "lines.gnuplot");

    assert_has(text, "set xlabel 'it''s \"x\"'\n");
    assert_has(text, "set logscale y\n");
    assert_has(text, "plot 'table.csv' using 1:2 with linespoints title "
                     "'a_b'\n");
    text = read_file(*state, "bars.gnuplot");
    assert_has(text, "set ylabel 'y''s'\n");
    assert_has(text, "'table.csv' using 3:xtic(1) title 'with | bar'\n");
}

/* Where there is no gnuplot, the report says so instead. */
static void
plots_are_drawn_or_excused(void **state)
{
    const char *text = read_file(*state, "report.md");
    char path[128];

    (void)snprintf(path, sizeof(path), "%s/lines.svg",
                   ((const struct files *)*state)->directory);
    if (access(path, R_OK) == 0) {
        assert_has(text, "](lines.svg)\n");
        assert_has(text, "](bars.svg)\n");
    } else {
        assert_has(text, "there is no gnuplot");
        assert_null(strstr(text, "svg"));
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(csv_quotes_commas_and_quotes),
        cmocka_unit_test(markdown_escapes_bars_in_cells),
        cmocka_unit_test(gnuplot_gets_quotes_doubled),
        cmocka_unit_test(plots_are_drawn_or_excused),
    };

    return cmocka_run_group_tests(tests, make_report, remove_report);
}
