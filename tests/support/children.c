/*
 * Processes that run this program again: see children.h.
 *
 * SPDX-License-Identifier: MIT
 */
#include "support/children.h"

#include "support/claims.h"

#include <signal.h>
#include <stdio.h>
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

void
child_kill_after(const char *const *arguments, uint64_t microseconds)
{
    const int output = dup(STDOUT_FILENO);
    int ends[2];
    int status;
    char byte;
    pid_t child;

    CLAIM(output >= 0 && pipe(ends) == 0);
    fflush(stdout);
    CLAIM(dup2(ends[1], STDOUT_FILENO) == STDOUT_FILENO);
    child = child_start(arguments);
    CLAIM(dup2(output, STDOUT_FILENO) == STDOUT_FILENO);
    close(output);
    close(ends[1]);
    CLAIM(read(ends[0], &byte, 1) == 1);
    usleep((useconds_t)microseconds);
    kill(child, SIGKILL);
    CLAIM(waitpid(child, &status, 0) == child);
    CLAIM(WIFSIGNALED(status));
    close(ends[0]);
}
