/*
 * Observer: the callbacks by which the engine reports SST files (core/sst.h).
 * A filter is built while RocksDB writes an SST, is named after it when the SST
 * is finished, and is removed with it.
 *
 * SPDX-License-Identifier: MIT
 */
#include "core/clock.h"
#include "filters/filter_feed.h"
#include "filters/live.h"

#include <stdlib.h>
#include <unistd.h>

/* -------------------------------------------------------------- writing --- */

/* A filter that is being built. */
struct sst_build {
    struct filters *filters;
    struct family_filters *family;
    uint64_t began;           /* clock_us() */
    bool is_passing;          /* memory was full */
    struct filter_feed *feed; /* NULL: abandoned after an error */
    uint8_t tag[SST_TAG_SIZE];
};

/* A filter that cannot be built slows finds down, but stops nothing. */
static void
give_up(struct sst_build *build, const struct colander_error *err)
{
    filter_log_error(&build->filters->log, "cannot build a filter of family",
                     build->family->id, err);
    filter_feed_destroy(build->feed);
    build->feed = NULL;
}

/* A family is filled fast if the next flush begins before this many times as
 * long as the last one took: whatever the machine can do. */
#define FLUSH_SHARE 10
#define FULL_MAX_US 10000000 /* also if the machine stood still */

/* Replaces the settings for a file that a compaction will probably replace
 * soon: words are most of the work. */
static void
leave_words(struct settings **settings)
{
    struct settings *without =
        (*settings)->options.words ? settings_without_words(*settings) : NULL;

    if (without == NULL)
        return;
    settings_unref(*settings);
    *settings = without;
}

static void *
build_begin(void *context, uint32_t family_id, bool is_passing)
{
    struct filters *filters = context;
    struct sst_build *build = calloc(1, sizeof(*build));
    struct settings *settings;
    struct colander_error err;
    char path[FILTER_PATH_MAX];

    if (build == NULL)
        return NULL;
    build->filters = filters;
    build->is_passing = is_passing;
    build->began = clock_us();
    filter_tag_draw(&filters->names, build->tag);
    build->family = registry_family(&filters->registry, family_id, &settings);
    if (is_passing && build->family != NULL &&
        build->began < atomic_load(&build->family->full_until))
        leave_words(&settings);
    if (settings != NULL && settings->options.is_on &&
        filter_path_of_tag(&filters->names, build->tag, path) &&
        filter_feed_create(path, settings, &build->feed, &err) != COLANDER_OK)
        give_up(build, &err);
    settings_unref(settings);
    if (build->feed != NULL)
        return build;
    free(build);
    return NULL;
}

static void
build_add(void *context, const struct sst_entry *entry)
{
    struct sst_build *build = context;
    struct colander_error err;

    if (build->feed != NULL &&
        filter_feed_add(build->feed, entry, &err) != COLANDER_OK)
        give_up(build, &err);
}

static bool
build_finish(void *context, uint8_t tag[SST_TAG_SIZE])
{
    struct sst_build *build = context;
    struct colander_error err;

    if (build->feed != NULL &&
        filter_feed_finish(build->feed, build->tag, &err) != COLANDER_OK)
        give_up(build, &err);
    if (build->feed == NULL)
        return false;
    if (build->is_passing) {
        const uint64_t now = clock_us();

        const uint64_t share = FLUSH_SHARE * (now - build->began);

        atomic_store(&build->family->full_until,
                     now + (share < FULL_MAX_US ? share : FULL_MAX_US));
    }
    memcpy(tag, build->tag, SST_TAG_SIZE);
    return true;
}

static void
build_end(void *context)
{
    struct sst_build *build = context;

    filter_feed_destroy(build->feed);
    free(build);
}

/* ---------------------------------------------------------------- files --- */

/* Whether the filter may have been begun with other settings than those that
 * the family has: a compaction takes long, and what is rebuilt meanwhile is
 * replaced by its files. */
