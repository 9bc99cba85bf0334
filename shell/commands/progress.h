/*
 * Progress: a line on a terminal about the command that runs; the summary of a
 * load, and which of its rejected records are printed.
 *
 * Life:    begin -> show* -> hide -> add_summary
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef SHELL_COMMANDS_PROGRESS_H
#define SHELL_COMMANDS_PROGRESS_H

#include "loading/load.h"
#include "shell/report.h"
#include "shell/session.h"

struct progress {
    const struct session *session; /* borrowed */
    bool is_shown;                 /* standard error is a terminal */
    bool is_on_screen;             /* the line is */
    uint64_t begin_us;
    uint64_t shown_us;     /* when it was last shown */
    uint64_t bytes_before; /* read before the first record */
    uint64_t reject_count; /* records that were rejected, printed or not */
};

/* What a summary says of the family. */
struct progress_rows {
    uint64_t count; /* if the stats do not know which rows are new;
                     * UINT64_MAX: unknown */
    bool is_exact;
    const char *replaced; /* the word for rows that are not new */
};

void progress_begin(struct progress *progress, const struct session *session);

/* Whether it is time to print a line: at most ten times a second. */
bool progress_is_due(struct progress *progress);

/* Prints the line, which it releases, over the last one. */
void progress_print(struct progress *progress, struct report *line);

/* Shows the figures of a load, if it is time. */
void progress_show(struct progress *progress,
                   const struct colander_load_stats *stats);

/* Adds the figures of a load to a line. */
void progress_add_line(const struct progress *progress, struct report *line,
                       const struct colander_load_stats *stats);

/* Removes the line, so that something else can be printed. */
void progress_hide(struct progress *progress);

/* Whether a rejected record is to be printed: the first ten are. Removes the
 * line. */
bool progress_prints_reject(struct progress *progress);

/* Says how many more there were. */
void progress_end_rejects(struct progress *progress);

/*
 * Adds, for instance,
 *     39,244 rows loaded, 17.1 MB in 0.5 s (76,000 rows/s, 33 MB/s)
 *     43,352 records read: 24,718 rows new, 18,634 replaced
 *     43,352 records read; the family has 24,718 rows
 */
void progress_add_summary(const struct progress *progress,
                          const struct colander_load_stats *stats,
                          const struct progress_rows *rows,
                          struct report *report);

#endif
