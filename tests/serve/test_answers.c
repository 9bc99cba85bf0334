/*
 * Answers: rows of one moment, to clients that are slow or leave.
 *
 * SPDX-License-Identifier: MIT
 */
#include "serve/served.h"

#include <stdatomic.h>

#define FIND_ALL "GET /find/rows HTTP/1.1\r\nHost: x\r\n"
#define CLOSES "Connection: close\r\n\r\n"
#define FIND_FROM_ELSEWHERE                                                    \
    "GET /find/rows HTTP/1.1\r\nHost: 127.0.0.1\r\n"                           \
    "Authorization: Bearer " SERVED_TOKEN "\r\nConnection: close\r\n\r\n"
#define STOP_MS 300

/* Asserts that a body has all rows of generation "a" and its last frame. */
static void
assert_all_rows(const char *body)
{
    char wanted[64];

    for (int i = 0; i < SERVED_ROWS; i++) {
        const int size = snprintf(
            wanted, sizeof(wanted),
            "{\"_key\":%d,\"n\":%d,\"generation\":\"a\",\"filler\":\"x", i, i);

        if (strncmp(body, wanted, (size_t)size) != 0)
            fail_msg("row %d is '%.80s'", i, body);
        body = strchr(body, '\n') + 1;
    }
    (void)snprintf(wanted, sizeof(wanted), "{\"_end\":{\"rows\":%d}}\n",
                   SERVED_ROWS);
    assert_string_equal(body, wanted);
}

/* Rows that the server has put in answers. */
static long
rows_written(const struct served *served)
{
    char *reply = client_get(served, "/metrics");
    const char *at = strstr(reply, "\ncolander_rows_total ");
    long count;

    assert_non_null(at);
    count = strtol(at + strlen("\ncolander_rows_total "), NULL, 10);
    free(reply);
    return count;
}

SERVED_TEST(a_find_returns_all_rows_and_its_end)
{
    int fd;
    char *reply;

    served_start(served);
    fd = client_local(served);
    client_say(fd, FIND_ALL CLOSES);
    reply = client_rest(fd);
    assert_int_equal(reply_status(reply), 200);
    assert_non_null(strstr(reply, "Transfer-Encoding: chunked"));
    assert_true(unchunk(body_of(reply)));
    assert_all_rows(body_of(reply));
    free(reply);
}

/* HTTP/1.0 has no chunks: only the last frame says that nothing was cut. */
SERVED_TEST(an_old_client_gets_all_rows_and_their_end)
{
    int fd;
    char *reply;

    served_start(served);
    fd = client_local(served);
    client_say(fd, "GET /find/rows HTTP/1.0\r\n\r\n");
    reply = client_rest(fd);
    assert_int_equal(reply_status(reply), 200);
    assert_all_rows(body_of(reply));
    free(reply);
}

/* While a client does not read, the rows of its find are not read either, and
 * what is written meanwhile is not in them. */
SERVED_TEST(a_slow_client_gets_the_rows_of_one_moment)
{
    int fd;
    char *reply;
    char start[64];

    served_start(served);
    fd = client_local(served);
    client_say(fd, FIND_ALL CLOSES);
    client_read(fd, start, 9); /* the find has begun */
    served_write(served, 0, SERVED_ROWS + 10, "b");
    for (int i = 0; i < 200; i++)
        assert_true(rows_written(served) < SERVED_ROWS / 2);
    reply = client_rest(fd);
    assert_true(unchunk(body_of(reply)));
    assert_all_rows(body_of(reply));
    free(reply);
}

SERVED_TEST(a_find_outlives_its_family)
{
    int fd;
    char *reply;
    char start[64];

    served_start(served);
    fd = client_local(served);
    client_say(fd, FIND_ALL CLOSES);
    client_read(fd, start, 9);
    OK(colander_family_drop(served->rows, why()));
    assert_int_equal(client_status(served, "/find/rows"), 404);
    reply = client_rest(fd);
    assert_true(unchunk(body_of(reply)));
    assert_all_rows(body_of(reply));
    free(reply);
}

/* One answer is that of the request that asks. */
#define NO_ANSWERS "\ncolander_answers 1\n"

SERVED_TEST(a_client_that_leaves_ends_its_find)
{
    served_start(served);
    for (int i = 0; i < 20; i++) {
        int fd = i % 2 == 0 ? client_local(served) : client_network(served);
        char start[64];

        client_say(fd, FIND_FROM_ELSEWHERE);
        if (i % 4 < 2) /* others leave before the first byte, or after */
            client_read(fd, start, 9);
        ZERO(close(fd));
    }
    client_awaits(served, "/metrics", NO_ANSWERS);
    OK(colander_family_drop(served->rows, why()));
}

