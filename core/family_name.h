/*
 * Rules for names of families.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef COLANDER_CORE_FAMILY_NAME_H
#define COLANDER_CORE_FAMILY_NAME_H

#include "core/core.h"

/* Fails with INVALID unless the name has 1 to 255 bytes and no control
 * characters. */
static inline enum colander_code
family_name_check(const char *name, struct colander_error *err)
{
    const size_t size = strlen(name);

    if (size < 1 || size > 255)
        return COLANDER_FAIL(err, COLANDER_INVALID,
                             "a family's name has 1 to 255 bytes, not %zu",
                             size);
    for (size_t i = 0; i < size; i++) {
        const unsigned char byte = (unsigned char)name[i];

        if (byte < 0x20 || byte == 0x7f)
            return COLANDER_FAIL(
                err, COLANDER_INVALID,
                "a family's name must not have control characters");
    }
    return COLANDER_OK;
}

#endif
