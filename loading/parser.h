/*
 * Parser: a thread that parses the records of chunks into rows.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef LOADING_PARSER_H
#define LOADING_PARSER_H

#include "loading/chunk.h"
#include "loading/load.h"
#include "loading/source.h"

/* What a parser needs; borrowed while it runs. */
struct parser {
    const struct source *source;
    const struct colander_load_options *options;
    struct ring *ring;
    struct column_counts *counts;      /* NULL: nothing is counted */
    const struct added_columns *added; /* NULL: none */
};

/* Parses chunks until there are no more. */
void parser_run(const struct parser *parser);

#endif
