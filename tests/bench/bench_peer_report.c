/*
 * The figures of all peers, told in tables and plots.
 *
 * SPDX-License-Identifier: MIT
 */
#include "bench_peer_report.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>

#define MEASURES 11
#define NAME_SIZE 200
#define BETTER 0.95 /* of Colander's figure, or less */

/* What is measured, the less the better. */
enum measure {
    LOAD,
    SIZE,
    QUESTIONS, /* the first of those in order of bench_work_kind */
    FIRST_ANSWER = QUESTIONS + BENCH_WORK_KINDS,
    ADDING,
};

static_assert(ADDING + 1 == MEASURES, "all are told");

static const struct {
    const char *name;
    const char *sentence;
} measures[MEASURES] = {
    {"load", "a load until it is ready for questions"},
    {"disk", "bytes on disk"},
    {"chosen", "equality in the column chosen beforehand"},
    {"other", "equality in a column that nobody chose"},
    {"any", "a value in any column"},
    {"none, chosen", "an absent value in the column chosen beforehand"},
    {"none, other", "an absent value in a column that nobody chose"},
    {"none, any", "an absent value in any column"},
    {"added", "equality in the added column, once it has what it needs"},
    {"first", "the first answer about an added column"},
    {"index", "making what the added column needs"},
};

static double
figure(const struct bench_peer_figures *figures, unsigned measure)
{
    switch (measure) {
    case LOAD:
        return figures->load;
    case SIZE:
        return figures->size;
    case FIRST_ANSWER:
        return figures->first_answer;
    case ADDING:
        return figures->adding;
    default:
        return figures->asked[measure - QUESTIONS];
    }
}

/* Of a table, its CSV file or a plot. */
static const char *
file_name(char *name, const struct bench_work *work, const char *what)
{
    (void)snprintf(name, NAME_SIZE, "peers-%.100s-%s", work->name, what);
    return name;
}

static const char *
mark(const struct bench_peer_figures *figures)
{
    return figures->is_server ? "server" : "library";
}

static void
begin_line(struct bench_table *table, const struct bench_peer_figures *figures)
{
    bench_table_text(table, "%s", figures->name);
    bench_table_text(table, "%s", mark(figures));
}

/* -------------------------------------------------------------- tables --- */

static void
report_ratios(struct bench_report *report, const struct bench_work *work,
              const struct bench_peer_figures *figures, size_t count)
{
    static const char *const columns[] = {"ratio to Colander",
                                          "runs as",
                                          "load",
                                          "disk",
                                          "chosen",
                                          "other",
                                          "any",
                                          "none, chosen",
                                          "none, other",
                                          "none, any",
                                          "added",
                                          "first",
                                          NULL};
    char name[NAME_SIZE];
    struct bench_table table;

    bench_table_init(&table, file_name(name, work, "ratios"),
                     "Ratios: how many times Colander's time or bytes each "
                     "takes; below 1 it does better.",
                     columns);
    for (size_t i = 0; i < count; i++) {
        begin_line(&table, &figures[i]);
        for (unsigned measure = 0; measure < ADDING; measure++)
            bench_table_number(&table, figure(&figures[i], measure) /
                                           figure(&figures[0], measure));
    }
    bench_report_table(report, &table);
    bench_table_release(&table);
}

static void
report_load(struct bench_report *report, const struct bench_work *work,
            const struct bench_peer_figures *figures, size_t count)
{
    static const char *const columns[] = {
        "load",       "runs as",       "seconds", "rows/s",
        "MB on disk", "% of the JSON", NULL};
    struct bench_plot plot = {
        .kind = BENCH_BARS,
        .x_label = "way",
        .y_label = "seconds to load",
        .first = 2,
        .count = 1,
    };
    char name[NAME_SIZE];
    char plot_name[NAME_SIZE];
    struct bench_table table;

    bench_table_init(&table, file_name(name, work, "load"),
                     "Load: from JSON lines until ready for questions, with "
                     "all indexes.",
                     columns);
    for (size_t i = 0; i < count; i++) {
        begin_line(&table, &figures[i]);
        bench_table_number(&table, figures[i].load);
        bench_table_number(&table,
                           floor((double)work->row_count / figures[i].load));
        bench_table_number(&table, figures[i].size / 1e6);
        bench_table_number(&table,
                           100 * figures[i].size / (double)work->lines_size);
    }
    bench_report_table(report, &table);
    plot.name = file_name(plot_name, work, "load-plot");
    bench_report_plot(report, &table, &plot);
    bench_table_release(&table);
}

