/*
 * Pager: output that is longer than the screen goes to another program.
 *
 * From pager_begin to pager_end standard output is held back. If it does not
 * fit on the screen, the pager starts and gets all of it. The pager is
 * $COLANDER_PAGER, $PAGER or less; an empty variable means none.
 *
 * Life:    begin -> (output) -> end
 * Threads: one at a time, in the main thread
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef SHELL_PAGER_H
#define SHELL_PAGER_H

#include "colander.h"

/* Uses `command`, or, if that is NULL, the pager of the environment. Does
 * nothing if standard output is not a terminal, or there is no pager. */
void pager_begin(const char *command);

/* Prints what is held back, and waits until the user leaves the pager. Does
 * nothing without a pager_begin. */
void pager_end(void);

#endif
