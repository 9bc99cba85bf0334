/*
 * Where: how expressions match rows, how mistakes are reported, and what
 * expressions may not do.
 *
 * SPDX-License-Identifier: MIT
 */
#include "shell/interrupt.h"
#include "shell/where.h"
#include "support/cases.h"

#include <signal.h>
#include <stdlib.h>

#define ZOLW "\xC5\xBC\xC3\xB3\xC5\x82w"

/* A row with every type, under the key "k1". */
struct sample {
    struct colander_row_builder *builder;
    struct colander_buffer key;
    struct colander_slice row;
};

static void
add(struct sample *sample, const char *name, struct colander_value value)
{
    colander_row_builder_add(sample->builder, name, value);
}

static void
add_containers(struct sample *sample)
{
    colander_row_builder_begin_array(sample->builder, "tags");
    add(sample, NULL, colander_text("news"));
    add(sample, NULL, colander_text("local"));
    colander_row_builder_end(sample->builder);
    colander_row_builder_begin_map(sample->builder, "user");
    add(sample, "name", colander_text("Ann"));
    add(sample, "age", colander_null());
    colander_row_builder_end(sample->builder);
}

static int
make_sample(void **state)
{
    static struct sample sample;
    const struct colander_slice bytes = {(const uint8_t *)"\0\1", 2};

    memset(&sample, 0, sizeof(sample));
    sample.builder = colander_row_builder_create();
    assert_non_null(sample.builder);
    add(&sample, "likes", colander_integer(5));
    add(&sample, "ratio", colander_double(2.5));
    add(&sample, "large", colander_unsigned(UINT64_MAX));
    add(&sample, "text", colander_text("hello " ZOLW));
    add(&sample, "digits", colander_text("7"));
    add(&sample, "yes", colander_boolean(true));
    add(&sample, "no", colander_boolean(false));
    add(&sample, "none", colander_null());
    add(&sample, "at", colander_timestamp(1600000000, 0));
    add(&sample, "bytes", colander_binary(bytes));
    add(&sample, "type", colander_text("note"));
    add(&sample, "a.b", colander_integer(1));
    add(&sample, ZOLW, colander_integer(2));
    add_containers(&sample);
    OK(colander_row_builder_finish(sample.builder, &sample.row, NULL));
    OK(colander_key_text("k1", &sample.key, NULL));
    *state = &sample;
    return 0;
}

static int
drop_sample(void **state)
{
    struct sample *sample = *state;

    colander_row_builder_destroy(sample->builder);
    colander_buffer_release(&sample->key);
    return 0;
}

/* Evaluates the expression for the row. */
static enum colander_code
ask(const struct sample *sample, const char *text, bool *accepts,
    struct colander_error *err)
{
    struct where *where = where_create();
    enum colander_code code;
    size_t offset;

    assert_non_null(where);
    code = where_add(where, text, &offset, err);
    if (code == COLANDER_OK)
        code = where_accepts(where, colander_buffer_slice(&sample->key),
                             sample->row, accepts, err);
    where_destroy(where);
    return code;
}

static void
assert_all(const struct sample *sample, const char *const *texts, size_t count,
           bool expected)
{
    for (size_t i = 0; i < count; i++) {
        bool accepts = false;

        if (ask(sample, texts[i], &accepts, why()) != COLANDER_OK)
            fail_msg("'%s' fails: %s", texts[i], error_text());
        if (accepts != expected)
            fail_msg("'%s' is %s", texts[i], accepts ? "true" : "false");
    }
}

