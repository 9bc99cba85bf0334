/*
 * Lists, makes and asks the summaries of a store: see filters/summaries.h.
 *
 * SPDX-License-Identifier: MIT
 */
#include "filters/summaries.h"

#include "core/array.h"
#include "core/bytes.h"
#include "filters/live.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* A summary is kept while so many of its files are there; and so many small
 * ones, before all small ones are made anew as one. */
#define LIVE_QUARTERS_MIN 3
#define SMALL_PARTS (SUMMARY_PARTS_MAX / 4)
#define SMALL_MAX 4

/* Each costs reads of a filter that is far away, in a thousand parts. */
#define FALSE_POSITIVES 0.0001

void
summaries_init(struct summaries *summaries)
{
    memset(summaries, 0, sizeof(*summaries));
    pthread_mutex_init(&summaries->mutex, NULL);
}

void
summaries_release(struct summaries *summaries)
{
    for (size_t i = 0; i < summaries->count; i++)
        summary_close(summaries->items[i]);
    free(summaries->items);
    pthread_mutex_destroy(&summaries->mutex);
}

/* -------------------------------------------------------------- listing --- */

static bool
is_summary(const char *name)
{
    const size_t size = strlen(name);
    const size_t end = strlen(SUMMARY_SUFFIX);

    return size > end && strcmp(name + size - end, SUMMARY_SUFFIX) == 0;
}

/* Adds the summary of that name. One that is damaged is as none. */
static enum colander_code
add_summary(struct filters *filters, const char *directory, const char *name,
            struct colander_error *err)
{
    struct summaries *summaries = &filters->summaries;
    struct colander_error failure;
    struct summary *opened;
    enum colander_code code = array_reserve(&summaries->items, summaries->count,
                                            &summaries->capacity, 1, err);
    char *path;

    if (code != COLANDER_OK)
        return code;
    if (asprintf(&path, "%s/%s", directory, name) < 0)
        return COLANDER_FAIL(err, COLANDER_NO_MEMORY, "no memory for a path");
    code = summary_open(path, filters->remote, filters->commons->cache, &opened,
                        &failure);
    if (code == COLANDER_OK)
        summaries->items[summaries->count++] = opened;
    else if (code == COLANDER_IO && filters->remote != NULL && err != NULL)
        *err = failure;
    else
        filter_log_error(&filters->log, "cannot use a summary", 0, &failure);
    if (code != COLANDER_IO || filters->remote == NULL)
        code = COLANDER_OK;
    free(path);
    return code;
}

/* Opens all there are, once. Requires the mutex. */
static enum colander_code
list_summaries(struct filters *filters, struct colander_error *err)
{
    struct summaries *summaries = &filters->summaries;
    const char *directory = filter_names_directory(&filters->names);
    enum colander_code code = COLANDER_OK;
    struct dirent *entry;
    DIR *listing;

    if (summaries->is_listed || directory == NULL)
        return COLANDER_OK;
    listing = opendir(directory);
    while (listing != NULL && code == COLANDER_OK &&
           (entry = readdir(listing)) != NULL) {
        if (is_summary(entry->d_name))
            code = add_summary(filters, directory, entry->d_name, err);
    }
    if (listing != NULL)
        (void)closedir(listing);
    if (code == COLANDER_OK) {
        summaries->is_listed = true;
        return code;
    }
    while (summaries->count > 0)
        summary_close(summaries->items[--summaries->count]);
    return code;
}

bool
summaries_name(struct filters *filters, size_t index,
               char name[SIDECAR_PATH_MAX])
{
    struct summaries *summaries = &filters->summaries;
    bool is_there;
    int size = 0;

    pthread_mutex_lock(&summaries->mutex);
    if (list_summaries(filters, NULL) != COLANDER_OK)
        index = SIZE_MAX;
    is_there = index < summaries->count;
    if (is_there)
        size = snprintf(name, SIDECAR_PATH_MAX, "filters%s",
                        strrchr(summaries->items[index]->path, '/'));
    pthread_mutex_unlock(&summaries->mutex);
    return is_there && size < SIDECAR_PATH_MAX;
}

/* -------------------------------------------------------------- making --- */

/* The files of the store, in order of their numbers, that have no summary. */
struct making {
    struct filters *filters;
    struct sst_file **files;
    size_t count;
    size_t capacity;
};

/* Returns the place of a file, or the count. */
static size_t
place_of(const struct making *making, uint64_t number, uint64_t size)
{
    size_t place;

    array_search(place, making->count, making->files[place]->number < number);
    return place < making->count && making->files[place]->number == number &&
                   making->files[place]->size == size
               ? place
               : making->count;
}

