/*
 * Facts: what a server says of itself and of its store.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef SERVE_FACTS_H
#define SERVE_FACTS_H

#include "serve/serve_inside.h"

struct parameters;

/* Each makes the writer of an answer. They take no parameters: fail with
 * INVALID if there are some, and set *parameter to the name of one. */

enum colander_code facts_health(struct server *server,
                                struct parameters *parameters,
                                struct writer **writer, const char **parameter,
                                size_t *offset, struct colander_error *err);

/* Families with their sizes and time columns, as JSON. */
enum colander_code facts_families(struct server *server,
                                  struct parameters *parameters,
                                  struct writer **writer,
                                  const char **parameter, size_t *offset,
                                  struct colander_error *err);

/* The cluster, as far as it is one of its nodes, as JSON. */
enum colander_code facts_nodes(struct server *server,
                               struct parameters *parameters,
                               struct writer **writer, const char **parameter,
                               size_t *offset, struct colander_error *err);

/* The server and the sums of its families, as JSON. */
enum colander_code facts_stats(struct server *server,
                               struct parameters *parameters,
                               struct writer **writer, const char **parameter,
                               size_t *offset, struct colander_error *err);

/* The same and the families, as Prometheus reads them. */
enum colander_code facts_metrics(struct server *server,
                                 struct parameters *parameters,
                                 struct writer **writer, const char **parameter,
                                 size_t *offset, struct colander_error *err);

#endif
