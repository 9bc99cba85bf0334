/*
 * The options --words, --ordered and --unordered: what value filters know of
 * which columns.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef COLANDER_SHELL_FILTER_WORDS_H
#define COLANDER_SHELL_FILTER_WORDS_H

#include "shell/arguments.h"
#include "shell/report.h"

struct colander_filter_options;

#define OPTIONS_FILTERED                                                       \
    OPTION_LIST("words", "on|off|COL,...",                                     \
                "the texts whose words value filters know: all (default),\n"   \
                "none, or those in these columns and below them;\n"            \
                "refilter also rebuilds the filters that are there"),          \
        OPTION_LIST("ordered", "none|COL,...",                                 \
                    "columns whose ranges and order filters know even\n"       \
                    "beyond the order budget"),                                \
        OPTION_LIST("unordered", "none|COL,...",                               \
                    "columns whose ranges and order they do not know")

#define FILTER_WORDS_OPTIONS 3

/* Returns one of these options that is given, or NULL. */
const char *filter_words_given(const struct arguments *arguments);

/* Sets in `options` what these say, as far as they are there. The paths are
 * those of `columns`, which start zeroed; release them, also on failure. */
COLANDER_CHECKED enum colander_code
filter_words_read(const struct arguments *arguments,
                  struct argument_list columns[FILTER_WORDS_OPTIONS],
                  struct colander_filter_options *options,
                  struct colander_error *err);

/* Does what these, or --no-words, say to the filters of a family that are built
 * from now on. */
COLANDER_CHECKED enum colander_code
filter_words_set(struct colander_family *family,
                 const struct arguments *arguments, struct colander_error *err);

/* Adds a line for each of the columns that no row of the family has. */
void filter_words_add_notes(struct colander_family *family,
                            struct report *report);

/* Adds a column "words" to a row: "on", "off" or the columns; and "ordered" and
 * "unordered", unless there are none. */
COLANDER_CHECKED enum colander_code
filter_words_add_column(struct colander_family *family,
                        struct colander_row_builder *builder,
                        struct colander_error *err);

#endif
