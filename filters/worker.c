/*
 * Worker: a thread that brings the filters of a store to where finds want
 * them: opened, in the hierarchy, and made where they are missing or damaged.
 *
 * Everything it does is to be had without it, later and dearer; so it may be
 * stopped at any file.
 *
 * SPDX-License-Identifier: MIT
 */
#include "core/quiet_thread.h"
#include "filters/context.h"
#include "filters/filter_builder.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

/* A filter found damaged so often is left so: the disk, or the code that made
 * it, is no good. And what counts as a failure. */
#define REBUILDS_MAX 4
#define GIVEN_UP 8
#define LOADING_AGE 2 /* seconds */

static bool
is_stopping(struct filters *filters)
{
    bool is_it;

    pthread_mutex_lock(&filters->worker.mutex);
    is_it = filters->worker.is_stopping;
    pthread_mutex_unlock(&filters->worker.mutex);
    return is_it;
}

/* -------------------------------------------------------------- opening --- */

enum colander_code
filter_check_head(const struct filter_head *head, uint64_t entry_count,
                  const uint8_t *tag, struct colander_error *err)
{
    if (head->hash_version != COLANDER_HASH_VERSION)
        return COLANDER_FAIL(err, COLANDER_TOO_NEW,
                             "its hashes are of version %u, not %d",
                             head->hash_version, COLANDER_HASH_VERSION);
    if ((entry_count != 0 && head->entry_count != entry_count) ||
        (tag != NULL && memcmp(head->tag, tag, SST_TAG_SIZE) != 0))
        return COLANDER_FAIL(err, COLANDER_CORRUPT, "it is of another SST");
    return COLANDER_OK;
}

enum colander_code
filters_open_pending(struct filters *filters, struct sst_file *file,
                     struct colander_error *err)
{
    struct filter_file *opened = NULL;
    struct filter *filter;
    struct colander_error why;
    char path[FILTER_PATH_MAX];
    enum colander_code code;

    if (!filter_path_of_sst(filters, file->number, file->size, path))
        return COLANDER_FAIL(err, COLANDER_IO,
                             "the path of the store is too long");
    code = filter_file_open(path, &opened, &why);
    if (code == COLANDER_OK)
        code = filter_check_head(filter_file_head(opened), file->entry_count,
                                 file->is_tag_known ? file->tag : NULL, &why);
    if (code != COLANDER_OK) {
        filter_file_close(opened);
        if (code == COLANDER_IO || code == COLANDER_NO_MEMORY)
            filter_log_error(filters, "cannot open the filter of SST",
                             file->number, &why); /* it may pass */
        else
            filters_doubt(filters, file, &why);
        return COLANDER_OK;
    }
    filter = filter_create(opened, filters->registry.cache);
    if (filter == NULL)
        return COLANDER_FAIL(err, COLANDER_NO_MEMORY,
                             "no memory to open a filter");
    (void)registry_change(&filters->registry, file, FILE_OPEN, filter, NULL);
    filter_unref(filter);
    return COLANDER_OK;
}

/* -------------------------------------------------------------- loading --- */

static void
add_hash(void *context, uint64_t hash)
{
    presence_add(context, hash);
}

/* Fills the presence of a part from its locator, block by block. */
static enum colander_code
presence_from_locator(const struct filter *filter,
                      const struct filter_part *part, struct presence *presence,
                      struct colander_error *err)
{
    enum colander_code code = COLANDER_OK;

    for (uint32_t i = 0;
         i < part->block_count[FILTER_LOCATOR] && code == COLANDER_OK; i++) {
        struct cached_block *block;
        uint32_t first;

        code = filter_file_nth_block(filter->file, filter->cache, part,
                                     FILTER_LOCATOR, i, &block, &first, err);
        if (code != COLANDER_OK)
            break;
        code = locator_hashes(&part->shape, block->bytes, first, add_hash,
                              presence, err);
        block_cache_release(filter->cache, block);
    }
    return code;
}

