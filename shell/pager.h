/*
 * Pager: what is longer than the screen is shown by another program.
 *
 * From begin to end standard output is held back; when it is more than fits,
 * the pager starts and gets it and all that follows. It is $COLANDER_PAGER or
 * $PAGER, or else less where there is one; an empty text is none.
 *
 * Life:    begin -> (output) -> end
 * Threads: one at a time, in the main thread
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef SHELL_PAGER_H
#define SHELL_PAGER_H

#include "colander.h"

/* `command` NULL: as the environment says. Does nothing where standard output
 * is no screen that could be too short, or there is no pager. */
void pager_begin(const char *command);

/* Shows what is held back, and waits until the pager is left; nothing where
 * none was begun. */
void pager_end(void);

#endif
