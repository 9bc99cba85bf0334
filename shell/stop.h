/*
 * Stop: Ctrl-C cancels the load of a command, and so does SIGTERM if it may.
 *
 * A load for a client of a server needs none of it: if the client leaves, its
 * files end.
 *
 * Life: stop_begin -> stop_cancels(load) -> stop_end
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef SHELL_STOP_H
#define SHELL_STOP_H

#include "loading/load.h"

#include <stdatomic.h>

/* Returns what is true once the command was asked to stop. */
const atomic_bool *stop_begin(bool takes_term);

/* Makes it cancel `load`, at once if it was asked before; NULL: nothing. */
void stop_cancels(struct colander_load *load);

void stop_end(void);

#endif
