/*
 * Commands that a server runs: their output, and clients that leave.
 *
 * SPDX-License-Identifier: MIT
 */
#include "serve/served.h"

#include "core/bytes.h"
#include "serve/remote.h"

#include <stdatomic.h>

#define LINE_COUNT 200000 /* of 21 bytes: no buffer on the way has them */

static atomic_int begun_count; /* commands that were called */
static atomic_int ended_count; /* and have returned */

/* The words are "print", or others below. */
static int
run(void *context, const struct server_command *command)
{
    const struct served *served = context;
    const char *word = command->words[0];
    int status = 7;

    atomic_fetch_add(&begun_count, 1);
    if (strcmp(word, "print") == 0) {
        for (int i = 0; i < LINE_COUNT; i++) {
            if (fprintf(command->out, "the line number %05d\n", i % 100000) < 0)
                status = errno == EPIPE ? 141 : 99;
        }
        fprintf(command->err, "width %d, terminals %d %d, local %d\n",
                (int)command->width, command->out_is_terminal,
                command->err_is_terminal, command->is_local);
    } else if (strcmp(word, "find") == 0) { /* until it is cancelled */
        struct colander_cursor *cursor = NULL;
        enum colander_code code = COLANDER_OK;
        struct colander_result result;
        bool is_row;

        OK(colander_family_find(served->rows, NULL, &cursor, why()));
        server_command_watch(command, cursor);
        while (code == COLANDER_OK) {
            code = colander_cursor_next(cursor, &is_row, &result, why());
            if (code == COLANDER_OK && !is_row)
                code = colander_cursor_seek(cursor, colander_slice_of("", 0),
                                            why());
        }
        server_command_watch(command, NULL);
        colander_cursor_close(cursor);
        status = code == COLANDER_CANCELLED ? 130 : 99;
    } else { /* the same without a cursor */
        while (!server_command_is_over(command))
            usleep(1000);
    }
    atomic_fetch_add(&ended_count, 1);
    return status;
}

static void
start(struct served *served)
{
    atomic_store(&begun_count, 0);
    atomic_store(&ended_count, 0);
    served->options.run = run;
    served->options.run_context = served;
    served_start(served);
}

static void
await(atomic_int *counter, int count)
{
    for (int i = 0; atomic_load(counter) < count; i++) {
        if (i == SERVED_WAIT_S * 100)
            fail_msg("a command does not %s",
                     counter == &begun_count ? "begin" : "end");
        usleep(10000);
    }
}

/* Sends the request for a command. */
static int
call(const struct served *served, const char *form)
{
    int fd = client_local(served);
    char request[512];

    (void)snprintf(request, sizeof(request),
                   "POST /command HTTP/1.1\r\nHost: x\r\nContent-Type: "
                   "application/x-www-form-urlencoded\r\nContent-Length: %zu"
                   "\r\nConnection: close\r\n\r\n%s",
                   strlen(form), form);
    client_say(fd, request);
    return fd;
}

struct taken {
    struct colander_buffer out;
    struct colander_buffer err;
    size_t out_max;    /* fails after this many bytes; 0: never */
    bool is_cancelled; /* once anything has come */
};

static enum colander_code
take(void *context, bool is_err, struct colander_slice bytes,
     struct colander_error *err)
{
    struct taken *taken = context;
    struct colander_buffer *buffer = is_err ? &taken->err : &taken->out;

    OK(colander_buffer_append(buffer, bytes.data, bytes.size, why()));
    if (taken->out_max > 0 && taken->out.size > taken->out_max)
        return COLANDER_FAIL(err, COLANDER_IO, "it is enough");
    return COLANDER_OK;
}

static bool
is_cancelled(void *context)
{
    return ((const struct taken *)context)->is_cancelled;
}

static enum colander_code
run_remotely(const struct served *served, const char *store, const char *word,
             struct taken *taken, int *status)
{
    const char *const words[] = {word};
    const struct remote_command command = {
        .store = store == NULL ? served->directory : store,
        .token = store == NULL ? NULL : SERVED_TOKEN,
        .words = words,
        .word_count = 1,
        .width = 72,
        .err_is_terminal = true,
        .take = take,
        .is_cancelled = is_cancelled,
        .context = taken,
    };

    return remote_run(&command, status, why());
}

static void
release(struct taken *taken)
{
    colander_buffer_release(&taken->out);
    colander_buffer_release(&taken->err);
}

static void
assert_printed(struct taken *taken, const char *err)
{
    char line[32];

    assert_int_equal(taken->out.size, 22 * LINE_COUNT);
    for (int i = 0; i < LINE_COUNT; i++) {
        (void)snprintf(line, sizeof(line), "the line number %05d\n",
                       i % 100000);
        assert_memory_equal(taken->out.data + 22 * i, line, 22);
    }
    OK(colander_buffer_append(&taken->err, "", 1, why()));
    assert_string_equal((const char *)taken->err.data, err);
}

