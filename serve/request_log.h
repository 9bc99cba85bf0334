/*
 * The log of requests: a line of JSON for each that has ended.
 *
 * Who ends a note, which adds a line, never waits for a disk or a pipe: a
 * thread writes what has come ten times a second. What there is no room for, or
 * cannot be written, is dropped and counted, and the next line that is written
 * says so: {"time":"...","dropped":12}. A line is written whole, or the next
 * one begins after a line break.
 *
 * Texts of clients are JSON, so they end no line. Bytes that are not text, and
 * characters that a terminal does not show, are question marks.
 *
 * Life:    request_log_open -> (note_begin -> note_read -> note_command ->
 *          note_end)*, reopen* -> request_log_close
 * Threads: any
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef SERVE_REQUEST_LOG_H
#define SERVE_REQUEST_LOG_H

#include "columns/columns.h"

struct MHD_Connection;
struct answer;
struct parameters;
struct request_log;

/* Appends to the file at `path`, made with mode 600 if it is not there; "-" is
 * standard output. Without `has_values` a line has nothing that was asked for:
 * of a target only the kind of request and the family. On success *log is the
 * caller's to close. */
COLANDER_CHECKED enum colander_code
request_log_open(const char *path, bool has_values, struct request_log **log,
                 struct colander_error *err);

/* Writes what has come. NULL is allowed. */
void request_log_close(struct request_log *log);

/* Opens the path again, which may be another file now. On failure the file from
 * before is written to. */
COLANDER_CHECKED enum colander_code
request_log_reopen(struct request_log *log, struct colander_error *err);

/*
 * What is kept of a request for its line. Only the first and the last of these
 * functions are always called; without a log, which is NULL, they do nothing.
 */
struct note {
    uint64_t begun_ns;
    char method[16];
    const char *request; /* static; NULL: of no known kind */
    char *family;        /* owned, as are the next */
    char *command;
    char *target; /* only if values are logged */
    uint64_t in;  /* bytes of the body */
    uint64_t out; /* of a reply that was queued as a whole */
};

/* Requires a note of zeros. */
void note_begin(struct note *note, struct request_log *log, const char *target);

/* The headers have come. */
void note_read(struct note *note, struct request_log *log, const char *method,
               const char *request, bool has_family,
               const struct parameters *parameters);

/* It asks for a command; only its name is kept. */
void note_command(struct note *note, struct request_log *log,
                  const struct parameters *parameters);

/* Adds the line, and releases the note. `answer` may be NULL, and status 0:
 * then none was sent that is known of. */
void note_end(struct note *note, struct request_log *log,
              struct MHD_Connection *connection, struct answer *answer,
              unsigned status, struct colander_slice body, bool is_whole);

/* Returns how many lines were dropped. */
uint64_t request_log_dropped(struct request_log *log);

#endif
