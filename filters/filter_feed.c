/*
 * Filter feeds: see filter_feed.h.
 *
 * SPDX-License-Identifier: MIT
 */
#include "filters/filter_feed.h"
#include "core/quiet_thread.h"

#include <pthread.h>
#include <stdlib.h>
#include <sys/resource.h>

/* An entry in a lot, followed by key and row. */
struct feed_head {
    uint32_t key_size;
    uint32_t row_size;
    bool is_put;
};

#define FEED_NICENESS 10

struct filter_feed {
    struct filter_builder *builder;
    struct colander_buffer lots[FEED_LOTS]; /* used in turn */
    size_t filling;                         /* the lot that is added to */

    bool has_thread;
    pthread_t thread;
    pthread_mutex_t mutex;
    pthread_cond_t changed;

    /* under the mutex */
    size_t full_count; /* lots before the one that is filled: the thread's */
    bool is_over;      /* no lot comes any more */
    enum colander_code told; /* how building went, as far as lots are done */

    /* the thread's; ours when it has ended, or there is none, or when told of
     * a failure: it changes neither after that */
    enum colander_code code;
    struct colander_error err;
};

/* Builds from a lot and empties it; after a failure that is all. */
static void
build(struct filter_feed *feed, struct colander_buffer *lot)
{
    size_t offset = 0;

    while (offset < lot->size && feed->code == COLANDER_OK) {
        const uint8_t *at = lot->data + offset;
        struct colander_slice key;
        struct colander_slice row;
        struct feed_head head;

        memcpy(&head, at, sizeof(head));
        key = colander_slice_of(at + sizeof(head), head.key_size);
        row = colander_slice_of(key.data + key.size, head.row_size);
        offset += sizeof(head) + head.key_size + head.row_size;
        feed->code = filter_builder_add(feed->builder, key, row, head.is_put,
                                        &feed->err);
    }
    if (lot->capacity > FEED_LOT_SIZE)
        colander_buffer_release(lot);
    colander_buffer_clear(lot);
}

/* Who writes rows should not wait for the core on which a filter is built
 * meanwhile: compactions wait for it anyway. Linux lets each thread have a
 * niceness of its own. */
static void
yield_to_others(void)
{
    (void)setpriority(PRIO_PROCESS, 0,
                      getpriority(PRIO_PROCESS, 0) + FEED_NICENESS);
}

static void *
run(void *context)
{
    struct filter_feed *feed = context;
    size_t lot = 0; /* before it there is no thread, and none is passed */

    yield_to_others();
    pthread_mutex_lock(&feed->mutex);
    while (feed->full_count > 0 || !feed->is_over) {
        if (feed->full_count == 0) {
            pthread_cond_wait(&feed->changed, &feed->mutex);
            continue;
        }
        pthread_mutex_unlock(&feed->mutex);
        build(feed, &feed->lots[lot]);
        lot = (lot + 1) % FEED_LOTS;
        pthread_mutex_lock(&feed->mutex);
        feed->full_count--;
        feed->told = feed->code;
        pthread_cond_signal(&feed->changed);
    }
    pthread_mutex_unlock(&feed->mutex);
    return NULL;
}

static void
start_thread(struct filter_feed *feed)
{
    feed->has_thread = quiet_thread_create(&feed->thread, run, feed) == 0;
}

static void
end_thread(struct filter_feed *feed)
{
    if (!feed->has_thread)
        return;
    pthread_mutex_lock(&feed->mutex);
    feed->is_over = true;
    pthread_cond_signal(&feed->changed);
    pthread_mutex_unlock(&feed->mutex);
    pthread_join(feed->thread, NULL);
    feed->has_thread = false;
}

enum colander_code
filter_feed_create(const char *path, struct settings *settings,
                   struct filter_feed **feed, struct colander_error *err)
{
    struct filter_feed *made = calloc(1, sizeof(*made));
    enum colander_code code;

    *feed = NULL;
    if (made == NULL)
        return COLANDER_FAIL(err, COLANDER_NO_MEMORY,
                             "no memory to build a filter");
    code = filter_builder_create(path, settings, &made->builder, err);
    if (code != COLANDER_OK) {
        free(made);
        return code;
    }
    pthread_mutex_init(&made->mutex, NULL);
    pthread_cond_init(&made->changed, NULL);
    *feed = made;
    return COLANDER_OK;
}

void
filter_feed_destroy(struct filter_feed *feed)
{
    if (feed == NULL)
        return;
    end_thread(feed);
    filter_builder_destroy(feed->builder);
    pthread_mutex_destroy(&feed->mutex);
    pthread_cond_destroy(&feed->changed);
    for (size_t i = 0; i < FEED_LOTS; i++)
        colander_buffer_release(&feed->lots[i]);
    free(feed);
}

/* Hands the lot over, once there is another to fill; what went wrong in those
 * that were built by then is told. Small SSTs never come here, and need no
 * thread. */
static enum colander_code
hand_over(struct filter_feed *feed, struct colander_error *err)
{
    enum colander_code code;

    if (!feed->has_thread)
        start_thread(feed);
    if (!feed->has_thread) {
        build(feed, &feed->lots[feed->filling]);
        code = feed->code;
    } else {
        pthread_mutex_lock(&feed->mutex);
        while (feed->full_count == FEED_LOTS - 1)
            pthread_cond_wait(&feed->changed, &feed->mutex);
        code = feed->told;
        feed->full_count++;
        feed->filling = (feed->filling + 1) % FEED_LOTS;
        pthread_cond_signal(&feed->changed);
        pthread_mutex_unlock(&feed->mutex);
    }
    if (code != COLANDER_OK && err != NULL)
        *err = feed->err;
    return code;
}

static uint8_t *
put_bytes(uint8_t *end, const void *bytes, size_t size)
{
    if (size > 0)
        memcpy(end, bytes, size);
    return end + size;
}

enum colander_code
filter_feed_add(struct filter_feed *feed, struct colander_slice key,
                struct colander_slice row, bool is_put,
                struct colander_error *err)
{
    struct colander_buffer *lot = &feed->lots[feed->filling];
    enum colander_code code = COLANDER_OK;
    struct feed_head head;
    size_t size;
    uint8_t *end;

    memset(&head, 0, sizeof(head));
    head.key_size = (uint32_t)key.size;
    head.row_size = is_put ? (uint32_t)row.size : 0;
    head.is_put = is_put;
    size = sizeof(head) + key.size + head.row_size;
    if (lot->size > 0 && lot->size + size > FEED_LOT_SIZE) {
        code = hand_over(feed, err);
        lot = &feed->lots[feed->filling];
    }
    /* What a lot takes at once: growing copies. */
    if (code == COLANDER_OK && lot->size == 0)
        code = colander_buffer_reserve(
            lot, size < FEED_LOT_SIZE ? FEED_LOT_SIZE : size, err);
    if (code != COLANDER_OK)
        return code;
    end = put_bytes(lot->data + lot->size, &head, sizeof(head));
    end = put_bytes(end, key.data, key.size);
    (void)put_bytes(end, row.data, head.row_size);
    lot->size += size;
    return COLANDER_OK;
}

enum colander_code
filter_feed_finish(struct filter_feed *feed, const uint8_t tag[SST_TAG_SIZE],
                   struct colander_error *err)
{
    end_thread(feed);
    build(feed, &feed->lots[feed->filling]);
    if (feed->code != COLANDER_OK) {
        if (err != NULL)
            *err = feed->err;
        return feed->code;
    }
    return filter_builder_finish(feed->builder, tag, 0, 0, err);
}