/* Fills the presence of a part from its blocks on disk. */
static enum colander_code
presence_from_blocks(const struct filter *filter,
                     const struct filter_part *part, struct presence *presence,
                     struct colander_error *err)
{
    enum colander_code code = COLANDER_OK;

    for (uint32_t i = 0;
         i < part->block_count[FILTER_PRESENCE] && code == COLANDER_OK; i++) {
        struct cached_block *block;
        uint32_t first;
        size_t left;

        code = filter_file_nth_block(filter->file, filter->cache, part,
                                     FILTER_PRESENCE, i, &block, &first, err);
        if (code != COLANDER_OK)
            break;
        left = presence_size(&presence->shape) -
               (size_t)first * (PRESENCE_BLOCK_BITS / 8);
        if (first >= presence->shape.block_count || block->bytes.size > left)
            code = COLANDER_FAIL(err, COLANDER_CORRUPT,
                                 "a presence is larger than it says");
        else
            memcpy(presence->words + (size_t)first * PRESENCE_BLOCK_WORDS,
                   block->bytes.data, block->bytes.size);
        block_cache_release(filter->cache, block);
    }
    return code;
}

/* Makes the presence of a part, as the settings want it in memory. */
static enum colander_code
make_presence(const struct filter *filter, const struct filter_part *part,
              const struct settings *settings, struct presence *presence,
              struct colander_error *err)
{
    bool is_kept = part->presence.block_count != 0;
    struct presence_shape shape = part->presence;
    enum colander_code code;

    if (!is_kept) {
        shape = settings_presence_shape(settings, part->hash_count);
        shape.hash_bits = part->shape.hash_bits;
    }
    code = presence_init(presence, &shape, err);
    if (code != COLANDER_OK)
        return code;
    code = is_kept ? presence_from_blocks(filter, part, presence, err)
                   : presence_from_locator(filter, part, presence, err);
    if (code != COLANDER_OK)
        presence_release(presence);
    return code;
}

/* Puts an OPEN file into its family's hierarchy. */
static enum colander_code
load(struct filters *filters, struct sst_file *file, struct colander_error *err)
{
    const uint32_t count = filter_file_part_count(file->filter->file);
    struct presence *presences = calloc((size_t)count + 1, sizeof(*presences));
    struct settings *settings =
        registry_settings(&filters->registry, file->family);
    enum colander_code code = COLANDER_OK;
    uint32_t done = 0;

    if (presences == NULL)
        code = COLANDER_FAIL(err, COLANDER_NO_MEMORY,
                             "no memory to load a filter");
    while (code == COLANDER_OK && done < count) {
        code = make_presence(file->filter,
                             filter_file_part(file->filter->file, done),
                             settings, &presences[done], err);
        done += code == COLANDER_OK;
    }
    if (code == COLANDER_OK &&
        !registry_change(&filters->registry, file, FILE_LOADED, file->filter,
                         presences) &&
        registry_has(&filters->registry, file))
        code = COLANDER_FAIL(err, COLANDER_NO_MEMORY,
                             "no memory for it in the hierarchy");
    while (done-- > 0)
        presence_release(&presences[done]);
    free(presences);
    settings_unref(settings);
    return code;
}

/* ----------------------------------------------------------- rebuilding --- */

/* Adds every row of the SST, as it is newest. */
static enum colander_code
add_rows(struct filters *filters, struct sst *sst,
         struct filter_builder *builder, struct colander_error *err)
{
    struct sst_cursor *cursor;
    struct colander_slice key = {NULL, 0};
    struct colander_slice row;
    enum colander_code code = sst_cursor_open(sst, NULL, false, &cursor, err);

    if (code != COLANDER_OK)
        return code;
    do {
        if (is_stopping(filters))
            code = COLANDER_FAIL(err, COLANDER_CANCELLED,
                                 "the store is being closed");
        if (code == COLANDER_OK)
            code = sst_cursor_next(cursor, &key, &row, err);
        if (code == COLANDER_OK && key.data != NULL)
            code = filter_builder_add(builder, key, row, true, err);
    } while (code == COLANDER_OK && key.data != NULL);
    sst_cursor_close(cursor);
    return code;
}

