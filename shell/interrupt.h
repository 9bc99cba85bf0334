/*
 * Interrupt: what Ctrl-C does.
 *
 * It cancels the find that is watched, if any, and is remembered until it is
 * forgotten; unless told so, it never ends the program by itself.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef SHELL_INTERRUPT_H
#define SHELL_INTERRUPT_H

#include "colander.h"

/* From now on Ctrl-C is ours; called once, by the main thread. */
void interrupt_install(void);

/* Ctrl-C cancels `cursor`; NULL: nothing any more. */
void interrupt_watch(struct colander_cursor *cursor);

/* Whether Ctrl-C was typed since it was last forgotten. */
bool interrupt_happened(void);

void interrupt_forget(void);

/* From now on Ctrl-C ends the program at once, as if it were not ours: for work
 * that cannot be cancelled, and that a store survives. */
void interrupt_ends_program(void);

/* Whether Ctrl-C ends a read that waits for input, or lets it wait on. */
void interrupt_ends_reads(bool ends);

#endif
