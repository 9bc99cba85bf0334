/*
 * stores: memory and descriptors of a process that has one store with all rows,
 * and of one that has 64 stores with a part of them each, under the same
 * budget. Both load, compact, and ask about rows in all their stores.
 *
 * Memory is the peak of the process with its program, without the system's
 * cache of files.
 *
 * SPDX-License-Identifier: MIT
 */
#include "bench_figures.h"
#include "bench_guard.h"
#include "bench_store.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define ROWS 6400000
#define STORES 64
#define ROWS_A_FIND 20

/* The results of a process, and `most` from the system. */
struct need {
    double load_seconds;
    double find_seconds;
    double opened; /* MB in use when all stores were open, without a row */
    double last;   /* and at the end */
    double most;
    uint64_t descriptors; /* of the process, at the end, */
    uint64_t ssts;        /* and of these, of SST files */
    uint64_t files;       /* SST files of the stores */
    uint64_t filter_memory;
};

struct experiment {
    const struct bench_options *options;
    uint64_t rows;  /* of all stores */
    uint64_t count; /* stores */
    char *directory;
};

/* Returns the MB that this process has in memory now. */
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

static void
count_descriptors(struct need *need)
{
    DIR *listing = opendir("/proc/self/fd");
    struct dirent *entry;

    while (listing != NULL && (entry = readdir(listing)) != NULL) {
        char target[4096];
        const ssize_t size = readlinkat(dirfd(listing), entry->d_name, target,
                                        sizeof(target) - 1);

        target[size > 0 ? size : 0] = '\0';
        need->descriptors++;
        need->ssts += size > 4 && strcmp(target + size - 4, ".sst") == 0;
    }
    if (listing != NULL)
        (void)closedir(listing);
}

static void
open_stores(const struct experiment *it, struct bench_store *stores,
            struct colander_budget *budget)
{
    struct colander_options options;
    char path[4096];

    colander_options_init(&options);
    options.budget = budget;
    for (uint64_t i = 0; i < it->count; i++) {
        (void)snprintf(path, sizeof(path), "%s/%u", it->directory, (unsigned)i);
        bench_store_open(&stores[i], path, &options, NULL);
    }
}

/* Asks each store in turns. */
static void
find_all(const struct experiment *it, struct bench_store *stores)
{
    static const enum bench_kind kinds[] = {BENCH_FIVE, BENCH_TWENTY,
                                            BENCH_ABSENT, BENCH_ANY};

    for (uint64_t i = 0; i < it->rows / ROWS_A_FIND; i++) {
        struct bench_question question;

        bench_question_make(&question, kinds[i / it->count % 4],
                            it->rows / it->count, i);
        if (bench_find_rows(&stores[i % it->count], &question) !=
            question.expected)
            bench_fail("find", "it did not find what is there");
    }
}

static void
run(void *context, void *result)
{
    const struct experiment *it = context;
    struct bench_store *stores = calloc(it->count, sizeof(*stores));
    struct need *need = result;
    struct colander_budget *budget;
    struct colander_budget_use use;
    double began;

    bench_check(colander_budget_create(NULL, &budget, &bench_error));
    open_stores(it, stores, budget);
    need->opened = memory_now();
    began = bench_now();
    for (uint64_t i = 0; i < it->count; i++)
        bench_store_load(&stores[i], it->rows / it->count);
    need->load_seconds = bench_now() - began;
    began = bench_now();
    find_all(it, stores);
    need->find_seconds = bench_now() - began;
    need->last = memory_now();
    count_descriptors(need);
    colander_budget_measure(budget, &use);
    need->filter_memory = use.filter_memory;
    for (uint64_t i = 0; i < it->count; i++) {
        need->files += bench_store_sizes(&stores[i]).sst_count;
        bench_store_close(&stores[i]);
    }
    colander_budget_release(budget);
    free(stores);
}

static struct need
measure(const struct bench_options *options, uint64_t rows, uint64_t count)
{
    struct experiment it = {options, rows, count,
                            bench_make_directory(options)};
    struct need need = {0};

    bench_progress("%u stores", (unsigned)count);
    need.most = bench_guard_measure(run, &it, &need, sizeof(need));
    bench_remove_directory(it.directory);
    return need;
}

static void
print(struct bench_figures *figures, const char *name, const struct need *need)
{
    bench_figures_open(figures, name, '{');
    bench_figure(figures, 3, need->load_seconds, "load_seconds");
    bench_figure(figures, 3, need->find_seconds, "find_seconds");
    bench_figure(figures, 1, need->opened, "opened_mb");
    bench_figure(figures, 1, need->last, "last_mb");
    bench_figure(figures, 1, need->most, "peak_mb");
    bench_figure(figures, 0, (double)need->files, "files");
    bench_figure(figures, 0, (double)need->descriptors, "descriptors");
    bench_figure(figures, 0, (double)need->ssts, "sst_descriptors");
    bench_figure(figures, 1, (double)need->filter_memory / 1e6, "filter_mb");
    bench_figures_close(figures, '}');
}

void
bench_stores(const struct bench_options *options)
{
    const uint64_t rows =
        bench_round_rows(options, ROWS) / STORES / 1000 * 1000 * STORES;
    const struct need one = measure(options, rows, 1);
    const struct need many = measure(options, rows, STORES);
    struct bench_figures *figures =
        bench_figures_begin(options, "stores", rows);

    print(figures, "one", &one);
    print(figures, "many", &many);
    bench_figure(figures, 3, many.most / one.most, "peak_ratio");
    bench_figure(figures, 3, many.last / one.last, "last_ratio");
    bench_figures_end(figures);
}