/* Builds the filter of an SST at `path`. Older versions of rows are not in it,
 * so it is of no use to snapshots before this moment. */
static enum colander_code
build_at(struct filters *filters, struct sst_file *file, const char *path,
         struct colander_error *err)
{
    const uint64_t sequence = engine_sequence(filters->engine);
    struct settings *settings =
        registry_settings(&filters->registry, file->family);
    struct filter_builder *builder = NULL;
    uint8_t tag[SST_TAG_SIZE] = {0}; /* of an SST that has none */
    struct sst *sst = NULL;
    enum colander_code code;

    code = sst_open(filters->engine, file->number, &sst, err);
    if (code == COLANDER_OK)
        code = filter_builder_create(path, settings, &builder, err);
    if (code == COLANDER_OK)
        code = add_rows(filters, sst, builder, err);
    if (code == COLANDER_OK) {
        (void)sst_tag(sst, tag);
        code = filter_builder_finish(builder, tag, sst_entry_count(sst),
                                     sequence, err);
    }
    filter_builder_destroy(builder);
    sst_close(sst);
    settings_unref(settings);
    return code;
}

enum colander_code
worker_rebuild(struct filters *filters, struct sst_file *file, bool *is_done,
               struct colander_error *err)
{
    uint8_t name[SST_TAG_SIZE]; /* for as long as it is built */
    char path[FILTER_PATH_MAX];
    struct sst_file *still;
    enum colander_code code;

    *is_done = false;
    filter_tag_make(filters, name);
    if (!filter_path_of_tag(filters, name, path))
        return COLANDER_FAIL(err, COLANDER_IO,
                             "the path of the store is too long");
    code = build_at(filters, file, path, err);
    if (code != COLANDER_OK)
        return code;
    pthread_mutex_lock(&filters->names_mutex);
    still = registry_find(&filters->registry, file->number);
    if (still == file)
        code = filter_publish(filters, path, file->number, file->size, err);
    if (still == file && code == COLANDER_OK)
        *is_done =
            registry_change(&filters->registry, file, FILE_PENDING, NULL, NULL);
    else
        (void)unlink(path);
    pthread_mutex_unlock(&filters->names_mutex);
    sst_file_unref(&filters->registry, still);
    return code;
}

/* Under the worker's mutex; NULL: there was none. */
static struct worker_try *
find_try(const struct worker *worker, uint64_t number)
{
    for (size_t i = 0; i < worker->try_count; i++) {
        if (worker->tries[i].number == number)
            return &worker->tries[i];
    }
    return NULL;
}

static uint32_t
tries_of(struct worker *worker, uint64_t number)
{
    const struct worker_try *found;
    uint32_t count;

    pthread_mutex_lock(&worker->mutex);
    found = find_try(worker, number);
    count = found == NULL ? 0 : found->count;
    pthread_mutex_unlock(&worker->mutex);
    return count;
}

/* Under the worker's mutex; NULL when memory is short. */
static struct worker_try *
add_try(struct worker *worker, uint64_t number)
{
    if (worker->try_count == worker->try_capacity) {
        size_t capacity = 2 * worker->try_capacity + 16;
        struct worker_try *grown =
            realloc(worker->tries, capacity * sizeof(*worker->tries));

        if (grown == NULL)
            return NULL;
        worker->tries = grown;
        worker->try_capacity = capacity;
    }
    worker->tries[worker->try_count].number = number;
    worker->tries[worker->try_count].count = 0;
    return &worker->tries[worker->try_count++];
}

/* So that it is not tried for ever. */
static void
count_try(struct worker *worker, uint64_t number, uint32_t weight)
{
    struct worker_try *found;

    pthread_mutex_lock(&worker->mutex);
    found = find_try(worker, number);
    if (found == NULL)
        found = add_try(worker, number);
    if (found != NULL)
        found->count += weight;
    pthread_mutex_unlock(&worker->mutex);
}

