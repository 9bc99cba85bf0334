/*
 * Requests that bring records: bodies that are cut, too fast, too large, and
 * what their clients learn.
 *
 * SPDX-License-Identifier: MIT
 */
#include "serve/served.h"

#include "loading/load.h"

#include <stdatomic.h>
#include <zlib.h>

#define PIECE ((size_t)64 << 10)
#define HELD ((size_t)1 << 20)      /* by the server */
#define HELD_MAX ((size_t)16 << 20) /* by the server and the sockets */
#define BODY_SIZE ((size_t)24 << 20)

static atomic_bool is_held;    /* a load reads nothing */
static atomic_int begun_count; /* loads that were called */
static atomic_int ended_count; /* and have returned */

/* Loads the body, as the program does. The family "refused" is refused. */
static int
run(void *context, const struct server_command *command)
{
    const struct served *served = context;
    const char *const files[] = {"-"};
    const struct colander_load_files body = {
        .context = (void *)command,
        .look = server_file_look,
        .read = server_file_read,
        .would_wait = server_file_would_wait,
    };
    struct server_result *result = command->result;
    struct colander_family *family = NULL;
    struct colander_load *load = NULL;
    struct colander_load_options options;
    const char *name = command->words[command->word_count - 2];
    enum colander_code code;

    assert_string_equal(command->words[0], "load");
    atomic_fetch_add(&begun_count, 1);
    while (atomic_load(&is_held) && !server_command_is_over(command))
        usleep(1000);
    colander_load_options_init(&options);
    options.elsewhere = &body;
    OK(colander_family_open(served->store, name, &family, why()));
    OK(colander_load_create(served->store, family, &options, &load, why()));
    if (strcmp(name, "refused") == 0)
        code = COLANDER_FAIL(&result->failure, COLANDER_INVALID, "refused");
    else
        code = colander_load_run(load, files, 1, &result->failure);
    colander_row_builder_add(
        result->facts, "rows",
        colander_unsigned(colander_load_stats(load)->row_count));
    colander_load_destroy(load);
    colander_family_close(family);
    atomic_fetch_add(&ended_count, 1);
    return code == COLANDER_OK ? 0 : 1;
}

static void
start(struct served *served)
{
    atomic_store(&is_held, false);
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
            fail_msg("a load does not %s",
                     counter == &begun_count ? "begin" : "end");
        usleep(10000);
    }
}

static void
post_head(int fd, const char *target, const char *headers)
{
    char request[512];

    (void)snprintf(request, sizeof(request),
                   "POST %s HTTP/1.1\r\nHost: x\r\nConnection: close\r\n%s\r\n",
                   target, headers);
    client_say(fd, request);
}

static void
send_chunk(int fd, const char *bytes, size_t size)
{
    char head[32];

    (void)snprintf(head, sizeof(head), "%zx\r\n", size);
    client_say(fd, head);
    client_send(fd, bytes, size);
    client_say(fd, "\r\n");
}

/* Sends the whole body, and returns the reply. */
static char *
post(const struct served *served, const char *target, const char *body,
     size_t size)
{
    int fd = client_local(served);
    char length[64];

    (void)snprintf(length, sizeof(length), "Content-Length: %zu\r\n", size);
    post_head(fd, target, length);
    client_send(fd, body, size);
    return client_rest(fd);
}

/* The same; the load begins to read once a mebibyte has come. */
static char *
post_slowly(const struct served *served, const char *target, const char *body,
            size_t size)
{
    const size_t first = size < HELD ? size : HELD;
    int fd = client_local(served);
    const int begun = atomic_load(&begun_count);
    char length[64];

    (void)snprintf(length, sizeof(length), "Content-Length: %zu\r\n", size);
    post_head(fd, target, length);
    await(&begun_count, begun + 1);
    client_send(fd, body, first);
    atomic_store(&is_held, false);
    client_send(fd, body + first, size - first);
    return client_rest(fd);
}

