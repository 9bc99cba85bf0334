/* See asks.h. SPDX-License-Identifier: MIT */
#include "serve/asks.h"
#include "core/bytes.h"
#include "core/clock.h"
#include "serve/body.h"
#include "serve/facts.h"
#include "serve/runs_inside.h"

#include <stdlib.h>
#include <sys/random.h>

#define LOOK_MS 200 /* how often an ask sees whether its answer is stopped */

struct asks {
    struct asks *next; /* of the server */
    struct run *run;
    char name[ASK_RUN_SIZE + 1]; /* that no one else knows */
    pthread_mutex_t turn;        /* one ask at a time */
    pthread_mutex_t lock;        /* of what follows */
    pthread_cond_t has_reply;
    struct colander_buffer reply;
    uint32_t number;  /* of the ask */
    bool is_answered; /* it has its reply */
    bool would_wait;  /* the pipe that was read last had no more */
};

/* --------------------------------------------------------- life of asks --- */

enum colander_code
asks_create(struct run *run, struct asks **out, struct colander_error *err)
{
    struct asks *asks = calloc(1, sizeof(*asks));
    struct server *server = run->server;
    uint64_t bytes[2];

    *out = NULL;
    if (asks == NULL || getrandom(bytes, sizeof(bytes), 0) != sizeof(bytes)) {
        free(asks);
        return COLANDER_FAIL(err, COLANDER_NO_MEMORY,
                             "no memory for a command");
    }
    (void)snprintf(asks->name, sizeof(asks->name), "%016llx%016llx",
                   (unsigned long long)bytes[0], (unsigned long long)bytes[1]);
    asks->run = run;
    asks->is_answered = true;
    pthread_mutex_init(&asks->turn, NULL);
    pthread_mutex_init(&asks->lock, NULL);
    pthread_cond_init(&asks->has_reply, NULL);
    pthread_mutex_lock(&server->lock);
    asks->next = server->asks;
    server->asks = asks;
    pthread_mutex_unlock(&server->lock);
    *out = asks;
    return COLANDER_OK;
}

void
asks_destroy(struct asks *asks)
{
    struct asks **place;
    struct server *server;

    if (asks == NULL)
        return;
    server = asks->run->server;
    pthread_mutex_lock(&server->lock);
    for (place = &server->asks; *place != asks;)
        place = &(*place)->next;
    *place = asks->next;
    pthread_mutex_unlock(&server->lock);
    pthread_cond_destroy(&asks->has_reply);
    pthread_mutex_destroy(&asks->lock);
    pthread_mutex_destroy(&asks->turn);
    colander_buffer_release(&asks->reply);
    free(asks);
}

/* -------------------------------------------------------------- replies --- */

/* Gives the reply to the ask that waits for it. Requires the server's lock. */
static bool
take_reply(struct asks *asks, uint64_t number, struct colander_slice bytes)
{
    bool is_awaited;

    pthread_mutex_lock(&asks->lock);
    is_awaited = !asks->is_answered && number == asks->number;
    if (is_awaited) {
        colander_buffer_clear(&asks->reply);
        if (colander_buffer_append(&asks->reply, bytes.data, bytes.size,
                                   NULL) != COLANDER_OK)
            colander_buffer_clear(&asks->reply); /* it is not a reply */
        asks->is_answered = true;
        pthread_cond_signal(&asks->has_reply);
    }
    pthread_mutex_unlock(&asks->lock);
    return is_awaited;
}

/* Stops what the command runs. Requires the server's lock. */
static bool
interrupt(struct asks *asks)
{
    bool runs;

    pthread_mutex_lock(&asks->lock);
    runs = asks->is_answered;
    if (runs) {
        atomic_store(&asks->run->is_interrupted, true);
        answer_interrupt(asks->run->answer);
    }
    pthread_mutex_unlock(&asks->lock);
    return runs;
}

enum colander_code
asks_input(struct server *server, struct parameters *parameters,
           struct writer **writer, const char **parameter, size_t *offset,
           struct colander_error *err)
{
    static const char *const names[] = {"run", "ask", "interrupt", NULL};
    const char *name = parameters_value(parameters, "run");
    uint64_t number = 0;
    bool is_awaited = false;
    bool interrupts = false;
    enum colander_code code;

