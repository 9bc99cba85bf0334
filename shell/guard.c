/*
 * Guard: see guard.h.
 *
 * SPDX-License-Identifier: MIT
 */
#include "shell/guard.h"
#include "shell/interrupt.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define COMPLAINT_SIZE_MAX 65536 /* bytes of standard error that are shown */
#define STACK_SIZE (2u << 20)    /* of each thread of the child */
#define LAST_STANDARD_FD STDERR_FILENO

/* One stream of the child. */
struct stream {
    int fd;        /* we read; -1: it is closed */
    FILE *to;      /* where it is copied to */
    bool is_shown; /* on a terminal */
    bool is_lead;  /* the last byte was the first of two */
    uint64_t left; /* bytes it may still have */
};

struct guard {
    pid_t pid;
    struct stream streams[2]; /* standard output, standard error */
    long long deadline;       /* milliseconds */
};

/* ---------------------------------------------------------------- child --- */

static void
limit(int resource, uint64_t value)
{
    const struct rlimit both = {value, value};

    (void)setrlimit((__rlimit_resource_t)resource, &both);
}

/* In the child, before it is another program: so the limits hold from its
 * first instruction on. */
static void
become(const char *const *words, const int fds[3], pid_t parent,
       const struct guard_limits *limits)
{
    /* not the terminal's: Ctrl-C is for the parent, which then kills */
    (void)setsid();
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent)
        _exit(127); /* it died before it could be asked to tell */
    (void)prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    for (int fd = 0; fd <= LAST_STANDARD_FD; fd++) {
        if (dup2(fds[fd], fd) < 0)
            _exit(127);
    }
    (void)close_range(LAST_STANDARD_FD + 1, ~0U, 0);
    limit(RLIMIT_CORE, 0);
    limit(RLIMIT_FSIZE, 0);
    limit(RLIMIT_STACK, STACK_SIZE);
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
    limit(RLIMIT_DATA, limits->memory_size); /* their shadow counts as data */
#endif
    limit(RLIMIT_CPU, limits->milliseconds / 1000 + 1);
    execv("/proc/self/exe", (char *const *)words);
    _exit(127);
}

/* --------------------------------------------------------------- parent --- */

