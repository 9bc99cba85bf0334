/*
 * Selection: the columns that an option such as --select names.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef SHELL_SELECTION_H
#define SHELL_SELECTION_H

#include "shell/arguments.h"

struct selection {
    char *text;         /* the paths themselves, one behind the other */
    const char **paths; /* none: all columns */
    size_t count;
};

#define SELECTION_EMPTY                                                        \
    {                                                                          \
        NULL, NULL, 0                                                          \
    }

/* Reads every option `name` of `arguments`: paths between commas; a backslash
 * makes a comma part of a name. */
COLANDER_CHECKED enum colander_code
selection_parse(struct selection *selection, const struct arguments *arguments,
                const char *name, struct colander_error *err);

void selection_release(struct selection *selection);

#endif
