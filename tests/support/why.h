/*
 * The error of a call in a test, which needs no local variable for it:
 *
 *     OK(colander_family_flush(family, why()));
 *     FAILS(colander_family_drop(family, why()), COLANDER_NOT_FOUND);
 *     assert_string_equal(error_text(), "family 'f': there is no such family");
 *
 * OK and DID print it. Each source file and each thread has its own.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef TESTS_SUPPORT_WHY_H
#define TESTS_SUPPORT_WHY_H

#include "core/core.h"

#include <string.h>

static _Thread_local struct colander_error why_error;

/* An empty error for the next call to fill. */
static inline struct colander_error *
why(void)
{
    memset(&why_error, 0, sizeof(why_error));
    return &why_error;
}

/* The message of the last call that used it; "": that call did not fail. */
static inline const char *
error_text(void)
{
    return why_error.message;
}

#endif
