/*
 * The names of a row, few and many.
 *
 * SPDX-License-Identifier: MIT
 */
#include "rows.h"
#include "support/cases.h"

#include "columns/names.h"

/* The hash of a name depends on its map, but has 32 bits: with this many maps
 * some collide. */
TEST(a_name_of_many_maps_is_new_in_each)
{
    struct names names;
    bool is_new;

    names_init(&names);
    for (uint32_t map = 0; map < 400000; map++) {
        OK(names_add(&names, map, BYTES("x"), &is_new, why()));
        assert_true(is_new);
    }
    for (uint32_t map = 0; map < 400000; map++)
        assert_int_equal(names_find(&names, map, BYTES("x")), map);
    OK(names_add(&names, 7, BYTES("x"), &is_new, why()));
    assert_false(is_new);
    names_release(&names);
}

/* Few names are compared by some of their bytes first; many by a hash. */
TEST(names_that_look_alike_are_distinguished)
{
    char texts[40][10]; /* with the same first and last bytes */
    struct names names;
    bool is_new;

    names_init(&names);
    for (uint32_t i = 0; i < 40; i++) {
        char *text = texts[i];

        snprintf(text, sizeof(texts[i]), "abcd%cvwx", 'A' + (int)i);
        for (uint32_t j = 0; j < i; j++) {
            OK(names_add(&names, 1, colander_slice_text(texts[j]), &is_new,
                         why()));
            assert_false(is_new);
        }
        OK(names_add(&names, 1, colander_slice_text(text), &is_new, why()));
        assert_true(is_new);
        assert_int_equal(names_find(&names, 1, colander_slice_text(text)), i);
        assert_int_equal(names_find(&names, 2, colander_slice_text(text)),
                         UINT32_MAX);
    }
    names_release(&names);
}
