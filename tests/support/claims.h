/*
 * Claims checked in threads. cmocka's assertions work only in the thread that
 * runs the test, and end the program silently in others.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef TESTS_SUPPORT_CLAIMS_H
#define TESTS_SUPPORT_CLAIMS_H

#include "support/why.h"

#include <stdio.h>
#include <unistd.h>

/* Ends the program if the claim does not hold. The store stays as it is
 * then. */
#define CLAIM(claim) claim_holds((claim), __FILE__, __LINE__, #claim, "")

/* The call must succeed. A failure prints the message in `why()`. */
#define DID(call)                                                              \
    claim_holds((call) == COLANDER_OK, __FILE__, __LINE__, #call, error_text())

static inline void
claim_holds(bool holds, const char *file, int line, const char *claim,
            const char *message)
{
    if (holds)
        return;
    fprintf(stderr, "%s:%d: not so: %s %s\n", file, line, claim, message);
    _exit(1);
}

#endif
