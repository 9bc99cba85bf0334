/*
 * Real rows from files, loaded into a store that is removed again.
 *
 * SPDX-License-Identifier: MIT
 */
#include "bench_data.h"
#include "bench_store.h"

#include "loading/load.h"

static void
fail_reject(void *context, const struct colander_load_reject *reject)
{
    char where[4200];

    (void)context;
    (void)snprintf(where, sizeof(where), "%s:%llu", reject->file,
                   (unsigned long long)reject->line);
    bench_fail(where, reject->reason);
}

static void
load(struct bench_store *store, const char *path)
{
    static const char *const nulls[] = {"NA"};
    struct colander_load_options options;
    struct colander_load *load;

    colander_load_options_init(&options);
    options.nulls = nulls;
    options.null_count = 1;
    options.report_reject = fail_reject;
    bench_check(colander_load_create(store->store, store->family, &options,
                                     &load, &bench_error));
    bench_check(colander_load_run(load, &path, 1, &bench_error));
    colander_load_destroy(load);
}

/* New keys sort as the records of the file do. */
void
bench_data_read(const struct bench_options *options, const char *path,
                bench_take_keyed *take, void *context)
{
    char *directory = bench_make_directory(options);
    struct bench_store store;

    bench_store_open(&store, directory, NULL, NULL);
    load(&store, path);
    (void)bench_store_find(&store, NULL, take, context, NULL);
    bench_store_close(&store);
    bench_remove_directory(directory);
}
