/* See call.h. SPDX-License-Identifier: MIT */
#include "serve/peers/call.h"

#include "columns/group_bytes.h"
#include "core/bytes.h"
#include "core/clock.h"
#include "serve/answer.h"

#include <stdio.h>
#include <stdlib.h>

#define WAIT_MS 30000
#define CONNECT_MS 3000     /* waited for a connection */
#define KEEPALIVE_SECONDS 5 /* then a machine that is gone is noticed */
#define SEND_US 250000      /* waited until a request is sent */
#define SEND_POLL_MS 10
#define POLL_MS 50  /* how often a find looks whether it is cancelled */
#define IDLE_MAX 16 /* connections that are kept */
#define REFUSAL_MAX ((size_t)64 << 10)
#define FRAME_MAX ((size_t)64 << 20) /* a row has 16 MiB */

/* ---------------------------------------------------------- connections --- */

static void
free_line(struct line *line)
{
    if (line == NULL)
        return;
    curl_easy_cleanup(line->easy);
    (void)curl_multi_cleanup(line->multi);
    free(line);
}

static struct line *
take_line(struct peer_store *store)
{
    struct line *line;

    pthread_mutex_lock(&store->mutex);
    line = store->idle;
    if (line != NULL) {
        store->idle = line->next;
        store->idle_count--;
    }
    pthread_mutex_unlock(&store->mutex);
    if (line != NULL)
        return line;
    line = calloc(1, sizeof(*line));
    if (line == NULL)
        return NULL;
    line->multi = curl_multi_init();
    line->easy = curl_easy_init();
    if (line->multi != NULL && line->easy != NULL)
        return line;
    free_line(line);
    return NULL;
}

static void
return_line(struct peer_store *store, struct line *line)
{
    bool is_kept;

    pthread_mutex_lock(&store->mutex);
    is_kept = store->idle_count < IDLE_MAX;
    if (is_kept) {
        line->next = store->idle;
        store->idle = line;
        store->idle_count++;
    }
    pthread_mutex_unlock(&store->mutex);
    if (!is_kept)
        free_line(line);
}

/* ---------------------------------------------------------------- calls --- */

static size_t
take_bytes(char *data, size_t size, size_t count, void *context)
{
    struct call *call = context;

    call->heard_us = clock_us();
    if (call->got.size - call->at > FRAME_MAX ||
        colander_buffer_append(&call->got, data, size * count, NULL) !=
            COLANDER_OK)
        return 0;
    return size * count;
}

/* The options whose last argument is a long. */
static void
set(CURL *easy, CURLoption option, long value)
{
    (void)curl_easy_setopt(easy, option, value);
}

static bool
set_target(const struct call *call, const char *ask, const char *family)
{
    CURL *easy = call->line->easy;
    char *escaped = curl_easy_escape(easy, family == NULL ? "" : family, 0);
    char *url = NULL;
    bool is_set;

    if (escaped == NULL ||
        asprintf(&url, "%s/peer?ask=%s%s%s", call->store->address, ask,
                 family == NULL ? "" : "&of=", escaped) < 0)
        url = NULL;
    is_set =
        url != NULL && curl_easy_setopt(easy, CURLOPT_URL, url) == CURLE_OK;
    curl_free(escaped);
    free(url);
    return is_set;
}

