/*
 * The shell on a store that is open already.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef SHELL_COMMAND_SHELL_H
#define SHELL_COMMAND_SHELL_H

#include "shell/session.h"

/* Runs what standard input has; at a terminal, what is typed at a prompt. */
enum session_exit command_shell_run(struct session *session);

/* Runs a chunk of Lua and shows what it gives, as -e does. */
enum session_exit command_shell_run_code(struct session *session,
                                         const char *code);

#endif
