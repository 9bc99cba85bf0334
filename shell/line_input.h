/*
 * Line input: lines that are typed, with editing, completion and a history,
 * here or at the terminal of a client, or that come from a file or pipe.
 *
 * The history is kept in $XDG_STATE_HOME/colander/history, readable by its
 * owner only. If that is not possible, it lasts as long as the session.
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

/* Has lines typed elsewhere: appends the next one to `line`, as line_input_read
 * would read it. `is_new`: the lines before it are not of its entry. */
typedef enum colander_code (*line_source)(void *context, const char *prompt,
                                          bool is_new,
                                          struct colander_buffer *line,
                                          bool *is_end,
                                          struct colander_error *err);

COLANDER_CHECKED enum colander_code
line_input_open_source(line_source source, void *context,
                       struct line_input **input, struct colander_error *err);

/* Sets *line to the next line, without its end, or to NULL at the end. Borrowed
 * until the next read. Prints `prompt` on a terminal. Fails with CANCELLED on
 * Ctrl-C. `is_new`: an entry begins. */
COLANDER_CHECKED enum colander_code
line_input_read(struct line_input *input, const char *prompt, bool is_new,
                const char **line, struct colander_error *err);

/* Moves to a new line on the terminal. */
void line_input_end_line(struct line_input *input);

/* Whether the Ctrl-C that ended the last read is the second one within a second
 * on an empty line, with which a user leaves. The first one says how to. */
bool line_input_is_second_interrupt(const struct line_input *input,
                                    bool is_new);

/* Adds the entry to the history, as one line if that means the same, and saves
 * it, as the next entry may end the program. */
void line_input_remember(struct line_input *input, struct colander_slice entry);

/* Returns the path of the file `name` of this program, by the XDG rules: in the
 * directory of the environment `variable` or else in `fallback` of the home
 * directory. The caller frees it. Returns NULL if there is no such directory,
 * or no memory. */
char *user_file_path(const char *variable, const char *fallback,
                     const char *name);

/* NULL is allowed. */
void line_input_close(struct line_input *input);

#endif
