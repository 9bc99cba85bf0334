/* See runs.h. SPDX-License-Identifier: MIT */
#include "serve/runs.h"
#include "core/bytes.h"
#include "serve/asks.h"
#include "serve/body.h"
#include "serve/runs_inside.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#define WIDTH_MAX 10000 /* a table keeps as much of a value */
#define UPKEEP "backups, checks and refilters"
#define STREAM_BUFFER ((size_t)32 << 10)
#define LOOK_MS 20 /* how often a shell sees whether there is room for it */
#define PATIENCE_MS 500 /* after which it says that it waits */

struct run *
run_of(const struct server_command *command)
{
    return (struct run *)((char *)command - offsetof(struct run, command));
}

void
server_command_watch(const struct server_command *command,
                     struct colander_cursor *cursor)
{
    answer_watch(run_of(command)->answer, cursor);
}

bool
server_command_is_over(const struct server_command *command)
{
    const struct run *run = run_of(command);

    return atomic_load(&run->is_interrupted) ||
           answer_stopped(run->answer) != ANSWER_GOES_ON;
}

void
server_command_count_load(const struct server_command *command, uint64_t rows,
                          uint64_t rejects)
{
    struct run *run = run_of(command);
    struct server *server = run->server;

    run->reject_count = rejects;
    run->writer.counts_rows = true;
    atomic_store(&run->writer.row_count, rows);
    atomic_fetch_add(&server->loads_ended, 1);
    atomic_fetch_add(&server->loaded_row_count, rows);
    atomic_fetch_add(&server->rejected_count, rejects);
}

/* -------------------------------------------------------------- streams --- */

static enum colander_code
append_frame(struct colander_buffer *bytes, enum runs_frame kind,
             const void *data, size_t size)
{
    uint8_t head[RUNS_FRAME_SIZE] = {(uint8_t)kind};
    enum colander_code code =
        colander_buffer_reserve(bytes, sizeof(head) + size, NULL);

    bytes_put_be32(head + 1, (uint32_t)size);
    if (code == COLANDER_OK)
        code = colander_buffer_append(bytes, head, sizeof(head), NULL);
    return code == COLANDER_OK ? colander_buffer_append(bytes, data, size, NULL)
                               : code;
}

enum colander_code
run_send(struct run *run, enum runs_frame kind, struct colander_slice bytes,
         struct colander_error *err)
{
    enum colander_code code;

    pthread_mutex_lock(&run->lock);
    code = append_frame(run->bytes, kind, bytes.data, bytes.size);
    if (code != COLANDER_OK)
        (void)COLANDER_FAIL(err, code, "no memory for a command");
    else
        code = answer_flush(run->answer, run->bytes, err);
    pthread_mutex_unlock(&run->lock);
    return code;
}

/* Returns `size`, or 0 if the client has left. */
static ssize_t
write_stream(void *context, const char *data, size_t size)
{
    struct run_stream *stream = context;
    struct run *run = stream->run;
    enum colander_code code = COLANDER_OK;

    pthread_mutex_lock(&run->lock);
    if (run->asks != NULL)
        code = append_frame(run->bytes, stream->kind, data, size);
    else if (run->prints && stream->kind == RUNS_OUT)
        code = colander_buffer_append(run->bytes, data, size, NULL);
    if (code == COLANDER_OK && (run->asks != NULL || run->streams) &&
        (stream->is_terminal ||
         (run->asks != NULL && stream->kind == RUNS_ERR) ||
         run->bytes->size >= ANSWER_STEP))
        code = answer_flush(run->answer, run->bytes, NULL);
    pthread_mutex_unlock(&run->lock);
    if (code != COLANDER_OK) {
        errno = code == COLANDER_CANCELLED ? EPIPE : ENOMEM;
        return 0;
    }
    stream->size += size;
    return (ssize_t)size;
}

/* Only tells where it is. */
static int
seek_stream(void *context, off64_t *offset, int whence)
{
    const struct run_stream *stream = context;

    if (whence != SEEK_CUR || *offset != 0) {
        errno = ESPIPE;
        return -1;
    }
    *offset = (off64_t)stream->size;
    return 0;
}

static FILE *
open_stream(struct run_stream *stream, struct run *run, enum runs_frame kind,
            bool is_terminal)
{
    const cookie_io_functions_t functions = {
        .write = write_stream,
        .seek = seek_stream,
    };

    stream->run = run;
    stream->kind = kind;
    stream->is_terminal = is_terminal;
    stream->file = fopencookie(stream, "w", functions);
    if (stream->file != NULL)
        (void)setvbuf(stream->file, NULL,
                      is_terminal || kind == RUNS_ERR ? _IOLBF : _IOFBF,
                      STREAM_BUFFER);
    return stream->file;
}

static void
close_stream(struct run_stream *stream)
{
    if (stream->file != NULL)
        (void)fclose(stream->file);
    stream->file = NULL;
}

/* ---------------------------------------------------------------- kinds --- */

