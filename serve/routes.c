/* See routes.h. SPDX-License-Identifier: MIT */
#include "serve/routes.h"
#include "core/clock.h"
#include "serve/asks.h"
#include "serve/body.h"
#include "serve/changes.h"
#include "serve/elastic.h"
#include "serve/facts.h"
#include "serve/find.h"
#include "serve/gate.h"
#include "serve/influx.h"
#include "serve/jsonline.h"
#include "serve/page.h"
#include "serve/parameters.h"
#include "serve/peer.h"
#include "serve/reply.h"
#include "serve/request_log.h"
#include "serve/runs.h"

#include <stdlib.h>

#define BODY_MAX ((size_t)256 << 10)
#define DROPPED_MAX ((size_t)1 << 20)  /* of a body that is too large */
#define REFUSED_MAX ((size_t)64 << 20) /* of a stream that is refused */
#define SCRIPT_TIME "10s"              /* unless the request has another */
#define SCRIPT_SECONDS_MAX 300
#define SECONDS_MAX (366 * 86400) /* of other answers */

/* Makes the writer of an answer from parameters. A failure is one of them: sets
 * *parameter, or NULL, and the byte. */
typedef enum colander_code make_writer(struct server *server,
                                       struct parameters *parameters,
                                       struct writer **writer,
                                       const char **parameter, size_t *offset,
                                       struct colander_error *err);

/* Queues the reply to a request that needs no token. It is not an answer, so
 * strangers who do not take it keep no others from theirs. Returns its
 * status. */
typedef unsigned reply_openly(struct server *server,
                              struct MHD_Connection *connection,
                              const struct parameters *parameters);

static reply_openly reply_health;

struct route {
    const char *name; /* the first part of the path; "": there is none */
    bool has_family;  /* it has a second part */
    bool takes_get;
    bool is_part;           /* of another request, which was admitted */
    enum gate_body body;    /* of a POST; NO_BODY: there is none */
    reply_openly *reply;    /* without a token; NULL: it is made */
    make_writer *make;      /* NULL: it is replied to openly */
    enum reply_shape shape; /* of errors before there is a writer */
};

static const struct route routes[] = {
    {"", false, true, false, GATE_NO_BODY, page_reply, NULL, REPLY_OWN},
    {"health", false, true, false, GATE_NO_BODY, reply_health, NULL, REPLY_OWN},
    {"families", false, true, false, GATE_NO_BODY, NULL, facts_families,
     REPLY_OWN},
    {"nodes", false, true, false, GATE_NO_BODY, NULL, facts_nodes, REPLY_OWN},
    {"stats", false, true, false, GATE_NO_BODY, NULL, facts_stats, REPLY_OWN},
    {"metrics", false, true, false, GATE_NO_BODY, NULL, facts_metrics,
     REPLY_OWN},
    {"get", true, true, false, GATE_NO_BODY, NULL, find_row, REPLY_OWN},
    {"find", true, true, false, GATE_FORM, NULL, find_rows, REPLY_OWN},
    {"columns", true, true, false, GATE_FORM, NULL, changes_columns, REPLY_OWN},
    {"group", true, true, false, GATE_FORM, NULL, changes_group, REPLY_OWN},
    {"load", true, false, false, GATE_STREAM, NULL, changes_load, REPLY_OWN},
    {"delete", true, false, false, GATE_FORM, NULL, changes_delete, REPLY_OWN},
    {"update", true, false, false, GATE_FORM, NULL, changes_update, REPLY_OWN},
    {"backup", false, false, false, GATE_FORM, NULL, changes_backup, REPLY_OWN},
    {"lua", false, false, false, GATE_BYTES, NULL, changes_script, REPLY_OWN},
    {"peer", false, false, false, GATE_BYTES, NULL, peer_ask, REPLY_OWN},
    {"command", false, false, false, GATE_FORM, NULL, runs_command, REPLY_OWN},
    {"input", false, false, true, GATE_BYTES, NULL, asks_input, REPLY_OWN},
};

/* Paths of what agents speak; NULL is the family. The last one takes paths that
 * begin with _, and the empty one of clients that do not want the page. Here
 * PUT is POST, and HEAD is GET, as it is for what needs no token. */
