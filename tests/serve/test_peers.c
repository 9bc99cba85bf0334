/*
 * A store of another process, read as one here: what it has, and nothing that
 * looks whole and is not.
 *
 * SPDX-License-Identifier: MIT
 */
#include "columns/group_bytes.h"
#include "columns/query_bytes.h"
#include "columns/source.h"
#include "columns/union.h"
#include "serve/peer.h"
#include "serve/peer_store.h"
#include "serve/served.h"
#include "support/compared_finds.h"

#include <stdatomic.h>

#define QUERIES 100

static struct colander_store *
open_peer(const char *address)
{
    const struct peer_store_options options = {
        .address = address, .token = SERVED_TOKEN, .wait_ms = 20000};
    struct colander_store *peer;

    OK(peer_store_open(&options, &peer, why()));
    return peer;
}

static struct colander_store *
open_served(const struct served *served)
{
    char address[100];

    (void)snprintf(address, sizeof(address), "http://%s",
                   server_address(served->server));
    return open_peer(address);
}

static uint64_t
compare(struct colander_cursor *a, struct colander_cursor *b)
{
    struct colander_result one, other;
    uint64_t count = 0;

    for (; next_row(a, &one); count++) {
        assert_true(next_row(b, &other));
        ASSERT_SAME(one.key, other.key);
        ASSERT_SAME(one.row, other.row);
    }
    assert_false(next_row(b, &other));
    return count;
}

SERVED_TEST(finds_and_gets_are_those_of_the_store)
{
    uint64_t random = random_seed(__func__);
    struct colander_store *peer;
    struct colander_family *rows;
    uint64_t found = 0;

    served_start(served);
    peer = open_served(served);
    OK(colander_family_open(peer, "rows", &rows, why()));
    assert_true(colander_family_exists(rows));
    for (unsigned i = 0; i < QUERIES; i++) {
        const int64_t n = (int64_t)random_below(&random, SERVED_ROWS);
        SCOPED_PREDICATE where = colander_where_between(
            "n", colander_integer(n),
            colander_integer(n + (int64_t)random_below(&random, 500)), NULL);
        struct colander_buffer bounds[2] = {COLANDER_BUFFER_EMPTY,
                                            COLANDER_BUFFER_EMPTY};
        struct colander_query query = usual_query();
        struct colander_buffer got[2] = {COLANDER_BUFFER_EMPTY,
                                         COLANDER_BUFFER_EMPTY};
        SCOPED_BUFFER key = COLANDER_BUFFER_EMPTY;
        bool are_found[2];
        SCOPED_CURSOR a = NULL;
        SCOPED_CURSOR b = NULL;

        query.where = i % 10 == 0 ? NULL : where;
        random_bounds(&random, SERVED_ROWS, &query, bounds);
        OK(colander_family_find(served->rows, &query, &a, why()));
        OK(colander_family_find(rows, &query, &b, why()));
        found += compare(a, b);
        random_key(&random, SERVED_ROWS + 1000, &key);
        OK(colander_cursor_seek(a, colander_buffer_slice(&key), why()));
        OK(colander_cursor_seek(b, colander_buffer_slice(&key), why()));
        (void)compare(a, b);
        OK(colander_family_get(served->rows, colander_buffer_slice(&key), NULL,
                               &got[0], &are_found[0], why()));
        OK(colander_family_get(rows, colander_buffer_slice(&key), NULL, &got[1],
                               &are_found[1], why()));
        assert_int_equal(are_found[0], are_found[1]);
        ASSERT_SAME(colander_buffer_slice(&got[0]),
                    colander_buffer_slice(&got[1]));
        for (size_t at = 0; at < 2; at++) {
            colander_buffer_release(&bounds[at]);
            colander_buffer_release(&got[at]);
        }
    }
    assert_true(found > 1000);
    colander_family_close(rows);
    OK(colander_store_close(peer, why()));
}

