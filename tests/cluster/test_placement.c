/*
 * Owners of partitions. The golden values are a protocol: nodes of different
 * versions must compute the same.
 *
 * SPDX-License-Identifier: MIT
 */
#include "cluster/placement.h"
#include "support/cases.h"
#include "support/random.h"

#include <string.h>

#define NODES 32
#define PARTITIONS 256

struct nodes {
    char texts[NODES][16];
    const char *names[NODES];
};

static void
name_nodes(struct nodes *nodes)
{
    for (size_t i = 0; i < NODES; i++) {
        snprintf(nodes->texts[i], sizeof(nodes->texts[i]), "node-%zu", i + 1);
        nodes->names[i] = nodes->texts[i];
    }
}

TEST(owners_are_those_of_all_versions)
{
    static const struct {
        const char *family;
        uint32_t partition;
        size_t owners[4];
    } golden[] = {
        {"events", 0, {0, 1, 3, 2}},  {"events", 1, {1, 0, 2, 3}},
        {"events", 2, {2, 0, 3, 1}},  {"events", 9999, {0, 2, 1, 3}},
        {"e", 0, {0, 1, 3, 2}},       {"users", 0, {3, 0, 2, 1}},
        {"users", 255, {0, 2, 3, 1}},
    };
    static const char *const names[] = {"a", "b", "node-3.example",
                                        "10.0.0.4_8080"};

    for (size_t i = 0; i < sizeof(golden) / sizeof(golden[0]); i++) {
        size_t owners[4];

        assert_int_equal(placement_owners(golden[i].family, golden[i].partition,
                                          names, 4, 4, owners),
                         4);
        for (size_t j = 0; j < 4; j++)
            assert_int_equal(owners[j], golden[i].owners[j]);
    }
}

TEST(there_are_as_many_owners_as_members_if_these_are_few)
{
    static const char *const names[] = {"a", "b"};
    size_t owners[3] = {7, 7, 7};

    assert_int_equal(placement_owners("f", 1, names, 0, 3, owners), 0);
    assert_int_equal(placement_owners("f", 1, names, 2, 0, owners), 0);
    assert_int_equal(owners[0], 7);
    assert_int_equal(placement_owners("f", 1, names, 2, 3, owners), 2);
    assert_int_equal(owners[0] + owners[1], 1);
    assert_int_equal(owners[2], 7);
    assert_int_equal(placement_owners("f", 1, names, 1, 3, owners), 1);
    assert_int_equal(owners[0], 0);
}

/* Fewer owners are the first of more. */
TEST(owners_do_not_depend_on_the_order_of_names_or_on_replicas)
{
    struct nodes nodes;

    name_nodes(&nodes);
    for (uint32_t p = 0; p < PARTITIONS; p++) {
        const char *names[NODES];
        size_t some[3];
        size_t all[NODES];

        assert_int_equal(
            placement_owners("events", p, nodes.names, NODES, NODES, all),
            NODES);
        memcpy(names, nodes.names, sizeof(names));
        for (size_t i = NODES - 1; i > 0; i--) {
            const size_t other = (size_t)random_below(random_state(), i + 1);
            const char *name = names[i];

            names[i] = names[other];
            names[other] = name;
        }
        assert_int_equal(placement_owners("events", p, names, NODES, 3, some),
                         3);
        for (size_t i = 0; i < 3; i++)
            assert_ptr_equal(names[some[i]], nodes.names[all[i]]);
    }
}

/* With one member more, a partition has the owners that it had, or the new one
 * and all but the last of them. */
TEST(a_member_that_comes_or_goes_moves_its_own_partitions_only)
{
    struct nodes nodes;

    name_nodes(&nodes);
    for (size_t count = 1; count < NODES; count++) {
        size_t moved = 0;

        for (uint32_t p = 0; p < PARTITIONS; p++) {
            size_t before[2];
            size_t after[2];
            const size_t n =
                placement_owners("events", p, nodes.names, count, 2, before);
            size_t at = 0;

            (void)placement_owners("events", p, nodes.names, count + 1, 2,
                                   after);
            moved += after[0] == count;
            for (size_t i = 0; i < 2 && at < n; i++) {
                if (after[i] != count)
                    assert_int_equal(after[i], before[at++]);
            }
        }
        /* about 256 / (count + 1) */
        assert_in_range(moved, PARTITIONS / (count + 1) / 3,
                        PARTITIONS / (count + 1) * 3);
    }
}

/* As evenly as by chance: chi-squared is about its degrees of freedom. */
TEST(partitions_are_spread)
{
    struct nodes nodes;

    name_nodes(&nodes);
    for (size_t count = 1; count <= NODES; count++) {
        const double mean = (double)PARTITIONS / (double)count;
        size_t shares[NODES] = {0};
        size_t least = PARTITIONS;
        size_t most = 0;
        double sum = 0;

        for (uint32_t p = 0; p < PARTITIONS; p++) {
            size_t owner;

            (void)placement_owners("events", p, nodes.names, count, 1, &owner);
            shares[owner]++;
        }
        for (size_t i = 0; i < count; i++) {
            const double distance = (double)shares[i] - mean;

            least = shares[i] < least ? shares[i] : least;
            most = shares[i] > most ? shares[i] : most;
            sum += distance * distance / mean;
        }
        printf("%zu nodes: %zu to %zu partitions, mean %.1f, chi-squared "
               "%.1f\n",
               count, least, most, mean, sum);
        assert_true((double)most <= 3 * mean);
        assert_true(sum <= 10 + 2 * (double)(count - 1));
    }
}

/* Families do not have the same owners. */
TEST(families_are_spread_by_themselves)
{
    struct nodes nodes;
    size_t same = 0;

    name_nodes(&nodes);
    for (uint32_t p = 0; p < PARTITIONS; p++) {
        size_t a;
        size_t b;

        (void)placement_owners("events", p, nodes.names, 8, 1, &a);
        (void)placement_owners("users", p, nodes.names, 8, 1, &b);
        same += a == b;
    }
    assert_in_range(same, PARTITIONS / 8 / 3, PARTITIONS / 8 * 3);
}