SERVED_TEST(a_command_prints_to_its_client)
{
    struct taken local = {.out_max = 0};
    struct taken network = {.out_max = 0};
    char address[100];
    int status = 0;

    start(served);
    OK(run_remotely(served, NULL, "print", &local, &status));
    assert_int_equal(status, 7);
    assert_printed(&local, "width 72, terminals 0 1, local 1\n");
    (void)snprintf(address, sizeof(address), "http://%s",
                   server_address(served->server));
    OK(run_remotely(served, address, "print", &network, &status));
    assert_printed(&network, "width 72, terminals 0 1, local 0\n");
    release(&local);
    release(&network);
}

SERVED_TEST(a_client_that_leaves_ends_its_command)
{
    static const char *const words[] = {"word=find", "word=wait",
                                        "word=print&out_terminal=1"};
    char start_of_it[64];

    start(served);
    for (size_t i = 0; i < COUNT(words); i++) {
        int fd = call(served, words[i]);

        if (i == 2)
            client_read(fd, start_of_it, sizeof(start_of_it));
        await(&begun_count, (int)i + 1);
        ZERO(close(fd));
        await(&ended_count, (int)i + 1);
    }
    client_awaits(served, "/metrics", "\ncolander_answers 1\n");
}

SERVED_TEST(a_client_that_takes_no_more_ends_its_command)
{
    struct taken taken = {.out_max = 1000};
    int status;

    start(served);
    FAILS(run_remotely(served, NULL, "print", &taken, &status), COLANDER_IO);
    assert_string_equal(error_text(), "it is enough");
    await(&ended_count, 1);
    release(&taken);
}

SERVED_TEST(a_cancelled_client_ends_its_command)
{
    struct taken taken = {.is_cancelled = true};
    int status;

    start(served);
    FAILS(run_remotely(served, NULL, "find", &taken, &status),
          COLANDER_CANCELLED);
    served_stop(served); /* with the command, if that has begun */
    release(&taken);
}

SERVED_TEST(slow_clients_of_commands_hold_no_others)
{
    int fds[20];
    char first[9];

    served->options.command_max = COUNT(fds);
    served->options.thread_max = 1;
    start(served);
    for (size_t i = 0; i < COUNT(fds); i++) {
        fds[i] = call(served, "word=print");
        client_read(fds[i], first, sizeof(first));
    }
    assert_int_equal(client_status(served, "/get/rows?key=5"), 200);
    for (size_t i = 0; i < COUNT(fds); i++) {
        char *reply;

        if (i == 0) { /* no thread is left for one more */
            reply = client_rest(call(served, "word=print"));
            assert_int_equal(reply_status(reply), 503);
            free(reply);
        }
        reply = client_rest(fds[i]);
        free(reply);
    }
    await(&ended_count, COUNT(fds));
}

SERVED_TEST(the_end_of_a_server_ends_commands)
{
    struct taken taken = {.out_max = 0};
    int fd;
    char *reply;

    served->options.stop_ms = 100;
    start(served);
    fd = call(served, "word=wait");
    await(&begun_count, 1);
    served_stop(served);
    assert_int_equal(atomic_load(&ended_count), 1);
    reply = client_rest(fd);
    assert_int_equal(reply_status(reply), 503);
    free(reply);
    release(&taken);
}

SERVED_TEST(no_server_is_not_a_failure_of_one)
{
    struct taken taken = {.out_max = 0};
    char address[100];
    int status;

    start(served);
    (void)snprintf(address, sizeof(address), "http://%s",
                   server_address(served->server));
    served_stop(served);
    FAILS(run_remotely(served, NULL, "print", &taken, &status),
          COLANDER_NOT_FOUND);
    FAILS(run_remotely(served, address, "print", &taken, &status),
          COLANDER_BUSY);
    FAILS(run_remotely(served, "http://", "print", &taken, &status),
          COLANDER_BUSY);
    release(&taken);
}

SERVED_TEST(commands_may_be_left_out)
{
    char *reply;

    served_start(served);
    reply = client_rest(call(served, "word=print"));
    assert_int_equal(reply_status(reply), 404);
    free(reply);
}

/* ------------------------------------------------------ strange servers --- */

/* What a server that is none of ours may say. */
struct strange {
    const char *text;
    size_t size;
    enum colander_code code;
};

#define HEAD "HTTP/1.1 200 OK\r\nConnection: close\r\n"
#define SIZED(size) HEAD "Content-Length: " #size "\r\n\r\n"
#define RUN_NAME "0123456789abcdef0123456789abcdef"
#define ZEROES "\0\0\0\0\0\0\0\0"
#define STRANGE(text, code)                                                    \
    {                                                                          \
        text, sizeof(text) - 1, code                                           \
    }

