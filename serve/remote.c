/* See remote.h. SPDX-License-Identifier: MIT */
#include "serve/remote.h"
#include "columns/columns.h"
#include "core/bytes.h"
#include "core/clock.h"
#include "serve/asks.h"
#include "serve/runs.h"
#include "serve/sockets.h"
#include "serve/token.h"

#include <curl/curl.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define KEPT_MAX ((size_t)64 << 10) /* bytes of an error, or of a last frame */
#define CONNECT_SECONDS 10
#define SILENT_SECONDS 15 /* after them a sign of life is asked for */
#define ASK_MAX (ASK_BYTES_MAX + (16 << 10)) /* bytes of an ask */

/* A command that runs elsewhere, and the frames of its answer. */
struct call {
    const struct remote_command *command;
    CURL *curl;
    CURL *replies; /* sends replies; NULL: there was none yet */
    struct curl_slist *headers;
    char refusal[CURL_ERROR_SIZE];
    int directory_fd;           /* of the store; -1: it has an address */
    char run[ASK_RUN_SIZE + 1]; /* that asked last; "": none */
    uint64_t heard_us;          /* when the server last gave a sign of life */
    bool is_mute;               /* it gave none when it was asked for one */
    bool is_dead;               /* nor has more of its answer come since */
    struct colander_buffer form;
    struct colander_buffer kept; /* the head of a frame, a last one, an error */
    uint8_t kind;                /* of the frame */
    size_t left;                 /* its bytes that have not come */
    bool is_whole;               /* the exit status has come */
    int status;
    enum colander_code code; /* a failure of what the callbacks did */
    struct colander_error err;
};

bool
remote_is_address(const char *store)
{
    return strncmp(store, "http://", 7) == 0 ||
           strncmp(store, "https://", 8) == 0;
}

/* ------------------------------------------------------------- requests --- */

static int look_for_cancel(void *context, curl_off_t download, curl_off_t down,
                           curl_off_t upload, curl_off_t up);

/* The options whose last argument is a long. */
static void
set(CURL *curl, CURLoption option, long value)
{
    (void)curl_easy_setopt(curl, option, value);
}

/* Sets where a request goes: `path` has a slash first. */
static bool
set_target(const struct call *call, CURL *curl, const char *target)
{
    const struct remote_command *command = call->command;
    char path[STORE_SOCKET_PATH_SIZE];
    char url[2048];
    size_t size = strlen(command->store);

    if (!remote_is_address(command->store)) {
        store_socket_path(call->directory_fd, path);
        (void)snprintf(url, sizeof(url), "http://store%s", target);
        return curl_easy_setopt(curl, CURLOPT_UNIX_SOCKET_PATH, path) ==
                   CURLE_OK &&
               curl_easy_setopt(curl, CURLOPT_URL, url) == CURLE_OK;
    }
    while (size > 0 && command->store[size - 1] == '/')
        size--;
    if (size + strlen(target) + 1 > sizeof(url))
        return false;
    (void)snprintf(url, sizeof(url), "%.*s%s", (int)size, command->store,
                   target);
    return curl_easy_setopt(curl, CURLOPT_URL, url) == CURLE_OK;
}

static bool
set_headers(struct call *call)
{
    char line[TOKEN_SIZE_MAX + 32];
    struct curl_slist *list;

    (void)snprintf(line, sizeof(line), "Authorization: Bearer %s",
                   call->command->token == NULL ? "" : call->command->token);
    call->headers = curl_slist_append(NULL, "Expect:");
    if (call->headers == NULL || call->command->token == NULL)
        return call->headers != NULL;
    list = curl_slist_append(call->headers, line);
    return list != NULL;
}

