/*
 * Reports: the tables of an experiment, on the terminal and, where a folder is
 * given, as report.md with a CSV file for each table, and plots.
 *
 * A plot shows columns of a table, and is drawn by gnuplot from its CSV file;
 * where there is no gnuplot, the report has the table alone, and says so.
 *
 * Life: open -> text, table, plot ... -> close
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BENCH_REPORT_H
#define BENCH_REPORT_H

#include "bench.h"

#define BENCH_COLUMNS_MAX 16

/* Cells are text; the first column names what a line is about. */
struct bench_table {
    const char *name;  /* of its file, without ending */
    const char *title; /* one line */
    const char *columns[BENCH_COLUMNS_MAX];
    size_t column_count;
    struct colander_buffer cells; /* each ends with a zero byte */
    size_t cell_count;
};

/* `columns` end with NULL; name, title and columns are borrowed. */
void bench_table_init(struct bench_table *table, const char *name,
                      const char *title, const char *const *columns);
void bench_table_release(struct bench_table *table);

/* The next cell; lines follow one another. */
void bench_table_text(struct bench_table *table, const char *format, ...)
    COLANDER_FORMAT(2, 3);

/* The same for a number, with three digits that count; NAN: an empty cell. */
void bench_table_number(struct bench_table *table, double number);

enum bench_plot_kind { BENCH_LINES, BENCH_BARS };

/* What a plot of a table shows: the first column, along the x axis, and the
 * columns from `first` on, `count` of them, each a line or bars. */
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

/* `directory` is made when it is not there; NULL: the terminal only. */
struct bench_report *bench_report_open(const char *directory,
                                       const char *title);

/* A paragraph. */
void bench_report_text(struct bench_report *report, const char *format, ...)
    COLANDER_FORMAT(2, 3);

/* A heading. */
void bench_report_section(struct bench_report *report, const char *title);

void bench_report_table(struct bench_report *report,
                        const struct bench_table *table);

/* `table` was reported before. */
void bench_report_plot(struct bench_report *report,
                       const struct bench_table *table,
                       const struct bench_plot *plot);

/* Says where the report is. */
void bench_report_close(struct bench_report *report);

/* A paragraph on the machine: processors, memory, kernel, compiler. */
void bench_report_machine(struct bench_report *report);

#endif
