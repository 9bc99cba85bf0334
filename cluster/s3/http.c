/* See http.h. SPDX-License-Identifier: MIT */
#include "cluster/s3/http.h"

#include <curl/curl.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>

#define ERROR_MAX ((size_t)64 << 10)
#define CONNECT_SECONDS 10
#define IDLE_MAX 16

struct http {
    const char *ca_bundle;
    pthread_mutex_t lock;
    CURL *idle[IDLE_MAX]; /* handles with their connections */
    size_t idle_count;
};

/* A request under way. */
struct transfer {
    CURL *curl;
    const struct http_request *request;
    struct http_answer *answer;
    uint64_t sent;
    bool is_too_long;
    enum colander_code code; /* of reading the body */
    struct colander_error err;
};

static void
init_curl(void)
{
    (void)curl_global_init(CURL_GLOBAL_DEFAULT);
}

enum colander_code
http_create(const char *ca_bundle, struct http **http,
            struct colander_error *err)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    (void)pthread_once(&once, init_curl);
    *http = calloc(1, sizeof(**http));
    if (*http == NULL)
        return COLANDER_FAIL(err, COLANDER_NO_MEMORY, "no memory for requests");
    (*http)->ca_bundle = ca_bundle;
    pthread_mutex_init(&(*http)->lock, NULL);
    return COLANDER_OK;
}

void
http_destroy(struct http *http)
{
    if (http == NULL)
        return;
    for (size_t i = 0; i < http->idle_count; i++)
        curl_easy_cleanup(http->idle[i]);
    pthread_mutex_destroy(&http->lock);
    free(http);
}

static CURL *
take_handle(struct http *http)
{
    CURL *curl = NULL;

    pthread_mutex_lock(&http->lock);
    if (http->idle_count > 0)
        curl = http->idle[--http->idle_count];
    pthread_mutex_unlock(&http->lock);
    return curl != NULL ? curl : curl_easy_init();
}

static void
keep_handle(struct http *http, CURL *curl)
{
    curl_easy_reset(curl);
    pthread_mutex_lock(&http->lock);
    if (http->idle_count < IDLE_MAX) {
        http->idle[http->idle_count++] = curl;
        curl = NULL;
    }
    pthread_mutex_unlock(&http->lock);
    curl_easy_cleanup(curl);
}

/* ----------------------------------------------------------- callbacks --- */

static size_t
send_bytes(char *to, size_t size, size_t count, void *context)
{
    struct transfer *transfer = context;
    const struct http_request *request = transfer->request;
    uint64_t left = request->body_size - transfer->sent;

    if (left > size * count)
        left = size * count;
    transfer->code =
        object_body_read(request->body, request->body_offset + transfer->sent,
                         to, (size_t)left, &transfer->err);
    if (transfer->code != COLANDER_OK)
        return CURL_READFUNC_ABORT;
    transfer->sent += left;
    return (size_t)left;
}

/* Sends again, from the beginning. */
static int
seek_bytes(void *context, curl_off_t offset, int origin)
{
    struct transfer *transfer = context;

    if (origin != SEEK_SET || offset < 0 ||
        (uint64_t)offset > transfer->request->body_size)
        return CURL_SEEKFUNC_FAIL;
    transfer->sent = (uint64_t)offset;
    return CURL_SEEKFUNC_OK;
}

static size_t
receive_bytes(char *from, size_t size, size_t count, void *context)
{
    struct transfer *transfer = context;
    struct colander_buffer *bytes = &transfer->answer->bytes;
    size_t taken = size * count;
    long status = 0;

    (void)curl_easy_getinfo(transfer->curl, CURLINFO_RESPONSE_CODE, &status);
    if (status >= 300) {
        if (taken > ERROR_MAX - bytes->size)
            taken = ERROR_MAX - bytes->size;
    } else if (taken > transfer->request->answer_max - bytes->size) {
        transfer->is_too_long = true;
        return 0;
    }
    transfer->code = colander_buffer_append(bytes, from, taken, &transfer->err);
    return transfer->code == COLANDER_OK ? size * count : 0;
}

