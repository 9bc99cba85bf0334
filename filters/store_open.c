/*
 * Stores with filters: the hooks that a store is opened with.
 *
 * SPDX-License-Identifier: MIT
 */
#include "core/engine.h"
#include "filters/find.h"
#include "filters/live.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* ----------------------------------------------------------------- life --- */

static void
destroy(struct filters *filters)
{
    if (filters == NULL)
        return;
    registry_release(&filters->registry);
    summaries_release(&filters->summaries);
    commons_close(filters->commons);
    filter_names_release(&filters->names);
    pthread_mutex_destroy(&filters->change_mutex);
    pthread_mutex_destroy(&filters->log.mutex);
    free(filters);
}

static enum colander_code
create(const char *path, const struct colander_options *options,
       struct filters **created, struct colander_error *err)
{
    struct filters *filters = calloc(1, sizeof(*filters));
    enum colander_code code;

    if (filters == NULL)
        return COLANDER_FAIL(err, COLANDER_NO_MEMORY, "no memory for filters");
    filters->is_read_only = options->mode == COLANDER_OPEN_READ_ONLY;
    filters->remote = options->remote;
    code = filter_names_init(&filters->names, path, filters->is_read_only, err);
    if (code == COLANDER_OK) {
        code = commons_open(options, &filters->commons, err);
        if (code != COLANDER_OK)
            filter_names_release(&filters->names);
    }
    if (code != COLANDER_OK) {
        free(filters);
        return code;
    }
    registry_init(&filters->registry, filters->commons);
    summaries_init(&filters->summaries);
    pthread_mutex_init(&filters->change_mutex, NULL);
    pthread_mutex_init(&filters->log.mutex, NULL);
    filters->log.report = options->log;
    filters->log.report_context = options->log_context;
    *created = filters;
    return COLANDER_OK;
}

/* ------------------------------------------------------------- settings --- */

void
settings_record_name(uint32_t family, char name[RECORD_NAME_MAX])
{
    snprintf(name, RECORD_NAME_MAX, "filters of family %u", family);
}

/* Reads the settings of one family's filters from the store. */
static enum colander_code
load_settings(struct filters *filters, struct engine_family *engine_family,
              struct colander_error *err)
{
    const uint32_t id = engine_family_id(engine_family);
    struct family_filters *family =
        registry_family(&filters->registry, id, NULL);
    struct colander_buffer record = COLANDER_BUFFER_EMPTY;
    struct settings *settings;
    char name[RECORD_NAME_MAX];
    enum colander_code code;
    bool found;

    if (family == NULL)
        return COLANDER_FAIL(err, COLANDER_NO_MEMORY, "no memory for filters");
    settings_record_name(id, name);
    code = engine_record_get(filters->engine, name, &record, &found, err);
    if (code == COLANDER_OK && found) {
        struct colander_error failure;

        /* Settings do not affect answers, so the defaults can replace them. */
        if (settings_decode(colander_buffer_slice(&record), &settings,
                            &failure) != COLANDER_OK) {
            filter_log_error(&filters->log, "cannot read the options of family",
                             id, &failure);
        } else {
            atomic_store(&family->is_recent_all, settings->options.is_on);
            code = registry_set_settings(&filters->registry, family, settings,
                                         err);
        }
    }
    if (filters->is_read_only) /* the log's rows are not in the recent rows */
        atomic_store(&family->is_recent_all, false);
    colander_buffer_release(&record);
    return code;
}

/* Visits all families. */
static enum colander_code
visit_families(struct filters *filters,
               enum colander_code (*visit)(struct filters *filters,
                                           struct engine_family *family,
                                           struct colander_error *err),
               struct colander_error *err)
{
    struct colander_names names;
    enum colander_code code = engine_families(filters->engine, &names, err);

    if (code != COLANDER_OK)
        return code;
    for (size_t i = 0; i < names.count && code == COLANDER_OK; i++) {
        struct engine_family *family;

        code = engine_family_open(filters->engine, names.names[i], false,
                                  &family, err);
        if (code == COLANDER_OK)
            code = visit(filters, family, err);
        engine_family_close(family);
    }
    colander_names_release(&names);
    return code;
}

/* ---------------------------------------------------------------- files --- */

static enum colander_code
list_file(void *context, const struct sst_info *file,
          struct colander_error *err)
{
    struct filters *filters = context;
    char path[FILTER_PATH_MAX];
    bool has_filter =
        filter_path_of_sst(&filters->names, file->number, file->size, path) &&
        access(path, R_OK) == 0;

    return registry_add(&filters->registry, file,
                        has_filter ? FILE_PENDING : FILE_UNSURE, err);
}

static void
remove_leftover(void *context, int directory_fd, const char *name)
{
    (void)context;
    (void)unlinkat(directory_fd, name, 0);
}

