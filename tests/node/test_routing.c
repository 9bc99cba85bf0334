/*
 * Routing: what partitions that no node has mean for reads.
 *
 * SPDX-License-Identifier: MIT
 */
#include "node/routing.h"
#include "support/store_fixture.h"

/* Counts the rows of a family of all partitions. */
static enum colander_code
count_all(const struct routing *routing, const char *name, uint64_t *count)
{
    SCOPED_FAMILY family = NULL;

    OK(colander_family_open(routing_all(routing), name, &family, why()));
    return colander_family_count(family, NULL, count, why());
}

static void
put_row(struct store_fixture *fixture, const char *name)
{
    SCOPED_FAMILY family = fixture_family(fixture, name);
    struct colander_buffer key = text_key("k");

    OK(colander_family_put(family, colander_buffer_slice(&key),
                           fixture_row(fixture, "n", colander_integer(1)), NULL,
                           why()));
    colander_buffer_release(&key);
}

/* Also that of one family whose name begins as that of another one. */
FIXTURE_TEST(a_partition_that_is_nowhere_is_missed_by_its_family_alone)
{
    const struct routing_options options = {.name = "here"};
    const struct cluster_family rows = {.name = (char *)"rows",
                                        .partition_count = 1};
    const struct cluster_family row = {.name = (char *)"row",
                                       .partition_count = 2};
    const struct route routes[] = {
        {.partition = "rows/0000", .store = fixture->store, .family = &rows},
        {.partition = "row/0000", .family = &row},
        {.partition = "row/0001", .number = 1, .family = &row},
    };
    struct colander_names names;
    struct routing *routing;
    SCOPED_FAMILY family = NULL;
    uint64_t count = 0;

    put_row(fixture, "rows");
    put_row(fixture, "rows.rejects");
    OK(routing_open(&options, &routing, why()));
    OK(routing_set(routing, routes, COUNT(routes), why()));
    OK(count_all(routing, "rows", &count));
    assert_int_equal(count, 1);
    OK(count_all(routing, "rows.rejects", &count));
    assert_int_equal(count, 1);
    FAILS(count_all(routing, "row", &count), COLANDER_BUSY);
    assert_non_null(strstr(error_text(), "no node has partition row/0000"));
    FAILS(count_all(routing, "row.rejects", &count), COLANDER_BUSY);

    /* it exists, so that nothing says that there is no such family */
    OK(colander_family_open(routing_all(routing), "row", &family, why()));
    assert_true(colander_family_exists(family));
    OK(colander_store_families(routing_all(routing), &names, why()));
    assert_int_equal(names.count, 3);
    assert_string_equal(names.names[0], "row");
    colander_names_release(&names);
    colander_family_close(family);
    family = NULL;

    OK(routing_set(routing, routes, 1, why()));
    OK(count_all(routing, "row", &count));
    assert_int_equal(count, 0);
    OK(routing_close(routing, why()));
}
