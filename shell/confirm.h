/*
 * Confirm: a question about what cannot be undone.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef SHELL_CONFIRM_H
#define SHELL_CONFIRM_H

#include "shell/report.h"
#include "shell/session.h"

/* Whether a user can be asked: standard input and error are a terminal. */
bool confirm_is_possible(const struct session *session);

/* Prints the question, such as "drop family 'old' of 12 rows?", releases it and
 * reads the answer. Sets *is_yes to whether it begins with y. Fails with
 * CANCELLED on Ctrl-C. */
COLANDER_CHECKED enum colander_code confirm_ask(const struct session *session,
                                                struct report *question,
                                                bool *is_yes,
                                                struct colander_error *err);

/* Asks `question` at this terminal. */
COLANDER_CHECKED enum colander_code
confirm_ask_here(const char *question, bool *is_yes,
                 struct colander_error *err);

#endif
