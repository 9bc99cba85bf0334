/*
 * Schema lines: where in the text of a schema a field stands. Lua does not
 * know it any more, once the table is made.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef SHELL_SCHEMA_LINES_H
#define SHELL_SCHEMA_LINES_H

#include "colander.h"

/* The line of the last of `names`, each the name of a field or a text, and
 * behind the one before it. 0: it is not written so, but made in another way.
 */
size_t schema_line(struct colander_slice text, const char *const *names,
                   size_t count);

#endif
