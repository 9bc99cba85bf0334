/*
 * Requests: what they say, and those of clients that mean no good.
 *
 * SPDX-License-Identifier: MIT
 */
#include "serve/served.h"

#include <malloc.h>
#include <stdlib.h>

#define MEMORY_MAX ((size_t)16 << 20) /* of all requests of a list together */

/* ------------------------------------------------------------ questions --- */

struct asked {
    const char *target;
    int status;
    const char *text; /* in the reply; NULL: any */
};

static const struct asked questions[] = {
    {"/health", 200, "{\"status\":\"ok\"}\n"},
    {"/families", 200, "{\"families\":[{\"name\":\"rows\",\"rows\":20000,"},
    {"/stats", 200, "\"families\":1,\"rows\":20000,"},
    {"/metrics", 200, "\ncolander_family_rows{family=\"rows\"} 20000\n"},
    {"/get/rows?key=7&select=n", 200, "\r\n\r\n{\"_key\":7,\"n\":7}\n"},
    {"/get/rows?key=-7", 404, "\"no row '-7' in family 'rows'\""},
    {"/get/rows", 400, "\"the parameter 'key' is missing\",\"at\":"},
    {"/get/rows?key=%5B1", 400, "\"at\":{\"parameter\":\"key\",\"offset\":"},
    {"/get/none?key=7", 404, "\"no family 'none'\""},
    {"/find/rows?q=n%3C2&select=n", 200,
     "\r\n\r\n{\"_key\":0,\"n\":0}\n{\"_key\":1,\"n\":1}\n"
     "{\"_end\":{\"rows\":2}}\n"},
    {"/find/rows?q=n=5+or+n=6&select=n&reverse", 200,
     "{\"_key\":6,\"n\":6}\n{\"_key\":5,\"n\":5}\n{\"_end\""},
    {"/find/rows?q='n=5'+or+%22n=6%22&select=n&limit=1", 200,
     "\r\n\r\n{\"_key\":5,\"n\":5}\n{\"_end\":{\"rows\":1}}\n"},
    {"/find/rows?any=19999&select=n", 200,
     "{\"_key\":19999,\"n\":19999,\"_matched\":[\"n\"]}\n{\"_end\""},
    {"/find/rows?order=n:desc&limit=2&skip=1&select=generation", 200,
     "\r\n\r\n{\"_key\":19998,\"generation\":\"a\"}\n"
     "{\"_key\":19997,\"generation\":\"a\"}\n{\"_end\":{\"rows\":2}}\n"},
    {"/find/rows?order=_key:desc&limit=1&select=n", 200,
     "\r\n\r\n{\"_key\":19999,"},
    {"/find/rows?from=5&to=6&select=n", 200,
     "\r\n\r\n{\"_key\":5,\"n\":5}\n{\"_key\":6,\"n\":6}\n{\"_end\""},
    {"/find/rows?key=5&explain=1", 200, "{\"_end\":{\"rows\":1,\"plan\":\""},
    {"/find/rows?limit=0", 200, "\r\n\r\n{\"_end\":{\"rows\":0}}\n"},
    {"/find/rows?key=5&from=3", 400, "\"key excludes prefix, from and to\""},
    {"/find/rows?q=n=1+n%3C%3C2", 400,
     "\"at\":{\"parameter\":\"q\",\"offset\":6}}}\n"},
    {"/find/rows?q=n=1+'n%3C%3C2'", 400,
     "\"at\":{\"parameter\":\"q\",\"offset\":7}}}\n"},
    {"/find/rows?q=n=1+'n", 400,
     "\"a quote is not closed\",\"at\":{\"parameter\":\"q\",\"offset\":4}}}\n"},
    {"/find/rows?any=%5B1", 400, "\"at\":{\"parameter\":\"any\",\"offset\":"},
    {"/find/rows?q=A&key=0&select=n", 200,
     "{\"_key\":0,\"n\":0,\"_matched\":[\"generation\"]}\n{\"_end\""},
    {"/find/rows?q=A&order=n:desc&limit=1&select=n", 200,
     "{\"_key\":19999,\"n\":19999,\"_matched\":[\"generation\"]}\n{\"_end\""},
    {"/find/rows?search=a&key=0&select=n", 200,
     "{\"_key\":0,\"n\":0,\"_matched\":[\"generation\"]}\n{\"_end\""},
    {"/find/rows?q=generation:a+n%3C1&select=n", 200,
     "\r\n\r\n{\"_key\":0,\"n\":0}\n{\"_end\""},
    {"/find/rows?q=generation~~A+n%3C1", 200,
     "\r\n\r\n{\"_end\":{\"rows\":0}}\n"},
    {"/find/rows?q=generation~~A+n%3C1&i=1&select=n", 200,
     "\r\n\r\n{\"_key\":0,\"n\":0}\n{\"_end\""},
    {"/find/rows?any=A&limit=1", 200, "\r\n\r\n{\"_end\":{\"rows\":0}}\n"},
    {"/find/rows?any=A&limit=1&i&select=n", 200,
     "{\"_key\":0,\"n\":0,\"_matched\":[\"generation\"]}\n{\"_end\""},
    {"/find/rows?q=n%3C1+generation", 400,
     "\"at\":{\"parameter\":\"q\",\"offset\":4}}}\n"},
    {"/find/rows?search=%22a", 400,
     "\"at\":{\"parameter\":\"search\",\"offset\":"},
    {"/find/rows?i=perhaps", 400, "\"at\":{\"parameter\":\"i\","},
    {"/find/rows?limit=x", 400, "\"at\":{\"parameter\":\"limit\","},
    {"/find/rows?limit=-1", 400, NULL},
    {"/find/rows?limit=", 400, NULL},
    {"/find/rows?limit=18446744073709551616", 400, NULL},
    {"/find/rows?limit=1&limit=2", 400, "'limit' is there twice"},
    {"/find/rows?limits=1", 400, "unknown parameter 'limits'"},
    {"/find/rows?reverse=maybe", 400, NULL},
    {"/find/rows?format=xml", 400, "use jsonl or msgpack"},
    {"/find/rows?select=n,,n", 400, "\"offset\":2}}}\n"},
    {"/find/rows?order=a%5B", 400, "\"at\":{\"parameter\":\"order\","},
    {"/find/rows?timeout=soon", 400, NULL},
    {"/find/rows?timeout=9999999w", 400, NULL},
    {"/health?x=1", 400, NULL},
    {"/families?times=1", 200,
     "{\"families\":[{\"name\":\"rows\",\"rows\":20000,"},
    {"/families?times=soon", 400, "\"at\":{\"parameter\":\"times\","},
    {"/stats?times=1", 400, "unknown parameter 'times'"},
    {"/find?family=rows&key=7&select=n", 200, "\r\n\r\n{\"_key\":7,\"n\":7}\n"},
    {"/find?family=rows&select=n&limit=1", 200,
     "\r\n\r\n{\"_key\":0,\"n\":0}\n{\"_end\":{\"rows\":1}}\n"},
    {"/get?key=7&family=rows&select=n", 200, "\r\n\r\n{\"_key\":7,\"n\":7}\n"},
    {"/find/rows?family=rows", 400, "unknown parameter 'family'"},
    {"/find?family=", 404, "\"unknown path\""},
    {"/find?family=rows&family=rows", 400, "unknown parameter 'family'"},
    {"/stats?family=rows", 404, "\"unknown path\""},
    {"/find/rows?since=7d", 400,
     "\"family 'rows' has no time column: set one with 'colander families "
     "STORE FAMILY --time COLUMN', or by its schema in a "
     "cluster\",\"at\":{\"parameter\":\"since\","},
    {"/find/rows?cursor=&select=n&limit=1", 200,
     "\r\n\r\n{\"_key\":0,\"n\":0}\n"
     "{\"_end\":{\"rows\":1,\"cursor\":\"19\"}}\n"},
    {"/find/rows?cursor=&select=n&from=19999", 200,
     "\r\n\r\n{\"_key\":19999,\"n\":19999}\n{\"_end\":{\"rows\":1}}\n"},
    {"/find/rows?cursor=150", 400,
     "\"at\":{\"parameter\":\"cursor\",\"offset\":2"},
    {"/find/rows?cursor=xx", 400, "not the cursor of an answer"},
    {"/find/rows?cursor=ff", 400, "\"at\":{\"parameter\":\"cursor\","},
    {"/find/rows?cursor=1500&order=n", 400, "a cursor is a key"},
    {"/find/rows?cursor=1500&key=5", 400, "\"key excludes cursor\""},
};

