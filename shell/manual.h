/*
 * Manual pages of commands, in the language of man, from the tables that their
 * help is printed from.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef SHELL_MANUAL_H
#define SHELL_MANUAL_H

#include "shell/command.h"

/* Prints the page on standard output. */
void manual_print(const struct command *command);

#endif
