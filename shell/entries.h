/*
 * Entries: what is typed at the prompt, or comes from a file or pipe as if it
 * were: chunks of Lua, each as many lines as it needs, and dot commands, each
 * one line. What a chunk gives is shown.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef SHELL_ENTRIES_H
#define SHELL_ENTRIES_H

#include "shell/display.h"
#include "shell/interpreter.h"

/* What entries act on. */
struct entries {
    struct session *session;
    struct interpreter *interpreter;
    struct display display;
    bool is_paged;  /* long results go through a pager */
    bool is_timed;  /* how long each chunk took is told */
    bool is_ended;  /* .quit */
    int stdout_fd;  /* standard output while .output has another; else -1 */
    unsigned depth; /* of .read within .read */
    char *pager;    /* the program; NULL: as the environment says */
};

void entries_init(struct entries *entries, struct session *session,
                  struct interpreter *interpreter);
void entries_release(struct entries *entries);

/* Runs what is typed at the terminal, until that ends. */
enum session_exit entries_run_terminal(struct entries *entries);

/* Runs what is in `file`, called `name`, until one fails. */
enum session_exit entries_run_file(struct entries *entries, FILE *file,
                                   const char *name);

/* Runs a chunk and shows what it gives; `name` is for messages. */
enum session_exit entries_run_chunk(struct entries *entries, const char *text,
                                    const char *name);

#endif