/* A token goes to the address that the user named, and nowhere else. */
static void
set_common(struct call *call, CURL *curl)
{
    (void)curl_easy_setopt(curl, CURLOPT_HTTPHEADER, call->headers);
    (void)curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, "http,https");
    (void)curl_easy_setopt(curl, CURLOPT_NOPROXY, "*");
    if (call->command->ca_file != NULL)
        (void)curl_easy_setopt(curl, CURLOPT_CAINFO, call->command->ca_file);
    set(curl, CURLOPT_FOLLOWLOCATION, 0);
    set(curl, CURLOPT_NOSIGNAL, 1);
    set(curl, CURLOPT_TCP_KEEPALIVE, 1);
    set(curl, CURLOPT_CONNECTTIMEOUT, CONNECT_SECONDS);
    set(curl, CURLOPT_NOPROGRESS, 0);
    (void)curl_easy_setopt(curl, CURLOPT_XFERINFOFUNCTION, look_for_cancel);
    (void)curl_easy_setopt(curl, CURLOPT_XFERINFODATA, call);
}

/* ----------------------------------------------------------------- asks --- */

/* The reply to a reply says nothing. */
static size_t
drop(char *data, size_t size, size_t count, void *context)
{
    (void)data;
    (void)context;
    return size * count;
}

/* Interrupts what runs, if it still does, from within a callback. */
static void
send_interrupt(struct call *call)
{
    CURL *curl = curl_easy_init();
    char path[ASK_RUN_SIZE + 64];

    (void)snprintf(path, sizeof(path), "/input?run=%s&interrupt=1", call->run);
    if (curl != NULL && set_target(call, curl, path)) {
        set_common(call, curl);
        set(curl, CURLOPT_NOPROGRESS, 1);
        set(curl, CURLOPT_TIMEOUT, CONNECT_SECONDS);
        (void)curl_easy_setopt(curl, CURLOPT_POSTFIELDS, "");
        (void)curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, drop);
        (void)curl_easy_perform(curl);
    }
    curl_easy_cleanup(curl);
}

static int
look_only_for_cancel(void *context, curl_off_t download, curl_off_t down,
                     curl_off_t upload, curl_off_t up)
{
    const struct call *call = context;

    (void)download;
    (void)down;
    (void)upload;
    (void)up;
    return call->command->is_cancelled(call->command->context);
}

/* Whether no packet reaches the machine. One that refuses a connection may be
 * about to end, and still finish its answers. */
static bool
is_unreachable(CURL *curl)
{
    long error = 0;

    (void)curl_easy_getinfo(curl, CURLINFO_OS_ERRNO, &error);
    return error == EHOSTUNREACH || error == EHOSTDOWN ||
           error == ENETUNREACH || error == ETIMEDOUT;
}

/* Whether the server answers at all, whatever it says. A command can be silent
 * for minutes, and so is a server that was stopped. */
static bool
is_alive(struct call *call)
{
    CURL *curl = curl_easy_init();
    bool is_alive = true;

    if (curl != NULL && set_target(call, curl, "/health")) {
        CURLcode result;

        set_common(call, curl);
        set(curl, CURLOPT_TIMEOUT, CONNECT_SECONDS);
        set(curl, CURLOPT_NOBODY, 1);
        (void)curl_easy_setopt(curl, CURLOPT_XFERINFOFUNCTION,
                               look_only_for_cancel);
        result = curl_easy_perform(curl);
        is_alive = result != CURLE_OPERATION_TIMEDOUT &&
                   (result != CURLE_COULDNT_CONNECT || !is_unreachable(curl));
    }
    curl_easy_cleanup(curl);
    return is_alive;
}

/* Notes whether a server that is silent is dead. After it was asked, curl looks
 * once more whether more of the answer has come. */
static void
look_for_life(struct call *call)
{
    if (call->is_mute) {
        call->is_dead = true;
    } else if (clock_us() - call->heard_us >
               SILENT_SECONDS * UINT64_C(1000000)) {
        call->is_mute = !is_alive(call);
        call->heard_us = clock_us();
    }
}

