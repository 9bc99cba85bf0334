/*
 * Runs work in a separate process and watches it.
 *
 * SPDX-License-Identifier: MIT
 */
#include "bench_guard.h"
#include "bench.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static const int signals[] = {SIGINT, SIGTERM, SIGHUP};

static volatile sig_atomic_t worker;

static void
end_worker(int number)
{
    if (worker > 0)
        (void)kill((pid_t)worker, number);
}

static void
handle_signals(void (*handler)(int))
{
    struct sigaction action = {.sa_handler = handler};

    (void)sigemptyset(&action.sa_mask);
    for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++)
        (void)sigaction(signals[i], &action, NULL);
}

pid_t
bench_guard_fork(int signal)
{
    const pid_t parent = getpid();
    pid_t child;

    (void)fflush(NULL);
    child = fork();
    if (child < 0)
        bench_fail("cannot start a process", strerror(errno));
    if (child == 0) {
        (void)prctl(PR_SET_PDEATHSIG, signal);
        if (getppid() != parent)
            _exit(1);
    }
    return child;
}

pid_t
bench_guard_start(char *const *arguments, const char *directory,
                  const int standard[3], int signal)
{
    const pid_t child = bench_guard_fork(signal);

    if (child != 0)
        return child;
    if (chdir(directory) == 0 && dup2(standard[0], STDIN_FILENO) >= 0 &&
        dup2(standard[1], STDOUT_FILENO) >= 0 &&
        dup2(standard[2], STDERR_FILENO) >= 0)
        (void)execvp(arguments[0], arguments);
    _exit(BENCH_GUARD_MISSING);
}

int
bench_guard_await(pid_t process)
{
    int status = 0;

    while (waitpid(process, &status, 0) < 0 && errno == EINTR)
        ;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

void
bench_guard_stop(pid_t process, int signal)
{
    (void)kill(process, signal);
    (void)bench_guard_await(process);
}

/* Also those whose parent has ended: they are now children of this process. */
static void
await_all(void)
{
    while (wait(NULL) > 0 || errno == EINTR)
        ;
}

int
bench_guard_run(int (*work)(void *context), void (*clean)(void *context),
                void *context)
{
    int status = 0;
    pid_t child;

    (void)prctl(PR_SET_CHILD_SUBREAPER, 1);
    handle_signals(end_worker);
    child = bench_guard_fork(SIGKILL);
    if (child == 0) {
        handle_signals(SIG_DFL);
        exit(work(context));
    }
    worker = child;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR)
        ;
    worker = 0;
    await_all();
    clean(context);
    if (WIFEXITED(status))
        return WEXITSTATUS(status);
    (void)fprintf(stderr, "colander-bench: ended by signal %d: %s\n",
                  WTERMSIG(status), strsignal(WTERMSIG(status)));
    return 1;
}

double
bench_guard_measure(void (*work)(void *context, void *result), void *context,
                    void *result, size_t size)
{
    struct rusage usage;
    int ends[2];
    int status;
    pid_t child;

    if (pipe(ends) != 0)
        bench_fail("cannot create a pipe", strerror(errno));
    child = bench_guard_fork(SIGKILL);
    if (child == 0) {
        work(context, result);
        _exit(write(ends[1], result, size) != (ssize_t)size);
    }
    (void)close(ends[1]);
    if (wait4(child, &status, 0, &usage) != child || status != 0 ||
        read(ends[0], result, size) != (ssize_t)size)
        bench_fail("a process", "it failed");
    (void)close(ends[0]);
    return (double)usage.ru_maxrss * 1024 / 1e6;
}