/* Lists the SST files that exist, and removes filters without one. */
static enum colander_code
list_files(struct filters *filters, struct colander_error *err)
{
    enum colander_code code =
        engine_ssts(filters->engine, list_file, filters, err);

    registry_open_end(&filters->registry);
    if (code == COLANDER_OK && !filters->is_read_only)
        filter_names_visit_leftovers(&filters->names, &filters->registry,
                                     remove_leftover, NULL);
    return code;
}

/* ------------------------------------------------------ open and closed --- */

static enum colander_code
open_commons(struct filters *filters, struct colander_error *err)
{
    struct colander_options options;

    engine_options(filters->engine, &options);
    return commons_open_rows(filters->commons, &options, err);
}

static enum colander_code
opened(void *context, struct engine *engine, struct colander_error *err)
{
    struct filters *filters = context;
    bool is_first = filters->engine == NULL;
    enum colander_code code = COLANDER_OK;

    filters->engine = engine;
    if (is_first)
        code = open_commons(filters, err);
    if (code == COLANDER_OK && is_first)
        code = visit_families(filters, load_settings, err);
    if (code == COLANDER_OK && is_first)
        code = list_files(filters, err);
    /* Loading a filter would fetch all of it. */
    if (code == COLANDER_OK && filters->remote == NULL)
        code = worker_start(filters, err);
    return code;
}

/* A flush that has begun because memory was full is done when this one is. */
static enum colander_code
end_flushes(struct filters *filters, struct engine_family *engine_family,
            struct colander_error *err)
{
    const struct family_filters *family = registry_family(
        &filters->registry, engine_family_id(engine_family), NULL);

    if (family == NULL || atomic_load(&family->full_until) == 0)
        return COLANDER_OK;
    return engine_family_flush(engine_family, err);
}

/* A flush that fails costs only the words of its file, until the next open. */
static void
closing(void *context)
{
    (void)!visit_families(context, end_flushes, NULL);
    worker_add_words(context);
    worker_stop(context);
}

static void
closed(void *context)
{
    worker_stop(context);
    destroy(context);
}

/* Rows that will never be in an SST need no memory. A find that plans again
 * reads the unflushed rows themselves. */
static void
dropped(void *context, struct engine_family *engine_family)
{
    struct filters *filters = context;
    struct family_filters *family = registry_family(
        &filters->registry, engine_family_id(engine_family), NULL);

    if (family == NULL)
        return;
    atomic_store(&family->is_recent_all, false);
    recent_flushed(family->recent, UINT64_MAX);
    registry_drop_levels(&filters->registry, family);
}

/* The callback by which backups and checks name a filter. */
static bool
sst_sidecar(void *context, uint64_t number, uint64_t size,
            char name[SIDECAR_PATH_MAX])
{
    struct filters *filters = context;

    return filter_name_of_sst(&filters->names, number, size, name,
                              SIDECAR_PATH_MAX);
}

static void
backup_begin(void *context)
{
    summaries_make(context);
}

static bool
backup_more(void *context, size_t index, char name[SIDECAR_PATH_MAX])
{
    return summaries_name(context, index, name);
}

/* A drop may have discarded the recent rows while the find used them. */
static enum colander_code
open_candidates(void *context, const struct candidate_request *request,
                struct candidates **candidates, struct colander_error *err)
{
    enum colander_code code =
        find_candidates_open(context, request, candidates, err);

    if (code != COLANDER_OK || !engine_family_is_dropped(request->family))
        return code;
    find_candidates_close(*candidates);
    *candidates = NULL;
    return COLANDER_FAIL(err, COLANDER_DROPPED, "family '%s' was dropped",
                         engine_family_name(request->family));
}

/* ---------------------------------------------------------------- hooks --- */

static enum colander_code
record_salvaged(void *context, struct colander_family *family,
                struct colander_slice record, struct colander_error *err)
{
    struct settings *settings;
    enum colander_code code = settings_decode(record, &settings, err);

    (void)context;
    if (code != COLANDER_OK)
        return code;
    code = colander_family_set_filters(family, &settings->options, err);
    settings_unref(settings);
    return code;
}

enum colander_code
store_hooks_create(const char *path, const struct colander_options *options,
                   struct store_hooks *hooks, struct colander_error *err)
{
    struct filters *filters;
    enum colander_code code = create(path, options, &filters, err);

    if (code != COLANDER_OK)
        return code;
    *hooks = (struct store_hooks){
        .context = filters,
        .observer = observer_of(filters),
        .opened = opened,
        .closing = closing,
        .closed = closed,
        .sst_sidecar = sst_sidecar,
        .backup_begin = backup_begin,
        .backup_more = backup_more,
        .dropped = dropped,
        .record_salvaged = record_salvaged,
        .recent_add = recent_add_row,
        .write_end = recent_add_end,
        .candidates_open = open_candidates,
        .candidates_next = find_candidates_next,
        .candidates_read = find_candidates_read,
        .candidates_release = find_candidates_release,
        .candidates_close = find_candidates_close,
        .order_bound = find_order_bound,
    };
    return COLANDER_OK;
}