static int
look_for_cancel(void *context, curl_off_t download, curl_off_t down,
                curl_off_t upload, curl_off_t up)
{
    struct call *call = context;
    const struct remote_command *command = call->command;

    (void)download;
    (void)down;
    (void)upload;
    (void)up;
    look_for_life(call);
    if (command->interrupts != NULL && command->interrupts(command->context)) {
        if (call->run[0] == '\0')
            return 1;
        send_interrupt(call);
    }
    return call->is_dead || command->is_cancelled(command->context);
}

/* Sends a reply, from within the callback that took the ask. */
static enum colander_code
send_reply(struct call *call, const uint8_t *ask,
           const struct colander_buffer *body)
{
    char path[ASK_RUN_SIZE + 64];
    CURLcode result;
    long status = 0;

    if (call->replies == NULL) {
        call->replies = curl_easy_init();
        if (call->replies == NULL)
            return COLANDER_FAIL(&call->err, COLANDER_NO_MEMORY,
                                 "no memory for a request");
        set_common(call, call->replies);
        (void)curl_easy_setopt(call->replies, CURLOPT_WRITEFUNCTION, drop);
    }
    (void)snprintf(path, sizeof(path), "/input?run=%.*s&ask=%u",
                   (int)ASK_RUN_SIZE, (const char *)ask,
                   bytes_get_be32(ask + ASK_RUN_SIZE + 1));
    if (!set_target(call, call->replies, path))
        return COLANDER_FAIL(&call->err, COLANDER_NO_MEMORY,
                             "no memory for a request");
    (void)curl_easy_setopt(call->replies, CURLOPT_POSTFIELDS, body->data);
    (void)curl_easy_setopt(call->replies, CURLOPT_POSTFIELDSIZE,
                           (long)body->size);
    result = curl_easy_perform(call->replies);
    (void)curl_easy_getinfo(call->replies, CURLINFO_RESPONSE_CODE, &status);
    if (result == CURLE_OK && (status == 200 || status == 404))
        return COLANDER_OK; /* 404: no one waits for it any more */
    if (result == CURLE_ABORTED_BY_CALLBACK)
        return COLANDER_FAIL(&call->err, COLANDER_CANCELLED, "cancelled");
    return COLANDER_FAIL(&call->err, COLANDER_BUSY,
                         "the server of '%s' has ended before its answer",
                         call->command->store);
}

/* Fills the body of a reply: what was asked for, or why it is not there. */
static enum colander_code
make_reply(const struct call *call, const struct remote_ask *ask,
           struct colander_buffer *body, struct colander_error *err)
{
    const struct remote_command *command = call->command;
    uint8_t head[ASK_REPLY_HEAD_SIZE] = {'d'};
    struct remote_reply reply = {.bytes = body};
    struct colander_error failure;
    enum colander_code code;

    code = colander_buffer_append(body, head, sizeof(head), err);
    if (code != COLANDER_OK)
        return code;
    if (command->reply == NULL)
        code = COLANDER_FAIL(&failure, COLANDER_INVALID,
                             "the client has no files");
    else
        code = command->reply(command->context, ask, &reply, &failure);
    if (code == COLANDER_OK) {
        body->data[1] = (uint8_t)((reply.is_end ? ASK_IS_END : 0) |
                                  (reply.would_wait ? ASK_WOULD_WAIT : 0));
        bytes_put_be64(body->data + 2, reply.size);
        return COLANDER_OK;
    }
    colander_buffer_clear(body);
    head[0] = 'e';
    head[1] = (uint8_t)code;
    code = colander_buffer_append(body, head, 2, err);
    return code == COLANDER_OK
               ? colander_buffer_append(body, failure.message,
                                        strlen(failure.message), err)
               : code;
}

