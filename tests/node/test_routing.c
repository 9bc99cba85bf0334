/*
 * Routing: what partitions that no node has mean for reads.
 *
 * SPDX-License-Identifier: MIT
 */
#include "cluster/topic.h"
#include "node/placed.h"
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

/* While a family gets another number of partitions, nodes have both. */
FIXTURE_TEST(a_generation_that_is_not_read_is_there_for_other_nodes_alone)
{
    const struct routing_options options = {.name = "here"};
    const struct cluster_family before = {.name = (char *)"rows",
                                          .partition_count = 1};
    const struct cluster_family after = {
        .name = (char *)"rows", .partition_count = 2, .generation = 1};
    struct route routes[] = {
        {.partition = "rows/0000",
         .store = fixture->store,
         .family = &before,
         .is_hidden = true},
        {.partition = "rows.1/0000", .family = &after},
        {.partition = "rows.1/0001", .number = 1, .family = &after},
    };
    struct colander_names names;
    struct routing *routing;
    SCOPED_FAMILY here = NULL;
    uint64_t count = 0;

    put_row(fixture, "rows");
    OK(routing_open(&options, &routing, why()));
    OK(routing_set(routing, routes, COUNT(routes), why()));
    FAILS(count_all(routing, "rows", &count), COLANDER_BUSY);
    assert_non_null(strstr(error_text(), "no node has partition rows.1/0000"));
    FAILS(count_all(routing, "rows.rejects", &count), COLANDER_BUSY);
    OK(colander_store_families(routing_all(routing), &names, why()));
    assert_int_equal(names.count, 1);
    assert_string_equal(names.names[0], "rows");
    colander_names_release(&names);
    OK(colander_family_open(routing_here(routing), "rows", &here, why()));
    OK(colander_family_count(here, NULL, &count, why()));
    assert_int_equal(count, 1);
    colander_family_close(here);
    here = NULL;

    routes[0].is_hidden = false;
    routes[1].is_hidden = routes[2].is_hidden = true;
    OK(routing_set(routing, routes, COUNT(routes), why()));
    OK(count_all(routing, "rows", &count));
    assert_int_equal(count, 1);
    OK(routing_close(routing, why()));
}

/* Checks in which partition of `folder` a key is looked for. */
static void
check_choices(struct placed *placed, const char *folder, int partitions)
{
    const struct colander_value id = colander_integer(7);
    SCOPED_BUFFER key = COLANDER_BUFFER_EMPTY;
    struct colander_key_range keys = {.exact = {NULL, 0}};
    char path[80];

    OK(colander_key_encode(&id, 1, &key, why()));
    keys.exact = colander_buffer_slice(&key);
    for (int i = 0; i < partitions; i++) {
        const bool has_it =
            topic_partition_of(colander_slice_text("7"), partitions) == i;

        (void)snprintf(path, sizeof(path), "/a.b/%s/%04d", folder, i);
        assert_int_equal(placed_choose(placed, path, "rows", &keys),
                         has_it ? COLANDER_MEMBER_READ
                                : COLANDER_MEMBER_UNASKED);
        assert_int_equal(placed_choose(placed, path, "rows", NULL),
                         COLANDER_MEMBER_READ);
        assert_int_equal(placed_choose(placed, path, "rows.rejects", &keys),
                         COLANDER_MEMBER_READ);
        assert_int_equal(placed_choose(placed, path, "row", &keys),
                         COLANDER_MEMBER_OTHER);
        assert_int_equal(placed_choose(placed, path, "rows2", &keys),
                         COLANDER_MEMBER_OTHER);
    }
}

TEST(a_key_decides_for_a_partition_by_its_own_generation)
{
    const struct colander_value id = colander_integer(7);
    SCOPED_BUFFER key = COLANDER_BUFFER_EMPTY;
    struct colander_key_range keys = {.exact = {NULL, 0}};
    const struct cluster_family before = {
        .name = (char *)"rows", .partition_count = 2, .partition_by = 1};
    const struct cluster_family after = {.name = (char *)"rows",
                                         .partition_count = 5,
                                         .partition_by = 1,
                                         .generation = 1};
    struct route routes[7];
    struct placed *placed;

    for (uint32_t i = 0; i < COUNT(routes); i++)
        routes[i] = (struct route){.number = i < 2 ? i : i - 2,
                                   .family = i < 2 ? &before : &after,
                                   .is_placed = true,
                                   .is_hidden = i >= 2};
    OK(placed_create(&placed, why()));
    OK(placed_set(placed, routes, COUNT(routes), why()));
    check_choices(placed, "rows", 2);
    check_choices(placed, "rows.1", 5); /* a find may have begun with them */
    OK(placed_set(placed, routes + 2, 5, why()));
    check_choices(placed, "rows.1", 5);
    OK(colander_key_encode(&id, 1, &key, why()));
    keys.exact = colander_buffer_slice(&key);
    for (int i = 0; i < 2; i++) { /* what is not known may have any key */
        char path[80];

        (void)snprintf(path, sizeof(path), "/a.b/rows/%04d", i);
        assert_int_equal(placed_choose(placed, path, "rows", &keys),
                         COLANDER_MEMBER_READ);
    }
    placed_destroy(placed);
}
