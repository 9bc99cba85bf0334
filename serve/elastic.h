/*
 * Elasticsearch's _bulk, and what its clients ask first:
 *
 *     POST /_bulk, POST /FAMILY/_bulk    items (loading/item_rows.h)
 *     GET /                              a name and a version
 *     GET /_license, GET /_cat/health    that all is well
 *     /_ANY                              404: there is no such thing here
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef SERVE_ELASTIC_H
#define SERVE_ELASTIC_H

#include "serve/serve_inside.h"

struct parameters;

enum colander_code elastic_bulk(struct server *server,
                                struct parameters *parameters,
                                struct writer **writer, const char **parameter,
                                size_t *offset, struct colander_error *err);

/* Answers to any other path, by its first two parts. */
enum colander_code elastic_ask(struct server *server,
                               struct parameters *parameters,
                               struct writer **writer, const char **parameter,
                               size_t *offset, struct colander_error *err);

#endif