/* An ask has come whole. */
static enum colander_code
take_ask(struct call *call)
{
    static const struct {
        uint8_t kind;
        enum remote_ask_kind means;
    } kinds[] = {{ASK_LOOK, REMOTE_LOOK},       {ASK_READ, REMOTE_READ},
                 {ASK_CUT, REMOTE_CUT},         {ASK_APPEND, REMOTE_APPEND},
                 {ASK_CONFIRM, REMOTE_CONFIRM}, {ASK_LINE, REMOTE_LINE}};
    const uint8_t *data = call->kept.data + ASK_RUN_SIZE;
    struct colander_buffer body = COLANDER_BUFFER_EMPTY;
    struct remote_ask ask = {.kind = REMOTE_LOOK};
    enum colander_code code = COLANDER_INVALID;
    size_t name_size = 0;
    char *name = NULL;

    if (call->kept.size >= ASK_HEAD_SIZE)
        name_size = bytes_get_be32(data + 21);
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        if (call->kept.size >= ASK_HEAD_SIZE &&
            name_size <= call->kept.size - ASK_HEAD_SIZE &&
            data[0] == kinds[i].kind) {
            ask.kind = kinds[i].means;
            code = COLANDER_OK;
        }
    }
    if (code != COLANDER_OK)
        return COLANDER_FAIL(&call->err, COLANDER_BUSY,
                             "the server asks for what this program does not "
                             "know: it may be newer");
    ask.offset = bytes_get_be64(data + 5);
    ask.size = bytes_get_be64(data + 13);
    ask.bytes = colander_slice_of(call->kept.data + ASK_HEAD_SIZE + name_size,
                                  call->kept.size - ASK_HEAD_SIZE - name_size);
    name = strndup((const char *)call->kept.data + ASK_HEAD_SIZE, name_size);
    ask.name = name;
    if (name == NULL)
        code = COLANDER_FAIL(&call->err, COLANDER_NO_MEMORY,
                             "no memory for a name");
    (void)snprintf(call->run, sizeof(call->run), "%.*s", (int)ASK_RUN_SIZE,
                   (const char *)call->kept.data);
    if (code == COLANDER_OK)
        code = make_reply(call, &ask, &body, &call->err);
    if (code == COLANDER_OK)
        code = send_reply(call, call->kept.data, &body);
    free(name);
    colander_buffer_release(&body);
    colander_buffer_clear(&call->kept);
    return code;
}

/* --------------------------------------------------------------- answer --- */

/* A frame has come whole. */
static enum colander_code
take_last(struct call *call)
{
    const struct colander_buffer *kept = &call->kept;

    if (call->kind == RUNS_EXIT && kept->size == 4) {
        call->status = (int)bytes_get_be32(kept->data);
        call->is_whole = true;
        return COLANDER_OK;
    }
    if (call->kind == RUNS_ASK)
        return take_ask(call);
    if (call->kind == RUNS_FAILURE)
        return COLANDER_FAIL(&call->err, COLANDER_BUSY, "%.*s", (int)kept->size,
                             (const char *)kept->data);
    return COLANDER_FAIL(&call->err, COLANDER_BUSY,
                         "the server sends what is not the output of a "
                         "command");
}

/* Takes bytes of the current frame. */
static enum colander_code
take_bytes(struct call *call, struct colander_slice bytes)
{
    const struct remote_command *command = call->command;
    enum colander_code code;

    call->left -= bytes.size;
    if (call->kind == RUNS_OUT || call->kind == RUNS_ERR)
        return command->take(command->context, call->kind == RUNS_ERR, bytes,
                             &call->err);
    if (call->kept.size + bytes.size >
        (call->kind == RUNS_ASK ? ASK_MAX : KEPT_MAX))
        return COLANDER_FAIL(&call->err, COLANDER_BUSY,
                             "the server sends a frame that is too large");
    code =
        colander_buffer_append(&call->kept, bytes.data, bytes.size, &call->err);
    return code == COLANDER_OK && call->left == 0 ? take_last(call) : code;
}

/* Takes the head of a frame, or a part of it. */
static enum colander_code
take_head(struct call *call, struct colander_slice bytes)
{
    enum colander_code code =
        colander_buffer_append(&call->kept, bytes.data, bytes.size, &call->err);

    if (code == COLANDER_OK && call->kept.size == RUNS_FRAME_SIZE) {
        call->kind = call->kept.data[0];
        call->left = bytes_get_be32(call->kept.data + 1);
        colander_buffer_clear(&call->kept);
    }
    return code;
}

