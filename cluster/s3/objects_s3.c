/*
 * Objects in an S3 bucket: requests are signed, and sent again if the server or
 * the network fails.
 *
 * SPDX-License-Identifier: MIT
 */
#include "cluster/objects_inside.h"
#include "cluster/s3/http.h"
#include "cluster/s3/s3_answer.h"
#include "cluster/s3/s3_settings.h"
#include "cluster/s3/s3_sign.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/random.h>
#include <time.h>

#define PUT_MAX ((uint64_t)64 << 20) /* in one request */
#define PART_SIZE ((uint64_t)16 << 20)
#define PARTS_MAX 9000
#define ANSWER_MAX ((size_t)16 << 20) /* of a list */
#define WAIT_MS 100                   /* before the second attempt, at most */
#define WAIT_MS_MAX 5000
#define STALL_SECONDS 30      /* a request may be without a byte */
#define STALL_ONCE_SECONDS 10 /* if it is tried only once */

struct s3_objects {
    struct objects objects;
    struct s3_settings settings;
    struct http *http;
    char *prefix; /* "" or "prefix/" */
};

/* A request. All is borrowed. */
struct call {
    const char *method;
    const char *name; /* of the object, without the prefix; NULL: the bucket */
    struct sign_pair parameters[4];
    size_t parameter_count;
    const struct object_body *body; /* NULL: none */
    uint64_t body_offset;
    uint64_t body_size;
    uint64_t range_offset;
    size_t range_size;      /* 0: no range */
    struct s3_answer *said; /* receives an answer in XML; NULL: it has none */
};

static struct s3_objects *
s3_of(struct objects *objects)
{
    return (struct s3_objects *)objects;
}

/* ---------------------------------------------------------- one attempt --- */

/* A request as it is signed and sent. */
struct attempt {
    struct sign_request request;
    char time[32];
    char body_hash[SIGN_HASH_SIZE];
    char range[64];
    struct text path;
    struct text url;
    struct text lines[8]; /* headers */
};

static void
add_header(struct attempt *attempt, const char *name, const char *value)
{
    const struct sign_pair pair = {name, value};

    attempt->request.headers[attempt->request.header_count++] = pair;
}

static void
prepare(const struct s3_objects *s3, const struct call *call,
        struct attempt *attempt)
{
    const struct s3_settings *settings = &s3->settings;
    struct sign_request *request = &attempt->request;
    const time_t now = time(NULL);
    struct tm utc;

    (void)gmtime_r(&now, &utc);
    (void)strftime(attempt->time, sizeof(attempt->time), "%Y%m%dT%H%M%SZ",
                   &utc);
    text_add(&attempt->path, "%s", settings->path);
    if (call->name != NULL)
        text_add(&attempt->path, "/%s%s", s3->prefix, call->name);
    else if (settings->path[0] == '\0')
        text_add(&attempt->path, "/");
    request->method = call->method;
    request->path = text_string(&attempt->path);
    for (size_t i = 0; i < call->parameter_count; i++)
        request->parameters[i] = call->parameters[i];
    request->parameter_count = call->parameter_count;
    request->time = attempt->time;
    request->region = settings->region;
    request->service = "s3";
    request->key_id = settings->key_id;
    request->key = settings->key;
    request->body_hash = attempt->body_hash;
    add_header(attempt, "host", settings->host);
    add_header(attempt, "x-amz-date", attempt->time);
    add_header(attempt, "x-amz-content-sha256", attempt->body_hash);
    if (settings->token != NULL)
        add_header(attempt, "x-amz-security-token", settings->token);
    if (call->range_size > 0) {
        (void)snprintf(attempt->range, sizeof(attempt->range),
                       "bytes=%" PRIu64 "-%" PRIu64, call->range_offset,
                       call->range_offset + call->range_size - 1);
        add_header(attempt, "range", attempt->range);
    }
}

