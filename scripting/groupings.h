/*
 * Groupings: rows of a query grouped by several keys, with named measures.
 *
 *     query:group(bucket("at", "1h"), "sensor"):agg{n = count(), t = avg("t")}
 *
 * A key is the path of a column, a bucket, or a function of the row. A measure
 * is a table that count(), avg(path) and the like return; instead of a path
 * they also take a function of the row. What agg returns is described by
 * further chained methods, and computed when its groups are asked for.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef COLANDER_SCRIPTING_GROUPINGS_H
#define COLANDER_SCRIPTING_GROUPINGS_H

#include "scripting/queries.h"

/* Raises an error unless there is a key of a group at `index`. */
void grouping_check_key(lua_State *L, int index);

/* Returns whether the value at `index` is what agg returns. */
bool grouping_is(lua_State *L, int index);

/* Raises an error of groups, after the query (NULL: none) has ended. */
void grouping_fail(lua_State *L, struct query *query,
                   struct colander_error *err);

/* grouped:agg{name = measure, ...}: `grouped` is {query, key, ...} */
int grouping_agg(lua_State *L);

#endif
