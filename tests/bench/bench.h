/*
 * What the experiments of colander-bench share.
 *
 * An experiment measures ways of doing one thing in turns, several rounds in
 * one run, and reports medians and their ratios. Absolute times depend on the
 * machine, ratios much less.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BENCH_H
#define BENCH_H

#include "columns/columns.h"
#include "core/clock.h"

#include <stdio.h>

#define BENCH_FILES_MAX 64
#define BENCH_BATCH 1000 /* rows */

struct bench_options {
    uint64_t rows;         /* 0: what the experiment suggests */
    unsigned rounds;       /* of each way */
    bool is_json;          /* one object on the last line */
    const char *directory; /* of this run, for stores; removed after it */
    const char *report_directory;       /* for a report; NULL: none */
    const char *files[BENCH_FILES_MAX]; /* of real rows */
    size_t file_count;
};

/* Runs an experiment and prints its results. A failure ends the program. */
typedef void bench_experiment(const struct bench_options *options);

bench_experiment bench_bulk;
bench_experiment bench_cluster;
bench_experiment bench_find;
bench_experiment bench_follow;
bench_experiment bench_group;
bench_experiment bench_growth;
bench_experiment bench_ingest;
bench_experiment bench_live;
bench_experiment bench_load;
bench_experiment bench_lua;
bench_experiment bench_paper;
bench_experiment bench_peers;
bench_experiment bench_probe;
bench_experiment bench_put;
bench_experiment bench_range;
bench_experiment bench_resources;
bench_experiment bench_retain;
bench_experiment bench_serve;
bench_experiment bench_space;
bench_experiment bench_stores;
bench_experiment bench_text;

/* Returns seconds on a monotonic clock. */
static inline double
bench_now(void)
{
    return clock_seconds();
}

/* Returns the processor seconds used by this process, in all its threads, or by
 * this thread. */
double bench_processor_now(void);
double bench_thread_now(void);

/* The x-th random number: different for different x. */
uint64_t bench_mix(uint64_t x);

/* Ends the program and reports what went wrong. */
_Noreturn void bench_fail(const char *what, const char *message);

/* Ends the program unless `code` is OK. The call that returned it gets
 * &bench_error. */
void bench_check(enum colander_code code);
extern _Thread_local struct colander_error bench_error;

/* Allocates zeroed memory. Free it. */
void *bench_allocate(size_t count, size_t size);

/* Replaces the line about the current step, if stderr is a terminal. */
void bench_progress(const char *format, ...) COLANDER_FORMAT(1, 2);

/* The median of `count` values, and of a[i] / b[i]. */
double bench_median(const double *values, size_t count);
double bench_ratio(const double *a, const double *b, size_t count);

/* Creates a directory below that of the run. Free the path, or pass it to
 * bench_remove_directory. */
char *bench_make_directory(const struct bench_options *options);
void bench_remove_directory(char *path);

/* Copies a string. Free it. */
char *bench_copy(const char *text);

/* Appends to a buffer. */
void bench_append(struct colander_buffer *buffer, const void *data,
                  size_t size);

/* Appends formatted text, with a zero byte that does not count. */
void bench_print(struct colander_buffer *buffer, const char *format, ...)
    COLANDER_FORMAT(2, 3);

/* Closes a file that was written, and fails if a write failed. */
void bench_close_written(FILE *file, const char *name);
FILE *bench_open_new(const char *path);

#endif
