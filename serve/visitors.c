/* See visitors.h. SPDX-License-Identifier: MIT */
#include "serve/visitors.h"
#include "core/clock.h"
#include "core/thread.h"
#include "serve/body.h"
#include "serve/sockets.h"

#include <linux/sockios.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#define LOOK_MS 200
#define CUT_NS (UINT64_C(1000) * 1000000)

struct visitor {
    struct visitor *next;
    struct visitor *before;
    int fd;
    bool is_local;
    bool is_trusted;
    struct answer *answer; /* NULL: none is written */
    struct body *body;     /* that it reads; NULL: none */
    bool writes;           /* the request does */
    uint64_t deadline_ns;  /* of the answer; 0: none */
    uint64_t since_ns;     /* that a request is waited for, or that nothing of
                            * the answer was taken */
    int queued;            /* bytes that were sent and not taken, then */
    uint64_t cut_ns;       /* when nothing more came of a request; 0: it may */
};

struct visitors {
    pthread_mutex_t lock;
    pthread_cond_t has_changed; /* someone has come, or it ends */
    struct visitor *first;
    size_t count;
    uint64_t request_ns;
    uint64_t stall_ns;
    bool is_ending;
    bool has_thread;
    pthread_t thread;
};

/* Whether the client has closed the connection. One that has closed its sending
 * side looks the same by TCP, but not at the socket; what writes is then
 * finished, and its client gets the answer if it is there. */
static bool
has_left(const struct visitor *visitor)
{
    struct pollfd one = {visitor->fd, POLLRDHUP, 0};
    const short ends = POLLHUP | POLLERR |
                       (visitor->is_local || visitor->writes ? 0 : POLLRDHUP);

    return poll(&one, 1, 0) > 0 && (one.revents & ends) != 0;
}

/* Whether a client from elsewhere has taken nothing for too long of what was
 * sent to it: however slow it is, the queue of the kernel becomes shorter. */
static bool
is_stalled(const struct visitors *visitors, struct visitor *visitor,
           uint64_t now)
{
    int queued = 0;

    if (visitor->is_local)
        return false;
    (void)ioctl(visitor->fd, SIOCOUTQ, &queued);
    if (queued == 0 || queued != visitor->queued)
        visitor->since_ns = now;
    visitor->queued = queued;
    return now - visitor->since_ns > visitors->stall_ns;
}

/* Whether a client has closed its sending side in the middle of a request. One
 * that has come whole is answered: so it may be read for a while. */
static bool
is_cut(struct visitor *visitor, uint64_t now)
{
    struct pollfd one = {visitor->fd, POLLRDHUP, 0};
    int unread = 0;

    (void)ioctl(visitor->fd, SIOCINQ, &unread);
    if (unread > 0 || poll(&one, 1, 0) <= 0 ||
        (one.revents & (POLLRDHUP | POLLHUP | POLLERR)) == 0)
        visitor->cut_ns = 0;
    else if (visitor->cut_ns == 0)
        visitor->cut_ns = now;
    return visitor->cut_ns != 0 && now - visitor->cut_ns > CUT_NS;
}

static void
look_at(const struct visitors *visitors, struct visitor *visitor, uint64_t now)
{
    if (visitor->answer == NULL) {
        if (now - visitor->since_ns > visitors->request_ns ||
            is_cut(visitor, now))
            (void)shutdown(visitor->fd, SHUT_RDWR);
    } else if (has_left(visitor)) {
        answer_stop(visitor->answer, ANSWER_LEFT);
        if (visitor->body != NULL)
            (void)shutdown(visitor->fd, SHUT_RDWR);
    } else if ((visitor->body != NULL && body_is_overdue(visitor->body)) ||
               is_stalled(visitors, visitor, now)) {
        (void)shutdown(visitor->fd, SHUT_RDWR);
    } else if (visitor->deadline_ns != 0 && now > visitor->deadline_ns) {
        answer_stop(visitor->answer, ANSWER_LATE);
    }
}

static void *
look_after(void *context)
{
    struct visitors *visitors = context;

    pthread_mutex_lock(&visitors->lock);
    while (!visitors->is_ending) {
        struct timespec next = clock_after(CLOCK_MONOTONIC, LOOK_MS);
        const uint64_t now = clock_ns();

        for (struct visitor *visitor = visitors->first; visitor != NULL;
             visitor = visitor->next)
            look_at(visitors, visitor, now);
        if (visitors->first == NULL)
            pthread_cond_wait(&visitors->has_changed, &visitors->lock);
        else
            pthread_cond_clockwait(&visitors->has_changed, &visitors->lock,
                                   CLOCK_MONOTONIC, &next);
    }
    pthread_mutex_unlock(&visitors->lock);
    return NULL;
}

