/*
 * Observer: builds a filter while RocksDB writes an SST, and follows the files
 * as they come and go (see core/sst.h).
 *
 * SPDX-License-Identifier: MIT
 */
#include "filters/context.h"
#include "filters/filter_feed.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---------------------------------------------------------------- paths --- */

#define DIRECTORY_NAME "filters"
#define FILTER_NAME "%s/%06llu-%llu.filter"

/* The directory of the filters, made when there is none; NULL: it cannot be
 * told. It is known once the store's directory is there. */
static const char *
find_directory(struct filters *filters)
{
    const char *directory;

    pthread_mutex_lock(&filters->mutex);
    if (filters->directory == NULL) {
        char *path = realpath(filters->given_path, NULL);

        if (path != NULL &&
            asprintf(&filters->directory, "%s/" DIRECTORY_NAME, path) < 0)
            filters->directory = NULL;
        free(path);
        if (filters->directory != NULL && !filters->is_read_only)
            (void)mkdir(filters->directory, 0700); /* creating files tells */
    }
    directory = filters->directory;
    pthread_mutex_unlock(&filters->mutex);
    return directory;
}

static bool
is_whole(int size)
{
    return size > 0 && size < FILTER_PATH_MAX;
}

bool
filter_path_of_tag(struct filters *filters, const uint8_t tag[SST_TAG_SIZE],
                   char path[FILTER_PATH_MAX])
{
    const char *directory = find_directory(filters);
    char hex[2 * SST_TAG_SIZE + 1];

    for (size_t i = 0; i < SST_TAG_SIZE; i++)
        snprintf(hex + 2 * i, 3, "%02x", tag[i]);
    return directory != NULL && is_whole(snprintf(path, FILTER_PATH_MAX,
                                                  "%s/%s.tmp", directory, hex));
}

bool
filter_path_of_sst(struct filters *filters, uint64_t number, uint64_t size,
                   char path[FILTER_PATH_MAX])
{
    const char *directory = find_directory(filters);

    return directory != NULL &&
           is_whole(snprintf(path, FILTER_PATH_MAX, FILTER_NAME, directory,
                             (unsigned long long)number,
                             (unsigned long long)size));
}

bool
filter_name_of_sst(void *context, uint64_t number, uint64_t size,
                   char name[COMPANION_PATH_MAX])
{
    char path[FILTER_PATH_MAX];

    (void)snprintf(name, COMPANION_PATH_MAX, FILTER_NAME, DIRECTORY_NAME,
                   (unsigned long long)number, (unsigned long long)size);
    return filter_path_of_sst(context, number, size, path) &&
           access(path, F_OK) == 0;
}

void
filter_tag_make(struct filters *filters, uint8_t tag[SST_TAG_SIZE])
{
    uint64_t count = atomic_fetch_add(&filters->tag_count, 1);

    memcpy(tag, &filters->run, sizeof(filters->run));
    memcpy(tag + sizeof(filters->run), &count, sizeof(count));
}

static void
sync_directory(const char *directory)
{
    int fd = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

    if (fd < 0)
        return;
    (void)fsync(fd); /* a name that is lost means a filter to be made again */
    close(fd);
}

enum colander_code
filter_publish(struct filters *filters, const char *path, uint64_t number,
               uint64_t size, struct colander_error *err)
{
    char name[FILTER_PATH_MAX];

    if (!filter_path_of_sst(filters, number, size, name))
        return COLANDER_FAIL(err, COLANDER_IO,
                             "the path of the store is too long");
    if (rename(path, name) != 0)
        return COLANDER_FAIL(err, COLANDER_IO, "cannot rename '%s': %s", path,
                             strerror(errno));
    sync_directory(find_directory(filters));
    return COLANDER_OK;
}

static void
remove_filter(struct filters *filters, uint64_t number, uint64_t size)
{
    char path[FILTER_PATH_MAX];

    if (filter_path_of_sst(filters, number, size, path))
        (void)unlink(path); /* what stays is removed at the next open */
}

/* --------------------------------------------------------------- errors --- */

void
filter_log_error(struct filters *filters, const char *what, uint64_t number,
                 const struct colander_error *err)
{
    struct filter_log *log = &filters->log;

    pthread_mutex_lock(&log->mutex);
    log->error_count++;
    snprintf(log->last_error, sizeof(log->last_error), "%s %llu: %s", what,
             (unsigned long long)number, err->message);
    pthread_mutex_unlock(&log->mutex);
}