SERVED_TEST(too_many_answers_are_asked_to_come_again)
{
    int fd;
    char start[64];
    char *reply;

    served->options.answer_max = 1;
    served_start(served);
    fd = client_local(served);
    client_say(fd, FIND_ALL CLOSES);
    client_read(fd, start, 9);
    reply = client_get(served, "/find/rows?limit=1");
    assert_int_equal(reply_status(reply), 503);
    assert_non_null(strstr(reply, "Retry-After: 1\r\n"));
    free(reply);
    free(client_rest(fd));
    client_awaits(served, "/health", "{\"status\":\"ok\"}");
}

/* How long it takes until the server looks is not known: it is given longer and
 * longer. */
SERVED_TEST(an_answer_that_is_late_ends_with_an_error)
{
    bool is_cut = false;

    served_start(served);
    for (unsigned wait_s = 2; wait_s <= 32 && !is_cut; wait_s *= 2) {
        int fd = client_local(served);
        char start[64];
        char *reply;

        client_say(fd, "GET /find/rows?timeout=1s HTTP/1.1\r\nHost: x\r\n"
                       "Connection: close\r\n\r\n");
        client_read(fd, start, 9);
        sleep(wait_s);
        reply = client_rest(fd);
        assert_true(unchunk(body_of(reply)));
        is_cut = strstr(body_of(reply), "\"_end\"") == NULL;
        if (is_cut)
            assert_non_null(strstr(body_of(reply),
                                   "\n{\"error\":{\"code\":\"cancelled\","
                                   "\"message\":\"the time of the request is "
                                   "over\"}}\n"));
        free(reply);
    }
    assert_true(is_cut);
}

static void *
stop(void *context)
{
    served_stop(context);
    return NULL;
}

/* The client does not read before the server has ended. */
SERVED_TEST(an_answer_that_the_end_cuts_is_not_whole)
{
    int fd;
    char *reply;
    char start[64];

    served->options.stop_ms = STOP_MS;
    served_start(served);
    fd = client_local(served);
    client_say(fd, FIND_ALL CLOSES);
    client_read(fd, start, 9);
    served_stop(served);
    reply = client_rest(fd);
    assert_false(unchunk(body_of(reply)));
    assert_null(strstr(body_of(reply), "\"_end\""));
    free(reply);
}

SERVED_TEST(an_end_waits_for_answers)
{
    pthread_t thread;
    int fd, other;
    char *reply;
    char start[64];

    served->options.stop_ms = SERVED_WAIT_S * 1000;
    served_start(served);
    fd = client_local(served);
    client_say(fd, FIND_ALL CLOSES);
    client_read(fd, start, 9);
    ZERO(pthread_create(&thread, NULL, stop, served));
    while ((other = client_connect(served->directory)) >= 0) {
        ZERO(close(other));
        usleep(1000);
    }
    reply = client_rest(fd);
    ZERO(pthread_join(thread, NULL));
    assert_true(unchunk(body_of(reply)));
    assert_all_rows(body_of(reply));
    free(reply);
}

#ifdef WRAPS_CLOCK
/* If it is, the wall clock is set back by an hour while something waits. */
static atomic_bool is_set_back;

/* NOLINTBEGIN(bugprone-reserved-identifier): the names are the linker's. */
int __real_clock_gettime(clockid_t clock, struct timespec *now);
int __wrap_clock_gettime(clockid_t clock, struct timespec *now);

int
__wrap_clock_gettime(clockid_t clock, struct timespec *now)
{
    const int error = __real_clock_gettime(clock, now);

    if (is_set_back && clock == CLOCK_REALTIME)
        now->tv_sec += 3600; /* what it was before */
    return error;
}
/* NOLINTEND(bugprone-reserved-identifier) */

SERVED_TEST(a_wall_clock_that_is_set_back_keeps_no_one_waiting)
{
    char bytes[64];
    int fd;

    is_set_back = true;
    served->options.request_ms = 300;
    served->options.stop_ms = STOP_MS;
    served_start(served);
    fd = client_network(served);
    assert_int_equal(client_read(fd, bytes, sizeof(bytes)), 0);
    ZERO(close(fd));
    fd = client_local(served);
    client_say(fd, FIND_ALL CLOSES);
    client_read(fd, bytes, 9);
    served_stop(served);
    ZERO(close(fd));
    is_set_back = false;
}
#endif

