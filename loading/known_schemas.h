/*
 * Known schemas: the files of schemas/, and schema_check.lua, as they are
 * compiled into the library. cmake/EmbedSchemas.cmake generates them.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef LOADING_KNOWN_SCHEMAS_H
#define LOADING_KNOWN_SCHEMAS_H

#include <stddef.h>

struct known_schema {
    const char *name; /* NULL after the last */
    const unsigned char *text;
    size_t size;
};

/* In the order of their names. */
extern const struct known_schema known_schemas[];

extern const struct known_schema schema_check;

#endif