static void
assert_posts(const struct served *served, const char *target, const char *body,
             int status, const char *text)
{
    char *reply = post(served, target, body, strlen(body));

    if (reply_status(reply) != status || strstr(reply, text) == NULL)
        fail_msg("%s is answered with '%s'", target, reply);
    free(reply);
}

static uint64_t
count_rows(const struct served *served, const char *name)
{
    struct colander_family *family = NULL;
    struct colander_cursor *cursor = NULL;
    struct colander_result result;
    uint64_t count = 0;
    bool is_row = true;

    OK(colander_family_open(served->store, name, &family, why()));
    if (colander_family_exists(family)) {
        OK(colander_family_find(family, NULL, &cursor, why()));
        for (;;) {
            OK(colander_cursor_next(cursor, &is_row, &result, why()));
            if (!is_row)
                break;
            count++;
        }
        colander_cursor_close(cursor);
    }
    colander_family_close(family);
    return count;
}

/* -------------------------------------------------------------- answers --- */

SERVED_TEST(records_are_loaded_and_counted)
{
    start(served);
    assert_posts(served, "/load/new", "{\"a\":1}\n{\"a\":2}\n", 200,
                 "\r\n\r\n{\"rows\":2}\n");
    assert_posts(served, "/load/new", "a,b\n1,2\n3,4\n5,6", 200,
                 "\r\n\r\n{\"rows\":3}\n");
    assert_posts(served, "/load/new", "", 200, "\r\n\r\n{\"rows\":0}\n");
    assert_int_equal(count_rows(served, "new"), 5);
}

SERVED_TEST(mistakes_in_a_request_that_writes_are_named)
{
    start(served);
    assert_posts(served, "/load/new?kye=id", "{}", 400,
                 "unknown parameter 'kye'\",\"at\":{\"parameter\":\"kye\"");
    assert_posts(served, "/load/new?format=csv&format=csv", "{}", 400,
                 "the parameter 'format' is there twice");
    assert_posts(served, "/load/new?sync=maybe", "{}", 400, "neither 1 nor 0");
    assert_posts(served, "/load/new?rejects=x", "{}", 400,
                 "unknown parameter 'rejects'");
    assert_posts(served, "/load", "{}", 404, "unknown path");
    assert_posts(served, "/delete/rows?q='a", "", 400, "a quote is not closed");
    assert_posts(served, "/delete/rows?q=a&q=b", "", 400,
                 "the parameter 'q' is there twice");
    assert_posts(served, "/delete/rows?set=a=1", "", 400,
                 "unknown parameter 'set'");
    assert_posts(served, "/input?run=0123456789abcdef0123456789abcdef&ask=1",
                 "d", 404, "no command waits for this");
    assert_int_equal(atomic_load(&begun_count), 0);
    assert_int_equal(client_status(served, "/load/new"), 405);
}

SERVED_TEST(a_server_that_only_reads_takes_no_records)
{
    served->options.read_only = "it is";
    start(served);
    assert_posts(served, "/load/new", "{\"a\":1}\n", 403, "\"read-only\"");
    assert_posts(served, "/delete/rows?all=1", "", 403, "\"read-only\"");
    assert_posts(served, "/update/rows?all=1&set=a=1", "", 403,
                 "\"read-only\"");
    assert_int_equal(atomic_load(&begun_count), 0);
}

SERVED_TEST(records_from_an_address_need_the_token)
{
    int fd;
    char *reply;

    start(served);
    fd = client_network(served);
    client_say(fd, "POST /load/new HTTP/1.1\r\nHost: 127.0.0.1\r\n"
                   "Content-Length: 8\r\n\r\n{\"a\":1}\n");
    reply = client_rest(fd);
    assert_int_equal(reply_status(reply), 401);
    free(reply);
    fd = client_network(served);
    client_say(fd, "POST /load/new HTTP/1.1\r\nHost: 127.0.0.1\r\n"
                   "Connection: close\r\nAuthorization: Bearer " SERVED_TOKEN
                   "\r\nContent-Length: 8\r\n\r\n{\"a\":1}\n");
    reply = client_rest(fd);
    assert_int_equal(reply_status(reply), 200);
    free(reply);
    assert_int_equal(count_rows(served, "new"), 1);
}

