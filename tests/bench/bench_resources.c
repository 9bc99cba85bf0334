/*
 * resources: memory and descriptors of processes that load a store, scan it,
 * query it many times, and open a store of many files.
 *
 * Each is a separate process, with default options except for small files.
 * Memory is the peak of the process with its program, without the system's
 * cache of files.
 *
 * SPDX-License-Identifier: MIT
 */
#include "bench_figures.h"
#include "bench_guard.h"
#include "bench_store.h"

#include "columns/bulk.h"

#include <dirent.h>
#include <errno.h>
#include <sys/resource.h>
#include <unistd.h>

#define ROWS 10000000
#define ROWS_A_FIND 10         /* a million finds in ten million rows */
#define SMALL_SST (64 << 10)   /* the least that options allow */
#define ROWS_OF_SMALL_SST 1100 /* about */
#define FILES_OPEN_MAX 1024    /* a common limit of a process */

enum task { LOAD, SCAN, FIND, BULK, OPEN, TASKS };

static const char *const names[TASKS] = {"load", "scan", "find", "bulk_small",
                                         "open_small"};

/* The results of a process, and `most` from the system. */
struct need {
    double seconds; /* of the work itself */
    double settled; /* MB in use when it had begun... */
    double last;    /* ...and at the end */
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
    enum task task;
    struct need needs[TASKS];
};

/* ------------------------------------------------------ of this process --- */

/* Returns the MB that it has in memory now. */
static double
memory_now(void)
{
    FILE *file = fopen("/proc/self/statm", "re");
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
scan(const struct experiment *it, struct bench_store *store)
{
    struct colander_predicate *where = bench_sound(colander_where(
        "likes", COLANDER_GE, colander_integer(0), &bench_error));

    if (bench_store_scan(store, where, NULL, NULL) != it->rows)
        bench_fail("scan", "it did not find all rows");
}

/* Of all kinds, in turns. */
static void
find(const struct experiment *it, struct bench_store *store, struct need *need)
{
    static const enum bench_kind kinds[] = {BENCH_FIVE, BENCH_TWENTY,
                                            BENCH_ABSENT, BENCH_ANY};

    for (uint64_t i = 0; i < it->finds; i++) {
        const enum bench_kind kind = kinds[i % 4];
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
add_to_bulk(void *context, struct colander_slice key, struct colander_slice row)
{
    bench_check(colander_bulk_add(context, key, row, &bench_error));
}

static void
write_small(const struct experiment *it, struct bench_store *store)
{
    struct colander_bulk *bulk;

    bench_check(colander_bulk_create(store->family, &bulk, &bench_error));
    bench_make_rows(it->rows, 0, it->rows / 1000 * ROWS_OF_SMALL_SST,
                    add_to_bulk, bulk);
    bench_check(colander_bulk_commit(bulk, NULL, &bench_error));
    colander_bulk_destroy(bulk);
}

static void
work(const struct experiment *it, struct bench_store *store, struct need *need)
{
    if (it->task == LOAD)
        bench_store_load(store, it->rows);
    else if (it->task == SCAN)
        scan(it, store);
    else if (it->task == FIND)
        find(it, store, need);
    else if (it->task == BULK)
        write_small(it, store);
}

static void
run_task(void *context, void *result)
{
    const struct experiment *it = context;
    const enum task task = it->task;
    struct need *need = result;
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
    work(it, &store, need);
    need->seconds = bench_now() - began;
    need->last = memory_now();
    need->descriptors = count_descriptors() - before;
    need->files = bench_store_sizes(&store).sst_count;
    bench_store_close(&store);
}

/* ------------------------------------------------------------- figures --- */

static void
print(const struct experiment *it)
{
    struct bench_figures *figures =
        bench_figures_begin(it->options, "resources", it->rows);

    bench_figure(figures, 0, (double)it->finds, "finds");
    for (enum task task = 0; task < TASKS; task++) {
        const struct need *need = &it->needs[task];

        bench_figures_open(figures, names[task], '{');
        bench_figure(figures, 3, need->seconds, "seconds");
        bench_figure(figures, 1, need->most, "peak_mb");
        bench_figure(figures, 0, (double)need->files, "files");
        bench_figure(figures, 0, (double)need->descriptors, "descriptors");
        bench_figures_close(figures, '}');
    }
    bench_figure(figures, 1, it->needs[FIND].settled, "find_settled_mb");
    bench_figure(figures, 1, it->needs[FIND].last, "find_last_mb");
    bench_figures_end(figures);
}

void
bench_resources(const struct bench_options *options)
{
    const struct rlimit files = {FILES_OPEN_MAX, FILES_OPEN_MAX};
    struct experiment it = {.options = options};

    it.rows = bench_round_rows(options, ROWS);
    it.finds = it.rows / ROWS_A_FIND;
    it.path = bench_make_directory(options);
    it.small = bench_make_directory(options);
    if (setrlimit(RLIMIT_NOFILE, &files) != 0)
        bench_fail("cannot limit the number of files", strerror(errno));
    for (it.task = 0; it.task < TASKS; it.task++) {
        struct need need = {0};

        bench_progress("%s", names[it.task]);
        need.most = bench_guard_measure(run_task, &it, &need, sizeof(need));
        it.needs[it.task] = need;
    }
    print(&it);
    bench_remove_directory(it.path);
    bench_remove_directory(it.small);
}
