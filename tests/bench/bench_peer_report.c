/*
 * The figures of all peers, in tables and plots.
 *
 * SPDX-License-Identifier: MIT
 */
#include "bench_peer.h"

#include <inttypes.h>
#include <math.h>

#define NAME_SIZE 200
#define BETTER 0.95 /* of Colander's figure, or less */

static const char *const sentences[BENCH_PEER_MEASURES] = {
    "a load until it is ready for questions",
    "bytes on disk",
    "equality in the column chosen beforehand",
    "equality in a column that was not chosen",
    "a value in any column",
    "an absent value in the column chosen beforehand",
    "an absent value in a column that was not chosen",
    "an absent value in any column",
    "a word of five rows",
    "a phrase of five rows",
    "a piece of a word of five rows",
    "a word that no row has",
    "a range of a hundred rows that lie anywhere",
    "a range of a hundred rows that lie close together",
    "a value or word in the added column, once it has the index it needs",
    "the first answer about an added column",
};

/* -------------------------------------------------------------- tables --- */

enum table_kind { RATIOS, TIMES_OF_LOAD, TIMES_OF_QUESTIONS, TIMES_OF_ADDED };

/* Of a table and its CSV file, or a plot. */
static const char *
file_name(char *name, const struct bench_work *work, const char *what)
{
    (void)snprintf(name, NAME_SIZE, "peers-%.100s-%s", work->name, what);
    return name;
}

static void
add_line(struct bench_table *table, enum table_kind kind,
         const struct bench_work *work,
         const struct bench_peer_figures *figures, const double *ours)
{
    const double *values = figures->values;
    const double load = values[BENCH_PEER_LOAD];
    const double size = values[BENCH_PEER_SIZE];
    const double adding = values[BENCH_PEER_ADDING];

    bench_table_text(table, "%s", figures->name);
    bench_table_text(table, figures->is_server ? "server" : "library");
    switch (kind) {
    case RATIOS:
        for (unsigned i = 0; i < BENCH_PEER_MEASURES; i++) {
            if (ours[i] > 0) /* it was asked */
                bench_table_number(table, values[i] / ours[i]);
        }
        return;
    case TIMES_OF_LOAD:
        bench_table_number(table, load);
        bench_table_number(table, floor((double)work->row_count / load));
        bench_table_number(table, size / 1e6);
        bench_table_number(table, 100 * size / (double)work->lines_size);
        return;
    case TIMES_OF_QUESTIONS:
        for (unsigned i = 0; i < BENCH_WORK_ADDED; i++) {
            if (work->kinds[i].count > 0)
                bench_table_number(table, values[BENCH_PEER_ASKED + i]);
        }
        return;
    case TIMES_OF_ADDED:
        bench_table_number(table, values[BENCH_PEER_FIRST] * 1e3);
        bench_table_number(table, adding == 0 ? (double)NAN : adding * 1e3);
        bench_table_number(table, values[BENCH_PEER_ASKED + BENCH_WORK_ADDED]);
        return;
    }
}

static const struct {
    const char *name;
    const char *title;
    const char *columns;
    struct bench_plot plot;
    const char *text_columns; /* of a work of texts; NULL: the same */
    const char *number_columns;
} tables[] = {
    [RATIOS] = {"ratios",
                "Ratios: how many times Colander's time or bytes each takes. "
                "Below 1 it does better.",
                "ratio to Colander;runs as;load;disk;chosen;other;any;"
                "none, chosen;none, other;none, any;added;first",
                {NULL, BENCH_BARS, NULL, NULL, 0, 0, false},
                "ratio to Colander;runs as;load;disk;word;phrase;piece;"
                "none;added;first",
                "ratio to Colander;runs as;load;disk;spread;near;added;first"},
    [TIMES_OF_LOAD] = {"load",
                       "Load: from JSON lines until ready for questions, with "
                       "all indexes.",
                       "load;runs as;seconds;rows/s;MB on disk;% of the JSON",
                       {"load-plot", BENCH_BARS, "way", "seconds to load", 2, 1,
                        false},
                       NULL,
                       NULL},
    [TIMES_OF_QUESTIONS] = {"questions",
                            "Questions: rows that have a value, in the column "
                            "chosen beforehand, in another, in any; and the "
                            "same for values that no row has. Or rows with a "
                            "word, a phrase or a piece of a word in a text. Or "
                            "rows with numbers of a range.",
                            "microseconds a question;runs as;chosen;other;any;"
                            "none, chosen;none, other;none, any",
                            {"questions-plot", BENCH_BARS, "way",
                             "microseconds a question", 2, 3, true},
                            "microseconds a question;runs as;word;phrase;piece;"
                            "none",
                            "microseconds a question;runs as;spread;near"},
    [TIMES_OF_ADDED] = {"added",
                        "A column added: later rows have one more. From the "
                        "start of loading them to the first right answer about "
                        "it; then an index built for it, if it needs one; then "
                        "a question.",
                        "a column added;runs as;first answer, ms;index, ms;"
                        "then a question, us",
                        {NULL, BENCH_BARS, NULL, NULL, 0, 0, false},
                        NULL,
                        NULL},
};