TEST(expressions_see_every_column)
{
    static const char *const texts[] = {
        "likes == 5",
        "likes == 5.0 and ratio * 2 == likes",
        "yes and not no",
        "text:sub(1, 5) == 'hello' and #text == 13",
        "utf8.len(text) == 10",
        "type == 'note'",
        "row['a.b'] + row['" ZOLW "'] == 3",
        "row._key == 'k1' and _key == 'k1'",
        "user.name == 'Ann' and row.user.name == 'Ann'",
        "#tags == 2 and tags[1] == 'news' and table.concat(tags) == "
        "'newslocal'",
        "bytes.bytes == '\\0\\1' and #bytes == 2",
        "math.max(likes, 3) == 5",
        "tonumber(digits) > likes and digits + 1 == 8",
        "tostring(row):find('\"likes\":5', 1, true)",
        "colander.type(tags) == 'array' and colander.type(likes) == 'integer'",
        "(function() for name in pairs(row) do if name == 'ratio' then return "
        "1 end end end)()",
        "(function() local n = 0 for _, tag in ipairs(tags) do n = n + #tag "
        "end return n == 9 end)()",
        "likes > 3 -- and that is all",
        "likes\n> 3",
    };

    assert_all(state, texts, COUNT(texts), true);
}

TEST(what_has_no_order_is_neither_below_nor_above)
{
    static const char *const texts[] = {
        "missing < 1",       "1 < missing",     "missing <= missing",
        "missing >= 'x'",    "none < 1",        "none <= none",
        "1 >= none",         "likes < 'x'",     "'x' < likes",
        "likes <= digits",   "digits >= likes", "yes < 1",
        "yes > 'a'",         "at < 5",          "5 < at",
        "at < 'x'",          "bytes > text",    "tags < 1",
        "user >= 'x'",       "missing < tags",  "large < text",
        "missing.deep < 10",
    };
    static const char *const ordered[] = {
        "large > likes",
        "likes < large",
        "no < yes",
        "yes <= yes",
        "large >= 1.5 and ratio < large",
        "at > colander.timestamp(1500000000)",
        "at <= colander.timestamp(1600000000)",
        "bytes < colander.binary('\\1')",
    };

    assert_all(state, texts, COUNT(texts), false);
    assert_all(state, ordered, COUNT(ordered), true);
}

TEST(what_is_missing_is_nil_and_null_is_not)
{
    static const char *const accepted[] = {
        "missing == nil",
        "none == colander.null and none ~= nil",
        "user.age == colander.null",
        "missing.a.b.c == nil and likes.a == nil and yes.a == nil",
        "none.a == nil and text.a == nil",
        "missing + 1 == nil and 1 - missing == nil and -missing == nil",
        "none * 2 == nil and 2 // none == nil and -none == nil",
        "missing .. 'x' == nil and 'x' .. none == nil",
        "#missing == nil and #none == nil",
        "missing ~= 'x'",
        "digits + (missing or 1) == 8",
    };
    static const char *const rejected[] = {
        "missing",      "none",
        "nil",          "false",
        "no",           "user.age",
        "missing.a",    "likes + missing > 0",
        "none + 1 < 9", "missing == colander.null",
        "likes == '5'",
    };

    assert_all(state, accepted, COUNT(accepted), true);
    assert_all(state, rejected, COUNT(rejected), false);
}

TEST(nothing_reaches_outside)
{
    static const char *const texts[] = {
        "io",           "os",
        "package",      "debug",
        "load",         "string.dump",
        "require",      "dofile",
        "loadfile",     "_G",
        "setmetatable", "getmetatable",
        "rawset",       "rawget",
        "coroutine",    "pcall",
        "error",        "collectgarbage",
        "print",        "colander.open",
    };

    assert_all(state, texts, COUNT(texts), false);
}

