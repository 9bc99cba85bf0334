/* See request_log.h. SPDX-License-Identifier: MIT */
#include "serve/request_log.h"
#include "columns/utf8.h"
#include "core/clock.h"
#include "core/thread.h"
#include "serve/answer.h"
#include "serve/parameters.h"
#include "serve/reply.h"
#include "serve/sockets.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <microhttpd.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define GATHER_MS 100
#define PATIENCE_MS 1000 /* for a pipe that is full, once it ends */
#define HELD_MAX ((size_t)1 << 20)
#define PIECE_MAX ((size_t)4 << 10) /* for which a pipe with room has enough */
#define COMMAND_SIZE_MAX 16
#define TEXT_MAX ((size_t)4 << 10) /* of what a client has sent */

struct request_log {
    pthread_mutex_t lock;
    pthread_cond_t has_changed; /* a first line is there, or it ends */
    struct colander_row_builder *builder;
    struct colander_buffer lines; /* that wait */
    bool has_values;              /* of requests */
    char *path;                   /* NULL: standard output */
    int reopened;                 /* to be written to from now on; -1: none */
    uint64_t request_count;
    uint64_t dropped;
    bool is_ending;
    bool has_thread;
    pthread_t thread;

    /* for the thread */
    int fd;
    struct colander_buffer written; /* is being */
    uint64_t reported;              /* of those dropped */
    bool is_torn;                   /* a part of a line was written */
};

/* What is known of a request; texts are NULL where there is none. */
struct request_line {
    const char *client;
    const char *method;
    const char *request; /* which kind of request */
    const char *command; /* that it runs */
    const char *family;
    const char *target; /* with all values */
    struct colander_slice body;
    unsigned status;
    uint64_t in; /* bytes of the body */
    uint64_t out;
    uint64_t rows;
    uint64_t time_us;
    bool has_rows;
    bool is_cut; /* the answer is not whole */
};

/* -------------------------------------------------------------- writing --- */

static void
format_time(char text[32])
{
    struct timespec now;
    struct tm parts;
    size_t size;

    (void)clock_gettime(CLOCK_REALTIME, &now);
    (void)gmtime_r(&now.tv_sec, &parts);
    size = strftime(text, 32, "%Y-%m-%dT%H:%M:%S", &parts);
    (void)snprintf(text + size, 32 - size, ".%03ldZ", now.tv_nsec / 1000000);
}

static uint64_t
line_count(const uint8_t *bytes, size_t size)
{
    uint64_t count = 0;

    for (size_t i = 0; i < size; i++)
        count += bytes[i] == '\n';
    return count;
}

/* Waits until a pipe has room, which a file always has. */
static bool
await_room(struct request_log *log)
{
    struct pollfd one = {log->fd, POLLOUT, 0};
    bool is_ending = false;

    while (!is_ending) {
        if (poll(&one, 1, PATIENCE_MS) > 0)
            return true;
        pthread_mutex_lock(&log->lock);
        is_ending = log->is_ending;
        pthread_mutex_unlock(&log->lock);
    }
    return false;
}

/* Writes some lines. Returns whether all of their bytes were written. */
static bool
write_lines(struct request_log *log, const uint8_t *bytes, size_t size)
{
    while (size > 0 && await_room(log)) {
        const ssize_t count =
            write(log->fd, bytes, size < PIECE_MAX ? size : PIECE_MAX);

        if (count < 0 && errno == EINTR)
            continue;
        if (count <= 0)
            return false;
        bytes += count;
        size -= (size_t)count;
        log->is_torn = bytes[-1] != '\n';
    }
    return size == 0;
}

/* Returns how many bytes are whole lines that fit a piece, or the first one. */
static size_t
piece_size(const uint8_t *bytes, size_t size)
{
    const uint8_t *end =
        size <= PIECE_MAX ? bytes + size - 1 : memrchr(bytes, '\n', PIECE_MAX);

    assert(bytes != NULL && size > 0);
    if (end == NULL)
        end = memchr(bytes, '\n', size);
    return (size_t)(end - bytes) + 1;
}

