/*
 * Reports: see bench_report.h.
 *
 * SPDX-License-Identifier: MIT
 */
#include "bench_report.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#define PATH_SIZE 4096

#ifdef __clang__
#define COMPILER __VERSION__
#else
#define COMPILER "gcc " __VERSION__
#endif

struct bench_report {
    char *directory; /* NULL: none */
    FILE *markdown;  /* in it */
    bool has_no_gnuplot;
};

/* --------------------------------------------------------------- tables --- */

void
bench_table_init(struct bench_table *table, const char *name, const char *title,
                 const char *const *columns)
{
    memset(table, 0, sizeof(*table));
    table->name = name;
    table->title = title;
    for (; columns[table->column_count] != NULL; table->column_count++) {
        if (table->column_count == BENCH_COLUMNS_MAX)
            bench_fail(name, "too many columns");
        table->columns[table->column_count] = columns[table->column_count];
    }
}

void
bench_table_release(struct bench_table *table)
{
    colander_buffer_release(&table->cells);
}

static void
add_cell(struct bench_table *table, const char *text)
{
    struct colander_error err;

    bench_check(
        colander_buffer_append(&table->cells, text, strlen(text) + 1, &err),
        &err);
    table->cell_count++;
}

void
bench_table_text(struct bench_table *table, const char *format, ...)
{
    char text[512];
    va_list arguments;

    va_start(arguments, format);
    (void)vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    add_cell(table, text);
}

void
bench_table_number(struct bench_table *table, double number)
{
    const double size = fabs(number);

    if (isnan(number))
        add_cell(table, "");
    else if (number == floor(number) || size >= 100)
        bench_table_text(table, "%.0f", number);
    else if (size >= 10)
        bench_table_text(table, "%.1f", number);
    else if (size >= 1)
        bench_table_text(table, "%.2f", number);
    else
        bench_table_text(table, "%.3g", number);
}

/* Calls `visit` for each cell, in order. */
static void
visit_cells(const struct bench_table *table, void *context,
            void (*visit)(void *context, size_t column, const char *cell))
{
    const char *cell = (const char *)table->cells.data;

    for (size_t i = 0; i < table->cell_count; i++) {
        visit(context, i % table->column_count, cell);
        cell += strlen(cell) + 1;
    }
}

/* ----------------------------------------------------------------- life --- */

static FILE *
open_file(const struct bench_report *report, const char *name,
          const char *ending)
{
    char path[PATH_SIZE];
    FILE *file;

    (void)snprintf(path, sizeof(path), "%s/%s%s", report->directory, name,
                   ending);
    file = fopen(path, "we");
    if (file == NULL)
        bench_fail(path, strerror(errno));
    return file;
}

/* A full disk shows when what was buffered is written. */
static void
close_file(FILE *file, const char *name)
{
    const bool is_bad = ferror(file) != 0;

    if (fclose(file) != 0 || is_bad)
        bench_fail(name, "could not be written");
}

struct bench_report *
bench_report_open(const char *directory, const char *title)
{
    struct bench_report *report = bench_allocate(1, sizeof(*report));

    printf("%s\n", title);
    if (directory == NULL)
        return report;
    if (mkdir(directory, 0777) != 0 && errno != EEXIST)
        bench_fail(directory, strerror(errno));
    report->directory = strdup(directory);
    if (report->directory == NULL)
        bench_fail(title, "no memory");
    report->markdown = open_file(report, "report", ".md");
    (void)fprintf(report->markdown, "# %s\n", title);
    return report;
}

void
bench_report_close(struct bench_report *report)
{
    if (report->markdown != NULL) {
        close_file(report->markdown, "report.md");
        printf("\nreport: %s/report.md\n", report->directory);
    }
    free(report->directory);
    free(report);
}

/* ----------------------------------------------------------------- text --- */

void
bench_report_text(struct bench_report *report, const char *format, ...)
{
    char text[4096];
    va_list arguments;

    va_start(arguments, format);
    (void)vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    printf("\n%s\n", text);
    if (report->markdown != NULL)
        (void)fprintf(report->markdown, "\n%s\n", text);
}

void
bench_report_section(struct bench_report *report, const char *title)
{
    printf("\n%s\n", title);
    for (size_t i = 0; i < strlen(title); i++)
        (void)putchar('-');
    (void)putchar('\n');
    if (report->markdown != NULL)
        (void)fprintf(report->markdown, "\n## %s\n", title);
}

