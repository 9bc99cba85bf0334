/*
 * Line input: lines that somebody types, with editing and a history, or that
 * come from a file or pipe.
 *
 * The history stays in $XDG_STATE_HOME/colander/history, readable by its
 * owner only; where no such place is, it lasts as long as the session.
 *
 * Life:   open -> read* -> close
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef SHELL_LINE_INPUT_H
#define SHELL_LINE_INPUT_H

#include "colander.h"

struct line_input;

/* Reads standard input; `is_prompt`: from a terminal. */
COLANDER_CHECKED enum colander_code line_input_open(bool is_prompt,
                                                    struct line_input **input,
                                                    struct colander_error *err);

/*
 * Gives the next line, without its end, borrowed until the next read; NULL at
 * the end. CANCELLED when Ctrl-C was typed instead.
 */
COLANDER_CHECKED enum colander_code line_input_read(struct line_input *input,
                                                    const char **line,
                                                    struct colander_error *err);

/* Keeps the history. NULL is allowed. */
void line_input_close(struct line_input *input);

#endif
