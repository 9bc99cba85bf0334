/*
 * Requests: the words and options of a find, as a query.
 *
 * Life:   read -> use the query -> release
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef SHELL_REQUEST_H
#define SHELL_REQUEST_H

#include "shell/arguments.h"
#include "shell/family_set.h"
#include "shell/session.h"
#include "shell/where.h"

/* The options that say which of the rows are first. */
#define REQUEST_ORDER_OPTIONS                                                  \
    OPTION("order", "COL[:desc]",                                              \
           "in the order of a column, or from its greatest value;\n"           \
           "rows without it come last"),                                       \
        OPTION("skip", "N", "leave out the first N rows")

/* The options that select rows. */
/* clang-format off */
#define REQUEST_OPTIONS                                                        \
    OPTION_GROUP("more conditions"),                                           \
    OPTION_LIST("any", "VALUE", "some column, at any depth, equals VALUE"),    \
    OPTION_LIST("search", "TEXT",                                              \
                "some column is a text with these words, or in quotes\n"       \
                "with this \"phrase\""),                                       \
    OPTION_FLAG("i", "texts are compared whatever their case"),                \
    OPTION_LIST("where", "EXPRESSION",                                         \
                "a Lua expression is true: 'likes > 2 * #tags'"),              \
    OPTION("since", "TIME",                                                    \
           "the family's time column is TIME or later; TIME is as in\n"        \
           "conditions, or a duration before now: 1h, 7d"),                    \
    OPTION("until", "TIME", "it is earlier than TIME"),                        \
    OPTION_GROUP("keys (a VALUE, or an array such as "                         \
                 "'[\"sensor-7\",1600000000]')"),                              \
    OPTION("key", "K", "the row with this key"),                               \
    OPTION("prefix", "K", "rows whose key begins with these parts"),           \
    OPTION("from", "K", "rows from this key on"),                              \
    OPTION("to", "K",                                                          \
           "rows up to this key, and those whose key begins with it")
/* clang-format on */

struct request {
    struct family_set families;
    struct colander_query query; /* borrows from what is below */
    struct colander_predicate *where;
    struct where *expressions; /* of --where; NULL: none. With them, or with an
                                * order, the query has whole rows and no
                                * limit */
    char *order;               /* the path of --order; NULL: by key */
    bool is_descending;
    uint64_t skip;  /* of rows that are found, and not printed */
    uint64_t limit; /* of rows that are printed */
    struct argument_list selection;
    struct colander_buffer keys[COLANDER_KEY_TO + 1]; /* of --key, --prefix,
                                                         --from and --to */
    bool is_any;         /* some column may match */
    bool is_scan;        /* must read every row; `where` says so */
    bool has_conditions; /* in `where` */
};

/* Opens the families of the first word, and reads the conditions, which are the
 * other words, and the options. Prints what is wrong with them. Release the
 * request also on failure. */
COLANDER_CHECKED enum session_exit
request_read(struct request *request, const struct session *session,
             const struct arguments *arguments);

void request_release(struct request *request);

/* Fails with INVALID if the text ends almost as an order does: "likes:dsc",
 * "likes desc". */
COLANDER_CHECKED enum colander_code
request_check_order(const char *text, struct colander_error *err);

#endif
