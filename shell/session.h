/*
 * Session: what commands run against, and how they speak of trouble.
 *
 * Of the program itself each command names its store, which is open only
 * while the command runs; in the shell one store stays open for all of them.
 *
 * Life:   SESSION_EMPTY -> open -> commands -> close
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef SHELL_SESSION_H
#define SHELL_SESSION_H

#include "colander.h"
#include "shell/output.h"

/* How the program exits. */
enum session_exit {
    SESSION_FINE = 0,
    SESSION_FAILED = 1,
    SESSION_USAGE = 2,
    SESSION_REJECTED = 3, /* more input than allowed was no row */
    SESSION_DAMAGED = 4,  /* damage in the store, or I/O */
    SESSION_INTERRUPTED = 130,
    SESSION_UNREAD = 141, /* nobody reads the output: quiet */
};

struct session {
    struct colander_store *store; /* NULL while none is open */
    const char *path;             /* of the store; borrowed */
    const char *command;          /* that runs, for messages; may be NULL */
    const char *file;             /* that commands come from; may be NULL */
    unsigned long line;           /* of it; 0: there is none */
    bool is_read_only;
    bool has_format; /* was chosen for all that is shown: */
    enum output_format format;
    bool is_shell;  /* commands do not name the store */
    bool is_prompt; /* somebody types the commands */
    bool is_demo;   /* rows are a table, whoever reads */
};

#define SESSION_EMPTY                                                          \
    {                                                                          \
        .store = NULL                                                          \
    }

/* `path` is borrowed until close. */
COLANDER_CHECKED enum colander_code session_open(struct session *session,
                                                 const char *path,
                                                 enum colander_open_mode mode,
                                                 struct colander_error *err);

/* The same with other options than the usual ones. */
COLANDER_CHECKED enum colander_code
session_open_with(struct session *session, const char *path,
                  const struct colander_options *options,
                  struct colander_error *err);

/* Closes the store, if one is open. */
COLANDER_CHECKED enum colander_code session_close(struct session *session,
                                                  struct colander_error *err);

/* Opens the family `name`, which must exist: NOT_FOUND names those there. */
COLANDER_CHECKED enum colander_code
session_family(const struct session *session, const char *name,
               struct colander_family **family, struct colander_error *err);

/* The format `name`, or with NULL the one that was chosen, or else `terminal`
 * for a reader and JSON lines for a program. */
COLANDER_CHECKED enum colander_code
session_format(const struct session *session, const char *name,
               enum output_format terminal, enum output_format *format,
               struct colander_error *err);

/* Whether the counts of a find are shown unasked. */
bool session_shows_counts(const struct session *session);

/* Prints a message, with where it comes from, on standard error. */
void session_complain(const struct session *session, const char *format, ...)
    COLANDER_FORMAT(2, 3);

/* Complains of `err`; how the program exits because of it. */
enum session_exit session_fail(const struct session *session,
                               const struct colander_error *err);

/* The same for what the user wrote: INVALID is wrong usage. */
enum session_exit session_misused(const struct session *session,
                                  const struct colander_error *err);

/* The same for a mistake at byte `offset` of `text`, with a caret there. */
enum session_exit session_misread(const struct session *session,
                                  const char *text, size_t offset,
                                  const struct colander_error *err);

#endif