/* Returns the value of the header, or NULL. */
static const char *
value_of(const char *line, const char *name)
{
    const size_t size = strlen(name);

    if (strncasecmp(line, name, size) != 0 || line[size] != ':')
        return NULL;
    return line + size + 1 + strspn(line + size + 1, " \t");
}

static size_t
receive_header(char *from, size_t size, size_t count, void *context)
{
    struct http_answer *answer = ((struct transfer *)context)->answer;
    char line[256];
    const char *value;

    (void)snprintf(line, sizeof(line), "%.*s",
                   (int)(size * count < 255 ? size * count : 255), from);
    line[strcspn(line, "\r\n")] = '\0';
    if (strncmp(line, "HTTP/", 5) == 0) { /* an answer after an interim one */
        answer->etag[0] = '\0';
        answer->has_range = false;
    }
    value = value_of(line, "etag");
    if (value != NULL)
        (void)snprintf(answer->etag, sizeof(answer->etag), "%.*s",
                       (int)sizeof(answer->etag) - 1, value);
    value = value_of(line, "content-range");
    if (value != NULL)
        answer->has_range =
            sscanf(value, "bytes %" SCNu64 "-%" SCNu64 "/%" SCNu64,
                   &answer->first, &answer->last, &answer->total) == 3;
    return size * count;
}

static bool
is_stopped(const struct http_request *request)
{
    return request->is_stopped != NULL && atomic_load(request->is_stopped);
}

static int
see_progress(void *context, curl_off_t down, curl_off_t has_down, curl_off_t up,
             curl_off_t has_up)
{
    (void)down;
    (void)has_down;
    (void)up;
    (void)has_up;
    return is_stopped(context);
}

/* ------------------------------------------------------------ requests --- */

static void
set(CURL *curl, CURLoption option, long value)
{
    (void)curl_easy_setopt(curl, option, value);
}

static void
set_method(struct transfer *transfer)
{
    const struct http_request *request = transfer->request;
    CURL *curl = transfer->curl;

    if (request->body != NULL) {
        set(curl, CURLOPT_UPLOAD, 1);
        (void)curl_easy_setopt(curl, CURLOPT_INFILESIZE_LARGE,
                               (curl_off_t)request->body_size);
        (void)curl_easy_setopt(curl, CURLOPT_READFUNCTION, send_bytes);
        (void)curl_easy_setopt(curl, CURLOPT_READDATA, transfer);
        (void)curl_easy_setopt(curl, CURLOPT_SEEKFUNCTION, seek_bytes);
        (void)curl_easy_setopt(curl, CURLOPT_SEEKDATA, transfer);
    }
    (void)curl_easy_setopt(curl, CURLOPT_CUSTOMREQUEST, request->method);
}

/* Returns whether that was possible. */
static bool
set_all(struct transfer *transfer, const struct http *http,
        struct curl_slist *headers)
{
    CURL *curl = transfer->curl;

