/*
 * Brackets that lines of Lua leave open.
 *
 * SPDX-License-Identifier: MIT
 */
#include "shell/prompt/chunk.h"
#include "support/cases.h"

/* Returns whether the lines, ended by NULL, leave any bracket open. */
static bool
leave_open(const char *const *lines)
{
    struct brackets brackets = BRACKETS_NONE;

    for (; *lines != NULL; lines++)
        brackets_add(&brackets, colander_slice_text(*lines));
    return brackets_are_open(&brackets);
}

#define LINES(...)                                                             \
    (const char *const[])                                                      \
    {                                                                          \
        __VA_ARGS__, NULL                                                      \
    }

TEST(brackets_count_when_they_are_code)
{
    assert_true(leave_open(LINES("x = {", "1,")));
    assert_false(leave_open(LINES("x = {", "1,", "}")));
    assert_true(leave_open(LINES("f(a[1], {", "b = 2}")));
    assert_false(leave_open(LINES("f(a[1], {", "b = 2})")));
    assert_false(leave_open(LINES("print(1)) )")));
}

TEST(brackets_in_strings_and_comments_do_not)
{
    assert_false(leave_open(LINES("x = '{('", "y = \"[\\\"{\"")));
    assert_false(leave_open(LINES("x = 1 -- {", "y = 2 --[ (")));
    assert_false(leave_open(LINES("x = [[ { ]]", "y = [==[ ( ]] ]==]")));
    assert_false(leave_open(LINES("--[[ {", "( ]] x = 1")));
    assert_true(leave_open(LINES("x = '}' .. f{")));
    assert_true(leave_open(LINES("{ --[[ } ]]")));
}

TEST(long_strings_and_comments_stay_open)
{
    assert_true(leave_open(LINES("x = [[")));
    assert_true(leave_open(LINES("x = [==[", "]]", "]=]")));
    assert_false(leave_open(LINES("x = [==[", "]]", "]==]")));
    assert_true(leave_open(LINES("--[=[ ", "]]")));
    assert_false(leave_open(LINES("--[=[ ", "]=]")));
}
