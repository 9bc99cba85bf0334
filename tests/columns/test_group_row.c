/*
 * Rows, as groups read them: columns with names and values of any size, in any
 * order, and a key that is alone, whose groups are known by its bytes. With a
 * second key, of a column that no row has, the same groups are found by values.
 *
 * SPDX-License-Identifier: MIT
 */
#include "columns/groups.h"

#include "support/random.h"
#include "support/store_fixture.h"

#define ROWS 1500

/* Some of one size, of 8 bytes and more, and of more than a short text has. */
static const char *const names[] = {
    "",
    "k",
    "l",
    "at",
    "sensor-a",
    "sensor-b",
    "sensor-name-a",
    "sensor-name-b",
    "a name that has more than thirty-one bytes",
};

/* Texts that begin and end alike, numbers, times of each size, containers. */
static void
add_value(struct colander_row_builder *builder, const char *name,
          uint64_t *random)
{
    const int64_t near = 1767225600 + (int64_t)random_below(random, 20000);
    const size_t size = random_below(random, 40);
    char text[40];

    switch (random_below(random, 9)) {
    case 0:
        colander_row_builder_add(builder, name, colander_null());
        return;
    case 1:
        colander_row_builder_add(
            builder, name,
            colander_integer((int64_t)(random_below(random, 3) << 40)));
        return;
    case 2:
        colander_row_builder_add(
            builder, name, colander_double((double)random_below(random, 3)));
        return;
    case 3:
        colander_row_builder_add(builder, name, colander_timestamp(near, 0));
        return;
    case 4:
        colander_row_builder_add(builder, name, colander_timestamp(near, 1));
        return;
    case 5: /* beyond 34 bits, or in no bucket; before 1970 */
        colander_row_builder_add(
            builder, name,
            colander_timestamp(
                near % 2 == 0 ? INT64_C(1) << (35 + near % 4 * 5) : -near, 0));
        return;
    case 6:
        colander_row_builder_begin_array(builder, name);
        colander_row_builder_add(builder, NULL, colander_integer(1));
        colander_row_builder_end(builder);
        return;
    case 7:
        colander_row_builder_add(builder, name,
                                 colander_text("2026-01-01T01:30:00Z"));
        return;
    default:
        memset(text, 'a', sizeof(text));
        if (size > 0)
            text[random_below(random, size)] = 'b';
        colander_row_builder_add(
            builder, name, colander_string(colander_slice_of(text, size)));
    }
}

static void
put_rows(struct store_fixture *fixture, struct colander_family *family,
         uint64_t *random)
{
    for (int64_t i = 0; i < ROWS; i++) {
        const size_t first = random_below(random, COUNT(names));
        struct colander_slice row;

        for (size_t j = 0; j < COUNT(names); j++) {
            if (random_below(random, 4) > 0)
                add_value(fixture->builder, names[(first + j) % COUNT(names)],
                          random);
        }
        for (unsigned j = 0; i % 3 == 0 && j < 9; j++) { /* a map of 16 bits */
            const char other[2] = {(char)('A' + j), '\0'};

            colander_row_builder_add(fixture->builder, other,
                                     colander_integer(j));
        }
        OK(colander_row_builder_finish(fixture->builder, &row, why()));
        put_at(family, i, row);
    }
}

/* Groups all rows. Returns the bytes of all groups. */
static void
group(struct colander_family *family, const struct colander_group_key *keys,
      size_t key_count, struct colander_buffer *all)
{
    struct colander_measure measures[] = {
        {"number of rows", COLANDER_COUNT, NULL, 0},
        {"sum", COLANDER_SUM, "sensor-name-b", 0},
        {"distinct", COLANDER_DISTINCT, "l", 0},
    };
    struct colander_grouping grouping;
    struct colander_groups *groups;
    struct colander_slice row;
    bool is_group = true;

    colander_grouping_init(&grouping);
    grouping.keys = keys;
    grouping.key_count = key_count;
    grouping.measures = measures;
    grouping.measure_count = COUNT(measures);
    OK(colander_groups_create(&grouping, &groups, why()));
    OK(colander_family_group(family, NULL, groups, NULL, why()));
    colander_buffer_clear(all);
    while (is_group) {
        const uint64_t left_out = colander_groups_left_out(groups, keys->name);

        OK(colander_groups_next(groups, &is_group, &row, why()));
        OK(colander_buffer_append(all, row.data, row.size, why()));
        OK(colander_buffer_append(all, &left_out, sizeof(left_out), why()));
    }
    colander_groups_destroy(groups);
}

FIXTURE_TEST(groups_of_one_key_are_those_of_its_values)
{
    uint64_t random = random_seed(__func__);
    struct colander_family *family = kept_family(fixture, "r");
    SCOPED_BUFFER one = COLANDER_BUFFER_EMPTY;
    SCOPED_BUFFER two = COLANDER_BUFFER_EMPTY;

    for (uint64_t run = random_runs(6); run > 0; run--) {
        put_rows(fixture, family, &random);
        for (size_t i = 0; i < COUNT(names); i++) {
            struct colander_group_key keys[] = {{"key", names[i], NULL, NULL},
                                                {"no", "nowhere", NULL, NULL}};

            for (unsigned is_bucket = 0; is_bucket < 2; is_bucket++) {
                keys[0].bucket = is_bucket ? "1h" : NULL;
                group(family, keys, 1, &one);
                group(family, keys, 2, &two);
                ASSERT_SAME(colander_buffer_slice(&one),
                            colander_buffer_slice(&two));
            }
        }
    }
}
