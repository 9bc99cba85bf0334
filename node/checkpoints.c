/* See checkpoints.h. SPDX-License-Identifier: MIT */
#include "node/checkpoints.h"

#include "cluster/cluster.h"
#include "cluster/topic.h"
#include "core/array.h"
#include "node/folder.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

void
checkpoints_init(struct checkpoints *checkpoints)
{
    memset(checkpoints, 0, sizeof(*checkpoints));
    pthread_mutex_init(&checkpoints->lock, NULL);
}

void
checkpoints_release(struct checkpoints *checkpoints)
{
    pthread_mutex_destroy(&checkpoints->lock);
    free(checkpoints->items);
    free(checkpoints->bad);
    free(checkpoints->address);
}

/* ----------------------------------------------------------------- list --- */

/* Requires the lock. */
static bool
is_bad(const struct checkpoints *checkpoints, uint64_t number)
{
    for (size_t i = 0; i < checkpoints->bad_count; i++) {
        if (checkpoints->bad[i] == number)
            return true;
    }
    return false;
}

/* Of those that are not bad, returns that with the highest number above one and
 * below another, or zeros. Requires the lock. */
static struct checkpoint
find_newest(const struct checkpoints *checkpoints, uint64_t above,
            uint64_t below)
{
    struct checkpoint newest = {0, 0};

    for (size_t i = 0; i < checkpoints->count; i++) {
        const struct checkpoint item = checkpoints->items[i];

        if (item.number > above && item.number < below &&
            item.number >= newest.number && !is_bad(checkpoints, item.number))
            newest = item;
    }
    return newest;
}

static enum colander_code
add(void *context, const struct cluster_backup *backup,
    struct colander_error *err)
{
    struct checkpoints *listed = context;
    const enum colander_code code =
        array_reserve(&listed->items, listed->count, &listed->capacity, 1, err);

    if (code == COLANDER_OK)
        listed->items[listed->count++] =
            (struct checkpoint){backup->number, backup->made};
    return code;
}

static enum colander_code
list(struct checkpoints *checkpoints, const atomic_bool *is_stopped,
     struct colander_error *err)
{
    struct checkpoints listed = {.items = NULL};
    const enum colander_code code =
        cluster_list(checkpoints->address, is_stopped, add, &listed, err);
    struct checkpoint *unused = listed.items;

    pthread_mutex_lock(&checkpoints->lock);
    if (code == COLANDER_OK) {
        unused = checkpoints->items;
        checkpoints->items = listed.items;
        checkpoints->count = listed.count;
        checkpoints->capacity = listed.capacity;
        checkpoints->is_listed = true;
    }
    pthread_mutex_unlock(&checkpoints->lock);
    free(unused);
    return code;
}

enum colander_code
checkpoints_list(struct checkpoints *checkpoints, const atomic_bool *is_stopped,
                 struct colander_error *err)
{
    bool is_listed;

    pthread_mutex_lock(&checkpoints->lock);
    is_listed = checkpoints->is_listed;
    pthread_mutex_unlock(&checkpoints->lock);
    return is_listed ? COLANDER_OK : list(checkpoints, is_stopped, err);
}

size_t
checkpoints_count(struct checkpoints *checkpoints)
{
    size_t count;

    pthread_mutex_lock(&checkpoints->lock);
    count = checkpoints->count;
    pthread_mutex_unlock(&checkpoints->lock);
    return count;
}

struct checkpoint
checkpoints_newest(struct checkpoints *checkpoints)
{
    struct checkpoint newest;

    pthread_mutex_lock(&checkpoints->lock);
    newest = find_newest(checkpoints, 0, UINT64_MAX);
    pthread_mutex_unlock(&checkpoints->lock);
    return newest;
}

/* -------------------------------------------------------------- restore --- */

static enum colander_code
note_bad(struct checkpoints *checkpoints, uint64_t number,
         struct colander_error *err)
{
    enum colander_code code;

    pthread_mutex_lock(&checkpoints->lock);
    code = array_reserve(&checkpoints->bad, checkpoints->bad_count,
                         &checkpoints->bad_capacity, 1, err);
    if (code == COLANDER_OK)
        checkpoints->bad[checkpoints->bad_count++] = number;
    checkpoints->sends_all = true;
    pthread_mutex_unlock(&checkpoints->lock);
    return code;
}

/* Checks what was restored to the folder. */
static enum colander_code
check_restored(const struct checkpoints *checkpoints, const char *path,
               const struct colander_backup *restored,
               struct colander_error *err)
{
    const struct cluster_family *family = checkpoints->family;
    struct colander_options options;
    struct colander_store *store;
    struct colander_family *rows = NULL;
    enum colander_code code;