static int
compare_files(const void *one, const void *other)
{
    const uint64_t a = (*(struct sst_file *const *)one)->number;
    const uint64_t b = (*(struct sst_file *const *)other)->number;

    return (a > b) - (a < b);
}

/* Whether the filter of the file knows every value. */
static bool
is_complete(const struct sst_file *file)
{
    return file->filter != NULL && file->filter->head.unfiltered_count == 0 &&
           file->filter->version == FILTER_FILE_VERSION &&
           file->filter->part_count <= SUMMARY_PARTS_MAX;
}

static enum colander_code
list_state(struct making *making, enum file_state state,
           struct colander_error *err)
{
    struct registry *registry = &making->filters->registry;
    struct sst_file *file;
    uint64_t number = 0;
    enum colander_code code = COLANDER_OK;

    while (code == COLANDER_OK &&
           (file = registry_next(registry, number, state)) != NULL) {
        number = file->number;
        code = array_reserve(&making->files, making->count, &making->capacity,
                             1, err);
        if (code == COLANDER_OK)
            making->files[making->count++] = file;
        else
            sst_file_unref(registry, file);
    }
    return code;
}

/* Removes files from the list that are NULL. */
static void
close_gaps(struct making *making)
{
    size_t kept = 0;

    for (size_t i = 0; i < making->count; i++) {
        if (making->files[i] != NULL)
            making->files[kept++] = making->files[i];
    }
    making->count = kept;
}

/* Lists the files of all states. One that changes its state meanwhile may be
 * met twice, or not at all: then it has no summary for now. */
static enum colander_code
list_files(struct making *making, struct colander_error *err)
{
    static const enum file_state states[] = {FILE_UNSURE, FILE_PENDING,
                                             FILE_OPEN, FILE_LOADED};
    enum colander_code code = COLANDER_OK;

    for (size_t i = 0; i < 4 && code == COLANDER_OK; i++)
        code = list_state(making, states[i], err);
    if (making->count > 0)
        qsort(making->files, making->count, sizeof(making->files[0]),
              compare_files);
    for (size_t i = 1; i < making->count; i++) {
        if (making->files[i - 1]->number != making->files[i]->number)
            continue;
        sst_file_unref(&making->filters->registry, making->files[i - 1]);
        making->files[i - 1] = NULL;
    }
    close_gaps(making);
    return code;
}

/* Returns how many files of a summary are there. */
static uint32_t
count_live(const struct making *making, const struct summary *summary)
{
    uint32_t live = 0;

    for (uint32_t i = 0; i < summary->sst_count; i++)
        live += place_of(making, summary->ssts[i].number,
                         summary->ssts[i].size) < making->count;
    return live;
}

static uint32_t
count_parts(const struct summary *summary)
{
    uint32_t parts = 0;

    for (uint32_t i = 0; i < summary->sst_count; i++)
        parts += summary->ssts[i].part_count;
    return parts;
}

/* Removes the summaries that are of little use, and the files of the others
 * from the list. */
static void
keep_useful(struct making *making)
{
    struct summaries *summaries = &making->filters->summaries;
    size_t small = 0;
    size_t kept = 0;

    for (size_t i = 0; i < summaries->count; i++)
        small += count_parts(summaries->items[i]) < SMALL_PARTS;
    for (size_t i = 0; i < summaries->count; i++) {
        struct summary *summary = summaries->items[i];

        if (count_live(making, summary) * UINT64_C(4) >=
                summary->sst_count * (uint64_t)LIVE_QUARTERS_MIN &&
            (small < SMALL_MAX || count_parts(summary) >= SMALL_PARTS)) {
            summaries->items[kept++] = summary;
            continue;
        }
        (void)unlink(summary->path);
        summary_close(summary);
    }
    summaries->count = kept;
    for (size_t i = 0; i < kept; i++) {
        const struct summary *summary = summaries->items[i];

        for (uint32_t k = 0; k < summary->sst_count; k++) {
            const size_t place = place_of(making, summary->ssts[k].number,
                                          summary->ssts[k].size);

            if (place < making->count) {
                sst_file_unref(&making->filters->registry,
                               making->files[place]);
                making->files[place] = NULL;
                close_gaps(making);
            }
        }
    }
}

/* Some files, and their presences in an unnamed file. */
struct lot {
    int fd;
    uint64_t size; /* of the file */
    struct summary_sst ssts[SUMMARY_PARTS_MAX];
    struct summary_part parts[SUMMARY_PARTS_MAX];
    uint32_t sst_count;
    uint32_t part_count;
};

