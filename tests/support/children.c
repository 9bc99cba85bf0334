/*
 * Processes that run this program again: see children.h.
 *
 * SPDX-License-Identifier: MIT
 */
#include "support/children.h"

#include "support/claims.h"

#include <stdint.h>
#include <sys/wait.h>

pid_t
child_start(const char *const *arguments)
{
    const pid_t child = fork();

    CLAIM(child >= 0);
    if (child == 0) {
        execv("/proc/self/exe", (char *const *)(uintptr_t)arguments);
        _exit(127);
    }
    return child;
}

int
child_run(const char *const *arguments)
{
    const pid_t child = child_start(arguments);
    int status;

    CLAIM(waitpid(child, &status, 0) == child);
    return status;
}
