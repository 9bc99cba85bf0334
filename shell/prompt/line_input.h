/*
 * Line input: lines that are typed, with editing, completion and a history, or
 * that come from a file or pipe.
 *
 * The history is kept in $XDG_STATE_HOME/colander/history, readable by its
 * owner only. If that is not possible, it lasts as long as the session.
 *
 * Life:   open -> read* -> close
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef SHELL_PROMPT_LINE_INPUT_H
#define SHELL_PROMPT_LINE_INPUT_H

#include "colander.h"

#include <stdio.h>

struct line_input;

/* Completes the last word of `line`: fills `added` with the bytes to insert, or
 * else `listing` with what may follow, as lines. Both are C strings. */
typedef void (*line_completer)(void *context, struct colander_slice line,
                               struct colander_buffer *added,
                               struct colander_buffer *listing);

/* Reads lines from the terminal. Calls `complete` with `context`. */
COLANDER_CHECKED enum colander_code
line_input_open_terminal(line_completer complete, void *context,
                         struct line_input **input, struct colander_error *err);

/* Reads lines from `file`, which is borrowed. */
COLANDER_CHECKED enum colander_code
line_input_open_file(FILE *file, struct line_input **input,
                     struct colander_error *err);

/* Sets *line to the next line, without its end, or to NULL at the end. Borrowed
 * until the next read. Prints `prompt` on a terminal. Fails with CANCELLED on
 * Ctrl-C. */
COLANDER_CHECKED enum colander_code line_input_read(struct line_input *input,
                                                    const char *prompt,
                                                    const char **line,
                                                    struct colander_error *err);

/* Moves to a new line on the terminal. */
void line_input_end_line(struct line_input *input);

/* Whether the last read ended with Ctrl-C on an empty line. */
bool line_input_was_empty(const struct line_input *input);

/* Adds the text to the history, and saves it, as the next entry may end the
 * program. */
void line_input_remember(struct line_input *input, const char *text);

/* Returns the path of the file `name` of this program, by the XDG rules: in the
 * directory of the environment `variable` or else in `fallback` of the home
 * directory. The caller frees it. Returns NULL if there is no such directory,
 * or no memory. */
char *user_file_path(const char *variable, const char *fallback,
                     const char *name);

/* NULL is allowed. */
void line_input_close(struct line_input *input);

#endif
