/*
 * Interrupt: what Ctrl-C does.
 *
 * It cancels the find that is watched, if any, stops the script that runs, and
 * is remembered until it is forgotten. A second one within a second ends the
 * program at once, whatever it does.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef SHELL_INTERRUPT_H
#define SHELL_INTERRUPT_H

#include "colander.h"

#define INTERRUPT_STATUS 130 /* how the program exits */

/* From now on Ctrl-C is ours, and broken pipes are; called once, by the main
 * thread. */
void interrupt_install(void);

/* Ctrl-C cancels `cursor`; NULL: nothing any more. */
void interrupt_watch(struct colander_cursor *cursor);

/* Ctrl-C also calls `stop`, in the signal's handler; NULL: no more. */
typedef void (*interrupt_stop)(void);
void interrupt_set_stop(interrupt_stop stop);

/* Notes a Ctrl-C that came as a key; whether it is the second in a second. */
bool interrupt_note(void);

/* Whether something was written that nobody reads, since it was forgotten. That
 * stops a script as well. */
bool interrupt_left_unread(void);

/* Whether Ctrl-C was typed since it was last forgotten. */
bool interrupt_happened(void);

void interrupt_forget(void);

/* From now on Ctrl-C ends the program at once, as if it were not ours: for work
 * that cannot be cancelled, and that a store survives. */
void interrupt_ends_program(void);

/* Whether Ctrl-C ends a read that waits for input, or lets it wait on. */
void interrupt_ends_reads(bool ends);

#endif
