/*
 * User files: where what belongs to a user stays, by the XDG rules.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef SHELL_USER_FILES_H
#define SHELL_USER_FILES_H

/* The path of the file `name` of this program, below what the environment's
 * `variable` says, or else in `fallback` of the home directory: the caller's to
 * free. NULL: there is no such place, or no memory. */
char *user_file_path(const char *variable, const char *fallback,
                     const char *name);

#endif