/* Adds the headers and the URL to what is sent. `headers` is for 8 of them. */
static enum colander_code
finish(const struct s3_objects *s3, struct attempt *attempt,
       const char **headers, struct colander_error *err)
{
    struct sign_request *request = &attempt->request;
    struct text *line = attempt->lines;
    enum colander_code code;

    text_add(line, "Authorization: ");
    code = sign(request, line, err);
    for (size_t i = 0; i < request->header_count; i++)
        text_add(++line, "%s: %s", request->headers[i].name,
                 request->headers[i].value);
    text_add(&attempt->url, "%s://%s", s3->settings.scheme, s3->settings.host);
    text_add_encoded(&attempt->url, request->path, true);
    if (request->parameter_count > 0)
        text_add(&attempt->url, "?");
    sign_add_parameters(request, &attempt->url);
    for (size_t i = 0; i <= request->header_count; i++) {
        headers[i] = text_string(&attempt->lines[i]);
        if (code == COLANDER_OK)
            code = text_settle(&attempt->lines[i], err);
    }
    headers[request->header_count + 1] = NULL;
    (void)text_string(&attempt->url);
    if (code == COLANDER_OK)
        code = text_settle(&attempt->path, err);
    return code == COLANDER_OK ? text_settle(&attempt->url, err) : code;
}

static void
release_attempt(struct attempt *attempt)
{
    text_release(&attempt->path);
    text_release(&attempt->url);
    for (size_t i = 0; i < sizeof(attempt->lines) / sizeof(attempt->lines[0]);
         i++)
        text_release(&attempt->lines[i]);
}

static enum colander_code
try_once(struct s3_objects *s3, const struct call *call,
         struct http_answer *answer, bool *is_final, struct colander_error *err)
{
    static const struct object_body nothing = {.fd = -1};
    const struct object_body *body = call->body == NULL ? &nothing : call->body;
    struct attempt attempt;
    const char *headers[10];
    struct http_request request = {
        .method = call->method,
        .headers = headers,
        .body = call->body,
        .body_offset = call->body_offset,
        .body_size = call->body_size,
        .answer_max = call->range_size > 0 ? call->range_size : ANSWER_MAX,
        .stall_seconds =
            s3->objects.tries_once ? STALL_ONCE_SECONDS : STALL_SECONDS,
        .is_stopped = s3->objects.is_stopped};
    enum colander_code code;

    *is_final = true;
    memset(&attempt, 0, sizeof(attempt));
    code = sign_hash(body, call->body_offset, call->body_size,
                     attempt.body_hash, err);
    prepare(s3, call, &attempt);
    if (code == COLANDER_OK)
        code = finish(s3, &attempt, headers, err);
    request.url = text_string(&attempt.url);
    if (code == COLANDER_OK)
        code = http_do(s3->http, &request, answer, is_final, err);
    release_attempt(&attempt);
    return code;
}

/* -------------------------------------------------------------- answers --- */

/* Checks that the bytes are those that were asked for. */
static enum colander_code
check_range(const struct call *call, const struct http_answer *answer,
            struct colander_error *err)
{
    const uint64_t size = answer->bytes.size;

    if (answer->status == 200 && call->range_offset == 0)
        return COLANDER_OK; /* the whole object */
    if (answer->status != 206 || !answer->has_range)
        return COLANDER_FAIL(err, COLANDER_IO,
                             "the server ignores that a range was asked for");
    if (answer->first != call->range_offset || size == 0 ||
        answer->last - answer->first != size - 1 ||
        (size < call->range_size && answer->last + 1 != answer->total))
        return COLANDER_FAIL(err, COLANDER_IO,
                             "the server sends %" PRIu64 " bytes, and says "
                             "they are %" PRIu64 " to %" PRIu64 " of %" PRIu64,
                             size, answer->first, answer->last, answer->total);
    return COLANDER_OK;
}

