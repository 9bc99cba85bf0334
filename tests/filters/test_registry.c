/*
 * Registry: files that are listed after they were removed.
 *
 * SPDX-License-Identifier: MIT
 */
#include "filters/registry.h"
#include "support/cases.h"

#include <stdlib.h>

static int
make_registry(void **state)
{
    struct registry *registry = malloc(sizeof(*registry));

    *state = registry;
    return registry_init(registry, 1 << 20, why()) == COLANDER_OK ? 0 : -1;
}

static int
drop_registry(void **state)
{
    registry_release(*state);
    free(*state);
    return 0;
}

#define REGISTRY_TEST(name)                                                    \
    TEST_WITH(struct registry *registry, name, make_registry, drop_registry)

static void
add(struct registry *registry, uint64_t number)
{
    const struct sst_info file = {.number = number, .family = 1, .size = 100};

    OK(registry_add(registry, &file, FILE_UNSURE, why()));
}

static bool
is_listed(struct registry *registry, uint64_t number)
{
    struct sst_file *file = registry_find(registry, number);

    sst_file_unref(registry, file);
    return file != NULL;
}

/* While a store opens, a thread lists its files and others delete some. */
REGISTRY_TEST(a_file_deleted_during_open_is_not_listed_later)
{
    ZERO(registry_forget(registry, 7));
    add(registry, 8);
    assert_int_equal(registry_forget(registry, 8), 100);
    add(registry, 7);
    add(registry, 8);
    add(registry, 9);
    assert_false(is_listed(registry, 7));
    assert_false(is_listed(registry, 8));
    assert_true(is_listed(registry, 9));
    registry_open_end(registry);
    assert_false(is_listed(registry, 7));
    assert_int_equal(registry->gone_count, 0);
}

/* The size of a file that was removed is known until it is deleted. */
REGISTRY_TEST(a_removed_file_is_remembered_until_it_is_deleted)
{
    registry_open_end(registry);
    add(registry, 7);
    registry_remove(registry, 7);
    add(registry, 7);
    assert_false(is_listed(registry, 7));
    assert_int_equal(registry_forget(registry, 7), 100);
    assert_int_equal(registry->gone_count, 0);
    ZERO(registry_forget(registry, 7));
}
