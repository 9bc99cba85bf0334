/*
 * Runs processes with faults, and checks what they leave on disk.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef TESTS_SUPPORT_FAULT_RUNS_H
#define TESTS_SUPPORT_FAULT_RUNS_H

#include "support/children.h"
#include "support/fault_scenario.h"

#include <errno.h>
#include <sys/wait.h>

/* A process that takes longer is hanging. */
#define SECONDS_MAX 300

/* One kind of failure. */
struct plan {
    const char *name;
    struct fault fault; /* without its number */
};

struct runs {
    char directory[TEMPORARY_SIZE];
    char store[TEMPORARY_SIZE + 16];
    char progress_path[TEMPORARY_SIZE + 16];
    char killed[TEMPORARY_SIZE + 16]; /* a store with rows in its logs */
    struct progress killed_progress;
    struct progress *progress;
    uint64_t seed;
    uint64_t random;
    uint64_t run_count;
    uint64_t stopped_count; /* those that could not write after the fault */
    uint64_t failed_count;  /* calls */
};

static inline void
runs_init(struct runs *runs, const char *test)
{
    memset(runs, 0, sizeof(*runs));
    temporary_make(runs->directory);
    (void)snprintf(runs->store, sizeof(runs->store), "%s/store",
                   runs->directory);
    (void)snprintf(runs->progress_path, sizeof(runs->progress_path),
                   "%s/progress", runs->directory);
    (void)snprintf(runs->killed, sizeof(runs->killed), "%s/killed",
                   runs->directory);
    runs->progress = history_map(runs->progress_path, sizeof(*runs->progress));
    assert_non_null(runs->progress);
    runs->seed = random_seed(test);
    runs->random = runs->seed;
}

static inline void
runs_release(struct runs *runs)
{
    printf("%llu runs; %llu calls reported an error; %llu stores accepted no "
           "writes "
           "until they were opened again\n",
           (unsigned long long)runs->run_count,
           (unsigned long long)runs->failed_count,
           (unsigned long long)runs->stopped_count);
    (void)munmap(runs->progress, sizeof(*runs->progress));
    temporary_remove(runs->directory);
}

/* Runs the process. Returns its wait status. */
static inline int
run_in(struct runs *runs, const char *store, const char *mode, const char *what,
       uint64_t number, bool is_killed)
{
    char number_text[24];
    char seed[24];
    const char *const arguments[] = {
        "test", mode,        store, runs->progress_path,
        what,   number_text, seed,  is_killed ? "killed" : "closed",
        NULL};

    (void)snprintf(number_text, sizeof(number_text), "%llu",
                   (unsigned long long)number);
    (void)snprintf(seed, sizeof(seed), "%llu",
                   (unsigned long long)random_next(&runs->random));
    printf("%s %s, seed %s, %s: ", what, number_text, seed, arguments[7]);
    (void)fflush(stdout);
    return child_run(arguments);
}

/* Creates the store of a killed process, with which some processes begin. */
static inline void
make_killed(struct runs *runs, const char *mode, const char *what,
            uint64_t number)
{
    int status = run_in(runs, runs->killed, mode, what, number, true);

    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
    printf("a store to begin with\n");
    runs->killed_progress = *runs->progress;
}

/* Begins with no store, or with that of a killed process. */
static inline void
begin_store(struct runs *runs)
{
    char command[3 * TEMPORARY_SIZE];

    temporary_remove(runs->store);
    memset(runs->progress, 0, sizeof(*runs->progress));
    if (random_below(&runs->random, 2) == 0)
        return;
    (void)snprintf(command, sizeof(command), "cp -a '%s' '%s'", runs->killed,
                   runs->store);
    assert_int_equal(system(command), 0);
    memcpy(runs->progress->groups, runs->killed_progress.groups,
           sizeof(runs->progress->groups));
    runs->progress->bulk = runs->killed_progress.bulk;
}

/* Runs the process, with or without a store, and checks what it leaves on disk.
 * `what` and `number` identify the fault. */
