/*
 * Item rows: actions on rows, as Elasticsearch's _bulk has them.
 *
 *     {"index":{"_index":"logs","_id":"7"}}    put; the _id is the key
 *     {"message":"a row"}
 *     {"create":{}}                            put, if there is no such row
 *     {"message":"another"}
 *     {"update":{"_id":"7"}}                   patch, if there is such a row
 *     {"doc":{"seen":true}}                    (with "doc_as_upsert":true also
 *     {"delete":{"_id":"7"}}                   if there is none)
 *
 * Threads: one at a time
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef LOADING_ITEM_ROWS_H
#define LOADING_ITEM_ROWS_H

#include "columns/columns.h"

enum item_action {
    ITEM_NONE, /* not an action; a record of another format */
    ITEM_INDEX,
    ITEM_CREATE,
    ITEM_UPDATE,
    ITEM_DELETE,
};

/* Returns the action that the line seems to be: its name and its brackets. */
enum item_action item_action_of(struct colander_slice line);

/* Returns its name; of NONE, "index". */
const char *item_action_name(enum item_action action);

#define ITEM_NUMBER_SIZE 24

/* A line with an action. Borrowed from the reader and from itself. */
struct item {
    enum item_action action;
    struct colander_slice family; /* empty: none is named */
    bool has_id;
    struct colander_slice id;
    char number[ITEM_NUMBER_SIZE]; /* an id that is an integer */
};

/* Reads one. Fails with INVALID if it is none, or asks for what is not
 * supported. */
COLANDER_CHECKED enum colander_code
item_read(struct colander_json_reader *reader, struct colander_slice line,
          struct item *item, struct colander_error *err);

/* Returns the first line of an item. */
struct colander_slice item_line(struct colander_slice record);

struct parsed_row;

/* Starts zeroed. */
struct item_rows {
    struct colander_json_reader *actions; /* NULL: to be made */
    struct colander_json_reader *sources;
    struct colander_buffer key;
    struct item item; /* the last */
};

void item_rows_release(struct item_rows *rows);

/* Parses an item, whose key is its _id. Without one, or in the row of an index,
 * the rest is for the caller. Fails with INVALID or LIMIT. */
COLANDER_CHECKED enum colander_code item_rows_row(struct item_rows *rows,
                                                  struct colander_slice record,
                                                  struct parsed_row *parsed,
                                                  struct colander_error *err);

#endif
