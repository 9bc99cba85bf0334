/*
 * Safe scripts: scripts that are not trusted, run by a child process under
 * limits.
 *
 * The child is this program, started again. It opens the store for reading, has
 * the part of Lua that the sandbox allows, and prints into pipes. The parent
 * opens nothing. It copies the output, and kills the child if it exceeds a
 * limit.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef SHELL_SAFE_SCRIPT_H
#define SHELL_SAFE_SCRIPT_H

#include "shell/arguments.h"
#include "shell/session.h"

/* argv[1] of the child. */
#define SAFE_SCRIPT_CHILD "--safe-child"

/* Runs the script, or the code of -e, that the arguments of `shell` name. */
enum session_exit safe_script_run(struct session *session,
                                  const struct arguments *arguments);

/* The main function of the child. */
enum session_exit safe_script_run_child(int argc, const char *const *argv);

#endif
