/*
 * Queries: what find and scan return. A query is described by chained methods
 * (queries.c) and run when its rows are asked for (results.c, aggregates.c).
 *
 * A query can be changed until it runs. Running it again after its end returns
 * the rows of that time.
 *
 * Life:   query_begin -> query_step ... -> query_stop, any number of times
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef COLANDER_SCRIPTING_QUERIES_H
#define COLANDER_SCRIPTING_QUERIES_H

#include "scripting/families.h"
#include "scripting/scratch.h"
#include "scripting/scripting.h"

/* The user values of a query. */
enum {
    QUERY_FAMILY = 1,
    QUERY_CONDITION,
    QUERY_PATHS,  /* keeps the paths */
    QUERY_FILTER, /* a function that rows must pass */
    QUERY_ORDER,  /* the path of a column */
    QUERY_BOUNDS, /* as many bytes as its bounds have: Lua counts them */
    QUERY_MAP,    /* the text of a function */
    QUERY_USER_VALUES = QUERY_MAP,
};

/* How a query is run. */
enum query_mode {
    QUERY_ROWS,       /* as described */
    QUERY_WHOLE_ROWS, /* all columns; the order matters only for a limit */
    QUERY_MAPPED,     /* the same, of a query that has a map */
    QUERY_COUNTED,    /* only the number of rows matters */
    QUERY_EXPLAINED,  /* as the library runs it, timed */
    QUERY_SHOWN, /* as described, timed; keeps its cursor until query_stop */
};

struct query {
    struct handle handle;
    struct script_family *family;
    struct colander_query asked; /* `where` and `paths` only while it runs */
    struct key_bounds bounds;
    struct shared_snapshot *snapshot;
    const char **paths; /* selected; NULL: all */
    size_t path_count;
    bool keys_only;
    uint64_t limit;
    uint64_t skip;
    bool has_filter;
    bool with_columns; /* returns the columns that matched */
    bool has_order;    /* order() was called */
    const char *order; /* a path; NULL: by key */
    bool is_descending;

    /* while it runs */
    enum query_mode mode;
    struct colander_predicate *where;
    struct colander_cursor *cursor; /* NULL: not running, or all rows are in */
    struct colander_ordered *ordered; /* here; NULL: not ordered */
    struct held held;
    struct colander_matches *match_paths;
    scripting_watch *watch;               /* may be NULL */
    scripting_is_cancelled *is_cancelled; /* may be NULL */
    bool is_running;
    bool is_gathering;   /* rows to be ordered */
    bool is_sought;      /* no row was returned since a seek */
    uint64_t step_count; /* changes when the row of a step becomes invalid */
    uint64_t rows_left;
    uint64_t rows_to_skip;
};

/* Returns whether the rows come in the order of a column. */
static inline bool
query_is_ordered(const struct query *query)
{
    return query->order != NULL &&
           (query->mode == QUERY_ROWS || query->mode == QUERY_SHOWN ||
            (query->mode == QUERY_WHOLE_ROWS &&
             (query->skip > 0 || query->limit != UINT64_MAX)));
}

struct query *query_check(lua_State *L, int index);

/* family:find(condition [, range]): pushes a query and returns 1. */
int query_find(lua_State *L);

/* Runs the query at `index` from the start. */
struct query *query_begin(lua_State *L, int index, enum query_mode mode);

/* Returns the next row of the library, before any filter, order and limit. */
bool query_read(lua_State *L, struct query *query,
                struct colander_result *result);

/* Raises an error if the row of the step `step_count` is invalid: a function of
 * the script has used the same query in the meantime. */
void query_check_step(lua_State *L, const struct query *query,
                      uint64_t step_count);

/* Calls a function of the script with the row of the step `step_count`. An
 * error in it ends the run. */
void query_call_function(lua_State *L, struct query *query,
                         const struct colander_result *result,
                         uint64_t step_count, int argument_count,
                         int result_count);

/* Returns the next row of the running query at `index`, valid until the next
 * step. False ends the run. */
bool query_step(lua_State *L, struct query *query, int index,
                struct colander_result *result);

/* Reports that the running query has found no row (`paths` empty), or none with
 * the columns at `paths`. NULL among them does not count. */
void query_report_missed(lua_State *L, const struct query *query,
                         const char *const *paths, size_t path_count);

/* Reports that the running query has read its last row. */
void query_report_ended(lua_State *L, const struct query *query);

/* Ends the run, if there is one. */
void query_stop(struct query *query);

#endif
