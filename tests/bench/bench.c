/*
 * What the experiments share.
 *
 * SPDX-License-Identifier: MIT
 */
#include "bench.h"

#include <ftw.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

double
bench_now(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

double
bench_processor_now(void)
{
    struct timespec now;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

uint64_t
bench_mix(uint64_t x)
{
    x = (x + 1) * UINT64_C(0x9e3779b97f4a7c15);
    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
    return x ^ x >> 31;
}

static int
compare_doubles(const void *a, const void *b)
{
    const double *left = a;
    const double *right = b;

    return (*left > *right) - (*left < *right);
}

double
bench_median(double *values, size_t count)
{
    qsort(values, count, sizeof(*values), compare_doubles);
    if (count % 2 == 1)
        return values[count / 2];
    return (values[count / 2 - 1] + values[count / 2]) / 2;
}

double
bench_middle(const double *values, size_t count)
{
    double *copy = bench_allocate(count, sizeof(*copy));
    double middle;

    memcpy(copy, values, count * sizeof(*copy));
    middle = bench_median(copy, count);
    free(copy);
    return middle;
}

double
bench_ratio(const double *a, const double *b, size_t count)
{
    double *ratios = bench_allocate(count, sizeof(*ratios));
    double middle;

    for (size_t i = 0; i < count; i++)
        ratios[i] = a[i] / b[i];
    middle = bench_median(ratios, count);
    free(ratios);
    return middle;
}

void *
bench_allocate(size_t count, size_t size)
{
    void *memory = calloc(count, size);

    if (memory == NULL)
        bench_fail("cannot go on", "no memory");
    return memory;
}

void
bench_progress(const char *format, ...)
{
    va_list arguments;

    if (!isatty(STDERR_FILENO))
        return;
    (void)fputs("\r\033[K", stderr);
    va_start(arguments, format);
    (void)vfprintf(stderr, format, arguments);
    va_end(arguments);
    (void)fflush(stderr);
}

void
bench_fail(const char *what, const char *message)
{
    (void)fprintf(stderr, "colander-bench: %s: %s\n", what, message);
    exit(1);
}

void
bench_check(enum colander_code code, const struct colander_error *err)
{
    if (code != COLANDER_OK)
        bench_fail(colander_code_name(code), err->message);
}

const char *
bench_make_directory(const struct bench_options *options)
{
    static char path[4096];

    (void)snprintf(path, sizeof(path), "%s/colander-bench-XXXXXX",
                   options->directory);
    /* a server of another user has to get through */
    if (mkdtemp(path) == NULL || chmod(path, 0711) != 0)
        bench_fail("cannot make a directory", path);
    return path;
}

static int
remove_entry(const char *path, const struct stat *status, int kind,
             struct FTW *place)
{
    (void)status;
    (void)kind;
    (void)place;
    return remove(path);
}

void
bench_remove_directory(const char *path)
{
    (void)nftw(path, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
}
