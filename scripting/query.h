/*
 * Queries from the inside: what their parts share.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef COLANDER_SCRIPTING_QUERY_H
#define COLANDER_SCRIPTING_QUERY_H

#include "scripting/ordered.h"
#include "scripting/queries.h"
#include "scripting/scripting.h"

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

/* How a query is run. */
enum query_way {
    QUERY_AS_TOLD,
    QUERY_WHOLE_ROWS, /* with all their columns; which they are, matters, their
                       * order does not */
    QUERY_COUNTED,    /* only how many there are */
    QUERY_EXPLAINED,  /* as C reads them, timed */
    QUERY_SHOWN,      /* as told, timed; its cursor stays until it is stopped */
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
    bool tells_columns; /* that matched */
    const char *order;  /* a path; NULL: that of the keys */
    bool is_descending;

    enum query_way way; /* from here on: while it runs */
    struct colander_predicate *where;
    struct colander_cursor *cursor;   /* NULL: it does not run, or all rows */
    struct ordered ordered;           /* are here */
    struct colander_matches *matches; /* of ordered rows, when asked for */
    scripting_watch watch;            /* may be NULL */
    scripting_stops stops;            /* the same */
    bool is_running;
    bool is_gathering;   /* rows to put in order: not all are there yet */
    uint64_t step_count; /* changes when a row that was given is no more */
    uint64_t left;
    uint64_t to_skip;
};

/* Whether its rows come in the order of a column: all that is done to whole
 * rows has its own order. */
static inline bool
query_is_ordered(const struct query *query)
{
    return query->order != NULL &&
           (query->way == QUERY_AS_TOLD || query->way == QUERY_SHOWN ||
            (query->way == QUERY_WHOLE_ROWS &&
             (query->skip > 0 || query->limit != UINT64_MAX)));
}

/* The query at `index`. */
struct query *query_check(lua_State *L, int index);

/* Begins the query at `index` anew. */
struct query *query_begin(lua_State *L, int index, enum query_way way);

/* The next row that C gives, whatever is told of order and filters. */
bool query_read(lua_State *L, struct query *query,
                struct colander_result *result);

/* Raises an error when the row that `step_count` belongs to is no more: a
 * function of the script has run meanwhile that went on with the query. */
void query_check_step(lua_State *L, const struct query *query,
                      uint64_t step_count);

/* Calls a function of the script with the row of the step `step_count`; an
 * error of it ends the query. */
void query_call_function(lua_State *L, struct query *query, uint64_t step_count,
                         int argument_count, int result_count);

/* The next row of the query at `index`, which runs; false: it has ended, and
 * does not run any more. The row is borrowed until the next step. */
bool query_step(lua_State *L, struct query *query, int index,
                struct colander_result *result);

/* Ends a run; the query may be run again. */
void query_stop(struct query *query);

/* The row as it was selected: where C has given all of it, cut down now. */
struct colander_slice query_selected(lua_State *L, const struct query *query,
                                     const struct colander_result *result);

/* Which columns matched: told by C, or found out again for an ordered row. */
struct colander_columns query_matched(lua_State *L, struct query *query,
                                      const struct colander_result *result);

/* Pushes key, row and, when they are told, the columns that matched; gives how
 * many that is. */
int result_push(lua_State *L, struct query *query,
                const struct colander_result *result);

/* Methods that run a query: added to the table on top. */
void results_open(lua_State *L);
void aggregates_open(lua_State *L);

/* Whether the function at `index` goes through groups or values. */
bool aggregates_is_walk(lua_State *L, int index);

#endif