/* Reports an answer that is an error. Sets whether another attempt may help. */
static enum colander_code
fail_answer(const struct s3_objects *s3, const struct http_answer *answer,
            bool *is_final, struct colander_error *err)
{
    const long status = answer->status;
    struct s3_answer said = {.is_error = false};
    const bool is_xml =
        s3_answer_read(&said, colander_buffer_slice(&answer->bytes), NULL) ==
        COLANDER_OK;
    const char *code = is_xml ? text_string(&said.code) : "";
    const char *message = is_xml ? text_string(&said.message) : "";
    enum colander_code result;

    *is_final = status < 500 && status != 429 && status != 408 &&
                strcmp(code, "RequestTimeout") != 0 &&
                strcmp(code, "SlowDown") != 0 && status >= 300;
    if (strcmp(code, "NoSuchBucket") == 0)
        result = COLANDER_FAIL(err, COLANDER_INVALID,
                               "the server has no such bucket");
    else if (status == 404)
        result = COLANDER_FAIL(err, COLANDER_NOT_FOUND,
                               "the server has no such object");
    else if (text_string(&said.region)[0] != '\0' && status < 500)
        result = COLANDER_FAIL(err, COLANDER_INVALID,
                               "the bucket is in region '%s', and not in '%s': "
                               "set AWS_REGION",
                               text_string(&said.region), s3->settings.region);
    else
        result = COLANDER_FAIL(err, COLANDER_IO,
                               "the server answers %ld%s%.100s%s%.300s", status,
                               code[0] == '\0' ? "" : ", ", code,
                               message[0] == '\0' ? "" : ": ", message);
    s3_answer_release(&said);
    return result;
}

/* Reads an answer in XML. It may be an error although the status is 200. */
static enum colander_code
read_answer(const struct s3_objects *s3, const struct call *call,
            const struct http_answer *answer, bool *is_final,
            struct colander_error *err)
{
    struct s3_answer *said = call->said;
    enum colander_code code;

    s3_answer_release(said); /* that of the last attempt */
    code = s3_answer_read(said, colander_buffer_slice(&answer->bytes), err);
    return code == COLANDER_OK && said->is_error
               ? fail_answer(s3, answer, is_final, err)
               : code;
}

/* Whether the status is what such a request succeeds with. */
static bool
is_success(const struct call *call, long status)
{
    return (status >= 200 && status < 300) ||
           (status == 416 && call->range_size > 0);
}

/* Waits before attempt `number`, a random part of a time that doubles, so
 * that clients do not all come back at the same moment. */
static void
wait_before(unsigned number)
{
    uint64_t most = WAIT_MS;
    uint64_t random = 0;
    struct timespec time;

    for (unsigned i = 2; i < number && most < WAIT_MS_MAX; i++)
        most *= 2;
    if (most > WAIT_MS_MAX)
        most = WAIT_MS_MAX;
    (void)!getrandom(&random, sizeof(random), GRND_NONBLOCK);
    most = random % (most + 1);
    time.tv_sec = (time_t)(most / 1000);
    time.tv_nsec = (long)(most % 1000) * 1000000;
    (void)nanosleep(&time, NULL);
}

/* Sends a request until it succeeds, fails for good, or was sent too often.
 * `answer` is released by the caller. Fails with NOT_FOUND if there is no such
 * object. */
static enum colander_code
send_call(struct s3_objects *s3, const struct call *call,
          struct http_answer *answer, struct colander_error *err)
{
    const unsigned attempts =
        s3->objects.tries_once ? 1 : s3->settings.attempts;
    enum colander_code code = COLANDER_IO;
    bool is_final = false;

    for (unsigned i = 1; i <= attempts && !is_final; i++) {
        if (i > 1)
            wait_before(i);
        code = try_once(s3, call, answer, &is_final, err);
        if (code != COLANDER_OK)
            continue;
        if (!is_success(call, answer->status))
            code = fail_answer(s3, answer, &is_final, err);
        else if (call->range_size > 0 && answer->status != 416)
            code = check_range(call, answer, err);
        else if (call->said != NULL)
            code = read_answer(s3, call, answer, &is_final, err);
        if (code == COLANDER_OK)
            return COLANDER_OK;
        is_final = is_final && !is_success(call, answer->status);
    }
    if (!is_final && attempts > 1)
        colander_error_context(err, "after %u attempts", attempts);
    colander_error_context(err, "%s", s3->settings.host);
    return code;
}

/* ----------------------------------------------------------- put, parts --- */

static enum colander_code
put_whole(struct s3_objects *s3, const char *name,
          const struct object_body *body, struct colander_error *err)
{
    const struct call call = {
        .method = "PUT", .name = name, .body = body, .body_size = body->size};
    struct http_answer answer = {.status = 0};
    enum colander_code code = send_call(s3, &call, &answer, err);

    colander_buffer_release(&answer.bytes);
    return code;
}