/* Replies that need no token are not among the answers that may be under way:
 * strangers who do not read theirs keep no others away. */
SERVED_TEST(strangers_who_do_not_read_keep_no_others_away)
{
    static const char ask[] = "GET /health HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n";
    struct pollfd one = {.events = POLLOUT};
    size_t at = 0;

    served->options.answer_max = 1;
    served_start(served);
    one.fd = client_network(served);
    while (poll(&one, 1, 1000) == 1) {
        ssize_t sent = send(one.fd, ask + at, sizeof(ask) - 1 - at,
                            MSG_NOSIGNAL | MSG_DONTWAIT);

        if (sent < 0)
            break;
        at = (at + (size_t)sent) % (sizeof(ask) - 1);
    }
    assert_int_equal(client_status(served, "/get/rows?key=5"), 200);
    ZERO(close(one.fd));
}

/* More than the kernel holds is taken in several times the limit, but never
 * nothing for so long. A client that takes nothing is cut off. */
SERVED_TEST(a_reader_may_be_slow_but_not_stand_still)
{
    static char bytes[64 << 10];
    size_t size = 0, cut_size = 0, got;
    int fd, still;

    served->options.request_ms = 300;
    served->options.stall_ms = 1500;
    served_write(served, SERVED_ROWS, 4 * SERVED_ROWS, "a");
    served_start(served);
    fd = client_network(served);
    still = client_network(served);
    client_say(still, FIND_FROM_ELSEWHERE);
    client_say(fd, FIND_FROM_ELSEWHERE);
    client_read(still, bytes, 9);
    for (int i = 0; i < 30; i++, usleep(200000))
        size += client_read(fd, bytes, sizeof(bytes));
    while ((got = client_read(fd, bytes, sizeof(bytes))) > 0)
        size += got;
    ZERO(close(fd));
    assert_true(size > (size_t)5 * SERVED_ROWS * 200);
    while ((got = client_read(still, bytes, sizeof(bytes))) > 0)
        cut_size += got; /* what was on its way */
    ZERO(close(still));
    assert_true(cut_size < size / 2);
    client_awaits(served, "/metrics", NO_ANSWERS);
}

SERVED_TEST(requests_on_one_connection_are_answered_in_order)
{
    static const char one[] = "GET /get/rows?key=%d HTTP/1.1\r\nHost: x\r\n%s";
    int fd;
    char text[128];
    char *reply;
    const char *at;

    served_start(served);
    fd = client_local(served);
    for (int i = 0; i < 50; i++) {
        (void)snprintf(text, sizeof(text), one, i,
                       i < 49 ? "\r\n" : "Connection: close\r\n\r\n");
        client_say(fd, text);
    }
    at = reply = client_rest(fd);
    for (int i = 0; i < 50; i++) {
        (void)snprintf(text, sizeof(text), "{\"_key\":%d,", i);
        at = strstr(at, text);
        if (at == NULL)
            fail_msg("no row %d", i);
    }
    free(reply);
}

/* More clients than threads, all of whom hold an answer. */
SERVED_TEST(slow_clients_hold_no_threads)
{
    int fds[40];
    char start[64];

    served->options.thread_max = 2;
    served_start(served);
    for (size_t i = 0; i < COUNT(fds); i++) {
        fds[i] = client_local(served);
        client_say(fds[i], FIND_ALL CLOSES);
        client_read(fds[i], start, 9);
    }
    assert_int_equal(client_status(served, "/get/rows?key=5"), 200);
    for (size_t i = 0; i < COUNT(fds); i++) {
        char *reply = client_rest(fds[i]);

        assert_true(unchunk(body_of(reply)));
        assert_all_rows(body_of(reply));
        free(reply);
    }
}

SERVED_TEST(msgpack_has_a_last_frame_too)
{
    static const char row[] = "\x84\xa4_key\x01\xa1n\x01\xaageneration\xa1"
                              "a";
    static const char end[] = "\x81\xa4_end\x81\xa4rows\x01";
    char *reply;
    char *body;

    served_start(served);
    reply = client_get(served, "/find/rows?q=n%3D1&format=msgpack");
    body = body_of(reply);
    assert_non_null(strstr(reply, "Content-Type: application/x-msgpack\r\n"));
    assert_memory_equal(body, row, sizeof(row) - 1);
    assert_string_equal(strchr(body + sizeof(row), '\x81'), end);
    free(reply);
}

int
main(void)
{
    return tests_run(NULL, NULL);
}