/* Says what was dropped, and ends a line that was torn. */
static bool
write_head(struct request_log *log, uint64_t dropped)
{
    char text[128];
    char now[32];
    int size = 0;

    format_time(now);
    if (log->is_torn)
        text[size++] = '\n';
    if (dropped != log->reported)
        size += snprintf(text + size, sizeof(text) - (size_t)size,
                         "{\"time\":\"%s\",\"dropped\":%llu}\n", now,
                         (unsigned long long)(dropped - log->reported));
    if (!write_lines(log, (const uint8_t *)text, (size_t)size))
        return false;
    log->reported = dropped;
    return true;
}

/* Writes what was taken. Returns how many lines were not written. */
static uint64_t
write_all(struct request_log *log, uint64_t dropped)
{
    const uint8_t *bytes = log->written.data;
    size_t left = log->written.size;

    if (!write_head(log, dropped))
        return line_count(bytes, left);
    while (left > 0) {
        const size_t size = piece_size(bytes, left);

        if (!write_lines(log, bytes, size))
            return line_count(bytes, left);
        bytes += size;
        left -= size;
    }
    return 0;
}

/* Takes what waits, and another file. Requires the lock. */
static void
take(struct request_log *log)
{
    const struct colander_buffer empty = log->written;

    log->written = log->lines;
    log->lines = empty;
    colander_buffer_clear(&log->lines);
    if (log->reopened < 0)
        return;
    (void)close(log->fd);
    log->fd = log->reopened;
    log->reopened = -1;
    log->is_torn = false;
}

static void *
write_what_comes(void *context)
{
    struct request_log *log = context;

    pthread_mutex_lock(&log->lock);
    while (!log->is_ending || log->lines.size > 0) {
        const struct timespec end = clock_after(CLOCK_MONOTONIC, GATHER_MS);
        uint64_t dropped;

        if (log->lines.size == 0) {
            pthread_cond_wait(&log->has_changed, &log->lock);
            continue;
        }
        while (!log->is_ending &&
               pthread_cond_clockwait(&log->has_changed, &log->lock,
                                      CLOCK_MONOTONIC, &end) == 0)
            continue;
        take(log);
        dropped = log->dropped;
        pthread_mutex_unlock(&log->lock);
        dropped = write_all(log, dropped);
        pthread_mutex_lock(&log->lock);
        log->dropped += dropped;
    }
    pthread_mutex_unlock(&log->lock);
    return NULL;
}

/* ----------------------------------------------------------------- life --- */

static enum colander_code
open_file(const char *path, int *fd, struct colander_error *err)
{
    *fd = path == NULL
              ? fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 0)
              : open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOCTTY,
                     0600);
    return *fd >= 0
               ? COLANDER_OK
               : COLANDER_FAIL(err, COLANDER_IO, "cannot open the log '%s': %s",
                               path == NULL ? "-" : path, strerror(errno));
}

enum colander_code
request_log_open(const char *path, bool has_values, struct request_log **out,
                 struct colander_error *err)
{
    struct request_log *log = calloc(1, sizeof(*log));
    const bool is_file = strcmp(path, "-") != 0;
    enum colander_code code;
    int error;

    *out = NULL;
    if (log == NULL)
        return COLANDER_FAIL(err, COLANDER_NO_MEMORY, "no memory for a log");
    log->fd = log->reopened = -1;
    log->has_values = has_values;
    pthread_mutex_init(&log->lock, NULL);
    pthread_cond_init(&log->has_changed, NULL);
    log->builder = colander_row_builder_create();
    log->path = is_file ? strdup(path) : NULL;
    code = open_file(is_file ? path : NULL, &log->fd, err);
    if (code == COLANDER_OK &&
        (log->builder == NULL || (is_file && log->path == NULL)))
        code = COLANDER_FAIL(err, COLANDER_NO_MEMORY, "no memory for a log");
    error = code == COLANDER_OK
                ? thread_create(&log->thread, write_what_comes, log)
                : 0;
    log->has_thread = code == COLANDER_OK && error == 0;
    if (error != 0)
        code = COLANDER_FAIL(err, COLANDER_NO_MEMORY,
                             "cannot start a thread: %s", strerror(error));
    if (code == COLANDER_OK)
        *out = log;
    else
        request_log_close(log);
    return code;
}