static void
set_up(struct call *call)
{
    const struct peer_store *store = call->store;
    CURL *easy = call->line->easy;

    (void)curl_easy_setopt(easy, CURLOPT_HTTPHEADER, store->headers);
    (void)curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https");
    (void)curl_easy_setopt(easy, CURLOPT_NOPROXY, "*");
    if (store->ca_file != NULL)
        (void)curl_easy_setopt(easy, CURLOPT_CAINFO, store->ca_file);
    set(easy, CURLOPT_FOLLOWLOCATION, 0);
    set(easy, CURLOPT_NOSIGNAL, 1);
    set(easy, CURLOPT_TCP_NODELAY, 1);
    set(easy, CURLOPT_TCP_KEEPALIVE, 1);
    set(easy, CURLOPT_TCP_KEEPIDLE, KEEPALIVE_SECONDS);
    set(easy, CURLOPT_TCP_KEEPINTVL, KEEPALIVE_SECONDS);
    (void)curl_easy_setopt(easy, CURLOPT_ERRORBUFFER, call->reason);
    (void)curl_easy_setopt(easy, CURLOPT_POSTFIELDS,
                           call->body.size > 0 ? (const char *)call->body.data
                                               : "");
    set(easy, CURLOPT_POSTFIELDSIZE, (long)call->body.size);
    (void)curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, take_bytes);
    (void)curl_easy_setopt(easy, CURLOPT_WRITEDATA, call);
}

enum colander_code
call_begin_body(struct call *call, const char *family,
                const struct colander_key_range *keys,
                struct colander_error *err)
{
    const struct peer_store *store = call->store;
    enum colander_code code = COLANDER_OK;

    colander_buffer_clear(&call->body);
    call->unasked = 0;
    for (size_t i = 0; i < store->part_count && code == COLANDER_OK; i++) {
        const char *part = store->parts[i];
        enum colander_member_use use = COLANDER_MEMBER_READ;

        if (store->options.choose != NULL && family != NULL)
            use = store->options.choose(store->options.choose_context, part,
                                        family, keys);
        call->unasked += use == COLANDER_MEMBER_UNASKED;
        if (use == COLANDER_MEMBER_READ)
            code = peer_append(&call->body, PEER_PART,
                               colander_slice_of(part, strlen(part) + 1), err);
    }
    call->is_void = store->part_count > 0 && call->body.size == 0;
    return code;
}

enum colander_code
call_begin(struct call *call, const char *ask, const char *family,
           struct colander_error *err)
{
    int running;

    call->reason[0] = '\0';
    call->line = take_line(call->store);
    if (call->line == NULL || !set_target(call, ask, family))
        return COLANDER_FAIL(err, COLANDER_NO_MEMORY,
                             "no memory for a request");
    set_up(call);
    call->heard_us = clock_us();
    if (curl_multi_add_handle(call->line->multi, call->line->easy) != CURLM_OK)
        return COLANDER_FAIL(err, COLANDER_NO_MEMORY,
                             "no memory for a request");
    call->is_added = true;
    (void)curl_multi_perform(call->line->multi, &running);
    return COLANDER_OK;
}

void
call_send(struct call *call)
{
    const uint64_t end = clock_us() + SEND_US;
    curl_off_t sent_us = 0;
    int running = 1;

    while (running > 0 && sent_us == 0 && clock_us() < end) {
        (void)curl_multi_poll(call->line->multi, NULL, 0, SEND_POLL_MS, NULL);
        (void)curl_multi_perform(call->line->multi, &running);
        (void)curl_easy_getinfo(call->line->easy, CURLINFO_PRETRANSFER_TIME_T,
                                &sent_us);
    }
}

void
call_end(struct call *call)
{
    long status = 0;

    if (call->line != NULL) {
        (void)curl_easy_getinfo(call->line->easy, CURLINFO_RESPONSE_CODE,
                                &status);
        if (call->is_added)
            (void)curl_multi_remove_handle(call->line->multi, call->line->easy);
        curl_easy_reset(call->line->easy);
        if (call->is_over && call->result == CURLE_OK && status == 200)
            return_line(call->store, call->line);
        else
            free_line(call->line);
    }
    call->line = NULL;
    call->is_added = false;
    call->is_over = false;
    call->at = 0;
    colander_buffer_clear(&call->got);
}

void
call_release(struct call *call)
{
    call_end(call);
    colander_buffer_release(&call->got);
    colander_buffer_release(&call->body);
}

