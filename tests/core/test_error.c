/*
 * Errors: contexts precede causes, within the space available.
 *
 * SPDX-License-Identifier: MIT
 */
#include "core/core.h"
#include "support/cases.h"

#include <stdio.h>

TEST(contexts_are_outermost_first)
{
    struct colander_error err;

    FAILS(COLANDER_FAIL(&err, COLANDER_IO, "disk is %s", "full"), COLANDER_IO);
    colander_error_context(&err, "file '%d'", 7);
    colander_error_context(&err, "store");
    assert_string_equal(err.message, "store: file '7': disk is full");
    assert_int_equal(err.code, COLANDER_IO);
    FAILS(COLANDER_FAIL(NULL, COLANDER_BUSY, "unseen"), COLANDER_BUSY);
    colander_error_context(NULL, "unseen");
}

static void
write_name(void *context, const char *file, char *text, size_t size)
{
    (void)snprintf(text, size, "%s<%s>", (const char *)context, file);
}

TEST(temporary_paths_are_named_by_what_they_stand_for)
{
    char there[] = "/there";
    struct colander_error_name name = {"/t/x", write_name, there, NULL};
    struct colander_error err;

    colander_error_name_add(&name);
    (void)COLANDER_FAIL(&err, COLANDER_IO, "in /t/x/a/1.sst: '/t/x/b', '%s'",
                        "/t/x");
    assert_string_equal(err.message,
                        "in /there<a/1.sst>: '/there<b>', '/there<>'");
    colander_error_context(&err, "store '/t/x/'");
    assert_string_equal(err.message, "store '/there<>': in /there<a/1.sst>: "
                                     "'/there<b>', '/there<>'");
    colander_error_name_remove(&name);
    colander_error_name_remove(&name);
    (void)COLANDER_FAIL(&err, COLANDER_IO, "in /t/x/a");
    assert_string_equal(err.message, "in /t/x/a");
}

TEST(long_context_leaves_the_cause)
{
    struct colander_error err;
    char path[2000];

    memset(path, 'x', sizeof(path));
    path[sizeof(path) - 1] = '\0';
    (void)COLANDER_FAIL(&err, COLANDER_IO, "no room");
    colander_error_context(&err, "store '%s'", path);
    assert_int_equal(strlen(err.message), sizeof(err.message) - 1);
    assert_string_equal(err.message + strlen(err.message) - 12, "...: no room");
    (void)COLANDER_FAIL(&err, COLANDER_IO, "%s", path);
    colander_error_context(&err, "store '%s'", path);
    assert_true(strlen(err.message) < sizeof(err.message));
    assert_memory_equal(err.message, "store '", 7);
}
