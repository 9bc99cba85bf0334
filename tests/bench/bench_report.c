/*
 * Reports in Markdown, with CSV files and plots.
 *
 * SPDX-License-Identifier: MIT
 */
#include "bench_report.h"
#include "bench_guard.h"

#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#define PATH_SIZE 4096

#ifdef __clang__
#define COMPILER __VERSION__
#else
#define COMPILER "gcc " __VERSION__
#endif

struct bench_report {
    const char *directory; /* NULL: none */
    FILE *markdown;        /* in it */
    bool has_no_gnuplot;
};

/* ---------------------------------------------------------------- text --- */

static FILE *
open_file(const struct bench_report *report, const char *name,
          const char *ending)
{
    char path[PATH_SIZE];

    (void)snprintf(path, sizeof(path), "%s/%s%s", report->directory, name,
                   ending);
    return bench_open_new(path);
}

/* Writes to the terminal and to the file. */
static void write_text(struct bench_report *report, const char *format, ...)
    COLANDER_FORMAT(2, 3);

static void
write_text(struct bench_report *report, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    (void)vprintf(format, arguments);
    va_end(arguments);
    if (report->markdown == NULL)
        return;
    va_start(arguments, format);
    (void)vfprintf(report->markdown, format, arguments);
    va_end(arguments);
}

struct bench_report *
bench_report_open(const char *directory, const char *title)
{
    struct bench_report *report = bench_allocate(1, sizeof(*report));

    report->directory = directory;
    if (directory != NULL) {
        if (mkdir(directory, 0777) != 0 && errno != EEXIST)
            bench_fail(directory, strerror(errno));
        report->markdown = open_file(report, "report", ".md");
    }
    write_text(report, "# %s\n", title);
    return report;
}

void
bench_report_close(struct bench_report *report)
{
    if (report->markdown != NULL) {
        bench_close_written(report->markdown, "report.md");
        printf("\nreport: %s/report.md\n", report->directory);
    }
    free(report);
}

void
bench_report_section(struct bench_report *report, const char *title)
{
    write_text(report, "\n## %s\n", title);
}

void
bench_report_text(struct bench_report *report, const char *format, ...)
{
    char text[4096];
    va_list arguments;

    va_start(arguments, format);
    (void)vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    write_text(report, "\n%s\n", text);
}

FILE *
bench_report_picture(struct bench_report *report, const char *name,
                     const char *ending)
{
    if (report->directory == NULL)
        return NULL;
    bench_report_text(report, "![](%s%s)", name, ending);
    return open_file(report, name, ending);
}

/* -------------------------------------------------------------- tables --- */

static void
add_cell(struct bench_table *table, const char *text, size_t size)
{
    bench_append(&table->cells, text, size);
    bench_append(&table->cells, "", 1);
    table->cell_count++;
}

void
bench_table_init(struct bench_table *table, const char *name, const char *title,
                 const char *columns)
{
    const char *at = columns;

    *table =
        (struct bench_table){.name = name, .title = title, .columns = columns};
    for (;; at++) {
        const size_t size = strcspn(at, ";");

        add_cell(table, at, size);
        table->column_count++;
        at += size;
        if (*at == '\0')
            break;
    }
    if (table->column_count > BENCH_COLUMNS_MAX)
        bench_fail(name, "too many columns");
}

void
bench_table_text(struct bench_table *table, const char *format, ...)
{
    char text[512];
    va_list arguments;

    va_start(arguments, format);
    (void)vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    add_cell(table, text, strlen(text));
}

void
bench_table_number(struct bench_table *table, double number)
{
    const double size = fabs(number);

    if (isnan(number))
        bench_table_text(table, "%s", "");
    else if (number == floor(number) || size >= 100)
        bench_table_text(table, "%.0f", number);
    else if (size >= 1)
        bench_table_text(table, size >= 10 ? "%.1f" : "%.2f", number);
    else
        bench_table_text(table, "%.3g", number);
}

void
bench_table_numbers(struct bench_table *table, const double *numbers,
                    size_t count)
{
    for (size_t i = 0; i < count; i++)
        bench_table_number(table, numbers[i]);
}

/* Returns the cell after `cell`. */
static const char *
next_cell(const char *cell)
{
    return cell + strlen(cell) + 1;
}

/* Characters, as a terminal shows them. */
static int
width_of(const char *text)
{
    int width = 0;

    for (; *text != '\0'; text++)
        width += ((unsigned char)*text & 0xc0) != 0x80;
    return width;
}

/* The first column to the left, numbers to the right. */
static void
write_table(struct bench_report *report, const struct bench_table *table)
{
    static const char dashes[] = "----------------------------------------"
                                 "----------------------------------------";
    const char *cell = (const char *)table->cells.data;
    int widths[BENCH_COLUMNS_MAX] = {0};

    for (size_t i = 0; i < table->cell_count; i++, cell = next_cell(cell)) {
        int *width = &widths[i % table->column_count];

        *width = width_of(cell) > *width ? width_of(cell) : *width;
    }
    cell = (const char *)table->cells.data;
    for (size_t i = 0; i < table->cell_count; i++, cell = next_cell(cell)) {
        const size_t column = i % table->column_count;
        const int pad = widths[column] - width_of(cell);

        if (i == table->column_count) {
            for (size_t j = 0; j < i; j++)
                write_text(report, "| %.*s%s ", widths[j] - 1, dashes,
                           j == 0 ? "-" : ":");
            write_text(report, "|\n");
        }
        write_text(report, "| %*s%s%*s ", column == 0 ? 0 : pad, "", cell,
                   column == 0 ? pad : 0, "");
        if (column + 1 == table->column_count)
            write_text(report, "|\n");
    }
}

