/* See body.h. SPDX-License-Identifier: MIT */
#include "serve/body.h"
#include "core/clock.h"

#include <microhttpd.h>
#include <pthread.h>
#include <stdlib.h>

#define WAIT_MS 100

struct body {
    pthread_mutex_t lock;
    pthread_cond_t has_changed;       /* there are bytes, or it has ended */
    struct MHD_Connection *suspended; /* waits for room; NULL: none does */
    struct colander_buffer held;
    size_t at; /* bytes of `held` that were read */
    bool has_ended;
    bool is_whole;
    bool is_closed;
    uint64_t closed_ns; /* when (clock_ns) */
    uint64_t moved_ns;  /* when something came, or could come again */
    uint64_t idle_ns;   /* that nothing may come; 0: any time */
    uint64_t drop_ns; /* the rest is dropped for this time, as a reply can only
                         * be sent after it; then the connection is closed */
};

struct body *
body_create(uint32_t drop_ms, uint32_t idle_ms)
{
    struct body *body = calloc(1, sizeof(*body));

    if (body == NULL)
        return NULL;
    body->drop_ns = (uint64_t)drop_ms * 1000000;
    body->idle_ns = (uint64_t)idle_ms * 1000000;
    body->moved_ns = clock_ns();
    pthread_mutex_init(&body->lock, NULL);
    pthread_cond_init(&body->has_changed, NULL);
    return body;
}

void
body_destroy(struct body *body)
{
    if (body == NULL)
        return;
    pthread_cond_destroy(&body->has_changed);
    pthread_mutex_destroy(&body->lock);
    colander_buffer_release(&body->held);
    free(body);
}

/* Requires the lock. */
static void
resume(struct body *body)
{
    if (body->suspended == NULL)
        return;
    MHD_resume_connection(body->suspended);
    body->suspended = NULL;
    body->moved_ns = clock_ns();
}

/* Moves what was not read to the beginning. Requires the lock. */
static void
compact(struct body *body)
{
    struct colander_buffer *held = &body->held;

    if (body->at == 0)
        return;
    held->size -= body->at;
    memmove(held->data, held->data + body->at, held->size);
    body->at = 0;
}

/* Takes what there is room for, and lets the rest wait: without more from the
 * client, libmicrohttpd asks for that only after a connection was suspended.
 * Returns how much. Requires the lock. */
static size_t
take(struct body *body, struct MHD_Connection *connection, const void *data,
     size_t size)
{
    struct colander_buffer *held = &body->held;
    size_t room;

    compact(body);
    room = BODY_HELD_MAX - held->size;
    if (size > room) {
        size = room;
        body->suspended = connection;
        MHD_suspend_connection(connection);
    }
    if (size > 0 &&
        colander_buffer_append(held, data, size, NULL) != COLANDER_OK)
        body->has_ended = true; /* without its end: it is cut */
    pthread_cond_signal(&body->has_changed);
    return size;
}

/* Requires the lock. */
static bool
is_late(const struct body *body)
{
    return body->is_closed && clock_ns() - body->closed_ns >= body->drop_ns;
}

/* Whether the client could send more, and has not. Requires the lock. */
static bool
is_idle(const struct body *body)
{
    return body->idle_ns != 0 && !body->is_closed && body->suspended == NULL &&
           clock_ns() - body->moved_ns > body->idle_ns;
}

bool
body_is_overdue(struct body *body)
{
    bool is_overdue;

    pthread_mutex_lock(&body->lock);
    is_overdue = (is_late(body) || is_idle(body)) && !body->has_ended;
    pthread_mutex_unlock(&body->lock);
    return is_overdue;
}

bool
body_put(struct body *body, struct MHD_Connection *connection, const void *data,
         size_t *size)
{
    bool is_read;

    pthread_mutex_lock(&body->lock);
    is_read = !is_late(body);
    body->moved_ns = clock_ns();
    *size -= body->is_closed || body->has_ended
                 ? *size
                 : take(body, connection, data, *size);
    pthread_mutex_unlock(&body->lock);
    return is_read;
}

void
body_end(struct body *body, bool is_whole)
{
    pthread_mutex_lock(&body->lock);
    if (!body->has_ended) {
        body->has_ended = true;
        body->is_whole = is_whole;
    }
    pthread_cond_signal(&body->has_changed);
    pthread_mutex_unlock(&body->lock);
}

enum colander_code
body_read(struct body *body, void *data, size_t size, size_t *got, bool *is_end,
          struct colander_error *err)
{
    const struct timespec end = clock_after(CLOCK_MONOTONIC, WAIT_MS);
    enum colander_code code = COLANDER_OK;
    int error = 0;

    pthread_mutex_lock(&body->lock);
    while (body->at == body->held.size && !body->has_ended && error == 0)
        error = pthread_cond_clockwait(&body->has_changed, &body->lock,
                                       CLOCK_MONOTONIC, &end);
    *got = body->held.size - body->at;
    if (*got > size)
        *got = size;
    if (*got > 0)
        memcpy(data, body->held.data + body->at, *got);
    body->at += *got;
    *is_end = body->at == body->held.size && body->has_ended && *got == 0;
    if (*is_end && !body->is_whole)
        code = COLANDER_FAIL(err, COLANDER_CANCELLED,
                             "the body of the request was cut");
    if (body->held.size - body->at <= BODY_HELD_MAX / 2)
        resume(body);
    pthread_mutex_unlock(&body->lock);
    return code;
}

bool
body_would_wait(struct body *body)
{
    bool would;

    pthread_mutex_lock(&body->lock);
    would = body->at == body->held.size && !body->has_ended;
    pthread_mutex_unlock(&body->lock);
    return would;
}

void
body_close(struct body *body)
{
    pthread_mutex_lock(&body->lock);
    body->is_closed = true;
    body->closed_ns = clock_ns();
    resume(body);
    pthread_mutex_unlock(&body->lock);
}
