/*
 * Checkpoints: those that are damaged, and those that are made after them.
 *
 * SPDX-License-Identifier: MIT
 */
#include "node/checkpoints.h"
#include "support/store_fixture.h"

static void
ignore(void *context, const char *line)
{
    (void)context;
    printf("  %s\n", line);
}

static bool
restores(struct checkpoints *checkpoints, const char *path)
{
    bool found;

    OK(checkpoints_restore(checkpoints, 0, path, NULL, ignore, NULL, &found,
                           why()));
    return found;
}

static void
make(struct checkpoints *checkpoints, struct store_fixture *fixture,
     uint64_t number)
{
    OK(checkpoints_make(checkpoints, fixture->store, number, 10, false, NULL,
                        why()));
}

/* The log is replayed after all are damaged: the first ones that are made have
 * fewer records than those. */
FIXTURE_TEST(checkpoints_rely_on_no_object_until_one_is_above_the_damaged_ones)
{
    struct checkpoints checkpoints;
    struct checkpoints others;
    char folder[TEMPORARY_SIZE];
    char line[TEMPORARY_SIZE + 200];
    char path[TEMPORARY_SIZE + 20];

    temporary_make(folder);
    (void)snprintf(path, sizeof(path), "%s/restored", folder);
    checkpoints_init(&checkpoints);
    checkpoints_init(&others);
    assert_true(asprintf(&checkpoints.address, "file://%s/objects", folder) >
                0);
    others.address = strdup(checkpoints.address);
    make(&checkpoints, fixture, 5);
    make(&checkpoints, fixture, 9);
    assert_int_equal(checkpoints_newest(&checkpoints).number, 9);
    (void)snprintf(line, sizeof(line),
                   "for it in %s/objects/files/*; do dd if=/dev/zero of=$it "
                   "bs=1 count=1 seek=1 conv=notrunc status=none; done",
                   folder);
    ZERO(system(line));
    assert_false(restores(&checkpoints, path));
    assert_int_equal(checkpoints_count(&checkpoints), 2);
    assert_int_equal(checkpoints_newest(&checkpoints).number, 0);
    make(&checkpoints, fixture, 7);
    assert_int_equal(checkpoints_newest(&checkpoints).number, 7);
    make(&checkpoints, fixture, 9);
    assert_int_equal(checkpoints_newest(&checkpoints).number, 9);
    make(&checkpoints, fixture, 11);
    assert_true(restores(&others, path));
    assert_int_equal(checkpoints_newest(&others).number, 11);
    checkpoints_release(&checkpoints);
    checkpoints_release(&others);
    temporary_remove(folder);
}
