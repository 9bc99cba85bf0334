/*
 * Elsewhere: commands that need a store which another process serves. They run
 * in that process, and print what they would print here.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef SHELL_ELSEWHERE_H
#define SHELL_ELSEWHERE_H

#include "shell/arguments.h"
#include "shell/session.h"

/* Whether a command names the address of a server, and not a directory. */
bool elsewhere_is_address(const char *store);

/*
 * Runs a command where the store is served that its first word names. Sets
 * *status to how the program exits. Returns false, without a word, if no
 * process serves that directory.
 *
 * The token for an address is in the file $COLANDER_TOKEN_FILE.
 */
bool elsewhere_run(struct session *session, const struct arguments *arguments,
                   int argc, const char *const *argv,
                   enum session_exit *status);

/*
 * Runs the command that runs at the address of a server, in place of what its
 * first word names. Fails with BUSY, without a word, if that cannot be reached,
 * or ends before it has answered anything: then another one may be asked.
 */
COLANDER_CHECKED enum colander_code
elsewhere_run_at(struct session *session, const struct arguments *arguments,
                 const char *address, enum session_exit *status,
                 struct colander_error *err);

#endif
