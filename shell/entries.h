/*
 * Entries: what is typed at the prompt or read from a file or pipe. An entry is
 * a chunk of Lua, of as many lines as it needs, or a dot command of one line.
 * The values of a chunk are printed.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef SHELL_ENTRIES_H
#define SHELL_ENTRIES_H

#include "shell/display.h"
#include "shell/interpreter.h"

struct entries {
    struct session *session;
    struct interpreter *interpreter;
    struct display display;

    /* what dot commands change */
    bool is_paged;      /* long results go through a pager */
    bool is_ended;      /* .quit */
    int stdout_fd;      /* standard output while .output has another; else -1 */
    char *pager;        /* the program; NULL: that of the environment */
    char *null_text;    /* that .nullvalue has set */
    bool is_redirected; /* .output or .once has a file, */
    bool is_once;       /* for one result */
    bool has_width;     /* .width has set one */
    bool has_limit;     /* .limit has set one; else */
    uint64_t shown_limit; /* what it is when output returns from a file */
    unsigned depth;       /* of .read within .read */
};

/* From here to release the session is one of the shell. */
void entries_init(struct entries *entries, struct session *session,
                  struct interpreter *interpreter);
void entries_release(struct entries *entries);

/* Runs what is typed at the terminal, until its end; before it init.lua, if
 * `has_init`. Failures are printed, but do not make the program fail. For a
 * client it is the terminal of that. */
enum session_exit entries_run_terminal(struct entries *entries, bool has_init);

/* Prints what Tab does after `line`, for a client: + and what to add, or ? and
 * what may follow, or nothing. */
enum session_exit entries_complete(struct entries *entries, const char *line);

/* Runs the entries of `file`, called `name`, until one fails. */
enum session_exit entries_run_file(struct entries *entries, FILE *file,
                                   const char *name);

/* The same of the file called `name`. */
enum session_exit entries_run_path(struct entries *entries, const char *name);

/* Runs one line: a dot command, or a chunk as below. */
enum session_exit entries_run_entry(struct entries *entries, const char *line);

/* Runs a chunk and prints its values. `name` is for messages. */
enum session_exit entries_run_chunk(struct entries *entries, const char *text,
                                    const char *name);

/* Runs `task` with an interpreter on the open store, as in the shell. */
enum session_exit entries_run_task(
    struct session *session,
    enum session_exit (*task)(struct entries *entries, void *context),
    void *context);

#endif
