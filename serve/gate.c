/* See gate.h. SPDX-License-Identifier: MIT */
#include "serve/gate.h"

#include <arpa/inet.h>
#include <microhttpd.h>
#include <stdlib.h>
#include <strings.h>

/* The headers that matter. */
struct headers {
    const char *host;
    const char *origin;
    const char *authorization;
    const char *content_type;
    const char *length;
    const char *transfer;
    bool is_doubled; /* one of those is there twice */
    bool is_strange; /* a header has a name that another program may read as
                      * one of those: with a blank before its colon */
};

static const struct refusal let_in = {0, NULL, NULL, false};

static enum MHD_Result
take_header(void *context, enum MHD_ValueKind kind, const char *name,
            const char *value)
{
    struct headers *headers = context;
    const struct {
        const char *name;
        const char **value;
    } known[] = {
        {"Host", &headers->host},
        {"Origin", &headers->origin},
        {"Authorization", &headers->authorization},
        {"Content-Type", &headers->content_type},
        {"Content-Length", &headers->length},
        {"Transfer-Encoding", &headers->transfer},
    };

    static const char token[] = "!#$%&'*+-.^_`|~0123456789"
                                "abcdefghijklmnopqrstuvwxyz"
                                "ABCDEFGHIJKLMNOPQRSTUVWXYZ";

    (void)kind;
    if (name[0] == '\0' || name[strspn(name, token)] != '\0')
        headers->is_strange = true;
    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
        if (strcasecmp(known[i].name, name) != 0)
            continue;
        headers->is_doubled = headers->is_doubled || *known[i].value != NULL;
        *known[i].value = value == NULL ? "" : value;
    }
    return MHD_YES;
}

static struct refusal
refuse_framing(const char *message)
{
    const struct refusal refusal = {MHD_HTTP_BAD_REQUEST, "bad request",
                                    message, true};

    return refusal;
}

static bool
is_number(const char *text)
{
    return text[0] != '\0' && text[strspn(text, "0123456789")] == '\0';
}

static struct refusal
judge_framing(const struct headers *headers, const char *version)
{
    if (headers->is_strange)
        return refuse_framing("the name of a header is none");
    if (headers->is_doubled)
        return refuse_framing("a header is there twice");
    if (headers->length != NULL && headers->transfer != NULL)
        return refuse_framing("there are both a Content-Length and a "
                              "Transfer-Encoding");
    if (headers->length != NULL && !is_number(headers->length))
        return refuse_framing("the Content-Length is not a number");
    if (headers->transfer != NULL &&
        (strcasecmp(headers->transfer, "chunked") != 0 ||
         strcmp(version, "HTTP/1.1") != 0))
        return refuse_framing("only chunked is supported as a "
                              "Transfer-Encoding, in HTTP/1.1");
    if (headers->host == NULL && strcmp(version, "HTTP/1.1") == 0)
        return refuse_framing("the header Host is missing");
    return let_in;
}

static struct refusal
judge_body(const struct headers *headers, enum gate_body body, size_t body_max)
{
    static const char form[] = "application/x-www-form-urlencoded";
    const struct refusal too_large = {MHD_HTTP_CONTENT_TOO_LARGE, "limit",
                                      "the body of the request is too large",
                                      true};
    const struct refusal no_form = {
        MHD_HTTP_UNSUPPORTED_MEDIA_TYPE, "invalid",
        "the body must be application/x-www-form-urlencoded", true};
    const unsigned long long size =
        headers->length == NULL ? 0 : strtoull(headers->length, NULL, 10);

    if (body == GATE_NO_BODY && (size > 0 || headers->transfer != NULL))
        return refuse_framing("this request has no body");
    if (size > body_max && body != GATE_STREAM)
        return too_large;
    if (body == GATE_FORM && headers->content_type != NULL &&
        strncasecmp(headers->content_type, form, sizeof(form) - 1) != 0)
        return no_form;
    return let_in;
}

/* Whether a Host is an address as numbers, or localhost; at the socket also a
 * name without a dot. Another name would be one that a page of another site can
 * make lead here: to the socket by a tunnel. */
static bool
is_own_host(const char *host, bool is_local)
{
    char text[INET6_ADDRSTRLEN + 2];
    uint8_t address[sizeof(struct in6_addr)];
    const char *colon = strrchr(host, ':');
    size_t size = strlen(host);

    if (colon != NULL && strchr(colon, ']') == NULL) {
        if (!is_number(colon + 1))
            return false;
        size = (size_t)(colon - host);
    }
    if (size >= sizeof(text))
        return false;
    memcpy(text, host, size);
    text[size] = '\0';
    if (size > 2 && text[0] == '[' && text[size - 1] == ']') {
        text[size - 1] = '\0';
        return inet_pton(AF_INET6, text + 1, address) == 1;
    }
    return inet_pton(AF_INET, text, address) == 1 ||
           strcasecmp(text, "localhost") == 0 ||
           (is_local && strchr(text, '.') == NULL);
}

static struct refusal
judge_site(const struct headers *headers, const struct door *door)
{
    const char *scheme = door->has_tls ? "https://" : "http://";
    const size_t scheme_size = strlen(scheme);
    const struct refusal no_host = {
        MHD_HTTP_MISDIRECTED_REQUEST, "forbidden",
        "the Host must be an address as numbers, or localhost", true};
    const struct refusal no_origin = {
        MHD_HTTP_FORBIDDEN, "forbidden",
        "the request comes from the page of another site", true};
    const char *origin = headers->origin;

    /* with TLS the name is one of the certificate, or a browser does not ask */
    if (!door->has_tls && headers->host != NULL &&
        !is_own_host(headers->host, door->is_local))
        return no_host;
    if (origin != NULL &&
        (headers->host == NULL || strncmp(origin, scheme, scheme_size) != 0 ||
         strcasecmp(origin + scheme_size, headers->host) != 0))
        return no_origin;
    return let_in;
}

static struct refusal
judge_client(const struct headers *headers, const struct door *door,
             const struct visitor *visitor)
{
    const struct refusal stranger = {
        MHD_HTTP_FORBIDDEN, "forbidden",
        "the socket is for processes of the user who serves the store", true};
    const struct refusal no_token = {
        MHD_HTTP_UNAUTHORIZED, "unauthorized",
        "the request needs the token: Authorization: Bearer TOKEN", true};
    const char *given = headers->authorization;

    if (door->is_local)
        return visitor_is_trusted(visitor) ? let_in : stranger;
    if (given == NULL || !token_is_in_header(&door->server->token, given))
        return no_token;
    return let_in;
}

struct refusal
gate_judge(const struct door *door, const struct visitor *visitor,
           struct MHD_Connection *connection, const char *version, bool is_open,
           enum gate_body body, size_t body_max)
{
    struct headers headers;
    struct refusal refusal;

    memset(&headers, 0, sizeof(headers));
    (void)MHD_get_connection_values(connection, MHD_HEADER_KIND, take_header,
                                    &headers);
    refusal = judge_framing(&headers, version);
    if (refusal.status == 0)
        refusal = judge_site(&headers, door);
    if (refusal.status == 0 && !(is_open && !door->is_local))
        refusal = judge_client(&headers, door, visitor);
    if (refusal.status == 0)
        refusal = judge_body(&headers, body, body_max);
    return refusal;
}
