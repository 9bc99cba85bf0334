/*
 * Dot commands: entries of one line that begin with a dot. They are not Lua.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef SHELL_PROMPT_DOT_COMMANDS_H
#define SHELL_PROMPT_DOT_COMMANDS_H

#include "shell/command.h"
#include "shell/entries.h"

/* Those that the program does not have, then one without a name. */
extern const struct command dot_commands[];

/* Runs a line that begins with a dot. Words are split and quoted as in sh. */
COLANDER_CHECKED enum session_exit dot_commands_run(struct entries *entries,
                                                    const char *line);

/* Ends the output to the file of .once. */
void dot_commands_end_once(struct entries *entries);

#endif
