/*
 * Whole rows: a row as one JSON object or one map of msgpack, with its key and
 * the columns that matched, if these are shown.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef SHELL_WHOLE_ROW_H
#define SHELL_WHOLE_ROW_H

#include "shell/output.h"

/* Appends the row as the options have it, on one line. */
COLANDER_CHECKED enum colander_code whole_row_append_json(
    struct colander_buffer *text, const struct output_options *options,
    const struct colander_result *result, struct colander_error *err);

/* The same as msgpack: columns are the bytes that are stored. */
COLANDER_CHECKED enum colander_code whole_row_append_msgpack(
    struct colander_buffer *text, const struct output_options *options,
    const struct colander_result *result, struct colander_error *err);

#endif
