/*
 * Deletes, updates and retaining as a user at a terminal sees them: the
 * question before, progress, and Ctrl-C.
 *
 * SPDX-License-Identifier: MIT
 */
#include "support/scoped.h"
#include "support/terminal.h"
#include "support/user_files.h"

#define FEW 5
#define MANY 300000 /* rows whose deletion takes a while */
#define BATCH 1000

/* Makes the store with rows 0 to count - 1 in the family f. */
static void
make_rows(int64_t count)
{
    struct colander_store *store;
    struct colander_family *family;
    struct colander_bulk *bulk;
    struct colander_slice row;
    SCOPED_BUILDER builder = colander_row_builder_create();
    SCOPED_BUFFER key = COLANDER_BUFFER_EMPTY;

    OK(colander_store_open(store_path, NULL, &store, why()));
    OK(colander_family_open(store, "f", &family, why()));
    OK(colander_bulk_create(family, &bulk, why()));
    colander_row_builder_add(builder, "a", colander_integer(1));
    OK(colander_row_builder_finish(builder, &row, NULL));
    for (int64_t i = 0; i < count; i++) {
        const struct colander_value part = colander_integer(i);

        OK(colander_key_encode(&part, 1, &key, NULL));
        OK(colander_bulk_add(bulk, colander_buffer_slice(&key), row, why()));
    }
    OK(colander_bulk_commit(bulk, NULL, why()));
    colander_bulk_destroy(bulk);
    colander_family_close(family);
    OK(colander_store_close(store, why()));
}

DIRECTORY_TEST(only_yes_deletes)
{
    const char *const words[] = {"colander", "delete", store_path,
                                 "f",        "a=1",    NULL};
    static const char *const refusals[] = {"n\r", "\r", "\x04", "no, yes\r"};
    struct terminal terminal;

    make_rows(FEW);
    for (size_t i = 0; i < COUNT(refusals); i++) {
        terminal_start(&terminal, words);
        terminal_expect(&terminal, "delete 5 rows of family 'f'? [y/N] ");
        terminal_type(&terminal, refusals[i]);
        terminal_expect(&terminal, "no row deleted");
        assert_int_equal(terminal_finish(&terminal), 1);
    }
    assert_int_equal(count_rows("f"), FEW);
    terminal_start(&terminal, words);
    terminal_expect(&terminal, "[y/N] ");
    terminal_type(&terminal, "y\r");
    terminal_expect(&terminal, "5 rows deleted");
    assert_int_equal(terminal_finish(&terminal), 0);
    assert_int_equal(count_rows("f"), 0);
}

DIRECTORY_TEST(a_question_is_asked_also_if_standard_error_is_elsewhere)
{
    const char *const words[] = {"colander", "delete", store_path,
                                 "f",        "--all",  NULL};
    struct terminal terminal;

    make_rows(FEW);
    terminal_start_unheard(&terminal, words);
    terminal_expect(&terminal, "delete 5 rows of family 'f'? [y/N] ");
    terminal_type(&terminal, "n\r");
    assert_int_equal(terminal_finish(&terminal), 1);
    assert_int_equal(count_rows("f"), FEW);
}

DIRECTORY_TEST(ctrl_c_at_the_question_changes_nothing)
{
    const char *const words[] = {"colander", "update", store_path, "f",
                                 "--all",    "--set",  "a=2",      NULL};
    struct terminal terminal;

    make_rows(FEW);
    terminal_start(&terminal, words);
    terminal_expect(&terminal, "update 5 rows of family 'f'? [y/N] ");
    terminal_type(&terminal, "\x03");
    terminal_expect(&terminal, "colander: update: interrupted");
    assert_int_equal(terminal_finish(&terminal), 130);
    assert_int_equal(count_rows("f"), FEW);
}

DIRECTORY_TEST(there_is_no_question_about_no_rows_or_with_yes)
{
    const char *const none[] = {"colander", "delete", store_path,
                                "f",        "a=2",    NULL};
    const char *const yes[] = {"colander", "delete", store_path, "f",
                               "a=1",      "--yes",  NULL};
    struct terminal terminal;

    make_rows(FEW);
    terminal_start(&terminal, none);
    terminal_expect(&terminal, "0 rows deleted");
    assert_int_equal(terminal_finish(&terminal), 0);
    terminal_start(&terminal, yes);
    terminal_expect(&terminal, "5 rows deleted");
    assert_int_equal(terminal_finish(&terminal), 0);
    assert_int_equal(count_rows("f"), 0);
}

/* Gives the rows 0 to count - 1 times, a day apart, and the family its time
 * column. */
static void
make_timed_rows(int64_t count)
{
    struct colander_store *store;
    struct colander_family *family;
    struct colander_slice row;
    SCOPED_BUILDER builder = colander_row_builder_create();
    SCOPED_BUFFER key = COLANDER_BUFFER_EMPTY;

    OK(colander_store_open(store_path, NULL, &store, why()));
    OK(colander_family_open(store, "f", &family, why()));
    for (int64_t i = 0; i < count; i++) {
        const struct colander_value part = colander_integer(i);

        colander_row_builder_add(builder, "at",
                                 colander_timestamp(i * 86400, 0));
        OK(colander_row_builder_finish(builder, &row, NULL));
        OK(colander_key_encode(&part, 1, &key, NULL));
        OK(colander_family_put(family, colander_buffer_slice(&key), row, NULL,
                               why()));
    }
    OK(colander_family_set_time_column(store, family, "at", why()));
    colander_family_close(family);
    OK(colander_store_close(store, why()));
}

