/*
 * colander-bench: runs experiments and prints their results.
 *
 * SPDX-License-Identifier: MIT
 */
#include "bench.h"
#include "bench_guard.h"
#include "tests/support/temporary.h"

#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

static const struct experiment {
    const char *name;
    bench_experiment *run;
    const char *about;
    uint64_t quick_rows; /* the fewest that it works with, for `quick` */
} experiments[] = {
    {"bulk", bench_bulk, "a first load by a bulk, against batches of puts",
     2000},
#if defined(COLANDER_CLUSTER) && defined(COLANDER_SERVER)
    {"cluster", bench_cluster, "1 to 32 nodes, what they use, and failures",
     2000},
#endif
    {"find", bench_find, "rows by a value, against a hand-made index", 2000},
#ifdef COLANDER_CLUSTER
    {"follow", bench_follow, "records of a topic, against lines of a file",
     20000},
#endif
    {"group", bench_group, "rows grouped, against a scan, SQLite and DuckDB",
     2000},
    {"growth", bench_growth, "finds in stores of 1/64 to all of the rows",
     64000},
    {"ingest", bench_ingest, "writes with filters, without, and an index",
     2000},
    {"live", bench_live, "finds while a writer fills the memtable", 2000},
    {"load", bench_load, "JSON lines, against RocksDB", 2000},
    {"lua", bench_lua, "a scan and finds by a script, against the same in C",
     2000},
    {"paper", bench_paper, "the paper's tables and figures, reproduced", 20000},
    {"peers", bench_peers, "Colander compared with databases and stores", 2000},
    {"probe", bench_probe, "which of many filters: by turns, tree, slices",
     100},
    {"range", bench_range, "ranges, prefixes and order, against SQLite", 2000},
    {"resources", bench_resources, "memory and descriptors, also of many files",
     20000},
    {"retain", bench_retain, "old rows deleted while others are put; bytes",
     2000},
#ifdef COLANDER_SERVER
    {"serve", bench_serve, "requests to a server, against PostgreSQL and Redis",
     2000},
#endif
    {"space", bench_space, "bytes of filters, also of real rows (--data)",
     2000},
    {"stores", bench_stores, "64 stores with one budget, against one store",
     64000},
    {"text", bench_text,
     "words, phrases and patterns; FTS5; real rows (--data)", 2000},
    {"put", bench_put, "rows in batches, against the bare RocksDB C API", 2000},
};

#define EXPERIMENTS (sizeof(experiments) / sizeof(experiments[0]))

static void
print_help(void)
{
    printf("usage: colander-bench EXPERIMENT [OPTION...]\n\n"
           "Measures ways of doing one thing in turns and prints the medians.\n"
           "Use a release build on a machine that does nothing else.\n\n");
    for (size_t i = 0; i < EXPERIMENTS; i++)
        printf("  %-12s %s\n", experiments[i].name, experiments[i].about);
    printf("  %-12s %s\n", "quick", "all of them, small: do they still work?");
    printf("\n  --rows N     rows to use\n"
           "  --rounds N   repetitions of each way (5)\n"
           "  --dir DIR    where stores are made and removed ($TMPDIR, /tmp)\n"
           "  --data FILE  real rows: .jsonl or .csv, .gz or not; repeatable\n"
           "  --out DIR    a report with CSV files and plots (paper, peers)\n"
           "  --json       one JSON object on the last line (not of paper and "
           "peers)\n"
           "  --help       this\n");
}

static _Noreturn void
fail_usage(const char *problem, const char *text)
{
    (void)fprintf(stderr, "colander-bench: %s '%s', see --help\n", problem,
                  text);
    exit(2);
}

/* Parses a whole number above 0. */
static uint64_t
parse_count(const char *problem, const char *text, uint64_t most)
{
    char *end;
    uint64_t number;

    errno = 0;
    number = strtoull(text, &end, 10);
    if (*text < '0' || *text > '9' || errno != 0 || *end != '\0' ||
        number == 0 || number > most)
        fail_usage(problem, text);
    return number;
}

