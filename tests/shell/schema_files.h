/*
 * Schema files for tests: written, read, and refused.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef TESTS_SHELL_SCHEMA_FILES_H
#define TESTS_SHELL_SCHEMA_FILES_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

#include "shell/schema_file.h"

#define SCHEMA_FILE "./schema_file_test.lua"

static char folder[] = "/tmp/colander_schema_XXXXXX";

static inline int
enter_folder(void **state)
{
    (void)state;
    return mkdtemp(folder) == NULL || chdir(folder) != 0 ? -1 : 0;
}

static inline int
leave_folder(void **state)
{
    (void)state;
    unlink(SCHEMA_FILE);
    return chdir("/") != 0 || rmdir(folder) != 0 ? -1 : 0;
}

static inline void
write_file(const void *text, size_t size)
{
    FILE *file = fopen(SCHEMA_FILE, "w");

    assert_non_null(file);
    assert_int_equal(fwrite(text, 1, size, file), size);
    assert_int_equal(fclose(file), 0);
}

/* The schema that the text makes. */
static inline struct schema *
read_fine(const char *text)
{
    struct colander_error err;
    struct schema *schema;

    write_file(text, strlen(text));
    if (schema_file_read(SCHEMA_FILE, &schema, &err) != COLANDER_OK)
        fail_msg("%s", err.message);
    assert_string_equal(schema->name, SCHEMA_FILE);
    return schema;
}

static inline void
check_refused_bytes(const void *text, size_t size, const char *message)
{
    struct colander_error err;
    struct schema *schema;
    char expected[700];

    write_file(text, size);
    assert_int_equal(schema_file_read(SCHEMA_FILE, &schema, &err),
                     COLANDER_INVALID);
    assert_null(schema);
    snprintf(expected, sizeof(expected), SCHEMA_FILE "%s", message);
    assert_string_equal(err.message, expected);
    assert_int_equal(schema_file_read(SCHEMA_FILE, &schema, NULL),
                     COLANDER_INVALID);
}

/* A mistake, told behind the name of the file. */
static inline void
check_refused(const char *text, const char *message)
{
    check_refused_bytes(text, strlen(text), message);
}

#endif
