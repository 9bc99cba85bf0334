/* See object_cache.h. SPDX-License-Identifier: MIT */
#include "cluster/object_cache.h"

#include "core/array.h"
#include "core/bytes.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

#define FOLDERS 256       /* "00" to "ff", so that none has too many files */
#define SIZE_DEFAULT 1024 /* MiB */
#define SIZE_MAX_MIB ((uint64_t)1 << 30)
#define HEAD_SIZE sizeof(XXH128_canonical_t)

struct object_cache {
    char *address;
    char *directory;
    uint64_t size_max; /* bytes; 0: nothing is kept */
    pthread_mutex_t mutex;
    uint64_t added; /* bytes, since pieces were counted last */
    bool is_counted;
};

/* ----------------------------------------------------------------- life --- */

/* Sets *path to "" if there is none: others could put pieces into a directory
 * that is not the user's. */
static enum colander_code
choose_directory(char **path, struct colander_error *err)
{
    const char *given = getenv("COLANDER_CACHE");
    const char *base = getenv("XDG_CACHE_HOME");
    const char *home = getenv("HOME");
    int size;

    if (given != NULL && given[0] != '\0')
        size = asprintf(path, "%s", given);
    else if (base != NULL && base[0] == '/')
        size = asprintf(path, "%s/colander", base);
    else if (home != NULL && home[0] == '/')
        size = asprintf(path, "%s/.cache/colander", home);
    else
        size = asprintf(path, "%s", "");
    if (size >= 0)
        return COLANDER_OK;
    *path = NULL;
    return COLANDER_FAIL(err, COLANDER_NO_MEMORY, "no memory for a cache");
}

static enum colander_code
choose_size(uint64_t *bytes, struct colander_error *err)
{
    const char *given = getenv("COLANDER_CACHE_SIZE");
    char *end = NULL;
    uint64_t size = SIZE_DEFAULT;

    if (given != NULL && given[0] != '\0') {
        errno = 0;
        size = strtoull(given, &end, 10);
        if (given[0] < '0' || given[0] > '9' || *end != '\0' || errno != 0 ||
            size > SIZE_MAX_MIB)
            return COLANDER_FAIL(err, COLANDER_INVALID,
                                 "COLANDER_CACHE_SIZE is '%s', not a number of "
                                 "MiB",
                                 given);
    }
    *bytes = size << 20;
    return COLANDER_OK;
}

enum colander_code
object_cache_open(const char *address, struct object_cache **cache,
                  struct colander_error *err)
{
    struct object_cache *created = calloc(1, sizeof(*created));
    enum colander_code code = COLANDER_OK;

    *cache = NULL;
    if (created == NULL)
        return COLANDER_FAIL(err, COLANDER_NO_MEMORY, "no memory for a cache");
    pthread_mutex_init(&created->mutex, NULL);
    created->address = strdup(address);
    if (created->address == NULL)
        code = COLANDER_FAIL(err, COLANDER_NO_MEMORY, "no memory for a cache");
    if (code == COLANDER_OK)
        code = choose_directory(&created->directory, err);
    if (code == COLANDER_OK)
        code = choose_size(&created->size_max, err);
    if (code == COLANDER_OK && created->directory[0] == '\0')
        created->size_max = 0;
    if (code == COLANDER_OK)
        *cache = created;
    else
        object_cache_close(created);
    return code;
}

void
object_cache_close(struct object_cache *cache)
{
    if (cache == NULL)
        return;
    pthread_mutex_destroy(&cache->mutex);
    free(cache->address);
    free(cache->directory);
    free(cache);
}

/* --------------------------------------------------------------- pieces --- */

/* The path of a piece, and what its checksum covers besides its bytes. */
struct piece {
    char *path;
    XXH128_hash_t name;
};

static bool
find_piece(const struct object_cache *cache, const char *object, uint64_t index,
           struct piece *piece)
{
    char *name;
    int size =
        asprintf(&name, "%s\n%s\n%" PRIu64, cache->address, object, index);
    XXH128_canonical_t hash;
    char digits[2 * sizeof(hash) + 1];

    if (size < 0)
        return false;
    piece->name = XXH3_128bits(name, (size_t)size);
    free(name);
    XXH128_canonicalFromHash(&hash, piece->name);
    for (size_t i = 0; i < sizeof(hash); i++)
        (void)snprintf(digits + 2 * i, 3, "%02x", hash.digest[i]);
    return asprintf(&piece->path, "%s/%.2s/%s", cache->directory, digits,
                    digits + 2) >= 0;
}

static XXH128_canonical_t
sum_of(const struct piece *piece, const uint8_t *bytes, size_t size)
{
    XXH128_canonical_t sum;

    XXH128_canonicalFromHash(
        &sum, XXH3_128bits_withSeed(bytes, size,
                                    piece->name.low64 ^ piece->name.high64));
    return sum;
}

bool
object_cache_get(struct object_cache *cache, const char *object, uint64_t index,
                 uint8_t *bytes, size_t size)
{
    uint8_t file[HEAD_SIZE + OBJECT_PIECE_SIZE + 1];
    XXH128_canonical_t sum;
    struct piece piece;
    ssize_t got = -1;
    bool is_whole;
    int fd;

    if (cache->size_max == 0 || !find_piece(cache, object, index, &piece))
        return false;
    fd = open(piece.path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd >= 0)
        got = read(fd, file, sizeof(file));
    is_whole = got == (ssize_t)(HEAD_SIZE + size);
    if (is_whole) {
        sum = sum_of(&piece, file + HEAD_SIZE, size);
        is_whole = memcmp(&sum, file, HEAD_SIZE) == 0;
    }
    if (is_whole) {
        memcpy(bytes, file + HEAD_SIZE, size);
        (void)futimens(fd, NULL); /* it was used now */
    }
    if (fd >= 0)
        (void)close(fd);
    free(piece.path);
    return is_whole;
}

