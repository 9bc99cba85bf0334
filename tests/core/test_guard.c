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
assert_told(enum thrown thrown, enum colander_code code, const char *message)
{
    struct colander_error err = {.code = COLANDER_OK};

    assert_int_equal(guard_tried(thrown, &err), code);
    assert_int_equal(err.code, code);
    assert_memory_equal(err.message, message, strlen(message));
    assert_int_equal(guard_tried(thrown, NULL), code);
}

TEST(exceptions_become_errors)
{
    assert_told(THROWN_NOTHING, COLANDER_OK, "");
    assert_told(THROWN_BAD_ALLOC, COLANDER_NO_MEMORY, "cannot try: no memory");
    assert_told(THROWN_RUNTIME_ERROR, COLANDER_IO, "cannot try: told");
    assert_told(THROWN_NUMBER, COLANDER_IO, "cannot try: unknown exception");
}

TEST(a_status_has_its_code)
{
    assert_told(SAID_OK, COLANDER_OK, "");
    assert_told(SAID_CORRUPTION, COLANDER_CORRUPT, "cannot try: ");
    assert_told(SAID_MEMORY_LIMIT, COLANDER_NO_MEMORY, "cannot try: ");
    assert_told(SAID_DROPPED, COLANDER_DROPPED, "cannot try: ");
    assert_told(SAID_NO_SPACE, COLANDER_IO, "cannot try: ");
}
