/*
 * The gate: which requests are let in.
 *
 * Refused are requests whose end another program on the way may see elsewhere
 * (two lengths), those that a page of another site made a browser send (Host,
 * Origin), and those of strangers (user of the Unix socket, token).
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef SERVE_GATE_H
#define SERVE_GATE_H

#include "serve/serve_inside.h"

struct MHD_Connection;

/* Why a request is refused. */
struct refusal {
    unsigned status; /* 0: it is let in */
    const char *code;
    const char *message;
    bool closes; /* the connection */
};

enum gate_body {
    GATE_NO_BODY,
    GATE_FORM,
    GATE_BYTES,  /* of any type */
    GATE_STREAM, /* the same, of any size */
};

/* Judges the headers of a request. `is_open`: without a token. `body` is what
 * it brings; all but a stream have at most `body_max` bytes. */
struct refusal gate_judge(const struct door *door,
                          const struct visitor *visitor,
                          struct MHD_Connection *connection,
                          const char *version, bool is_open,
                          enum gate_body body, size_t body_max);

#endif
