/*
 * Schema files that are no data, or mean harm.
 *
 * SPDX-License-Identifier: MIT
 */
#include "schema_files.h"

#include <lauxlib.h>
#include <lualib.h>

static void
nothing_is_there_but_the_language(void **state)
{
    static const char *const names[] = {
        "print", "require",  "os",           "io", "string",    "load",
        "pcall", "colander", "setmetatable", "_G", "coroutine", "debug"};

    (void)state;
    check_refused("return {\n types = { id = string } }",
                  ":2: 'string' is not known: a text stands in quotes, and "
                  "there are no functions");
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        char text[100], message[200];

        snprintf(text, sizeof(text), "local x = %s", names[i]);
        snprintf(message, sizeof(message),
                 ":1: '%s' is not known: a text stands in quotes, and there "
                 "are no functions",
                 names[i]);
        check_refused(text, message);
    }
    check_refused("key = 'id'\nreturn {}",
                  ":1: 'key' cannot be set: fields stand within 'return { }', "
                  "and variables are 'local key'");
    check_refused("return { key = ('x'):rep(5) }",
                  ":1: attempt to index a string value (constant 'x')");
    check_refused("local s = 'x'\nreturn { key = s.len }",
                  ":2: attempt to index a string value (local 's')");
    check_refused("return { key = _ENV.x }",
                  ":1: 'x' is not known: a text stands in quotes, and there "
                  "are no functions");
}

static void
endless_loops_end(void **state)
{
    static const char message[] =
        ":1: takes too long: a schema is data, no program";

    (void)state;
    check_refused("while true do end", message);
    check_refused("::a:: goto a", message);
    check_refused("local function f() return f() end return f()", message);
    check_refused("for i = 1, 1e9 do end", message);
    check_refused("local s = 'x' for i = 1, 21 do s = s .. s end "
                  "while true do local t = s .. 'y' end",
                  message);
}

static void
memory_is_limited(void **state)
{
    static const char message[] = ": takes more than 8 MiB of memory";

    (void)state;
    check_refused("local s = 'x' for i = 1, 60 do s = s .. s end", message);
    check_refused("local t = {} for i = 1, 1e9 do t = {t} end", message);
    check_refused("local t = {} for i = 1, 1e9 do t[i] = i end", message);
    check_refused("local t = {} for i = 1, 1e9 do t['k' .. i] = i end",
                  message);
}

static void
deep_calls_and_brackets_end(void **state)
{
    static char text[300000];
    struct colander_error err;
    struct schema *schema;

    (void)state;
    check_refused("local function f() return 1 + f() end return f()",
                  ": takes more than 8 MiB of memory");
    strcpy(text, "return ");
    memset(text + strlen(text), '{', 200000);
    write_file(text, strlen(text));
    assert_int_equal(schema_file_read(SCHEMA_FILE, &schema, &err),
                     COLANDER_INVALID);
    memset(text + strlen("return "), '(', 200000);
    write_file(text, strlen(text));
    assert_int_equal(schema_file_read(SCHEMA_FILE, &schema, &err),
                     COLANDER_INVALID);
}

static void
tables_may_be_deep_and_lead_to_themselves(void **state)
{
    struct schema *schema;

    (void)state;
    check_refused("local t = {} t.types = t return t",
                  ":1: types[\"types\"]: must be the name of a type, not a "
                  "table");
    check_refused("local t = {} t.key = {t} return t",
                  ":1: key[1]: must be a column or a list of columns, not a "
                  "table");
    check_refused("local t = {} t[1] = t return { time = t }",
                  ":1: time[1]: has a value without a name");
    check_refused("local t = {} for i = 1, 10000 do t = {t} end "
                  "return { key = t }",
                  ":1: key[1]: must be a column or a list of columns, not a "
                  "table");
    check_refused("local t = {} t.family = t return t",
                  ":1: family.family: unknown field (there are fp_rate, "
                  "bits_per_value, rows_per_segment)");
    /* what was taken from the environment is still nothing */
    schema = read_fine("_ENV = {} x = 5 return { null = y }");
    assert_int_equal(schema->nulls.count, 0);
    schema_destroy(schema);
}

static int
append_dump(lua_State *L, const void *bytes, size_t size, void *context)
{
    (void)L;
    return colander_buffer_append(context, bytes, size, NULL) != COLANDER_OK;
}

static void
bytecode_is_refused(void **state)
{
    struct colander_buffer bytes = COLANDER_BUFFER_EMPTY;
    lua_State *L = luaL_newstate();

    (void)state;
    assert_non_null(L);
    assert_int_equal(luaL_loadstring(L, "return {}"), LUA_OK);
    assert_int_equal(lua_dump(L, append_dump, &bytes, 0), 0);
    lua_close(L);
    check_refused_bytes(bytes.data, bytes.size,
                        ": is compiled Lua, a schema is text");
    colander_buffer_release(&bytes);
}

static void
any_bytes_are_refused_as_text(void **state)
{
    static const char zeros[] = "return {}\0\0";
    static char text[1 << 12];
    struct colander_error err;
    struct schema *schema;

    (void)state;
    check_refused_bytes(zeros, sizeof(zeros) - 1, ":1: <eof> expected");
    check_refused("return { key = '\x1b[31m' .. nil }",
                  ":1: attempt to concatenate a nil value");
    check_refused("return { ['\x1b[31m'] = 1 }",
                  ":1: \\x1b[31m: unknown field (there are about, record, key, "
                  "types, time, null, delimiter, guess, unfiltered, family)");
    /* a message never grows over its room */
    snprintf(text, sizeof(text),
             "return { types = { ['%02000d'] = '%02000d' }}", 1, 1);
    write_file(text, strlen(text));
    assert_int_equal(schema_file_read(SCHEMA_FILE, &schema, &err),
                     COLANDER_INVALID);
    assert_true(strlen(err.message) < sizeof(err.message));
}

static void
large_files_are_refused(void **state)
{
    static char text[(1 << 20) + 1];
    struct colander_error err;
    struct schema *schema;

    (void)state;
    memset(text, ' ', sizeof(text));
    memcpy(text, "return {}", 9);
    write_file(text, sizeof(text) - 1);
    assert_int_equal(schema_file_read(SCHEMA_FILE, &schema, &err), COLANDER_OK);
    schema_destroy(schema);
    write_file(text, sizeof(text));
    assert_int_equal(schema_file_read(SCHEMA_FILE, &schema, &err),
                     COLANDER_INVALID);
    assert_string_equal(err.message,
                        "schema '" SCHEMA_FILE "' has more than 1 MiB");
    assert_int_equal(schema_file_read("/dev/zero", &schema, &err),
                     COLANDER_INVALID);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_is_there_but_the_language),
        cmocka_unit_test(endless_loops_end),
        cmocka_unit_test(memory_is_limited),
        cmocka_unit_test(deep_calls_and_brackets_end),
        cmocka_unit_test(tables_may_be_deep_and_lead_to_themselves),
        cmocka_unit_test(bytecode_is_refused),
        cmocka_unit_test(any_bytes_are_refused_as_text),
        cmocka_unit_test(large_files_are_refused),
    };

    return cmocka_run_group_tests(tests, enter_folder, leave_folder);
}
