/*
 * Stores with filters: the extension that a store is opened with.
 *
 * SPDX-License-Identifier: MIT
 */
#include "filters/context.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/random.h>

/* ----------------------------------------------------------------- life --- */

static void
destroy(struct filters *filters)
{
    if (filters == NULL)
        return;
    registry_release(&filters->registry);
    pthread_mutex_destroy(&filters->mutex);
    pthread_mutex_destroy(&filters->names_mutex);
    pthread_mutex_destroy(&filters->change_mutex);
    pthread_mutex_destroy(&filters->log.mutex);
    pthread_mutex_destroy(&filters->worker.mutex);
    pthread_cond_destroy(&filters->worker.changed);
    free(filters->worker.tries);
    free(filters->given_path);
    free(filters->directory);
    free(filters);
}

static struct filters *
create(const char *path, const struct colander_options *options,
       struct colander_error *err)
{
    struct filters *made = calloc(1, sizeof(*made));

    if (made == NULL || registry_init(&made->registry, options->cache_size,
                                      err) != COLANDER_OK) {
        free(made);
        (void)COLANDER_FAIL(err, COLANDER_NO_MEMORY, "no memory for filters");
        return NULL;
    }
    pthread_mutex_init(&made->mutex, NULL);
    pthread_mutex_init(&made->names_mutex, NULL);
    pthread_mutex_init(&made->change_mutex, NULL);
    pthread_mutex_init(&made->log.mutex, NULL);
    pthread_mutex_init(&made->worker.mutex, NULL);
    pthread_cond_init(&made->worker.changed, NULL);
    made->is_read_only = options->mode == COLANDER_OPEN_READ_ONLY;
    while (getrandom(&made->run, sizeof(made->run), 0) !=
           (ssize_t)sizeof(made->run))
        continue; /* a signal came */
    made->given_path = strdup(path);
    if (made->given_path != NULL)
        return made;
    destroy(made);
    (void)COLANDER_FAIL(err, COLANDER_NO_MEMORY, "no memory for filters");
    return NULL;
}

/* ------------------------------------------------------------- settings --- */

void
settings_record_name(uint32_t family, char name[RECORD_NAME_MAX])
{
    snprintf(name, RECORD_NAME_MAX, "filters of family %u", family);
}

/* Reads what the store keeps about the filters of one family. */
static enum colander_code
load_settings(struct filters *filters, uint32_t id, struct colander_error *err)
{
    struct family_filters *family = registry_family(&filters->registry, id);
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
        struct colander_error why;

        /* Options say how, not what: without them the defaults serve. */
        if (settings_decode(colander_buffer_slice(&record), &settings, &why) !=
            COLANDER_OK) {
            filter_log_error(filters, "cannot read the options of family", id,
                             &why);
        } else {
            atomic_store(&family->is_recent_all, settings->options.is_on);
            code = registry_set_settings(&filters->registry, family, settings,
                                         err);
        }
    }
    if (filters->is_read_only) /* rows of the log were noted by nobody */
        atomic_store(&family->is_recent_all, false);
    colander_buffer_release(&record);
    return code;
}

static enum colander_code
load_all_settings(struct filters *filters, struct colander_error *err)
{
    struct colander_names names;
    enum colander_code code =
        colander_engine_families(filters->engine, &names, err);

    if (code != COLANDER_OK)
        return code;
    for (size_t i = 0; i < names.count && code == COLANDER_OK; i++) {
        struct colander_engine_family *family;

        code = colander_engine_family_open(filters->engine, names.names[i],
                                           false, &family, err);
        if (code == COLANDER_OK)
            code =
                load_settings(filters, colander_engine_family_id(family), err);
        colander_engine_family_close(family);
    }
    colander_names_release(&names);
    return code;
}

/* ------------------------------------------------------ open and closed --- */

static enum colander_code
opened(void *context, struct colander_engine *engine,
       struct colander_error *err)
{
    struct filters *filters = context;
    bool is_first = filters->engine == NULL;
    enum colander_code code = COLANDER_OK;

    filters->engine = engine;
    if (is_first)
        code = load_all_settings(filters, err);
    if (code == COLANDER_OK && is_first)
        code = observer_list_files(filters, err);
    if (code == COLANDER_OK)
        code = worker_start(filters, err);
    return code;
}

static void
closing(void *context)
{
    worker_stop(context);
}

static void
closed(void *context)
{
    worker_stop(context);
    destroy(context);
}

/* Rows that no SST will ever hold need no memory. A find under way that plans
 * anew looks at the unflushed rows themselves. */
static void
dropped(void *context, struct colander_engine_family *engine_family)
{
    struct filters *filters = context;
    struct family_filters *family = registry_family(
        &filters->registry, colander_engine_family_id(engine_family));

    if (family == NULL)
        return;
    atomic_store(&family->is_recent_all, false);
    recent_flushed(family->recent, UINT64_MAX);
}

/* A drop may have taken the notes away while the find looked for them. */
static enum colander_code
open_candidates(void *context, const struct candidate_request *request,
                struct candidates **candidates, struct colander_error *err)
{
    enum colander_code code =
        find_candidates_open(context, request, candidates, err);

    if (code != COLANDER_OK ||
        !colander_engine_family_is_dropped(request->family))
        return code;
    find_candidates_close(*candidates);
    *candidates = NULL;
    return COLANDER_FAIL(err, COLANDER_DROPPED, "family '%s' was dropped",
                         colander_engine_family_name(request->family));
}

/* ----------------------------------------------------------------- open --- */

enum colander_code
colander_store_open(const char *path, const struct colander_options *options,
                    struct colander_store **store, struct colander_error *err)
{
    struct colander_options defaults;
    struct store_extension extension = {
        .opened = opened,
        .closing = closing,
        .closed = closed,
        .companion = filter_name_of_sst,
        .dropped = dropped,
        .note_row = notes_row,
        .write_end = notes_end,
        .candidates_open = open_candidates,
        .candidates_next = find_candidates_next,
        .candidates_close = find_candidates_close,
    };

    *store = NULL;
    colander_options_init(&defaults);
    extension.context =
        create(path, options == NULL ? &defaults : options, err);
    if (extension.context == NULL) {
        colander_error_context(err, "cannot open store '%s'", path);
        return COLANDER_NO_MEMORY;
    }
    extension.observer = observer_of(extension.context);
    return store_open_extended(path, options, &extension, store, err);
}