static enum colander_code
fail_unreachable(const struct call *call, const char *reason,
                 struct colander_error *err)
{
    return COLANDER_FAIL(err, COLANDER_BUSY, "node %s: %s",
                         call->store->address, reason);
}

/* Fails with what a server has answered instead of frames. */
static enum colander_code
fail_refused(const struct call *call, long status, struct colander_error *err)
{
    struct colander_json_reader *reader = colander_json_reader_create();
    const enum colander_code code = status == 404   ? COLANDER_NOT_FOUND
                                    : status == 400 ? COLANDER_INVALID
                                                    : COLANDER_BUSY;
    struct colander_value value = colander_null();
    struct colander_slice key, row;
    bool found = false;

    if (reader != NULL && call->got.size < REFUSAL_MAX &&
        colander_json_reader_row(reader, colander_buffer_slice(&call->got),
                                 &key, &found, &row, NULL) == COLANDER_OK)
        (void)!colander_row_get(row, "error.message", &value, &found, NULL);
    if (found && value.type == COLANDER_STRING)
        (void)COLANDER_FAIL(err, code, "node %s: %.*s", call->store->address,
                            (int)value.bytes.size,
                            (const char *)value.bytes.data);
    else
        (void)COLANDER_FAIL(err, code, "node %s refuses it, with status %ld",
                            call->store->address, status);
    colander_json_reader_destroy(reader);
    return code;
}

/* Notices whether the transfer is over. */
static void
look_for_end(struct call *call)
{
    const CURLMsg *message;
    int left;

    while ((message = curl_multi_info_read(call->line->multi, &left)) != NULL) {
        if (message->msg != CURLMSG_DONE)
            continue;
        call->is_over = true;
        call->result = message->data.result;
    }
}

/* Returns the milliseconds that may be waited now; negative: none, as `code`
 * says. */
static int
time_to_wait(struct call *call, enum colander_code *code,
             struct colander_error *err)
{
    const uint64_t now = clock_us();
    curl_off_t connected_us = 0;
    uint64_t wait_ms = call->store->options.wait_ms > 0
                           ? call->store->options.wait_ms
                           : WAIT_MS;

    (void)curl_easy_getinfo(call->line->easy, CURLINFO_PRETRANSFER_TIME_T,
                            &connected_us);
    if (connected_us == 0 && wait_ms > CONNECT_MS)
        wait_ms = CONNECT_MS;
    if ((call->is_cancelled != NULL &&
         atomic_load_explicit(call->is_cancelled, memory_order_relaxed)) ||
        (call->groups != NULL && colander_groups_is_cancelled(call->groups)) ||
        answer_is_over_here())
        *code =
            COLANDER_FAIL(err, COLANDER_CANCELLED, "the find was cancelled");
    else if (call->pause_us != NULL && *call->pause_us != 0 &&
             now >= *call->pause_us) {
        *code = COLANDER_FAIL(err, COLANDER_BUSY, "the find is paused");
        call->is_paused = call->was_paused = true;
    } else if (now - call->heard_us > wait_ms * 1000)
        *code = fail_unreachable(call, "it does not answer", err);
    if (*code != COLANDER_OK)
        return -1;
    if (call->pause_us != NULL && *call->pause_us != 0 &&
        *call->pause_us - now < POLL_MS * UINT64_C(1000))
        return (int)((*call->pause_us - now) / 1000);
    return POLL_MS;
}

/* Waits until more of the answer has come. */
static enum colander_code
receive(struct call *call, struct colander_error *err)
{
    const size_t size = call->got.size;
    enum colander_code code = COLANDER_OK;
    int running;

    if (!call->was_paused) /* else it was waited for all the time */
        call->heard_us = clock_us();
    call->was_paused = false;
    for (;;) {
        int wait_ms;

        (void)curl_multi_perform(call->line->multi, &running);
        look_for_end(call);
        if (call->got.size > size || call->is_over)
            return COLANDER_OK;
        wait_ms = time_to_wait(call, &code, err);
        if (wait_ms < 0)
            return code;
        (void)curl_multi_poll(call->line->multi, NULL, 0, wait_ms, NULL);
    }
}