void
run_rest(struct run *run)
{
    struct server *server = run->server;

    pthread_mutex_lock(&server->lock);
    server->kind_counts[SERVER_SCRIPTS] -= run->is_awake;
    run->is_awake = false;
    pthread_mutex_unlock(&server->lock);
}

enum colander_code
run_go_on(struct run *run, struct colander_error *err)
{
    const struct timespec pause = {.tv_nsec = LOOK_MS * 1000000L};
    struct server *server = run->server;
    const uint32_t max = server->options.script_max;

    for (unsigned ms = 0; run->kind == SERVER_SHELLS && !run->is_awake;
         ms += LOOK_MS) {
        pthread_mutex_lock(&server->lock);
        run->is_awake = server->kind_counts[SERVER_SCRIPTS] < max;
        server->kind_counts[SERVER_SCRIPTS] += run->is_awake;
        pthread_mutex_unlock(&server->lock);
        if (run->is_awake)
            break;
        if (answer_stopped(run->answer) != ANSWER_GOES_ON)
            return COLANDER_FAIL(err, COLANDER_CANCELLED,
                                 "the client has left");
        if (ms == PATIENCE_MS)
            fprintf(run->command.err,
                    "the server runs %u scripts, and no more at once: this one "
                    "waits\n",
                    max);
        (void)nanosleep(&pause, NULL);
    }
    return COLANDER_OK;
}

/* Counts the command as one of its kind no more. */
static void
leave_kind(struct run *run)
{
    struct server *server = run->server;

    run_rest(run);
    pthread_mutex_lock(&server->lock);
    server->kind_counts[run->kind] -= run->kind != SERVER_OTHERS;
    run->kind = SERVER_OTHERS;
    pthread_mutex_unlock(&server->lock);
}

/* --------------------------------------------------------------- writer --- */

enum colander_code
run_perform(struct run *run, struct answer *answer,
            struct colander_buffer *bytes, int *status,
            struct colander_error *err)
{
    const struct server_options *options = &run->server->options;
    struct server_command *command = &run->command;
    enum colander_code code = COLANDER_OK;

    run->answer = answer;
    run->bytes = bytes;
    command->out =
        open_stream(&run->out, run, RUNS_OUT, command->out_is_terminal);
    command->err =
        open_stream(&run->err, run, RUNS_ERR, command->err_is_terminal);
    if (command->out == NULL || command->err == NULL)
        code =
            COLANDER_FAIL(err, COLANDER_NO_MEMORY, "no memory for a command");
    else
        code = run_go_on(run, err);
    if (code == COLANDER_OK)
        *status = options->run(options->run_context, command);
    close_stream(&run->out);
    close_stream(&run->err);
    leave_kind(run); /* before its client knows that it has ended */
    return code;
}

static enum colander_code
write_run(struct writer *writer, struct answer *answer,
          struct colander_buffer *bytes, bool *is_end,
          struct colander_error *err)
{
    struct run *run = (struct run *)writer;
    uint8_t frame[4];
    int status = 0;
    enum colander_code code = run_perform(run, answer, bytes, &status, err);

    *is_end = true;
    if (answer_stopped(answer) != ANSWER_GOES_ON)
        return COLANDER_FAIL(err, COLANDER_CANCELLED, "cancelled");
    bytes_put_be32(frame, (uint32_t)status);
    if (code == COLANDER_OK &&
        append_frame(bytes, RUNS_EXIT, frame, sizeof(frame)) != COLANDER_OK)
        code =
            COLANDER_FAIL(err, COLANDER_NO_MEMORY, "no memory for a command");
    return code;
}

static enum colander_code
fail_run(struct writer *writer, struct colander_buffer *bytes,
         const struct colander_error *failure)
{
    (void)writer;
    return append_frame(bytes, RUNS_FAILURE, failure->message,
                        strlen(failure->message));
}

void
run_destroy(struct run *run)
{
    struct server *server = run->server;

    leave_kind(run);
    asks_destroy(run->asks);
    body_destroy(run->writer.body);
    pthread_mutex_destroy(&run->lock);
    free(run->words);
    parameters_release(&run->parameters);
    pthread_mutex_lock(&server->lock);
    server->command_count--;
    pthread_mutex_unlock(&server->lock);
    free(run);
}

static void
destroy_run(struct writer *writer)
{
    run_destroy((struct run *)writer);
}

/* ----------------------------------------------------------------- make --- */

/* Each command has a thread, so one that is admitted does not wait for another
 * client. */
static bool
admit(struct server *server)
{
    bool is_admitted;

    pthread_mutex_lock(&server->lock);
    is_admitted = server->command_count < server->options.command_max;
    server->command_count += is_admitted;
    pthread_mutex_unlock(&server->lock);
    return is_admitted;
}