static const struct agent_route {
    const char *parts[PARAMETERS_PATH_MAX];
    size_t part_count;
    struct route route;
} agent_routes[] = {
    {{"insert", "jsonline"},
     2,
     {"jsonline", false, false, false, GATE_STREAM, NULL, jsonline_load,
      REPLY_OWN}},
    {{"write"},
     1,
     {"write", false, false, false, GATE_STREAM, NULL, influx_write,
      REPLY_INFLUX}},
    {{"api", "v2", "write"},
     3,
     {"write", false, false, false, GATE_STREAM, NULL, influx_write_bucket,
      REPLY_INFLUX}},
    {{"_bulk"},
     1,
     {"_bulk", false, false, false, GATE_STREAM, NULL, elastic_bulk,
      REPLY_ELASTIC}},
    {{NULL, "_bulk"},
     2,
     {"_bulk", true, false, false, GATE_STREAM, NULL, elastic_bulk,
      REPLY_ELASTIC}},
    {{NULL},
     0,
     {"", false, true, false, GATE_BYTES, NULL, elastic_ask, REPLY_ELASTIC}},
};

#define AGENT_ROUTE_COUNT (sizeof(agent_routes) / sizeof(agent_routes[0]))

enum request_state {
    REQUEST_NEW,     /* its headers are there */
    REQUEST_COMING,  /* its body comes */
    REQUEST_WRITTEN, /* its answer is written */
};

struct request {
    enum request_state state;
    const struct route *route;
    struct parameters parameters;
    enum colander_code code; /* of reading the target, with `err` */
    struct colander_error err;
    struct colander_buffer body;
    size_t dropped;        /* bytes of the body that are too many */
    struct answer *answer; /* NULL: none was made */
    struct body *stream;   /* of the answer, which reads the body; or NULL */
    bool is_refused;       /* for `err`, once the body was dropped, */
    const char *parameter; /* which is there; or NULL */
    size_t offset;
    unsigned status;
    struct note note;
};

static enum reply_shape
shape_of(const struct request *request)
{
    return request->route == NULL ? REPLY_OWN : request->route->shape;
}

static struct visitor *
visitor_of(struct MHD_Connection *connection)
{
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);

    return info == NULL ? NULL : info->socket_context;
}

/* ------------------------------------------------------------ a request --- */

void *
route_begin(void *context, const char *target,
            struct MHD_Connection *connection)
{
    const struct door *door = context;
    struct request *request = calloc(1, sizeof(*request));

    (void)connection;
    if (request != NULL)
        note_begin(&request->note, door->server->log, target);
    if (request != NULL)
        request->code =
            parameters_read(&request->parameters, target, &request->err);
    return request;
}

void
route_end(void *context, struct MHD_Connection *connection, void **place,
          enum MHD_RequestTerminationCode why)
{
    const struct door *door = context;
    struct request *request = *place;
    struct visitor *visitor = visitor_of(connection);

    *place = NULL;
    if (request == NULL)
        return;
    if (visitor != NULL)
        visitor_end(door->server->visitors, visitor);
    if (request->stream != NULL)
        body_end(request->stream, false); /* unless it has ended */
    note_end(&request->note, door->server->log, connection, request->answer,
             request->status, colander_buffer_slice(&request->body),
             why == MHD_REQUEST_TERMINATED_COMPLETED_OK);
    if (request->answer != NULL)
        answer_leave(request->answer);
    if (request->status < SERVER_STATUS_MAX)
        atomic_fetch_add(&door->server->statuses[request->status], 1);
    colander_buffer_release(&request->body);
    parameters_release(&request->parameters);
    free(request);
}

void
route_visit(void *context, struct MHD_Connection *connection, void **visitor,
            enum MHD_ConnectionNotificationCode what)
{
    const struct door *door = context;
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);

    if (what == MHD_CONNECTION_NOTIFY_CLOSED)
        visitor_leave(door->server->visitors, *visitor);
    else if (info != NULL)
        *visitor = visitor_enter(door->server->visitors, info->connect_fd,
                                 door->is_local);
}

/* -------------------------------------------------------------- headers --- */

/* Whether the path is that of the route. The last one has all that begin with
 * _, and the path without a part. */
static bool
is_agent_path(const struct agent_route *agent, char *const *path)
{
    if (agent->part_count == 0)
        return path[0] == NULL || path[0][0] == '_';
    for (size_t i = 0; i < PARAMETERS_PATH_MAX; i++) {
        if (i >= agent->part_count && path[i] != NULL)
            return false;
        if (i < agent->part_count &&
            (path[i] == NULL || (agent->parts[i] != NULL &&
                                 strcmp(path[i], agent->parts[i]) != 0)))
            return false;
    }
    return true;
}

