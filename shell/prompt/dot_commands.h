/*
 * Dot commands: entries of one line that begin with a dot. They are not Lua.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef SHELL_PROMPT_DOT_COMMANDS_H
#define SHELL_PROMPT_DOT_COMMANDS_H

#include "shell/entries.h"

/* Runs a line that begins with a dot. Splits and quotes its words as sh does.
 * .read only sets `read_name`. */
COLANDER_CHECKED enum session_exit
dot_commands_run(struct entry_settings *settings, const char *line);

/* Returns the name of a dot command, without its dot, or NULL after the last.
 * Those of the program are among them. */
const char *dot_commands_name(const struct session *session, size_t index);

#endif