SERVED_TEST(a_question_is_answered)
{
    served_start(served);
    for (size_t i = 0; i < COUNT(questions); i++) {
        const struct asked *asked = &questions[i];
        char *reply = client_get(served, asked->target);

        if (reply_status(reply) != asked->status ||
            (asked->text != NULL && strstr(reply, asked->text) == NULL))
            fail_msg("%s is answered: %.900s", asked->target, reply);
        free(reply);
    }
}

/* Finds by the words in `q`, `limit` rows at a time, from cursor to cursor, and
 * returns their keys with a blank after each. The caller frees it. */
static char *
keys_by_cursor(const struct served *served, const char *q, int limit)
{
    char *keys = calloc(1, 1 << 16);
    char cursor[64] = "";
    size_t size = 0;

    for (bool is_end = false; !is_end;) {
        char target[256];
        char *reply;
        char *at;

        (void)snprintf(target, sizeof(target),
                       "/find/rows?limit=%d&select=n&%s&cursor=%s", limit, q,
                       cursor);
        reply = client_get(served, target);
        ZERO(reply_status(reply) - 200);
        at = body_of(reply);
        for (; strncmp(at, "{\"_key\":", 8) == 0; at = strchr(at, '\n') + 1)
            size += (size_t)sprintf(keys + size, "%d ", atoi(at + 8));
        at = strstr(at, "\"cursor\":\"");
        is_end = at == NULL;
        if (!is_end)
            (void)sscanf(at + 10, "%63[0-9a-f]", cursor);
        free(reply);
    }
    return keys;
}

