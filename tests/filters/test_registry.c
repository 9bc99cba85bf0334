/*
 * Registry: which files are listed, also after they were removed.
 *
 * SPDX-License-Identifier: MIT
 */
#include "filters/registry.h"
#include "support/cases.h"
#include "support/random.h"
#include "support/usual.h"

#include <stdlib.h>

static int
make_registry(void **state)
{
    const struct colander_options options = usual_options();
    struct registry *registry = malloc(sizeof(*registry));
    struct commons *commons;

    *state = registry;
    if (commons_open(&options, &commons, why()) != COLANDER_OK)
        return -1;
    registry_init(registry, commons);
    return 0;
}

static int
drop_registry(void **state)
{
    struct registry *registry = *state;
    struct commons *commons = registry->commons;

    registry_release(registry);
    commons_close(commons);
    free(registry);
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
    assert_int_equal(registry->known_count, 1);
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
    assert_int_equal(registry->known_count, 0);
    ZERO(registry_forget(registry, 7));
}

/* Numbers come in any order, from several families. */
REGISTRY_TEST(files_are_found_by_number)
{
    enum { NUMBERS = 500 };
    bool is_there[NUMBERS] = {false};
    uint64_t random = random_seed(__func__);
    uint64_t next = 0;

    registry_open_end(registry);
    for (unsigned i = 0; i < 5000; i++) {
        const uint64_t number = random_below(&random, NUMBERS);
        const struct sst_info file = {.number = number,
                                      .family = 1 + (uint32_t)number % 3,
                                      .size = number};

        if (is_there[number])
            assert_int_equal(registry_forget(registry, number), number);
        else
            OK(registry_add(registry, &file, FILE_UNSURE, why()));
        is_there[number] = !is_there[number];
        assert_int_equal(is_listed(registry, number), is_there[number]);
    }
    for (uint64_t number = 1; number < NUMBERS; number++) {
        struct sst_file *file = registry_next(registry, next, FILE_UNSURE);

        if (!is_there[number]) {
            sst_file_unref(registry, file);
            continue;
        }
        assert_non_null(file);
        assert_int_equal(file->number, number);
        assert_int_equal(file->family->id, 1 + number % 3);
        next = number;
        sst_file_unref(registry, file);
    }
    assert_null(registry_next(registry, next, FILE_UNSURE));
    assert_null(registry_next(registry, 0, FILE_OPEN));
}

/* Returns the number of files that a find would look at. */
static size_t
viewed_count(struct registry *registry)
{
    struct family_filters *family = registry_family(registry, 1, NULL);
    struct file_view *view;
    size_t count;

    assert_non_null(family);
    OK(registry_view(registry, family, &view, why()));
    count = view->file_count;
    file_view_release(view);
    return count;
}

REGISTRY_TEST(a_view_has_the_files_of_its_moment)
{
    struct family_filters *family = registry_family(registry, 1, NULL);
    struct file_view *before;

    registry_open_end(registry);
    add(registry, 7);
    add(registry, 8);
    OK(registry_view(registry, family, &before, why()));
    assert_int_equal(viewed_count(registry), 2);
    add(registry, 9);
    assert_int_equal(viewed_count(registry), 3);
    registry_remove(registry, 7);
    registry_remove(registry, 8);
    assert_int_equal(viewed_count(registry), 1);
    assert_int_equal(before->file_count, 2);
    assert_int_equal(before->files[0]->number, 7);
    file_view_release(before);
}
