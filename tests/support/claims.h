/*
 * Claims of threads: cmocka's assertions are of the thread that runs the test,
 * and in others end the program without a word.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef TESTS_SUPPORT_CLAIMS_H
#define TESTS_SUPPORT_CLAIMS_H

#include "support/why.h"

#include <stdio.h>
#include <unistd.h>

/* Ends the program where the claim does not hold. What the store looks like
 * then stays as it is. */
#define CLAIM(claim) claim_holds((claim), __FILE__, __LINE__, #claim, "")

/* The call succeeds. A failure prints the message that is in `why()`. */
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
