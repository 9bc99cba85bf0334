/* See interrupt.h. SPDX-License-Identifier: MIT */
#include "shell/interrupt.h"
#include "core/clock.h"

#include <signal.h>
#include <stdatomic.h>
#include <unistd.h>

#define AGAIN_MS 1000 /* two Ctrl-C within this time end the program */

static _Thread_local const struct interrupt_source *source; /* may be NULL */
static _Atomic(struct colander_cursor *) watched;
static _Atomic(interrupt_stop) stops; /* may be NULL */
static atomic_bool has_happened;
static atomic_int ended_by; /* a signal; 0: none */
static atomic_bool is_unread;
static atomic_llong happened_ms = -AGAIN_MS;

bool
interrupt_note(void)
{
    long long ms = (long long)(clock_us() / 1000);

    return ms - atomic_exchange(&happened_ms, ms) < AGAIN_MS;
}

void
interrupt_count_again(void)
{
    if (source != NULL)
        return;
    atomic_store(&happened_ms, -AGAIN_MS);
}

/* Stops what runs. The engine's threads block signals: this runs in the main
 * thread, which alone closes cursors. So `watched` is never closed here. */
static void
stop_all(void)
{
    struct colander_cursor *cursor = atomic_load(&watched);
    interrupt_stop stop = atomic_load(&stops);

    if (cursor != NULL)
        colander_cursor_cancel(cursor);
    if (stop != NULL)
        stop();
}

static void
handle(int number)
{
    (void)number;
    if (interrupt_note())
        _exit(INTERRUPT_STATUS); /* as killed: a store survives that */
    atomic_store(&has_happened, true);
    stop_all();
}

/* A terminal that closes sends several: the second one ends nothing. */
static void
handle_end(int number)
{
    atomic_store(&ended_by, number);
    stop_all();
}

/* A write into a pipe that no one reads fails too, but scripts ignore that.
 * A handler, and not SIG_IGN, which programs that they start would inherit. */
static void
handle_pipe(int number)
{
    interrupt_stop stop = atomic_load(&stops);

    (void)number;
    atomic_store(&is_unread, true);
    if (stop != NULL)
        stop();
}

bool
interrupt_left_unread(void)
{
    return source == NULL && atomic_load(&is_unread);
}

void
interrupt_set_source(const struct interrupt_source *new_source)
{
    source = new_source;
}

void
interrupt_set_stop(interrupt_stop stop)
{
    atomic_store(&stops, stop);
}

void
interrupt_ends_reads(bool ends)
{
    struct sigaction action;

    if (source != NULL)
        return;
    memset(&action, 0, sizeof(action));
    action.sa_handler = handle;
    action.sa_flags = ends ? 0 : SA_RESTART;
    sigemptyset(&action.sa_mask);
    (void)sigaction(SIGINT, &action, NULL); /* fails for no such arguments */
}

void
interrupt_takes_term(bool takes)
{
    struct sigaction action;

    memset(&action, 0, sizeof(action));
    action.sa_handler = takes ? handle : SIG_DFL;
    action.sa_flags = SA_RESTART;
    sigemptyset(&action.sa_mask);
    (void)sigaction(SIGTERM, &action, NULL);
}

/* Reads and writes that wait fail, as nothing else may end them. */
static void
take_end(int number)
{
    struct sigaction action;

    if (sigaction(number, NULL, &action) != 0 || action.sa_handler == SIG_IGN)
        return; /* as nohup has it */
    memset(&action, 0, sizeof(action));
    action.sa_handler = handle_end;
    sigemptyset(&action.sa_mask);
    (void)sigaction(number, &action, NULL);
}

void
interrupt_takes_ends(void)
{
    if (source != NULL)
        return;
    take_end(SIGTERM);
    take_end(SIGHUP);
}

int
interrupt_ended_by(void)
{
    return source == NULL ? atomic_load(&ended_by) : 0;
}

void
interrupt_ends_program(void)
{
    (void)signal(SIGINT, SIG_DFL);
}

void
interrupt_install(void)
{
    struct sigaction action;

    memset(&action, 0, sizeof(action));
    action.sa_handler = handle_pipe;
    action.sa_flags = SA_RESTART;
    sigemptyset(&action.sa_mask);
    (void)sigaction(SIGPIPE, &action, NULL);
    interrupt_ends_reads(false);
}

void
interrupt_watch(struct colander_cursor *cursor)
{
    if (source != NULL) {
        source->watch(source->context, cursor);
        return;
    }
    atomic_store(&watched, cursor);
    if (cursor != NULL && interrupt_happened())
        colander_cursor_cancel(cursor);
}

bool
interrupt_happened(void)
{
    return source == NULL
               ? atomic_load(&has_happened) || atomic_load(&ended_by) != 0
               : source->happened(source->context);
}

void
interrupt_forget(void)
{
    if (source != NULL)
        return; /* they are for another */
    atomic_store(&has_happened, false);
    atomic_store(&is_unread, false);
}