enum colander_code
call_next_frame(struct call *call, uint8_t *kind, struct colander_slice *data,
                struct colander_error *err)
{
    enum colander_code code = COLANDER_OK;

    if (call->line == NULL)
        return COLANDER_FAIL(err, COLANDER_INVALID,
                             "the last seek has failed: seek again");
    while (code == COLANDER_OK) {
        struct colander_slice left = colander_buffer_slice(&call->got);
        long status = 0;

        left.data += call->at;
        left.size -= call->at;
        (void)curl_easy_getinfo(call->line->easy, CURLINFO_RESPONSE_CODE,
                                &status);
        if (status == 200 && peer_take(&left, kind, data)) {
            call->at = call->got.size - left.size;
            return COLANDER_OK;
        }
        if (call->is_over && call->result != CURLE_OK)
            return fail_unreachable(call,
                                    call->reason[0] == '\0'
                                        ? curl_easy_strerror(call->result)
                                        : call->reason,
                                    err);
        if (call->is_over && status != 200)
            return fail_refused(call, status, err);
        if (call->is_over)
            return fail_unreachable(call, "it ended before its answer", err);
        if (call->at > 0) { /* what was taken is not needed any more */
            memmove(call->got.data, call->got.data + call->at, left.size);
            call->got.size = left.size;
            call->at = 0;
        }
        code = receive(call, err);
    }
    return code;
}

enum colander_code
call_take_all(struct call *call, call_take *take, void *context,
              struct colander_error *err)
{
    enum colander_code code = COLANDER_OK;
    bool is_end = false;

    while (code == COLANDER_OK && !is_end) {
        struct colander_slice data = {NULL, 0};
        uint8_t kind = 0;

        code = call_next_frame(call, &kind, &data, err);
        if (code != COLANDER_OK)
            break;
        is_end = kind == PEER_END;
        if (kind == PEER_FAILURE)
            code = call_fail_as(call, data, err);
        else if (!is_end)
            code = take(context, kind, data, err);
        if (code == COLANDER_INVALID && kind != PEER_FAILURE)
            code = call_fail_malformed(call, err);
    }
    return code;
}

enum colander_code
call_fail_malformed(const struct call *call, struct colander_error *err)
{
    return COLANDER_FAIL(err, COLANDER_BUSY,
                         "node %s answers what this version does not know",
                         call->store->address);
}

enum colander_code
call_fail_as(const struct call *call, struct colander_slice data,
             struct colander_error *err)
{
    enum colander_code code = COLANDER_BUSY;

    if (data.size > 0 && data.data[0] > COLANDER_OK &&
        data.data[0] <= COLANDER_NO_MEMORY)
        code = (enum colander_code)data.data[0];
    if (code ==
        COLANDER_CANCELLED) /* there, as the server ends, and not here */
        code = COLANDER_BUSY;
    return COLANDER_FAIL(err, code, "node %s: %.*s", call->store->address,
                         data.size > 0 ? (int)data.size - 1 : 0,
                         data.size > 0 ? (const char *)data.data + 1 : "");
}

enum colander_code
call_finish(struct call *call, struct colander_error *err)
{
    enum colander_code code = COLANDER_OK;

    while (code == COLANDER_OK && !call->is_over)
        code = receive(call, err);
    return code;
}

void
call_free_idle(struct peer_store *store)
{
    while (store->idle != NULL) {
        struct line *line = store->idle;

        store->idle = line->next;
        free_line(line);
    }
}

bool
call_is_paused(struct call *call)
{
    const bool is_paused = call->is_paused;

    call->is_paused = false;
    return is_paused;
}