    *offset = 0;
    code = parameters_check(parameters, names, 3, parameter, err);
    if (code == COLANDER_OK)
        code = parameters_flag(parameters, "interrupt", &interrupts, err);
    if (code == COLANDER_OK)
        code = parameters_number(parameters, "ask", &number, err);
    if (code != COLANDER_OK)
        return code;
    pthread_mutex_lock(&server->lock);
    for (struct asks *asks = server->asks; asks != NULL && name != NULL;
         asks = asks->next) {
        if (strcmp(asks->name, name) == 0)
            is_awaited = interrupts
                             ? interrupt(asks)
                             : take_reply(asks, number, parameters->body);
    }
    pthread_mutex_unlock(&server->lock);
    if (!is_awaited)
        return COLANDER_FAIL(err, COLANDER_NOT_FOUND,
                             "no command waits for this");
    parameters->count = 0;
    return facts_health(server, parameters, writer, parameter, offset, err);
}

/* ----------------------------------------------------------------- asks --- */

struct ask {
    enum ask_kind kind;
    const char *name;
    uint64_t offset;
    uint64_t size;
    struct colander_slice bytes;
};

/* A reply, which is borrowed until the turn ends. */
struct reply {
    uint8_t flags;
    uint64_t size;
    struct colander_slice bytes;
};

static enum colander_code
send_ask(struct asks *asks, const struct ask *ask, struct colander_error *err)
{
    struct colander_buffer frame = COLANDER_BUFFER_EMPTY;
    uint8_t head[ASK_HEAD_SIZE - ASK_RUN_SIZE];
    const size_t name_size = strlen(ask->name);
    enum colander_code code;

    head[0] = (uint8_t)ask->kind;
    bytes_put_be32(head + 1, asks->number);
    bytes_put_be64(head + 5, ask->offset);
    bytes_put_be64(head + 13, ask->size);
    bytes_put_be32(head + 21, (uint32_t)name_size);
    code = colander_buffer_append(&frame, asks->name, ASK_RUN_SIZE, err);
    if (code == COLANDER_OK)
        code = colander_buffer_append(&frame, head, sizeof(head), err);
    if (code == COLANDER_OK)
        code = colander_buffer_append(&frame, ask->name, name_size, err);
    if (code == COLANDER_OK)
        code = colander_buffer_append(&frame, ask->bytes.data, ask->bytes.size,
                                      err);
    if (code == COLANDER_OK)
        code =
            run_send(asks->run, RUNS_ASK, colander_buffer_slice(&frame), err);
    colander_buffer_release(&frame);
    return code;
}

/* Waits until the reply is there, or no one will send it. */
static enum colander_code
await_reply(struct asks *asks, struct colander_error *err)
{
    bool is_answered;

    pthread_mutex_lock(&asks->lock);
    while (!asks->is_answered &&
           answer_stopped(asks->run->answer) == ANSWER_GOES_ON) {
        const struct timespec next = clock_after(CLOCK_MONOTONIC, LOOK_MS);

        pthread_cond_clockwait(&asks->has_reply, &asks->lock, CLOCK_MONOTONIC,
                               &next);
    }
    is_answered = asks->is_answered;
    asks->is_answered = true;
    pthread_mutex_unlock(&asks->lock);
    return is_answered
               ? COLANDER_OK
               : COLANDER_FAIL(err, COLANDER_CANCELLED, "the client has left");
}

/* Takes the reply apart, or fails with the failure that it is. */
static enum colander_code
read_reply(const struct colander_buffer *reply, struct reply *read,
           atomic_bool *is_interrupted, struct colander_error *err)
{
    const uint8_t *data = reply->data;

    if (reply->size >= 2 && data[0] == 'e' && data[1] == COLANDER_CANCELLED)
        atomic_store(is_interrupted, true);
    if (reply->size >= 2 && data[0] == 'e' && data[1] > COLANDER_OK &&
        data[1] <= COLANDER_NO_MEMORY)
        return COLANDER_FAIL(err, (enum colander_code)data[1], "%.*s",
                             (int)reply->size - 2, (const char *)data + 2);
    if (reply->size < ASK_REPLY_HEAD_SIZE || data[0] != 'd')
        return COLANDER_FAIL(err, COLANDER_INVALID,
                             "the client sends what is not the answer to a "
                             "question");
    read->flags = data[1];
    read->size = bytes_get_be64(data + 2);
    read->bytes = colander_slice_of(data + ASK_REPLY_HEAD_SIZE,
                                    reply->size - ASK_REPLY_HEAD_SIZE);
    return COLANDER_OK;
}

