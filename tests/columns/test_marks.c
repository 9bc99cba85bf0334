/*
 * Marks: written atomically with rows, invisible to finds, and removed with
 * their family.
 *
 * SPDX-License-Identifier: MIT
 */
#include "support/cases.h"
#include "support/children.h"
#include "support/claims.h"
#include "support/scoped.h"
#include "support/store_fixture.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#define NAME colander_slice_text("load:/some/file")

static void
assert_mark(struct colander_family *family, const char *text)
{
    SCOPED_BUFFER value = COLANDER_BUFFER_EMPTY;
    bool found;

    OK(colander_family_mark(family, NAME, &value, &found, NULL));
    assert_int_equal(found, text != NULL);
    ASSERT_SAME(colander_buffer_slice(&value), text == NULL
                                                   ? colander_slice_of(NULL, 0)
                                                   : colander_slice_text(text));
}

static void
write_mark(struct store_fixture *fixture, struct colander_family *family,
           const char *text)
{
    SCOPED_BATCH batch = NULL;

    OK(colander_batch_create(fixture->store, &batch, NULL));
    OK(colander_batch_mark(batch, family, NAME, colander_slice_text(text),
                           NULL));
    OK(colander_batch_commit(batch, NULL, NULL));
}

FIXTURE_TEST(a_mark_is_kept_replaced_and_removed)
{
    struct colander_family *family = kept_family(fixture, "f");
    struct colander_family *other = kept_family(fixture, "g");
    uint64_t count;

    assert_mark(family, NULL);
    write_mark(fixture, family, "one");
    write_mark(fixture, other, "other");
    assert_mark(family, "one");
    write_mark(fixture, family, "two");
    fixture_reopen(fixture, COLANDER_OPEN_READ_ONLY);
    family = kept_family(fixture, "f");
    assert_mark(family, "two");
    OK(colander_family_count(family, NULL, &count, NULL));
    assert_int_equal(count, 0);
    fixture_reopen(fixture, COLANDER_OPEN_EXISTING);
    family = kept_family(fixture, "f");
    write_mark(fixture, family, "");
    assert_mark(family, NULL);
}

FIXTURE_TEST(marks_are_removed_with_their_family)
{
    SCOPED_FAMILY family = fixture_family(fixture, "f");
    SCOPED_FAMILY again = NULL;

    write_mark(fixture, family, "old");
    OK(colander_family_drop(family, NULL));
    again = fixture_family(fixture, "f");
    OK(colander_family_create(again, NULL));
    assert_mark(again, NULL);
}

FIXTURE_TEST(a_mark_outside_the_limits_is_refused)
{
    SCOPED_FAMILY family = fixture_family(fixture, "f");
    static uint8_t bytes[COLANDER_MARK_SIZE_MAX + 1];
    SCOPED_BATCH batch = NULL;

    OK(colander_batch_create(fixture->store, &batch, NULL));
    FAILS(colander_batch_mark(batch, family, colander_slice_of(bytes, 0), NAME,
                              why()),
          COLANDER_INVALID);
    FAILS(colander_batch_mark(batch, family, NAME,
                              colander_slice_of(bytes, sizeof(bytes)), why()),
          COLANDER_LIMIT);
    FAILS(colander_batch_mark(
              batch, family,
              colander_slice_of(bytes, COLANDER_MARK_NAME_MAX + 1), NAME,
              why()),
          COLANDER_LIMIT);
    assert_int_equal(colander_batch_count(batch), 0);
    OK(colander_batch_mark(
        batch, family, colander_slice_of(bytes, COLANDER_MARK_NAME_MAX),
        colander_slice_of(bytes, COLANDER_MARK_SIZE_MAX), NULL));
    OK(colander_batch_commit(batch, NULL, NULL));
}

/* Puts rows 1, 2, ... each in a batch with a mark that has its number. */
ROLE(count)
{
    struct colander_options options = usual_options();
    struct colander_store *store;
    struct colander_family *family;
    struct colander_batch *batch;
    struct colander_buffer key = COLANDER_BUFFER_EMPTY;
    static const uint8_t row[] = {0x80};

    options.write_buffer_size = 1 << 20; /* flushed again and again */
    DID(colander_store_open(arguments[2], &options, &store, NULL));
    DID(colander_family_open(store, "f", &family, NULL));
    DID(colander_batch_create(store, &batch, NULL));
    for (int64_t i = 1; i > 0; i++) {
        const struct colander_value part = colander_integer(i);

        DID(colander_key_encode(&part, 1, &key, NULL));
        DID(colander_batch_put(batch, family, colander_buffer_slice(&key),
                               colander_slice_of(row, 1), NULL));
        DID(colander_batch_mark(batch, family, NAME,
                                colander_slice_of(&i, sizeof(i)), NULL));
        DID(colander_batch_commit(batch, NULL, NULL));
    }
    return 1;
}

FIXTURE_TEST(a_killed_process_leaves_rows_and_mark_that_agree)
{
    for (int round = 0; round < 5; round++) {
        SCOPED_BUFFER value = COLANDER_BUFFER_EMPTY;
        SCOPED_FAMILY family = NULL;
        uint64_t count;
        int64_t mark = 0;
        int status;
        bool found;
        pid_t child;

        fixture_close(fixture);
        child = child_start((const char *const[]){"test_marks", "--count",
                                                  fixture->directory, NULL});
        usleep((useconds_t)(100000 + 70000 * round));
        kill(child, SIGKILL);
        waitpid(child, &status, 0);
        assert_true(WIFSIGNALED(status)); /* it was killed, it did not fail */
        fixture_open(fixture);
        family = fixture_family(fixture, "f");
        OK(colander_family_mark(family, NAME, &value, &found, NULL));
        if (found)
            memcpy(&mark, value.data, sizeof(mark));
        OK(colander_family_count(family, NULL, &count, NULL));
        assert_int_equal(count, mark);
        if (colander_family_exists(family))
            OK(colander_family_drop(family, NULL));
    }
}
