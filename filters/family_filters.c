/*
 * The filters of a family, as programs set and see them.
 *
 * SPDX-License-Identifier: MIT
 */
#include "core/engine.h"
#include "core/sized.h"
#include "filters/live.h"

#include <time.h>

enum colander_code
filters_look_up(struct colander_family *family, struct filters **filters,
                struct engine_family **engine_family,
                struct family_filters **found, struct colander_error *err)
{
    enum colander_code code = family_engine(family, engine_family, err);

    *found = NULL;
    *filters = store_hooks_context(family_store(family));
    if (code != COLANDER_OK || *engine_family == NULL)
        return code;
    *found = registry_family(&(*filters)->registry,
                             engine_family_id(*engine_family), NULL);
    if (*found == NULL)
        return COLANDER_FAIL(err, COLANDER_NO_MEMORY, "no memory for filters");
    return COLANDER_OK;
}

/* ------------------------------------------------------------- settings --- */

/* Waits for the writes that may have used the old settings. */
static void
await_writes(struct filters *filters)
{
    const struct timespec pause = {0, 100000};
    unsigned old = atomic_fetch_add(&filters->epoch, 1) & 1;

    while (atomic_load(&filters->writes[old]) > 0)
        nanosleep(&pause, NULL);
}

/* Applies the settings (taken). Until all rows added under the old ones are in
 * files, finds read the unflushed rows. */
static enum colander_code
change_settings(struct filters *filters, struct engine_family *engine_family,
                struct family_filters *family, struct settings *settings,
                struct colander_error *err)
{
    bool is_on = settings->options.is_on;
    enum colander_code code;

    atomic_store(&family->is_recent_all, false);
    code = registry_set_settings(&filters->registry, family, settings, err);
    await_writes(filters);
    if (code == COLANDER_OK)
        code = engine_family_flush(engine_family, err);
    if (code == COLANDER_OK) {
        atomic_fetch_add(&family->changes, 1); /* before finds rely on it */
        atomic_store(&family->is_recent_all, is_on);
    }
    /* A drop may have discarded the recent rows in the meantime. */
    if (engine_family_is_dropped(engine_family))
        atomic_store(&family->is_recent_all, false);
    worker_kick(filters);
    return code;
}

static enum colander_code
keep_settings(struct filters *filters, struct engine_family *engine_family,
              const struct settings *settings, struct colander_error *err)
{
    struct colander_buffer record = COLANDER_BUFFER_EMPTY;
    char name[RECORD_NAME_MAX];
    enum colander_code code;

    settings_record_name(engine_family_id(engine_family), name);
    code = settings_encode(settings, &record, err);
    if (code == COLANDER_OK)
        code = engine_record_put(filters->engine, name,
                                 colander_buffer_slice(&record), err);
    colander_buffer_release(&record);
    return code;
}

enum colander_code
colander_family_set_filters(struct colander_family *family,
                            const struct colander_filter_options *options,
                            struct colander_error *err)
{
    struct engine_family *engine_family;
    struct family_filters *found;
    struct filters *filters;
    struct settings *settings;
    struct colander_filter_options accepted;
    enum colander_code code;

    colander_filter_options_init(&accepted);
    code = sized_accept(&accepted, sizeof(accepted), options, "filter options",
                        err);
    if (code == COLANDER_OK)
        code = settings_create(&accepted, &settings, err);
    if (code == COLANDER_OK) {
        code = colander_family_create(family, err);
        if (code == COLANDER_OK)
            code =
                filters_look_up(family, &filters, &engine_family, &found, err);
        if (code == COLANDER_OK) {
            pthread_mutex_lock(&filters->change_mutex);
            code = keep_settings(filters, engine_family, settings, err);
            if (code == COLANDER_OK)
                code = change_settings(filters, engine_family, found,
                                       settings_ref(settings), err);
            pthread_mutex_unlock(&filters->change_mutex);
        }
        settings_unref(settings);
    }
    if (code != COLANDER_OK)
        colander_error_context(err, "filters of family '%s'",
                               colander_family_name(family));
    return code;
}

enum colander_code
colander_family_get_filters_sized(struct colander_family *family,
                                  struct colander_filter_options *options,
                                  size_t struct_size,
                                  struct colander_error *err)
{
    struct colander_filter_options in_force;
    struct engine_family *engine_family;
    struct family_filters *found;
    struct filters *filters;
    struct settings *settings;
    enum colander_code code;

    colander_filter_options_init_sized(options, struct_size);
    code = filters_look_up(family, &filters, &engine_family, &found, err);
    if (code != COLANDER_OK || found == NULL)
        return code;
    settings = registry_settings(&filters->registry, found);
    code = settings_copy_options(&settings->options, &in_force, err);
    settings_unref(settings);
    if (code == COLANDER_OK &&
        struct_size <
            offsetof(struct colander_filter_options, unfiltered_count) +
                sizeof(size_t))
        colander_filter_options_release(&in_force); /* it cannot take them */
    if (code == COLANDER_OK) {
        sized_return(options, struct_size, &in_force, sizeof(in_force));
        memcpy(options, &struct_size, sizeof(struct_size));
    }
    return code;
}

