/*
 * Rows: whether bytes are one, and where not.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef COLANDER_ROW_H
#define COLANDER_ROW_H

#include "columns/names.h"
#include "columns/path.h"

#ifdef __cplusplus
extern "C" {
#endif

/* As colander_row_check, for a row whose names and strings are known to be
 * UTF-8. */
COLANDER_CHECKED enum colander_code
row_check_of_utf8(struct colander_slice row, struct colander_error *err);

/*
 * As colander_row_check, and on success `names` (initialised by the caller,
 * who also releases it, whatever the answer) has all names of the row: a map
 * goes by the offset of its head.
 */
COLANDER_CHECKED enum colander_code row_check_names(struct colander_slice row,
                                                    struct names *names,
                                                    struct colander_error *err);

/* Puts "column '<path>': " before the message, and nothing for no steps; best
 * effort: without memory the message stays as it is. */
void row_error_context(struct colander_error *err,
                       const struct path_step *steps, size_t count);

#ifdef __cplusplus
}
#endif

#endif
