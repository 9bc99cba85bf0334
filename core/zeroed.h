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

/* Returns zeroed memory, to be freed by free, or NULL. glibc's calloc does not
 * take what the thread has freed last, as malloc does: a find that makes and
 * frees some such objects spent a fifth of its time there. */
static inline void *
zeroed(size_t size)
{
    void *memory = malloc(size);

    __asm__("" : "+r"(memory)); /* or compilers call calloc */
    return memory == NULL ? NULL : memset(memory, 0, size);
}

#endif
