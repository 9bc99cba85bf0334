/*
 * Display: prints the values of an expression.
 *
 * Queries are run, and their rows are printed in the mode that is set; so are
 * the groups of a query, a row, and a list of rows. Other values are printed as
 * text.
 *
 * Notes, such as which columns were left out or what a find read, are collected
 * and printed after the rows.
 *
 * Life:   (all zero but `session`, `row_limit`) -> show -> print_notes -> ...
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef SHELL_DISPLAY_H
#define SHELL_DISPLAY_H

#include "shell/report.h"
#include "shell/session.h"

#include <lua.h>

#define DISPLAY_ROWS 1000 /* of one result at the prompt; .limit changes it */

struct display {
    const struct session *session;
    uint64_t row_limit; /* of one result */
    bool explains;      /* print how rows were found */
    unsigned explained; /* queries of the chunk whose runs are noted */
    bool wants_hint;    /* a chunk runs, and nothing was explained so far */
    struct report notes;
};

/* Prints the values from `first` to the top of the stack, and removes them.
 * Raises errors of Lua; failed writes raise them too. */
void display_show(lua_State *L, struct display *display, int first);

/* Notes why a query found nothing; once for each chunk. A scripting_missed,
 * whose context is the display. */
void display_explain_missed(void *display, struct colander_family *family,
                            const struct colander_predicate *where,
                            const char *const *paths, size_t path_count);

/* Notes how a query ran. A scripting_ended, whose context is the display. */
void display_explain_ended(void *display, struct colander_family *family,
                           const struct colander_query *asked,
                           const struct colander_cursor *cursor);

/* Prints the notes on standard error, and forgets them. */
void display_print_notes(struct display *display);

#endif
