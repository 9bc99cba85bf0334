/*
 * Load requests: the options of a load.
 *
 * Life:   a zeroed struct -> read -> the load is created, run and destroyed ->
 *         release
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef SHELL_LOAD_REQUEST_H
#define SHELL_LOAD_REQUEST_H

#include "loading/load.h"
#include "shell/arguments.h"
#include "shell/session.h"

/* How the text of a file is read. */
#define OPTIONS_OF_TEXTS                                                       \
    OPTION_LIST("null", "TEXT",                                                \
                "store fields of CSV that are TEXT as null, such as\n"         \
                "NA; may be repeated"),                                        \
        OPTION("precision", "UNIT",                                            \
               "of times in line protocol: ns, us, ms, s, m or h\n"            \
               "(default: ns)"),                                               \
        OPTION("delimiter", "CHARACTER",                                       \
               "between fields of CSV (default: comma, tab or\n"               \
               "semicolon, the most frequent in the header)"),                 \
        OPTION_FLAG("no-guess",                                                \
                    "store fields of CSV as texts, unless they have a\n"       \
                    "type")

struct load_request {
    struct colander_load_options options; /* borrows from what is below */
    struct colander_schema *schema;
    struct argument_list key;
    const char **nulls;         /* owned; the texts are not */
    char *partition;            /* the column of --partition; owned */
    struct added_column *added; /* owned */
    size_t added_count;
    struct colander_load_column *columns; /* owned */
    uint64_t rejects_allowed;
};

/* Reads the options. Release the request also on failure. */
COLANDER_CHECKED enum colander_code
load_request_read(struct load_request *asked, const struct session *session,
                  const struct arguments *arguments,
                  struct colander_error *err);

void load_request_release(struct load_request *asked);

/* Splits COL=VALUE at the first = without a backslash before it. *column is the
 * caller's to free, *value is borrowed. */
COLANDER_CHECKED enum colander_code
load_request_split(const struct argument_choice *choice, char **column,
                   const char **value, struct colander_error *err);

#endif