/* An upload in parts. */
struct upload {
    struct s3_objects *s3;
    const char *name;
    const struct object_body *body;
    struct text id;
    struct text parts; /* XML */
};

/* Sends a request whose answer is XML. */
static enum colander_code
send_for_xml(struct s3_objects *s3, const struct call *call,
             struct s3_answer *said, struct colander_error *err)
{
    struct http_answer answer = {.status = 0};
    struct call asking = *call;
    enum colander_code code;

    asking.said = said;
    code = send_call(s3, &asking, &answer, err);
    colander_buffer_release(&answer.bytes);
    return code;
}

static enum colander_code
begin_upload(struct upload *upload, struct colander_error *err)
{
    static const struct object_body nothing = {.fd = -1};
    const struct call call = {.method = "POST",
                              .name = upload->name,
                              .parameters = {{"uploads", ""}},
                              .parameter_count = 1,
                              .body = &nothing};
    struct s3_answer said = {.is_error = false};
    enum colander_code code = send_for_xml(upload->s3, &call, &said, err);

    if (code == COLANDER_OK) {
        text_add(&upload->id, "%s", text_string(&said.upload));
        code = text_settle(&upload->id, err);
    }
    if (code == COLANDER_OK && text_string(&upload->id)[0] == '\0')
        code = COLANDER_FAIL(err, COLANDER_IO,
                             "the server has not named the upload");
    s3_answer_release(&said);
    return code;
}

static enum colander_code
put_part(struct upload *upload, unsigned number, uint64_t offset, uint64_t size,
         struct colander_error *err)
{
    char text[16];
    const struct call call = {
        .method = "PUT",
        .name = upload->name,
        .parameters = {{"partNumber", text},
                       {"uploadId", text_string(&upload->id)}},
        .parameter_count = 2,
        .body = upload->body,
        .body_offset = offset,
        .body_size = size};
    struct http_answer answer = {.status = 0};
    enum colander_code code;

    (void)snprintf(text, sizeof(text), "%u", number);
    code = send_call(upload->s3, &call, &answer, err);
    if (code == COLANDER_OK && answer.etag[0] == '\0')
        code = COLANDER_FAIL(err, COLANDER_IO,
                             "the server answers without an ETag");
    text_add(&upload->parts,
             "<Part><PartNumber>%u</PartNumber><ETag>%s</ETag></Part>", number,
             answer.etag);
    colander_buffer_release(&answer.bytes);
    return code;
}

static enum colander_code get(struct objects *objects, const char *name,
                              uint64_t offset, size_t size,
                              struct colander_buffer *bytes,
                              struct colander_error *err);

/* Whether the object has its last byte, and no more. */
static bool
is_put(const struct upload *upload)
{
    struct colander_buffer bytes = COLANDER_BUFFER_EMPTY;
    const bool is_there =
        get(&upload->s3->objects, upload->name, upload->body->size - 1, 2,
            &bytes, NULL) == COLANDER_OK &&
        bytes.size == 1;

    colander_buffer_release(&bytes);
    return is_there;
}

static enum colander_code
end_upload(struct upload *upload, struct colander_error *err)
{
    struct object_body body = {.fd = -1};
    struct call call = {.method = "POST",
                        .name = upload->name,
                        .parameters = {{"uploadId", text_string(&upload->id)}},
                        .parameter_count = 1,
                        .body = &body};
    struct s3_answer said = {.is_error = false};
    enum colander_code code;

    text_add(&upload->parts, "</CompleteMultipartUpload>");
    body.bytes = (const uint8_t *)text_string(&upload->parts);
    body.size = upload->parts.bytes.size;
    call.body_size = body.size;
    code = text_settle(&upload->parts, err);
    if (code == COLANDER_OK)
        code = send_for_xml(upload->s3, &call, &said, err);
    s3_answer_release(&said);
    /* the server has done it, and its answer was lost */
    return code == COLANDER_NOT_FOUND && is_put(upload) ? COLANDER_OK : code;
}

