/* See page.h. SPDX-License-Identifier: MIT */
#include "serve/page.h"
#include "serve/reply.h"

#include <microhttpd.h>
#include <stdlib.h>
#include <strings.h>

/* Whether the client lists gzip, and not as what it does not want. */
static bool
reads_gzip(struct MHD_Connection *connection)
{
    const char *list = MHD_lookup_connection_value(
        connection, MHD_HEADER_KIND, MHD_HTTP_HEADER_ACCEPT_ENCODING);
    bool reads = false;

    while (list != NULL && *list != '\0') {
        const size_t size = strcspn(list, ",");
        const char *name = list + strspn(list, " \t");
        const char *weight = memmem(list, size, "q=", 2);

        if (strcspn(name, " \t;,") == 4 && strncasecmp(name, "gzip", 4) == 0)
            reads = weight == NULL || strtod(weight + 2, NULL) > 0;
        list += size + (list[size] == ',');
    }
    return reads;
}

bool
page_is_wanted(struct MHD_Connection *connection)
{
    const char *types = MHD_lookup_connection_value(connection, MHD_HEADER_KIND,
                                                    MHD_HTTP_HEADER_ACCEPT);

    return types != NULL && strcasestr(types, "text/html") != NULL;
}

unsigned
page_reply(struct server *server, struct MHD_Connection *connection,
           const struct parameters *parameters)
{
    const bool is_packed = reads_gzip(connection);
    const struct page_bytes *page = is_packed ? &page_packed : &page_plain;
    struct MHD_Response *response = MHD_create_response_from_buffer(
        page->size, (void *)page->bytes, MHD_RESPMEM_PERSISTENT);

    (void)server;
    (void)parameters;
    if (response == NULL)
        return 0;
    (void)MHD_add_response_header(response, "Content-Security-Policy",
                                  page_policy);
    (void)MHD_add_response_header(response, "Referrer-Policy", "no-referrer");
    (void)MHD_add_response_header(response, "Cross-Origin-Opener-Policy",
                                  "same-origin");
    (void)MHD_add_response_header(response, MHD_HTTP_HEADER_VARY,
                                  MHD_HTTP_HEADER_ACCEPT
                                  ", " MHD_HTTP_HEADER_ACCEPT_ENCODING);
    if (is_packed)
        (void)MHD_add_response_header(response,
                                      MHD_HTTP_HEADER_CONTENT_ENCODING, "gzip");
    return reply_with(connection, MHD_HTTP_OK, response, page->size,
                      "text/html; charset=utf-8");
}
