/* SPDX-License-Identifier: MIT */
#include "filters/filter_names.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define DIRECTORY_NAME "filters"
#define FILTER_NAME "%s/%06" PRIu64 "-%" PRIu64 ".filter"

enum colander_code
filter_names_init(struct filter_names *names, const char *store_path,
                  bool is_read_only, struct colander_error *err)
{
    enum colander_code code;

    memset(names, 0, sizeof(*names));
    code = filter_draw(&names->run, err);
    if (code != COLANDER_OK) {
        colander_error_context(err, "cannot name filters of '%s'", store_path);
        return code;
    }
    names->store_path = strdup(store_path);
    if (names->store_path == NULL)
        return COLANDER_FAIL(err, COLANDER_NO_MEMORY, "no memory for filters");
    names->is_read_only = is_read_only;
    pthread_mutex_init(&names->directory_mutex, NULL);
    pthread_mutex_init(&names->mutex, NULL);
    return COLANDER_OK;
}

void
filter_names_release(struct filter_names *names)
{
    pthread_mutex_destroy(&names->directory_mutex);
    pthread_mutex_destroy(&names->mutex);
    free(names->store_path);
    free(names->directory);
}

void
filter_tag_draw(struct filter_names *names, uint8_t tag[SST_TAG_SIZE])
{
    uint64_t count = atomic_fetch_add(&names->tag_count, 1);

    memcpy(tag, &names->run, sizeof(names->run));
    memcpy(tag + sizeof(names->run), &count, sizeof(count));
}

/* Returns the directory, and creates it on first use. NULL while the store's
 * own directory does not exist, or if memory is short. */
const char *
filter_names_directory(struct filter_names *names)
{
    const char *directory;

    pthread_mutex_lock(&names->directory_mutex);
    if (names->directory == NULL) {
        char *path = realpath(names->store_path, NULL);

        if (path != NULL &&
            asprintf(&names->directory, "%s/" DIRECTORY_NAME, path) < 0)
            names->directory = NULL;
        free(path);
        /* If this fails, creating the first filter reports it. */
        if (names->directory != NULL && !names->is_read_only)
            (void)mkdir(names->directory, 0700);
    }
    directory = names->directory;
    pthread_mutex_unlock(&names->directory_mutex);
    return directory;
}

static bool
fits(int size)
{
    return size > 0 && size < FILTER_PATH_MAX;
}

static void
write_hex(const uint8_t *bytes, size_t count, char *hex)
{
    for (size_t i = 0; i < count; i++)
        snprintf(hex + 2 * i, 3, "%02x", bytes[i]);
}

bool
filter_path_of_tag(struct filter_names *names, const uint8_t tag[SST_TAG_SIZE],
                   char path[FILTER_PATH_MAX])
{
    const char *directory = filter_names_directory(names);
    char hex[2 * SST_TAG_SIZE + 1];

    write_hex(tag, SST_TAG_SIZE, hex);
    return directory != NULL &&
           fits(snprintf(path, FILTER_PATH_MAX, "%s/%s.tmp", directory, hex));
}

bool
filter_path_of_sst(struct filter_names *names, uint64_t number, uint64_t size,
                   char path[FILTER_PATH_MAX])
{
    const char *directory = filter_names_directory(names);

    return directory != NULL &&
           fits(snprintf(path, FILTER_PATH_MAX, FILTER_NAME, directory, number,
                         size));
}

bool
filter_name_of_sst(struct filter_names *names, uint64_t number, uint64_t size,
                   char *name, size_t name_size)
{
    char path[FILTER_PATH_MAX];

    (void)snprintf(name, name_size, FILTER_NAME, DIRECTORY_NAME, number, size);
    return filter_path_of_sst(names, number, size, path) &&
           access(path, F_OK) == 0;
}

static void
sync_directory(const char *directory)
{
    int fd = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

    if (fd < 0)
        return;
    (void)fsync(fd); /* a name that is lost costs only a rebuild */
    close(fd);
}

enum colander_code
filter_publish(struct filter_names *names, const char *path, uint64_t number,
               uint64_t size, struct colander_error *err)
{
    char name[FILTER_PATH_MAX];

    if (!filter_path_of_sst(names, number, size, name))
        return COLANDER_FAIL(err, COLANDER_IO,
                             "the path of the store is too long");
    if (rename(path, name) != 0)
        return COLANDER_FAIL(err, COLANDER_IO, "cannot put '%s' in place: %s",
                             name, strerror(errno));
    sync_directory(filter_names_directory(names));
    return COLANDER_OK;
}

void
filter_remove(struct filter_names *names, uint64_t number, uint64_t size)
{
    char path[FILTER_PATH_MAX];

    if (filter_path_of_sst(names, number, size, path))
        (void)unlink(path); /* if this fails, the next open removes it */
}

/* ------------------------------------------------------------ leftovers --- */

static bool
has_sst(struct registry *registry, uint64_t number, uint64_t size)
{
    struct sst_file *file = registry_find(registry, number);
    bool has_it = file != NULL && file->size == size;

    sst_file_unref(registry, file);
    return has_it;
}

static bool
is_leftover(const struct filter_names *names, struct registry *registry,
            const char *name)
{
    const size_t size = strlen(name);
    char run[2 * sizeof(names->run) + 1];
    uint64_t number;
    uint64_t sst_size = 0;
    char *end;

    if (size == 2 * SST_TAG_SIZE + 4 && strcmp(name + size - 4, ".tmp") == 0) {
        write_hex((const uint8_t *)&names->run, sizeof(names->run), run);
        return strncmp(name, run, sizeof(run) - 1) != 0;
    }
    number = strtoull(name, &end, 10);
    if (end != name && *end == '-')
        sst_size = strtoull(end + 1, &end, 10);
    if (end == name || strcmp(end, ".filter") != 0)
        return false; /* not one of our files */
    return !has_sst(registry, number, sst_size);
}

void
filter_names_visit_leftovers(struct filter_names *names,
                             struct registry *registry,
                             void (*visit)(void *context, int directory_fd,
                                           const char *name),
                             void *context)
{
    const char *directory = filter_names_directory(names);
    DIR *listing = directory == NULL ? NULL : opendir(directory);
    struct dirent *entry;

    while (listing != NULL && (entry = readdir(listing)) != NULL) {
        pthread_mutex_lock(&names->mutex);
        if (is_leftover(names, registry, entry->d_name))
            visit(context, dirfd(listing), entry->d_name);
        pthread_mutex_unlock(&names->mutex);
    }
    if (listing != NULL)
        closedir(listing);
}
