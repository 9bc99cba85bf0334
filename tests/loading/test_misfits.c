/*
 * Misfits of files that several threads have read are added up, whichever ends
 * first. The first is that of the first file, on its first line.
 *
 * SPDX-License-Identifier: MIT
 */
#include "loading/misfits.h"
#include "support/cases.h"

static const struct value_reading integers = {
    .type = VALUE_INTEGER, .path = "n", .number = 2};

/* Counts a misfit and a value that fits. */
static void
see(struct misfits *misfits, const char *text, uint64_t line)
{
    const struct colander_value wrong = colander_text(text);
    const struct colander_value right = colander_integer(5);
    const struct colander_value null = colander_null();

    misfits_see(misfits, &integers, &wrong);
    misfits_see(misfits, &integers, &right);
    misfits_see(misfits, &integers, &null);
    if (misfits->lacks_line)
        misfits_set_line(misfits, line);
}

TEST(the_first_of_a_file_is_that_of_its_first_line)
{
    struct misfits parts[3] = {{NULL, 0, 0, false}};
    struct misfits sum = {NULL, 0, 0, false};
    struct colander_load_misfit misfit;
    size_t at = 0;

    see(&parts[0], "b", 70);
    see(&parts[0], "c", 90);
    see(&parts[1], "a", 50);
    see(&parts[2], "d", 1);
    misfits_add(&sum, &parts[0], "one");
    misfits_add(&sum, &parts[1], "one");
    misfits_add(&sum, &parts[0], "one");
    misfits_add(&sum, &parts[2], "two");
    assert_true(misfits_next(&sum, &at, &misfit));
    assert_string_equal(misfit.path, "n");
    assert_string_equal(misfit.type, "integer");
    assert_string_equal(misfit.example, "\"a\"");
    assert_string_equal(misfit.file, "one");
    assert_int_equal(misfit.line, 50);
    assert_int_equal(misfit.misfit_count, 6);
    assert_int_equal(misfit.value_count, 12);
    assert_false(misfits_next(&sum, &at, &misfit));
    misfits_release(&sum);
    for (size_t i = 0; i < COUNT(parts); i++)
        misfits_release(&parts[i]);
}

TEST(a_long_example_is_cut_between_characters)
{
    struct misfits misfits = {NULL, 0, 0, false};
    char text[200] = "";

    for (size_t i = 0; i < 60; i++)
        strcat(text, "\xC3\xA9");
    see(&misfits, text, 1);
    assert_string_equal((const char *)misfits.items[2].example.data + 59,
                        "...");
    misfits_release(&misfits);
}
