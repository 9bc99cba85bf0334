/*
 * Rows: the check of their bytes.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef COLANDER_COLUMNS_ROW_H
#define COLANDER_COLUMNS_ROW_H

#include "columns/msgpack.h"
#include "columns/names.h"
#include "columns/path.h"

/* Reads the head of a row. Fails with `code` if the row is not a map. */
COLANDER_CHECKED enum colander_code row_begin(struct msgpack_reader *reader,
                                              enum colander_code code,
                                              uint32_t *count,
                                              struct colander_error *err);

/* Fails with `code` if bytes follow the row that was read. */
COLANDER_CHECKED enum colander_code row_end(const struct msgpack_reader *reader,
                                            enum colander_code code,
                                            struct colander_error *err);

/* Does what colander_row_check does. Requires that all names and strings are
 * UTF-8. */
COLANDER_CHECKED enum colander_code
row_check_of_utf8(struct colander_slice row, struct colander_error *err);

/*
 * Does what colander_row_check does, and on success fills `names` with all
 * names of the row. A map is known by the offset of its head. The caller
 * initialises `names`, and releases it also after a failure.
 */
COLANDER_CHECKED enum colander_code row_check_names(struct colander_slice row,
                                                    struct names *names,
                                                    struct colander_error *err);

/* Puts "column '<path>': " before the message. Does nothing if `count` is 0 or
 * memory is short. */
void row_error_context(struct colander_error *err,
                       const struct path_step *steps, size_t count);

#endif
