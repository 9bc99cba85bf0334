/*
 * Reports: lines for people, each a label and text.
 *
 * A failure is kept until print, so that adding text needs no checks.
 *
 * Life:   REPORT_EMPTY -> line, add, ... -> print or release
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef SHELL_REPORT_H
#define SHELL_REPORT_H

#include "colander.h"
#include "core/fields.h"

#include <stdio.h>

struct report {
    struct colander_buffer text;
    enum colander_code code;
    struct colander_error err;
    size_t part_count; /* of the current line */
};

#define REPORT_EMPTY                                                           \
    {                                                                          \
        COLANDER_BUFFER_EMPTY, COLANDER_OK, {COLANDER_OK, NULL, 0, ""}, 0      \
    }

/* Begins a line: "files    ", then the text. */
void report_line(struct report *report, const char *label, const char *format,
                 ...) COLANDER_FORMAT(3, 4);

void report_add(struct report *report, const char *format, ...)
    COLANDER_FORMAT(2, 3);

/* Adds text of any origin, printable. */
void report_add_text(struct report *report, struct colander_slice text);

/* Adds "12 pruned", after a comma if it is not the first part of its line.
 * Adds nothing if the count is 0. */
void report_add_part(struct report *report, uint64_t count, const char *what);

/* Prints all lines, or fails with the first failure. Releases the report. */
COLANDER_CHECKED enum colander_code
report_print(struct report *report, FILE *file, struct colander_error *err);

void report_release(struct report *report);

/* Prints a finding in a file of a store, as check and salvage report them. The
 * context is a const struct session *. */
void report_finding(void *context, const char *file, const char *what);

/* Texts of numbers, for the formats above. Valid until the end of the full
 * expression: "1,234"; "1 row" or "1,234 rows"; "812 bytes" or "12.3 MB";
 * "0.28 ms" or "1.25 s". */
#define THOUSANDS(count) (report_number((count), NULL).text)
#define NUMBER_OF(count, what) (report_number((count), (what)).text)
#define SIZE_OF(size) (report_size(size).text)
#define TIME_OF(microseconds) (report_time(microseconds).text)

struct report_text {
    char text[64];
};

struct report_text report_number(uint64_t count, const char *what);
struct report_text report_size(uint64_t size);
struct report_text report_time(uint64_t microseconds);

/* Adds the sizes to the current row or map. If `is_elsewhere`, files are read
 * where they are, and how many rows these have is not known. */
void family_sizes_add_columns(const struct colander_family_sizes *sizes,
                              bool is_elsewhere,
                              struct colander_row_builder *builder);

/* Adds the fields of `object` that are numbers, true or false to the current
 * row or map. */
void fields_add_columns(const struct field *fields, const void *object,
                        struct colander_row_builder *builder);

#endif
