/*
 * Replies: responses with their headers, and errors as JSON:
 *
 *     {"error":{"code":"invalid","message":"...",
 *               "at":{"parameter":"q","offset":7}}}
 *
 * or as clients of other servers know them.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef SERVE_REPLY_H
#define SERVE_REPLY_H

#include "columns/columns.h"

struct MHD_Connection;
struct MHD_Response;

#define REPLY_JSON "application/json"
#define REPLY_JSONL "application/x-ndjson"
#define REPLY_MSGPACK "application/x-msgpack"

/* Queues `response`, which is taken; NULL: memory was short. Its body has
 * `size` bytes; 0: it is not known yet. Returns the status, or 0 if it cannot
 * be queued: then the connection is to be closed. */
unsigned reply_with(struct MHD_Connection *connection, unsigned status,
                    struct MHD_Response *response, size_t size,
                    const char *content_type);

/* Returns the size of the body that this thread has queued last, of an error,
 * too. */
size_t reply_last_size(void);

/* Whose errors the client of a request reads. */
enum reply_shape {
    REPLY_OWN,
    REPLY_ELASTIC, /* {"error":{"type":"...","reason":"..."},"status":400} */
    REPLY_INFLUX,  /* {"code":"invalid","message":"...","error":"..."} */
};

/* Without this header and its value, clients of Elasticsearch do not go on. */
#define REPLY_PRODUCT "X-Elastic-Product"
#define REPLY_PRODUCT_VALUE "Elasticsearch"

/* Queues an error that the server itself has found: `code` is a word. With
 * `closes` the connection is closed after it, as it is not known where the next
 * request begins. */
unsigned reply_error(struct MHD_Connection *connection, enum reply_shape shape,
                     unsigned status, const char *code, const char *message,
                     bool closes);

/* Returns the status that suits a failure; of a call that was cancelled, 504 if
 * it was late. */
unsigned reply_status(enum colander_code code, bool is_late);

/* Queues a failure of the library, with the status that suits its code; of a
 * call that was cancelled, 504 if it was late. `parameter` has the mistake at
 * byte `offset`; NULL: none has. */
unsigned reply_failure(struct MHD_Connection *connection,
                       enum reply_shape shape,
                       const struct colander_error *failure, bool is_late,
                       const char *parameter, size_t offset);

/* Adds a text to a row that is built. Bytes that are not text become question
 * marks. */
void reply_build_text(struct colander_row_builder *builder, const char *name,
                      const char *text);

/* Adds an error with this status to a row that is built, as clients of another
 * server know it. */
void reply_build_foreign(struct colander_row_builder *builder,
                         enum reply_shape shape, unsigned status,
                         const char *message);

/* Adds the error to a row that is built. */
void reply_build_error(struct colander_row_builder *builder, const char *code,
                       const char *message, const char *parameter,
                       size_t offset);

/* Appends what was built as JSON, on one line without its end. */
COLANDER_CHECKED enum colander_code
reply_append_built(struct colander_buffer *json,
                   struct colander_row_builder *builder,
                   struct colander_error *err);

#endif
