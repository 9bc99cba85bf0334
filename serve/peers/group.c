/* See group.h. SPDX-License-Identifier: MIT */
#include "serve/peers/group.h"

#include "columns/group_bytes.h"
#include "columns/query_bytes.h"
#include "core/clock.h"
#include "core/thread.h"
#include "serve/peers/explanation.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#define ALIVE_MS 1000
#define MEMORY_MAX ((size_t)1 << 30)  /* of the groups of one answer */
#define REDUCED_MAX ((size_t)1 << 20) /* who asks has those of all nodes */

struct peer_group {
    struct colander_family *family;
    struct colander_decoded_query *query;
    struct colander_groups *groups;
    struct colander_groups_place place;
    struct colander_buffer scratch;

    server_reduce *reduce; /* NULL: rows are grouped */
    struct colander_cursor *cursor;
    const char *map_text;
    const char *reduce_text;

    atomic_bool is_cancelled;
    pthread_t thread;
    bool is_running; /* the thread is to be joined */

    pthread_mutex_t mutex; /* of what follows */
    pthread_cond_t ended;
    bool is_ended;
    struct colander_explain explain;
    enum colander_code code;
    struct colander_error failure;
};

/* That of the group which the thread works for. */
static _Thread_local const atomic_bool *cancelled;

static bool
is_cancelled(void)
{
    return atomic_load_explicit(cancelled, memory_order_relaxed);
}

static enum colander_code
reduce_rows(struct peer_group *group, struct colander_explain *explain,
            struct colander_error *err)
{
    const bool is_reduced =
        group->reduce(group->cursor, group->map_text, group->reduce_text,
                      is_cancelled, &group->scratch);

    colander_cursor_explain(group->cursor, explain);
    return is_reduced ? COLANDER_OK
                      : COLANDER_FAIL(err, COLANDER_LIMIT,
                                      "the rows are not reduced here");
}

static void *
run(void *context)
{
    struct peer_group *group = context;
    struct colander_explain explain;
    struct colander_error failure;
    enum colander_code code;

    cancelled = &group->is_cancelled;
    code = group->reduce != NULL
               ? reduce_rows(group, &explain, &failure)
               : colander_family_group(group->family,
                                       colander_decoded_query_get(group->query),
                                       group->groups, &explain, &failure);
    pthread_mutex_lock(&group->mutex);
    group->code = code;
    group->explain = explain;
    group->failure = failure;
    group->is_ended = true;
    pthread_cond_signal(&group->ended);
    pthread_mutex_unlock(&group->mutex);
    return NULL;
}

static struct peer_group *
create(struct colander_error *err)
{
    struct peer_group *created = calloc(1, sizeof(*created));
    pthread_condattr_t clock;

    if (created == NULL) {
        (void)COLANDER_FAIL(err, COLANDER_NO_MEMORY, "no memory for groups");
        return NULL;
    }
    pthread_mutex_init(&created->mutex, NULL);
    pthread_condattr_init(&clock);
    pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
    pthread_cond_init(&created->ended, &clock);
    pthread_condattr_destroy(&clock);
    return created;
}

/* Starts the thread, unless `code` is a failure, after which there is no
 * group. */
static enum colander_code
begin(struct peer_group *created, enum colander_code code,
      struct peer_group **group, struct colander_error *err)
{
    if (code == COLANDER_OK &&
        thread_create(&created->thread, run, created) != 0)
        code = COLANDER_FAIL(err, COLANDER_NO_MEMORY, "cannot start a thread");
    created->is_running = code == COLANDER_OK;
    if (code == COLANDER_OK)
        *group = created;
    else
        peer_group_close(created);
    return code;
}

enum colander_code
peer_group_open(struct colander_family *family, struct colander_slice query,
                struct colander_slice grouping, struct peer_group **group,
                struct colander_error *err)
{
    struct peer_group *created = create(err);
    enum colander_code code;

    *group = NULL;
    if (created == NULL)
        return COLANDER_NO_MEMORY;
    created->family = family;
    code = colander_query_decode(query, &created->query, err);
    if (code == COLANDER_OK)
        code = colander_grouping_decode(grouping, MEMORY_MAX, is_cancelled,
                                        &created->groups, err);
    return begin(created, code, group, err);
}

enum colander_code
peer_group_open_reduction(server_reduce *reduce, struct colander_cursor *cursor,
                          const char *map_text, const char *reduce_text,
                          struct peer_group **group, struct colander_error *err)
{
    struct peer_group *created = create(err);

    *group = NULL;
    if (created == NULL)
        return COLANDER_NO_MEMORY;
    created->reduce = reduce;
    created->cursor = cursor;
    created->map_text = map_text;
    created->reduce_text = reduce_text;
    return begin(created, COLANDER_OK, group, err);
}

/* Waits a while for the thread. Returns whether it has ended. */
static bool
await(struct peer_group *group)
{
    const struct timespec until = clock_after(CLOCK_MONOTONIC, ALIVE_MS);
    bool is_ended;

    pthread_mutex_lock(&group->mutex);
    while (!group->is_ended &&
           pthread_cond_timedwait(&group->ended, &group->mutex, &until) == 0)
        continue;
    is_ended = group->is_ended;
    pthread_mutex_unlock(&group->mutex);
    return is_ended;
}

static enum colander_code
append_groups(struct peer_group *group, size_t size,
              struct colander_buffer *bytes, struct colander_error *err)
{
    struct colander_buffer *scratch = &group->scratch;
    enum colander_code code = COLANDER_OK;

    while (code == COLANDER_OK && !group->place.is_end && bytes->size < size) {
        colander_buffer_clear(scratch);
        code =
            colander_groups_encode(group->groups, &group->place, scratch, err);
        if (code == COLANDER_OK)
            code = peer_append(bytes, PEER_GROUPS,
                               colander_buffer_slice(scratch), err);
    }
    return code;
}

enum colander_code
peer_group_write(struct peer_group *group, size_t size,
                 struct colander_buffer *bytes, bool *is_end,
                 struct colander_error *err)
{
    const size_t before = bytes->size;
    enum colander_code code = COLANDER_OK;

    *is_end = false;
    if (!await(group))
        return peer_append(bytes, PEER_ALIVE, colander_slice_of(NULL, 0), err);
    if (group->code != COLANDER_OK)
        return COLANDER_FAIL(err, group->code, "%s", group->failure.message);
    if (group->reduce == NULL)
        code = append_groups(group, size, bytes, err);
    else if (group->scratch.size > REDUCED_MAX)
        code = COLANDER_FAIL(err, COLANDER_LIMIT, "a value is too large");
    else if (group->scratch.size > 0) /* there were rows */
        code = peer_append(bytes, PEER_REDUCED,
                           colander_buffer_slice(&group->scratch), err);
    *is_end =
        code == COLANDER_OK && (group->reduce != NULL || group->place.is_end);
    if (*is_end)
        code = explanation_append(&group->explain, bytes, err);
    if (code != COLANDER_OK)
        bytes->size = before;
    return code;
}

void
peer_group_close(struct peer_group *group)
{
    if (group == NULL)
        return;
    atomic_store_explicit(&group->is_cancelled, true, memory_order_relaxed);
    if (group->cursor != NULL)
        colander_cursor_cancel(group->cursor);
    if (group->is_running)
        (void)pthread_join(group->thread, NULL);
    colander_groups_destroy(group->groups);
    colander_decoded_query_destroy(group->query);
    colander_buffer_release(&group->scratch);
    pthread_cond_destroy(&group->ended);
    pthread_mutex_destroy(&group->mutex);
    free(group);
}
