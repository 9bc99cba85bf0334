/*
 * Known schemas: the files of schemas/, as they are within the program.
 *
 * cmake/EmbedSchemas.cmake makes them.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef SHELL_KNOWN_SCHEMAS_H
#define SHELL_KNOWN_SCHEMAS_H

#include <stddef.h>

struct known_schema {
    const char *name; /* NULL behind the last */
    const unsigned char *text;
    size_t size;
};

/* In the order of their names. */
extern const struct known_schema known_schemas[];

#endif
