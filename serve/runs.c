/* See runs.h. SPDX-License-Identifier: MIT */
#include "serve/runs.h"
#include "core/bytes.h"
#include "serve/parameters.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#define WIDTH_MAX 10000 /* a table keeps as much of a value */
#define STREAM_BUFFER ((size_t)32 << 10)

struct run;

/* One of the streams of a command. */
struct stream {
    struct run *run;
    enum runs_frame kind;
    bool is_terminal; /* what is written is sent at once */
    uint64_t size;    /* bytes so far */
    FILE *file;
};

struct run {
    struct writer writer;          /* first */
    struct server_command command; /* second: see run_of */
    struct server *server;
    struct parameters parameters;
    const char **words;
    struct stream out;
    struct stream err;
    struct answer *answer;         /* while it is written */
    struct colander_buffer *bytes; /* the same: frames */
};

static struct run *
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
    return answer_stopped(run_of(command)->answer) != ANSWER_GOES_ON;
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

/* Returns `size`, or 0 if the client has left. */
static ssize_t
write_stream(void *context, const char *data, size_t size)
{
    struct stream *stream = context;
    struct run *run = stream->run;
    enum colander_code code =
        append_frame(run->bytes, stream->kind, data, size);

    if (code == COLANDER_OK &&
        (stream->is_terminal || run->bytes->size >= ANSWER_STEP))
        code = answer_flush(run->answer, run->bytes, NULL);
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
    const struct stream *stream = context;

    if (whence != SEEK_CUR || *offset != 0) {
        errno = ESPIPE;
        return -1;
    }
    *offset = (off64_t)stream->size;
    return 0;
}

static FILE *
open_stream(struct stream *stream, struct run *run, enum runs_frame kind,
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
        (void)setvbuf(stream->file, NULL, is_terminal ? _IOLBF : _IOFBF,
                      STREAM_BUFFER);
    return stream->file;
}

static void
close_stream(struct stream *stream)
{
    if (stream->file != NULL)
        (void)fclose(stream->file);
    stream->file = NULL;
}

/* --------------------------------------------------------------- writer --- */

static enum colander_code
write_run(struct writer *writer, struct answer *answer,
          struct colander_buffer *bytes, bool *is_end,
          struct colander_error *err)
{
    struct run *run = (struct run *)writer;
    struct server_command *command = &run->command;
    uint8_t status[4];
    enum colander_code code = COLANDER_NO_MEMORY;

    *is_end = true;
    run->answer = answer;
    run->bytes = bytes;
    command->out =
        open_stream(&run->out, run, RUNS_OUT, command->out_is_terminal);
    command->err =
        open_stream(&run->err, run, RUNS_ERR, command->err_is_terminal);
    if (command->out != NULL && command->err != NULL) {
        const struct server_options *options = &run->server->options;

        bytes_put_be32(status,
                       (uint32_t)options->run(options->run_context, command));
        code = COLANDER_OK;
    }
    close_stream(&run->out);
    close_stream(&run->err);
    if (answer_stopped(answer) != ANSWER_GOES_ON)
        return COLANDER_FAIL(err, COLANDER_CANCELLED, "cancelled");
    if (code == COLANDER_OK)
        code = append_frame(bytes, RUNS_EXIT, status, sizeof(status));
    return code == COLANDER_OK ? code
                               : COLANDER_FAIL(err, COLANDER_NO_MEMORY,
                                               "no memory for a command");
}

static enum colander_code
fail_run(struct writer *writer, struct colander_buffer *bytes,
         const struct colander_error *failure)
{
    (void)writer;
    return append_frame(bytes, RUNS_FAILURE, failure->message,
                        strlen(failure->message));
}

static void
destroy_run(struct writer *writer)
{
    struct run *run = (struct run *)writer;
    struct server *server = run->server;

    pthread_mutex_lock(&server->lock);
    server->command_count--;
    pthread_mutex_unlock(&server->lock);
    free(run->words);
    parameters_release(&run->parameters);
    free(run);
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
    static const char *const names[] = {"width", "out_terminal", "err_terminal",
                                        "word", NULL};
    struct server_command *command = &run->command;
    enum colander_code code =
        parameters_check(parameters, names, 3, parameter, err);

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
    for (size_t i = 0; i < parameters->count; i++) {
        if (strcmp(parameters->list[i].name, "word") == 0)
            run->words[command->word_count++] = parameters->list[i].value;
    }
    if (code == COLANDER_OK && command->word_count == 0)
        code = COLANDER_FAIL(err, COLANDER_INVALID, "a command is missing");
    command->words = run->words;
    command->is_local = parameters->is_local;
    return code;
}

enum colander_code
runs_command(struct server *server, struct parameters *parameters,
             struct writer **writer, const char **parameter, size_t *offset,
             struct colander_error *err)
{
    const struct parameters none = {.list = NULL};
    struct run *run;
    enum colander_code code = COLANDER_OK;

    *offset = 0;
    if (server->options.run == NULL)
        return COLANDER_FAIL(err, COLANDER_NOT_FOUND, "unknown path");
    if (!admit(server))
        return COLANDER_FAIL(err, COLANDER_BUSY,
                             "the server runs too many commands: try again "
                             "later");
    run = calloc(1, sizeof(*run));
    if (run == NULL) {
        pthread_mutex_lock(&server->lock);
        server->command_count--;
        pthread_mutex_unlock(&server->lock);
        return COLANDER_FAIL(err, COLANDER_NO_MEMORY,
                             "no memory for a command");
    }
    run->server = server;
    run->writer.write = write_run;
    run->writer.fail = fail_run;
    run->writer.destroy = destroy_run;
    run->writer.content_type = "application/x-colander-output";
    run->writer.waits = true;
    run->words = calloc(parameters->count + 1, sizeof(*run->words));
    if (run->words == NULL)
        code = COLANDER_FAIL(err, COLANDER_NO_MEMORY, "no memory for words");
    if (code == COLANDER_OK)
        code = read_command(run, parameters, parameter, err);
    if (code == COLANDER_OK) {
        run->parameters = *parameters;
        *parameters = none;
        *writer = &run->writer;
    } else {
        destroy_run(&run->writer);
    }
    return code;
}