/* Groups the rows of a family by a text, with all measures. */
static struct colander_groups *
group_rows(struct colander_family *rows, const struct colander_query *query,
           bool (*is_cancelled)(void), enum colander_code wanted)
{
    const struct colander_group_key key = {"g", "generation", NULL, NULL};
    const struct colander_measure measures[] = {
        {"rows", COLANDER_COUNT, NULL, 0},
        {"sum", COLANDER_SUM, "n", 0},
        {"avg", COLANDER_AVG, "n", 0},
        {"min", COLANDER_MIN, "n", 0},
        {"max", COLANDER_MAX, "filler", 0},
        {"first", COLANDER_FIRST, "n", 0},
        {"last", COLANDER_LAST, "n", 0},
        {"set", COLANDER_DISTINCT, "n", 0}, /* takes several frames */
        {"about", COLANDER_APPROX_DISTINCT, "n", 0},
        {"p95", COLANDER_QUANTILE, "n", 0.95},
    };
    struct colander_grouping grouping;
    struct colander_groups *groups;
    struct colander_explain explain;
    enum colander_code code;

    colander_grouping_init(&grouping);
    grouping.keys = &key;
    grouping.key_count = 1;
    grouping.measures = measures;
    grouping.measure_count = COUNT(measures);
    grouping.time_path = "n";
    grouping.is_cancelled = is_cancelled;
    OK(colander_groups_create(&grouping, &groups, why()));
    code = colander_family_group(rows, query, groups, &explain, why());
    if (code != wanted)
        print_error("%s\n", error_text());
    assert_int_equal(code, wanted);
    return groups;
}

SERVED_TEST(groups_and_counts_are_those_of_the_store_and_no_row_is_sent)
{
    struct colander_store *peer;
    struct colander_family *rows;

    served_write(served, 100, 700, "b");
    served_start(served);
    peer = open_served(served);
    OK(colander_family_open(peer, "rows", &rows, why()));
    for (int i = 0; i < 3; i++) {
        struct colander_query query = usual_query();
        SCOPED_PREDICATE where = colander_where_between(
            "n", colander_integer(50), colander_integer(7000 * i), NULL);
        struct colander_groups *groups[2];
        struct colander_slice group[2];
        bool is_group = true;
        bool is_other;
        uint64_t counts[2];

        query.where = i == 2 ? NULL : where; /* of 0 no row matches */
        OK(colander_family_count(served->rows, &query, &counts[0], why()));
        groups[0] = group_rows(served->rows, &query, NULL, COLANDER_OK);
        OK(colander_family_count(rows, &query, &counts[1], why()));
        groups[1] = group_rows(rows, &query, NULL, COLANDER_OK);
        assert_int_equal(counts[0], counts[1]);
        assert_true((counts[0] == 0) == (i == 0));
        while (is_group) {
            OK(colander_groups_next(groups[0], &is_group, &group[0], why()));
            OK(colander_groups_next(groups[1], &is_other, &group[1], why()));
            assert_int_equal(is_group, is_other);
            ASSERT_SAME(group[0], group[1]);
        }
        colander_groups_destroy(groups[0]);
        colander_groups_destroy(groups[1]);
    }
    assert_true(client_sees(served, "/metrics", "colander_rows_total 0\n"));
    colander_family_close(rows);
    OK(colander_store_close(peer, why()));
}

static atomic_uint waiting; /* reductions */

/* Sums up `n`, fails in the middle, or waits for its end, as `map` says. */
static bool
sum_up(struct colander_cursor *cursor, const char *map, const char *reduce,
       bool (*is_over)(void), struct colander_buffer *row)
{
    struct colander_row_builder *builder = colander_row_builder_create();
    struct colander_result result;
    struct colander_slice built;
    struct colander_value n;
    int64_t sum = 0;
    bool is_any = false;
    bool found;

    assert_string_equal(reduce, "together");
    while (next_row(cursor, &result) && strcmp(map, "fail") != 0) {
        OK(colander_row_get(result.row, "n", &n, &found, why()));
        sum += n.integer;
        is_any = true;
    }
    waiting += strcmp(map, "wait") == 0;
    while (strcmp(map, "wait") == 0 && !is_over())
        (void)usleep(1000);
    waiting -= strcmp(map, "wait") == 0;
    colander_row_builder_add(builder, "value", colander_integer(sum));
    OK(colander_row_builder_finish(builder, &built, why()));
    if (is_any)
        OK(colander_buffer_append(row, built.data, built.size, why()));
    colander_row_builder_destroy(builder);
    return strcmp(map, "sum") == 0;
}

/* Begins a find with functions. */
static struct colander_cursor *
find_mapped(struct colander_family *rows, const char *map,
            const struct colander_predicate *where)
{
    struct colander_query query = usual_query();
    struct colander_cursor *cursor;

    query.where = where;
    query.map = map;
    query.reduce = "together";
    OK(colander_family_find(rows, &query, &cursor, why()));
    return cursor;
}

