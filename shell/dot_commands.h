/*
 * Dot commands: what can be said at the prompt beside Lua.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef SHELL_DOT_COMMANDS_H
#define SHELL_DOT_COMMANDS_H

#include "shell/entries.h"

/* Runs a line that begins with a dot: its words are split and quoted as in
 * sh. */
COLANDER_CHECKED enum session_exit dot_commands_run(struct entries *entries,
                                                    const char *line);

/* The name of a dot command, without its dot; NULL behind the last. */
const char *dot_commands_name(size_t index);

#endif
