/* See answer.h. SPDX-License-Identifier: MIT */
#include "serve/answer.h"
#include "serve/body.h"
#include "serve/reply.h"

#include <microhttpd.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

struct answer {
    struct job job; /* first: a job is its answer */
    const struct answers *answers;
    struct writer *writer;
    pthread_mutex_t lock;
    pthread_cond_t has_room; /* `ready` is sent, or the answer stops */
    struct MHD_Connection *connection; /* NULL: left */
    struct colander_cursor *cursor;    /* to be cancelled; may be NULL */
    struct colander_buffer ready;      /* being sent */
    struct colander_buffer next;       /* the worker's, while it works */
    size_t sent;                       /* bytes of `ready` */
    bool is_suspended;                 /* the connection is */
    bool is_working;                   /* queued or running in a worker */
    bool is_ended;                     /* nothing follows `next` */
    bool is_begun;                     /* the reply is queued */
    bool is_failed;                    /* it has begun, and ends with one */
    uint64_t streamed;                 /* bytes that were sent in pieces */
    struct colander_error failure;     /* OK, or why it has not begun */
    _Atomic(enum answer_stop) stop;
};

/* --------------------------------------------------------------- worker --- */

static void
destroy(struct answer *answer)
{
    const struct answers *answers = answer->answers;

    answer->writer->destroy(answer->writer);
    pthread_cond_destroy(&answer->has_room);
    pthread_mutex_destroy(&answer->lock);
    colander_buffer_release(&answer->ready);
    colander_buffer_release(&answer->next);
    free(answer);
    answers->destroyed(answers->context);
}

/* The functions below require the lock. */

static void
resume(struct answer *answer)
{
    if (!answer->is_suspended)
        return;
    answer->is_suspended = false;
    MHD_resume_connection(answer->connection);
}

static void
submit(struct answer *answer)
{
    const struct answers *answers = answer->answers;
    struct workers *workers = answers->workers;

    if (answer->writer->waits)
        workers = answers->runners;
    else if (answer->writer->is_for_peer && answers->peer_workers != NULL)
        workers = answers->peer_workers;
    answer->is_working = true;
    workers_submit(workers, &answer->job);
}

/* Makes what was written ready to be sent, and has more written. */
static void
turn(struct answer *answer)
{
    struct colander_buffer sent = answer->ready;

    if (answer->sent < answer->ready.size || answer->is_working)
        return;
    answer->ready = answer->next;
    answer->next = sent;
    colander_buffer_clear(&answer->next);
    answer->sent = 0;
    if (!answer->is_ended)
        submit(answer);
}

static void
explain_stop(enum answer_stop stop, struct colander_error *failure)
{
    if (stop == ANSWER_LATE)
        (void)COLANDER_FAIL(failure, COLANDER_CANCELLED,
                            "the time of the request is over");
    else if (stop == ANSWER_ENDED)
        (void)COLANDER_FAIL(failure, COLANDER_CANCELLED, "the server ends");
}

/* Ends the answer with a failure. If no byte of it was ready it becomes the
 * reply; otherwise its frame does not fit only if memory is short, and then
 * the connection is closed without the end of the body. */
static void
end(struct answer *answer, struct colander_error *failure)
{
    explain_stop(atomic_load(&answer->stop), failure);
    answer->is_ended = true;
    if (!answer->is_begun && answer->ready.size == 0) {
        answer->failure = *failure;
        return;
    }
    answer->is_failed = true;
    if (answer->writer->fail(answer->writer, &answer->next, failure) !=
        COLANDER_OK)
        atomic_store(&answer->stop, ANSWER_LEFT);
}

/* That this thread writes; NULL: none. */
static _Thread_local const struct answer *written;

bool
answer_is_over_here(void)
{
    return written != NULL && answer_stopped(written) != ANSWER_GOES_ON;
}

