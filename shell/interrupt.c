/*
 * Interrupt: see interrupt.h.
 *
 * SPDX-License-Identifier: MIT
 */
#include "shell/interrupt.h"

#include <signal.h>
#include <stdatomic.h>

static _Atomic(struct colander_cursor *) watched;
static atomic_bool has_happened;

/* The engine's threads block signals: this runs in the main thread, which alone
 * closes cursors. So `watched` is never closed here. */
static void
handle(int number)
{
    struct colander_cursor *cursor;

    (void)number;
    atomic_store(&has_happened, true);
    cursor = atomic_load(&watched);
    if (cursor != NULL)
        colander_cursor_cancel(cursor);
}

void
interrupt_ends_reads(bool ends)
{
    struct sigaction action;

    memset(&action, 0, sizeof(action));
    action.sa_handler = handle;
    action.sa_flags = ends ? 0 : SA_RESTART;
    sigemptyset(&action.sa_mask);
    (void)sigaction(SIGINT, &action, NULL); /* fails for no such arguments */
}

void
interrupt_ends_program(void)
{
    (void)signal(SIGINT, SIG_DFL);
}

void
interrupt_install(void)
{
    interrupt_ends_reads(false);
}

void
interrupt_watch(struct colander_cursor *cursor)
{
    atomic_store(&watched, cursor);
    if (cursor != NULL && interrupt_happened())
        colander_cursor_cancel(cursor);
}

bool
interrupt_happened(void)
{
    return atomic_load(&has_happened);
}

void
interrupt_forget(void)
{
    atomic_store(&has_happened, false);
}