/* The value behind `name` and a colon in a file of /proc, or "unknown". */
static void
read_fact(const char *path, const char *name, char *fact, size_t size)
{
    FILE *file = fopen(path, "re");
    char line[512];

    (void)snprintf(fact, size, "unknown");
    while (file != NULL && fgets(line, sizeof(line), file) != NULL) {
        char *colon = strchr(line, ':');

        if (colon == NULL || strncmp(line, name, strlen(name)) != 0)
            continue;
        colon += 1 + strspn(colon + 1, " \t");
        colon[strcspn(colon, "\n")] = '\0';
        (void)snprintf(fact, size, "%s", colon);
        break;
    }
    if (file != NULL)
        (void)fclose(file);
}

void
bench_report_machine(struct bench_report *report)
{
    struct utsname system;
    char processor[256];
    char memory[256];

    read_fact("/proc/cpuinfo", "model name", processor, sizeof(processor));
    read_fact("/proc/meminfo", "MemTotal", memory, sizeof(memory));
    if (uname(&system) != 0)
        bench_fail("uname", strerror(errno));
    bench_report_text(report,
                      "Machine: %ld x %s, %s of memory, %s %s; compiled by %s.",
                      sysconf(_SC_NPROCESSORS_ONLN), processor, memory,
                      system.sysname, system.release, COMPILER);
}

/* ----------------------------------------------------- reported tables --- */

struct printing {
    const struct bench_table *table;
    FILE *file;
    size_t widths[BENCH_COLUMNS_MAX];
};

/* Characters, as a terminal shows them. */
static size_t
width_of(const char *text)
{
    size_t width = 0;

    for (; *text != '\0'; text++)
        width += ((unsigned char)*text & 0xc0) != 0x80;
    return width;
}

static void
widen(void *context, size_t column, const char *cell)
{
    struct printing *printing = context;

    if (width_of(cell) > printing->widths[column])
        printing->widths[column] = width_of(cell);
}

/* The first column to the left, numbers to the right. */
static void
print_aligned(void *context, size_t column, const char *cell)
{
    const struct printing *printing = context;
    const int pad = (int)(printing->widths[column] - width_of(cell));
    const bool is_last = column + 1 == printing->table->column_count;

    if (column == 0)
        (void)fprintf(printing->file, "  %s%*s", cell, pad, "");
    else
        (void)fprintf(printing->file, "  %*s%s", pad, "", cell);
    if (is_last)
        (void)fputc('\n', printing->file);
}

static void
print_csv(void *context, size_t column, const char *cell)
{
    const struct printing *printing = context;
    const bool is_quoted = strpbrk(cell, ",\"\n") != NULL;

    if (column > 0)
        (void)fputc(',', printing->file);
    if (is_quoted)
        (void)fputc('"', printing->file);
    for (; *cell != '\0'; cell++) {
        if (*cell == '"')
            (void)fputc('"', printing->file);
        (void)fputc(*cell, printing->file);
    }
    if (is_quoted)
        (void)fputc('"', printing->file);
    if (column + 1 == printing->table->column_count)
        (void)fputc('\n', printing->file);
}

/* A bar would end the cell. */
static void
print_markdown(void *context, size_t column, const char *cell)
{
    const struct printing *printing = context;

    (void)fputs("| ", printing->file);
    for (; *cell != '\0'; cell++) {
        if (*cell == '|')
            (void)fputc('\\', printing->file);
        (void)fputc(*cell, printing->file);
    }
    (void)fputc(' ', printing->file);
    if (column + 1 == printing->table->column_count)
        (void)fputs("|\n", printing->file);
}

static void
print_all(struct printing *printing,
          void (*print)(void *context, size_t column, const char *cell))
{
    for (size_t i = 0; i < printing->table->column_count; i++)
        print(printing, i, printing->table->columns[i]);
    if (print == print_markdown) {
        for (size_t i = 0; i < printing->table->column_count; i++)
            print(printing, i, i == 0 ? "---" : "--:");
    }
    visit_cells(printing->table, printing, print);
}

