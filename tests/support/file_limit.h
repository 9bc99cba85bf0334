/*
 * Limits file sizes, which looks like a full disk to a program.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef TESTS_SUPPORT_FILE_LIMIT_H
#define TESTS_SUPPORT_FILE_LIMIT_H

#include "support/cases.h"

#include <signal.h>
#include <sys/resource.h>

/* From now on writes past the first `size` bytes of a file fail; RLIM_INFINITY:
 * none do. */
static inline void
limit_files(rlim_t size)
{
    struct rlimit limit;

    (void)signal(SIGXFSZ, SIG_IGN);
    ZERO(getrlimit(RLIMIT_FSIZE, &limit));
    limit.rlim_cur = size < limit.rlim_max ? size : limit.rlim_max;
    ZERO(setrlimit(RLIMIT_FSIZE, &limit));
}

#endif
