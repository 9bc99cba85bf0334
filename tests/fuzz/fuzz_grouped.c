/*
 * Any bytes as a grouping, and as what another process knows of groups. Nothing
 * crashes; what is decoded is encoded to bytes that are decoded and encoded as
 * they are; and groups that were added become rows.
 *
 * SPDX-License-Identifier: MIT
 */
#include "columns/group_bytes.h"
#include "fuzz/fuzz.h"

#define SIZE_MAX_OF_GROUPS ((size_t)16 << 20)

/* Groups with every measure. */
static struct colander_groups *
make_groups(void)
{
    static const struct colander_group_key keys[] = {{"k", "k", NULL, NULL},
                                                     {"t", "t", "1h", NULL}};
    static const struct colander_measure measures[] = {
        {"n", COLANDER_COUNT, NULL, 0},
        {"c", COLANDER_COUNT, "v", 0},
        {"s", COLANDER_SUM, "v", 0},
        {"a", COLANDER_AVG, "v", 0},
        {"min", COLANDER_MIN, "v", 0},
        {"max", COLANDER_MAX, "v", 0},
        {"f", COLANDER_FIRST, "v", 0},
        {"l", COLANDER_LAST, "v", 0},
        {"d", COLANDER_DISTINCT, "v", 0},
        {"e", COLANDER_APPROX_DISTINCT, "v", 0},
        {"p", COLANDER_QUANTILE, "v", 0.5},
    };
    struct colander_grouping grouping;
    struct colander_groups *groups;

    colander_grouping_init(&grouping);
    grouping.keys = keys;
    grouping.key_count = sizeof(keys) / sizeof(keys[0]);
    grouping.measures = measures;
    grouping.measure_count = sizeof(measures) / sizeof(measures[0]);
    grouping.time_path = "at";
    grouping.size_max = SIZE_MAX_OF_GROUPS;
    OK(colander_groups_create(&grouping, &groups, NULL));
    return groups;
}

static void
expect_code(enum colander_code code)
{
    expect(code == COLANDER_OK || code == COLANDER_INVALID ||
           code == COLANDER_LIMIT);
}

/* Decodes the bytes, and encodes them again. Returns false if they are no
 * grouping. */
static bool
transfer(struct colander_slice bytes, struct colander_buffer *again)
{
    struct colander_groups *groups;
    const enum colander_code code = colander_grouping_decode(
        bytes, SIZE_MAX_OF_GROUPS, NULL, &groups, NULL);

    expect_code(code);
    if (code == COLANDER_OK)
        OK(colander_grouping_encode(groups, again, NULL));
    colander_groups_destroy(groups);
    return code == COLANDER_OK;
}

/* Adds the bytes. What they add is added to others by its bytes, with the same
 * rows. */
static void
add(struct colander_slice bytes)
{
    struct colander_groups *groups = make_groups();
    struct colander_groups *others = make_groups();
    struct colander_groups_place place = {0};
    struct colander_buffer moved = COLANDER_BUFFER_EMPTY;
    enum colander_code code = colander_groups_add_bytes(groups, bytes, NULL);
    bool is_group = true;

    expect_code(code);
    while (code == COLANDER_OK && !place.is_end) {
        colander_buffer_clear(&moved);
        OK(colander_groups_encode(groups, &place, &moved, NULL));
        OK(colander_groups_add_bytes(others, colander_buffer_slice(&moved),
                                     NULL));
    }
    while (code == COLANDER_OK && is_group) {
        bool is_other;
        struct colander_slice one, other;

        OK(colander_groups_next(groups, &is_group, &one, NULL));
        OK(colander_groups_next(others, &is_other, &other, NULL));
        expect(is_group == is_other && colander_slice_equal(one, other));
    }
    colander_buffer_release(&moved);
    colander_groups_destroy(groups);
    colander_groups_destroy(others);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct colander_buffer once = COLANDER_BUFFER_EMPTY;
    struct colander_buffer twice = COLANDER_BUFFER_EMPTY;
    uint8_t *copy = fuzz_copy(data, size);

    if (transfer(colander_slice_of(copy, size), &once)) {
        expect(transfer(colander_buffer_slice(&once), &twice));
        expect(colander_slice_equal(colander_buffer_slice(&once),
                                    colander_buffer_slice(&twice)));
    }
    add(colander_slice_of(copy, size));
    colander_buffer_release(&once);
    colander_buffer_release(&twice);
    free(copy);
    return 0;
}
