/* See placed.h. SPDX-License-Identifier: MIT */
#include "node/placed.h"

#include "cluster/topic.h"
#include "loading/load.h"

#include <pthread.h>
#include <stdlib.h>

/* A generation of a family, and whether the keys of its rows decide where they
 * are. */
struct family {
    char folder[CLUSTER_FOLDER_SIZE]; /* NAME, or NAME.1 of a later one */
    uint32_t partition_count;
    uint32_t partition_by;
    bool is_placed;
};

struct placed {
    pthread_mutex_t mutex;
    struct family *families;
    size_t count;
};

enum colander_code
placed_create(struct placed **placed, struct colander_error *err)
{
    *placed = calloc(1, sizeof(**placed));
    if (*placed == NULL)
        return COLANDER_FAIL(err, COLANDER_NO_MEMORY, "no memory for routes");
    pthread_mutex_init(&(*placed)->mutex, NULL);
    return COLANDER_OK;
}

void
placed_destroy(struct placed *placed)
{
    if (placed == NULL)
        return;
    free(placed->families);
    pthread_mutex_destroy(&placed->mutex);
    free(placed);
}

/* Whether the member at `path` is one partition, FAMILY/0017 or
 * /.../FAMILY/0017, or of a later generation, FAMILY.1/0017. Others, as another
 * node, have theirs after blanks. Sets where its folder is in it, FAMILY or
 * FAMILY.1, and its number. */
static bool
read_partition(const char *path, struct colander_slice *folder,
               uint32_t *number)
{
    const char *slash = strrchr(path, '/');
    const char *start = slash;
    char *end;

    if (slash == NULL || (path[0] != '/' && strchr(path, ' ') != NULL) ||
        strlen(slash + 1) < 4 ||
        strspn(slash + 1, "0123456789") != strlen(slash + 1))
        return false;
    while (start > path && start[-1] != '/')
        start--;
    *folder = colander_slice_of(start, (size_t)(slash - start));
    *number = (uint32_t)strtoul(slash + 1, &end, 10);
    return true;
}

/* Returns the partition in which all rows of the range are, or UINT32_MAX if
 * the range does not fix the first parts of their keys. */
static uint32_t
partition_of(const struct family *family, const struct colander_key_range *keys)
{
    const struct colander_slice key =
        keys->exact.size > 0 ? keys->exact : keys->prefix;
    struct colander_value parts[COLANDER_KEY_PARTS_MAX];
    struct colander_buffer scratch = COLANDER_BUFFER_EMPTY;
    struct colander_buffer text = COLANDER_BUFFER_EMPTY;
    uint32_t number = UINT32_MAX;
    size_t count = 0;

    if (key.size > 0 &&
        colander_key_decode(key, parts, &count, &scratch, NULL) ==
            COLANDER_OK &&
        count >= family->partition_by &&
        colander_load_partition_key(key, family->partition_by, &text, NULL) ==
            COLANDER_OK &&
        text.size > 0) /* without a text a record may be anywhere */
        number = (uint32_t)topic_partition_of(colander_buffer_slice(&text),
                                              (int32_t)family->partition_count);
    colander_buffer_release(&scratch);
    colander_buffer_release(&text);
    return number;
}

enum colander_member_use
placed_choose(void *context, const char *path, const char *family,
              const struct colander_key_range *keys)
{
    struct placed *placed = context;
    struct colander_slice folder;
    size_t size; /* of the family's name */
    uint32_t number;
    uint32_t wanted = UINT32_MAX;

    if (!read_partition(path, &folder, &number))
        return COLANDER_MEMBER_READ;
    size = strcspn((const char *)folder.data, "./");
    if (strncmp(family, (const char *)folder.data, size) != 0 ||
        (family[size] != '\0' && family[size] != '.'))
        return COLANDER_MEMBER_OTHER;
    if (keys == NULL || family[size] != '\0')
        return COLANDER_MEMBER_READ;
    pthread_mutex_lock(&placed->mutex);
    for (size_t i = 0; i < placed->count; i++) {
        const struct family *one = &placed->families[i];

        if (one->is_placed &&
            colander_slice_equal(colander_slice_text(one->folder), folder))
            wanted = partition_of(one, keys);
    }
    pthread_mutex_unlock(&placed->mutex);
    return wanted == UINT32_MAX || wanted == number ? COLANDER_MEMBER_READ
                                                    : COLANDER_MEMBER_UNASKED;
}

enum colander_code
placed_set(struct placed *placed, const struct route *routes, size_t count,
           struct colander_error *err)
{
    struct family *list = calloc(count + 1, sizeof(*list));
    struct family *old;
    size_t used = 0;

    if (list == NULL)
        return COLANDER_FAIL(err, COLANDER_NO_MEMORY, "no memory for routes");
    for (size_t i = 0; i < count; i++) {
        const struct cluster_family *family = routes[i].family;

        if (i == 0 || routes[i - 1].family != family) {
            (void)cluster_family_folder(family, list[used].folder);
            list[used].partition_count = family->partition_count;
            list[used].partition_by = family->partition_by;
            list[used++].is_placed = family->partition_by > 0;
        }
        list[used - 1].is_placed &= routes[i].is_placed;
    }
    pthread_mutex_lock(&placed->mutex);
    old = placed->families;
    placed->families = list;
    placed->count = used;
    pthread_mutex_unlock(&placed->mutex);
    free(old);
    return COLANDER_OK;
}