/* Finds the route of an agent, and puts the family where others have it. */
static const struct route *
find_agent_route(struct parameters *parameters)
{
    char **path = parameters->path;

    for (size_t i = 0; i < AGENT_ROUTE_COUNT; i++) {
        const struct agent_route *agent = &agent_routes[i];

        if (!is_agent_path(agent, path))
            continue;
        if (agent->part_count > 0)
            path[1] = agent->route.has_family ? path[0] : NULL;
        return &agent->route;
    }
    return NULL;
}

static bool
is_of_agent(const struct route *route)
{
    for (size_t i = 0; i < AGENT_ROUTE_COUNT; i++) {
        if (route == &agent_routes[i].route)
            return true;
    }
    return false;
}

static const struct route *
find_route(struct parameters *parameters, struct MHD_Connection *connection)
{
    const char *name = parameters->path[0] == NULL ? "" : parameters->path[0];

    for (size_t i = 0; i < sizeof(routes) / sizeof(routes[0]); i++) {
        if (strcmp(name, routes[i].name) == 0 &&
            (parameters->path[1] != NULL) == routes[i].has_family &&
            parameters->path[2] == NULL &&
            (routes[i].reply != page_reply || page_is_wanted(connection)))
            return &routes[i];
    }
    return find_agent_route(parameters);
}

/* Sets what the method is to the route. */
static void
read_method(const struct route *route, const char *method, bool *is_get,
            bool *is_post)
{
    const bool is_agent = is_of_agent(route);

    *is_post = strcmp(method, MHD_HTTP_METHOD_POST) == 0 ||
               (is_agent && strcmp(method, MHD_HTTP_METHOD_PUT) == 0);
    *is_get = strcmp(method, MHD_HTTP_METHOD_GET) == 0 ||
              ((is_agent || (route != NULL && route->reply != NULL)) &&
               strcmp(method, MHD_HTTP_METHOD_HEAD) == 0);
}

/* What the log calls it. */
static const char *
kind_of(const struct route *route)
{
    if (route == NULL)
        return NULL;
    if (route->reply == page_reply)
        return "page";
    return route->make == elastic_ask ? "elastic" : route->name;
}

/* ----------------------------------------------------------------- body --- */

/* A reply cannot be sent before the body has ended. One that does not end is
 * cut off. */
static enum MHD_Result
take_body(struct request *request, const char *data, size_t *size)
{
    const size_t room = BODY_MAX - request->body.size;

    if (request->is_refused || *size > room || request->dropped > 0 ||
        colander_buffer_append(&request->body, data, *size, NULL) !=
            COLANDER_OK)
        request->dropped += *size;
    *size = 0;
    return request->dropped <= (request->is_refused ? REFUSED_MAX : DROPPED_MAX)
               ? MHD_YES
               : MHD_NO;
}

/* --------------------------------------------------------------- answer --- */

static unsigned
reply_health(struct server *server, struct MHD_Connection *connection,
             const struct parameters *parameters)
{
    static char text[] = "{\"status\":\"ok\"}\n";
    static const char *const names[] = {"timeout", NULL};
    struct colander_error err;
    const char *wrong;
    bool is_ending;

    pthread_mutex_lock(&server->lock);
    is_ending = server->is_ending;
    pthread_mutex_unlock(&server->lock);
    if (is_ending)
        return reply_error(connection, REPLY_OWN, MHD_HTTP_SERVICE_UNAVAILABLE,
                           "busy", "the server ends", true);
    if (parameters_check(parameters, names, 1, &wrong, &err) != COLANDER_OK)
        return reply_failure(connection, REPLY_OWN, &err, false, wrong, 0);
    return reply_with(connection, MHD_HTTP_OK,
                      MHD_create_response_from_buffer(sizeof(text) - 1, text,
                                                      MHD_RESPMEM_PERSISTENT),
                      sizeof(text) - 1, REPLY_JSON);
}

/* Counts one answer more, if there may be. */
static bool
admit(struct server *server, bool is_part)
{
    bool is_admitted;

    pthread_mutex_lock(&server->lock);
    is_admitted =
        is_part || (!server->is_ending &&
                    server->answer_count < server->options.answer_max);
    server->answer_count += is_admitted;
    pthread_mutex_unlock(&server->lock);
    return is_admitted;
}