static bool
parse_options(int argc, char **argv, struct bench_options *options)
{
    static const struct option known[] = {
        {"rows", required_argument, NULL, 'n'},
        {"rounds", required_argument, NULL, 'r'},
        {"dir", required_argument, NULL, 'd'},
        {"data", required_argument, NULL, 'f'},
        {"out", required_argument, NULL, 'o'},
        {"json", no_argument, NULL, 'j'},
        {"help", no_argument, NULL, 'h'},
        {NULL, 0, NULL, 0},
    };
    int choice;

    while ((choice = getopt_long(argc, argv, "", known, NULL)) != -1) {
        switch (choice) {
        case 'n':
            options->rows = parse_count("--rows needs a number above 0, not",
                                        optarg, UINT64_MAX);
            break;
        case 'r':
            options->rounds = (unsigned)parse_count(
                "--rounds needs a number above 0, not", optarg, UINT_MAX);
            break;
        case 'd':
            options->directory = optarg;
            break;
        case 'f':
            if (options->file_count == BENCH_FILES_MAX)
                fail_usage("--data has too many files:", optarg);
            if (access(optarg, R_OK) != 0)
                bench_fail(optarg, strerror(errno));
            options->files[options->file_count++] = optarg;
            break;
        case 'o':
            options->report_directory = optarg;
            break;
        case 'j':
            options->is_json = true;
            break;
        case 'h':
            print_help();
            exit(0);
        default:
            return false;
        }
    }
    return true;
}

/* ------------------------------------------------------------- quick --- */

/* Runs an experiment in a child, which writes its files in `directory`. */
static bool
run_quickly(const struct experiment *experiment, const char *directory)
{
    char report[4200];
    const struct bench_options options = {
        .rows = experiment->quick_rows,
        .rounds = 1,
        .is_json = true,
        .directory = directory,
        .report_directory = report,
    };
    pid_t child;

    (void)snprintf(report, sizeof(report), "%s/%s", directory,
                   experiment->name);
    child = bench_guard_fork(SIGKILL);
    if (child == 0) {
        experiment->run(&options);
        exit(0);
    }
    return bench_guard_await(child) == 0;
}

/* Runs all experiments, each in a separate process with few rows, even after
 * one has failed. Returns 1 if one failed. Times do not matter. */
static int
run_all_quickly(const char *directory)
{
    unsigned failed_count = 0;

    for (size_t i = 0; i < EXPERIMENTS; i++) {
        const double start = bench_now();
        bool is_ok;

        printf("=== %s\n", experiments[i].name);
        is_ok = run_quickly(&experiments[i], directory);
        printf("=== %s: %s, %.1f s\n", experiments[i].name,
               is_ok ? "works" : "FAILED", bench_now() - start);
        failed_count += !is_ok;
    }
    printf("quick: %zu experiments, %u failed\n", EXPERIMENTS, failed_count);
    return failed_count > 0;
}

/* --------------------------------------------------------------- main --- */

struct task {
    const struct experiment *experiment; /* NULL: quick */
    struct bench_options options;
};

static int
work(void *context)
{
    const struct task *task = context;
    int code = 0;

    if (task->experiment == NULL)
        code = run_all_quickly(task->options.directory);
    else
        task->experiment->run(&task->options);
    if (fflush(stdout) != 0 || ferror(stdout))
        bench_fail("results", "could not be written");
    return code;
}

static void
clean(void *context)
{
    const struct task *task = context;

    temporary_remove(task->options.directory);
}

/* Removes all stores, however it ends. */
static int
run(struct task *task)
{
    char *directory = bench_make_directory(&task->options);
    int code;

    task->options.directory = directory;
    code = bench_guard_run(work, clean, task);
    free(directory);
    return code;
}

static bool
find_experiment(const char *name, struct task *task)
{
    if (strcmp(name, "quick") == 0)
        return true;
    for (size_t i = 0; i < EXPERIMENTS; i++) {
        task->experiment = &experiments[i];
        if (strcmp(name, task->experiment->name) == 0)
            return true;
    }
    return false;
}

int
main(int argc, char **argv)
{
    const char *temporary = getenv("TMPDIR");
    struct task task = {
        .options = {.rounds = 5,
                    .directory = temporary == NULL ? "/tmp" : temporary},
    };

    if (!parse_options(argc, argv, &task.options))
        return 2;
    if (optind == argc) {
        (void)fprintf(stderr, "colander-bench: which experiment? see --help\n");
        return 2;
    }
    if (optind + 1 < argc)
        fail_usage("one experiment at a time, not also", argv[optind + 1]);
    if (!find_experiment(argv[optind], &task))
        fail_usage("there is no experiment", argv[optind]);
    return run(&task);
}