void
bench_report_table(struct bench_report *report, const struct bench_table *table)
{
    struct printing printing = {.table = table, .file = stdout};

    if (table->cell_count % table->column_count != 0)
        bench_fail(table->name, "the last line is not whole");
    for (size_t i = 0; i < table->column_count; i++)
        widen(&printing, i, table->columns[i]);
    visit_cells(table, &printing, widen);
    printf("\n%s\n\n", table->title);
    print_all(&printing, print_aligned);
    (void)fflush(stdout);
    if (report->markdown == NULL)
        return;
    (void)fprintf(report->markdown, "\n%s ([CSV](%s.csv))\n\n", table->title,
                  table->name);
    printing.file = report->markdown;
    print_all(&printing, print_markdown);
    printing.file = open_file(report, table->name, ".csv");
    print_all(&printing, print_csv);
    close_file(printing.file, table->name);
    (void)fflush(report->markdown); /* so far, if it ends early */
}

/* ---------------------------------------------------------------- plots --- */

/* As gnuplot takes text: between single quotes, those inside doubled. */
static void
write_quoted(FILE *file, const char *text, const char *ending)
{
    (void)fputc('\'', file);
    for (; *text != '\0'; text++) {
        if (*text == '\'')
            (void)fputc('\'', file);
        (void)fputc(*text, file);
    }
    (void)fprintf(file, "%s'", ending);
}

/* What all plots have. Underscores and the like in titles are just that. */
static void
write_settings(FILE *file, const struct bench_plot *plot)
{
    (void)fputs("set terminal svg size 720,440 background 'white' noenhanced\n"
                "set datafile separator ','\n"
                "set key below\n"
                "set grid\n"
                "set output ",
                file);
    write_quoted(file, plot->name, ".svg");
    (void)fputs("\nset xlabel ", file);
    write_quoted(file, plot->x_label, "");
    (void)fputs("\nset ylabel ", file);
    write_quoted(file, plot->y_label, "");
    (void)fputc('\n', file);
    if (plot->is_log_y)
        (void)fputs("set logscale y\n", file);
    if (plot->kind == BENCH_BARS)
        (void)fputs("set style data histograms\n"
                    "set style fill solid 0.8\n"
                    "set xtics rotate by 40 right\n",
                    file);
    else
        (void)fputs("set format x '%.10g'\n", file);
    if (plot->kind == BENCH_BARS && !plot->is_log_y)
        (void)fputs("set yrange [0:*]\n", file);
}

static void
write_script(const struct bench_report *report, const struct bench_table *table,
             const struct bench_plot *plot)
{
    FILE *file = open_file(report, plot->name, ".gnuplot");

    write_settings(file, plot);
    for (size_t i = 0; i < plot->count; i++) {
        const size_t column = plot->first + i;

        (void)fputs(i == 0 ? "plot " : ", ", file);
        write_quoted(file, table->name, ".csv");
        if (plot->kind == BENCH_BARS)
            (void)fprintf(file, " using %zu:xtic(1) title ", column + 1);
        else
            (void)fprintf(file, " using 1:%zu with linespoints title ",
                          column + 1);
        write_quoted(file, table->columns[column], "");
    }
    (void)fputc('\n', file);
    close_file(file, plot->name);
}

/* Whether gnuplot drew it. */
static bool
draw(const struct bench_report *report, const struct bench_plot *plot)
{
    char script[PATH_SIZE];
    pid_t child;
    int status;

    (void)snprintf(script, sizeof(script), "%s.gnuplot", plot->name);
    (void)fflush(NULL);
    child = fork();
    if (child < 0)
        bench_fail("gnuplot", strerror(errno));
    if (child == 0) {
        if (chdir(report->directory) == 0)
            execlp("gnuplot", "gnuplot", script, (char *)NULL);
        _exit(127);
    }
    if (waitpid(child, &status, 0) != child)
        bench_fail("gnuplot", strerror(errno));
    if (WIFEXITED(status) && WEXITSTATUS(status) == 127)
        return false;
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
        bench_fail(script, "gnuplot does not take it");
    return true;
}

void
bench_report_plot(struct bench_report *report, const struct bench_table *table,
                  const struct bench_plot *plot)
{
    if (report->directory == NULL)
        return;
    write_script(report, table, plot);
    if (!report->has_no_gnuplot && !draw(report, plot)) {
        report->has_no_gnuplot = true;
        bench_report_text(report, "Plots are left out: there is no gnuplot "
                                  "(Debian: gnuplot-nox).");
    }
    if (!report->has_no_gnuplot)
        (void)fprintf(report->markdown, "\n![%s over %s](%s.svg)\n",
                      plot->y_label, plot->x_label, plot->name);
}
