/*
 * Line protocol as InfluxDB takes it:
 *
 *     POST /write?db=FAMILY&precision=s
 *     POST /api/v2/write?bucket=FAMILY&org=ANY&precision=s
 *
 * 204: all lines are loaded. 400: some were rejected, the others are loaded.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef SERVE_INFLUX_H
#define SERVE_INFLUX_H

#include "serve/serve_inside.h"

struct parameters;

/* Of version 1, and of version 2. */
enum colander_code influx_write(struct server *server,
                                struct parameters *parameters,
                                struct writer **writer, const char **parameter,
                                size_t *offset, struct colander_error *err);
enum colander_code influx_write_bucket(struct server *server,
                                       struct parameters *parameters,
                                       struct writer **writer,
                                       const char **parameter, size_t *offset,
                                       struct colander_error *err);

#endif
