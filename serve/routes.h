/*
 * Routes: from a request to its answer. The callbacks of libmicrohttpd.
 *
 * Life of a request: route_begin when its first line has come -> route_take,
 * for its headers, each piece of its body, its end, and again when its answer
 * resumes -> route_end
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef SERVE_ROUTES_H
#define SERVE_ROUTES_H

#include "serve/serve_inside.h"

#include <microhttpd.h>

/* `context` is the door. */

void *route_begin(void *context, const char *target,
                  struct MHD_Connection *connection);

enum MHD_Result route_take(void *context, struct MHD_Connection *connection,
                           const char *path, const char *method,
                           const char *version, const char *data, size_t *size,
                           void **request);

void route_end(void *context, struct MHD_Connection *connection, void **request,
               enum MHD_RequestTerminationCode why);

/* A connection was made, or is about to be closed. */
void route_visit(void *context, struct MHD_Connection *connection,
                 void **visitor, enum MHD_ConnectionNotificationCode what);

#endif
