/*
 * Report: lines for people, each a label and what it says.
 *
 * A failure is kept and told by print, so that writing reads as straight
 * lines.
 *
 * Life:   REPORT_EMPTY -> line, add, count, ... -> print -> release
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef SHELL_REPORT_H
#define SHELL_REPORT_H

#include "colander.h"

#include <stdio.h>

struct report {
    struct colander_buffer text;
    enum colander_code code;
    struct colander_error err;
    size_t part_count; /* of the line under way */
};

#define REPORT_EMPTY                                                           \
    {                                                                          \
        COLANDER_BUFFER_EMPTY, COLANDER_OK, {COLANDER_OK, NULL, 0, ""}, 0      \
    }

/* Begins a line: "files    ". */
void report_line(struct report *report, const char *label);

void report_add(struct report *report, const char *format, ...)
    COLANDER_FORMAT(2, 3);

/* Adds what may hold anything, printable. */
void report_add_text(struct report *report, struct colander_slice text);

/* Adds 1234567 as 1,234,567. */
void report_add_count(struct report *report, uint64_t count);

/* Adds "1 row" or "1,234 rows". */
void report_add_number(struct report *report, uint64_t count, const char *what);

/* Adds "812 bytes" or "12.3 MB". */
void report_add_size(struct report *report, uint64_t size);

/* Adds "12 pruned", with a comma where it is not the first part of its line;
 * nothing when there are none. */
void report_add_part(struct report *report, uint64_t count, const char *what);

/* Prints all, with the end of the last line. */
COLANDER_CHECKED enum colander_code report_print(const struct report *report,
                                                 FILE *file,
                                                 struct colander_error *err);

void report_release(struct report *report);

#endif