/* Refuses a request that was well-formed. Returns the status of the reply; 0:
 * it is sent after a body that has not come. A connection that is closed before
 * may lose the reply. */
static unsigned
refuse(struct MHD_Connection *connection, struct request *request,
       const struct colander_error *err, const char *parameter, size_t offset)
{
    const char *length = MHD_lookup_connection_value(
        connection, MHD_HEADER_KIND, MHD_HTTP_HEADER_CONTENT_LENGTH);

    if (request->state != REQUEST_COMING ||
        (length != NULL && strtoull(length, NULL, 10) > REFUSED_MAX))
        return reply_failure(connection, shape_of(request), err, false,
                             parameter, offset);
    request->is_refused = true;
    request->err = *err;
    request->parameter = parameter;
    request->offset = offset;
    return 0;
}

/* Makes the answer, which counts as one. Returns the status of a reply; 0: it
 * is under way. */
static unsigned
make_answer(struct server *server, struct MHD_Connection *connection,
            struct request *request, uint64_t deadline_ns)
{
    struct writer *writer = NULL;
    const char *parameter = NULL;
    struct colander_error err;
    size_t offset = 0;

    if (request->route->make(server, &request->parameters, &writer, &parameter,
                             &offset, &err) != COLANDER_OK) {
        server->answers.destroyed(server);
        return refuse(connection, request, &err, parameter, offset);
    }
    request->stream = writer->body;
    request->answer = answer_create(&server->answers, writer);
    if (request->answer == NULL) {
        request->stream = NULL;
        server->answers.destroyed(server);
        return reply_error(connection, shape_of(request),
                           MHD_HTTP_SERVICE_UNAVAILABLE, "no memory",
                           "no memory for an answer", false);
    }
    visitor_begin(server->visitors, visitor_of(connection), request->answer,
                  writer, deadline_ns);
    if (request->stream == NULL)
        return answer_start(request->answer, connection)
                   ? answer_respond(request->answer)
                   : 0;
    answer_begin(request->answer, connection);
    return 0;
}

/* Sets when the answer must have ended, as the request asks. A script ends by
 * itself only perhaps. */
static enum colander_code
read_deadline(const struct request *request, uint64_t *deadline_ns,
              struct colander_error *err)
{
    const char *text = parameters_value(&request->parameters, "timeout");
    const bool is_script = request->route->make == changes_script;
    int64_t seconds;

    if (text == NULL && is_script)
        text = SCRIPT_TIME;
    *deadline_ns = 0;
    if (text == NULL)
        return COLANDER_OK;
    if (!colander_duration_read(colander_slice_text(text), &seconds) ||
        seconds <= 0 || seconds > SECONDS_MAX)
        return COLANDER_FAIL(err, COLANDER_INVALID,
                             "timeout: '%s' is not a duration: write 10s or 5m",
                             text);
    if (is_script && seconds > SCRIPT_SECONDS_MAX)
        return COLANDER_FAIL(err, COLANDER_INVALID,
                             "timeout: a script may take up to 5m, not '%s'",
                             text);
    *deadline_ns = clock_ns() + (uint64_t)seconds * 1000000000;
    return COLANDER_OK;
}

/* Makes the answer, if there may be one more. */
static unsigned
admit_and_make(struct server *server, struct MHD_Connection *connection,
               struct request *request, uint64_t deadline_ns)
{
    struct colander_error err;

    if (!admit(server, request->route->is_part)) {
        (void)COLANDER_FAIL(&err, COLANDER_BUSY,
                            "the server is busy or ends: try again later");
        return refuse(connection, request, &err, NULL, 0);
    }
    return make_answer(server, connection, request, deadline_ns);
}

/* What a request may bring; where nothing is allowed, the method is refused. */
static enum gate_body
body_of(const struct route *route, bool is_post)
{
    if (!is_post)
        return GATE_NO_BODY;
    return route == NULL || route->body == GATE_NO_BODY ? GATE_FORM
                                                        : route->body;
}

/* Refuses the request, or lets its body come. Returns the status of a reply;
 * 0: none. */
static unsigned
begin(const struct door *door, struct MHD_Connection *connection,
      struct request *request, const char *method, const char *version)
{
    struct refusal refusal;
    bool is_post;
    bool is_get;

