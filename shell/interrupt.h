/*
 * Interrupt: what Ctrl-C does.
 *
 * It cancels the watched find and stops the running script, if there are any,
 * and is remembered until interrupt_forget. A second Ctrl-C within a second
 * ends the program immediately.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef SHELL_INTERRUPT_H
#define SHELL_INTERRUPT_H

#include "colander.h"

#define INTERRUPT_STATUS 130 /* how the program exits */
#define INTERRUPT_ENDED 128  /* the same after another signal: and its number */

/* Installs handlers for Ctrl-C and broken pipes. Called once, by the main
 * thread. */
void interrupt_install(void);

/* What a thread of a server has instead of Ctrl-C: its client leaves. */
struct interrupt_source {
    void *context;
    void (*watch)(void *context, struct colander_cursor *cursor);
    bool (*happened)(void *context);
};

/* Makes this thread use `source`, borrowed, instead of Ctrl-C and of broken
 * pipes, in interrupt_watch, interrupt_happened and interrupt_left_unread; and
 * interrupt_ends_reads does nothing. NULL: no more. */
void interrupt_set_source(const struct interrupt_source *source);

/* Makes Ctrl-C cancel `cursor`; NULL: nothing. */
void interrupt_watch(struct colander_cursor *cursor);

/* Makes Ctrl-C call `stop` in the signal handler; NULL: nothing. */
typedef void (*interrupt_stop)(void);
void interrupt_set_stop(interrupt_stop stop);

/* Notes a Ctrl-C that was read as a key. Returns whether it is the second one
 * within a second. */
bool interrupt_note(void);

/* Makes the next Ctrl-C the first one. */
void interrupt_count_again(void);

/* Whether a write failed because no one reads the pipe, since interrupt_forget.
 * That stops a script too. */
bool interrupt_left_unread(void);

/* Whether Ctrl-C was typed since interrupt_forget. */
bool interrupt_happened(void);

void interrupt_forget(void);

/* Makes Ctrl-C end the program immediately, for work that cannot be cancelled
 * and that a store survives. */
void interrupt_ends_program(void);

/* Sets whether SIGTERM has the effect of Ctrl-C, or ends the program. */
void interrupt_takes_term(bool takes);

/* Makes SIGTERM and SIGHUP do what Ctrl-C does, and end a prompt, too: the
 * program has something to remove before it exits. One that is ignored stays
 * so. */
void interrupt_takes_ends(void);

/* Returns which of them has come, or 0. It is not forgotten. */
int interrupt_ended_by(void);

/* Sets whether Ctrl-C ends a read that waits for input. */
void interrupt_ends_reads(bool ends);

#endif
