/*
 * CSV: records of a file with a line of names, made rows.
 *
 * As RFC 4180 has it, with any delimiter: a field may stand in double quotes,
 * where two are one; quotes elsewhere in a field are text. Lines end with LF,
 * CR LF or CR LF mixed with LF. A field that is empty and has no quotes is no
 * column; "" is an empty string. A field without quotes that is one of the
 * schema's nulls is null. Other texts are read as the schema says of their
 * column, or guessed at, in quotes or not (typed_value.h). A record has as many
 * fields as there are names, or it is refused.
 *
 * Names that are missing or empty become column_N, names that came before
 * NAME_2 and so on: a file is read, whatever its header.
 *
 * Life:    header_create (once for a file) -> reader_create (for each thread)
 *          -> reader_row* -> destroy
 * Threads: a header may be used by many at once, a reader by one
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef LOADING_CSV_H
#define LOADING_CSV_H

#include "loading/schema.h"

struct csv_header;

/* `record` is the line of names, as splitter_next gives it, `schema` (NULL:
 * none) borrowed until destroy. INVALID when it is no line of names: not
 * UTF-8, a name over the limit, _key twice; LIMIT when there are more than a
 * row may have. */
COLANDER_CHECKED enum colander_code
csv_header_create(struct colander_slice record, char delimiter,
                  const struct schema *schema, struct csv_header **header,
                  struct colander_error *err);

/* NULL is allowed. */
void csv_header_destroy(struct csv_header *header);

/* Bytes that the names take in a row that has all columns. */
size_t csv_header_names_size(const struct csv_header *header);

/* The delimiter of a file whose first line is `line`: of comma, tab and
 * semicolon the one that is there most often, outside quotes; comma, when none
 * is. */
char csv_delimiter(struct colander_slice line);

struct csv_reader;

/* NULL when memory is short. The header is borrowed until destroy. */
struct csv_reader *csv_reader_create(const struct csv_header *header);

/* NULL is allowed. */
void csv_reader_destroy(struct csv_reader *reader);

/*
 * Makes a row of a record. A column _key becomes the key: as the schema says,
 * or else guessed, and JSON where it looks like an array or a string of it: 5
 * is 5, ["a",1] has two parts, "5" (in quotes beside those of CSV) is a text.
 * Key and row are borrowed until the reader is next used. On failure *at is
 * the byte of `record` where the fault lies. The row is one that may be stored.
 */
COLANDER_CHECKED enum colander_code
csv_reader_row(struct csv_reader *reader, struct colander_slice record,
               struct colander_slice *key, bool *has_key,
               struct colander_slice *row, size_t *at,
               struct colander_error *err);

#endif
