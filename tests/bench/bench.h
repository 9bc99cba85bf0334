/*
 * What the experiments of colander-bench share.
 *
 * An experiment measures ways of doing one thing in turns, several rounds in
 * one run, and tells medians and their ratios: absolute times depend on the
 * machine, ratios much less.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BENCH_H
#define BENCH_H

#include "columns/columns.h"

#include <stdio.h>

#define BENCH_FILES_MAX 64
#define BENCH_ENTRIES_MAX 8

struct bench_options {
    uint64_t rows;         /* 0: what the experiment suggests */
    unsigned rounds;       /* of each way */
    bool is_json;          /* one object on the last line */
    const char *directory; /* of this run, for stores; removed after it */
    const char *report_directory;       /* for a report; NULL: none */
    const char *files[BENCH_FILES_MAX]; /* of real rows */
    size_t file_count;
    uint64_t entries[BENCH_ENTRIES_MAX]; /* of paper, ascending */
    size_t entry_count;                  /* 0: what it suggests */
};

/* An experiment: prints its results, gives the exit code. */
typedef int bench_experiment(const struct bench_options *options);

bench_experiment bench_bulk;
bench_experiment bench_find;
bench_experiment bench_growth;
bench_experiment bench_ingest;
bench_experiment bench_live;
bench_experiment bench_load;
bench_experiment bench_lua;
bench_experiment bench_paper;
bench_experiment bench_peers;
bench_experiment bench_predicate;
bench_experiment bench_probe;
bench_experiment bench_put;
bench_experiment bench_resources;
bench_experiment bench_space;

/* An experiment as it is asked for. */
struct bench_listed {
    const char *name;
    bench_experiment *run;
    const char *about;
    uint64_t quick_rows; /* as few as it takes: for `quick` */
};

/* Runs all of them once, each in a process of its own, with few rows. Gives 1
 * when one failed, whatever time they take. */
int bench_quick(const struct bench_options *options,
                const struct bench_listed *experiments, size_t count);

/* Seconds on a clock that only goes forward. */
double bench_now(void);

/* Seconds that processors worked for this process, in all threads. */
double bench_processor_now(void);

/* The x-th random number: different for different x. */
uint64_t bench_mix(uint64_t x);

/* The middle of `count` values, which it sorts. */
double bench_median(double *values, size_t count);

/* Ends the program with what went wrong. */
_Noreturn void bench_fail(const char *what, const char *message);

/* Fails unless `code` is OK. */
void bench_check(enum colander_code code, const struct colander_error *err);

/* Allocates zeroed memory for the caller to free; ends the program without. */
void *bench_allocate(size_t count, size_t size);

/* One line about what is under way, when somebody looks at stderr. */
void bench_progress(const char *format, ...) COLANDER_FORMAT(1, 2);

/* The middle of `count` values, and of a[i] / b[i]; these stay as they are. */
double bench_middle(const double *values, size_t count);
double bench_ratio(const double *a, const double *b, size_t count);

/* Makes and removes a directory below that of the run; the path is static. */
const char *bench_make_directory(const struct bench_options *options);
void bench_remove_directory(const char *path);

/* Generated rows of 6 small columns under keys in random order, encoded. */
struct bench_rows {
    struct colander_buffer bytes;
    size_t *offsets; /* key i: 2i to 2i+1; row i: 2i+1 to 2i+2 */
    uint64_t count;
};

void bench_rows_make(struct bench_rows *rows, uint64_t count);
void bench_rows_release(struct bench_rows *rows);

static inline struct colander_slice
bench_key(const struct bench_rows *rows, uint64_t i)
{
    const size_t *at = rows->offsets + 2 * i;

    return colander_slice_of(rows->bytes.data + at[0], at[1] - at[0]);
}

static inline struct colander_slice
bench_row(const struct bench_rows *rows, uint64_t i)
{
    const size_t *at = rows->offsets + 2 * i + 1;

    return colander_slice_of(rows->bytes.data + at[0], at[1] - at[0]);
}

#endif
