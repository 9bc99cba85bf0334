/*
 * Tells ThreadSanitizer what realloc moves. Apart from accesses.c, because some
 * tests have such a function of their own, which fails.
 *
 * SPDX-License-Identifier: MIT
 */
#include "tsan/accesses.h"

void *
__wrap_realloc(void *memory, size_t size)
{
    tsan_freed(memory);
    return __real_realloc(memory, size);
}