/* Asks, and waits for the reply. begin_turn before, and end_turn once it was
 * used. */
static enum colander_code
ask_client(struct asks *asks, const struct ask *ask, struct reply *reply,
           struct colander_error *err)
{
    enum colander_code code;

    pthread_mutex_lock(&asks->lock);
    asks->number++;
    asks->is_answered = false;
    pthread_mutex_unlock(&asks->lock);
    run_rest(asks->run);
    code = send_ask(asks, ask, err);
    if (code == COLANDER_OK)
        code = await_reply(asks, err);
    if (code == COLANDER_OK)
        code = read_reply(&asks->reply, reply, &asks->run->is_interrupted, err);
    if (code == COLANDER_OK &&
        ((reply->flags & ASK_WOULD_WAIT) == 0 || reply->bytes.size > 0))
        code = run_go_on(asks->run, err);
    return code;
}

/* Returns the asks of a command, whose turn it is; NULL: there are none. */
static struct asks *
begin_turn(const struct server_command *command)
{
    struct asks *asks = run_of(command)->asks;

    if (asks != NULL)
        pthread_mutex_lock(&asks->turn);
    return asks;
}

static void
end_turn(struct asks *asks)
{
    pthread_mutex_unlock(&asks->turn);
}

/* ---------------------------------------------------------------- files --- */

static enum colander_code
check_body(const char *file, struct colander_error *err)
{
    return strcmp(file, "-") == 0
               ? COLANDER_OK
               : COLANDER_FAIL(err, COLANDER_INVALID,
                               "a request has no file but its body");
}

static enum colander_code
look_at_body(const char *file, uint64_t *size, char **path,
             struct colander_error *err)
{
    enum colander_code code = check_body(file, err);

    *path = NULL;
    *size = UINT64_MAX;
    if (code != COLANDER_OK)
        return code;
    *path = strdup(file);
    return *path != NULL
               ? COLANDER_OK
               : COLANDER_FAIL(err, COLANDER_NO_MEMORY, "no memory for a name");
}

enum colander_code
server_file_look(void *command, const char *file, uint64_t *size, char **path,
                 struct colander_error *err)
{
    const struct ask ask = {.kind = ASK_LOOK, .name = file};
    struct asks *asks = begin_turn(command);
    struct reply reply = {.size = 0};
    enum colander_code code;

    if (asks == NULL)
        return look_at_body(file, size, path, err);
    *path = NULL;
    code = ask_client(asks, &ask, &reply, err);
    if (code == COLANDER_OK) {
        *size = reply.size;
        if (reply.bytes.size > 0)
            *path = strndup((const char *)reply.bytes.data, reply.bytes.size);
        if (*path == NULL)
            code =
                COLANDER_FAIL(err, COLANDER_NO_MEMORY, "no memory for a name");
    }
    end_turn(asks);
    return code;
}

enum colander_code
server_file_read(void *command, const char *file, uint64_t offset, void *data,
                 size_t size, size_t *got, bool *is_end,
                 struct colander_error *err)
{
    const struct ask ask = {
        .kind = ASK_READ,
        .name = file,
        .offset = offset,
        .size = size < ASK_BYTES_MAX ? size : ASK_BYTES_MAX,
    };
    const struct run *run = run_of(command);
    struct asks *asks = begin_turn(command);
    struct reply reply = {.size = 0};
    enum colander_code code;

