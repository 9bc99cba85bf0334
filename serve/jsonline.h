/*
 * JSON lines as VictoriaLogs takes them:
 *
 *     POST /insert/jsonline?family=logs&_time_field=at&_msg_field=text
 *
 * It is a load of JSON lines, and answered as one.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef SERVE_JSONLINE_H
#define SERVE_JSONLINE_H

#include "serve/serve_inside.h"

struct parameters;

enum colander_code jsonline_load(struct server *server,
                                 struct parameters *parameters,
                                 struct writer **writer, const char **parameter,
                                 size_t *offset, struct colander_error *err);

#endif