void
filters_doubt(struct filters *filters, struct sst_file *file,
              const struct colander_error *err)
{
    bool is_changed;

    /* Not while the filter is being replaced: what was read may be of the new
     * one already. */
    pthread_mutex_lock(&filters->names_mutex);
    is_changed =
        registry_change(&filters->registry, file, FILE_UNSURE, NULL, NULL);
    pthread_mutex_unlock(&filters->names_mutex);
    if (!is_changed)
        return; /* somebody else did, or the file is gone */
    filter_log_error(filters, "doubted the filter of SST", file->number, err);
    pthread_mutex_lock(&filters->log.mutex);
    filters->log.damaged_count++;
    pthread_mutex_unlock(&filters->log.mutex);
    worker_kick(filters);
}

/* -------------------------------------------------------------- writing --- */

/* A filter under way. */
struct writer {
    struct filters *filters;
    uint32_t family;
    struct filter_feed *feed; /* NULL: it was given up */
    uint8_t tag[SST_TAG_SIZE];
};

/* A filter that cannot be made costs time in finds, and stops nothing. */
static void
give_up(struct writer *writer, const struct colander_error *err)
{
    filter_log_error(writer->filters, "cannot build a filter of family",
                     writer->family, err);
    filter_feed_destroy(writer->feed);
    writer->feed = NULL;
}

static void *
begin_writer(void *context, uint32_t family_id)
{
    struct filters *filters = context;
    struct family_filters *family =
        registry_family(&filters->registry, family_id);
    struct writer *writer = calloc(1, sizeof(*writer));
    struct settings *settings;
    struct colander_error err;
    char path[FILTER_PATH_MAX];

    if (family == NULL || writer == NULL) {
        free(writer);
        return NULL;
    }
    settings = registry_settings(&filters->registry, family);
    writer->filters = filters;
    writer->family = family_id;
    filter_tag_make(filters, writer->tag);
    if (settings->options.is_on &&
        filter_path_of_tag(filters, writer->tag, path) &&
        filter_feed_create(path, settings, &writer->feed, &err) != COLANDER_OK)
        give_up(writer, &err);
    settings_unref(settings);
    if (writer->feed != NULL)
        return writer;
    free(writer);
    return NULL;
}

static void
add_to_writer(void *context, struct colander_slice key,
              struct colander_slice value, bool is_put)
{
    struct writer *writer = context;
    struct colander_error err;

    if (writer->feed != NULL &&
        filter_feed_add(writer->feed, key, value, is_put, &err) != COLANDER_OK)
        give_up(writer, &err);
}

static bool
finish_writer(void *context, uint8_t tag[SST_TAG_SIZE])
{
    struct writer *writer = context;
    struct colander_error err;

    if (writer->feed != NULL &&
        filter_feed_finish(writer->feed, writer->tag, &err) != COLANDER_OK)
        give_up(writer, &err);
    if (writer->feed == NULL)
        return false;
    memcpy(tag, writer->tag, SST_TAG_SIZE);
    return true;
}

static void
end_writer(void *context)
{
    struct writer *writer = context;

    filter_feed_destroy(writer->feed);
    free(writer);
}

/* ---------------------------------------------------------------- files --- */

/* Names the filter after its SST; false: there is none that could be used. */
static bool
take_filter(struct filters *filters, const struct sst_created *file)
{
    struct colander_error err;
    char path[FILTER_PATH_MAX];

    if (!file->is_tagged)
        return false;
    if (!filter_path_of_tag(filters, file->tag, path))
        return false;
    if (!file->is_ok) {
        (void)unlink(path);
        return false;
    }
    if (filter_publish(filters, path, file->number, file->size, &err) ==
        COLANDER_OK) {
        pthread_mutex_lock(&filters->log.mutex);
        filters->log.built_count++;
        pthread_mutex_unlock(&filters->log.mutex);
        return true;
    }
    filter_log_error(filters, "cannot keep the filter of SST", file->number,
                     &err);
    (void)unlink(path);
    return false;
}

static void
file_created(void *context, const struct sst_created *file)
{
    struct filters *filters = context;
    struct sst_info info = {
        .family = file->family,
        .number = file->number,
        .size = file->size,
        .entry_count = file->entry_count,
        .is_tag_known = file->is_tagged,
    };
    struct colander_error err;
    bool has_filter;

    memcpy(info.tag, file->tag, SST_TAG_SIZE);
    pthread_mutex_lock(&filters->names_mutex);
    has_filter = take_filter(filters, file);
    if (file->is_ok && !has_filter)
        remove_filter(filters, file->number, file->size); /* before a crash */
    if (file->is_ok && registry_add(&filters->registry, &info,
                                    has_filter ? FILE_PENDING : FILE_UNSURE,
                                    &err) != COLANDER_OK)
        filter_log_error(filters, "cannot list SST", file->number, &err);
    pthread_mutex_unlock(&filters->names_mutex);
    worker_kick(filters);
}

