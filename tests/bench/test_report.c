/*
 * Reports of colander-bench: the contents of their files.
 *
 * SPDX-License-Identifier: MIT
 */
#include "bench_report.h"
#include "support/cases.h"
#include "support/temporary.h"

#include <math.h>

static const struct bench_plot lines = {"lines", BENCH_LINES, "x", "y",
                                        1,       1,           true};
static const struct bench_plot bars = {"bars", BENCH_BARS, "x",  "y_z",
                                       1,      2,          false};

struct files {
    char directory[TEMPORARY_SIZE];
    char text[8192]; /* of the file read last */
};

/* Reports a table of two lines, with text that each file must escape. */
static void
report_table(struct bench_report *report, const char *name,
             const struct bench_plot *plot)
{
    struct bench_table table;

    bench_table_init(&table, name, "A table's title", "it's;a_b;c, d");
    bench_table_number(&table, 1);
    bench_table_number(&table, 2.5);
    bench_table_text(&table, "say \"a, b\"");
    bench_table_number(&table, 2);
    bench_table_number(&table, NAN);
    bench_table_number(&table, 123456.789);
    bench_report_table(report, &table, plot);
}

static int
make_report(void **state)
{
    struct files *files = calloc(1, sizeof(*files));
    struct bench_report *report;

    temporary_make(files->directory);
    report = bench_report_open(files->directory, "Title");
    bench_report_section(report, "Section");
    bench_report_text(report, "Text of %d %%.", 7);
    report_table(report, "table", &lines);
    report_table(report, "other", &bars);
    bench_report_close(report);
    *state = files;
    return 0;
}

static int
remove_report(void **state)
{
    struct files *files = *state;

    temporary_remove(files->directory);
    free(files);
    return 0;
}

static const char *
read_file(struct files *files, const char *name)
{
    char path[TEMPORARY_SIZE + 32];
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

TEST(csv_quotes_commas_and_quotes)
{
    assert_string_equal(read_file(state, "table.csv"),
                        "it's,a_b,\"c, d\"\n"
                        "1,2.50,\"say \"\"a, b\"\"\"\n"
                        "2,,123457\n");
}

TEST(markdown_aligns_its_columns)
{
    const char *text = read_file(state, "report.md");

    assert_has(text, "# Title\n");
    assert_has(text, "\n## Section\n");
    assert_has(text, "\nText of 7 %.\n");
    assert_has(text, "A table's title ([CSV](table.csv))\n");
    assert_has(text, "| it's |  a_b |       c, d |\n"
                     "| ---- | ---: | ---------: |\n"
                     "| 1    | 2.50 | say \"a, b\" |\n"
                     "| 2    |      |     123457 |\n");
}

TEST(gnuplot_reads_the_csv_file)
{
    const char *text = read_file(state, "lines.gnuplot");

    assert_has(text, "autotitle columnhead\n");
    assert_has(text, "set logscale y\n");
    assert_has(text, "plot 'table.csv' using 1:2\n");
    text = read_file(state, "bars.gnuplot");
    assert_has(text, "set ylabel 'y_z'\n");
    assert_has(text, "plot 'other.csv' using 2:xtic(1), 'other.csv' using "
                     "3:xtic(1)\n");
}

/* Without gnuplot, the report says so instead. */
TEST(plots_are_drawn_or_excused)
{
    const char *text = read_file(state, "report.md");
    char path[TEMPORARY_SIZE + 32];

    (void)snprintf(path, sizeof(path), "%s/lines.svg",
                   ((const struct files *)state)->directory);
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
    return tests_run(make_report, remove_report);
}
