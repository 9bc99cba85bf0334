/*
 * Completion: what may follow at the cursor.
 *
 * After a colon or a dot these are the methods and fields of the value before
 * it; in braces and quotes, columns; else globals and families. A line that
 * begins with a dot completes commands, their options, families, columns and
 * words such as modes.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef SHELL_PROMPT_COMPLETION_H
#define SHELL_PROMPT_COMPLETION_H

#include "shell/interpreter.h"

struct completion {
    struct interpreter *interpreter;
    struct session *session;
};

/* A line_completer (see line_input.h) whose context is a struct completion. */
void completion_find(void *context, struct colander_slice line,
                     struct colander_buffer *added,
                     struct colander_buffer *listing);

#endif
