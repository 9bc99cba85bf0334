/*
 * Structs that begin with `size_t struct_size`, passed between a program and a
 * library of different versions. The library works on its own whole struct
 * and copies as many bytes as both know.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef COLANDER_CORE_SIZED_H
#define COLANDER_CORE_SIZED_H

#include "core/core.h"

/* More than any such struct will have: what is larger was never initialized. */
#define SIZED_MAX 65536

/* Copies the `size` bytes of the library's `from` into the program's `to`,
 * which has `to_size` bytes. Members that the library does not know become
 * zero. */
static inline void
sized_return(void *to, size_t to_size, const void *from, size_t size)
{
    const size_t known = size < to_size ? size : to_size;

    memset(to, 0, to_size);
    memcpy(to, from, known);
    memcpy(to, &known, sizeof(known));
}

/*
 * Copies the program's `from` over the library's `to`, which has `size` bytes
 * and holds the defaults. Fails with INVALID if `from` was not initialized, or
 * sets a member that this library does not know. `what` names the struct, in
 * the plural.
 */
COLANDER_CHECKED static inline enum colander_code
sized_accept(void *to, size_t size, const void *from, const char *what,
             struct colander_error *err)
{
    const uint8_t *bytes = (const uint8_t *)from;
    size_t given;

    memcpy(&given, from, sizeof(given));
    if (given < sizeof(given) || given > SIZED_MAX)
        return COLANDER_FAIL(err, COLANDER_INVALID,
                             "the %s were not initialized by their init "
                             "function",
                             what);
    for (size_t i = size; i < given; i++) {
        if (bytes[i] != 0)
            return COLANDER_FAIL(err, COLANDER_INVALID,
                                 "the %s have a member, at byte %zu, that "
                                 "version %s of the library does not know",
                                 what, i, colander_version());
    }
    memcpy(to, from, given < size ? given : size);
    memcpy(to, &size, sizeof(size));
    return COLANDER_OK;
}

#endif
