/* SPDX-License-Identifier: MIT */
#include "filters/filter_feed.h"
#include "core/thread.h"

#include <pthread.h>
#include <stdlib.h>
#include <sys/resource.h>

/* An entry in a lot, followed by key and row. */
struct feed_head {
    uint64_t block;
    uint32_t key_size;
    uint32_t row_size;
    bool is_put;
};

#define FEED_NICENESS 10

struct filter_feed {
    struct filter_builder *builder;
    struct colander_buffer lots[FEED_LOTS]; /* used in turn */
    size_t filling;                         /* the lot that is being filled */

    bool has_thread;
    pthread_t thread;
    pthread_mutex_t mutex;
    pthread_cond_t changed;

    /* under the mutex */
    size_t full_count; /* lots before `filling`, which belong to the thread */
    bool is_over;      /* no more lots will come */
    enum colander_code reported; /* result of the lots that are done */

    /* The thread's. The caller may read them when the thread has ended, when
     * there is none, or `reported` is a failure: then they do not change. */
    enum colander_code code;
    struct colander_error err;
};

/* Builds from a lot and empties it. After a failure only empties it. */
static void
build(struct filter_feed *feed, struct colander_buffer *lot)
{
    size_t offset = 0;

    while (offset < lot->size && feed->code == COLANDER_OK) {
        const uint8_t *at = lot->data + offset;
        struct sst_entry entry;
        struct feed_head head;

        memcpy(&head, at, sizeof(head));
        entry.key = colander_slice_of(at + sizeof(head), head.key_size);
        entry.value =
            colander_slice_of(entry.key.data + entry.key.size, head.row_size);
        entry.block = head.block;
        entry.is_put = head.is_put;
        offset += sizeof(head) + head.key_size + head.row_size;
        feed->code = filter_builder_add(feed->builder, &entry, &feed->err);
    }
    if (lot->capacity > FEED_LOT_SIZE)
        colander_buffer_release(lot);
    colander_buffer_clear(lot);
}

/* Threads that write rows should not wait for a core on which a filter is
 * built; only compactions wait for filters. On Linux each thread has its own
 * nice value. */
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
    size_t lot = 0; /* the thread starts before any lot is handed over */

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
        feed->reported = feed->code;
        pthread_cond_signal(&feed->changed);
    }
    pthread_mutex_unlock(&feed->mutex);
    return NULL;
}

static void
start_thread(struct filter_feed *feed)
{
    feed->has_thread = thread_create(&feed->thread, run, feed) == 0;
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
    struct filter_feed *created = calloc(1, sizeof(*created));
    enum colander_code code;

    *feed = NULL;
    if (created == NULL)
        return COLANDER_FAIL(err, COLANDER_NO_MEMORY,
                             "no memory to build a filter");
    code = filter_builder_create(path, settings, &created->builder, err);
    if (code != COLANDER_OK) {
        free(created);
        return code;
    }
    pthread_mutex_init(&created->mutex, NULL);
    pthread_cond_init(&created->changed, NULL);
    *feed = created;
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

/* Hands the lot to the thread, once another is free to fill. Returns the error
 * of an earlier lot, if there was one. Small SST files never come here and need
 * no thread. */
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
        code = feed->reported;
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
filter_feed_add(struct filter_feed *feed, const struct sst_entry *entry,
                struct colander_error *err)
{
    struct colander_buffer *lot = &feed->lots[feed->filling];
    enum colander_code code = COLANDER_OK;
    struct feed_head head;
    size_t size;
    uint8_t *end;

    memset(&head, 0, sizeof(head));
    head.block = entry->block;
    head.key_size = (uint32_t)entry->key.size;
    head.row_size = entry->is_put ? (uint32_t)entry->value.size : 0;
    head.is_put = entry->is_put;
    size = sizeof(head) + head.key_size + head.row_size;
    if (lot->size > 0 && lot->size + size > FEED_LOT_SIZE) {
        code = hand_over(feed, err);
        lot = &feed->lots[feed->filling];
    }
    /* Reserves all at once: growing copies. */
    if (code == COLANDER_OK && lot->size == 0)
        code = colander_buffer_reserve(
            lot, size < FEED_LOT_SIZE ? FEED_LOT_SIZE : size, err);
    if (code != COLANDER_OK)
        return code;
    end = put_bytes(lot->data + lot->size, &head, sizeof(head));
    end = put_bytes(end, entry->key.data, head.key_size);
    (void)put_bytes(end, entry->value.data, head.row_size);
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
    return filter_builder_finish(feed->builder, tag, 0, err);
}
