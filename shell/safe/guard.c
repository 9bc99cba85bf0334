/* See guard.h. SPDX-License-Identifier: MIT */
#include "shell/safe/guard.h"
#include "core/clock.h"
#include "shell/interrupt.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#define COMPLAINT_SIZE_MAX 65536 /* bytes of standard error that are shown */
#define STACK_SIZE (2u << 20)    /* of each thread of the child */
#define LAST_STANDARD_FD STDERR_FILENO

/* One stream of the child, and what of it is not copied yet. */
struct stream {
    int from;      /* we read; -1: it is closed */
    int to;        /* we write */
    bool is_shown; /* on a terminal */
    bool is_lead;  /* the last byte begins a character of two */
    bool is_over;  /* it exceeded its limit */
    uint64_t left; /* bytes until its limit */
    size_t size;   /* bytes read, */
    size_t at;     /* and written */
    char bytes[16384];
};

struct guard {
    pid_t pid;
    struct stream streams[2]; /* standard output, standard error */
    long long deadline;       /* milliseconds */
};

/* ---------------------------------------------------------------- child --- */

static void
limit(int resource, uint64_t soft, uint64_t hard)
{
    const struct rlimit both = {soft, hard};

    (void)setrlimit((__rlimit_resource_t)resource, &both);
}

/* Ends the child when its time is over, even if the parent waits or stopped. */
static void
set_alarm(unsigned seconds)
{
    sigset_t set;

    (void)signal(SIGALRM, SIG_DFL);
    sigemptyset(&set);
    sigaddset(&set, SIGALRM);
    (void)sigprocmask(SIG_UNBLOCK, &set, NULL);
    (void)alarm(seconds);
}

/* Copies the variables that the child may have to `kept`. */
static void
keep_environment(char **kept, size_t count_max)
{
    static const char *const names[] = {
        "LANG=", "LC_ALL=", "LC_CTYPE=", "TZ=", "COLUMNS=", "LD_LIBRARY_PATH="};
    size_t count = 0;

    for (char **at = environ; *at != NULL && count + 1 < count_max; at++) {
        for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
            if (strncmp(*at, names[i], strlen(names[i])) == 0)
                kept[count++] = *at;
        }
    }
    kept[count] = NULL;
}

/* Runs in the child before exec: the limits hold from its first instruction. */
static void
become(const char *const *words, const int fds[3], pid_t parent,
       const struct guard_limits *limits)
{
    const uint64_t seconds = limits->milliseconds / 1000 + 1;
    char *environment[16];

    /* Ctrl-C is for the parent, which then kills the child */
    (void)setsid();
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent)
        _exit(127); /* it died before the prctl */
    (void)prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    for (int fd = 0; fd <= LAST_STANDARD_FD; fd++) {
        if (dup2(fds[fd], fd) < 0)
            _exit(127);
    }
    (void)close_range(LAST_STANDARD_FD + 1, ~0U, 0);
    limit(RLIMIT_CORE, 0, 0);
    limit(RLIMIT_FSIZE, 0, 0);
    limit(RLIMIT_STACK, STACK_SIZE, STACK_SIZE);
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
    /* their shadow counts as data */
    limit(RLIMIT_DATA, limits->memory_size, limits->memory_size);
#endif
    limit(RLIMIT_CPU, seconds, seconds + 1); /* SIGXCPU */
    set_alarm((unsigned)seconds + 1);
    keep_environment(environment, sizeof(environment) / sizeof(char *));
    execve("/proc/self/exe", (char *const *)words, environment);
    dprintf(STDERR_FILENO, "colander: cannot start a process: %s\n",
            strerror(errno));
    _exit(1);
}

/* --------------------------------------------------------------- parent --- */

/* Replaces control characters by question marks: C0, DEL, and C1, which is two
 * bytes in UTF-8 (C2, then 80 to 9F). */
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

/* Reads what is available. */
static void
read_some(struct stream *stream)
{
    const ssize_t size =
        read(stream->from, stream->bytes, sizeof(stream->bytes));

    if (size < 0 && errno == EINTR)
        return;
    if (size <= 0) {
        close(stream->from);
        stream->from = -1;
        return;
    }
    stream->at = 0;
    stream->size = (size_t)size;
    if (stream->size > stream->left) {
        stream->size = (size_t)stream->left;
        stream->is_over = true;
    }
    stream->left -= stream->size;
    if (stream->is_shown)
        disarm(stream, stream->bytes, stream->size);
}