static void
write_csv(const struct bench_report *report, const struct bench_table *table)
{
    const char *cell = (const char *)table->cells.data;
    FILE *file = open_file(report, table->name, ".csv");

    for (size_t i = 0; i < table->cell_count; i++, cell = next_cell(cell)) {
        const bool is_quoted = strpbrk(cell, ",\"\n") != NULL;

        (void)fputs(i % table->column_count > 0 ? ","
                    : i > 0                     ? "\n"
                                                : "",
                    file);
        (void)fputs(is_quoted ? "\"" : "", file);
        for (const char *at = cell; *at != '\0'; at++) {
            if (*at == '"')
                (void)fputc('"', file);
            (void)fputc(*at, file);
        }
        (void)fputs(is_quoted ? "\"" : "", file);
    }
    (void)fputc('\n', file);
    bench_close_written(file, table->name);
}

#define PROCESSOR_SIZE 256

/* Reads the name of the processors, or returns a generic one. */
static void
read_processor(char name[PROCESSOR_SIZE])
{
    FILE *file = fopen("/proc/cpuinfo", "re");
    char line[512];

    (void)snprintf(name, PROCESSOR_SIZE, "processors");
    while (file != NULL && fgets(line, sizeof(line), file) != NULL) {
        if (sscanf(line, "model name : %255[^\n]", name) == 1)
            break;
    }
    if (file != NULL)
        (void)fclose(file);
}

void
bench_report_machine(struct bench_report *report)
{
    const double memory =
        (double)sysconf(_SC_PHYS_PAGES) * (double)sysconf(_SC_PAGESIZE);
    struct utsname system;
    char processor[PROCESSOR_SIZE];

    read_processor(processor);
    if (uname(&system) != 0)
        bench_fail("uname", strerror(errno));
    bench_report_text(report,
                      "Machine: %ld x %s, %.1f GB of memory, %s %s; compiled "
                      "by %s.",
                      sysconf(_SC_NPROCESSORS_ONLN), processor, memory / 1e9,
                      system.sysname, system.release, COMPILER);
}

/* ---------------------------------------------------------------- plots --- */

/* Titles are the first line of the CSV file. `noenhanced` keeps underscores and
 * the like in them. */
static void
write_script(const struct bench_report *report, const struct bench_table *table,
             const struct bench_plot *plot)
{
    const bool has_bars = plot->kind == BENCH_BARS;
    FILE *file = open_file(report, plot->name, ".gnuplot");

    (void)fprintf(file,
                  "set terminal svg size 720,440 background 'white' "
                  "noenhanced\n"
                  "set datafile separator ','\n"
                  "set key below autotitle columnhead\n"
                  "set grid\n"
                  "set output '%s.svg'\n"
                  "set xlabel '%s'\n"
                  "set ylabel '%s'\n",
                  plot->name, plot->x_label, plot->y_label);
    if (plot->is_log_y)
        (void)fputs("set logscale y\n", file);
    if (has_bars)
        (void)fputs("set style data histograms\n"
                    "set style fill solid 0.8\n"
                    "set xtics rotate by 40 right\n",
                    file);
    else
        (void)fputs("set style data linespoints\n"
                    "set format x '%.10g'\n",
                    file);
    if (has_bars && !plot->is_log_y)
        (void)fputs("set yrange [0:*]\n", file);
    for (size_t i = 0; i < plot->count; i++)
        (void)fprintf(file,
                      has_bars ? "%s'%s.csv' using %zu:xtic(1)"
                               : "%s'%s.csv' using 1:%zu",
                      i == 0 ? "plot " : ", ", table->name,
                      plot->first + i + 1);
    (void)fputc('\n', file);
    bench_close_written(file, plot->name);
}

/* Returns false if there is no gnuplot. */
static bool
draw(const struct bench_report *report, const struct bench_plot *plot)
{
    char script[PATH_SIZE];
    char *arguments[] = {"gnuplot", script, NULL};
    int code;

    (void)snprintf(script, sizeof(script), "%s.gnuplot", plot->name);
    code = bench_guard_await(bench_guard_start(arguments, report->directory,
                                               BENCH_GUARD_INHERITED, SIGKILL));
    if (code != 0 && code != BENCH_GUARD_MISSING)
        bench_fail(script, "gnuplot rejects it");
    return code == 0;
}

static void
add_plot(struct bench_report *report, const struct bench_table *table,
         const struct bench_plot *plot)
{
    write_script(report, table, plot);
    if (!report->has_no_gnuplot && !draw(report, plot)) {
        report->has_no_gnuplot = true;
        bench_report_text(report, "Plots are left out: there is no gnuplot "
                                  "(Debian: gnuplot-nox).");
    }
    if (!report->has_no_gnuplot)
        bench_report_text(report, "![%s over %s](%s.svg)", plot->y_label,
                          plot->x_label, plot->name);
}

void
bench_report_table(struct bench_report *report, struct bench_table *table,
                   const struct bench_plot *plot)
{
    if (table->cell_count % table->column_count != 0)
        bench_fail(table->name, "the last line is not complete");
    write_text(report, "\n%s", table->title);
    if (report->directory != NULL)
        write_text(report, " ([CSV](%s.csv))", table->name);
    write_text(report, "\n\n");
    write_table(report, table);
    (void)fflush(stdout);
    if (report->directory != NULL) {
        write_csv(report, table);
        (void)fflush(report->markdown); /* so far, if it ends early */
        if (plot != NULL)
            add_plot(report, table, plot);
    }
    colander_buffer_release(&table->cells);
}
