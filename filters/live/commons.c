/* SPDX-License-Identifier: MIT */
#include "filters/commons.h"

#include "filters/live.h"
#include "filters/locator.h"

#include <stdlib.h>
#include <unistd.h>

/* ----------------------------------------------------------------- life --- */

static void
destroy(void *part)
{
    struct commons *commons = part;

    worker_end_threads(commons);
    block_cache_destroy(commons->cache);
    block_cache_destroy(commons->rows);
    pthread_mutex_destroy(&commons->lend_mutex);
    pthread_mutex_destroy(&commons->mutex);
    pthread_cond_destroy(&commons->changed);
    free(commons);
}

static struct commons *
make(size_t cache_size, uint32_t open_files_max, unsigned threads)
{
    struct commons *created = calloc(1, sizeof(*created));

    if (created == NULL)
        return NULL;
    pthread_mutex_init(&created->lend_mutex, NULL);
    pthread_mutex_init(&created->mutex, NULL);
    pthread_cond_init(&created->changed, NULL);
    created->levels_memory.max = cache_size / 8;
    created->span_bytes_max = cache_size / 16;
    created->descriptors_max = open_files_max / 4;
    created->memory_max = UINT64_MAX;
    created->threads = calloc(threads, sizeof(*created->threads));
    created->thread_max = threads;
    created->cache = block_cache_create(cache_size, LOCATOR_BLOCK_SIZE);
    if (created->threads != NULL && created->cache != NULL)
        return created;
    destroy(created);
    return NULL;
}

/* Blocks of rows may take three quarters of the cache of the engine, Bloom
 * filters an eighth, and the places of blocks a sixteenth. A quarter of the
 * descriptors is for direct reads. */
static bool
make_rows(struct commons *commons, size_t cache_size, uint32_t block_size)
{
    if (commons->rows == NULL)
        commons->rows =
            block_cache_create(cache_size / 4 * 3, block_size + block_size / 8);
    return commons->rows != NULL;
}

static void *
create_part(const struct colander_budget_options *options)
{
    const uint32_t usual_block = 16 << 10;
    const long cores = sysconf(_SC_NPROCESSORS_ONLN);
    unsigned threads = options->thread_count;
    struct commons *created;

    if (threads == 0)
        threads = cores > 0 ? (unsigned)cores : 1;
    created = make(options->cache_size, options->open_files_max, threads);
    if (created == NULL)
        return NULL;
    created->memory_max = options->filter_memory;
    if (make_rows(created, options->cache_size, usual_block))
        return created;
    destroy(created);
    return NULL;
}

static void
report_use(void *part, struct colander_budget_use *use)
{
    struct commons *commons = part;
    const unsigned open = atomic_load(&commons->open_count);

    /* more may be reserved for a moment, and are not opened */
    use->file_count +=
        open < commons->descriptors_max ? open : commons->descriptors_max;
    use->filter_memory += atomic_load(&commons->memory);
}

enum colander_code
commons_open(const struct colander_options *options, struct commons **commons,
             struct colander_error *err)
{
    static const struct budget_part kind = {create_part, destroy, report_use};

    *commons = options->budget != NULL
                   ? budget_get_part(options->budget, &kind)
                   : make(options->cache_size, options->open_files_max, 1);
    if (*commons == NULL)
        return COLANDER_FAIL(err, COLANDER_NO_MEMORY, "no memory for filters");
    if (options->budget == NULL)
        return COLANDER_OK;
    pthread_mutex_lock(&(*commons)->mutex);
    if ((*commons)->budget == NULL)
        (*commons)->budget = options->budget;
    pthread_mutex_unlock(&(*commons)->mutex);
    return COLANDER_OK;
}

enum colander_code
commons_open_rows(struct commons *commons,
                  const struct colander_options *options,
                  struct colander_error *err)
{
    if (make_rows(commons, options->cache_size, options->block_size))
        return COLANDER_OK;
    return COLANDER_FAIL(err, COLANDER_NO_MEMORY, "no memory for filters");
}

void
commons_close(struct commons *commons)
{
    if (commons == NULL)
        return;
    if (commons->budget != NULL)
        colander_budget_release(commons->budget); /* which may destroy them */
    else
        destroy(commons);
}

/* --------------------------------------------------------------- memory --- */

uint64_t
commons_memory_share(struct commons *commons)
{
    const uint64_t families = atomic_load(&commons->memory_shares);

    return commons->memory_max / (families > 0 ? families : 1);
}

uint64_t
commons_memory_for(struct commons *commons, uint64_t bytes)
{
    const uint64_t used = atomic_load(&commons->memory);
    const uint64_t share = commons_memory_share(commons);
    const uint64_t max = commons->memory_max;

    if (used < max && bytes < UINT64_MAX - (max - used))
        bytes += max - used;
    return bytes > share ? bytes : share;
}

void
commons_memory_change(struct commons *commons, uint64_t before, uint64_t after)
{
    if (before == 0 && after > 0)
        atomic_fetch_add(&commons->memory_shares, 1);
    if (before > 0 && after == 0)
        atomic_fetch_sub(&commons->memory_shares, 1);
    atomic_fetch_add(&commons->memory, after - before);
    if (after > before && commons_memory_is_short(commons))
        worker_kick_all(commons);
}

bool
commons_memory_is_short(struct commons *commons)
{
    return atomic_load(&commons->memory) > commons->memory_max;
}