/* Does a step of writing, and returns with the lock. */
static void
write_step(struct answer *answer, bool begins)
{
    struct writer *writer = answer->writer;
    struct colander_error err;
    bool is_end = false;
    enum colander_code code = COLANDER_OK;

    err.code = COLANDER_OK;
    written = answer;
    if (answer_stopped(answer) != ANSWER_GOES_ON)
        code = COLANDER_FAIL(&err, COLANDER_CANCELLED, "cancelled");
    else
        code = (begins ? writer->begin : writer->write)(
            writer, answer, &answer->next, &is_end, &err);
    written = NULL;
    if (writer->body != NULL && (is_end || code != COLANDER_OK))
        body_close(writer->body);
    pthread_mutex_lock(&answer->lock);
    answer->is_working = false;
    answer->is_ended = is_end;
    if (code != COLANDER_OK)
        end(answer, &err);
}

static void
run(struct job *job)
{
    struct answer *answer = (struct answer *)job;
    bool is_last;

    write_step(answer, false);
    is_last = answer->connection == NULL;
    if (!is_last) {
        turn(answer);
        resume(answer);
    }
    pthread_mutex_unlock(&answer->lock);
    if (is_last)
        destroy(answer);
}

/* ----------------------------------------------------------- connection --- */

struct answer *
answer_create(const struct answers *answers, struct writer *writer)
{
    struct answer *answer = calloc(1, sizeof(*answer));

    if (answer == NULL) {
        writer->destroy(writer);
        return NULL;
    }
    answer->job.run = run;
    answer->answers = answers;
    answer->writer = writer;
    pthread_mutex_init(&answer->lock, NULL);
    pthread_cond_init(&answer->has_room, NULL);
    return answer;
}

bool
answer_start(struct answer *answer, struct MHD_Connection *connection)
{
    bool has_begun;

    pthread_mutex_lock(&answer->lock);
    answer->connection = connection;
    if (answer->writer->begin != NULL) {
        answer->is_working = true;
        pthread_mutex_unlock(&answer->lock);
        write_step(answer, true);
    }
    has_begun = answer->is_ended || answer->next.size >= ANSWER_STEP;
    if (has_begun) {
        turn(answer);
    } else {
        answer->is_suspended = true;
        MHD_suspend_connection(connection);
        submit(answer);
    }
    pthread_mutex_unlock(&answer->lock);
    return has_begun;
}

void
answer_begin(struct answer *answer, struct MHD_Connection *connection)
{
    pthread_mutex_lock(&answer->lock);
    answer->connection = connection;
    submit(answer);
    pthread_mutex_unlock(&answer->lock);
}

bool
answer_await(struct answer *answer)
{
    bool is_there;

    pthread_mutex_lock(&answer->lock);
    is_there = !answer->is_working || answer->ready.size > 0;
    if (!is_there) {
        answer->is_suspended = true;
        MHD_suspend_connection(answer->connection);
    }
    pthread_mutex_unlock(&answer->lock);
    return is_there;
}

/* Copies bytes to the connection, or suspends it until there are some. */
static ssize_t
send_more(void *context, uint64_t position, char *to, size_t size)
{
    struct answer *answer = context;
    ssize_t count;

    (void)position;
    pthread_mutex_lock(&answer->lock);
    turn(answer);
    if (atomic_load(&answer->stop) == ANSWER_LEFT) {
        count = MHD_CONTENT_READER_END_WITH_ERROR;
    } else if (answer->sent < answer->ready.size) {
        if (size > answer->ready.size - answer->sent)
            size = answer->ready.size - answer->sent;
        memcpy(to, answer->ready.data + answer->sent, size);
        answer->sent += size;
        answer->streamed += size;
        count = (ssize_t)size;
        if (answer->sent == answer->ready.size)
            pthread_cond_signal(&answer->has_room);
    } else if (answer->is_ended && !answer->is_working) {
        count = MHD_CONTENT_READER_END_OF_STREAM;
    } else {
        answer->is_suspended = true;
        MHD_suspend_connection(answer->connection);
        count = 0;
    }
    pthread_mutex_unlock(&answer->lock);
    return count;
}

/* An answer that is whole has its size; a longer one goes in chunks. Requires
 * the lock. */
static struct MHD_Response *
respond(struct answer *answer)
{
    if (!answer->is_ended || answer->is_working || answer->next.size > 0)
        return MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, ANSWER_STEP,
                                                 send_more, answer, NULL);
    answer->sent = answer->ready.size;
    return MHD_create_response_from_buffer(
        answer->ready.size, answer->ready.data, MHD_RESPMEM_MUST_COPY);
}

