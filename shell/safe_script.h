/*
 * Safe scripts: those of strangers, run by a child process under limits.
 *
 * The child is this program, started anew: it opens the store for reading, has
 * of Lua what the sandbox allows, and prints into pipes. The parent opens
 * nothing; it copies what is printed, and kills the child when it goes on for
 * too long.
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

/* What the child does: all of main. */
enum session_exit safe_script_run_child(int argc, const char *const *argv);

#endif
