/*
 * Schema files: schemas as people write them, in Lua, which docs/schemas.md
 * tells about. They are data: they see nothing, call nothing, and cannot take
 * more than some memory and some time.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef SHELL_SCHEMA_FILE_H
#define SHELL_SCHEMA_FILE_H

#include "colander.h"
#include "loading/schema.h"

/*
 * Reads the schema called so, which the program knows; or, where there is a
 * slash or .lua at the end, the file. *schema is the caller's to destroy.
 * NOT_FOUND when there is none, IO when it cannot be read, INVALID with file
 * and line when it is no schema.
 */
COLANDER_CHECKED enum colander_code
schema_file_read(const char *name_or_file, struct schema **schema,
                 struct colander_error *err);

/* The name of a schema that the program knows; NULL behind the last. */
const char *schema_file_known(size_t index);

#endif