/* Returns how many rows with keys there are, of those whose `n` is `from` at
 * least; *sum is that of the others. */
static uint64_t
read_mapped(struct colander_family *rows, const char *map, int64_t from,
            int64_t *sum)
{
    SCOPED_PREDICATE where = colander_where_between(
        "n", colander_integer(from), colander_integer(10 * SERVED_ROWS), NULL);
    SCOPED_CURSOR cursor = find_mapped(rows, map, where);
    struct colander_explain explain;
    struct colander_result result;
    struct colander_value value;
    uint64_t count = 0;
    bool found;

    *sum = 0;
    while (next_row(cursor, &result)) {
        OK(colander_row_get(result.row, "value", &value, &found, why()));
        assert_int_equal(found, result.key.size == 0);
        *sum += found ? value.integer : 0;
        count += !found;
    }
    colander_cursor_explain(cursor, &explain);
    assert_int_equal(explain.nodes_asked, 1);
    assert_true(explain.rows_read >= count);
    return count;
}

SERVED_TEST(rows_are_reduced_where_they_are_or_else_sent)
{
    struct colander_store *peer;
    struct colander_family *rows;
    int64_t sum;

    served->options.reduce = sum_up;
    served_start(served);
    peer = open_served(served);
    OK(colander_family_open(peer, "rows", &rows, why()));
    assert_int_equal(read_mapped(rows, "sum", SERVED_ROWS - 2, &sum), 0);
    assert_int_equal(sum, 2 * SERVED_ROWS - 3);
    assert_int_equal(read_mapped(rows, "sum", 0, &sum), 0);
    assert_int_equal(sum, (int64_t)SERVED_ROWS * (SERVED_ROWS - 1) / 2);
    assert_int_equal(read_mapped(rows, "sum", SERVED_ROWS, &sum), 0);
    assert_int_equal(sum, 0);
    assert_true(client_sees(served, "/metrics", "colander_rows_total 0\n"));
    assert_int_equal(read_mapped(rows, "fail", 0, &sum), SERVED_ROWS);
    served_stop(served);
    colander_family_close(rows);
    OK(colander_store_close(peer, why()));

    served->options.reduce = NULL; /* or an older version */
    served_start(served);
    peer = open_served(served);
    OK(colander_family_open(peer, "rows", &rows, why()));
    assert_int_equal(read_mapped(rows, "sum", 0, &sum), SERVED_ROWS);
    colander_family_close(rows);
    OK(colander_store_close(peer, why()));
}

SERVED_TEST(a_reduction_ends_with_its_client_and_more_than_a_few_send_rows)
{
    struct colander_store *peer;
    struct colander_family *rows;
    struct colander_cursor *cursor;
    struct colander_result result;
    int64_t sum;
    bool is_row;

    served->options.reduce = sum_up;
    served->options.script_max = 1;
    served_start(served);
    peer = open_served(served);
    OK(colander_family_open(peer, "rows", &rows, why()));
    cursor = find_mapped(rows, "wait", NULL);
    while (waiting == 0) {
        colander_cursor_pause(cursor, 10000);
        FAILS(colander_cursor_next(cursor, &is_row, &result, why()),
              COLANDER_BUSY);
    }
    assert_int_equal(read_mapped(rows, "sum", 0, &sum), SERVED_ROWS);
    colander_cursor_close(cursor);
    for (int i = 0; i < 100 * SERVED_WAIT_S && waiting > 0; i++)
        (void)usleep(10000);
    assert_int_equal(waiting, 0);
    for (int i = 0; i < SERVED_WAIT_S; i++) { /* until it is not counted */
        if (read_mapped(rows, "sum", 0, &sum) == 0)
            break;
        (void)usleep(100000);
    }
    assert_int_equal(sum, (int64_t)SERVED_ROWS * (SERVED_ROWS - 1) / 2);
    colander_family_close(rows);
    OK(colander_store_close(peer, why()));
}