static enum colander_code
read_command(struct run *run, const struct parameters *parameters,
             const char **parameter, struct colander_error *err)
{
    static const char *const names[] = {
        "width", "out_terminal", "err_terminal", "in_terminal", "word", NULL};
    struct server_command *command = &run->command;
    enum colander_code code =
        parameters_check(parameters, names, 4, parameter, err);

    if (code == COLANDER_OK)
        code = parameters_number(parameters, "width", &command->width, err);
    if (command->width > WIDTH_MAX)
        command->width = WIDTH_MAX;
    if (code == COLANDER_OK)
        code = parameters_flag(parameters, "out_terminal",
                               &command->out_is_terminal, err);
    if (code == COLANDER_OK)
        code = parameters_flag(parameters, "err_terminal",
                               &command->err_is_terminal, err);
    if (code == COLANDER_OK)
        code = parameters_flag(parameters, "in_terminal",
                               &command->in_is_terminal, err);
    for (size_t i = 0; i < parameters->count; i++) {
        if (strcmp(parameters->list[i].name, "word") == 0)
            run->words[command->word_count++] = parameters->list[i].value;
    }
    if (code == COLANDER_OK && command->word_count == 0)
        code = COLANDER_FAIL(err, COLANDER_INVALID, "a command is missing");
    command->is_local = parameters->is_local;
    return code;
}

/* Counts the command as one of a kind, unless there are too many. */
static bool
admit_kind(struct run *run, enum server_kind kind, uint32_t max)
{
    struct server *server = run->server;

    pthread_mutex_lock(&server->lock);
    if (server->kind_counts[kind] < max)
        run->kind = kind;
    server->kind_counts[kind] += run->kind == kind;
    pthread_mutex_unlock(&server->lock);
    return run->kind == kind;
}

enum colander_code
run_admit(struct run *run, struct colander_error *err)
{
    const struct server_options *options = &run->server->options;
    const struct {
        const char *word;
        enum server_kind kind;
        uint32_t max;
        const char *what;
    } limits[] = {
        {"load", SERVER_LOADS, options->load_max, "loads"},
        {SERVER_SCRIPT, SERVER_SCRIPTS, options->script_max, "scripts"},
        {SERVER_COMPLETION, SERVER_SCRIPTS, options->script_max, "scripts"},
        {"shell", SERVER_SHELLS, options->shell_max, "shells"},
        {"backup", SERVER_UPKEEP, options->upkeep_max, UPKEEP},
        {"check", SERVER_UPKEEP, options->upkeep_max, UPKEEP},
        {"refilter", SERVER_UPKEEP, options->upkeep_max, UPKEEP},
    };

    for (size_t i = 0; i < sizeof(limits) / sizeof(limits[0]); i++) {
        if (strcmp(run->words[0], limits[i].word) == 0 &&
            !admit_kind(run, limits[i].kind, limits[i].max))
            return COLANDER_FAIL(err, COLANDER_BUSY,
                                 "the server has %u %s, and takes no more at "
                                 "once: try again later",
                                 limits[i].max, limits[i].what);
    }
    return COLANDER_OK;
}

enum colander_code
run_create(struct server *server, size_t size, size_t word_count,
           struct run **out, struct colander_error *err)
{
    struct run *run;

    if (server->options.run == NULL)
        return COLANDER_FAIL(err, COLANDER_NOT_FOUND, "unknown path");
    if (!admit(server))
        return COLANDER_FAIL(err, COLANDER_BUSY,
                             "the server runs too many commands: try again "
                             "later");
    run = calloc(1, size);
    if (run != NULL)
        run->words = calloc(word_count + 1, sizeof(*run->words));
    if (run == NULL || run->words == NULL) {
        free(run);
        pthread_mutex_lock(&server->lock);
        server->command_count--;
        pthread_mutex_unlock(&server->lock);
        return COLANDER_FAIL(err, COLANDER_NO_MEMORY,
                             "no memory for a command");
    }
    pthread_mutex_init(&run->lock, NULL);
    run->server = server;
    run->command.words = run->words;
    run->writer.destroy = destroy_run;
    run->writer.waits = true;
    *out = run;
    return COLANDER_OK;
}

enum colander_code
runs_command(struct server *server, struct parameters *parameters,
             struct writer **writer, const char **parameter, size_t *offset,
             struct colander_error *err)
{
    const struct parameters none = {.list = NULL};
    struct run *run = NULL;
    enum colander_code code =
        run_create(server, sizeof(*run), parameters->count, &run, err);

    *offset = 0;
    if (code != COLANDER_OK)
        return code;
    run->writer.write = write_run;
    run->writer.fail = fail_run;
    run->writer.content_type = "application/x-colander-output";
    code = asks_create(run, &run->asks, err);
    if (code == COLANDER_OK)
        code = read_command(run, parameters, parameter, err);
    if (code == COLANDER_OK)
        code = run_admit(run, err);
    if (code == COLANDER_OK) {
        run->parameters = *parameters;
        *parameters = none;
        *writer = &run->writer;
    } else {
        destroy_run(&run->writer);
    }
    return code;
}