/* Somebody asks for it: that begins anew. */
static void
forget_tries(struct worker *worker, uint64_t number)
{
    struct worker_try *found;

    pthread_mutex_lock(&worker->mutex);
    found = find_try(worker, number);
    if (found != NULL)
        *found = worker->tries[--worker->try_count];
    pthread_mutex_unlock(&worker->mutex);
}

static void
note_failed(struct filters *filters, const char *what, uint64_t number,
            const struct colander_error *err)
{
    if (err->code == COLANDER_CANCELLED || err->code == COLANDER_NOT_FOUND)
        return; /* the SST or the store is going */
    filter_log_error(filters, what, number, err);
    count_try(&filters->worker, number, GIVEN_UP);
}

enum colander_code
worker_rebuild_latest(struct filters *filters, uint64_t number,
                      struct colander_error *err)
{
    enum colander_code code = COLANDER_OK;
    bool is_done = false;

    /* again where it was loaded or doubted just then, and kept its filter */
    while (code == COLANDER_OK && !is_done) {
        struct sst_file *file = registry_find(&filters->registry, number);

        if (file == NULL)
            return COLANDER_OK;
        code = worker_rebuild(filters, file, &is_done, err);
        sst_file_unref(&filters->registry, file);
    }
    if (code == COLANDER_NOT_FOUND)
        code = COLANDER_OK; /* replaced meanwhile: by files of new filters */
    forget_tries(&filters->worker, number);
    worker_kick(filters);
    return code;
}

/* --------------------------------------------------------------- thread --- */

static void
rebuild_missing(struct filters *filters, struct sst_file *file)
{
    struct settings *settings =
        registry_settings(&filters->registry, file->family);
    bool is_on = settings->options.is_on;
    struct colander_error err;
    bool is_done;

    settings_unref(settings);
    if (!is_on || filters->is_read_only ||
        tries_of(&filters->worker, file->number) >= REBUILDS_MAX)
        return;
    count_try(&filters->worker, file->number, 1);
    if (worker_rebuild(filters, file, &is_done, &err) != COLANDER_OK)
        note_failed(filters, "cannot make the filter of SST", file->number,
                    &err);
    if (!is_done)
        return;
    pthread_mutex_lock(&filters->log.mutex);
    filters->log.rebuilt_count++;
    pthread_mutex_unlock(&filters->log.mutex);
}

static void
advance(struct filters *filters, struct sst_file *file)
{
    struct colander_error err;
    enum colander_code code = COLANDER_OK;

    if (file->state == FILE_PENDING)
        code = filters_open_pending(filters, file, &err);
    else if (file->state == FILE_OPEN)
        code = load(filters, file, &err);
    else if (file->state == FILE_UNSURE)
        rebuild_missing(filters, file);
    if (code == COLANDER_CORRUPT || code == COLANDER_NOT_FOUND)
        filters_doubt(filters, file, &err);
    else if (code != COLANDER_OK)
        note_failed(filters, "cannot load the filter of SST", file->number,
                    &err);
}

/* Whether the file may be replaced soon, as most are that are flushed while
 * much is written: loading it might be for nothing, and its locator answers. */
static bool
is_young(const struct sst_file *file)
{
    return file->state != FILE_UNSURE && file->born != INT64_MIN &&
           registry_clock() - file->born < LOADING_AGE;
}

/* Takes every file that is in `state` one step on; young ones only if
 * `hurries`. Returns whether some were left. */
static bool
advance_all(struct filters *filters, enum file_state state, bool hurries)
{
    struct sst_file *file;
    uint64_t number = 0;
    bool is_left = false;

    while (!is_stopping(filters) &&
           (file = registry_next(&filters->registry, number, state)) != NULL) {
        number = file->number;
        if (!hurries && is_young(file))
            is_left = true;
        else if (tries_of(&filters->worker, number) < GIVEN_UP)
            advance(filters, file);
        sst_file_unref(&filters->registry, file);
    }
    return is_left;
}

