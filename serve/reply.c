/* See reply.h. SPDX-License-Identifier: MIT */
#include "serve/reply.h"
#include "columns/utf8.h"

#include <microhttpd.h>
#include <stdio.h>

#define MESSAGE_SIZE sizeof(((struct colander_error *)0)->message)
#define NO_MEMORY_TEXT                                                         \
    "{\"error\":{\"code\":\"no memory\",\"message\":\"no memory\"}}\n"

/* ----------------------------------------------------------------- text --- */

enum colander_code
reply_append_built(struct colander_buffer *json,
                   struct colander_row_builder *builder,
                   struct colander_error *err)
{
    struct colander_value value = colander_null();
    enum colander_code code =
        colander_row_builder_finish(builder, &value.bytes, err);

    value.type = COLANDER_MAP;
    if (code == COLANDER_OK)
        code = colander_json_append_value(json, &value, err);
    return code;
}

/* JSON has text: bytes of a message that are not, as they came from a client,
 * become question marks. */
static struct colander_value
text_of(const char *message, char text[MESSAGE_SIZE])
{
    struct colander_slice left;

    (void)snprintf(text, MESSAGE_SIZE, "%s", message);
    left = colander_slice_text(text);
    for (;;) {
        const size_t good = colander_utf8_size(left);

        left = colander_slice_of(left.data + good, left.size - good);
        if (left.size == 0)
            return colander_text(text);
        text[left.data - (const uint8_t *)text] = '?';
    }
}

void
reply_build_text(struct colander_row_builder *builder, const char *name,
                 const char *message)
{
    char text[MESSAGE_SIZE];

    colander_row_builder_add(builder, name, text_of(message, text));
}

void
reply_build_error(struct colander_row_builder *builder, const char *code,
                  const char *message, const char *parameter, size_t offset)
{
    colander_row_builder_begin_map(builder, "error");
    colander_row_builder_add(builder, "code", colander_text(code));
    reply_build_text(builder, "message", message);
    if (parameter != NULL) {
        colander_row_builder_begin_map(builder, "at");
        reply_build_text(builder, "parameter", parameter);
        colander_row_builder_add(builder, "offset", colander_unsigned(offset));
        colander_row_builder_end(builder);
    }
    colander_row_builder_end(builder);
}

/* What other servers call an error with a status. */
static const struct {
    unsigned status;
    const char *elastic;
    const char *influx;
} foreign[] = {
    {MHD_HTTP_UNAUTHORIZED, "security_exception", "unauthorized"},
    {MHD_HTTP_FORBIDDEN, "security_exception", "forbidden"},
    {MHD_HTTP_NOT_FOUND, "resource_not_found_exception", "not found"},
    {MHD_HTTP_METHOD_NOT_ALLOWED, "illegal_argument_exception",
     "method not allowed"},
    {MHD_HTTP_CONFLICT, "version_conflict_engine_exception", "conflict"},
    {MHD_HTTP_CONTENT_TOO_LARGE, "content_too_long_exception",
     "request too large"},
    {MHD_HTTP_INTERNAL_SERVER_ERROR, "exception", "internal error"},
    {MHD_HTTP_SERVICE_UNAVAILABLE, "es_rejected_execution_exception",
     "unavailable"},
};

void
reply_build_foreign(struct colander_row_builder *builder,
                    enum reply_shape shape, unsigned status,
                    const char *message)
{
    const char *elastic = "illegal_argument_exception";
    const char *influx = "invalid";

    for (size_t i = 0; i < sizeof(foreign) / sizeof(foreign[0]); i++) {
        if (foreign[i].status == status) {
            elastic = foreign[i].elastic;
            influx = foreign[i].influx;
        }
    }
    if (shape == REPLY_ELASTIC) {
        colander_row_builder_begin_map(builder, "error");
        colander_row_builder_add(builder, "type", colander_text(elastic));
        reply_build_text(builder, "reason", message);
        colander_row_builder_end(builder);
        colander_row_builder_add(builder, "status", colander_unsigned(status));
    } else {
        colander_row_builder_add(builder, "code", colander_text(influx));
        reply_build_text(builder, "message", message);
        reply_build_text(builder, "error", message);
    }
}

/* -------------------------------------------------------------- replies --- */

/* What a browser may do with a reply, unless that has another header of the
 * name: show it, and nothing else. */
static const struct {
    const char *name;
    const char *value;
} headers[] = {
    {MHD_HTTP_HEADER_CACHE_CONTROL, "no-store"},
    {"X-Content-Type-Options", "nosniff"},
    {"Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'"},
    {"Cross-Origin-Resource-Policy", "same-origin"},
};