    if (family == NULL)
        return COLANDER_OK;
    colander_options_init(&options);
    options.mode = COLANDER_OPEN_READ_ONLY;
    code = colander_store_open(path, &options, &store, err);
    if (code != COLANDER_OK)
        return code;
    code = colander_family_open(store, family->name, &rows, err);
    if (code == COLANDER_OK)
        code = topic_check_place(rows, family->topic,
                                 (int32_t)checkpoints->partition,
                                 (int32_t)family->partition_count, err);
    colander_family_close(rows);
    (void)!colander_store_close(store, NULL); /* has no handles */
    if (code != COLANDER_OK)
        colander_error_context(err, "checkpoint at offset %" PRIu64,
                               restored->number - 1);
    return code;
}

enum colander_code
checkpoints_restore(struct checkpoints *checkpoints, uint64_t above,
                    const char *path, const atomic_bool *is_stopped,
                    checkpoints_say *say, void *context, bool *found,
                    struct colander_error *err)
{
    enum colander_code code = list(checkpoints, is_stopped, err);
    uint64_t number = UINT64_MAX;

    *found = false;
    while (code == COLANDER_OK && !*found) {
        struct colander_backup restored;
        struct colander_error damage;
        char line[700];
        enum colander_code made;

        pthread_mutex_lock(&checkpoints->lock);
        number = find_newest(checkpoints, above, number).number;
        pthread_mutex_unlock(&checkpoints->lock);
        if (number == 0)
            return COLANDER_OK;
        code = folder_remove(path, err);
        if (code != COLANDER_OK)
            return code;
        made = cluster_restore(checkpoints->address, number, path, is_stopped,
                               &restored, &damage);
        if (made == COLANDER_OK)
            made = check_restored(checkpoints, path, &restored, &damage);
        if (made == COLANDER_OK)
            (void)snprintf(line, sizeof(line),
                           "restored the checkpoint at offset %" PRIu64,
                           restored.number - 1);
        else
            (void)snprintf(line, sizeof(line), "%s", damage.message);
        if (made == COLANDER_OK || made == COLANDER_CORRUPT)
            say(context, line);
        *found = made == COLANDER_OK;
        if (made == COLANDER_CORRUPT)
            code = note_bad(checkpoints, number, err);
        else if (made != COLANDER_OK)
            code = COLANDER_FAIL(err, made, "%s", damage.message);
    }
    return code;
}

/* ----------------------------------------------------------------- make --- */

/* All are sent until one is above those that are damaged: it is the one whose
 * objects the next one uses. If its number cannot be kept, as memory is short,
 * the next one is made earlier. */
static void
note_made(struct checkpoints *checkpoints, uint64_t number, bool sent_all)
{
    size_t count = 0;

    pthread_mutex_lock(&checkpoints->lock);
    if (sent_all) {
        checkpoints->sends_all = false;
        for (size_t i = 0; i < checkpoints->bad_count; i++) {
            const uint64_t bad = checkpoints->bad[i];

            if (bad != number) /* else there is a good one now */
                checkpoints->bad[count++] = bad;
            if (bad >= number) /* of two with one number, either is used */
                checkpoints->sends_all = true;
        }
        checkpoints->bad_count = count;
    }
    if (array_reserve(&checkpoints->items, checkpoints->count,
                      &checkpoints->capacity, 1, NULL) == COLANDER_OK)
        checkpoints->items[checkpoints->count++] =
            (struct checkpoint){number, (int64_t)time(NULL)};
    pthread_mutex_unlock(&checkpoints->lock);
}

enum colander_code
checkpoints_make(struct checkpoints *checkpoints, struct colander_store *store,
                 uint64_t number, uint64_t keep_count, bool tries_once,
                 const atomic_bool *is_stopped, struct colander_error *err)
{
    struct cluster_backup_options options = {
        .keep_count = keep_count,
        .number = number,
        .has_twins = true,
        .tries_once = tries_once,
        .is_stopped = is_stopped,
    };
    struct colander_backup made;
    enum colander_code code;

    pthread_mutex_lock(&checkpoints->lock);
    options.sends_all = checkpoints->sends_all;
    pthread_mutex_unlock(&checkpoints->lock);
    code = cluster_backup(store, checkpoints->address, &options, &made, err);
    if (made.number != 0)
        note_made(checkpoints, made.number, options.sends_all);
    return code;
}
