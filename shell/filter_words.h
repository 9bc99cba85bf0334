/*
 * The option --words: which texts have words in value filters.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef COLANDER_SHELL_FILTER_WORDS_H
#define COLANDER_SHELL_FILTER_WORDS_H

#include "shell/arguments.h"
#include "shell/report.h"

struct colander_filter_options;

#define OPTION_WORDS                                                           \
    OPTION_LIST("words", "on|off|COL,...",                                     \
                "the texts whose words value filters know: all (default),\n"   \
                "none, or those in these columns and below them;\n"            \
                "refilter also rebuilds the filters that are there")

/* Sets in `options` what --words says, if it is there. The paths are those of
 * `columns`, which starts zeroed; release it, also on failure. */
COLANDER_CHECKED enum colander_code filter_words_read(
    const struct arguments *arguments, struct argument_list *columns,
    struct colander_filter_options *options, struct colander_error *err);

/* Does what --words, or --no-words, says to the filters of a family that are
 * built from now on. */
COLANDER_CHECKED enum colander_code
filter_words_set(struct colander_family *family,
                 const struct arguments *arguments, struct colander_error *err);

/* Adds a line for each column of --words that no row of the family has. */
void filter_words_add_notes(struct colander_family *family,
                            struct report *report);

/* Adds a column "words" to a row: "on", "off" or the columns. */
COLANDER_CHECKED enum colander_code
filter_words_add_column(struct colander_family *family,
                        struct colander_row_builder *builder,
                        struct colander_error *err);

#endif