/* A bound may be a text, which the answer does not hold any more. */
SERVED_TEST(a_bound_is_that_of_the_store)
{
    SCOPED_BUFFER bytes = COLANDER_BUFFER_EMPTY;
    struct colander_value bound;
    struct colander_store *peer;
    struct colander_family *rows;
    bool found;

    OK(colander_family_compact(served->rows, why()));
    served_start(served);
    peer = open_served(served);
    OK(colander_family_open(peer, "rows", &rows, why()));
    OK(colander_family_order_bound(rows, "generation", false, 10, &bytes,
                                   &bound, &found, why()));
    assert_true(found);
    assert_int_equal(bound.type, COLANDER_STRING);
    assert_memory_equal(bound.bytes.data, "a", 1);
    assert_ptr_equal(bound.bytes.data, bytes.data);
    OK(colander_family_order_bound(rows, "n", true, 10, &bytes, &bound, &found,
                                   why()));
    assert_true(found);
    assert_int_equal(bound.type, COLANDER_INTEGER);
    colander_family_close(rows);
    OK(colander_store_close(peer, why()));
}

SERVED_TEST(a_server_that_is_not_there_is_an_error_and_not_an_empty_store)
{
    struct colander_store *peer = open_peer("http://127.0.0.1:1");
    struct colander_family *rows;
    struct colander_cursor *cursor;
    struct colander_result row;
    bool is_row;

    (void)served;
    OK(colander_family_open(peer, "rows", &rows, why()));
    assert_true(colander_family_exists(rows)); /* it is not known */
    OK(colander_family_find(rows, NULL, &cursor, why()));
    for (int i = 0; i < 2; i++)
        FAILS(colander_cursor_next(cursor, &is_row, &row, why()),
              COLANDER_BUSY);
    assert_non_null(strstr(error_text(), "127.0.0.1:1"));
    colander_cursor_close(cursor);
    colander_family_close(rows);
    OK(colander_store_close(peer, why()));
}

/* ------------------------------------------------- servers that lie --- */

/* Answers each connection with these bytes, and closes it. */
struct liar {
    int fd;
    struct colander_slice body;
    bool has_length; /* says how long the body would be */
    size_t whole;
};

static void *
lie(void *context)
{
    const struct liar *liar = context;
    char asked[4096];
    char head[200];
    int fd;

    while ((fd = accept(liar->fd, NULL, NULL)) >= 0) {
        (void)recv(fd, asked, sizeof(asked), 0);
        (void)snprintf(head, sizeof(head),
                       liar->has_length ? "HTTP/1.1 200 OK\r\n"
                                          "Content-Length: %zu\r\n\r\n"
                                        : "HTTP/1.1 200 OK\r\n"
                                          "Connection: close\r\n\r\n",
                       liar->whole);
        (void)send(fd, head, strlen(head), MSG_NOSIGNAL);
        (void)send(fd, liar->body.data, liar->body.size, MSG_NOSIGNAL);
        (void)shutdown(fd, SHUT_WR);
        (void)recv(fd, asked, sizeof(asked), 0);
        (void)close(fd);
    }
    return NULL;
}

static void
append_row(struct colander_buffer *body, int64_t number)
{
    const struct colander_value part = colander_integer(number);
    SCOPED_BUFFER key = COLANDER_BUFFER_EMPTY;
    SCOPED_BUFFER frame = COLANDER_BUFFER_EMPTY;
    const uint8_t row[] = {0, 0, 0, 1, 0x80};
    uint8_t size[4] = {0};

    OK(colander_key_encode(&part, 1, &key, why()));
    size[3] = (uint8_t)key.size;
    OK(colander_buffer_append(&frame, size, sizeof(size), why()));
    OK(colander_buffer_append(&frame, key.data, key.size, why()));
    OK(colander_buffer_append(&frame, row, sizeof(row), why()));
    OK(peer_append(body, PEER_ROW, colander_buffer_slice(&frame), why()));
}

static struct colander_store *
open_liar(const struct liar *liar)
{
    struct sockaddr_in at;
    socklen_t size = sizeof(at);
    char address[60];

    ZERO(getsockname(liar->fd, (struct sockaddr *)&at, &size));
    (void)snprintf(address, sizeof(address), "http://127.0.0.1:%u",
                   ntohs(at.sin_port));
    return open_peer(address);
}