static bool
is_outdated(struct filters *filters, const struct sst_created *file)
{
    const struct family_filters *family =
        registry_family(&filters->registry, file->family, NULL);

    return family != NULL && file->began > 0 &&
           file->began <= atomic_load(&family->set_at);
}

/* Names the filter after its SST; false: there is no usable one. */
static bool
take_filter(struct filters *filters, const struct sst_created *file)
{
    struct colander_error err;
    char path[FILTER_PATH_MAX];

    if (!file->is_tagged)
        return false;
    if (!filter_path_of_tag(&filters->names, file->tag, path))
        return false;
    if (!file->is_ok || is_outdated(filters, file)) {
        (void)unlink(path);
        return false;
    }
    if (filter_publish(&filters->names, path, file->number, file->size, &err) ==
        COLANDER_OK) {
        filter_log_count(&filters->log, FILTER_BUILT);
        return true;
    }
    filter_log_error(&filters->log, "cannot name the filter of SST",
                     file->number, &err);
    (void)unlink(path);
    return false;
}

/* The levels of the family are listed again: they are different now. */
static struct family_filters *
note_change(struct filters *filters, uint32_t family_id)
{
    struct family_filters *family =
        registry_family(&filters->registry, family_id, NULL);

    if (family != NULL)
        atomic_fetch_add(&family->changes, 1);
    return family;
}

static void
file_created(void *context, const struct sst_created *file)
{
    struct filters *filters = context;
    struct sst_info info = {
        .family = file->family,
        .number = file->number,
        .size = file->size,
        .data_size = file->data_size,
        .entry_count = file->entry_count,
        .last_sequence = file->joined_at,
        .is_tag_known = file->is_tagged,
    };
    struct colander_error err;
    bool has_filter;

    memcpy(info.tag, file->tag, SST_TAG_SIZE);
    pthread_mutex_lock(&filters->names.mutex);
    has_filter = take_filter(filters, file);
    if (file->is_ok && !has_filter)
        filter_remove(&filters->names, file->number,
                      file->size); /* left by a crash */
    if (file->is_ok && registry_add(&filters->registry, &info,
                                    has_filter ? FILE_PENDING : FILE_UNSURE,
                                    &err) != COLANDER_OK)
        filter_log_error(&filters->log, "cannot list SST", file->number, &err);
    pthread_mutex_unlock(&filters->names.mutex);
    /* Only a file that has joined is in the levels now. Others are when their
     * rows are flushed, or the files that they replace are removed. */
    if (file->has_joined)
        (void)note_change(filters, file->family);
    if (file->is_passing)
        atomic_store(&filters->worker.has_old, true);
    worker_kick(filters);
}

static void
files_replaced(void *context, const uint64_t *numbers, size_t count)
{
    struct filters *filters = context;

    for (size_t i = 0; i < count; i++)
        registry_remove(&filters->registry, numbers[i]);
    worker_kick(filters); /* others may now fit the budget unfolded */
}

static void
file_deleted(void *context, uint64_t number)
{
    struct filters *filters = context;

    pthread_mutex_lock(&filters->names.mutex);
    filter_remove(&filters->names, number,
                  registry_forget(&filters->registry, number));
    pthread_mutex_unlock(&filters->names.mutex);
}

static void
rows_flushed(void *context, uint32_t family_id, uint64_t sequence)
{
    struct filters *filters = context;
    struct family_filters *family = note_change(filters, family_id);

    if (family != NULL)
        recent_flushed(family->recent, sequence);
}

struct sst_observer
observer_of(struct filters *filters)
{
    const struct sst_observer observer = {
        .context = filters,
        .writer_begin = build_begin,
        .writer_add = build_add,
        .writer_finish = build_finish,
        .writer_end = build_end,
        .created = file_created,
        .replaced = files_replaced,
        .deleted = file_deleted,
        .flushed = rows_flushed,
    };

    return observer;
}
