/* See serve.h. SPDX-License-Identifier: MIT */
#include "serve/serve.h"
#include "core/clock.h"
#include "serve/routes.h"
#include "serve/serve_inside.h"

#include <microhttpd.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define HEADERS_MAX ((size_t)32 << 10) /* of a request, and of what is sent */
#define CLOSE_MS 2000 /* for answers that were ended to be taken */

void
server_options_init(struct server_options *options)
{
    memset(options, 0, sizeof(*options));
    options->listen_fd = -1;
    options->connection_max = 1024;
    options->answer_max = 256;
    options->thread_max = 32;
    options->command_max = 64;
    options->load_max = 16;
    options->script_max = 4;
    options->shell_max = 16;
    options->upkeep_max = 2;
    options->backup_max = 100;
    options->request_ms = 30000;
    options->stall_ms = 300000;
    options->drop_ms = 5000;
    options->stop_ms = 10000;
}

const char *
server_address(const struct server *server)
{
    return server->address[0] == '\0' ? NULL : server->address;
}

/* -------------------------------------------------------------- answers --- */

static void
answer_destroyed(void *context)
{
    struct server *server = context;

    pthread_mutex_lock(&server->lock);
    server->answer_count--;
    pthread_cond_broadcast(&server->has_fewer);
    pthread_mutex_unlock(&server->lock);
}

/* Waits until there are no answers. Returns false after `wait_ms`. */
static bool
await_answers(struct server *server, uint64_t wait_ms)
{
    const struct timespec end = clock_after(CLOCK_MONOTONIC, wait_ms);
    bool is_done;
    int error = 0;

    pthread_mutex_lock(&server->lock);
    while (server->answer_count > 0 && error == 0)
        error = pthread_cond_clockwait(&server->has_fewer, &server->lock,
                                       CLOCK_MONOTONIC, &end);
    is_done = server->answer_count == 0;
    pthread_mutex_unlock(&server->lock);
    return is_done;
}

/* ---------------------------------------------------------------- doors --- */

/* Why a daemon that this thread starts cannot start: what is logged then. */
static _Thread_local char start_message[200];

static void __attribute__((format(printf, 2, 0)))
keep_message(void *context, const char *format, va_list list)
{
    (void)context;
    (void)vsnprintf(start_message, sizeof(start_message), format, list);
    start_message[strcspn(start_message, "\n")] = '\0';
}

/* Starts the thread that speaks HTTP on a socket, which is taken. Signals are
 * for the threads of the program. */
static enum colander_code
open_door(struct server *server, struct door *door, int *fd, bool is_local,
          struct colander_error *err)
{
    const struct server_options *options = &server->options;
    const bool has_tls = !is_local && options->certificate != NULL;
    const unsigned flags = MHD_USE_EPOLL_INTERNAL_THREAD |
                           MHD_ALLOW_SUSPEND_RESUME | MHD_USE_ERROR_LOG |
                           (has_tls ? MHD_USE_TLS : 0);
    const struct MHD_OptionItem tls[] = {
        {MHD_OPTION_HTTPS_MEM_CERT, 0, (void *)options->certificate},
        {MHD_OPTION_HTTPS_MEM_KEY, 0, (void *)options->key},
        {MHD_OPTION_HTTPS_PRIORITIES, 0, "NORMAL:-VERS-TLS1.0:-VERS-TLS1.1"},
        {MHD_OPTION_END, 0, NULL},
    };
    sigset_t all;
    sigset_t before;

    door->server = server;
    door->is_local = is_local;
    door->has_tls = has_tls;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    door->daemon = MHD_start_daemon(
        flags, 0, NULL, NULL, route_take, door,                      /**/
        MHD_OPTION_EXTERNAL_LOGGER, keep_message, NULL,              /* first */
        MHD_OPTION_LISTEN_SOCKET, *fd,                               /**/
        MHD_OPTION_CONNECTION_LIMIT, server->options.connection_max, /**/
        MHD_OPTION_CONNECTION_MEMORY_LIMIT, HEADERS_MAX,             /**/
        MHD_OPTION_STRICT_FOR_CLIENT, 1,                             /**/
        MHD_OPTION_SIGPIPE_HANDLED_BY_APP, 1,                        /**/
        MHD_OPTION_URI_LOG_CALLBACK, route_begin, door,              /**/
        MHD_OPTION_NOTIFY_COMPLETED, route_end, door,                /**/
        MHD_OPTION_NOTIFY_CONNECTION, route_visit, door,             /**/
        MHD_OPTION_ARRAY, has_tls ? tls : tls + 3,                   /**/
        MHD_OPTION_END);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    *fd = -1;
    if (door->daemon != NULL)
        return COLANDER_OK;
    return COLANDER_FAIL(err, has_tls ? COLANDER_INVALID : COLANDER_IO,
                         "cannot start to listen%s: %s",
                         has_tls ? " with this certificate and key" : "",
                         start_message);
}