/* Reads all rows of the liar. Returns how it ends. */
static enum colander_code
read_rows(const struct liar *liar, uint64_t pause_us, uint64_t *count)
{
    struct colander_store *peer = open_liar(liar);
    struct colander_family *rows;
    struct colander_cursor *cursor;
    struct colander_result row;
    enum colander_code code = COLANDER_OK;
    bool is_row = true;

    *count = 0;
    OK(colander_family_open(peer, "rows", &rows, why()));
    OK(colander_family_find(rows, NULL, &cursor, why()));
    while (code == COLANDER_OK && is_row) {
        colander_cursor_pause(cursor, pause_us);
        code = colander_cursor_next(cursor, &is_row, &row, why());
        colander_cursor_pause(cursor, 0);
        if (code == COLANDER_BUSY) /* a pause, or what stays a failure */
            code = colander_cursor_next(cursor, &is_row, &row, why());
        *count += code == COLANDER_OK && is_row;
    }
    colander_cursor_close(cursor);
    colander_family_close(rows);
    OK(colander_store_close(peer, why()));
    return code;
}

static int
listen_anywhere(void)
{
    const struct sockaddr_in at = {.sin_family = AF_INET,
                                   .sin_addr = {htonl(INADDR_LOOPBACK)}};
    const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    assert_true(fd >= 0);
    ZERO(bind(fd, (const struct sockaddr *)&at, sizeof(at)));
    ZERO(listen(fd, 5));
    return fd;
}

SERVED_TEST(an_answer_that_is_cut_anywhere_is_an_error)
{
    SCOPED_BUFFER body = COLANDER_BUFFER_EMPTY;
    struct liar liar = {.fd = listen_anywhere()};
    pthread_t thread;
    uint64_t count;

    (void)served;
    append_row(&body, 1);
    append_row(&body, 2);
    OK(peer_append(&body, PEER_END, colander_slice_of(NULL, 0), why()));
    liar.whole = body.size;
    ZERO(pthread_create(&thread, NULL, lie, &liar));
    for (size_t size = 0; size <= body.size; size++) {
        for (int i = 0; i < 2; i++) {
            enum colander_code code;

            liar.has_length = i == 1;
            liar.body = colander_slice_of(body.data, size);
            code = read_rows(&liar, 0, &count);
            if (size < body.size) {
                assert_int_equal(code, COLANDER_BUSY);
            } else {
                assert_int_equal(code, COLANDER_OK);
                assert_int_equal(count, 2);
            }
        }
    }
    (void)shutdown(liar.fd, SHUT_RDWR);
    ZERO(pthread_join(thread, NULL));
    ZERO(close(liar.fd));
}

static unsigned asked_often; /* whether the grouping is cancelled */

static bool
is_cancelled_soon(void)
{
    return ++asked_often > 3;
}

SERVED_TEST(groups_of_an_answer_that_is_cut_or_wrong_are_an_error)
{
    struct colander_groups_place place = {0};
    struct colander_groups *groups =
        group_rows(served->rows, NULL, NULL, COLANDER_OK);
    SCOPED_BUFFER bytes = COLANDER_BUFFER_EMPTY;
    SCOPED_BUFFER body = COLANDER_BUFFER_EMPTY;
    struct liar liar = {.fd = listen_anywhere()};
    struct colander_store *peer = open_liar(&liar);
    struct colander_family *rows;
    pthread_t thread;

    while (!place.is_end) {
        colander_buffer_clear(&bytes);
        OK(colander_groups_encode(groups, &place, &bytes, why()));
        OK(peer_append(&body, PEER_GROUPS, colander_buffer_slice(&bytes),
                       why()));
        if (!place.is_end)
            OK(peer_append(&body, PEER_ALIVE, colander_slice_of(NULL, 0),
                           why()));
    }
    colander_groups_destroy(groups);
    OK(peer_append(&body, PEER_END, colander_slice_of(NULL, 0), why()));
    ZERO(pthread_create(&thread, NULL, lie, &liar));
    OK(colander_family_open(peer, "rows", &rows, why()));
    for (size_t i = 0; i <= 20; i++) {
        liar.body = colander_slice_of(body.data, body.size * i / 20);
        colander_groups_destroy(group_rows(
            rows, NULL, NULL, i == 20 ? COLANDER_OK : COLANDER_BUSY));
    }
    body.data[20] ^= 1; /* in the version, or what is first */
    colander_groups_destroy(group_rows(rows, NULL, NULL, COLANDER_BUSY));
    colander_buffer_clear(&body);
    OK(peer_append(&body, PEER_ROW, colander_slice_of(NULL, 0), why()));
    liar.body = colander_buffer_slice(&body);
    colander_groups_destroy(group_rows(rows, NULL, NULL, COLANDER_BUSY));
    (void)shutdown(liar.fd, SHUT_RDWR);
    ZERO(pthread_join(thread, NULL));
    ZERO(close(liar.fd));
    colander_family_close(rows);
    OK(colander_store_close(peer, why()));
}

