/*
 * Reductions: functions of others give what they give in a script, or nothing,
 * and end, whatever they are.
 *
 * SPDX-License-Identifier: MIT
 */
#include "shell/reduction.h"
#include "support/cases.h"
#include "support/scoped.h"
#include "support/temporary.h"

#define ROWS 300

static const char *const add = "function(a, b) return a + b end";

static char directory[TEMPORARY_SIZE];
static struct colander_store *store;
static struct colander_family *family;
static unsigned looks; /* how often it was asked whether all is over */
static unsigned looks_max;

static int
setup(void **state)
{
    struct colander_row_builder *builder = colander_row_builder_create();

    (void)state;
    temporary_make(directory);
    OK(colander_store_open(directory, NULL, &store, why()));
    OK(colander_family_open(store, "rows", &family, why()));
    for (int64_t i = 1; i <= ROWS; i++) {
        const struct colander_value part = colander_integer(i);
        struct colander_key key;
        struct colander_slice row;

        colander_row_builder_add(builder, "n", colander_integer(i));
        colander_row_builder_add(builder, "text", colander_text("xxy"));
        OK(colander_row_builder_finish(builder, &row, why()));
        OK(colander_family_put(family, colander_key_of(&key, &part, 1), row,
                               NULL, why()));
    }
    colander_row_builder_destroy(builder);
    return 0;
}

static int
teardown(void **state)
{
    (void)state;
    colander_family_close(family);
    OK(colander_store_close(store, why()));
    temporary_remove(directory);
    return 0;
}

#define ROWS_TEST(name) TEST_WITH(void *state, name, setup, teardown)

static bool
is_over(void)
{
    return ++looks > looks_max;
}

/* Reduces the rows whose `n` is at least that. */
static bool
reduce(const char *map, const char *function, int64_t from,
       struct colander_buffer *row)
{
    SCOPED_PREDICATE where = colander_where_between(
        "n", colander_integer(from), colander_integer(2 * ROWS), NULL);
    SCOPED_CURSOR cursor = NULL;
    struct colander_query query;

    colander_query_init(&query);
    query.where = where;
    OK(colander_family_find(family, &query, &cursor, why()));
    looks = 0;
    return reduction_run(cursor, map, function, is_over, row);
}

static void
gives(const char *map, const char *function, int64_t from, int64_t wanted)
{
    SCOPED_BUFFER row = COLANDER_BUFFER_EMPTY;
    struct colander_value value;
    bool found;

    if (!reduce(map, function, from, &row))
        fail_msg("'%s' is not reduced", map);
    OK(colander_row_get(colander_buffer_slice(&row), "value", &value, &found,
                        why()));
    assert_true(found);
    assert_int_equal(value.integer, wanted);
}

ROWS_TEST(a_reduction_is_the_value_of_all_rows)
{
    SCOPED_BUFFER row = COLANDER_BUFFER_EMPTY;
    struct colander_value value;
    bool found;

    (void)state;
    looks_max = UINT32_MAX;
    gives("function(row) return row.n end", add, 1, ROWS * (ROWS + 1) / 2);
    gives("function(row) return row._key end", add, ROWS, ROWS);
    gives("function(row) if row.n > 298 then return row.n end end", add, 1,
          599);
    gives("function(row) return #(row.text):rep(2):upper() end", add, 1,
          6 * ROWS);
    gives("function(row) return #(''):rep(1 << 50) end", add, 1, 0);
    gives("function(row) return math.random == nil and os == nil and 1 end",
          add, 1, ROWS);
    assert_true(reduce("function(row) return row.n end", add, 2 * ROWS, &row));
    assert_int_equal(row.size, 0); /* without rows */
    assert_true(reduce("function(row) end", add, 1, &row));
    OK(colander_row_get(colander_buffer_slice(&row), "value", &value, &found,
                        why()));
    assert_false(found);
}

ROWS_TEST(what_is_wrong_or_too_much_is_not_reduced)
{
    static const char *const maps[] = {
        "",
        "1",
        "\033Lua",
        "function(row",
        "function() end os.exit()",
        "function(row) error(row.text) end",
        "function(row) seen = row.n end",
        "function(row) string.rep = nil end",
        "function(row) return load('return 1')() end",
        "function(row) return getmetatable(row).__index end",
        "function(row) return row.text:find('x+') end",
        "function(row) return #row.text:gsub('x', '') end",
        "function(row) return row.text:match('(x*)*z') end",
        "function(row) return {row.n, at = row.n} end",
        "function(row) return row end",
        "(function() local function f() return 1 + f() end return f end)()",
        "function() return #string.rep('x', 1 << 40) end",
        "function() return #string.rep('x', 100 << 20) end",
        "function() local s = 'x' while true do s = s .. s end end",
        "function() local t = {} for i = 1, 1 << 40 do t[i] = i end end",
        "function() local t = {} for i = 1, 1 << 20 do t['n' .. i] = i end end",
    };
    SCOPED_BUFFER row = COLANDER_BUFFER_EMPTY;
    SCOPED_BUFFER text = COLANDER_BUFFER_EMPTY;

    (void)state;
    looks_max = UINT32_MAX;
    for (size_t i = 0; i < COUNT(maps); i++) {
        if (reduce(maps[i], "function(a, b) return a .. b end", 1, &row))
            fail_msg("'%s' is reduced", maps[i]);
    }
    assert_false(reduce("function(row) return row.n end",
                        "function(a, b) return a.x.y end", 1, &row));
    OK(colander_buffer_append(&text, add, strlen(add), why()));
    while (text.size < 70000)
        OK(colander_buffer_append(&text, " ", 1, why()));
    OK(colander_buffer_append(&text, "", 1, why()));
    assert_false(reduce((const char *)text.data, add, 1, &row));
    assert_int_equal(row.size, 0);
}

ROWS_TEST(what_has_no_end_is_ended)
{
    static const char *const maps[] = {
        "function() while true do end end",
        "function() for i = 1, 1 << 60 do local s = 'x' .. i end end",
        "function() table.sort({1, 2}, function() while true do end end) end",
        "(function() while true do end end)()",
        "function() local t = {} for i = 1, 60 do t = {t, t} end return t end",
        "function() local t for i = 1, 60 do t = {a=t, b=t} end return t end",
    };
    SCOPED_BUFFER row = COLANDER_BUFFER_EMPTY;

    (void)state;
    looks_max = 1000;
    for (size_t i = 0; i < COUNT(maps); i++)
        assert_false(reduce(maps[i], add, 1, &row));
    assert_false(reduce("function(row) return row.n end",
                        "function(a, b) while true do end end", 1, &row));
    looks_max = UINT32_MAX; /* after some seconds with one row */
    assert_false(reduce(maps[0], add, 1, &row));
}