static enum colander_code
take_frames(struct call *call, struct colander_slice bytes)
{
    enum colander_code code = COLANDER_OK;

    while (code == COLANDER_OK && bytes.size > 0) {
        struct colander_slice part = bytes;
        const bool is_head = call->left == 0;
        const size_t wanted =
            is_head ? RUNS_FRAME_SIZE - call->kept.size : call->left;

        if (part.size > wanted)
            part.size = wanted;
        bytes =
            colander_slice_of(bytes.data + part.size, bytes.size - part.size);
        if (call->is_whole)
            return COLANDER_FAIL(&call->err, COLANDER_BUSY,
                                 "the server sends more than the output");
        code = is_head ? take_head(call, part) : take_bytes(call, part);
    }
    return code;
}

static long
http_status(const struct call *call)
{
    long status = 0;

    (void)curl_easy_getinfo(call->curl, CURLINFO_RESPONSE_CODE, &status);
    return status;
}

/* Called by curl. Anything but a command's output is kept, as an error. */
static size_t
take(char *data, size_t size, size_t count, void *context)
{
    struct call *call = context;
    const struct colander_slice bytes = colander_slice_of(data, size * count);

    call->is_mute = false;
    if (http_status(call) == 200)
        call->code = take_frames(call, bytes);
    else if (call->kept.size + bytes.size <= KEPT_MAX)
        call->code = colander_buffer_append(&call->kept, bytes.data, bytes.size,
                                            &call->err);
    call->heard_us = clock_us(); /* printing it can take long */
    return call->code == COLANDER_OK ? bytes.size : 0;
}

/* Fails with the message of an error that the server has sent as JSON. */
static enum colander_code
fail_refused(const struct call *call, struct colander_error *err)
{
    const long status = http_status(call);
    struct colander_json_reader *reader = colander_json_reader_create();
    struct colander_value value = colander_null();
    struct colander_slice key, row;
    bool found = false;

    if (reader != NULL &&
        colander_json_reader_row(reader, colander_buffer_slice(&call->kept),
                                 &key, &found, &row, NULL) == COLANDER_OK)
        (void)!colander_row_get(row, "error.message", &value, &found, NULL);
    if (found && value.type == COLANDER_STRING)
        (void)COLANDER_FAIL(
            err, COLANDER_INVALID, "the server refuses it: %.*s%s",
            (int)value.bytes.size, (const char *)value.bytes.data,
            status == 401 ? " (COLANDER_TOKEN_FILE names the file that has it)"
                          : "");
    else
        (void)COLANDER_FAIL(err, COLANDER_INVALID,
                            "the server refuses it, with status %ld", status);
    colander_json_reader_destroy(reader);
    return err->code;
}

/* -------------------------------------------------------------- request --- */

/* Adds name=value, encoded. */
static enum colander_code
add(struct call *call, const char *name, const char *value,
    struct colander_error *err)
{
    struct colander_buffer *form = &call->form;
    char *encoded = curl_easy_escape(call->curl, value, 0);
    enum colander_code code = COLANDER_OK;

    if (encoded == NULL)
        return COLANDER_FAIL(err, COLANDER_NO_MEMORY,
                             "no memory for a request");
    if (form->size > 0)
        code = colander_buffer_append(form, "&", 1, err);
    if (code == COLANDER_OK)
        code = colander_buffer_append(form, name, strlen(name), err);
    if (code == COLANDER_OK)
        code = colander_buffer_append(form, "=", 1, err);
    if (code == COLANDER_OK)
        code = colander_buffer_append(form, encoded, strlen(encoded), err);
    curl_free(encoded);
    return code;
}