/* The server keeps parts until they are put together or given up. */
static void
give_up(struct upload *upload)
{
    const struct call call = {
        .method = "DELETE",
        .name = upload->name,
        .parameters = {{"uploadId", text_string(&upload->id)}},
        .parameter_count = 1};
    struct http_answer answer = {.status = 0};

    (void)!send_call(upload->s3, &call, &answer, NULL);
    colander_buffer_release(&answer.bytes);
}

static enum colander_code
put_parts(struct s3_objects *s3, const char *name,
          const struct object_body *body, struct colander_error *err)
{
    struct upload upload = {s3, name, body, TEXT_EMPTY, TEXT_EMPTY};
    uint64_t part = PART_SIZE;
    enum colander_code code = begin_upload(&upload, err);
    const bool has_begun = code == COLANDER_OK;
    unsigned number = 0;

    while (body->size / part >= PARTS_MAX)
        part *= 2;
    text_add(&upload.parts, "<CompleteMultipartUpload>");
    for (uint64_t at = 0; at < body->size && code == COLANDER_OK; at += part)
        code = put_part(&upload, ++number, at,
                        body->size - at < part ? body->size - at : part, err);
    if (code == COLANDER_OK)
        code = end_upload(&upload, err);
    if (code != COLANDER_OK && has_begun)
        give_up(&upload);
    text_release(&upload.id);
    text_release(&upload.parts);
    return code;
}

static enum colander_code
put(struct objects *objects, const char *name, const struct object_body *body,
    struct colander_error *err)
{
    return body->size > PUT_MAX ? put_parts(s3_of(objects), name, body, err)
                                : put_whole(s3_of(objects), name, body, err);
}

/* ---------------------------------------------------- get, delete, list --- */

static enum colander_code
get(struct objects *objects, const char *name, uint64_t offset, size_t size,
    struct colander_buffer *bytes, struct colander_error *err)
{
    const struct call call = {.method = "GET",
                              .name = name,
                              .range_offset = offset,
                              .range_size = size};
    struct http_answer answer = {.status = 0};
    enum colander_code code;

    if (size == 0)
        return COLANDER_OK;
    code = send_call(s3_of(objects), &call, &answer, err);
    if (code == COLANDER_OK && answer.status != 416)
        code = colander_buffer_append(bytes, answer.bytes.data,
                                      answer.bytes.size, err);
    colander_buffer_release(&answer.bytes);
    return code;
}

static enum colander_code
delete_object(struct objects *objects, const char *name,
              struct colander_error *err)
{
    const struct call call = {.method = "DELETE", .name = name};
    struct http_answer answer = {.status = 0};
    enum colander_code code = send_call(s3_of(objects), &call, &answer, err);

    colander_buffer_release(&answer.bytes);
    return code == COLANDER_NOT_FOUND ? COLANDER_OK : code;
}

/* Adds the objects of a page, without the prefix. */
static enum colander_code
add_page(const struct s3_objects *s3, const struct object_list *page,
         struct object_list *list, struct colander_error *err)
{
    const size_t prefix = strlen(s3->prefix);
    enum colander_code code = COLANDER_OK;

    for (size_t i = 0; i < page->count && code == COLANDER_OK; i++) {
        const struct object *object = &page->items[i];

        if (strncmp(object->name, s3->prefix, prefix) == 0)
            code = object_list_add(list,
                                   colander_slice_text(object->name + prefix),
                                   object->size, object->modified, err);
    }
    return code;
}

/* Lists a page. `token` is that of the next one, or empty. */
static enum colander_code
list_page(struct s3_objects *s3, const char *prefix, struct text *token,
          struct object_list *list, struct colander_error *err)
{
    const struct call call = {
        .method = "GET",
        .parameters = {{"list-type", "2"},
                       {"max-keys", "1000"},
                       {"prefix", prefix},
                       {"continuation-token", text_string(token)}},
        .parameter_count = token->bytes.size > 0 ? 4 : 3};
    struct s3_answer said = {.is_error = false};
    enum colander_code code = send_for_xml(s3, &call, &said, err);

