/*
 * Line input: lines that somebody types, with editing, completion and a
 * history, or that come from a file or pipe.
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

#include <stdio.h>

struct line_input;

/* Finds what may stand at the end of `line`: the texts that could be there
 * instead of its last `*size` bytes, as C strings one behind the other. */
typedef void (*line_completer)(void *context, struct colander_slice line,
                               size_t *size, struct colander_buffer *texts);

/* Reads what is typed at the terminal. `complete` is called with `context`. */
COLANDER_CHECKED enum colander_code
line_input_open_terminal(line_completer complete, void *context,
                         struct line_input **input, struct colander_error *err);

/* Reads a file, which stays the caller's. */
COLANDER_CHECKED enum colander_code
line_input_open_file(FILE *file, struct line_input **input,
                     struct colander_error *err);

/*
 * Gives the next line, without its end, borrowed until the next read; NULL at
 * the end. CANCELLED when Ctrl-C was typed instead. `prompt` stands before a
 * line that is typed.
 */
COLANDER_CHECKED enum colander_code line_input_read(struct line_input *input,
                                                    const char *prompt,
                                                    const char **line,
                                                    struct colander_error *err);

/* Ends the line that was typed, where nothing else does. */
void line_input_end_line(struct line_input *input);

/* Whether the Ctrl-C of the last read was the second within a second. */
bool line_input_was_left(const struct line_input *input);

/* Adds what was typed to the history, and keeps that: what is run next may end
 * the program. */
void line_input_remember(struct line_input *input, const char *text);

/* NULL is allowed. */
void line_input_close(struct line_input *input);

#endif
