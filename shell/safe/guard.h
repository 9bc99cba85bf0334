/*
 * Guard: a program that runs as a child under limits, and can be killed.
 *
 * The parent enforces time and output. It kills the child when it exceeds them;
 * the child also dies with its parent. The system enforces memory, no writing
 * of files, and no core dumps.
 *
 * The output of the child is copied, to a terminal without control characters.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef SHELL_SAFE_GUARD_H
#define SHELL_SAFE_GUARD_H

#include "colander.h"

struct guard_limits {
    uint64_t memory_size;  /* bytes of the child */
    uint64_t output_size;  /* bytes that it may print */
    uint64_t milliseconds; /* of elapsed time */
};

enum guard_end {
    GUARD_EXITED,
    GUARD_KILLED, /* by a signal of someone else */
    GUARD_OUT_OF_TIME,
    GUARD_OUT_OF_OUTPUT,
    GUARD_INTERRUPTED, /* Ctrl-C */
    GUARD_UNREAD,      /* no one reads its output */
    GUARD_UNWRITTEN,   /* its output cannot be written */
};

struct guard_outcome {
    enum guard_end end;
    int status; /* the exit status, the signal, or the errno of UNWRITTEN */
};

/* Runs this program with the words, which end with NULL, and `text` as standard
 * input. */
COLANDER_CHECKED enum colander_code guard_run(const char *const *words,
                                              struct colander_slice text,
                                              const struct guard_limits *limits,
                                              struct guard_outcome *outcome,
                                              struct colander_error *err);

#endif