/* ----------------------------------------------------------------- room --- */

struct found {
    char *path;   /* owned */
    int64_t used; /* when, in nanoseconds */
    uint64_t size;
};

struct listing {
    struct found *items;
    size_t count;
    size_t capacity;
    uint64_t size; /* bytes of all */
};

static void
list_file(struct listing *listing, const char *folder, int fd, const char *name)
{
    struct stat status;
    struct found found;

    if (name[0] == '.' || fstatat(fd, name, &status, 0) != 0 ||
        !S_ISREG(status.st_mode) ||
        array_reserve(&listing->items, listing->count, &listing->capacity, 1,
                      NULL) != COLANDER_OK ||
        asprintf(&found.path, "%s/%s", folder, name) < 0)
        return;
    found.used =
        (int64_t)status.st_mtim.tv_sec * 1000000000 + status.st_mtim.tv_nsec;
    found.size = (uint64_t)status.st_blocks * 512;
    listing->size += found.size;
    listing->items[listing->count++] = found;
}

static void
list_folder(const struct object_cache *cache, unsigned number,
            struct listing *listing)
{
    char *folder;
    struct dirent *entry;
    DIR *stream;

    if (asprintf(&folder, "%s/%02x", cache->directory, number) < 0)
        return;
    stream = opendir(folder);
    while (stream != NULL && (entry = readdir(stream)) != NULL)
        list_file(listing, folder, dirfd(stream), entry->d_name);
    if (stream != NULL)
        (void)closedir(stream);
    free(folder);
}

static int
compare_use(const void *one, const void *other)
{
    const int64_t a = ((const struct found *)one)->used;
    const int64_t b = ((const struct found *)other)->used;

    return (a > b) - (a < b);
}

/* Removes the pieces that were not used for longest, until an eighth of the
 * room is free. */
static void
make_room(const struct object_cache *cache)
{
    struct listing listing = {NULL, 0, 0, 0};
    uint64_t max = UINT64_MAX; /* bytes that stay */

    for (unsigned i = 0; i < FOLDERS; i++)
        list_folder(cache, i, &listing);
    if (listing.size > cache->size_max) {
        max = cache->size_max - cache->size_max / 8;
        qsort(listing.items, listing.count, sizeof(*listing.items),
              compare_use);
    }
    for (size_t i = 0; i < listing.count; i++) {
        if (listing.size > max) {
            (void)unlink(listing.items[i].path);
            listing.size -= listing.items[i].size;
        }
        free(listing.items[i].path);
    }
    free(listing.items);
}

/* Counts bytes that are added. Every process looks at all pieces now and then,
 * so together they exceed the room by a sixteenth each at most. */
static void
count_added(struct object_cache *cache, size_t size)
{
    bool looks;

    pthread_mutex_lock(&cache->mutex);
    cache->added += size;
    looks = !cache->is_counted || cache->added > cache->size_max / 16;
    if (looks)
        cache->added = 0;
    cache->is_counted = true;
    pthread_mutex_unlock(&cache->mutex);
    if (looks)
        make_room(cache);
}

/* --------------------------------------------------------------- adding --- */

/* Creates the directories above a file. */
static void
make_parents(char *path)
{
    for (char *slash = strchr(path + 1, '/'); slash != NULL;
         slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        (void)mkdir(path, 0700);
        *slash = '/';
    }
}

static bool
write_piece(int fd, const XXH128_canonical_t *sum, const uint8_t *bytes,
            size_t size)
{
    uint8_t file[HEAD_SIZE + OBJECT_PIECE_SIZE];

    memcpy(file, sum, HEAD_SIZE);
    memcpy(file + HEAD_SIZE, bytes, size);
    return write(fd, file, HEAD_SIZE + size) == (ssize_t)(HEAD_SIZE + size);
}

void
object_cache_put(struct object_cache *cache, const char *object, uint64_t index,
                 const uint8_t *bytes, size_t size)
{
    XXH128_canonical_t sum;
    struct piece piece;
    char *temporary;
    int fd;

    if (cache->size_max == 0 || !find_piece(cache, object, index, &piece))
        return;
    sum = sum_of(&piece, bytes, size);
    if (asprintf(&temporary, "%s.XXXXXX", piece.path) >= 0) {
        fd = mkostemp(temporary, O_CLOEXEC);
        if (fd < 0 && errno == ENOENT) {
            make_parents(temporary);
            strcpy(temporary + strlen(piece.path), ".XXXXXX");
            fd = mkostemp(temporary, O_CLOEXEC);
        }
        if (fd >= 0) {
            const bool is_written = write_piece(fd, &sum, bytes, size);

            (void)close(fd);
            if (!is_written || rename(temporary, piece.path) != 0)
                (void)unlink(temporary);
            else
                count_added(cache, HEAD_SIZE + size);
        }
        free(temporary);
    }
    free(piece.path);
}
