/*
 * resources: what processes need that load a store, scan it, ask it again and
 * again, and open one of many files: memory and descriptors.
 *
 * Each is a process of its own, with default options but for small files.
 * Memory is all that it has at most, with its program, and without what the
 * system keeps of files.
 *
 * SPDX-License-Identifier: MIT
 */
#include "bench_store.h"

#include "columns/bulk.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#define ROWS 10000000
#define ROWS_A_FIND 10         /* a million finds in ten million rows */
#define SMALL_SST (64 << 10)   /* the least that options allow */
#define ROWS_OF_SMALL_SST 1100 /* about */
#define FILES_OPEN_MAX 1024    /* what a system gives a process */

enum task { LOAD, SCAN, FIND, BULK, OPEN, TASKS };

static const char *const names[TASKS] = {"load", "scan", "finds",
                                         "bulk of small files", "open these"};
static const char *const keys[TASKS] = {"load", "scan", "find", "bulk_small",
                                        "open_small"};

/* What a process tells of itself, and what the system does of it. */
struct need {
    double seconds; /* of the work itself */
    double settled; /* MB that it had when it had begun... */
    double last;    /* ...and in the end */
    double most;
    uint64_t files;       /* SST files of the store */
    uint64_t descriptors; /* of the store */
};

struct experiment {
    const struct bench_options *options;
    uint64_t rows;
    uint64_t finds;
    char *path;  /* of the store */
    char *small; /* of one with small files */
    struct need needs[TASKS];
};

/* ------------------------------------------------------- of this process ---
 */

/* MB that it has in memory now. */
static double
memory_now(void)
{
    FILE *file = fopen("/proc/self/statm", "r");
    unsigned long all;
    unsigned long resident;

    if (file == NULL || fscanf(file, "%lu %lu", &all, &resident) != 2)
        bench_fail("/proc/self/statm", "cannot be read");
    (void)fclose(file);
    return (double)resident * (double)sysconf(_SC_PAGESIZE) / 1e6;
}

static uint64_t
count_descriptors(void)
{
    DIR *listing = opendir("/proc/self/fd");
    uint64_t count = 0;

    while (listing != NULL && readdir(listing) != NULL)
        count++;
    if (listing != NULL)
        (void)closedir(listing);
    return count;
}

/* ---------------------------------------------------------------- tasks --- */

static void
load(const struct experiment *it, struct bench_store *store, struct need *need)
{
    (void)need;
    bench_store_load(store, it->rows, 0, it->rows);
    bench_store_settle(store);
}

static void
scan(const struct experiment *it, struct bench_store *store, struct need *need)
{
    struct colander_error err;
    struct colander_predicate *where =
        colander_where("likes", COLANDER_GE, colander_integer(0), &err);

    (void)need;
    if (where == NULL)
        bench_fail("scan", err.message);
    if (bench_store_scan(store, where, NULL, NULL) != it->rows)
        bench_fail("scan", "it did not find all rows");
}

/* Of all kinds, in turns. */
static void
find(const struct experiment *it, struct bench_store *store, struct need *need)
{
    for (uint64_t i = 0; i < it->finds; i++) {
        const enum bench_kind kind = (enum bench_kind)(i % (BENCH_ANY + 1));
        struct bench_question question;

        bench_question_make(&question, kind, it->rows, i);
        if (bench_find_rows(store, &question) != question.expected)
            bench_fail("find", "it did not find what is there");
        if (i == it->finds / 10)
            need->settled = memory_now();
        if (i % 100000 == 0)
            bench_progress("%.1f of %.1f M finds", (double)i / 1e6,
                           (double)it->finds / 1e6);
    }
    bench_progress("%s", "");
}

static void
write_small(const struct experiment *it, struct bench_store *store,
            struct need *need)
{
    struct colander_bulk *bulk;
    struct colander_error err;
    struct bench_maker maker;

    (void)need;
    bench_maker_init(&maker, it->rows);
    bench_check(colander_bulk_create(store->family, &bulk, &err), &err);
    for (uint64_t i = 0; i < it->rows / 1000 * ROWS_OF_SMALL_SST; i++) {
        struct colander_slice key;
        struct colander_slice row;

        bench_make(&maker, i, &key, &row);
        bench_check(colander_bulk_add(bulk, key, row, &err), &err);
    }
    bench_check(colander_bulk_commit(bulk, NULL, &err), &err);
    colander_bulk_destroy(bulk);
    bench_maker_release(&maker);
}

