/*
 * Text: what a terminal can show, and its width.
 *
 * Nothing from a store reaches a terminal as a control character. It is printed
 * as an escape such as \n or \x1b instead. Widths are those of wcwidth; main.c
 * sets a UTF-8 locale.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef SHELL_TEXT_H
#define SHELL_TEXT_H

#include "colander.h"

#include <stdarg.h>
#include <stdio.h>

#define TEXT_ELLIPSIS "\xE2\x80\xA6"

COLANDER_CHECKED enum colander_code
text_append_format(struct colander_buffer *out, struct colander_error *err,
                   const char *format, ...) COLANDER_FORMAT(3, 4);
COLANDER_CHECKED enum colander_code
text_append_list(struct colander_buffer *out, struct colander_error *err,
                 const char *format, va_list list) COLANDER_FORMAT(3, 0);

/* Appends `bytes`, with escapes for all that is not printable. */
COLANDER_CHECKED enum colander_code
text_append_printable(struct colander_buffer *out, struct colander_slice bytes,
                      struct colander_error *err);

/* Prints a line of text of any origin, printable. */
void text_complain(FILE *file, struct colander_slice text);

/* Appends a string or a timestamp without quotes, or any other value as JSON;
 * printable, up to `size_max` bytes and then an ellipsis. */
COLANDER_CHECKED enum colander_code
text_append_value(struct colander_buffer *out,
                  const struct colander_value *value, size_t size_max,
                  struct colander_error *err);

/* Replaces a JSON text on one line by one with a line for each member. */
COLANDER_CHECKED enum colander_code
text_indent_json(struct colander_buffer *json, struct colander_error *err);

/* Appends an encoded key: its one part, or a list of its parts as JSON. */
COLANDER_CHECKED enum colander_code text_append_key(struct colander_buffer *out,
                                                    struct colander_slice key,
                                                    struct colander_error *err);

/* Returns the text as a C string, which the caller frees, or NULL if memory is
 * short. */
char *text_copy(struct colander_slice text);

/* Returns the width of the printable text, in cells. */
size_t text_width(struct colander_slice text);

/* Returns how many bytes of the printable text fit into `width` cells. */
size_t text_fit(struct colander_slice text, size_t width);

/*
 * Appends `text`, and a line with a caret under its byte `offset`, both
 * indented by four spaces. Characters that would move the cursor are replaced.
 */
COLANDER_CHECKED enum colander_code
text_append_caret(struct colander_buffer *out, const char *text, size_t offset,
                  struct colander_error *err);

#endif
