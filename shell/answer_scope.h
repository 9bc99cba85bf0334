/*
 * The scope of an answer from several partitions: which of them it needs
 * (--partial), and what these must have (--fresh).
 *
 * Life: a zeroed struct -> begin -> the command reads the store of the session
 *       -> end
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef SHELL_ANSWER_SCOPE_H
#define SHELL_ANSWER_SCOPE_H

#include "shell/arguments.h"
#include "shell/session.h"

#define OPTION_ANSWER_SCOPE                                                    \
    OPTION_FLAG("partial",                                                     \
                "answer without the partitions that cannot be read, and\n"     \
                "say which these are (default: fail)"),                        \
        OPTION_FLAG("fresh", "first wait until all that the log has is read"), \
        OPTION("timeout", "TIME", "how long --fresh waits (default: 30s)")

struct answer_scope {
    struct colander_store *whole; /* of the session, meanwhile */
    struct colander_store *view;  /* NULL: it is the whole store */
};

/* Makes a view of the store that of the session, if the options ask for one.
 * The words are those after the store. To be ended also after a failure. */
COLANDER_CHECKED enum colander_code
answer_scope_begin(struct answer_scope *scope, struct session *session,
                   const struct arguments *arguments,
                   struct colander_error *err);

/* Says what is missing. Returns `status`, or how the program exits if that
 * fails. */
enum session_exit answer_scope_end(struct answer_scope *scope,
                                   struct session *session,
                                   enum session_exit status);

#endif
