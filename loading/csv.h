/*
 * CSV: records of a file with a header, parsed into rows.
 *
 * The format is RFC 4180 with any delimiter. A field may be in double quotes,
 * with quotes doubled inside; quotes elsewhere are text. Lines end with LF or
 * CR LF. An empty field without quotes is a missing column; "" is an empty
 * string. A field without quotes that is one of the schema's nulls is null.
 * Other texts are read by the type of their column, or by what its first fields
 * are (column_kind.h), in quotes or not. A record must have as many fields as
 * there are names.
 *
 * Empty names become column_N, repeated names NAME_2 and so on.
 *
 * Life:    header_create (once for a file) -> header_sample* -> header_decide
 *          -> reader_row* (with a reader for
 *          each thread) -> reader_release -> header_destroy
 * Threads: a header may be used by many at once, a reader by one
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef LOADING_CSV_H
#define LOADING_CSV_H

#include "loading/column_counts.h"
#include "loading/schema.h"

struct csv_header;

/* Reads the header, `record`, as splitter_next returns it. `schema` (or
 * NULL) is borrowed until destroy. Fails with INVALID if it is not UTF-8, a
 * name is too long, or _key is repeated, and with LIMIT if there are more
 * columns than a row may have. */
COLANDER_CHECKED enum colander_code
csv_header_create(struct colander_slice record, char delimiter,
                  const struct colander_schema *schema,
                  struct csv_header **header, struct colander_error *err);

/*
 * The sample: the first records of the file, from which the kinds of columns
 * without a type are decided (column_kind.h). Without it each field is guessed.
 */

/* Returns whether there are such columns. */
bool csv_header_needs_sample(const struct csv_header *header);

/* Adds a record to the sample, if it has as many fields as there are columns.
 */
void csv_header_sample(struct csv_header *header, struct colander_slice record);

/* Decides, after the last record of the sample. */
void csv_header_decide(struct csv_header *header);

/* Returns whether there is a column of that name. */
bool csv_header_has(const struct csv_header *header,
                    struct colander_slice name);

/* Fails with INVALID if a column of the schema's key is missing, and is not one
 * that the load adds. */
COLANDER_CHECKED enum colander_code
csv_header_check_key(const struct csv_header *header,
                     const struct colander_schema *schema,
                     struct colander_error *err);

/* Returns what the column of that part of the schema's key has been in the
 * sample: enum column_seen. */
unsigned csv_header_key_seen(const struct csv_header *header, size_t part);

/* NULL is allowed. */
void csv_header_destroy(struct csv_header *header);

/* Returns the bytes that all names take in a row. */
size_t csv_header_names_size(const struct csv_header *header);

/* Returns the delimiter of a file with this first line: comma, tab or
 * semicolon, whichever is most frequent outside quotes; by default comma. */
char csv_delimiter(struct colander_slice line);

/* Fails because a field in quotes is not closed, or is closed too early. */
enum colander_code csv_fail_quote(bool is_closed, struct colander_error *err);

/* Starts with its header and zeros. */
struct csv_reader {
    const struct csv_header *header;   /* borrowed */
    struct colander_buffer row;        /* after room for its head */
    struct colander_buffer scratch;    /* a field without pairs of quotes */
    struct colander_buffer key;        /* also a printed value */
    struct colander_json_reader *json; /* owned; NULL until a key needs it */
    struct value_counts *counts;       /* of each column, owned; NULL until a
                                        * record is parsed */
    struct misfits *misfits;           /* borrowed; NULL: none are counted */
};

/* Adds what was counted, of columns without a type. */
void csv_reader_count(const struct csv_reader *reader,
                      struct column_counts *counts);

void csv_reader_release(struct csv_reader *reader);

struct parsed_row; /* rows.h */

/*
 * Parses a record into a valid row. A column _key becomes the key: by its type
 * in the schema, or guessed; if it looks like an array or string of JSON, it is
 * read as JSON: 5 is 5, ["a",1] has two parts, "5" in quotes of its value is a
 * text.
 */
COLANDER_CHECKED enum colander_code csv_reader_row(struct csv_reader *reader,
                                                   struct colander_slice record,
                                                   struct parsed_row *parsed,
                                                   struct colander_error *err);

#endif
