/*
 * What the experiments share.
 *
 * SPDX-License-Identifier: MIT
 */
#include "bench.h"
#include "tests/support/temporary.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static double
seconds_of(clockid_t clock)
{
    struct timespec now;

    (void)clock_gettime(clock, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

double
bench_processor_now(void)
{
    return seconds_of(CLOCK_PROCESS_CPUTIME_ID);
}

double
bench_thread_now(void)
{
    return seconds_of(CLOCK_THREAD_CPUTIME_ID);
}

uint64_t
bench_mix(uint64_t x)
{
    x = (x + 1) * UINT64_C(0x9e3779b97f4a7c15);
    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
    return x ^ x >> 31;
}

_Thread_local struct colander_error bench_error;

static int
compare_doubles(const void *a, const void *b)
{
    const double *left = a;
    const double *right = b;

    return (*left > *right) - (*left < *right);
}

double
bench_median(const double *values, size_t count)
{
    double *copy = bench_allocate(count, sizeof(*copy));
    double median;

    memcpy(copy, values, count * sizeof(*copy));
    qsort(copy, count, sizeof(*copy), compare_doubles);
    median = (copy[(count - 1) / 2] + copy[count / 2]) / 2;
    free(copy);
    return median;
}

double
bench_ratio(const double *a, const double *b, size_t count)
{
    double *ratios = bench_allocate(count, sizeof(*ratios));
    double median;

    for (size_t i = 0; i < count; i++)
        ratios[i] = a[i] / b[i];
    median = bench_median(ratios, count);
    free(ratios);
    return median;
}

void *
bench_allocate(size_t count, size_t size)
{
    void *memory = calloc(count, size);

    if (memory == NULL)
        bench_fail("cannot continue", "no memory");
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
bench_check(enum colander_code code)
{
    if (code != COLANDER_OK)
        bench_fail(colander_code_name(code), bench_error.message);
}

char *
bench_copy(const char *text)
{
    char *copy = strdup(text);

    if (copy == NULL)
        bench_fail("cannot continue", "no memory");
    return copy;
}

void
bench_append(struct colander_buffer *buffer, const void *data, size_t size)
{
    bench_check(colander_buffer_append(buffer, data, size, &bench_error));
}

void
bench_print(struct colander_buffer *buffer, const char *format, ...)
{
    va_list arguments;
    char *text;
    int size;

    va_start(arguments, format);
    size = vasprintf(&text, format, arguments);
    va_end(arguments);
    if (size < 0)
        bench_fail("cannot continue", "no memory");
    bench_append(buffer, text, (size_t)size + 1);
    buffer->size--;
    free(text);
}

FILE *
bench_open_new(const char *path)
{
    FILE *file = fopen(path, "we");

    if (file == NULL)
        bench_fail(path, strerror(errno));
    return file;
}

void
bench_close_written(FILE *file, const char *name)
{
    const bool is_bad = ferror(file) != 0;

    if (fclose(file) != 0 || is_bad)
        bench_fail(name, "could not be written");
}

char *
bench_make_directory(const struct bench_options *options)
{
    char path[4096];

    (void)snprintf(path, sizeof(path), "%s/colander-bench-XXXXXX",
                   options->directory);
    /* a server of another user has to get through */
    if (mkdtemp(path) == NULL || chmod(path, 0711) != 0)
        bench_fail("cannot create a directory", path);
    return bench_copy(path);
}

void
bench_remove_directory(char *path)
{
    temporary_remove(path);
    free(path);
}