enum colander_code
visitors_create(uint32_t request_ms, uint32_t stall_ms, struct visitors **out,
                struct colander_error *err)
{
    struct visitors *visitors = calloc(1, sizeof(*visitors));
    int error;

    *out = NULL;
    if (visitors == NULL)
        return COLANDER_FAIL(err, COLANDER_NO_MEMORY,
                             "no memory for connections");
    pthread_mutex_init(&visitors->lock, NULL);
    pthread_cond_init(&visitors->has_changed, NULL);
    visitors->request_ns = (uint64_t)request_ms * 1000000;
    visitors->stall_ns = (uint64_t)stall_ms * 1000000;
    error = thread_create(&visitors->thread, look_after, visitors);
    visitors->has_thread = error == 0;
    if (error != 0) {
        visitors_destroy(visitors);
        return COLANDER_FAIL(err, COLANDER_NO_MEMORY,
                             "cannot start a thread: %s", strerror(error));
    }
    *out = visitors;
    return COLANDER_OK;
}

void
visitors_destroy(struct visitors *visitors)
{
    if (visitors == NULL)
        return;
    pthread_mutex_lock(&visitors->lock);
    visitors->is_ending = true;
    pthread_cond_signal(&visitors->has_changed);
    pthread_mutex_unlock(&visitors->lock);
    if (visitors->has_thread)
        pthread_join(visitors->thread, NULL);
    pthread_cond_destroy(&visitors->has_changed);
    pthread_mutex_destroy(&visitors->lock);
    free(visitors);
}

size_t
visitors_count(struct visitors *visitors)
{
    size_t count;

    pthread_mutex_lock(&visitors->lock);
    count = visitors->count;
    pthread_mutex_unlock(&visitors->lock);
    return count;
}

void
visitors_stop(struct visitors *visitors, bool closes)
{
    pthread_mutex_lock(&visitors->lock);
    for (struct visitor *visitor = visitors->first; visitor != NULL;
         visitor = visitor->next) {
        if (visitor->answer != NULL)
            answer_stop(visitor->answer, closes ? ANSWER_LEFT : ANSWER_ENDED);
        if (closes)
            (void)shutdown(visitor->fd, SHUT_RDWR);
    }
    pthread_mutex_unlock(&visitors->lock);
}

struct visitor *
visitor_enter(struct visitors *visitors, int fd, bool is_local)
{
    struct visitor *visitor = calloc(1, sizeof(*visitor));

    if (visitor == NULL)
        return NULL;
    visitor->fd = fd;
    visitor->is_local = is_local;
    visitor->is_trusted = is_local && peer_is_trusted(fd);
    visitor->since_ns = clock_ns();
    pthread_mutex_lock(&visitors->lock);
    visitor->next = visitors->first;
    if (visitors->first != NULL)
        visitors->first->before = visitor;
    visitors->first = visitor;
    visitors->count++;
    if (visitors->count == 1)
        pthread_cond_signal(&visitors->has_changed);
    pthread_mutex_unlock(&visitors->lock);
    return visitor;
}

void
visitor_leave(struct visitors *visitors, struct visitor *visitor)
{
    if (visitor == NULL)
        return;
    pthread_mutex_lock(&visitors->lock);
    if (visitor->before != NULL)
        visitor->before->next = visitor->next;
    else
        visitors->first = visitor->next;
    if (visitor->next != NULL)
        visitor->next->before = visitor->before;
    visitors->count--;
    pthread_mutex_unlock(&visitors->lock);
    free(visitor);
}

bool
visitor_is_trusted(const struct visitor *visitor)
{
    return visitor->is_trusted;
}

void
visitor_begin(struct visitors *visitors, struct visitor *visitor,
              struct answer *answer, const struct writer *writer,
              uint64_t deadline_ns)
{
    pthread_mutex_lock(&visitors->lock);
    visitor->answer = answer;
    visitor->body = writer->body;
    visitor->writes = writer->writes;
    visitor->since_ns = clock_ns();
    visitor->deadline_ns = deadline_ns;
    pthread_mutex_unlock(&visitors->lock);
}

void
visitor_end(struct visitors *visitors, struct visitor *visitor)
{
    pthread_mutex_lock(&visitors->lock);
    visitor->answer = NULL;
    visitor->body = NULL;
    visitor->since_ns = clock_ns();
    pthread_mutex_unlock(&visitors->lock);
}
