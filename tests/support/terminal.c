/*
 * Runs a program in a pseudo-terminal: see terminal.h.
 *
 * SPDX-License-Identifier: MIT
 */
#include "support/terminal.h"

#include <fcntl.h>
#include <poll.h>
#include <pty.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#define WAIT_MS 30000 /* without output; then the program hangs */

static void
execute(const char *const *words)
{
    setenv("TERM", "dumb", 1);
    execv(getenv("COLANDER"), (char *const *)words);
    _exit(127);
}

/* Does what a shell with job control does: gives the program the terminal, and,
 * when it stops, reports that and continues it. */
static void
execute_as_job(const char *const *words)
{
    int status = 0;
    pid_t pid = fork();

    if (pid == 0) {
        setpgid(0, 0);
        (void)signal(SIGTTOU, SIG_IGN);
        tcsetpgrp(STDIN_FILENO, getpid());
        (void)signal(SIGTTOU, SIG_DFL);
        execute(words);
    }
    while (pid > 0 && waitpid(pid, &status, WUNTRACED) == pid &&
           WIFSTOPPED(status)) {
        dprintf(STDOUT_FILENO, "[stopped]");
        kill(pid, SIGCONT);
    }
    _exit(WIFEXITED(status) ? WEXITSTATUS(status) : 127);
}

/* Standard error is elsewhere. */
static void
execute_unheard(const char *const *words)
{
    const int nowhere = open("/dev/null", O_WRONLY);

    if (nowhere >= 0 && dup2(nowhere, STDERR_FILENO) == STDERR_FILENO)
        execute(words);
    _exit(127);
}

static void
start_by(struct terminal *terminal, const char *const *words,
         void (*run)(const char *const *words))
{
    const struct winsize size = {.ws_row = 24, .ws_col = 80};

    memset(terminal, 0, sizeof(*terminal));
    assert_non_null(getenv("COLANDER"));
    terminal->pid = forkpty(&terminal->fd, NULL, NULL, &size);
    assert_true(terminal->pid >= 0);
    if (terminal->pid == 0)
        run(words);
}

void
terminal_start(struct terminal *terminal, const char *const *words)
{
    start_by(terminal, words, execute);
}

void
terminal_start_job(struct terminal *terminal, const char *const *words)
{
    start_by(terminal, words, execute_as_job);
}

void
terminal_start_unheard(struct terminal *terminal, const char *const *words)
{
    start_by(terminal, words, execute_unheard);
}

/* Reads some output. Returns false at its end. */
static bool
read_some(struct terminal *terminal)
{
    struct pollfd poll_fd = {terminal->fd, POLLIN, 0};
    char bytes[4096];
    ssize_t size;

    if (poll(&poll_fd, 1, WAIT_MS) <= 0)
        fail_msg("the program hangs after '%.*s'", (int)terminal->shown.size,
                 (const char *)terminal->shown.data);
    size = read(terminal->fd, bytes, sizeof(bytes));
    if (size <= 0)
        return false;
    terminal->total += (size_t)size;
    assert_int_equal(
        colander_buffer_append(&terminal->shown, bytes, (size_t)size, NULL),
        COLANDER_OK);
    return true;
}

static const uint8_t *
find(const struct terminal *terminal, const char *text)
{
    if (terminal->shown.size == 0)
        return NULL;
    return memmem(terminal->shown.data, terminal->shown.size, text,
                  strlen(text));
}

bool
terminal_has(const struct terminal *terminal, const char *text)
{
    return find(terminal, text) != NULL;
}

void
terminal_expect(struct terminal *terminal, const char *text)
{
    const uint8_t *at;

    while ((at = find(terminal, text)) == NULL) {
        if (!read_some(terminal))
            fail_msg("'%s' never came after '%.*s'", text,
                     (int)terminal->shown.size,
                     (const char *)terminal->shown.data);
    }
    at += strlen(text);
    terminal->shown.size -= (size_t)(at - terminal->shown.data);
    memmove(terminal->shown.data, at, terminal->shown.size);
}

void
terminal_type(struct terminal *terminal, const char *text)
{
    assert_int_equal(write(terminal->fd, text, strlen(text)),
                     (ssize_t)strlen(text));
}

void
terminal_await_end(struct terminal *terminal)
{
    while (read_some(terminal))
        continue;
}

int
terminal_finish(struct terminal *terminal)
{
    int status = 0;

    terminal_await_end(terminal);
    assert_int_equal(waitpid(terminal->pid, &status, 0), terminal->pid);
    close(terminal->fd);
    colander_buffer_release(&terminal->shown);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}