/* ------------------------------------------------------------ refilter --- */

enum colander_code
colander_family_refilter(struct colander_family *family, uint64_t *count,
                         struct colander_error *err)
{
    struct engine_family *engine_family;
    struct family_filters *found;
    struct filters *filters;
    struct file_view *view = NULL;
    enum colander_code code;
    uint64_t done = 0;

    code = filters_look_up(family, &filters, &engine_family, &found, err);
    if (code == COLANDER_OK && found != NULL && filters->is_read_only)
        code = COLANDER_FAIL(err, COLANDER_READ_ONLY,
                             "the store is open for reading only");
    if (code == COLANDER_OK && found != NULL)
        code = registry_view(&filters->registry, found, &view, err);
    for (size_t i = 0; view != NULL && i < view->file_count; i++) {
        code = worker_rebuild_latest(filters, view->files[i]->number, err);
        if (code != COLANDER_OK)
            break;
        done++;
    }
    file_view_release(view);
    if (code == COLANDER_OK && found != NULL)
        code = colander_family_await_filters(family, err);
    if (code != COLANDER_OK)
        colander_error_context(err, "filters of family '%s'",
                               colander_family_name(family));
    if (count != NULL)
        *count = done;
    return code;
}

enum colander_code
colander_family_await_filters(struct colander_family *family,
                              struct colander_error *err)
{
    struct filters *filters = store_hooks_context(family_store(family));

    if (filters == NULL || filters->remote != NULL || worker_await(filters))
        return COLANDER_OK;
    return COLANDER_FAIL(err, COLANDER_CANCELLED, "the store is being closed");
}

/* --------------------------------------------------------------- stats --- */

static void
add_file(struct colander_filter_stats *stats, const struct sst_file *file)
{
    const struct filter_file *filter;

    stats->file_count++;
    if (file->filter == NULL) {
        stats->filter_count += file->state == FILE_PENDING;
        return;
    }
    filter = file->filter;
    stats->filter_count++;
    stats->loaded_count += file->state == FILE_LOADED;
    stats->sst_size += file->size;
    stats->filter_size += filter->size;
    stats->locator_size += filter->kind_sizes[FILTER_LOCATOR];
    stats->presence_size += filter->kind_sizes[FILTER_PRESENCE];
    stats->keys_size += filter->kind_sizes[FILTER_KEYS];
    stats->order_size += filter->kind_sizes[FILTER_ORDER];
    stats->dictionary_size += filter->kind_sizes[FILTER_DICTIONARY];
    stats->words_size += filter->head.words_size;
    for (uint32_t i = 0; i < filter->part_count; i++) {
        const struct filter_part *part = &filter->parts[i];

        stats->part_count++;
        stats->value_count += part->hash_count;
        stats->row_count += part->shape.row_count;
    }
}

static void
add_log(struct colander_filter_stats *stats, struct filter_log *log)
{
    pthread_mutex_lock(&log->mutex);
    stats->built_count = log->counts[FILTER_BUILT];
    stats->rebuilt_count = log->counts[FILTER_REBUILT];
    stats->damaged_count = log->counts[FILTER_DAMAGED];
    stats->error_count = log->counts[FILTER_ERROR];
    memcpy(stats->last_error, log->last_error, sizeof(stats->last_error));
    pthread_mutex_unlock(&log->mutex);
}

static enum colander_code
fill_stats(struct colander_family *family, struct colander_filter_stats *stats,
           struct colander_error *err)
{
    struct engine_family *engine_family;
    struct family_filters *found;
    struct filters *filters;
    struct recent_sizes recent;
    struct hierarchy_sizes hierarchy;
    struct file_view *view;
    enum colander_code code;

    code = filters_look_up(family, &filters, &engine_family, &found, err);
    if (code != COLANDER_OK)
        return code;
    add_log(stats, &filters->log);
    stats->cache_size = block_cache_sizes(filters->commons->cache).bytes;
    if (found == NULL)
        return COLANDER_OK;
    code = registry_view(&filters->registry, found, &view, err);
    if (code != COLANDER_OK)
        return code;
    for (size_t i = 0; i < view->file_count; i++)
        add_file(stats, view->files[i]);
    file_view_release(view);
    recent = recent_sizes(found->recent);
    hierarchy = registry_hierarchy_sizes(&filters->registry, found);
    stats->recent_size = recent.bytes;
    stats->recent_count = recent.row_count;
    stats->hierarchy_size = hierarchy.bytes;
    stats->fold_count = hierarchy.fold_count;
    return COLANDER_OK;
}

enum colander_code
colander_family_filter_stats_sized(struct colander_family *family,
                                   struct colander_filter_stats *stats,
                                   size_t struct_size,
                                   struct colander_error *err)
{
    struct colander_filter_stats filled;
    enum colander_code code;

    memset(&filled, 0, sizeof(filled));
    code = fill_stats(family, &filled, err);
    sized_return(stats, struct_size, &filled, sizeof(filled));
    return code;
}