/* The rest of the body is read, so that the reply arrives. */
SERVED_TEST(a_load_that_fails_before_its_body_ends_is_answered)
{
    const size_t size = (size_t)8 << 20;
    char *body = malloc(size);
    char *reply;
    int fd;

    memset(body, ' ', size);
    start(served);
    fd = client_local(served);
    post_head(fd, "/load/new?kye=id", "Transfer-Encoding: chunked\r\n");
    send_chunk(fd, body, size);
    client_say(fd, "0\r\n\r\n");
    reply = client_rest(fd);
    assert_int_equal(reply_status(reply), 400);
    free(reply);
    reply = post(served, "/load/refused", body, size);
    assert_int_equal(reply_status(reply), 400);
    assert_non_null(strstr(reply, "\"message\":\"refused\""));
    free(reply);
    free(body);
}

/* ----------------------------------------------------------------- cuts --- */

/* Every line is a record as far as it has come: nothing but the missing end of
 * the body shows that the last one is cut. */
SERVED_TEST(a_body_that_is_cut_loses_its_last_record_only)
{
    static const char *const bodies[] = {
        "name,n\nann,1\nbob,2\ncarl",
        "{\"n\":1}\n{\"n\":2}\n{\"n\":3}",
    };

    start(served);
    for (size_t i = 0; i < COUNT(bodies); i++) {
        const char *name = i == 0 ? "/load/csv" : "/load/json";
        int fd = client_local(served);

        post_head(fd, name, "Transfer-Encoding: chunked\r\n");
        send_chunk(fd, bodies[i], strlen(bodies[i]));
        await(&begun_count, 2 * (int)i + 1);
        ZERO(close(fd));
        await(&ended_count, 2 * (int)i + 1);
        fd = client_local(served);
        post_head(fd, name, "Content-Length: 1000\r\n");
        client_say(fd, bodies[i]);
        await(&begun_count, 2 * (int)i + 2);
        ZERO(close(fd));
        await(&ended_count, 2 * (int)i + 2);
    }
    assert_true(count_rows(served, "csv") <= 4);
    assert_true(count_rows(served, "json") <= 4);
    client_awaits(served, "/metrics", "\ncolander_answers 1\n");
}

/* The rows that came are there, and the connection is free for others. */
SERVED_TEST(rows_before_a_cut_are_there_once_they_are_written)
{
    int fd;

    start(served);
    fd = client_local(served);
    post_head(fd, "/load/new", "Transfer-Encoding: chunked\r\n");
    send_chunk(fd, "{\"n\":1}\n{\"n\":2}\n{\"n\":3", 22);
    for (int i = 0; count_rows(served, "new") < 2; i++) {
        if (i == SERVED_WAIT_S * 100)
            fail_msg("rows of a slow body never appear");
        usleep(10000);
    }
    ZERO(close(fd));
    await(&ended_count, 1);
    assert_int_equal(count_rows(served, "new"), 2);
}

/* ------------------------------------------------------- whole bodies --- */

/* Sizes at which what is held is full, or nearly, when the body ends. */
SERVED_TEST(a_body_may_end_where_what_is_held_is_full)
{
    const size_t sizes[] = {HELD - 1, HELD, HELD + 1, HELD + 100, 2 * HELD + 1};

    start(served);
    for (size_t i = 0; i < COUNT(sizes); i++) {
        char *body = malloc(sizes[i]);
        char *reply;

        assert_non_null(body);
        memset(body, '\n', sizes[i]);
        memcpy(body, "{\"n\":1}", 7);
        memcpy(body + sizes[i] - 7, "{\"n\":2}", 7);
        atomic_store(&is_held, true);
        reply = post_slowly(served, "/load/new?format=jsonl", body, sizes[i]);
        if (reply_status(reply) != 200 || strstr(reply, "\"rows\":2") == NULL)
            fail_msg("a body of %zu bytes is answered '%s'", sizes[i], reply);
        free(reply);
        free(body);
    }
    assert_int_equal(count_rows(served, "new"), 2 * COUNT(sizes));
}

