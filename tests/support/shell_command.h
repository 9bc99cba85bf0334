/*
 * Commands of the shell.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef TESTS_SUPPORT_SHELL_COMMAND_H
#define TESTS_SUPPORT_SHELL_COMMAND_H

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

/* Runs a command, which must succeed. Works in any process. */
__attribute__((format(printf, 1, 2))) static inline void
shell(const char *format, ...)
{
    char command[4096];
    va_list arguments;

    va_start(arguments, format);
    (void)vsnprintf(command, sizeof(command), format, arguments);
    va_end(arguments);
    if (system(command) != 0)
        abort();
}

#endif