SERVED_TEST(a_grouping_that_waits_for_a_server_can_be_cancelled)
{
    const struct liar silent = {.fd = listen_anywhere()};
    struct colander_store *peer = open_liar(&silent);
    struct colander_family *rows;

    (void)served;
    OK(colander_family_open(peer, "rows", &rows, why()));
    asked_often = 0;
    colander_groups_destroy(
        group_rows(rows, NULL, is_cancelled_soon, COLANDER_CANCELLED));
    colander_family_close(rows);
    OK(colander_store_close(peer, why()));
    ZERO(close(silent.fd));
}

/* A get has no cursor that could be cancelled. */
SERVED_TEST(an_answer_that_is_over_does_not_wait_for_a_server)
{
    const struct liar silent = {.fd = listen_anywhere()};
    struct colander_store *peer = open_liar(&silent);
    struct colander_store *all;
    struct pollfd asked;
    char bytes[4096];
    ssize_t got = 1;
    int client;

    served_close(served);
    OK(colander_union_open(served->directory, &peer, 1, &all, why()));
    OK(server_start(all, &served->options, &served->server, why()));
    client = client_network(served);
    client_say(client, "GET /get/rows?key=7&timeout=1s HTTP/1.1\r\n"
                       "Host: 127.0.0.1\r\n"
                       "Authorization: Bearer " SERVED_TOKEN "\r\n\r\n");
    asked = (struct pollfd){accept(silent.fd, NULL, NULL), POLLIN, 0};
    while (got > 0) { /* until it is not asked any more */
        assert_int_equal(poll(&asked, 1, 10000), 1);
        got = recv(asked.fd, bytes, sizeof(bytes), 0);
    }
    served_stop(served);
    ZERO(close(asked.fd));
    ZERO(close(client));
    ZERO(close(silent.fd));
    OK(colander_store_close(all, why()));
    OK(colander_store_close(peer, why()));
    served_open(served);
}

/* Between two rows, whether or not the find may be paused. */
SERVED_TEST(a_frame_that_is_wrong_is_not_passed_over)
{
    static const uint8_t wrong[][12] = {
        {PEER_ROW, 0, 0, 0, 0},                   /* nothing in it */
        {PEER_ROW, 0, 0, 0, 4, 0, 0, 0, 0},       /* no key */
        {PEER_ROW, 0, 0, 0, 4, 0xff, 0xff, 0xff}, /* a size beyond it */
        {'?', 0, 0, 0, 0},
        {PEER_REDUCED, 0, 0, 0, 1, 0x80}, /* which was not asked for */
        {PEER_FAILURE, 0, 0, 0, 1, COLANDER_BUSY},
        {PEER_FAILURE, 0, 0, 0, 1, COLANDER_CANCELLED}, /* it ends */
        {PEER_FAILURE, 0, 0, 0, 0},
    };
    struct liar liar = {.fd = listen_anywhere()};
    pthread_t thread;
    uint64_t count;

    (void)served;
    ZERO(pthread_create(&thread, NULL, lie, &liar));
    for (size_t i = 0; i < 2 * COUNT(wrong); i++) {
        const uint8_t *frame = wrong[i / 2];
        SCOPED_BUFFER body = COLANDER_BUFFER_EMPTY;

        append_row(&body, 1);
        OK(colander_buffer_append(&body, frame, 5 + (size_t)frame[4], why()));
        append_row(&body, 2);
        OK(peer_append(&body, PEER_END, colander_slice_of(NULL, 0), why()));
        liar.body = colander_buffer_slice(&body);
        assert_int_equal(read_rows(&liar, i % 2 == 0 ? 0 : 10000000, &count),
                         COLANDER_BUSY);
        assert_int_equal(count, 1);
    }
    (void)shutdown(liar.fd, SHUT_RDWR);
    ZERO(pthread_join(thread, NULL));
    ZERO(close(liar.fd));
}