static long long
now_ms(void)
{
    struct timespec now;

    (void)clock_gettime(CLOCK_MONOTONIC, &now); /* every Linux has this one */
    return (long long)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* Makes in place everything printable that would move a cursor: C0 and DEL,
 * and C1, which is two bytes in UTF-8 (C2, then 80 to 9F). */
static void
disarm(struct stream *stream, char *bytes, size_t size)
{
    for (size_t i = 0; i < size; i++) {
        const unsigned char byte = (unsigned char)bytes[i];

        if ((byte < 0x20 && byte != '\n' && byte != '\t') || byte == 0x7f ||
            (stream->is_lead && byte >= 0x80 && byte < 0xa0))
            bytes[i] = '?';
        stream->is_lead = byte == 0xc2;
    }
}

/* Copies what there is; false: something is to end. */
static bool
copy(struct stream *stream, enum guard_end *end)
{
    char bytes[65536];
    const ssize_t size = read(stream->fd, bytes, sizeof(bytes));
    size_t taken = size < 0 ? 0 : (size_t)size;

    if (size < 0 && errno == EINTR)
        return true;
    if (size <= 0) {
        close(stream->fd);
        stream->fd = -1;
        return true;
    }
    if (taken > stream->left) {
        taken = (size_t)stream->left;
        *end = GUARD_OUT_OF_OUTPUT;
    }
    stream->left -= taken;
    if (stream->is_shown)
        disarm(stream, bytes, taken);
    if (fwrite(bytes, 1, taken, stream->to) != taken || fflush(stream->to) != 0)
        *end = GUARD_UNREAD;
    return *end == GUARD_EXITED;
}

/* Copies until both streams are closed, or something is to end; which. */
static enum guard_end
watch(struct guard *guard)
{
    enum guard_end end = GUARD_EXITED;

    while (guard->streams[0].fd >= 0 || guard->streams[1].fd >= 0) {
        struct pollfd fds[2] = {{guard->streams[0].fd, POLLIN, 0},
                                {guard->streams[1].fd, POLLIN, 0}};
        const long long left = guard->deadline - now_ms();

        if (interrupt_happened())
            return GUARD_INTERRUPTED;
        if (left <= 0)
            return GUARD_OUT_OF_TIME;
        if (poll(fds, 2, left > 60000 ? 60000 : (int)left) < 0 &&
            errno != EINTR)
            return GUARD_KILLED;
        for (int i = 0; i < 2; i++) {
            if (fds[i].fd >= 0 && fds[i].revents != 0 &&
                !copy(&guard->streams[i], &end))
                return end;
        }
    }
    return end;
}

/* Waits for the child, which may have closed its streams and go on. */
static void
await(struct guard *guard, struct guard_outcome *outcome)
{
    int status = 0;
    pid_t ended = 0;

    while (outcome->end == GUARD_EXITED && ended == 0) {
        ended = waitpid(guard->pid, &status, WNOHANG);
        if (ended != 0)
            break;
        if (now_ms() >= guard->deadline)
            outcome->end = GUARD_OUT_OF_TIME;
        else if (interrupt_happened())
            outcome->end = GUARD_INTERRUPTED;
        else
            (void)usleep(1000);
    }
    if (ended == 0) {
        (void)kill(guard->pid, SIGKILL);
        while (waitpid(guard->pid, &status, 0) < 0 && errno == EINTR)
            continue;
    }
    if (outcome->end != GUARD_EXITED)
        return;
    outcome->status = WEXITSTATUS(status);
    if (WIFSIGNALED(status)) {
        outcome->end =
            WTERMSIG(status) == SIGXCPU ? GUARD_OUT_OF_TIME : GUARD_KILLED;
        outcome->status = WTERMSIG(status);
    }
}

/* A file in memory that reads as the text; -1: there is none. */
static int
open_text(struct colander_slice text)
{
    const int fd = memfd_create("script", MFD_CLOEXEC);

    for (size_t at = 0; fd >= 0 && at < text.size;) {
        const ssize_t size = write(fd, text.data + at, text.size - at);

        if (size <= 0) {
            close(fd);
            return -1;
        }
        at += (size_t)size;
    }
    if (fd >= 0)
        (void)lseek(fd, 0, SEEK_SET);
    return fd;
}

static enum colander_code
start(struct guard *guard, const char *const *words, struct colander_slice text,
      const struct guard_limits *limits, struct colander_error *err)
{
    const int input = open_text(text);
    int out[2] = {-1, -1};
    int complaints[2] = {-1, -1};
    const pid_t parent = getpid();
    bool is_started;

    is_started = input >= 0 && pipe2(out, O_CLOEXEC) == 0 &&
                 pipe2(complaints, O_CLOEXEC) == 0;
    if (is_started) {
        (void)fflush(NULL);
        guard->pid = fork();
        is_started = guard->pid >= 0;
    }
    if (is_started && guard->pid == 0) {
        const int fds[3] = {input, out[1], complaints[1]};

        become(words, fds, parent, limits);
    }
    if (!is_started)
        COLANDER_FAIL(err, COLANDER_IO, "cannot start a process: %s",
                      strerror(errno));
    guard->streams[0].fd = out[0];
    guard->streams[1].fd = complaints[0];
    if (input >= 0)
        close(input);
    if (out[1] >= 0)
        close(out[1]);
    if (complaints[1] >= 0)
        close(complaints[1]);
    return is_started ? COLANDER_OK : COLANDER_IO;
}

enum colander_code
guard_run(const char *const *words, struct colander_slice text,
          const struct guard_limits *limits, struct guard_outcome *outcome,
          struct colander_error *err)
{
    struct guard guard = {
        .streams = {{.to = stdout, .left = limits->output_size},
                    {.to = stderr, .left = COMPLAINT_SIZE_MAX}},
        .deadline = now_ms() + (long long)limits->milliseconds,
    };
    enum colander_code code;

    memset(outcome, 0, sizeof(*outcome));
    guard.streams[0].is_shown = isatty(STDOUT_FILENO) != 0;
    guard.streams[1].is_shown = true;
    code = start(&guard, words, text, limits, err);
    if (code == COLANDER_OK) {
        interrupt_ends_reads(true); /* so that it ends a poll */
        outcome->end = watch(&guard);
        await(&guard, outcome);
        interrupt_ends_reads(false);
    }
    for (int i = 0; i < 2; i++) {
        if (guard.streams[i].fd >= 0)
            close(guard.streams[i].fd);
    }
    return code;
}
