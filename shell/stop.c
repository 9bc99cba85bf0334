/* See stop.h. SPDX-License-Identifier: MIT */
#include "shell/stop.h"
#include "shell/interrupt.h"

static _Atomic(struct colander_load *) running;
static atomic_bool is_asked;
static bool takes; /* SIGTERM */

static void
stop(void)
{
    struct colander_load *load = atomic_load(&running);

    atomic_store(&is_asked, true);
    if (load != NULL)
        colander_load_cancel(load);
}

const atomic_bool *
stop_begin(bool takes_term)
{
    atomic_store(&is_asked, false);
    interrupt_set_stop(stop);
    takes = takes_term;
    if (takes)
        interrupt_takes_term(true);
    return &is_asked;
}

void
stop_cancels(struct colander_load *load)
{
    atomic_store(&running, load);
    if (load != NULL && interrupt_happened())
        stop();
}

void
stop_end(void)
{
    if (takes) /* else it is as the program was started */
        interrupt_takes_term(false);
    interrupt_set_stop(NULL);
    stop_cancels(NULL);
}