static void
files_replaced(void *context, const uint64_t *numbers, size_t count)
{
    struct filters *filters = context;

    for (size_t i = 0; i < count; i++)
        registry_remove(&filters->registry, numbers[i]);
    worker_kick(filters); /* there may be room to unfold others */
}

static void
file_deleted(void *context, uint64_t number)
{
    struct filters *filters = context;

    pthread_mutex_lock(&filters->names_mutex);
    remove_filter(filters, number, registry_forget(&filters->registry, number));
    pthread_mutex_unlock(&filters->names_mutex);
}

static void
rows_flushed(void *context, uint32_t family_id, uint64_t sequence)
{
    struct filters *filters = context;
    struct family_filters *family =
        registry_family(&filters->registry, family_id);

    if (family != NULL)
        recent_flushed(family->recent, sequence);
}

struct sst_observer
observer_of(struct filters *filters)
{
    const struct sst_observer observer = {
        .context = filters,
        .writer_begin = begin_writer,
        .writer_add = add_to_writer,
        .writer_finish = finish_writer,
        .writer_end = end_writer,
        .created = file_created,
        .replaced = files_replaced,
        .deleted = file_deleted,
        .flushed = rows_flushed,
    };

    return observer;
}

/* -------------------------------------------------------------- opening --- */

static enum colander_code
list_file(void *context, const struct sst_info *file,
          struct colander_error *err)
{
    struct filters *filters = context;
    char path[FILTER_PATH_MAX];
    bool has_filter =
        filter_path_of_sst(filters, file->number, file->size, path) &&
        access(path, R_OK) == 0;

    return registry_add(&filters->registry, file,
                        has_filter ? FILE_PENDING : FILE_UNSURE, err);
}

/* Whether a file in the filters' directory belongs to nobody: one that an
 * earlier run did not finish, or a filter whose SST is gone. */
static bool
is_orphan(struct filters *filters, const char *name)
{
    struct sst_file *file;
    unsigned long long number;
    unsigned long long sst_size = 0;
    size_t size = strlen(name);
    char run[2 * sizeof(filters->run) + 1];
    bool is_wanted;
    char *end;

    if (size == 2 * SST_TAG_SIZE + 4 && strcmp(name + size - 4, ".tmp") == 0) {
        for (size_t i = 0; i < sizeof(filters->run); i++)
            snprintf(run + 2 * i, 3, "%02x",
                     ((const uint8_t *)&filters->run)[i]);
        return strncmp(name, run, sizeof(run) - 1) != 0;
    }
    number = strtoull(name, &end, 10);
    if (end != name && *end == '-')
        sst_size = strtoull(end + 1, &end, 10);
    if (end == name || strcmp(end, ".filter") != 0)
        return false; /* not ours */
    file = registry_find(&filters->registry, number);
    is_wanted = file != NULL && file->size == sst_size;
    sst_file_unref(&filters->registry, file);
    return !is_wanted;
}

void
observer_visit_orphans(struct filters *filters,
                       void (*visit)(void *context, int directory_fd,
                                     const char *name),
                       void *context)
{
    const char *directory = find_directory(filters);
    DIR *listing = directory == NULL ? NULL : opendir(directory);
    struct dirent *entry;

    while (listing != NULL && (entry = readdir(listing)) != NULL) {
        pthread_mutex_lock(&filters->names_mutex);
        if (is_orphan(filters, entry->d_name))
            visit(context, dirfd(listing), entry->d_name);
        pthread_mutex_unlock(&filters->names_mutex);
    }
    if (listing != NULL)
        closedir(listing);
}

static void
remove_orphan(void *context, int directory_fd, const char *name)
{
    (void)context;
    (void)unlinkat(directory_fd, name, 0);
}

enum colander_code
observer_list_files(struct filters *filters, struct colander_error *err)
{
    enum colander_code code =
        engine_ssts(filters->engine, list_file, filters, err);

    registry_open_end(&filters->registry);
    if (code == COLANDER_OK && !filters->is_read_only)
        observer_visit_orphans(filters, remove_orphan, NULL);
    return code;
}
