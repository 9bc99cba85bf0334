/*
 * For tests of definitions: objects in a temporary directory.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef TESTS_CLUSTER_PLACE_H
#define TESTS_CLUSTER_PLACE_H

#include "cluster/objects.h"
#include "support/cases.h"
#include "support/temporary.h"

struct place {
    char path[TEMPORARY_SIZE];
    char address[TEMPORARY_SIZE + 32];
    struct objects *objects;
};

static int
make_place(void **state)
{
    struct place *place = calloc(1, sizeof(*place));

    assert_non_null(place);
    temporary_make(place->path);
    (void)snprintf(place->address, sizeof(place->address), "file://%s/here/",
                   place->path);
    OK(objects_open(place->address, &place->objects, why()));
    *state = place;
    return 0;
}

static int
drop_place(void **state)
{
    struct place *place = *state;

    objects_close(place->objects);
    temporary_remove(place->path);
    free(place);
    return 0;
}

#define PLACE_TEST(name)                                                       \
    TEST_WITH(struct place *place, name, make_place, drop_place)

static inline void
put(struct place *place, const char *name, struct colander_slice bytes)
{
    const struct object_body body = {-1, bytes.data, bytes.size};

    OK(objects_put(place->objects, name, &body, why()));
}

#endif