static void
add_headers(struct MHD_Response *response, unsigned status,
            const char *content_type)
{
    (void)MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE,
                                  content_type);
    for (size_t i = 0; i < sizeof(headers) / sizeof(headers[0]); i++) {
        if (MHD_get_response_header(response, headers[i].name) == NULL)
            (void)MHD_add_response_header(response, headers[i].name,
                                          headers[i].value);
    }
    if (status == MHD_HTTP_SERVICE_UNAVAILABLE)
        (void)MHD_add_response_header(response, MHD_HTTP_HEADER_RETRY_AFTER,
                                      "1");
    if (status == MHD_HTTP_UNAUTHORIZED)
        (void)MHD_add_response_header(
            response, MHD_HTTP_HEADER_WWW_AUTHENTICATE, "Bearer");
    if (status == MHD_HTTP_METHOD_NOT_ALLOWED)
        (void)MHD_add_response_header(response, MHD_HTTP_HEADER_ALLOW,
                                      "GET, POST");
}

static _Thread_local size_t last_size;

size_t
reply_last_size(void)
{
    return last_size;
}

unsigned
reply_with(struct MHD_Connection *connection, unsigned status,
           struct MHD_Response *response, size_t size, const char *content_type)
{
    enum MHD_Result is_queued;

    last_size = size;
    if (response == NULL)
        return 0;
    add_headers(response, status, content_type);
    is_queued = MHD_queue_response(connection, status, response);
    MHD_destroy_response(response);
    return is_queued == MHD_YES ? status : 0;
}

static unsigned
reply_error_at(struct MHD_Connection *connection, enum reply_shape shape,
               unsigned status, const char *code, const char *message,
               const char *parameter, size_t offset, bool closes)
{
    struct colander_row_builder *builder = colander_row_builder_create();
    struct colander_buffer json = COLANDER_BUFFER_EMPTY;
    struct colander_slice text = colander_slice_text(NO_MEMORY_TEXT);
    struct MHD_Response *response;
    unsigned replied;

    if (builder != NULL && shape == REPLY_OWN)
        reply_build_error(builder, code, message, parameter, offset);
    else if (builder != NULL)
        reply_build_foreign(builder, shape, status, message);
    if (builder != NULL &&
        reply_append_built(&json, builder, NULL) == COLANDER_OK &&
        colander_buffer_append(&json, "\n", 1, NULL) == COLANDER_OK)
        text = colander_buffer_slice(&json);
    else
        status = MHD_HTTP_SERVICE_UNAVAILABLE;
    colander_row_builder_destroy(builder);
    response = MHD_create_response_from_buffer(text.size, (void *)text.data,
                                               MHD_RESPMEM_MUST_COPY);
    if (response != NULL && closes)
        (void)MHD_add_response_header(response, MHD_HTTP_HEADER_CONNECTION,
                                      "close");
    if (response != NULL && shape == REPLY_ELASTIC)
        (void)MHD_add_response_header(response, REPLY_PRODUCT,
                                      REPLY_PRODUCT_VALUE);
    replied = reply_with(connection, status, response, text.size, REPLY_JSON);
    colander_buffer_release(&json);
    return replied;
}

unsigned
reply_error(struct MHD_Connection *connection, enum reply_shape shape,
            unsigned status, const char *code, const char *message, bool closes)
{
    return reply_error_at(connection, shape, status, code, message, NULL, 0,
                          closes);
}

unsigned
reply_status(enum colander_code code, bool is_late)
{
    switch (code) {
    case COLANDER_NOT_FOUND:
        return MHD_HTTP_NOT_FOUND;
    case COLANDER_READ_ONLY:
        return MHD_HTTP_FORBIDDEN;
    case COLANDER_EXISTS:
    case COLANDER_DROPPED:
        return MHD_HTTP_CONFLICT;
    case COLANDER_INVALID:
    case COLANDER_LIMIT:
    case COLANDER_TOO_NEW:
        return MHD_HTTP_BAD_REQUEST;
    case COLANDER_CANCELLED:
        return is_late ? MHD_HTTP_GATEWAY_TIMEOUT
                       : MHD_HTTP_SERVICE_UNAVAILABLE;
    case COLANDER_BUSY:
    case COLANDER_NO_MEMORY:
        return MHD_HTTP_SERVICE_UNAVAILABLE;
    default:
        return MHD_HTTP_INTERNAL_SERVER_ERROR;
    }
}

unsigned
reply_failure(struct MHD_Connection *connection, enum reply_shape shape,
              const struct colander_error *failure, bool is_late,
              const char *parameter, size_t offset)
{
    return reply_error_at(connection, shape,
                          reply_status(failure->code, is_late),
                          colander_code_name(failure->code), failure->message,
                          parameter, offset, false);
}
