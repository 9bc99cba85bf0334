/*
 * Guard: a program run as a child that is held to limits and can be killed.
 *
 * Time and output are held by the parent, whatever the child does: it is killed
 * when it goes on for too long or prints too much, and when the parent dies.
 * The rest is held by the system: bytes of memory, no files written, no core.
 *
 * What the child prints is copied; to a terminal without control characters.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef SHELL_GUARD_H
#define SHELL_GUARD_H

#include "colander.h"

struct guard_limits {
    uint64_t memory_size;  /* bytes that the child may have for itself */
    uint64_t output_size;  /* bytes that it may print */
    uint64_t milliseconds; /* that it may take */
};

enum guard_end {
    GUARD_EXITED, /* by itself */
    GUARD_KILLED, /* by a signal, which is not ours */
    GUARD_OUT_OF_TIME,
    GUARD_OUT_OF_OUTPUT,
    GUARD_INTERRUPTED, /* Ctrl-C */
    GUARD_UNREAD,      /* nobody reads what it prints */
    GUARD_UNWRITTEN,   /* what it prints cannot be written */
};

struct guard_outcome {
    enum guard_end end;
    int status; /* that it exited with; the signal; of UNWRITTEN the errno */
};

/* Runs this very program with the words, the last of which is NULL; its
 * standard input is `text`. */
COLANDER_CHECKED enum colander_code guard_run(const char *const *words,
                                              struct colander_slice text,
                                              const struct guard_limits *limits,
                                              struct guard_outcome *outcome,
                                              struct colander_error *err);

#endif
