/*
 * Runs a program in a pseudo-terminal, as a user at a keyboard sees it.
 *
 * The program is $COLANDER. Any failure fails the test.
 *
 * Life:   start -> expect, type, ... -> finish
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef TESTS_SUPPORT_TERMINAL_H
#define TESTS_SUPPORT_TERMINAL_H

#include "colander.h"

#include <sys/types.h>

/* The program and its output. */
struct terminal {
    pid_t pid;
    int fd;
    struct colander_buffer shown; /* since the last expect, with a final zero */
    size_t total;                 /* bytes shown in all */
};

/* Starts the program with these arguments, ended by NULL. */
void terminal_start(struct terminal *terminal, const char *const *words);

/* The same in a shell with job control: if the program stops, "[stopped]" is
 * shown and it continues. */
void terminal_start_job(struct terminal *terminal, const char *const *words);

/* The same with standard error elsewhere. */
void terminal_start_unheard(struct terminal *terminal,
                            const char *const *words);

/* Waits until `text` is shown, and discards all output up to its end. */
void terminal_expect(struct terminal *terminal, const char *text);

/* Whether `text` has been shown since the last expect. */
bool terminal_has(const struct terminal *terminal, const char *text);

void terminal_type(struct terminal *terminal, const char *text);

/* Waits for the end of the output; `shown` keeps it until finish. */
void terminal_await_end(struct terminal *terminal);

/* Waits for the end. Returns the exit status. */
int terminal_finish(struct terminal *terminal);

#endif
