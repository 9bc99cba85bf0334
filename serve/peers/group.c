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
#define MEMORY_MAX ((size_t)1 << 30) /* of the groups of one answer */

struct peer_group {
    struct colander_family *family;
    struct colander_decoded_query *query;
    struct colander_groups *groups;
    struct colander_groups_place place;
    struct colander_buffer scratch;

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

static void *
run(void *context)
{
    struct peer_group *group = context;
    struct colander_explain explain;
    struct colander_error failure;
    enum colander_code code;

    cancelled = &group->is_cancelled;
    code = colander_family_group(group->family,
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

enum colander_code
peer_group_open(struct colander_family *family, struct colander_slice query,
                struct colander_slice grouping, struct peer_group **group,
                struct colander_error *err)
{
    struct peer_group *opened = calloc(1, sizeof(*opened));
    pthread_condattr_t clock;
    enum colander_code code;

    *group = NULL;
    if (opened == NULL)
        return COLANDER_FAIL(err, COLANDER_NO_MEMORY, "no memory for groups");
    opened->family = family;
    pthread_mutex_init(&opened->mutex, NULL);
    pthread_condattr_init(&clock);
    pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
    pthread_cond_init(&opened->ended, &clock);
    pthread_condattr_destroy(&clock);
    code = colander_query_decode(query, &opened->query, err);
    if (code == COLANDER_OK)
        code = colander_grouping_decode(grouping, MEMORY_MAX, is_cancelled,
                                        &opened->groups, err);
    if (code == COLANDER_OK && thread_create(&opened->thread, run, opened) != 0)
        code = COLANDER_FAIL(err, COLANDER_NO_MEMORY, "cannot start a thread");
    opened->is_running = code == COLANDER_OK;
    if (code == COLANDER_OK)
        *group = opened;
    else
        peer_group_close(opened);
    return code;
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

enum colander_code
peer_group_write(struct peer_group *group, size_t size,
                 struct colander_buffer *bytes, bool *is_end,
                 struct colander_error *err)
{
    struct colander_buffer *scratch = &group->scratch;
    enum colander_code code = COLANDER_OK;

    *is_end = false;
    if (!await(group))
        return peer_append(bytes, PEER_ALIVE, colander_slice_of(NULL, 0), err);
    if (group->code != COLANDER_OK)
        return COLANDER_FAIL(err, group->code, "%s", group->failure.message);
    while (code == COLANDER_OK && !group->place.is_end && bytes->size < size) {
        colander_buffer_clear(scratch);
        code =
            colander_groups_encode(group->groups, &group->place, scratch, err);
        if (code == COLANDER_OK)
            code = peer_append(bytes, PEER_GROUPS,
                               colander_buffer_slice(scratch), err);
    }
    *is_end = code == COLANDER_OK && group->place.is_end;
    return *is_end ? explanation_append(&group->explain, bytes, err) : code;
}

void
peer_group_close(struct peer_group *group)
{
    if (group == NULL)
        return;
    atomic_store_explicit(&group->is_cancelled, true, memory_order_relaxed);
    if (group->is_running)
        (void)pthread_join(group->thread, NULL);
    colander_groups_destroy(group->groups);
    colander_decoded_query_destroy(group->query);
    colander_buffer_release(&group->scratch);
    pthread_cond_destroy(&group->ended);
    pthread_mutex_destroy(&group->mutex);
    free(group);
}
