/*
 * A program on a terminal of its own: what somebody at a keyboard meets.
 *
 * The program is $COLANDER. Whatever goes wrong fails the test.
 *
 * Life:   start -> expect, type, ... -> finish
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef TESTS_SUPPORT_TERMINAL_H
#define TESTS_SUPPORT_TERMINAL_H

#include "colander.h"

#include <sys/types.h>

/* The program, and what it has shown. */
struct terminal {
    pid_t pid;
    int fd;
    struct colander_buffer shown; /* since the last expect, with a zero */
    size_t total;                 /* bytes shown in all */
};

/* Starts the program with these words, the last of which is NULL. */
void terminal_start(struct terminal *terminal, const char *const *words);

/* The same by a shell with job control: where the program stops, "[stopped]" is
 * shown, and it goes on. */
void terminal_start_job(struct terminal *terminal, const char *const *words);

/* Waits until `text` is shown, and forgets all up to its end. */
void terminal_expect(struct terminal *terminal, const char *text);

/* Whether `text` has been shown since the last expect. */
bool terminal_has(const struct terminal *terminal, const char *text);

void terminal_type(struct terminal *terminal, const char *text);

/* Waits until nothing more is shown; `shown` keeps it until finish. */
void terminal_await_end(struct terminal *terminal);

/* Waits for the end; how the program exits. */
int terminal_finish(struct terminal *terminal);

#endif