static inline void
run_once(struct runs *runs, const char *mode, const char *what, uint64_t number,
         bool is_killed)
{
    int status;

    begin_store(runs);
    status = run_in(runs, runs->store, mode, what, number, is_killed);
    if (is_killed ? !WIFSIGNALED(status) || WTERMSIG(status) != SIGKILL
                  : !WIFEXITED(status) || WEXITSTATUS(status) != 0)
        fail_msg("the process ended by %s %d",
                 WIFSIGNALED(status) ? "signal" : "status",
                 WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
    check_store(runs->store, runs->progress, &runs->random);
    runs->run_count++;
    runs->stopped_count += atomic_load(&runs->progress->is_stopped);
    runs->failed_count += atomic_load(&runs->progress->failed_count);
    printf("%s, %llu calls failed%s\n",
           atomic_load(&runs->progress->is_met) ? "met" : "not met",
           (unsigned long long)atomic_load(&runs->progress->failed_count),
           atomic_load(&runs->progress->is_stopped) ? ", stopped" : "");
}

/* Runs each plan with its fault at up to `share` calls, evenly spread, or at
 * every call if there are fewer, until a run does not reach the fault. */
static inline void
run_plans(struct runs *runs, const char *mode, const struct plan *plans,
          size_t count, uint64_t share)
{
    uint64_t calls[FAULT_KINDS];

    make_killed(runs, mode, "none", 0);
    run_once(runs, mode, "none", 0, false);
    for (size_t i = 0; i < FAULT_KINDS; i++)
        calls[i] = atomic_load(&runs->progress->counts[i]);
    for (size_t i = 0; i < count; i++) {
        const uint64_t of_kind = calls[plans[i].fault.kind];
        const uint64_t step = of_kind > share ? (of_kind - 1) / share + 1 : 1;
        uint64_t number = random_below(&runs->random, step);
        uint64_t left = share;

        printf("%s: %llu calls, every %llu\n", plans[i].name,
               (unsigned long long)of_kind, (unsigned long long)step);
        do {
            run_once(runs, mode, plans[i].name, number,
                     random_below(&runs->random, 2) == 0);
            number += step;
        } while (--left > 0 && atomic_load(&runs->progress->is_met));
    }
    assert_true(runs->failed_count > 0);
}

/* Prints where each thread of a hanging process is, if a debugger is
 * available. It ends even if it hangs itself.
 * NOLINTBEGIN(bugprone-signal-handler) */
static inline void
report_and_end(int number)
{
    char command[80];
    sigset_t again;

    /* in case this hangs as well */
    (void)signal(number, SIG_DFL);
    (void)sigemptyset(&again);
    (void)sigaddset(&again, number);
    (void)pthread_sigmask(SIG_UNBLOCK, &again, NULL);
    (void)alarm(SECONDS_MAX);
    (void)snprintf(command, sizeof(command),
                   "gdb -p %ld -batch -ex 'thread apply all backtrace' 2>&1",
                   (long)getpid());
    faults_repair();
    printf("hangs\n");
    (void)fflush(stdout);
    (void)system(command);
    _exit(1);
} /* NOLINTEND(bugprone-signal-handler) */

/* The process: <mode> <store> <progress> <what> <number> <seed> <end>. */
struct process {
    struct progress *progress;
    struct scenario scenario;
    size_t descriptors;
    uint64_t number;
    bool is_killed;
};

static inline void
process_begin(struct process *process, char **arguments)
{
    (void)signal(SIGALRM, report_and_end);
    (void)alarm(SECONDS_MAX);
    process->progress = history_map(arguments[3], sizeof(*process->progress));
    assert_non_null(process->progress);
    process->number = strtoull(arguments[5], NULL, 10);
    process->is_killed = strcmp(arguments[7], "killed") == 0;
    scenario_init(&process->scenario, arguments[2], process->progress,
                  strtoull(arguments[6], NULL, 10));
    process->descriptors = count_descriptors();
}

/* Checks that nothing is left open. */
static inline int
process_end(struct process *process)
{
    assert_int_equal(count_descriptors(), process->descriptors);
    scenario_release(&process->scenario);
    (void)munmap(process->progress, sizeof(*process->progress));
    return 0;
}

/* Runs the process with a plan's fault; NULL: without one. */
static inline int
run_process(char **arguments, const struct plan *plan, scenario_step *also)
{
    struct process process;
    struct fault fault;

    process_begin(&process, arguments);
    process.scenario.also = also;
    if (plan != NULL) {
        fault = plan->fault;
        fault.number = process.number;
        process.scenario.is_memory = fault.kind == FAULT_MEMORY;
    }
    faults_begin(arguments[2], plan == NULL ? NULL : &fault);
    run_with_faults(&process.scenario);
    faults_repair();
    run_repaired(&process.scenario, process.is_killed);
    return process_end(&process);
}

static inline const struct plan *
find_plan(const struct plan *plans, size_t count, const char *name)
{
    for (size_t i = 0; i < count; i++) {
        if (strcmp(plans[i].name, name) == 0)
            return &plans[i];
    }
    return NULL;
}

#endif