/* Writes as much as a pipe takes without waiting. Returns false, and sets
 * errno, if that fails. */
static bool
write_some(struct stream *stream)
{
    const size_t left = stream->size - stream->at;
    const ssize_t size = write(stream->to, stream->bytes + stream->at,
                               left < PIPE_BUF ? left : PIPE_BUF);

    if (size < 0)
        return errno == EINTR || errno == EAGAIN;
    stream->at += (size_t)size;
    return true;
}

/* Whether the stream has bytes to write. */
static bool
is_full(const struct stream *stream)
{
    return stream->at < stream->size;
}

/* Copies until both streams close, or a limit is exceeded. Returns which. */
static enum guard_end
watch(struct guard *guard, int *number)
{
    struct stream *out = &guard->streams[0];
    struct stream *complaints = &guard->streams[1];

    while (out->from >= 0 || complaints->from >= 0 || is_full(out) ||
           is_full(complaints)) {
        const long long left = guard->deadline - (long long)(clock_us() / 1000);
        struct pollfd fds[2];

        if (out->is_over && !is_full(out))
            return GUARD_OUT_OF_OUTPUT;
        if (interrupt_happened())
            return GUARD_INTERRUPTED;
        if (left <= 0)
            return GUARD_OUT_OF_TIME;
        for (int i = 0; i < 2; i++) {
            struct stream *stream = &guard->streams[i];

            fds[i].fd = is_full(stream) ? stream->to : stream->from;
            fds[i].events = is_full(stream) ? POLLOUT : POLLIN;
            fds[i].revents = 0;
        }
        if (poll(fds, 2, left > 60000 ? 60000 : (int)left) <= 0)
            continue; /* checked above */
        for (int i = 0; i < 2; i++) {
            struct stream *stream = &guard->streams[i];

            if (fds[i].revents == 0)
                continue;
            if (!is_full(stream))
                read_some(stream);
            else if (!write_some(stream)) {
                *number = errno;
                return errno == EPIPE ? GUARD_UNREAD : GUARD_UNWRITTEN;
            }
        }
    }
    return GUARD_EXITED;
}

/* Waits for the child, which may still run with closed streams. */
static void
await(struct guard *guard, struct guard_outcome *outcome)
{
    int status = 0;
    pid_t ended = 0;

    while (outcome->end == GUARD_EXITED && ended == 0) {
        ended = waitpid(guard->pid, &status, WNOHANG);
        if (ended < 0)
            outcome->end = GUARD_KILLED; /* the status is lost */
        if (ended != 0)
            break;
        if ((long long)(clock_us() / 1000) >= guard->deadline)
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
        const int number = WTERMSIG(status);

        outcome->status = number;
        outcome->end = number == SIGXCPU || number == SIGALRM
                           ? GUARD_OUT_OF_TIME
                           : GUARD_KILLED;
    }
}

/* Returns a file in memory with the text, or -1. */
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
        (void)signal(
            SIGCHLD,
            SIG_DFL); /* if it were ignored, there would be no exit status */
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
    guard->streams[0].from = out[0];
    guard->streams[1].from = complaints[0];
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
        .streams = {{.to = STDOUT_FILENO, .left = limits->output_size},
                    {.to = STDERR_FILENO, .left = COMPLAINT_SIZE_MAX}},
        .deadline =
            (long long)(clock_us() / 1000) + (long long)limits->milliseconds,
    };
    enum colander_code code;

    memset(outcome, 0, sizeof(*outcome));
    guard.streams[0].is_shown = isatty(STDOUT_FILENO) != 0;
    guard.streams[1].is_shown = true;
    code = start(&guard, words, text, limits, err);
    if (code == COLANDER_OK) {
        interrupt_ends_reads(true); /* so that Ctrl-C ends a poll */
        outcome->end = watch(&guard, &outcome->status);
        await(&guard, outcome);
        interrupt_ends_reads(false);
    }
    for (int i = 0; i < 2; i++) {
        if (guard.streams[i].from >= 0)
            close(guard.streams[i].from);
    }
    return code;
}