    set_method(transfer);
    (void)curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, receive_bytes);
    (void)curl_easy_setopt(curl, CURLOPT_WRITEDATA, transfer);
    (void)curl_easy_setopt(curl, CURLOPT_HEADERFUNCTION, receive_header);
    (void)curl_easy_setopt(curl, CURLOPT_HEADERDATA, transfer);
    (void)curl_easy_setopt(curl, CURLOPT_HTTPHEADER, headers);
    (void)curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, "http,https");
    set(curl, CURLOPT_PATH_AS_IS, 1);
    set(curl, CURLOPT_FOLLOWLOCATION, 0);
    set(curl, CURLOPT_NOSIGNAL, 1);
    set(curl, CURLOPT_TCP_KEEPALIVE, 1);
    set(curl, CURLOPT_HTTP_VERSION, CURL_HTTP_VERSION_1_1);
    set(curl, CURLOPT_CONNECTTIMEOUT, CONNECT_SECONDS);
    set(curl, CURLOPT_LOW_SPEED_LIMIT, 1);
    set(curl, CURLOPT_LOW_SPEED_TIME, transfer->request->stall_seconds);
    set(curl, CURLOPT_NOPROGRESS, 0);
    (void)curl_easy_setopt(curl, CURLOPT_XFERINFOFUNCTION, see_progress);
    (void)curl_easy_setopt(curl, CURLOPT_XFERINFODATA, transfer->request);
    return (http->ca_bundle == NULL ||
            curl_easy_setopt(curl, CURLOPT_CAINFO, http->ca_bundle) ==
                CURLE_OK) &&
           curl_easy_setopt(curl, CURLOPT_URL, transfer->request->url) ==
               CURLE_OK;
}

static struct curl_slist *
list_headers(const struct http_request *request)
{
    struct curl_slist *list = curl_slist_append(NULL, "Expect:");

    for (size_t i = 0; request->headers[i] != NULL && list != NULL; i++) {
        struct curl_slist *longer =
            curl_slist_append(list, request->headers[i]);

        if (longer == NULL)
            curl_slist_free_all(list);
        list = longer;
    }
    return list;
}

/* Of what the user or the program has set, and not of the network. */
static bool
is_final_failure(CURLcode result)
{
    return result == CURLE_UNSUPPORTED_PROTOCOL ||
           result == CURLE_URL_MALFORMAT ||
           result == CURLE_PEER_FAILED_VERIFICATION ||
           result == CURLE_SSL_CACERT_BADFILE ||
           result == CURLE_ABORTED_BY_CALLBACK || result == CURLE_OUT_OF_MEMORY;
}

static enum colander_code
perform(struct transfer *transfer, bool *is_final, struct colander_error *err)
{
    char why[CURL_ERROR_SIZE] = "";
    CURLcode result;

    (void)curl_easy_setopt(transfer->curl, CURLOPT_ERRORBUFFER, why);
    result = curl_easy_perform(transfer->curl);
    (void)curl_easy_getinfo(transfer->curl, CURLINFO_RESPONSE_CODE,
                            &transfer->answer->status);
    *is_final = is_final_failure(result) || transfer->code != COLANDER_OK;
    if (transfer->code != COLANDER_OK)
        return COLANDER_FAIL(err, transfer->code, "%s", transfer->err.message);
    if (transfer->is_too_long)
        return COLANDER_FAIL(err, COLANDER_IO,
                             "the server sends more bytes than were asked for");
    if (result != CURLE_OK && is_stopped(transfer->request))
        return COLANDER_FAIL(err, COLANDER_CANCELLED, "cancelled");
    if (result != CURLE_OK)
        return COLANDER_FAIL(err, COLANDER_IO, "%s",
                             why[0] != '\0' ? why : curl_easy_strerror(result));
    return COLANDER_OK;
}

enum colander_code
http_do(struct http *http, const struct http_request *request,
        struct http_answer *answer, bool *is_final, struct colander_error *err)
{
    struct transfer transfer = {
        .curl = take_handle(http), .request = request, .answer = answer};
    struct curl_slist *headers = list_headers(request);
    enum colander_code code;

    colander_buffer_clear(&answer->bytes);
    answer->status = 0;
    answer->etag[0] = '\0';
    answer->has_range = false;
    *is_final = true;
    if (transfer.curl == NULL || headers == NULL ||
        !set_all(&transfer, http, headers))
        code =
            COLANDER_FAIL(err, COLANDER_NO_MEMORY, "no memory for a request");
    else
        code = perform(&transfer, is_final, err);
    if (transfer.curl != NULL)
        keep_handle(http, transfer.curl);
    curl_slist_free_all(headers);
    return code;
}