SERVED_TEST(a_cursor_continues_where_an_answer_ended)
{
    static const char *const finds[] = {
        "q=n%3C%3D40",
        "q=n%3C%3D40&reverse=1",
        "from=5&to=45",
        "from=5&to=45&reverse=1",
        "q=n%3C500+n=7+or+n=70+or+n=470",
    };

    served_start(served);
    for (size_t i = 0; i < COUNT(finds); i++) {
        char *whole = keys_by_cursor(served, finds[i], 1000);

        assert_true(strlen(whole) > 5);
        for (int limit = 1; limit <= 41; limit += limit == 3 ? 37 : 1) {
            char *parts = keys_by_cursor(served, finds[i], limit);

            assert_string_equal(parts, whole);
            free(parts);
        }
        free(whole);
    }
}

/* Keys that begin with all parts of another key come after it. */
SERVED_TEST(a_cursor_passes_no_key_that_begins_with_it)
{
    char *reply;

    OK(colander_family_put_json(served->rows, "{\"_key\":[7,\"x\"],\"n\":-1}",
                                NULL, NULL, why()));
    served_start(served);
    reply = client_get(served, "/find/rows?from=7&limit=1&cursor=&select=n");
    assert_non_null(strstr(reply, "{\"_key\":7,\"n\":7}\n{\"_end\":{\"rows\":1,"
                                  "\"cursor\":\"1a07\"}}"));
    free(reply);
    reply = client_get(served, "/find/rows?cursor=1a07&limit=2&select=n");
    assert_non_null(strstr(reply, "\r\n{\"_key\":[7,\"x\"],\"n\":-1}\n"
                                  "{\"_key\":8,\"n\":8}\n"));
    free(reply);
    reply =
        client_get(served, "/find/rows?cursor=1a07&limit=2&select=n&reverse");
    assert_non_null(strstr(reply, "\r\n{\"_key\":6,\"n\":6}\n"
                                  "{\"_key\":5,\"n\":5}\n"));
    free(reply);
}

/* Whether the page is compressed for a client that accepts `encodings`. */
static bool
page_is_packed(const struct served *served, const char *encodings)
{
    int fd = client_network(served); /* without a token */
    char request[256];
    char *reply;
    bool is_packed;

    (void)snprintf(request, sizeof(request),
                   "GET / HTTP/1.1\r\nHost: localhost\r\n"
                   "Accept: application/xhtml+xml, Text/HTML;q=0.9\r\n"
                   "Accept-Encoding: %s\r\nConnection: close\r\n\r\n",
                   encodings);
    client_say(fd, request);
    reply = client_rest(fd);
    ZERO(reply_status(reply) - 200);
    is_packed = strstr(reply, "\r\nContent-Encoding: gzip\r\n") != NULL;
    assert_non_null(strstr(reply, "\r\nContent-Security-Policy: default-src "
                                  "'none'; script-src 'sha256-"));
    assert_null(strstr(reply, "unsafe"));
    assert_true(is_packed ==
                (strstr(reply, "\r\n\r\n<!doctype html>\n") == NULL));
    free(reply);
    return is_packed;
}

