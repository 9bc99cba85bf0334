/*
 * Display: what an expression gives, shown to whoever asked.
 *
 * A query is run, and its rows are shown in the mode that is set; so are the
 * groups of a query, a row, and a list of rows. Other values are shown as text.
 *
 * What else there is to say (what was left out, what a find took) is noted, so
 * that it can be told when the rows have been read.
 *
 * Life:   (all zero but `session`, `row_limit`) -> show -> tell -> ...
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef SHELL_DISPLAY_H
#define SHELL_DISPLAY_H

#include "shell/report.h"
#include "shell/session.h"

#include <lua.h>

#define DISPLAY_ROWS 1000 /* of one result at the prompt, unless told so */

struct display {
    const struct session *session;
    uint64_t row_limit;  /* of one result */
    bool explains;       /* how rows were found */
    struct report notes; /* on what was shown, for people */
};

/* Shows the values from `first` to the top of the stack, and takes them away.
 * Raises errors of Lua, and what writing fails with as those. */
void display_show(lua_State *L, struct display *display, int first);

/* Tells the notes on standard error, and forgets them. */
void display_tell(struct display *display);

#endif