void
request_log_close(struct request_log *log)
{
    if (log == NULL)
        return;
    pthread_mutex_lock(&log->lock);
    log->is_ending = true;
    pthread_cond_signal(&log->has_changed);
    pthread_mutex_unlock(&log->lock);
    if (log->has_thread)
        pthread_join(log->thread, NULL);
    if (log->fd >= 0)
        (void)close(log->fd);
    if (log->reopened >= 0)
        (void)close(log->reopened);
    colander_row_builder_destroy(log->builder);
    colander_buffer_release(&log->lines);
    colander_buffer_release(&log->written);
    pthread_cond_destroy(&log->has_changed);
    pthread_mutex_destroy(&log->lock);
    free(log->path);
    free(log);
}

enum colander_code
request_log_reopen(struct request_log *log, struct colander_error *err)
{
    enum colander_code code = COLANDER_OK;
    int before;
    int fd;

    if (log->path == NULL)
        return COLANDER_OK;
    code = open_file(log->path, &fd, err);
    if (code != COLANDER_OK)
        return code;
    pthread_mutex_lock(&log->lock);
    before = log->reopened;
    log->reopened = fd;
    pthread_mutex_unlock(&log->lock);
    if (before >= 0)
        (void)close(before);
    return code;
}

/* ---------------------------------------------------------------- lines --- */

/* Whether a terminal shows a character of UTF-8 as itself: it neither controls
 * the terminal, nor has no width, nor turns the direction of others. */
static bool
is_shown(const uint8_t *bytes, size_t size)
{
    if (size == 1)
        return bytes[0] >= ' ' && bytes[0] != 0x7f;
    if (size == 2)
        return bytes[0] != 0xc2 || bytes[1] >= 0xa0;
    if (size == 3 && bytes[0] == 0xe2)
        return !((bytes[1] == 0x80 && bytes[2] >= 0x8b && bytes[2] <= 0x8f) ||
                 (bytes[1] == 0x80 && bytes[2] >= 0xa8 && bytes[2] <= 0xae) ||
                 (bytes[1] == 0x81 && bytes[2] >= 0xa0));
    return size != 3 || memcmp(bytes, "\xef\xbb\xbf", 3) != 0;
}

/* Returns the size of the character that a text begins with, or 0. */
static size_t
character_size(const uint8_t *bytes, size_t size)
{
    for (size_t width = 1; width <= 4 && width <= size; width++) {
        if (colander_utf8_size(colander_slice_of(bytes, width)) == width)
            return width;
    }
    return 0;
}

static void
add_text(struct colander_row_builder *builder, const char *name,
         struct colander_slice text)
{
    char shown[TEXT_MAX];
    const size_t size = text.size < TEXT_MAX ? text.size : TEXT_MAX;
    size_t to = 0;

    for (size_t at = 0; at < size;) {
        const size_t width = character_size(text.data + at, size - at);

        if (width > 0 && is_shown(text.data + at, width)) {
            memcpy(shown + to, text.data + at, width);
            to += width;
        } else {
            shown[to++] = '?';
        }
        at += width > 0 ? width : 1;
    }
    colander_row_builder_add(builder, name,
                             colander_string(colander_slice_of(shown, to)));
}

static void
add_some_text(struct colander_row_builder *builder, const char *name,
              const char *text)
{
    if (text != NULL)
        add_text(builder, name, colander_slice_text(text));
}

static void
build(struct colander_row_builder *builder, const struct request_line *line,
      uint64_t number)
{
    char now[32];

    format_time(now);
    colander_row_builder_add(builder, "time", colander_text(now));
    colander_row_builder_add(builder, "id", colander_unsigned(number));
    add_some_text(builder, "client", line->client);
    add_some_text(builder, "method", line->method);
    add_some_text(builder, "request", line->request);
    add_some_text(builder, "command", line->command);
    add_some_text(builder, "family", line->family);
    colander_row_builder_add(builder, "status",
                             colander_unsigned(line->status));
    colander_row_builder_add(builder, "in", colander_unsigned(line->in));
    colander_row_builder_add(builder, "out", colander_unsigned(line->out));
    if (line->has_rows)
        colander_row_builder_add(builder, "rows",
                                 colander_unsigned(line->rows));
    colander_row_builder_add(builder, "us", colander_unsigned(line->time_us));
    if (line->is_cut)
        colander_row_builder_add(builder, "cut", colander_boolean(true));
    add_some_text(builder, "target", line->target);
    if (line->body.size > 0)
        add_text(builder, "body", line->body);
}

