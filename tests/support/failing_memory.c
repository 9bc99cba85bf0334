/*
 * Allocations that fail: see failing_memory.h.
 *
 * SPDX-License-Identifier: MIT
 */
#include "support/failing_memory.h"
#include "support/failing_calls.h"
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

atomic_long allocations_left = -1;
atomic_bool memory_is_gone;
atomic_bool allocation_failed;

/* Defined in programs with io_faults.c or failing_calls.c. */
#pragma weak fault_is_due
#pragma weak call_fails

static bool
is_due(void)
{
    const long left = atomic_load(&allocations_left);

    if (fault_is_due != NULL && fault_is_due(FAULT_MEMORY))
        return true;
    if (left < 0)
        return false;
    return (left == 0 && atomic_load(&memory_is_gone)) ||
           atomic_fetch_sub(&allocations_left, 1) == 0;
}

static bool
fails(void)
{
    if (!is_due())
        return false;
    atomic_store(&allocation_failed, true);
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
    if (fails() || (call_fails != NULL && call_fails()))
        return NULL;
    return __real_realpath(path, resolved);
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
