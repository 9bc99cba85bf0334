/*
 * Confirm: a question about what cannot be undone.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef SHELL_COMMANDS_CONFIRM_H
#define SHELL_COMMANDS_CONFIRM_H

#include "shell/report.h"

/* Whether a user can be asked: standard input and error are a terminal. */
bool confirm_is_possible(void);

/* Prints the question, such as "drop family 'old' of 12 rows?", releases it and
 * reads the answer. Sets *is_yes to whether it begins with y. Fails with
 * CANCELLED on Ctrl-C. */
COLANDER_CHECKED enum colander_code
confirm_ask(struct report *question, bool *is_yes, struct colander_error *err);

#endif
