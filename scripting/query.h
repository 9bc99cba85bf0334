/*
 * Queries from the inside: what their parts share.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef COLANDER_SCRIPTING_QUERY_H
#define COLANDER_SCRIPTING_QUERY_H

#include "scripting/ordered.h"
#include "scripting/queries.h"

#define QUERY_TYPE "colander.query"

/* User values. */
enum {
    QUERY_FAMILY = 1,
    QUERY_CONDITION,
    QUERY_PATHS,  /* a table: keeps the strings */
    QUERY_FILTER, /* a function that rows must pass */
    QUERY_ORDER,  /* the path of a column */
    QUERY_USER_VALUES = QUERY_ORDER,
};

struct query {
    struct handle handle;
    struct script_family *family;
    struct colander_query asked; /* `where` and `paths` only while it runs */
    struct colander_buffer bounds[3]; /* of keys: prefix, from, to */
    struct shared_snapshot *snapshot;
    const char **paths; /* that are selected; NULL: all */
    size_t path_count;
    uint64_t limit;
    uint64_t skip;
    bool has_filter;
    const char *order; /* a path; NULL: that of the keys */
    bool is_descending;

    struct colander_predicate *where; /* while it runs */
    struct colander_cursor *cursor;   /* NULL: it does not run, or all rows */
    struct ordered ordered;           /* are here */
    struct colander_matches *matches; /* of ordered rows, when asked for */
    bool is_running;
    uint64_t run; /* how often it was begun */
    uint64_t left;
    uint64_t to_skip;
};

/* The query at `index`. */
struct query *query_check(lua_State *L, int index);

/* Begins the query at 1 anew. With `is_whole` rows have all their columns. */
struct query *query_begin(lua_State *L, bool is_whole);

/* The next row of the query at `index`, which runs; false: it has ended, and
 * does not run any more. The row is borrowed until the next step. */
bool query_step(lua_State *L, struct query *query, int index,
                struct colander_result *result);

/* Ends a run; the query may be run again. */
void query_stop(struct query *query);

/* Pushes key, row and, when they are told, the columns that matched; gives how
 * many that is. */
int result_push(lua_State *L, struct query *query,
                const struct colander_result *result);

/* Methods that run a query: added to the table on top. */
void results_open(lua_State *L);
void aggregates_open(lua_State *L);

#endif