unsigned
answer_respond(struct answer *answer)
{
    struct MHD_Response *response = NULL;
    struct colander_error failure;
    struct MHD_Connection *connection = answer->connection;
    unsigned status;
    size_t size = 0;

    pthread_mutex_lock(&answer->lock);
    failure = answer->failure;
    status = answer->writer->status;
    answer->is_begun = failure.code == COLANDER_OK;
    if (answer->is_begun) {
        response = respond(answer);
        size = answer->sent; /* all of it, or nothing yet */
    }
    if (response != NULL && answer->writer->header != NULL)
        (void)MHD_add_response_header(response, answer->writer->header,
                                      answer->writer->header_value);
    pthread_mutex_unlock(&answer->lock);
    if (failure.code != COLANDER_OK)
        return reply_failure(connection, answer->writer->shape, &failure,
                             answer_stopped(answer) == ANSWER_LATE,
                             answer->writer->parameter, answer->writer->offset);
    return reply_with(connection, status == 0 ? MHD_HTTP_OK : status, response,
                      size, answer->writer->content_type);
}

void
answer_report(struct answer *answer, struct answer_report *report)
{
    pthread_mutex_lock(&answer->lock);
    report->streamed = answer->streamed;
    report->row_count =
        atomic_load_explicit(&answer->writer->row_count, memory_order_relaxed);
    report->counts_rows = answer->writer->counts_rows;
    report->is_failed = answer->is_failed;
    pthread_mutex_unlock(&answer->lock);
}

void
answer_leave(struct answer *answer)
{
    bool is_last;

    answer_stop(answer, ANSWER_LEFT);
    pthread_mutex_lock(&answer->lock);
    answer->connection = NULL;
    answer->is_suspended = false;
    is_last = !answer->is_working;
    pthread_mutex_unlock(&answer->lock);
    if (is_last)
        destroy(answer);
}

void
answer_stop(struct answer *answer, enum answer_stop why)
{
    pthread_mutex_lock(&answer->lock);
    if (why == ANSWER_LEFT || atomic_load(&answer->stop) == ANSWER_GOES_ON)
        atomic_store(&answer->stop, why);
    if (answer->cursor != NULL)
        colander_cursor_cancel(answer->cursor);
    pthread_cond_signal(&answer->has_room);
    if (answer->connection != NULL && !answer->is_working)
        resume(answer); /* a worker does it when it has stopped */
    pthread_mutex_unlock(&answer->lock);
}

void
answer_interrupt(struct answer *answer)
{
    pthread_mutex_lock(&answer->lock);
    if (answer->cursor != NULL)
        colander_cursor_cancel(answer->cursor);
    pthread_mutex_unlock(&answer->lock);
}

enum colander_code
answer_flush(struct answer *answer, struct colander_buffer *bytes,
             struct colander_error *err)
{
    struct colander_buffer sent;

    pthread_mutex_lock(&answer->lock);
    while (answer->sent < answer->ready.size &&
           atomic_load(&answer->stop) == ANSWER_GOES_ON)
        pthread_cond_wait(&answer->has_room, &answer->lock);
    if (atomic_load(&answer->stop) == ANSWER_GOES_ON) {
        sent = answer->ready;
        answer->ready = *bytes;
        answer->sent = 0;
        *bytes = sent;
        resume(answer);
    }
    colander_buffer_clear(bytes);
    pthread_mutex_unlock(&answer->lock);
    return answer_stopped(answer) == ANSWER_GOES_ON
               ? COLANDER_OK
               : COLANDER_FAIL(err, COLANDER_CANCELLED, "cancelled");
}

enum answer_stop
answer_stopped(const struct answer *answer)
{
    return atomic_load(&answer->stop);
}

void
answer_watch(struct answer *answer, struct colander_cursor *cursor)
{
    pthread_mutex_lock(&answer->lock);
    answer->cursor = cursor;
    if (cursor != NULL && atomic_load(&answer->stop) != ANSWER_GOES_ON)
        colander_cursor_cancel(cursor);
    pthread_mutex_unlock(&answer->lock);
}
