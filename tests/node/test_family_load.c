/*
 * How records of a family are loaded is a function of its definition.
 *
 * SPDX-License-Identifier: MIT
 */
#include "node/family_load.h"
#include "support/cases.h"

static struct cluster_family
some_family(uint32_t record_size)
{
    static char *const key[] = {(char *)"id"};

    return (struct cluster_family){
        .name = (char *)"f",
        .key = {(char **)key, 1, 1},
        .format = (char *)"json",
        .on_duplicate = (char *)"keep",
        .record_size = record_size,
    };
}

TEST(the_largest_record_is_that_of_the_definition)
{
    static const uint32_t sizes[] = {5000, 0};

    for (size_t i = 0; i < 2; i++) {
        const struct cluster_family family = some_family(sizes[i]);
        struct family_load load;

        OK(family_load_init(&load, &family, why()));
        assert_int_equal(load.options.record_size, i == 0 ? 5000 : 8 << 20);
        assert_int_equal(load.options.duplicates, COLANDER_LOAD_KEEP);
        assert_string_equal(load.options.format, "jsonl");
        family_load_release(&load);
    }
}

int
main(void)
{
    return tests_run(NULL, NULL);
}