static void
report_questions(struct bench_report *report, const struct bench_work *work,
                 const struct bench_peer_figures *figures, size_t count)
{
    static const char *const columns[] = {"microseconds a question",
                                          "runs as",
                                          "chosen",
                                          "other",
                                          "any",
                                          "none, chosen",
                                          "none, other",
                                          "none, any",
                                          NULL};
    struct bench_plot plot = {
        .kind = BENCH_BARS,
        .x_label = "way",
        .y_label = "microseconds a question",
        .first = 2,
        .count = 3,
        .is_log_y = true,
    };
    char name[NAME_SIZE];
    char plot_name[NAME_SIZE];
    struct bench_table table;

    bench_table_init(&table, file_name(name, work, "questions"),
                     "Questions: rows that have a value, in the column chosen "
                     "beforehand, in another, in any; and the same for values "
                     "that no row has.",
                     columns);
    for (size_t i = 0; i < count; i++) {
        begin_line(&table, &figures[i]);
        for (unsigned kind = 0; kind < BENCH_WORK_ADDED; kind++)
            bench_table_number(&table, figures[i].asked[kind]);
    }
    bench_report_table(report, &table);
    plot.name = file_name(plot_name, work, "questions-plot");
    bench_report_plot(report, &table, &plot);
    bench_table_release(&table);
}

static void
report_added(struct bench_report *report, const struct bench_work *work,
             const struct bench_peer_figures *figures, size_t count)
{
    static const char *const columns[] = {"a column added",      "runs as",
                                          "first answer, ms",    "index, ms",
                                          "then a question, us", NULL};
    char name[NAME_SIZE];
    char title[300];
    struct bench_table table;

    (void)snprintf(title, sizeof(title),
                   "A column added: %" PRIu64 " later rows have one more. "
                   "From the start of loading them to the first right answer "
                   "about it; then an index made for it, where one is needed; "
                   "then a question.",
                   work->later_count);
    bench_table_init(&table, file_name(name, work, "added"), title, columns);
    for (size_t i = 0; i < count; i++) {
        begin_line(&table, &figures[i]);
        bench_table_number(&table, figures[i].first_answer * 1e3);
        bench_table_number(&table, figures[i].adding == 0
                                       ? (double)NAN
                                       : figures[i].adding * 1e3);
        bench_table_number(&table, figures[i].asked[BENCH_WORK_ADDED]);
    }
    bench_report_table(report, &table);
    bench_table_release(&table);
}

/* --------------------------------------------------------------- words --- */

struct words {
    char text[3500];
    size_t size;
};

static void add(struct words *words, const char *format, ...)
    COLANDER_FORMAT(2, 3);

static void
add(struct words *words, const char *format, ...)
{
    const size_t room = sizeof(words->text) - words->size;
    va_list arguments;
    int size;

    va_start(arguments, format);
    size = vsnprintf(words->text + words->size, room, format, arguments);
    va_end(arguments);
    if (size > 0)
        words->size += (size_t)size < room ? (size_t)size : room - 1;
}

/* One line: who needs less than Colander, and how much less. */
static void
add_better(struct words *words, unsigned measure,
           const struct bench_peer_figures *figures, size_t count)
{
    const double ours = figure(&figures[0], measure);
    bool is_first = true;

    words->size = 0;
    add(words, "- %s: ", measures[measure].sentence);
    for (size_t i = 1; i < count; i++) {
        const double theirs = figure(&figures[i], measure);

        if (theirs > BETTER * ours || strncmp(figures[i].name, figures[0].name,
                                              strlen(figures[0].name)) == 0)
            continue;
        add(words, "%s%s (%.3g of Colander's)", is_first ? "" : "; ",
            figures[i].name, theirs / ours);
        is_first = false;
    }
    if (is_first)
        add(words, "none");
}

static void
report_better(struct bench_report *report,
              const struct bench_peer_figures *figures, size_t count)
{
    struct words words;

    bench_report_text(report,
                      "Who does better than Colander, by 5 %% or more:");
    for (unsigned measure = 0; measure < ADDING; measure++) {
        add_better(&words, measure, figures, count);
        bench_report_text(report, "%s", words.text);
    }
}

void
bench_peer_report(struct bench_report *report, const struct bench_work *work,
                  const struct bench_peer_figures *figures, size_t count)
{
    bench_report_section(report, work->name);
    bench_report_text(
        report,
        "%" PRIu64 " rows, %.1f MB of JSON lines, with %zu columns at any "
        "depth. Chosen beforehand: `%s`; chosen by nobody: `%s`. Each answer "
        "was right: the number of its rows is that counted beforehand.",
        work->row_count, (double)work->lines_size / 1e6, work->path_count,
        work->chosen, work->other);
    report_ratios(report, work, figures, count);
    report_better(report, figures, count);
    report_load(report, work, figures, count);
    report_questions(report, work, figures, count);
    report_added(report, work, figures, count);
}