TEST(mistakes_have_a_place)
{
    static const struct {
        const char *text;
        size_t offset;
        const char *message;
    } cases[] = {
        {"", 0, "expected an expression"},
        {" -- nothing", 11, "expected an expression"},
        {"likes >", 7, "expected an expression"},
        {"likes > ) 5", 8, "expected an expression instead of ')'"},
        {"local x", 0, "expected an expression instead of 'local'"},
        {"x = 1", 2,
         "unexpected '=' after the expression (write == for equal)"},
        {"x != 1", 2,
         "unexpected '!' after the expression (write ~= for not equal)"},
        {"x && y", 3, "expected an expression instead of '&' (write and)"},
        {"x || y", 3, "expected an expression instead of '|' (write or)"},
        {"1) or (2", 1, "unexpected ')' after the expression"},
        {"1, 2", 1, "unexpected ',' after the expression"},
        {"1;", 1, "unexpected ';' after the expression"},
        {"likes 5", 6, "unexpected '5' after the expression"},
        {"likes > (3", 10, "')' expected at the end"},
        {"{1, 2 3}", 6, "'}' expected near '3'"},
        {"likes == 'a", 11, "unfinished string at the end"},
        {"likes == 3x", 9, "malformed number near '3x'"},
        {"x == 1 and\nlikes = 5", 17,
         "unexpected '=' after the expression (write == for equal)"},
        {"na" ZOLW " == 1", 2,
         "names have ASCII letters only: write any other column as "
         "row[\"...\"]"},
        {ZOLW " == 1", 0,
         "names have ASCII letters only: write any other column as "
         "row[\"...\"]"},
    };
    struct where *where = where_create();

    assert_non_null(where);
    for (size_t i = 0; i < COUNT(cases); i++) {
        size_t offset = 99;

        FAILS(where_add(where, cases[i].text, &offset, why()),
              COLANDER_INVALID);
        assert_string_equal(error_text(), cases[i].message);
        assert_int_equal(offset, cases[i].offset);
    }
    where_destroy(where);
}

TEST(errors_name_the_row_and_the_expression)
{
    static const struct {
        const char *text;
        const char *message;
        enum colander_code code;
    } cases[] = {
        {"missing()",
         "row 'k1': attempt to call a nil value (global 'missing'): in --where "
         "'missing()'",
         COLANDER_INVALID},
        {"text + 1",
         "row 'k1': attempt to add a 'string' with a 'number': in --where "
         "'text + 1'",
         COLANDER_INVALID},
        {"at * 2",
         "row 'k1': attempt to calculate with a timestamp: in --where 'at * 2'",
         COLANDER_INVALID},
        {"(function() likes = 1 end)()",
         "row 'k1': an expression cannot set 'likes': in --where "
         "'(function() likes = 1 end)()'",
         COLANDER_INVALID},
        {"(function() local t = {} while true do t[#t + 1] = {} end end)()",
         "row 'k1': not enough memory: in --where '(function() local t = {} "
         "while true do t[#t + 1] = {} end end)()'",
         COLANDER_NO_MEMORY},
        {"('x'):rep(1 << 30)",
         "row 'k1': not enough memory: in --where '('x'):rep(1 << 30)'",
         COLANDER_NO_MEMORY},
        {"(function() local function f() return 1 + f() end return f() end)()",
         "row 'k1': stack overflow: in --where '(function() local function f() "
         "return 1 + f() end return f() end)()'",
         COLANDER_INVALID},
    };

    for (size_t i = 0; i < COUNT(cases); i++) {
        bool accepts;

        assert_int_equal(ask(state, cases[i].text, &accepts, why()),
                         cases[i].code);
        assert_string_equal(error_text(), cases[i].message);
    }
}

TEST(an_endless_expression_is_interrupted)
{
    bool accepts;

    interrupt_install();
    assert_int_equal(raise(SIGINT), 0);
    FAILS(ask(state, "(function() while true do end end)()", &accepts, why()),
          COLANDER_CANCELLED);
    interrupt_forget();
    interrupt_ends_program();
}

/* A row leaves nothing that the next one sees. */
TEST(all_of_many_expressions_must_hold)
{
    const struct sample *sample = state;
    struct where *where = where_create();
    struct colander_slice key = colander_buffer_slice(&sample->key);
    bool accepts = false;
    size_t offset;

    assert_non_null(where);
    for (int i = 0; i < 100; i++)
        OK(where_add(where, "likes == 5", &offset, NULL));
    OK(where_accepts(where, key, sample->row, &accepts, NULL));
    assert_true(accepts);
    OK(where_add(where, "likes == 6", &offset, NULL));
    OK(where_add(where, "nobody.asks()", &offset, NULL));
    OK(where_accepts(where, key, sample->row, &accepts, NULL));
    assert_false(accepts);
    OK(where_accepts(where, key, colander_slice_text("\x80"), &accepts, NULL));
    assert_false(accepts);
    where_destroy(where);
}

int
main(void)
{
    return tests_run(make_sample, drop_sample);
}
