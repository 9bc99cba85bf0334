/*
 * Completion: what may stand where the cursor is.
 *
 * Behind a colon or a dot that are methods and fields of what stands before
 * it; in braces and quotes, columns that rows have; else globals and families.
 * A line that begins with a dot completes commands, families and words such as
 * the modes.
 *
 * Life:   create -> find ... -> destroy
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef SHELL_COMPLETION_H
#define SHELL_COMPLETION_H

#include "shell/interpreter.h"

struct completion;

/* Both outlive it. NULL when memory is short. */
struct completion *completion_create(struct interpreter *interpreter,
                                     struct session *session);

/* NULL is allowed. */
void completion_destroy(struct completion *completion);

/* A line_completer (see line_input.h) whose context is the completion. */
void completion_find(void *context, struct colander_slice line, size_t *size,
                     struct colander_buffer *texts);

#endif
