/*
 * Family views: what a user wants to know of a family whose name was typed.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef SHELL_PROMPT_FAMILY_VIEW_H
#define SHELL_PROMPT_FAMILY_VIEW_H

#include "colander.h"

#include <stdio.h>

/* Prints the rows and columns of the family, and a query that finds some rows.
 * Reads a thousand rows. */
COLANDER_CHECKED enum colander_code
family_view_print(struct colander_family *family, FILE *file,
                  struct colander_error *err);

#endif
