/*
 * The shell on a store that is open already.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef SHELL_COMMAND_SHELL_H
#define SHELL_COMMAND_SHELL_H

#include "shell/session.h"

/* Runs the lines of standard input; from a terminal, with a prompt. */
enum session_exit command_shell_run(struct session *session);

#endif