DIRECTORY_TEST(only_yes_retains)
{
    const char *const words[] = {"colander", "retain", store_path, "f",
                                 "--keep",   "2d",     NULL};
    const char *const all[] = {"colander", "retain", store_path, NULL};
    static const char *const refusals[] = {"n\r", "\r", "\x03"};
    struct terminal terminal;

    make_timed_rows(FEW);
    for (size_t i = 0; i < COUNT(refusals); i++) {
        const bool is_interrupted = refusals[i][0] == '\x03';

        terminal_start(&terminal, words);
        terminal_expect(&terminal, "delete 2 rows of family 'f'? [y/N] ");
        terminal_type(&terminal, refusals[i]);
        terminal_expect(
            &terminal, is_interrupted ? "interrupted"
                                      : "no row deleted, and no retention set");
        assert_int_equal(terminal_finish(&terminal), is_interrupted ? 130 : 1);
    }
    assert_int_equal(count_rows("f"), FEW);
    terminal_start(&terminal, all);
    terminal_expect(&terminal, "no family has a retention");
    assert_int_equal(terminal_finish(&terminal), 0);
    terminal_start(&terminal, words);
    terminal_expect(&terminal, "[y/N] ");
    terminal_type(&terminal, "y\r");
    terminal_expect(&terminal, "2 rows deleted");
    assert_int_equal(terminal_finish(&terminal), 0);
    assert_int_equal(count_rows("f"), FEW - 2);
    terminal_start(&terminal, all); /* no row is old: no question */
    terminal_expect(&terminal, "f: 0 rows deleted");
    assert_int_equal(terminal_finish(&terminal), 0);
    make_timed_rows(FEW);
    terminal_start(&terminal, all);
    terminal_expect(&terminal, "delete 2 rows of family 'f'? [y/N] ");
    terminal_type(&terminal, "n\r");
    assert_int_equal(terminal_finish(&terminal), 1);
    assert_int_equal(count_rows("f"), FEW);
}

DIRECTORY_TEST(a_question_says_what_each_rule_counts_for)
{
    const char *const words[] = {"colander", "retain", store_path, "f",
                                 "--keep",   "2d",     "--where",  "t=1",
                                 "--keep",   "9d",     "--where",  "at<2000",
                                 "--keep",   "30d",    NULL};
    struct terminal terminal;

    make_timed_rows(FEW);
    terminal_start(&terminal, words);
    terminal_expect(&terminal, "no row has 't'");
    terminal_expect(&terminal, "keep 9d, where t=1: 0 rows");
    terminal_expect(&terminal, "keep 30d, where at<2000: ");
    terminal_expect(&terminal, "keep 2d: ");
    terminal_expect(&terminal, " of family 'f'? [y/N] ");
    terminal_type(&terminal, "n\r");
    terminal_expect(&terminal, "no row deleted, and no retention set");
    assert_int_equal(terminal_finish(&terminal), 1);
    assert_int_equal(count_rows("f"), FEW);
}

DIRECTORY_TEST(a_drop_asks)
{
    const char *const words[] = {"colander", "drop", store_path, "f", NULL};
    struct terminal terminal;

    make_rows(FEW);
    terminal_start(&terminal, words);
    terminal_expect(&terminal, "drop family 'f' of about 5 rows? [y/N] ");
    terminal_type(&terminal, "n\r");
    terminal_expect(&terminal, "not dropped");
    assert_int_equal(terminal_finish(&terminal), 1);
    assert_int_equal(count_rows("f"), FEW);
    terminal_start(&terminal, words);
    terminal_expect(&terminal, "[y/N] ");
    terminal_type(&terminal, "y\r");
    assert_int_equal(terminal_finish(&terminal), 0);
    assert_int_equal(count_rows("f"), 0);
}

DIRECTORY_TEST(the_prompt_asks_and_continues)
{
    const char *const words[] = {"colander", "shell", store_path, NULL};
    struct terminal terminal;

    make_rows(FEW);
    terminal_start(&terminal, words);
    terminal_expect(&terminal, "colander> ");
    terminal_type(&terminal, ".delete f --key 1\r");
    terminal_expect(&terminal, "delete 1 row of family 'f'? [y/N] ");
    terminal_type(&terminal, "y\r");
    terminal_expect(&terminal, "1 row deleted");
    terminal_expect(&terminal, "colander> ");
    terminal_type(&terminal, ".find f --count\r");
    terminal_expect(&terminal, "4\r\n");
    terminal_type(&terminal, ".quit\r");
    assert_int_equal(terminal_finish(&terminal), 0);
}

DIRECTORY_TEST(progress_is_shown_and_ctrl_c_leaves_whole_batches)
{
    const char *const words[] = {"colander", "delete", store_path, "f",
                                 "--all",    "--yes",  NULL};
    struct terminal terminal;
    uint64_t left;

    make_rows(MANY);
    terminal_start(&terminal, words);
    terminal_expect(&terminal, " rows deleted\x1b[K");
    terminal_type(&terminal, "\x03");
    terminal_expect(&terminal, "\r\x1b[Kcolander: delete: interrupted");
    terminal_expect(&terminal, ",000 rows deleted");
    assert_int_equal(terminal_finish(&terminal), 130);
    left = count_rows("f");
    assert_in_range(left, 1, MANY - 1);
    assert_int_equal(left % BATCH, 0);
    terminal_start(&terminal, words);
    terminal_expect(&terminal, "rows deleted");
    assert_int_equal(terminal_finish(&terminal), 0);
    assert_int_equal(count_rows("f"), 0);
}