static void
wait_for_work(struct worker *worker)
{
    struct timespec until;

    worker->is_idle = true;
    pthread_cond_broadcast(&worker->changed);
    if (!worker->is_waiting) {
        pthread_cond_wait(&worker->changed, &worker->mutex);
        return;
    }
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += LOADING_AGE;
    if (pthread_cond_timedwait(&worker->changed, &worker->mutex, &until) ==
        ETIMEDOUT)
        worker->is_kicked = true;
}

static void *
run(void *context)
{
    struct filters *filters = context;
    struct worker *worker = &filters->worker;
    bool hurries;
    bool is_left;

    pthread_mutex_lock(&worker->mutex);
    while (!worker->is_stopping) {
        if (!worker->is_kicked) {
            wait_for_work(worker);
            continue;
        }
        worker->is_kicked = false;
        worker->is_idle = false;
        hurries = worker->awaiting > 0;
        pthread_mutex_unlock(&worker->mutex);
        do {
            (void)advance_all(filters, FILE_UNSURE, hurries);
            is_left = advance_all(filters, FILE_PENDING, hurries);
            is_left = advance_all(filters, FILE_OPEN, hurries) || is_left;
        } while (!is_left && !is_stopping(filters) &&
                 registry_unfold(&filters->registry));
        pthread_mutex_lock(&worker->mutex);
        worker->is_waiting = is_left;
    }
    worker->is_idle = true;
    pthread_cond_broadcast(&worker->changed);
    pthread_mutex_unlock(&worker->mutex);
    return NULL;
}

enum colander_code
worker_start(struct filters *filters, struct colander_error *err)
{
    struct worker *worker = &filters->worker;
    int status;

    pthread_mutex_lock(&worker->mutex);
    worker->is_stopping = false;
    worker->is_kicked = true;
    worker->is_idle = false;
    worker->is_running = true;
    pthread_mutex_unlock(&worker->mutex);
    status = quiet_thread_create(&worker->thread, run, filters);
    if (status == 0)
        return COLANDER_OK;
    pthread_mutex_lock(&worker->mutex);
    worker->is_running = false;
    pthread_mutex_unlock(&worker->mutex);
    return COLANDER_FAIL(err, COLANDER_NO_MEMORY, "cannot start a thread: %s",
                         strerror(status));
}

void
worker_stop(struct filters *filters)
{
    struct worker *worker = &filters->worker;
    bool is_running;

    pthread_mutex_lock(&worker->mutex);
    is_running = worker->is_running;
    worker->is_stopping = true;
    pthread_cond_broadcast(&worker->changed);
    pthread_mutex_unlock(&worker->mutex);
    if (!is_running)
        return;
    pthread_join(worker->thread, NULL);
    pthread_mutex_lock(&worker->mutex);
    worker->is_running = false;
    pthread_mutex_unlock(&worker->mutex);
}

void
worker_kick(struct filters *filters)
{
    struct worker *worker = &filters->worker;

    pthread_mutex_lock(&worker->mutex);
    worker->is_kicked = true;
    pthread_cond_broadcast(&worker->changed);
    pthread_mutex_unlock(&worker->mutex);
}

bool
worker_await(struct filters *filters)
{
    struct worker *worker = &filters->worker;
    bool is_done;

    pthread_mutex_lock(&worker->mutex);
    worker->awaiting++;
    worker->is_kicked = true;
    pthread_cond_broadcast(&worker->changed);
    while (worker->is_running && !worker->is_stopping &&
           (worker->is_kicked || !worker->is_idle))
        pthread_cond_wait(&worker->changed, &worker->mutex);
    worker->awaiting--;
    is_done = worker->is_running && !worker->is_stopping;
    pthread_mutex_unlock(&worker->mutex);
    return is_done;
}