/* Reads one reply that has its length, and leaves the connection open. */
static void
assert_reply(int fd, int status, const char *text)
{
    char reply[4096];
    size_t size = 0;
    const char *body = NULL;
    const char *length;

    for (;;) {
        const size_t got = client_read(fd, reply + size, 1);

        if (got == 0)
            fail_msg("the connection ends: '%.*s'", (int)size, reply);
        reply[size += got] = '\0';
        assert_true(size + 1 < sizeof(reply));
        if (body == NULL && strstr(reply, "\r\n\r\n") != NULL)
            body = strstr(reply, "\r\n\r\n") + 4;
        length = strstr(reply, "Content-Length: ");
        if (body != NULL &&
            (length == NULL || strlen(body) >= strtoul(length + 16, NULL, 10)))
            break;
    }
    if (reply_status(reply) != status || strstr(reply, text) == NULL)
        fail_msg("'%s' is not %d '%s'", reply, status, text);
}

SERVED_TEST(one_connection_brings_many_bodies)
{
    int fd;

    start(served);
    fd = client_local(served);
    for (int i = 0; i < 20; i++) {
        client_say(fd, "POST /load/new HTTP/1.1\r\nHost: x\r\n"
                       "Content-Length: 16\r\n\r\n"
                       "{\"n\":1}\n{\"n\":2}\n");
        assert_reply(fd, 200, "{\"rows\":2}\n");
        client_say(fd, "POST /load/new HTTP/1.1\r\nHost: x\r\n"
                       "Transfer-Encoding: chunked\r\n\r\n"
                       "8\r\n{\"n\":1}\n\r\n0\r\n\r\n");
        assert_reply(fd, 200, "{\"rows\":1}\n");
        client_say(fd, "POST /load/new?key=x HTTP/1.1\r\nHost: x\r\n"
                       "Content-Length: 7\r\n\r\nrefused");
        assert_reply(fd, 400, "rows");
        client_say(fd, "POST /load/refused HTTP/1.1\r\nHost: x\r\n"
                       "Content-Length: 3\r\n\r\nabc");
        assert_reply(fd, 400, "refused");
        client_say(fd, "GET /get/rows?key=7&select=n HTTP/1.1\r\n"
                       "Host: x\r\n\r\n");
        assert_reply(fd, 200, "{\"_key\":7,\"n\":7}\n");
    }
    ZERO(close(fd));
    assert_int_equal(count_rows(served, "new"), 60);
}

/* --------------------------------------------------------------- limits --- */

SERVED_TEST(a_failed_load_does_not_wait_for_a_client_that_pauses)
{
    char byte;
    int fd;

    served->options.load_max = 1;
    served->options.drop_ms = 300;
    start(served);
    fd = client_local(served);
    post_head(fd, "/load/refused", "Content-Length: 1000\r\n");
    client_say(fd, "{\"n\":1}\n");
    await(&ended_count, 1);
    assert_int_equal(client_read(fd, &byte, 1), 0); /* it is closed */
    ZERO(close(fd));
    client_awaits(served, "/metrics", "\ncolander_answers 1\n");
    assert_posts(served, "/load/new", "{\"n\":1}\n", 200, "\"rows\":1");
}

/* A client may close its sending side when it has sent all: it is answered,
 * also if the load takes a while, through the socket or by TCP. */