static enum colander_code
spill(struct lot *lot, const struct presence *presence,
      struct colander_error *err)
{
    const uint8_t *bytes = (const uint8_t *)presence->words;
    size_t left = presence_size(&presence->shape);

    while (left > 0) {
        const ssize_t written = pwrite(lot->fd, bytes, left, (off_t)lot->size);

        if (written < 0 && errno != EINTR)
            return COLANDER_FAIL(err, COLANDER_IO,
                                 "cannot write a temporary file: %s",
                                 strerror(errno));
        if (written < 0)
            continue;
        bytes += written;
        left -= (size_t)written;
        lot->size += (uint64_t)written;
    }
    return COLANDER_OK;
}

static enum colander_code
add_file(struct lot *lot, const struct sst_file *file,
         struct colander_error *err)
{
    const struct filter_file *filter = file->filter;
    enum colander_code code = COLANDER_OK;

    lot->ssts[lot->sst_count] =
        (struct summary_sst){file->number, file->size, filter->part_count,
                             filter->head.words_version == TEXT_WORDS_VERSION &&
                                 filter->head.word_column_count == 0};
    for (uint32_t i = 0; i < filter->part_count && code == COLANDER_OK; i++) {
        struct summary_part *part = &lot->parts[lot->part_count];
        const struct presence_shape shape = presence_shape_for_rate(
            filter->parts[i].hash_count, FALSE_POSITIVES);
        struct presence presence;

        code = filters_make_presence(filter, &filter->parts[i], &shape,
                                     &presence, err);
        if (code != COLANDER_OK)
            break;
        *part =
            (struct summary_part){lot->sst_count, presence.shape, lot->size};
        code = spill(lot, &presence, err);
        presence_release(&presence);
        lot->part_count += code == COLANDER_OK;
    }
    lot->sst_count += code == COLANDER_OK;
    return code;
}

/* Writes the summary of a lot under a name that is new, and lists it. */
static enum colander_code
finish_lot(struct filters *filters, struct lot *lot, struct colander_error *err)
{
    const char *directory = filter_names_directory(&filters->names);
    enum colander_code code;
    uint64_t id;
    char *temporary;
    char name[64];

    if (lot->sst_count == 0)
        return COLANDER_OK;
    code = filter_draw(&id, err);
    if (code != COLANDER_OK)
        return code;
    (void)snprintf(name, sizeof(name), "%016" PRIx64 SUMMARY_SUFFIX, id);
    if (asprintf(&temporary, "%s/%016" PRIx64 "%016" PRIx64 ".tmp", directory,
                 filters->names.run, id) < 0)
        return COLANDER_FAIL(err, COLANDER_NO_MEMORY, "no memory for a path");
    code = summary_write(temporary, lot->fd, lot->ssts, lot->sst_count,
                         lot->parts, lot->part_count, err);
    if (code == COLANDER_OK) {
        char *path;

        if (asprintf(&path, "%s/%s", directory, name) < 0)
            code =
                COLANDER_FAIL(err, COLANDER_NO_MEMORY, "no memory for a path");
        else if (rename(temporary, path) != 0)
            code = COLANDER_FAIL(err, COLANDER_IO, "cannot rename '%s': %s",
                                 temporary, strerror(errno));
        if (code == COLANDER_OK)
            code = add_summary(filters, directory, name, err);
        else
            (void)unlink(temporary);
        free(path);
    }
    free(temporary);
    return code;
}

/* Returns the file, whose filter is opened if it was not yet. */
static const struct sst_file *
open_file(struct making *making, size_t place, struct colander_error *err)
{
    struct filters *filters = making->filters;
    struct sst_file *file = making->files[place];
    struct sst_file *opened;

    if (file->state != FILE_PENDING ||
        filters_open_pending(filters, file, err) != COLANDER_OK)
        return file;
    opened = registry_find(&filters->registry, file->number);
    if (opened == NULL)
        return file;
    sst_file_unref(&filters->registry, file);
    making->files[place] = opened;
    return opened;
}

static enum colander_code
make_lot(struct making *making, size_t *next, struct lot *lot,
         struct colander_error *err)
{
    const char *directory = filter_names_directory(&making->filters->names);
    enum colander_code code = COLANDER_OK;

