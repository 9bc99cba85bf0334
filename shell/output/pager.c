/*
 * Pager: see pager.h.
 *
 * glibc's stdout is a variable that may be set, so everything printed goes
 * through here, except what a script writes by io, which has the old stream.
 *
 * SPDX-License-Identifier: MIT
 */
#include "shell/pager.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define NOT_RUN 127 /* exit status of sh if the program is missing */

static struct {
    FILE *terminal; /* standard output as it was */
    FILE *stream;   /* that replaces it */
    FILE *pager;    /* NULL: not started; `terminal`: it could not start */
    int pager_fd;
    const char *command;
    struct colander_buffer held;
    size_t line_width; /* bytes of the current line */
    size_t line_count;
    size_t line_max;            /* that fit on the screen */
    size_t width;               /* of it */
    struct sigaction interrupt; /* what Ctrl-C did */
} state;

/* Counts the lines that `bytes` take; a character may be several bytes, so a
 * line may take less than is counted. */
static void
count_lines(const char *bytes, size_t size)
{
    for (size_t i = 0; i < size; i++) {
        if (bytes[i] == '\n' || ++state.line_width > state.width) {
            state.line_count++;
            state.line_width = 0;
        }
    }
}

/* While the pager runs, Ctrl-C is meant for it but reaches this process too. */
static void
pass_interrupt(int number)
{
    struct pollfd pipe = {state.pager_fd, 0, 0};

    if (poll(&pipe, 1, 0) > 0 && (pipe.revents & POLLERR) != 0)
        state.interrupt.sa_handler(number); /* no one reads it */
}

static void
start_pager(void)
{
    struct sigaction pass;

    memset(&pass, 0, sizeof(pass));
    pass.sa_handler = pass_interrupt;
    pass.sa_flags = SA_RESTART;
    sigemptyset(&pass.sa_mask);
    (void)fflush(state.terminal);
    state.pager = popen(state.command, "we");
    if (state.pager == NULL) { /* no process: print directly */
        state.pager = state.terminal;
        return;
    }
    state.pager_fd = fileno(state.pager);
    (void)sigaction(SIGINT, NULL, &state.interrupt);
    (void)sigaction(SIGINT, &pass, NULL);
}

/* Returns 0 if no one reads it. */
static ssize_t
write_to_pager(const void *bytes, size_t size)
{
    if (fwrite(bytes, 1, size, state.pager) != size || fflush(state.pager) != 0)
        return 0;
    return (ssize_t)size;
}

static ssize_t
take(void *cookie, const char *bytes, size_t size)
{
    (void)cookie;
    if (state.pager != NULL)
        return write_to_pager(bytes, size);
    if (colander_buffer_append(&state.held, bytes, size, NULL) != COLANDER_OK) {
        errno = ENOMEM;
        return 0;
    }
    count_lines(bytes, size);
    if (state.line_count < state.line_max)
        return (ssize_t)size;
    start_pager();
    if (write_to_pager(state.held.data, state.held.size) == 0)
        return 0;
    return (ssize_t)size;
}

/* Whether a directory of $PATH has the program. */
static bool
has_program(const char *name)
{
    const char *path = getenv("PATH");

    while (path != NULL && path[0] != '\0') {
        const size_t size = strcspn(path, ":");
        char file[PATH_MAX];

        if (snprintf(file, sizeof(file), "%.*s/%s", (int)size, path, name) <
                (int)sizeof(file) &&
            access(file, X_OK) == 0)
            return true;
        path += size + (path[size] == ':');
    }
    return false;
}

/* Returns NULL if there is no pager. */
static const char *
find_command(const char *command)
{
    if (command == NULL)
        command = getenv("COLANDER_PAGER");
    if (command == NULL)
        command = getenv("PAGER");
    if (command != NULL)
        return command[0] == '\0' ? NULL : command;
    if (!has_program("less"))
        return NULL;
    (void)setenv("LESS", "FRSX", 0); /* sideways, and without clearing */
    return "less";
}

void
pager_begin(const char *command)
{
    const cookie_io_functions_t functions = {NULL, take, NULL, NULL};
    struct winsize size = {0};

    memset(&state, 0, sizeof(state));
    state.command = find_command(command);
    if (state.command == NULL || ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 ||
        size.ws_row < 3 || size.ws_col == 0)
        return;
    state.line_max = size.ws_row - 1U;
    state.width = size.ws_col;
    state.stream = fopencookie(NULL, "w", functions);
    if (state.stream == NULL)
        return;
    state.terminal = stdout;
    stdout = state.stream;
}

void
pager_end(void)
{
    bool is_missing = false;

    if (state.stream == NULL)
        return;
    (void)fflush(state.stream);
    stdout = state.terminal;
    (void)fclose(state.stream);
    state.stream = NULL;
    if (state.pager != NULL && state.pager != state.terminal) {
        int status = pclose(state.pager);

        (void)sigaction(SIGINT, &state.interrupt, NULL);
        is_missing = WIFEXITED(status) && WEXITSTATUS(status) == NOT_RUN;
    }
    if ((state.pager == NULL || is_missing) && state.held.size > 0)
        (void)fwrite(state.held.data, 1, state.held.size, stdout);
    (void)fflush(stdout);
    if (is_missing)
        fprintf(stderr, "[no pager '%s': the rest is not shown]\n",
                state.command);
    colander_buffer_release(&state.held);
}