    if (code == COLANDER_NOT_FOUND)
        code = COLANDER_FAIL(err, COLANDER_IO, "the server has no such bucket");
    if (code == COLANDER_OK)
        code = add_page(s3, &said.objects, list, err);
    if (code == COLANDER_OK && said.is_truncated &&
        (said.token.bytes.size == 0 || said.objects.count == 0 ||
         strcmp(text_string(&said.token), text_string(token)) == 0))
        code =
            COLANDER_FAIL(err, COLANDER_IO, "the server's list does not go on");
    text_clear(token);
    if (said.is_truncated)
        text_add(token, "%s", text_string(&said.token));
    s3_answer_release(&said);
    return code == COLANDER_OK ? text_settle(token, err) : code;
}

static enum colander_code
list_folder(struct objects *objects, const char *folder,
            struct object_list *list, struct colander_error *err)
{
    struct s3_objects *s3 = s3_of(objects);
    struct text prefix = TEXT_EMPTY;
    struct text token = TEXT_EMPTY;
    enum colander_code code;

    text_add(&prefix, "%s%s/", s3->prefix, folder);
    (void)text_string(&prefix);
    code = text_settle(&prefix, err);
    if (code == COLANDER_OK)
        code = list_page(s3, text_string(&prefix), &token, list, err);
    while (code == COLANDER_OK && token.bytes.size > 0)
        code = list_page(s3, text_string(&prefix), &token, list, err);
    text_release(&prefix);
    text_release(&token);
    return code;
}

/* ---------------------------------------------------------------- open --- */

static void
close_s3(struct objects *objects)
{
    struct s3_objects *s3 = s3_of(objects);

    http_destroy(s3->http);
    s3_settings_release(&s3->settings);
    free(s3->prefix);
    free(s3);
}

/* A bucket has 3 to 63 letters, digits, dots and hyphens. */
static bool
is_bucket(const char *bucket)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyz"
                                  "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-_";
    const size_t size = strlen(bucket);

    return size >= 3 && size <= 63 && strspn(bucket, letters) == size;
}

/* Sets the prefix, without slashes at its end. Others are part of it. */
static enum colander_code
set_prefix(struct s3_objects *s3, const char *prefix,
           struct colander_error *err)
{
    size_t size = strlen(prefix);

    for (const char *c = prefix; *c != '\0'; c++) {
        if ((unsigned char)*c < ' ' || *c == 0x7f)
            return COLANDER_FAIL(err, COLANDER_INVALID,
                                 "the prefix has a control character");
    }
    while (size > 0 && prefix[size - 1] == '/')
        size--;
    if (size > 800)
        return COLANDER_FAIL(err, COLANDER_INVALID,
                             "the prefix has more than 800 bytes");
    if (asprintf(&s3->prefix, "%.*s%s", (int)size, prefix,
                 size > 0 ? "/" : "") < 0) {
        s3->prefix = NULL;
        return COLANDER_FAIL(err, COLANDER_NO_MEMORY, "no memory for a prefix");
    }
    return COLANDER_OK;
}

enum colander_code
objects_open_s3(const char *place, struct objects **objects,
                struct colander_error *err)
{
    static const struct objects_kind kind = {put, get, delete_object,
                                             list_folder, close_s3};
    const size_t size = strcspn(place, "/");
    struct s3_objects *s3 = calloc(1, sizeof(*s3));
    char bucket[64] = "";
    enum colander_code code;

    if (s3 == NULL)
        return COLANDER_FAIL(err, COLANDER_NO_MEMORY, "no memory");
    s3->objects.kind = &kind;
    if (size < sizeof(bucket))
        (void)snprintf(bucket, sizeof(bucket), "%.*s", (int)size, place);
    if (!is_bucket(bucket))
        code = COLANDER_FAIL(err, COLANDER_INVALID,
                             "after s3:// there must be the name of a bucket: "
                             "3 to 63 letters, digits, dots and hyphens");
    else
        code = set_prefix(s3, place + size + (place[size] == '/'), err);
    if (code == COLANDER_OK)
        code = s3_settings_read(&s3->settings, bucket, err);
    if (code == COLANDER_OK)
        code = http_create(s3->settings.ca_bundle, &s3->http, err);
    if (code == COLANDER_OK)
        *objects = &s3->objects;
    else
        close_s3(&s3->objects);
    return code;
}