SERVED_TEST(the_page_is_compressed_for_those_who_read_that)
{
    served_start(served);
    assert_true(page_is_packed(served, "gzip"));
    assert_true(page_is_packed(served, "deflate, GZIP;q=0.5, br"));
    assert_false(page_is_packed(served, "identity"));
    assert_false(page_is_packed(served, "gzip;q=0"));
    assert_false(page_is_packed(served, "gzip; q=0.000, br"));
    assert_false(page_is_packed(served, "x-gzipped"));
}

SERVED_TEST(a_family_may_have_any_name)
{
    struct colander_family *family;
    char *reply;

    OK(colander_family_open(served->store, "a/b ?%\"\\", &family, why()));
    OK(colander_family_put_json(family, "{\"_key\":1,\"x\":2}", NULL, NULL,
                                why()));
    served_start(served);
    reply = client_get(served, "/find/a%2fb%20%3F%25%22%5C");
    assert_non_null(strstr(reply, "\r\n\r\n{\"_key\":1,\"x\":2}\n{\"_end\""));
    free(reply);
    reply = client_get(served, "/metrics");
    assert_non_null(
        strstr(reply, "\ncolander_family_rows{family=\"a/b ?%\\\"\\\\\"} 1\n"));
    free(reply);
    colander_family_close(family);
}

/* ------------------------------------------------------------ the gate --- */

struct sent {
    const char *text;
    int status; /* 0: the connection is closed without a word */
};

#define LOCAL(line, headers) line " HTTP/1.1\r\nHost: x\r\n" headers "\r\n"
#define GET_STATS "GET /stats HTTP/1.1\r\n"
#define TOKEN "Authorization: Bearer " SERVED_TOKEN "\r\n"
#define POST_FORM                                                              \
    "POST /find/rows HTTP/1.1\r\nHost: x\r\n"                                  \
    "Content-Type: application/x-www-form-urlencoded\r\n"