    request->state = REQUEST_COMING;
    request->parameters.is_local = door->is_local;
    request->route = find_route(&request->parameters, connection);
    read_method(request->route, method, &is_get, &is_post);
    note_read(&request->note, door->server->log, method,
              kind_of(request->route),
              request->route != NULL && request->route->has_family,
              &request->parameters);
    refusal =
        gate_judge(door, visitor_of(connection), connection, version,
                   request->route != NULL && request->route->reply != NULL,
                   body_of(request->route, is_post), BODY_MAX);
    if (refusal.status != 0)
        return reply_error(connection, shape_of(request), refusal.status,
                           refusal.code, refusal.message, refusal.closes);
    if (request->code == COLANDER_NO_MEMORY)
        return reply_failure(connection, shape_of(request), &request->err,
                             false, NULL, 0);
    if (request->code == COLANDER_INVALID)
        return reply_error(connection, shape_of(request), MHD_HTTP_BAD_REQUEST,
                           "bad request", request->err.message, true);
    if (request->code != COLANDER_OK || request->route == NULL)
        return reply_error(connection, shape_of(request), MHD_HTTP_NOT_FOUND,
                           "not found", "unknown path", is_post);
    if (!(is_post && request->route->body != GATE_NO_BODY) &&
        !(is_get && request->route->takes_get))
        return reply_error(connection, shape_of(request),
                           MHD_HTTP_METHOD_NOT_ALLOWED, "invalid",
                           "the method is not allowed here", true);
    if (request->route->body == GATE_STREAM)
        return admit_and_make(door->server, connection, request, 0);
    return 0;
}

/* The request has come whole. */
static unsigned
answer_request(struct server *server, struct MHD_Connection *connection,
               struct request *request)
{
    struct colander_error err;
    uint64_t deadline_ns;

    request->state = REQUEST_WRITTEN;
    if (request->route->reply != NULL)
        return request->route->reply(server, connection, &request->parameters);
    if (request->is_refused)
        return reply_failure(connection, shape_of(request), &request->err,
                             false, request->parameter, request->offset);
    if (request->stream != NULL) {
        body_end(request->stream, true);
        return answer_await(request->answer) ? answer_respond(request->answer)
                                             : 0;
    }
    if (request->dropped > 0)
        return reply_error(connection, shape_of(request),
                           MHD_HTTP_CONTENT_TOO_LARGE, "limit",
                           "the body of the request is too large", true);
    request->parameters.body = colander_buffer_slice(&request->body);
    if (request->body.size > 0 && request->route->body == GATE_FORM &&
        parameters_add_form(&request->parameters,
                            colander_buffer_slice(&request->body),
                            &err) != COLANDER_OK)
        return reply_failure(connection, shape_of(request), &err, false, NULL,
                             0);
    note_command(&request->note, server->log, &request->parameters);
    if (read_deadline(request, &deadline_ns, &err) != COLANDER_OK)
        return reply_failure(connection, shape_of(request), &err, false,
                             "timeout", 0);
    return admit_and_make(server, connection, request, deadline_ns);
}

/* ------------------------------------------------------------------ all --- */

static enum MHD_Result
take_bytes(struct request *request, struct MHD_Connection *connection,
           const char *data, size_t *size)
{
    if (request->stream == NULL)
        return take_body(request, data, size);
    return body_put(request->stream, connection, data, size) ? MHD_YES : MHD_NO;
}

enum MHD_Result
route_take(void *context, struct MHD_Connection *connection, const char *path,
           const char *method, const char *version, const char *data,
           size_t *size, void **place)
{
    const struct door *door = context;
    struct request *request = *place;
    bool is_waiting = false; /* for more of the request, or for its answer */

    (void)path;
    if (request == NULL || visitor_of(connection) == NULL)
        return MHD_NO; /* no memory */
    if (request->state == REQUEST_COMING && *size > 0) {
        const size_t before = *size;
        const enum MHD_Result code =
            take_bytes(request, connection, data, size);

        request->note.in += before - *size;
        return code;
    }
    switch (request->state) {
    case REQUEST_NEW:
        request->status = begin(door, connection, request, method, version);
        is_waiting = request->status == 0;
        break;
    case REQUEST_COMING:
        request->status = answer_request(door->server, connection, request);
        is_waiting = request->answer != NULL;
        break;
    case REQUEST_WRITTEN:
        request->status = answer_respond(request->answer);
        break;
    }
    if (request->status != 0)
        request->note.out = reply_last_size();
    return is_waiting || request->status != 0 ? MHD_YES : MHD_NO;
}