static enum colander_code
add_all(struct call *call, struct colander_error *err)
{
    const struct remote_command *command = call->command;
    enum colander_code code;
    char width[24];

    (void)snprintf(width, sizeof(width), "%llu",
                   (unsigned long long)command->width);
    code = add(call, "width", width, err);
    if (code == COLANDER_OK)
        code =
            add(call, "in_terminal", command->in_is_terminal ? "1" : "0", err);
    if (code == COLANDER_OK)
        code = add(call, "out_terminal", command->out_is_terminal ? "1" : "0",
                   err);
    if (code == COLANDER_OK)
        code = add(call, "err_terminal", command->err_is_terminal ? "1" : "0",
                   err);
    for (size_t i = 0; i < command->word_count && code == COLANDER_OK; i++)
        code = add(call, "word", command->words[i], err);
    return code;
}

static enum colander_code
set_up(struct call *call, struct colander_error *err)
{
    CURL *curl = call->curl;
    enum colander_code code = add_all(call, err);

    if (code != COLANDER_OK)
        return code;
    if (!set_target(call, curl, "/command") || !set_headers(call))
        return COLANDER_FAIL(err, COLANDER_NO_MEMORY,
                             "no memory for a request");
    set_common(call, curl);
    (void)curl_easy_setopt(curl, CURLOPT_POSTFIELDS, call->form.data);
    set(curl, CURLOPT_POSTFIELDSIZE, (long)call->form.size);
    (void)curl_easy_setopt(curl, CURLOPT_ERRORBUFFER, call->refusal);
    (void)curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, take);
    (void)curl_easy_setopt(curl, CURLOPT_WRITEDATA, call);
    return COLANDER_OK;
}

/* ------------------------------------------------------------------ run --- */

static enum colander_code
perform(struct call *call, struct colander_error *err)
{
    const char *store = call->command->store;
    CURLcode result;

    call->heard_us = clock_us();
    result = curl_easy_perform(call->curl);
    if (call->is_dead)
        return COLANDER_FAIL(err, COLANDER_BUSY,
                             "the server of '%s' gives no sign of life: is it "
                             "stopped?",
                             store);
    if (call->code != COLANDER_OK) {
        *err = call->err;
        return call->code;
    }
    if (result == CURLE_ABORTED_BY_CALLBACK)
        return COLANDER_FAIL(err, COLANDER_CANCELLED, "cancelled");
    if (result == CURLE_OK && call->is_whole)
        return COLANDER_OK;
    if (result == CURLE_OK && http_status(call) != 200)
        return fail_refused(call, err);
    if (result == CURLE_COULDNT_CONNECT && call->directory_fd >= 0)
        return COLANDER_FAIL(err, COLANDER_NOT_FOUND, "no one serves '%s'",
                             store);
    if (http_status(call) != 0 || call->directory_fd >= 0)
        return COLANDER_FAIL(err, COLANDER_BUSY,
                             "the server of '%s' has ended before its answer",
                             store);
    return COLANDER_FAIL(err, COLANDER_BUSY, "cannot reach '%s': %s", store,
                         call->refusal[0] == '\0' ? curl_easy_strerror(result)
                                                  : call->refusal);
}

enum colander_code
remote_run(const struct remote_command *command, int *status,
           struct colander_error *err)
{
    struct call call = {.command = command, .directory_fd = -1};
    enum colander_code code = COLANDER_OK;

    if (!remote_is_address(command->store)) {
        call.directory_fd =
            open(command->store, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        if (call.directory_fd < 0)
            return COLANDER_FAIL(err, COLANDER_NOT_FOUND,
                                 "cannot open '%s': %s", command->store,
                                 strerror(errno));
    }
    call.curl = curl_easy_init();
    if (call.curl == NULL)
        code =
            COLANDER_FAIL(err, COLANDER_NO_MEMORY, "no memory for a request");
    if (code == COLANDER_OK)
        code = set_up(&call, err);
    if (code == COLANDER_OK)
        code = perform(&call, err);
    *status = call.status;
    curl_easy_cleanup(call.curl);
    curl_easy_cleanup(call.replies);
    curl_slist_free_all(call.headers);
    if (call.directory_fd >= 0)
        (void)close(call.directory_fd);
    colander_buffer_release(&call.form);
    colander_buffer_release(&call.kept);
    return code;
}