SERVED_TEST(a_client_that_has_sent_all_may_say_so)
{
    start(served);
    for (int i = 0; i < 2; i++) {
        int fd = i == 0 ? client_local(served) : client_network(served);
        char *reply;

        atomic_store(&is_held, true);
        client_say(fd, "POST /load/new HTTP/1.1\r\nHost: 127.0.0.1\r\n"
                       "Authorization: Bearer " SERVED_TOKEN "\r\n"
                       "Content-Length: 8\r\n\r\n{\"n\":1}\n");
        ZERO(shutdown(fd, SHUT_WR));
        await(&begun_count, i + 1);
        usleep(500000); /* the server looks twice */
        atomic_store(&is_held, false);
        reply = client_rest(fd);
        assert_int_equal(reply_status(reply), 200);
        assert_non_null(strstr(reply, "{\"rows\":1}"));
        free(reply);
    }
}

/* A client from elsewhere may send slowly. If nothing comes it is cut off. */
SERVED_TEST(a_body_from_elsewhere_does_not_pause_for_long)
{
    static const char head[] = "POST /load/new HTTP/1.1\r\nHost: 127.0.0.1\r\n"
                               "Authorization: Bearer " SERVED_TOKEN "\r\n"
                               "Content-Length: 80\r\n\r\n";
    char byte;
    char *reply;
    int fd;

    served->options.request_ms = 1000;
    start(served);
    fd = client_network(served);
    client_say(fd, head);
    for (int i = 0; i < 10; i++, usleep(300000))
        client_say(fd, "{\"n\":1}\n");
    ZERO(shutdown(fd, SHUT_WR));
    reply = client_rest(fd);
    assert_int_equal(reply_status(reply), 200);
    free(reply);
    fd = client_network(served);
    client_say(fd, head);
    client_say(fd, "{\"n\":1}\n");
    assert_int_equal(client_read(fd, &byte, 1), 0);
    ZERO(close(fd));
    await(&ended_count, 2);
}

/* Sends up to `size` bytes of lines, without waiting for long. */
static size_t
send_what_is_taken(int fd, const char *lines, size_t size)
{
    struct pollfd one = {fd, POLLOUT, 0};
    size_t sent = 0;

    while (sent < size && poll(&one, 1, 1000) == 1) {
        const size_t at = sent % PIECE;
        const ssize_t count =
            send(fd, lines + at, PIECE - at, MSG_NOSIGNAL | MSG_DONTWAIT);

        if (count <= 0)
            break;
        sent += (size_t)count;
    }
    return sent;
}

SERVED_TEST(a_body_that_is_not_read_waits_at_its_client)
{
    static char lines[PIECE]; /* of 1 KiB */
    char text[64];
    size_t sent;
    char *reply;
    int fd;

    memset(lines, 'x', sizeof(lines));
    for (size_t i = 0; i < sizeof(lines); i += 1024) {
        memcpy(lines + i, "{\"n\":\"", 6);
        memcpy(lines + i + 1021, "\"}\n", 3);
    }
    start(served);
    atomic_store(&is_held, true);
    fd = client_local(served);
    (void)snprintf(text, sizeof(text), "Content-Length: %zu\r\n", BODY_SIZE);
    post_head(fd, "/load/new", text);
    sent = send_what_is_taken(fd, lines, BODY_SIZE);
    assert_true(sent < HELD_MAX);
    atomic_store(&is_held, false);
    while (sent < BODY_SIZE) {
        const size_t at = sent % PIECE;

        client_send(fd, lines + at, PIECE - at);
        sent += PIECE - at;
    }
    reply = client_rest(fd);
    (void)snprintf(text, sizeof(text), "{\"rows\":%zu}", BODY_SIZE / 1024);
    assert_non_null(strstr(reply, text));
    free(reply);
}