/* Through the Unix socket. */
static const struct sent local_requests[] = {
    {LOCAL("GET /health", ""), 200},
    {LOCAL("GET //health", ""), 400},
    {LOCAL("GET /health/", ""), 200},
    {LOCAL("GET /health//", ""), 400},
    {LOCAL("GET /", ""), 200}, /* as Elasticsearch */
    {LOCAL("HEAD /", ""), 200},
    {LOCAL("GET /", "Accept: text/html\r\n"), 200}, /* as the page */
    {LOCAL("GET /?", "Accept: text/html\r\n"), 200},
    {LOCAL("POST /", "Accept: text/html\r\n"), 405},
    {LOCAL("DELETE /", ""), 405},
    {LOCAL("GET /_license?human=false", ""), 200},
    {LOCAL("HEAD /_nodes", ""), 404},
    {LOCAL("PUT /_template/x", "Content-Length: 2\r\n") "{}", 404},
    {LOCAL("PUT /_template/x", "Content-Length: 262145\r\n"), 413},
    {LOCAL("GET /_a/b/c/d", ""), 404},
    {LOCAL("GET /_bulk", ""), 405},
    {LOCAL("DELETE /rows/_bulk", ""), 405},
    {LOCAL("HEAD /rows/_bulk", ""), 405},
    {LOCAL("POST /rows/_bulk/more", "Content-Length: 0\r\n"), 404},
    {LOCAL("GET /write?db=rows", ""), 405},
    {LOCAL("POST /write/rows", "Content-Length: 0\r\n"), 404},
    {LOCAL("POST /api/v2/write/x", "Content-Length: 0\r\n"), 404},
    {LOCAL("POST /api/v2", "Content-Length: 0\r\n"), 404},
    {LOCAL("GET /insert/jsonline", ""), 405},
    {LOCAL("POST /insert", "Content-Length: 0\r\n"), 404},
    {LOCAL("PUT /load/rows", "Content-Length: 0\r\n"), 405},
    {LOCAL("GET /./health", ""), 404},
    {LOCAL("GET /../health", ""), 404},
    {LOCAL("GET /find/../health", ""), 404},
    {LOCAL("GET /find/rows/more", ""), 404},
    {LOCAL("GET /find", ""), 404},
    {LOCAL("GET /health/rows", ""), 404},
    {LOCAL("GET /%68ealth", ""), 200},
    {LOCAL("GET /find%2frows", ""), 404},
    {LOCAL("GET /find/%00", ""), 400},
    {LOCAL("GET /find/rows%00", ""), 400},
    {LOCAL("GET /find/%zz", ""), 400},
    {LOCAL("GET /find/%", ""), 400},
    {LOCAL("GET /find/%4", ""), 400},
    {LOCAL("GET /find/rows?q=%", ""), 400},
    {LOCAL("GET /find/rows?q=%0", ""), 400},
    {LOCAL("GET /find/rows?q=%00", ""), 400},
    {LOCAL("GET /find/rows?%ff%fe=1", ""), 400},
    {LOCAL("GET /find/%ff%fe", ""), 400},
    {LOCAL("GET /get/rows?key=%ff%fe", ""), 400},
    {LOCAL("GET /find/rows?q=%ff%fe=1", ""), 200},
    {LOCAL("GET /find/rows?&&&limit=0&&", ""), 200},
    {LOCAL("GET health", ""), 400},
    {LOCAL("GET http://x/health", ""), 400},
    {LOCAL("GET *", ""), 400},
    {LOCAL("CONNECT x:80", ""), 400},
    {LOCAL("OPTIONS /health", ""), 405},
    {LOCAL("HEAD /health", ""), 200},
    {LOCAL("HEAD /find/rows", ""), 405},
    {LOCAL("HEAD /", "Accept: text/html\r\n"), 200},
    {LOCAL("GET /lua", ""), 405},
    {LOCAL("GET /backup", ""), 405},
    {LOCAL("POST /lua/rows", "Content-Length: 0\r\n"), 404},
    {LOCAL("POST /backup/rows", "Content-Length: 0\r\n"), 404},
    {LOCAL("POST /lua", "Content-Length: 262145\r\n"), 413},
    {LOCAL("PUT /health", ""), 405},
    {LOCAL("DELETE /find/rows", ""), 405},
    {LOCAL("TRACE /health", ""), 405},
    {LOCAL("PATCH /find/rows", ""), 405},
    {LOCAL("get /health", ""), 405},
    {LOCAL("POST /health", "Content-Length: 0\r\n"), 405},
    {LOCAL("GET /health", "Content-Length: 0\r\n"), 200},
    {LOCAL("GET /health", "Content-Length: 1\r\n") "x", 400},
    {LOCAL("GET /health", "Transfer-Encoding: chunked\r\n") "0\r\n\r\n", 400},
    {LOCAL("GET /health", "Content-Length: 0\r\nContent-Length: 5\r\n"), 400},
    {LOCAL("GET /health", "Content-Length: 0\r\nContent-Length: 0\r\n"), 400},
    {LOCAL("GET /health", "Content-Length: -1\r\n"), 400},
    {LOCAL("GET /health", "Content-Length: +1\r\n"), 400},
    {LOCAL("GET /health", "Content-Length: 0x1\r\n"), 400},
    {LOCAL("GET /health", "Content-Length: 1, 1\r\n"), 400},
    {LOCAL("GET /health", "Content-Length: 99999999999999999999999\r\n"), 413},
    {POST_FORM "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n"
               "0\r\n\r\nGET /health HTTP/1.1\r\n\r\n",
     400},
    {POST_FORM "Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n", 400},
    {POST_FORM "Transfer-Encoding: identity\r\n\r\n", 400},
    {POST_FORM "Transfer-Encoding: chunked\r\nTransfer-Encoding: x\r\n\r\n",
     400},
    {POST_FORM "Transfer-Encoding: chunked\r\n\r\n7\r\nlimit=0\r\n0\r\n\r\n",
     200},
    {POST_FORM "Transfer-Encoding: chunked\r\n\r\nzz\r\nlimit=0\r\n0\r\n\r\n",
     400},
    {POST_FORM "Transfer-Encoding: chunked\r\n\r\n-7\r\nlimit=0\r\n0\r\n\r\n",
     400},
    {POST_FORM "Transfer-Encoding: chunked\r\n\r\nffffffffffffffffff\r\nx",
     413},
    {POST_FORM "Content-Length: 7\r\n\r\nlimit=0", 200},
    {POST_FORM "Content-Length: 9\r\n\r\nlimit=0\r\n", 200},
    {POST_FORM "Content-Length: 7\r\n\r\nlimit=x", 400},
    {POST_FORM "Content-Length: 3\r\n\r\nq=%", 400},
    {POST_FORM "Content-Length: 4\r\n\r\nq=%0", 400},
    {POST_FORM "Content-Length: 0\r\n\r\n", 200},
    {POST_FORM "Content-Length: 1000000000\r\n\r\n", 413},
    {POST_FORM "Content-Length: 262145\r\n\r\n", 413},
    {LOCAL("POST /find/rows", "Content-Type: application/json\r\n"
                              "Content-Length: 2\r\n") "{}",
     415},
    {LOCAL("POST /get/rows", "Content-Length: 0\r\n"), 405},
    {"GET /health HTTP/1.1\r\n\r\n", 400},
    {"GET /health HTTP/1.1\r\nHost: x\r\nHost: y\r\n\r\n", 400},
    {"GET /health HTTP/1.0\r\n\r\n", 200},
    {"GET /health HTTP/2.0\r\nHost: x\r\n\r\n", 505},
    {"GET /health HTTP/0.9\r\nHost: x\r\n\r\n", 505},
    {"GET /health XTTP/1.1\r\nHost: x\r\n\r\n", 400},
    {LOCAL("GET /health", "No colon\r\n"), 400},
    {LOCAL("GET /health", ": no name\r\n"), 200},
    {LOCAL("GET /health", "Content-Length : 5\r\n"), 400},
    {LOCAL("GET /health", "Host\t: y\r\n"), 400},
    {LOCAL("GET /health", "X Y: z\r\n"), 400},
    {LOCAL("GET /health", "X: "
                          "\x01\x02\xff"
                          "\r\n"),
     200},
    {LOCAL("GET /health", "Origin: http://x\r\n"), 200},
    {LOCAL("GET /health", "Origin: http://evil\r\n"), 403},
    {"GET /health HTTP/1.1\r\nHost: localhost:7411\r\n\r\n", 200},
    {"GET /find/rows HTTP/1.1\r\nHost: evil.example:7411\r\n\r\n", 421},
    {"GET /find/rows HTTP/1.1\r\nHost: evil.\r\n\r\n", 421},
    {LOCAL("GET /health", "Origin: null\r\n"), 403},
    {LOCAL("GET /health", "Origin: https://x\r\n"), 403},
    {LOCAL("GET /health", "Origin: http://x.evil\r\n"), 403},
    {"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", 0},
    {"SSH-2.0-OpenSSH_9.2\r\n\r\n", 0},
    {"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 505},
    {"\r\n\r\n\r\n\r\n", 0},
};

/* By TCP, where a token is needed. */
static const struct sent network_requests[] = {
    {"GET /health HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n", 200},
    {"GET /health HTTP/1.1\r\nHost: evil.example\r\n\r\n", 421},
    {GET_STATS "Host: 127.0.0.1\r\n" TOKEN "\r\n", 200},
    {GET_STATS "Host: 127.0.0.1:99\r\n" TOKEN "\r\n", 200},
    {GET_STATS "Host: localhost\r\n" TOKEN "\r\n", 200},
    {GET_STATS "Host: LocalHost:80\r\n" TOKEN "\r\n", 200},
    {GET_STATS "Host: [::1]:80\r\n" TOKEN "\r\n", 200},
    {GET_STATS "Host: [::1]\r\n" TOKEN "\r\n", 200},
    {GET_STATS "Host: 192.168.0.1\r\n" TOKEN "\r\n", 200},
    {GET_STATS "Host: evil.example\r\n" TOKEN "\r\n", 421},
    {GET_STATS "Host: 127.0.0.1.evil.example\r\n" TOKEN "\r\n", 421},
    {GET_STATS "Host: localhost.evil.example\r\n" TOKEN "\r\n", 421},
    {GET_STATS "Host: 127.0.0.1:x\r\n" TOKEN "\r\n", 421},
    {GET_STATS "Host: 127.0.0.1@evil.example\r\n" TOKEN "\r\n", 421},
    {GET_STATS "Host: [::1\r\n" TOKEN "\r\n", 421},
    {GET_STATS "Host: []\r\n" TOKEN "\r\n", 421},
    {GET_STATS "Host: 2130706433\r\n" TOKEN "\r\n", 421},
    {GET_STATS "Host:\r\n" TOKEN "\r\n", 421},
    {GET_STATS TOKEN "\r\n", 400},
    {GET_STATS "Host: 127.0.0.1\r\n\r\n", 401},
    {GET_STATS "Host: 127.0.0.1\r\n" TOKEN TOKEN "\r\n", 400},
    {GET_STATS "Host: 127.0.0.1\r\nAuthorization: Bearer\r\n\r\n", 401},
    {GET_STATS "Host: 127.0.0.1\r\nAuthorization: Bearer \r\n\r\n", 401},
    {GET_STATS "Host: 127.0.0.1\r\nAuthorization: Bearer x\r\n\r\n", 401},
    {GET_STATS "Host: 127.0.0.1\r\nAuthorization: Bearer " SERVED_TOKEN
               "0\r\n\r\n",
     401},
    {GET_STATS "Host: 127.0.0.1\r\nAuthorization: Basic " SERVED_TOKEN
               "\r\n\r\n",
     401},
    {GET_STATS "Host: 127.0.0.1\r\nAuthorization: " SERVED_TOKEN "\r\n\r\n",
     401},
    {GET_STATS "Host: 127.0.0.1\r\nCookie: token=" SERVED_TOKEN "\r\n\r\n",
     401},
    {"GET /stats?token=" SERVED_TOKEN " HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n",
     401},
    {GET_STATS "Host: 127.0.0.1\r\n" TOKEN "Origin: http://127.0.0.1\r\n\r\n",
     200},
    {GET_STATS "Host: 127.0.0.1\r\n" TOKEN
               "Origin: http://evil.example\r\n\r\n",
     403},
    {"GET /nothing HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n", 401},
    {"POST /find/rows HTTP/1.1\r\nHost: 127.0.0.1\r\n"
     "Content-Length: 1000000000\r\n\r\n",
     401},
};

/* Sends the request. Returns the status of the reply. A client that closes its
 * side while it waits for one has left: it does only if there is none. */
static int
status_of(int fd, const struct sent *sent)
{
    char reply[64] = "";
    size_t size = 0;
    size_t got = 1;

    client_say(fd, sent->text);
    if (sent->status == 0)
        ZERO(shutdown(fd, SHUT_WR));
    while (size < sizeof("HTTP/1.1 200") && got > 0) {
        got = client_read(fd, reply + size, sizeof(reply) - 1 - size);
        size += got;
    }
    ZERO(close(fd));
    return reply_status(reply);
}

/* Bytes that are allocated. */
static size_t
memory_in_use(void)
{
    const struct mallinfo2 info = mallinfo2();

    return info.uordblks + info.hblkhd;
}

/* Asserts that each is answered so, and that none leaves memory behind: the
 * cache of the store may grow by a few blocks. */
static void
assert_statuses(struct served *served, const struct sent *list, size_t count,
                int (*connect_to)(const struct served *served))
{
    size_t before;

    served_start(served);
    free(client_get(served, "/find/rows"));
    before = memory_in_use();
    for (size_t i = 0; i < count; i++) {
        const int status = status_of(connect_to(served), &list[i]);

        if (memory_in_use() > before + MEMORY_MAX)
            fail_msg("%s\nleaves %zu bytes", list[i].text,
                     memory_in_use() - before);

        if (status != list[i].status)
            fail_msg("%s\nis answered %d, not %d", list[i].text, status,
                     list[i].status);
    }
    assert_int_equal(client_status(served, "/health"), 200);
}

SERVED_TEST(a_hostile_request_is_refused)
{
    assert_statuses(served, local_requests, COUNT(local_requests),
                    client_local);
}

SERVED_TEST(a_stranger_is_refused)
{
    assert_statuses(served, network_requests, COUNT(network_requests),
                    client_network);
}

/* --------------------------------------------------------------- limits --- */

/* Sends `unit` again and again until the server closes; it must before
 * `size_max` bytes are sent. Returns what it has said. */
static char *
flood(int fd, const char *unit, size_t size_max)
{
    size_t sent = 0;

    while (sent < size_max) {
        const ssize_t size = send(fd, unit, strlen(unit), MSG_NOSIGNAL);

        if (size <= 0)
            return client_rest(fd);
        sent += (size_t)size;
    }
    fail_msg("the server takes %zu bytes", sent);
    return NULL;
}

SERVED_TEST(headers_are_limited)
{
    int fd;
    char *reply;

    served_start(served);
    fd = client_local(served);
    client_say(fd, "GET /health HTTP/1.1\r\nHost: x\r\n");
    reply = flood(fd, "X-Header: 0123456789\r\n", 64 << 20);
    assert_true(reply_status(reply) == 431 || reply_status(reply) == 0);
    free(reply);
    fd = client_local(served);
    client_say(fd, "GET /");
    reply = flood(fd, "0123456789", 64 << 20);
    assert_true(reply_status(reply) == 414 || reply_status(reply) == 0);
    free(reply);
}

SERVED_TEST(a_body_is_limited)
{
    int fd;
    char *reply;

    served_start(served);
    fd = client_local(served);
    client_say(fd, POST_FORM "Transfer-Encoding: chunked\r\n\r\n");
    reply = flood(fd, "a\r\n0123456789\r\n", 64 << 20);
    assert_int_not_equal(reply_status(reply), 200);
    free(reply);
}

SERVED_TEST(a_body_that_is_a_little_too_large_is_refused)
{
    static char large[270000];
    int fd;
    char *reply;

    memset(large, 'x', sizeof(large));
    served_start(served);
    fd = client_local(served);
    client_say(fd, POST_FORM "Transfer-Encoding: chunked\r\n\r\n41eb0\r\n");
    client_send(fd, large, sizeof(large));
    client_say(fd, "\r\n0\r\n\r\n");
    reply = client_rest(fd);
    assert_int_equal(reply_status(reply), 413);
    free(reply);
}

/* A byte now and then is not enough. */
SERVED_TEST(a_request_that_does_not_come_is_closed)
{
    static const char *const starts[] = {
        "",
        "GET",
        "GET /health HTTP/1.1\r\nHost: x\r\nX: ",
        POST_FORM "Content-Length: 100\r\n\r\nq=",
        LOCAL("GET /health", "") "GET",
    };

    served->options.request_ms = 300;
    served_start(served);
    for (size_t i = 0; i < 2 * COUNT(starts); i++) {
        int fd = i % 2 == 0 ? client_local(served) : client_network(served);
        bool is_open = true;

        client_say(fd, starts[i / 2]);
        for (int turn = 0; is_open; turn++) {
            struct pollfd one = {fd, POLLIN, 0};
            char bytes[1024];

            if (turn == SERVED_WAIT_S * 20)
                fail_msg("%s is waited for", starts[i / 2]);
            client_say(fd, i / 2 == 0 ? "" : "a");
            if (poll(&one, 1, 50) == 1)
                is_open = recv(fd, bytes, sizeof(bytes), 0) > 0;
        }
        ZERO(close(fd));
    }
}

SERVED_TEST(connections_are_limited)
{
    int fds[4];
    char byte;
    int fd;

    served->options.connection_max = COUNT(fds);
    served_start(served);
    for (size_t i = 0; i < COUNT(fds); i++) {
        char reply[2048];

        fds[i] = client_local(served);
        client_say(fds[i], LOCAL("GET /health", ""));
        client_read(fds[i], reply, sizeof(reply));
    }
    fd = client_network(served); /* which are counted by themselves */
    client_say(fd, "GET /health HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n");
    assert_true(client_read(fd, &byte, 1) == 1);
    ZERO(close(fd));
    fd = client_local(served);
    client_say(fd, LOCAL("GET /health", ""));
    for (size_t i = 0; i < COUNT(fds); i++)
        ZERO(close(fds[i]));
    (void)client_read(fd, &byte, 1); /* it was closed, or waited */
    ZERO(close(fd));
    client_awaits(served, "/health", "ok");
}

int
main(void)
{
    return tests_run(NULL, NULL);
}
