/*
 * The border to C++: no exception crosses it, and each RocksDB status maps to a
 * code.
 *
 * SPDX-License-Identifier: MIT
 */
#include "support/cases.h"
#include "support/thrown.h"

#include <stdint.h>
#include <string.h>

/* The message begins with this; RocksDB supplies the rest. */
static void
assert_tried(enum thrown thrown, enum colander_code code, const char *message)
{
    struct colander_error err = {.code = COLANDER_OK};

    assert_int_equal(guard_tried(thrown, &err), code);
    assert_int_equal(err.code, code);
    assert_memory_equal(err.message, message, strlen(message));
    assert_int_equal(guard_tried(thrown, NULL), code);
}

TEST(exceptions_become_errors)
{
    assert_tried(THROWN_NOTHING, COLANDER_OK, "");
    assert_tried(THROWN_BAD_ALLOC, COLANDER_NO_MEMORY, "cannot try: no memory");
    assert_tried(THROWN_RUNTIME_ERROR, COLANDER_IO, "cannot try: thrown");
    assert_tried(THROWN_NUMBER, COLANDER_IO, "cannot try: unknown exception");
}

TEST(a_status_has_its_code)
{
    assert_tried(SAID_OK, COLANDER_OK, "");
    assert_tried(SAID_CORRUPTION, COLANDER_CORRUPT, "cannot try: ");
    assert_tried(SAID_MEMORY_LIMIT, COLANDER_NO_MEMORY, "cannot try: ");
    assert_tried(SAID_DROPPED, COLANDER_DROPPED, "cannot try: ");
    assert_tried(SAID_NO_SPACE, COLANDER_IO, "cannot try: ");
}