static const struct strange strange_answers[] = {
    STRANGE(SIZED(9) "x\0\0\0\4\0\0\0\0", COLANDER_OK),
    STRANGE(SIZED(15) "o\0\0\0\1ax\0\0\0\4\0\0\0\0", COLANDER_OK),
    STRANGE("", COLANDER_BUSY),
    STRANGE("garbage\r\n\r\n", COLANDER_BUSY),
    STRANGE(SIZED(0), COLANDER_BUSY),
    STRANGE(SIZED(4) "x\0\0\0", COLANDER_BUSY),
    STRANGE(SIZED(6) "o\0\0\0\1a", COLANDER_BUSY),
    STRANGE(SIZED(5) "x\0\0\0\0", COLANDER_BUSY),
    STRANGE(SIZED(6) "x\0\0\0\1a", COLANDER_BUSY),
    STRANGE(SIZED(6) "q\0\0\0\1a", COLANDER_BUSY),
    STRANGE(SIZED(6) "f\0\0\0\1a", COLANDER_BUSY),
    STRANGE(SIZED(6) "o\xff\xff\xff\xff"
                     "a",
            COLANDER_BUSY),
    STRANGE(SIZED(6) "f\xff\xff\xff\xff"
                     "a",
            COLANDER_BUSY),
    STRANGE(SIZED(10) "x\0\0\0\4\0\0\0\0x", COLANDER_BUSY),
    STRANGE(SIZED(5) "a\0\0\0\0", COLANDER_BUSY), /* asks */
    STRANGE(SIZED(6) "a\0\0\0\1x", COLANDER_BUSY),
    STRANGE(SIZED(62) "a\0\0\0\x39" RUN_NAME "z\0\0\0\1" ZEROES ZEROES
                      "\0\0\0\0",
            COLANDER_BUSY),
    STRANGE(SIZED(62) "a\0\0\0\x39" RUN_NAME "r\0\0\0\1" ZEROES ZEROES
                      "\xff\xff\xff\xff",
            COLANDER_BUSY),
    STRANGE(SIZED(62) "a\0\0\0\x39" RUN_NAME "r\0\0\0\1" ZEROES ZEROES
                      "\0\0\0\1",
            COLANDER_BUSY),
    STRANGE(SIZED(6) "a\xff\xff\xff\xff"
                     "a",
            COLANDER_BUSY),
    STRANGE("HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:1/\r\n"
            "Content-Length: 0\r\n\r\n",
            COLANDER_INVALID),
    STRANGE("HTTP/1.1 500 Oops\r\nContent-Length: 5\r\n\r\nhello",
            COLANDER_INVALID),
    STRANGE("HTTP/1.1 404 No\r\nContent-Length: 12\r\n\r\n{\"error\":[]}",
            COLANDER_INVALID),
    STRANGE("HTTP/1.1 404 No\r\nContent-Length: 22\r\n\r\n"
            "{\"error\":{\"message\":1}}",
            COLANDER_INVALID),
};

struct answering {
    int listener;
    const struct strange *strange;
};

/* Takes a request, and sends the given reply. */
static void *
answer_strangely(void *context)
{
    const struct answering *answering = context;
    char request[4096] = "";
    size_t size = 0;
    int fd = accept(answering->listener, NULL, NULL);

    while (strstr(request, "word=print") == NULL) {
        const size_t got =
            client_read(fd, request + size, sizeof(request) - 1 - size);

        if (got == 0)
            break;
        size += got;
    }
    client_send(fd, answering->strange->text, answering->strange->size);
    (void)close(fd);
    return NULL;
}

SERVED_TEST(a_strange_answer_is_not_taken_for_output)
{
    char address[ADDRESS_TEXT_SIZE];
    char url[ADDRESS_TEXT_SIZE + 8];
    struct answering answering;

    OK(address_listen("127.0.0.1:0", &answering.listener, address, why()));
    ZERO(fcntl(answering.listener, F_SETFL, 0)); /* to wait in accept */
    (void)snprintf(url, sizeof(url), "http://%s", address);
    for (size_t i = 0; i < COUNT(strange_answers); i++) {
        struct taken taken = {.out_max = 0};
        pthread_t thread;
        enum colander_code code;
        int status = 99;

        answering.strange = &strange_answers[i];
        ZERO(pthread_create(&thread, NULL, answer_strangely, &answering));
        code = run_remotely(served, url, "print", &taken, &status);
        ZERO(pthread_join(thread, NULL));
        if (code != strange_answers[i].code)
            fail_msg("answer %zu is %s: %s", i, colander_code_name(code),
                     error_text());
        release(&taken);
    }
    ZERO(close(answering.listener));
}

int
main(void)
{
    return tests_run(NULL, NULL);
}
