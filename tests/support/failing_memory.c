/*
 * Allocations that fail as io_faults.h says. The linker sends those of this
 * program and of what is linked into it here (see CMakeLists.txt), but for
 * those of shared libraries.
 *
 * SPDX-License-Identifier: MIT
 */
#include "support/io_faults.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *memory, size_t size);
void *__real_aligned_alloc(size_t line, size_t size);
char *__real_strdup(const char *text);
char *__real_realpath(const char *path, char *resolved);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *memory, size_t size);
void *__wrap_aligned_alloc(size_t line, size_t size);
char *__wrap_strdup(const char *text);
char *__wrap_realpath(const char *path, char *resolved);
int __wrap_asprintf(char **text, const char *format, ...);

static bool
fails(void)
{
    if (!fault_is_due(FAULT_MEMORY))
        return false;
    errno = ENOMEM;
    return true;
}

void *
__wrap_malloc(size_t size)
{
    return fails() ? NULL : __real_malloc(size);
}

void *
__wrap_calloc(size_t count, size_t size)
{
    return fails() ? NULL : __real_calloc(count, size);
}

void *
__wrap_realloc(void *memory, size_t size)
{
    return fails() ? NULL : __real_realloc(memory, size);
}

void *
__wrap_aligned_alloc(size_t line, size_t size)
{
    return fails() ? NULL : __real_aligned_alloc(line, size);
}

char *
__wrap_strdup(const char *text)
{
    return fails() ? NULL : __real_strdup(text);
}

char *
__wrap_realpath(const char *path, char *resolved)
{
    return fails() ? NULL : __real_realpath(path, resolved);
}

int
__wrap_asprintf(char **text, const char *format, ...)
{
    va_list arguments;
    int size;

    if (fails())
        return -1;
    va_start(arguments, format);
    size = vasprintf(text, format, arguments);
    va_end(arguments);
    return size;
}
