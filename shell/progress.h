/*
 * Progress: a line on a terminal that says how far a load is, and the line that
 * says how it went.
 *
 * Life:    progress_begin -> show* -> end -> append_summary
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef SHELL_PROGRESS_H
#define SHELL_PROGRESS_H

#include "loading/loading.h"

struct progress {
    bool is_shown;     /* standard error is a terminal */
    bool is_on_screen; /* a line stands there */
    uint64_t begin_us;
    uint64_t shown_us;     /* when it was last shown */
    uint64_t bytes_before; /* read when the first record was */
};

void progress_begin(struct progress *progress);

/* Shows the figures, ten times a second at most. */
void progress_show(struct progress *progress,
                   const struct loading_figures *figures);

/* Takes the line away, so that something else may be printed. */
void progress_hide(struct progress *progress);

/* Appends, for instance,
 * "39,244 rows loaded, 17.1 MB in 0.5 s (76,000 rows/s, 33 MB/s)". */
COLANDER_CHECKED enum colander_code progress_append_summary(
    const struct progress *progress, const struct loading_figures *figures,
    struct colander_buffer *text, struct colander_error *err);

#endif
