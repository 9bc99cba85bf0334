/*
 * Brackets: whether lines of Lua leave some open.
 *
 * Whoever reads a long chunk line by line need not try to load it as long as
 * they do. Of what is no Lua it says nothing of use.
 *
 * Life:    BRACKETS_NONE -> add a line -> are_open, ...
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef SHELL_BRACKETS_H
#define SHELL_BRACKETS_H

#include "colander.h"

struct brackets {
    long depth; /* of ( [ { */
    int level;  /* of the long string or comment that is open; -1: none */
};

#define BRACKETS_NONE                                                          \
    {                                                                          \
        0, -1                                                                  \
    }

void brackets_add(struct brackets *brackets, struct colander_slice line);

bool brackets_are_open(const struct brackets *brackets);

#endif
