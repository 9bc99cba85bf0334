/*
 * Explanations: see explain.h.
 *
 * SPDX-License-Identifier: MIT
 */
#include "scripting/explain.h"

#include <stddef.h>

static const struct {
    const char *name;
    size_t offset; /* of a uint64_t in struct colander_explain */
} counts[] = {
#define COUNT(name)                                                            \
    {                                                                          \
#name, offsetof(struct colander_explain, name)                         \
    }
    COUNT(file_count),    COUNT(files_pruned),    COUNT(files_located),
    COUNT(files_read),    COUNT(files_unsure),    COUNT(segments_read),
    COUNT(recent_found),  COUNT(candidate_count), COUNT(rows_read),
    COUNT(rows_verified), COUNT(rows_returned),   COUNT(rows_gone),
    COUNT(rows_false),    COUNT(bytes_read),      COUNT(plan_time),
    COUNT(read_time),     COUNT(verify_time),
#undef COUNT
};

static void
push_matched(lua_State *L, const struct query *query, uint64_t step_count)
{
    const char *path;
    uint64_t row_count;

    lua_newtable(L);
    for (size_t i = 0;; i++) {
        query_check_step(L, query, step_count);
        if (!colander_cursor_matched(query->cursor, i, &path, &row_count))
            break;
        lua_pushinteger(L, (lua_Integer)row_count);
        lua_setfield(L, -2, path);
    }
}

void
explain_push(lua_State *L, const struct query *query, bool was_run)
{
    const uint64_t step_count = query->step_count;
    struct colander_explain explain;

    colander_cursor_explain(query->cursor, &explain);
    lua_newtable(L);
    lua_pushstring(L, colander_plan_name(explain.plan));
    lua_setfield(L, -2, "plan");
    lua_pushstring(L, explain.reason);
    lua_setfield(L, -2, "reason");
    lua_pushinteger(L, (lua_Integer)explain.rows_expected);
    lua_setfield(L, -2, "rows_expected");
    if (!was_run)
        return;
    for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
        uint64_t count;

        memcpy(&count, (const char *)&explain + counts[i].offset,
               sizeof(count));
        lua_pushinteger(L, (lua_Integer)count);
        lua_setfield(L, -2, counts[i].name);
    }
    push_matched(L, query, step_count);
    lua_setfield(L, -2, "matched");
}
