/*
 * predicate: `user = 'x'` evaluated over encoded rows in memory, and beside it
 * any column = 'x'.
 *
 * SPDX-License-Identifier: MIT
 */
#include "bench.h"

#include <stdlib.h>

static double
evaluate_all(const struct bench_rows *rows,
             const struct colander_predicate *predicate, uint64_t *matched)
{
    struct colander_error err;
    double start = bench_now();

    *matched = 0;
    for (uint64_t i = 0; i < rows->count; i++) {
        bool is_match;

        bench_check(colander_predicate_evaluate(predicate, bench_row(rows, i),
                                                &is_match, NULL, &err),
                    &err);
        *matched += is_match;
    }
    return bench_now() - start;
}

int
bench_predicate(const struct bench_options *options)
{
    uint64_t count = options->rows == 0 ? 1000000 : options->rows;
    struct colander_value wanted = colander_text("user4711");
    struct colander_error err;
    struct colander_predicate *named =
        colander_where("user", COLANDER_EQ, wanted, &err);
    struct colander_predicate *any = colander_where_any(wanted, &err);
    double *named_times = calloc(options->rounds, sizeof(double));
    double *any_times = calloc(options->rounds, sizeof(double));
    struct bench_rows rows;
    uint64_t named_matched = 0;
    uint64_t any_matched = 0;
    double named_rate;
    double any_rate;

    if (named == NULL || any == NULL || named_times == NULL ||
        any_times == NULL)
        bench_fail("predicate", "no memory");
    bench_rows_make(&rows, count);
    for (unsigned round = 0; round < options->rounds; round++) {
        named_times[round] = evaluate_all(&rows, named, &named_matched);
        any_times[round] = evaluate_all(&rows, any, &any_matched);
    }
    if (named_matched != any_matched)
        bench_fail("predicate", "the two questions disagree");
    named_rate = (double)count / bench_median(named_times, options->rounds);
    any_rate = (double)count / bench_median(any_times, options->rounds);
    printf("predicate: %llu rows of 6 columns, %llu match, median of %u "
           "rounds\n"
           "  user = 'x'       %10.0f rows/s\n"
           "  any column = 'x' %10.0f rows/s\n",
           (unsigned long long)count, (unsigned long long)named_matched,
           options->rounds, named_rate, any_rate);
    if (options->is_json)
        printf("{\"experiment\":\"predicate\",\"rows\":%llu,\"rounds\":%u,"
               "\"rows_per_second\":%.0f,\"any_rows_per_second\":%.0f}\n",
               (unsigned long long)count, options->rounds, named_rate,
               any_rate);
    bench_rows_release(&rows);
    colander_predicate_destroy(named);
    colander_predicate_destroy(any);
    free(named_times);
    free(any_times);
    return 0;
}