static void
add(struct request_log *log, const struct request_line *line)
{
    size_t size;

    pthread_mutex_lock(&log->lock);
    size = log->lines.size;
    build(log->builder, line, ++log->request_count);
    if (size > HELD_MAX ||
        reply_append_built(&log->lines, log->builder, NULL) != COLANDER_OK ||
        colander_buffer_append(&log->lines, "\n", 1, NULL) != COLANDER_OK) {
        struct colander_slice unused;

        (void)!colander_row_builder_finish(log->builder, &unused, NULL);
        log->lines.size = size;
        log->dropped++;
    }
    if (size == 0)
        pthread_cond_signal(&log->has_changed);
    pthread_mutex_unlock(&log->lock);
}

/* ---------------------------------------------------------------- notes --- */

void
note_begin(struct note *note, struct request_log *log, const char *target)
{
    if (log == NULL)
        return;
    note->begun_ns = clock_ns();
    if (log->has_values)
        note->target = strdup(target);
}

void
note_read(struct note *note, struct request_log *log, const char *method,
          const char *request, bool has_family,
          const struct parameters *parameters)
{
    /* of agents, whose paths do not have it */
    static const char *const names[] = {"family", "db", "bucket"};
    const char *family = has_family ? parameters->path[1] : NULL;

    if (log == NULL)
        return;
    (void)snprintf(note->method, sizeof(note->method), "%s", method);
    note->request = request;
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        if (family == NULL && request != NULL)
            family = parameters_value(parameters, names[i]);
    }
    if (family != NULL)
        note->family = strdup(family);
}

void
note_command(struct note *note, struct request_log *log,
             const struct parameters *parameters)
{
    const char *word = parameters_value(parameters, "word");

    if (log == NULL || word == NULL || strlen(word) > COMMAND_SIZE_MAX ||
        word[strspn(word, "abcdefghijklmnopqrstuvwxyz-")] != '\0')
        return;
    note->command = strdup(word);
}

static void
describe_client(struct MHD_Connection *connection, char text[ADDRESS_TEXT_SIZE])
{
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);

    text[0] = '\0';
    if (info != NULL)
        peer_describe(info->connect_fd, text);
}

static void
add_line(const struct note *note, struct request_log *log,
         struct MHD_Connection *connection, struct answer *answer,
         unsigned status, struct colander_slice body, bool is_whole)
{
    struct answer_report report = {0, 0, false, false};
    char client[ADDRESS_TEXT_SIZE];
    struct request_line line;

    memset(&line, 0, sizeof(line));
    describe_client(connection, client);
    if (answer != NULL)
        answer_report(answer, &report);
    line.client = client;
    line.method = note->method;
    line.request = note->request;
    line.command = note->command;
    line.family = note->family;
    line.target = note->target;
    if (log->has_values)
        line.body = body;
    line.status = status;
    line.in = note->in;
    line.out = note->out + report.streamed;
    line.has_rows = report.counts_rows;
    line.rows = report.row_count;
    line.time_us = (clock_ns() - note->begun_ns) / 1000;
    line.is_cut = !is_whole || report.is_failed;
    add(log, &line);
}

void
note_end(struct note *note, struct request_log *log,
         struct MHD_Connection *connection, struct answer *answer,
         unsigned status, struct colander_slice body, bool is_whole)
{
    if (log == NULL)
        return;
    add_line(note, log, connection, answer, status, body, is_whole);
    free(note->family);
    free(note->command);
    free(note->target);
}

uint64_t
request_log_dropped(struct request_log *log)
{
    uint64_t dropped;

    pthread_mutex_lock(&log->lock);
    dropped = log->dropped;
    pthread_mutex_unlock(&log->lock);
    return dropped;
}