/* Lets no one in any more. */
static void
shut_door(struct door *door)
{
    int fd = -1;

    if (door->daemon != NULL)
        fd = MHD_quiesce_daemon(door->daemon);
    if (fd >= 0)
        (void)close(fd);
}

/* Requires that there are no answers. */
static void
close_door(struct door *door)
{
    if (door->daemon != NULL)
        MHD_stop_daemon(door->daemon);
    door->daemon = NULL;
}

/* ---------------------------------------------------------------- start --- */

static enum colander_code
check_options(const struct server_options *options, struct colander_error *err)
{
    if (options->address == NULL && options->listen_fd < 0)
        return COLANDER_OK;
    if (options->token == NULL)
        return COLANDER_FAIL(err, COLANDER_INVALID, "an address needs a token");
    if (strlen(options->token) < TOKEN_SIZE_MIN ||
        strlen(options->token) > TOKEN_SIZE_MAX)
        return COLANDER_FAIL(err, COLANDER_INVALID,
                             "a token has %d to %d characters", TOKEN_SIZE_MIN,
                             TOKEN_SIZE_MAX);
    return COLANDER_OK;
}

static enum colander_code
open_doors(struct server *server, struct colander_error *err)
{
    const char *address = server->options.address;
    enum colander_code code;
    int fd = server->options.listen_fd;

    code = store_socket_open(&server->socket,
                             colander_store_path(server->store), err);
    if (code == COLANDER_OK && fd >= 0)
        code = address_take(fd, server->address, err);
    else if (code == COLANDER_OK && address != NULL)
        code = address_listen(address, &fd, server->address, err);
    if (code == COLANDER_OK)
        code = open_door(server, &server->local, &server->socket.fd, true, err);
    if (code == COLANDER_OK && fd >= 0)
        code = open_door(server, &server->network, &fd, false, err);
    if (fd >= 0)
        (void)close(fd);
    return code;
}

enum colander_code
server_start(struct colander_store *store, const struct server_options *options,
             struct server **out, struct colander_error *err)
{
    const struct store_socket closed = STORE_SOCKET_CLOSED;
    enum colander_code code = check_options(options, err);
    struct server *server;

    *out = NULL;
    if (code != COLANDER_OK)
        return code;
    server = calloc(1, sizeof(*server));
    if (server == NULL)
        return COLANDER_FAIL(err, COLANDER_NO_MEMORY, "no memory for a server");
    server->store = store;
    server->options = *options;
    server->socket = closed;
    server->start = time(NULL);
    if (options->token != NULL)
        (void)snprintf(server->token.text, sizeof(server->token.text), "%s",
                       options->token);
    pthread_mutex_init(&server->lock, NULL);
    pthread_cond_init(&server->has_fewer, NULL);
    code = workers_create(options->thread_max, &server->workers, err);
    if (code == COLANDER_OK && options->run != NULL)
        code = workers_create(options->command_max, &server->runners, err);
    if (code == COLANDER_OK && options->open_parts != NULL)
        code = workers_create(options->thread_max, &server->peer_workers, err);
    if (code == COLANDER_OK)
        code = visitors_create(options->request_ms, options->stall_ms,
                               &server->visitors, err);
    server->answers.workers = server->workers;
    server->answers.runners = server->runners;
    server->answers.peer_workers = server->peer_workers;
    server->answers.destroyed = answer_destroyed;
    server->answers.context = server;
    if (code == COLANDER_OK && options->log != NULL)
        code = request_log_open(options->log, options->logs_values,
                                &server->log, err);
    if (code == COLANDER_OK)
        code = open_doors(server, err);
    server->options.address = server->options.token = NULL; /* borrowed */
    server->options.certificate = server->options.key = NULL;
    server->options.log = NULL;
    if (code != COLANDER_OK)
        server_stop(server);
    else
        *out = server;
    return code;
}

enum colander_code
server_reopen_log(struct server *server, struct colander_error *err)
{
    return server->log == NULL ? COLANDER_OK
                               : request_log_reopen(server->log, err);
}

/* ----------------------------------------------------------------- stop --- */

void
server_stop(struct server *server)
{
    if (server == NULL)
        return;
    store_socket_remove(&server->socket);
    pthread_mutex_lock(&server->lock);
    server->is_ending = true;
    pthread_mutex_unlock(&server->lock);
    shut_door(&server->local);
    shut_door(&server->network);
    if (!await_answers(server, server->options.stop_ms)) {
        visitors_stop(server->visitors, false);
        if (!await_answers(server, CLOSE_MS))
            visitors_stop(server->visitors, true);
        while (!await_answers(server, CLOSE_MS))
            visitors_stop(server->visitors, true);
    }
    close_door(&server->local);
    close_door(&server->network);
    workers_destroy(server->workers);
    workers_destroy(server->runners);
    workers_destroy(server->peer_workers);
    visitors_destroy(server->visitors);
    store_socket_close(&server->socket);
    request_log_close(server->log);
    pthread_cond_destroy(&server->has_fewer);
    pthread_mutex_destroy(&server->lock);
    free(server);
}
