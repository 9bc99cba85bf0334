/*
 * Runs: commands of the program that are run for a client, whose output they
 * are.
 *
 * The body of the request is a form with the words of the command line,
 * word=find&word=data&word=tweets, and of the terminal width=80, in_terminal=1,
 * out_terminal=1 and err_terminal=1. The answer is frames: a byte that says
 * what it is, its size in four bytes (big-endian), and what it has.
 *
 *     o  for standard output
 *     e  for standard error
 *     a  the command asks for a file of the client: see asks.h
 *     f  the command has failed in the server: a message; the last frame
 *     x  the exit status, in four bytes; the last frame
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef SERVE_RUNS_H
#define SERVE_RUNS_H

#include "serve/serve_inside.h"

#define RUNS_FRAME_SIZE 5 /* bytes before those of a frame */

enum runs_frame {
    RUNS_OUT = 'o',
    RUNS_ERR = 'e',
    RUNS_ASK = 'a',
    RUNS_FAILURE = 'f',
    RUNS_EXIT = 'x',
};

struct parameters;

/* Makes the writer of the output. See find.h about the arguments. */
enum colander_code runs_command(struct server *server,
                                struct parameters *parameters,
                                struct writer **writer, const char **parameter,
                                size_t *offset, struct colander_error *err);

#endif