    *got = 0;
    *is_end = false;
    if (asks == NULL) {
        code = check_body(file, err);
        if (code != COLANDER_OK)
            return code;
        if (answer_stopped(run->answer) != ANSWER_GOES_ON)
            return COLANDER_FAIL(err, COLANDER_CANCELLED, "the request ends");
        return body_read(run->writer.body, data, size, got, is_end, err);
    }
    code = ask_client(asks, &ask, &reply, err);
    if (code == COLANDER_OK && reply.bytes.size > ask.size)
        code = COLANDER_FAIL(err, COLANDER_INVALID,
                             "the client sends more than it was asked for");
    if (code == COLANDER_OK) {
        *got = reply.bytes.size;
        if (*got > 0)
            memcpy(data, reply.bytes.data, *got);
        *is_end = (reply.flags & ASK_IS_END) != 0;
        asks->would_wait = (reply.flags & ASK_WOULD_WAIT) != 0;
    }
    end_turn(asks);
    return code;
}

bool
server_file_would_wait(void *command, const char *file)
{
    const struct run *run = run_of(command);
    struct asks *asks = begin_turn(command);
    bool would;

    (void)file;
    if (asks == NULL)
        return body_would_wait(run->writer.body);
    would = asks->would_wait;
    end_turn(asks);
    return would;
}

enum colander_code
server_file_cut(void *command, const char *file, uint64_t *size,
                struct colander_error *err)
{
    const struct ask ask = {.kind = ASK_CUT, .name = file, .size = *size};
    struct asks *asks = begin_turn(command);
    struct reply reply = {.size = 0};
    enum colander_code code;

    if (asks == NULL)
        return COLANDER_FAIL(err, COLANDER_INVALID,
                             "a request has no file of rejects");
    code = ask_client(asks, &ask, &reply, err);
    if (code == COLANDER_OK)
        *size = reply.size;
    end_turn(asks);
    return code;
}

enum colander_code
server_file_append(void *command, const char *file, struct colander_slice bytes,
                   struct colander_error *err)
{
    struct asks *asks = begin_turn(command);
    struct reply reply = {.size = 0};
    enum colander_code code = COLANDER_OK;

    while (bytes.size > 0 && code == COLANDER_OK && asks != NULL) {
        struct ask ask = {.kind = ASK_APPEND, .name = file, .bytes = bytes};

        if (ask.bytes.size > ASK_BYTES_MAX)
            ask.bytes.size = ASK_BYTES_MAX;
        bytes = colander_slice_of(bytes.data + ask.bytes.size,
                                  bytes.size - ask.bytes.size);
        code = ask_client(asks, &ask, &reply, err);
    }
    if (asks != NULL)
        end_turn(asks);
    return code;
}

enum colander_code
server_command_confirm(const struct server_command *command,
                       const char *question, bool *is_yes,
                       struct colander_error *err)
{
    const struct ask ask = {.kind = ASK_CONFIRM,
                            .name = "",
                            .bytes = colander_slice_text(question)};
    struct asks *asks = begin_turn(command);
    struct reply reply = {.size = 0};
    enum colander_code code;

    *is_yes = asks == NULL; /* a request is not asked */
    if (asks == NULL)
        return COLANDER_OK;
    code = ask_client(asks, &ask, &reply, err);
    *is_yes = code == COLANDER_OK && reply.size == 1;
    end_turn(asks);
    return code;
}

enum colander_code
server_command_read_line(const struct server_command *command,
                         const char *prompt, bool is_new,
                         struct colander_buffer *line, bool *is_end,
                         struct colander_error *err)
{
    const struct ask ask = {.kind = ASK_LINE,
                            .name = "",
                            .offset = is_new,
                            .bytes = colander_slice_text(prompt)};
    struct asks *asks = begin_turn(command);
    struct reply reply = {.size = 0};
    enum colander_code code;

    if (asks == NULL)
        return COLANDER_FAIL(err, COLANDER_INVALID, "a request has no prompt");
    (void)fflush(command->out);
    atomic_store(&asks->run->is_interrupted, false); /* it was for another */
    code = ask_client(asks, &ask, &reply, err);
    if (code == COLANDER_OK && reply.size == 1)
        code = COLANDER_FAIL(err, COLANDER_CANCELLED, "interrupted");
    if (code == COLANDER_OK)
        code = colander_buffer_append(line, reply.bytes.data, reply.bytes.size,
                                      err);
    *is_end = (reply.flags & ASK_IS_END) != 0;
    end_turn(asks);
    return code;
}