    lot->sst_count = lot->part_count = 0;
    lot->size = 0;
    lot->fd = open(directory, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    if (lot->fd < 0)
        return COLANDER_FAIL(err, COLANDER_IO,
                             "cannot create a temporary file in '%s': %s",
                             directory, strerror(errno));
    for (; *next < making->count && code == COLANDER_OK; ++*next) {
        const struct sst_file *file = open_file(making, *next, err);

        if (!is_complete(file))
            continue;
        if (lot->part_count + file->filter->part_count > SUMMARY_PARTS_MAX ||
            lot->sst_count == SUMMARY_PARTS_MAX)
            break;
        code = add_file(lot, file, err);
    }
    if (code == COLANDER_OK)
        code = finish_lot(making->filters, lot, err);
    (void)close(lot->fd);
    return code;
}

static enum colander_code
make_missing(struct making *making, struct colander_error *err)
{
    struct lot *lot = calloc(1, sizeof(*lot));
    enum colander_code code = COLANDER_OK;

    if (lot == NULL)
        return COLANDER_FAIL(err, COLANDER_NO_MEMORY, "no memory");
    for (size_t next = 0; next < making->count && code == COLANDER_OK;)
        code = make_lot(making, &next, lot, err);
    free(lot);
    return code;
}

void
summaries_make(struct filters *filters)
{
    struct summaries *summaries = &filters->summaries;
    struct making making = {filters, NULL, 0, 0};
    struct colander_error err;
    enum colander_code code;

    if (filters->remote != NULL ||
        filter_names_directory(&filters->names) == NULL)
        return;
    pthread_mutex_lock(&summaries->mutex);
    code = list_summaries(filters, &err);
    if (code == COLANDER_OK)
        code = list_files(&making, &err);
    if (code == COLANDER_OK) {
        keep_useful(&making);
        code = make_missing(&making, &err);
    }
    pthread_mutex_unlock(&summaries->mutex);
    if (code != COLANDER_OK)
        filter_log_error(&filters->log, "cannot make a summary", 0, &err);
    for (size_t i = 0; i < making.count; i++)
        sst_file_unref(&filters->registry, making.files[i]);
    free(making.files);
}

/* -------------------------------------------------------------- asking --- */

/* Returns the place of a file in the view, or their count. */
static size_t
place_in_view(const struct file_view *view, const struct summary_sst *sst)
{
    size_t place;

    array_search(place, view->file_count,
                 view->files[place]->number < sst->number);
    return place < view->file_count &&
                   view->files[place]->number == sst->number &&
                   view->files[place]->size == sst->size
               ? place
               : view->file_count;
}

/* Clears the bits of the files that the summary rules out. */
static enum colander_code
ask_one(const struct summary *summary, const struct file_view *view,
        uint64_t value_hash, bool needs_words, uint64_t *files,
        struct colander_error *err)
{
    uint64_t *hits = calloc(summary->sst_count / 64 + 1, sizeof(*hits));
    enum colander_code code;

    if (hits == NULL)
        return COLANDER_FAIL(err, COLANDER_NO_MEMORY, "no memory for a find");
    code = summary_ask(summary, value_hash, hits, err);
    for (uint32_t i = 0; i < summary->sst_count && code == COLANDER_OK; i++) {
        const struct summary_sst *sst = &summary->ssts[i];
        size_t place;

        if ((hits[i / 64] >> i % 64 & 1) != 0 ||
            (needs_words && !sst->has_words))
            continue;
        place = place_in_view(view, sst);
        if (place < view->file_count)
            files[place / 64] &= ~(UINT64_C(1) << place % 64);
    }
    free(hits);
    return code;
}

enum colander_code
summaries_ask(struct filters *filters, const struct file_view *view,
              uint64_t value_hash, bool needs_words, uint64_t *files,
              struct colander_error *err)
{
    struct summaries *summaries = &filters->summaries;
    enum colander_code code;
    size_t count;

    pthread_mutex_lock(&summaries->mutex);
    code = list_summaries(filters, err);
    count = summaries->count; /* of a reader: they stay */
    pthread_mutex_unlock(&summaries->mutex);
    memset(files, 0xff, (view->file_count / 64 + 1) * sizeof(*files));
    for (size_t i = 0; i < count && code == COLANDER_OK; i++) {
        struct colander_error failure;

        code = ask_one(summaries->items[i], view, value_hash, needs_words,
                       files, &failure);
        if (code == COLANDER_CORRUPT) { /* as if there were none */
            filter_log_error(&filters->log, "cannot use a summary", 0,
                             &failure);
            code = COLANDER_OK;
        } else if (code != COLANDER_OK && err != NULL) {
            *err = failure;
        }
    }
    return code;
}
