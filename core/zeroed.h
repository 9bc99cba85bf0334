/*
 * Small objects of a short life, zeroed.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef COLANDER_CORE_ZEROED_H
#define COLANDER_CORE_ZEROED_H

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* Returns zeroed memory, to be freed by free, or NULL. Unlike malloc, calloc of
 * glibc does not take what the thread has freed last: an absent value that was
 * looked for from Lua took a tenth more instructions. */
static inline void *
zeroed(size_t size)
{
    void *memory = malloc(size);

    __asm__("" : "+r"(size)); /* or compilers call calloc */
    return memory == NULL ? NULL : memset(memory, 0, size);
}

#endif
