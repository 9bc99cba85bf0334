/*
 * Reports: the tables of an experiment in Markdown, on the terminal and, if
 * there is a folder for them, as report.md with a CSV file for each table, and
 * plots.
 *
 * A plot shows columns of a table, and is drawn by gnuplot from its CSV file.
 * Without gnuplot the report has the table alone, and says so.
 *
 * Life: open -> text, section, table ... -> close
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BENCH_REPORT_H
#define BENCH_REPORT_H

#include "bench.h"

#define BENCH_COLUMNS_MAX 16

/* Cells are text without bars. The first column names what a line is about. */
struct bench_table {
    const char *name;    /* of its file, without ending */
    const char *title;   /* one line */
    const char *columns; /* names, separated by semicolons */
    size_t column_count;
    struct colander_buffer cells; /* each ends with a zero byte */
    size_t cell_count;
};

/* Borrows the strings until the table is reported. */
void bench_table_init(struct bench_table *table, const char *name,
                      const char *title, const char *columns);

/* Adds the next cell. Lines follow one another. */
void bench_table_text(struct bench_table *table, const char *format, ...)
    COLANDER_FORMAT(2, 3);

/* Adds a number with three significant digits. NAN: an empty cell. */
void bench_table_number(struct bench_table *table, double number);
void bench_table_numbers(struct bench_table *table, const double *numbers,
                         size_t count);

enum bench_plot_kind { BENCH_LINES, BENCH_BARS };

/* Names and labels have no quotes.
 *
 * A plot has the first column of a table along the x axis, and the columns from
 * `first` on, `count` of them, each as a line or bars. */
struct bench_plot {
    const char *name; /* of its file, without ending */
    enum bench_plot_kind kind;
    const char *x_label;
    const char *y_label;
    size_t first;
    size_t count;
    bool is_log_y;
};

struct bench_report;

/* Creates `directory` if it is missing. NULL: the terminal only. */
struct bench_report *bench_report_open(const char *directory,
                                       const char *title);

/* Adds a paragraph. */
void bench_report_text(struct bench_report *report, const char *format, ...)
    COLANDER_FORMAT(2, 3);

/* Adds a heading. */
void bench_report_section(struct bench_report *report, const char *title);

/* Adds a table and, unless it is NULL, a plot of it. Frees the cells. */
void bench_report_table(struct bench_report *report, struct bench_table *table,
                        const struct bench_plot *plot);

/* Opens a file of the report for a picture, which the report then shows. Close
 * it with bench_close_written. Returns NULL if there is no folder. */
FILE *bench_report_picture(struct bench_report *report, const char *name,
                           const char *ending);

/* Prints where the report is. */
void bench_report_close(struct bench_report *report);

/* Adds a paragraph on the machine: processors, memory, kernel, compiler. */
void bench_report_machine(struct bench_report *report);

#endif