static void
do_nothing(const struct experiment *it, struct bench_store *store,
           struct need *need)
{
    (void)it;
    (void)store;
    (void)need;
}

static void
run_task(const struct experiment *it, enum task task, struct need *need)
{
    static void (*const works[TASKS])(
        const struct experiment *it, struct bench_store *store,
        struct need *need) = {load, scan, find, write_small, do_nothing};
    const bool is_small = task == BULK || task == OPEN;
    struct colander_options options;
    const uint64_t before = count_descriptors();
    struct bench_store store;
    double began = bench_now();

    colander_options_init(&options);
    if (task == BULK)
        options.sst_size = SMALL_SST;
    bench_store_open(&store, is_small ? it->small : it->path, &options, NULL);
    if (task != OPEN)
        began = bench_now();
    works[task](it, &store, need);
    need->seconds = bench_now() - began;
    need->last = memory_now();
    need->descriptors = count_descriptors() - before;
    need->files = bench_store_sizes(&store).sst_count;
    bench_store_close(&store);
}

/* In a process of its own, which tells through a pipe. */
static void
measure(struct experiment *it, enum task task)
{
    struct need *need = &it->needs[task];
    struct rusage usage;
    int ends[2];
    int status;
    pid_t child;

    bench_progress("%s", names[task]);
    if (pipe(ends) != 0)
        bench_fail("cannot make a pipe", strerror(errno));
    child = fork();
    if (child < 0)
        bench_fail("cannot start a process", strerror(errno));
    if (child == 0) {
        run_task(it, task, need);
        _exit(write(ends[1], need, sizeof(*need)) != sizeof(*need));
    }
    (void)close(ends[1]);
    if (wait4(child, &status, 0, &usage) != child || status != 0 ||
        read(ends[0], need, sizeof(*need)) != sizeof(*need))
        bench_fail(names[task], "it failed in a process of its own");
    (void)close(ends[0]);
    need->most = (double)usage.ru_maxrss * 1024 / 1e6;
}

/* -------------------------------------------------------------- telling --- */

static void
print(const struct experiment *it)
{
    const struct need *find = &it->needs[FIND];

    printf("resources: %" PRIu64 " rows, %" PRIu64 " finds\n"
           "                       seconds   MB at most   SST files   "
           "descriptors\n",
           it->rows, it->finds);
    for (enum task task = 0; task < TASKS; task++) {
        const struct need *need = &it->needs[task];

        printf("  %-20s %8.2f %12.0f %11" PRIu64 " %13" PRIu64 "\n",
               names[task], need->seconds, need->most, need->files,
               need->descriptors);
    }
    printf("  MB after a tenth of the finds %.1f, after all %.1f\n",
           find->settled, find->last);
    if (!it->options->is_json)
        return;
    printf("{\"experiment\":\"resources\",\"rows\":%" PRIu64
           ",\"finds\":%" PRIu64,
           it->rows, it->finds);
    for (enum task task = 0; task < TASKS; task++) {
        const struct need *need = &it->needs[task];

        printf(",\"%s\":{\"seconds\":%.3f,\"peak_mb\":%.1f,\"files\":%" PRIu64
               ",\"descriptors\":%" PRIu64 "}",
               keys[task], need->seconds, need->most, need->files,
               need->descriptors);
    }
    printf(",\"find_settled_mb\":%.1f,\"find_last_mb\":%.1f}\n", find->settled,
           find->last);
}

static char *
make_path(const struct bench_options *options)
{
    char *path = strdup(bench_make_directory(options));

    if (path == NULL)
        bench_fail("resources", "no memory");
    return path;
}

static void
remove_path(char *path)
{
    bench_remove_directory(path);
    free(path);
}

int
bench_resources(const struct bench_options *options)
{
    const struct rlimit files = {FILES_OPEN_MAX, FILES_OPEN_MAX};
    struct experiment it = {.options = options};

    it.rows = bench_round_rows(options->rows == 0 ? ROWS : options->rows);
    it.finds = it.rows / ROWS_A_FIND;
    it.path = make_path(options);
    it.small = make_path(options);
    if (setrlimit(RLIMIT_NOFILE, &files) != 0)
        bench_fail("cannot limit the number of files", strerror(errno));
    for (enum task task = 0; task < TASKS; task++)
        measure(&it, task);
    print(&it);
    remove_path(it.path);
    remove_path(it.small);
    return 0;
}
