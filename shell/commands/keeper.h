/*
 * Keepers: apply the policies of retention of a store that this process has
 * open for long: at the beginning, and every hour from then on, in a thread.
 *
 * Life:   start -> stop
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef SHELL_COMMANDS_KEEPER_H
#define SHELL_COMMANDS_KEEPER_H

#include "shell/session.h"

struct keeper;

/* Whether a policy can be applied. Says why not, if there is one. */
bool keeper_is_in_force(const struct session *session, const char *name,
                        enum colander_retention_state state);

/* Starts a keeper for the store of the session, which must stay open, as must
 * the session, until it is stopped. It reports what it deletes and what fails
 * on standard error. */
COLANDER_CHECKED enum colander_code keeper_start(const struct session *session,
                                                 struct keeper **keeper,
                                                 struct colander_error *err);

/* Ends what the keeper does, and frees it. NULL is allowed. */
void keeper_stop(struct keeper *keeper);

#endif