SERVED_TEST(too_many_loads_are_told_to_come_again)
{
    int fds[2];
    char *reply;

    served->options.load_max = 2;
    start(served);
    atomic_store(&is_held, true);
    for (size_t i = 0; i < COUNT(fds); i++) {
        fds[i] = client_local(served);
        post_head(fds[i], "/load/new", "Content-Length: 8\r\n");
        await(&begun_count, (int)i + 1);
    }
    reply = post(served, "/load/new", "{\"n\":1}\n", 8);
    assert_int_equal(reply_status(reply), 503);
    assert_non_null(strstr(reply, "\r\nRetry-After: 1\r\n"));
    free(reply);
    assert_int_equal(client_status(served, "/get/rows?key=7"), 200);
    atomic_store(&is_held, false);
    for (size_t i = 0; i < COUNT(fds); i++) {
        client_say(fds[i], "{\"n\":1}\n");
        reply = client_rest(fds[i]);
        assert_int_equal(reply_status(reply), 200);
        free(reply);
    }
    assert_int_equal(count_rows(served, "new"), 2);
}

/* 200 MB of blanks between two records. */
SERVED_TEST(a_body_that_decompresses_to_far_more_is_refused)
{
    const size_t size = (size_t)200 << 20;
    const size_t packed_max = (size_t)1 << 20;
    Bytef *packed = malloc(packed_max);
    char *blanks = malloc(PIECE);
    z_stream stream;
    char *reply;

    memset(&stream, 0, sizeof(stream));
    memset(blanks, '\n', PIECE);
    assert_int_equal(
        deflateInit2(&stream, 9, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY),
        Z_OK);
    stream.next_out = packed;
    stream.avail_out = (uInt)packed_max;
    for (size_t at = 0; at < size; at += PIECE) {
        stream.next_in = (Bytef *)blanks;
        stream.avail_in = (uInt)PIECE;
        if (at == 0)
            memcpy(blanks, "{\"n\":1}\n", 8);
        ZERO(deflate(&stream, Z_NO_FLUSH));
        memset(blanks, '\n', 8);
    }
    assert_int_equal(deflate(&stream, Z_FINISH), Z_STREAM_END);
    start(served);
    reply = post(served, "/load/new?format=jsonl", (const char *)packed,
                 packed_max - stream.avail_out);
    assert_int_equal(reply_status(reply), 413);
    assert_non_null(strstr(reply, "decompress them first"));
    (void)deflateEnd(&stream);
    free(reply);
    free(blanks);
    free(packed);
}

/* A frame of zstd with a window of 16 MiB, and an empty last block. */
SERVED_TEST(a_body_may_not_need_a_large_window)
{
    static const char frame[] = "\x28\xb5\x2f\xfd\x00\x70\x01\x00\x00";
    char *reply;

    start(served);
    reply = post(served, "/load/new?format=jsonl", frame, sizeof(frame) - 1);
    assert_int_equal(reply_status(reply), 413);
    assert_non_null(strstr(reply, "a window of more than 8 MiB"));
    free(reply);
}

/* ------------------------------------------------------------------ end --- */

static void *
stop(void *context)
{
    served_stop(context);
    return NULL;
}

SERVED_TEST(a_load_that_the_end_of_the_server_cuts_says_how_far_it_is)
{
    pthread_t thread;
    char *reply;
    int fd;

    served->options.stop_ms = 300;
    start(served);
    fd = client_local(served);
    post_head(fd, "/load/new", "Transfer-Encoding: chunked\r\n");
    send_chunk(fd, "{\"n\":1}\n{\"n\":2}\n", 16);
    for (int i = 0; count_rows(served, "new") < 2; i++) {
        if (i == SERVED_WAIT_S * 100)
            fail_msg("rows of a slow body never appear");
        usleep(10000);
    }
    ZERO(pthread_create(&thread, NULL, stop, served));
    await(&ended_count, 1);
    client_say(fd, "0\r\n\r\n");
    reply = client_rest(fd);
    ZERO(pthread_join(thread, NULL));
    if (reply[0] != '\0') { /* the connection may be closed before */
        assert_int_equal(reply_status(reply), 503);
        assert_non_null(strstr(reply, "\"rows\":2"));
        assert_non_null(strstr(reply, "the server ends"));
    }
    free(reply);
    assert_int_equal(count_rows(served, "new"), 2);
}

int
main(void)
{
    return tests_run(NULL, NULL);
}
