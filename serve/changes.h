/*
 * Changes: requests that are commands of the program, run with the parameters
 * of the request as options. Those that write answer with what they did:
 *
 *     POST /load/tweets?key=id        the records are the body
 *     {"rows":2,"new":2,"replaced":0,"kept":0,"rejected":1,
 *      "rejects":[{"line":2,"column":1,"reason":"..."}]}
 *
 * A failure has {"error":{...}} beside what was done before it. Those that only
 * read answer with the lines that they print, and one more:
 *
 *     GET /group/tweets?by=lang
 *     {"lang":"en","count":2}
 *     {"_end":{"groups":1,"rows":2}}
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef SERVE_CHANGES_H
#define SERVE_CHANGES_H

#include "serve/serve_inside.h"

struct parameters;

/* Each makes the writer of an answer; see find.h about the arguments. */

/* Its writer has a body, which it reads while it comes. */
enum colander_code changes_load(struct server *server,
                                struct parameters *parameters,
                                struct writer **writer, const char **parameter,
                                size_t *offset, struct colander_error *err);

enum colander_code changes_delete(struct server *server,
                                  struct parameters *parameters,
                                  struct writer **writer,
                                  const char **parameter, size_t *offset,
                                  struct colander_error *err);

enum colander_code changes_update(struct server *server,
                                  struct parameters *parameters,
                                  struct writer **writer,
                                  const char **parameter, size_t *offset,
                                  struct colander_error *err);

/* These three read. */

/* A find of several families; find.h is about one. */
enum colander_code changes_find(struct server *server,
                                struct parameters *parameters,
                                struct writer **writer, const char **parameter,
                                size_t *offset, struct colander_error *err);

enum colander_code changes_columns(struct server *server,
                                   struct parameters *parameters,
                                   struct writer **writer,
                                   const char **parameter, size_t *offset,
                                   struct colander_error *err);

enum colander_code changes_group(struct server *server,
                                 struct parameters *parameters,
                                 struct writer **writer, const char **parameter,
                                 size_t *offset, struct colander_error *err);

/* Runs the body, a script that reads the store. */
enum colander_code changes_script(struct server *server,
                                  struct parameters *parameters,
                                  struct writer **writer,
                                  const char **parameter, size_t *offset,
                                  struct colander_error *err);

enum colander_code changes_backup(struct server *server,
                                  struct parameters *parameters,
                                  struct writer **writer,
                                  const char **parameter, size_t *offset,
                                  struct colander_error *err);

#endif
