/*
 * Text: what a terminal shows, and how wide.
 *
 * Nothing that comes from a store reaches a terminal as a control character:
 * it is shown as an escape such as \n or \x1b instead.
 *
 * Knows:  the locale's wcwidth; main.c sees to a UTF-8 locale
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef SHELL_TEXT_H
#define SHELL_TEXT_H

#include "colander.h"

#define TEXT_ELLIPSIS "\xE2\x80\xA6"

COLANDER_CHECKED enum colander_code
text_append_format(struct colander_buffer *out, struct colander_error *err,
                   const char *format, ...) COLANDER_FORMAT(3, 4);

/* Appends `bytes` with all that is not printable replaced. */
COLANDER_CHECKED enum colander_code
text_append_printable(struct colander_buffer *out, struct colander_slice bytes,
                      struct colander_error *err);

/* Appends a string bare and anything else as JSON, printable; of more than
 * `size_max` bytes only the first and an ellipsis. */
COLANDER_CHECKED enum colander_code
text_append_value(struct colander_buffer *out,
                  const struct colander_value *value, size_t size_max,
                  struct colander_error *err);

/* Appends an encoded key: its one part, or a list of its parts as JSON. */
COLANDER_CHECKED enum colander_code text_append_key(struct colander_buffer *out,
                                                    struct colander_slice key,
                                                    struct colander_error *err);

/* Takes `lead` away where the message begins with it. */
void text_drop_lead(char *message, struct colander_slice lead);

/* The text as a C string, the caller's to free; NULL when memory is short. */
char *text_copy(struct colander_slice text);

/* Appends 1234567 as 1,234,567. */
COLANDER_CHECKED enum colander_code
text_append_count(struct colander_buffer *out, uint64_t count,
                  struct colander_error *err);

/* Cells of a terminal that the printable text takes. */
size_t text_width(struct colander_slice text);

/* Bytes of the printable text that fit into `width` cells. */
size_t text_fit(struct colander_slice text, size_t width);

#endif