static const char *
columns_of(enum table_kind kind, enum bench_work_about about)
{
    if (about == BENCH_WORK_OF_TEXTS && tables[kind].text_columns != NULL)
        return tables[kind].text_columns;
    if (about == BENCH_WORK_OF_NUMBERS && tables[kind].number_columns != NULL)
        return tables[kind].number_columns;
    return tables[kind].columns;
}

static void
report_table(struct bench_report *report, enum table_kind kind,
             const struct bench_work *work,
             const struct bench_peer_figures *figures, size_t count)
{
    struct bench_plot plot = tables[kind].plot;
    const bool has_plot = plot.name != NULL;
    char plot_name[NAME_SIZE];
    char name[NAME_SIZE];
    struct bench_table table;

    bench_table_init(&table, file_name(name, work, tables[kind].name),
                     tables[kind].title, columns_of(kind, work->about));
    for (size_t i = 0; i < count; i++)
        add_line(&table, kind, work, &figures[i], figures[0].values);
    if (has_plot)
        plot.name = file_name(plot_name, work, plot.name);
    bench_report_table(report, &table, has_plot ? &plot : NULL);
}

/* --------------------------------------------------------------- words --- */

/* Adds a line for a measure: the peers that need less than Colander. */
static void
report_better(struct bench_report *report, unsigned measure,
              const struct bench_peer_figures *figures, size_t count)
{
    const double ours = figures[0].values[measure];
    struct colander_buffer text = COLANDER_BUFFER_EMPTY;

    for (size_t i = 1; i < count; i++) {
        const double theirs = figures[i].values[measure];

        if (theirs <= BETTER * ours && strncmp(figures[i].name, figures[0].name,
                                               strlen(figures[0].name)) != 0)
            bench_print(&text, "%s%s (%.3g of Colander's)",
                        text.size == 0 ? "" : "; ", figures[i].name,
                        theirs / ours);
    }
    bench_report_text(report, "- %s: %s", sentences[measure],
                      text.size == 0 ? "none" : (const char *)text.data);
    colander_buffer_release(&text);
}

/* Reports what is particular to a work about values of columns. */
static void
report_columns(struct bench_report *report, const struct bench_work *work,
               const struct bench_peer_figures *figures, size_t count)
{
    char name[NAME_SIZE];
    FILE *picture;

    bench_report_text(report,
                      "Rows have %zu columns at any depth. Chosen beforehand: "
                      "`%s`; not chosen: `%s`.",
                      work->path_count, work->chosen, work->other);
    picture =
        bench_report_picture(report, file_name(name, work, "peers"), ".svg");
    if (picture != NULL) {
        bench_peer_svg(picture, work, figures, count);
        bench_close_written(picture, name);
    }
}

void
bench_peer_report(struct bench_report *report, const struct bench_work *work,
                  const struct bench_peer_figures *figures, size_t count)
{
    bench_report_section(report, work->name);
    bench_report_text(report,
                      "%" PRIu64 " rows, %.1f MB of JSON lines, then %" PRIu64
                      " later rows. Each answer was right: the number of its "
                      "rows is that counted beforehand.",
                      work->row_count, (double)work->lines_size / 1e6,
                      work->later_count);
    if (work->about == BENCH_WORK_OF_TEXTS)
        bench_report_text(report, "Words are looked for in the column `%s`.",
                          BENCH_WORK_TEXT_COLUMN);
    else if (work->about == BENCH_WORK_OF_NUMBERS)
        bench_report_text(report,
                          "Ranges of a hundred rows are looked for in `%s`, "
                          "whose rows lie anywhere, and in `%s`, whose rows "
                          "lie close together. A peer with an index on one has "
                          "it on both.",
                          work->chosen, work->other);
    else
        report_columns(report, work, figures, count);
    report_table(report, RATIOS, work, figures, count);
    bench_report_text(report,
                      "Who does better than Colander, by 5 %% or more:");
    for (unsigned measure = 0; measure < BENCH_PEER_MEASURES; measure++) {
        if (figures[0].values[measure] > 0)
            report_better(report, measure, figures, count);
    }
    report_table(report, TIMES_OF_LOAD, work, figures, count);
    report_table(report, TIMES_OF_QUESTIONS, work, figures, count);
    report_table(report, TIMES_OF_ADDED, work, figures, count);
}
