/*
 * Families that are opened while other threads drop them.
 *
 * SPDX-License-Identifier: MIT
 */
#include "support/cases.h"
#include "support/scoped.h"
#include "support/store_fixture.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

#define DROPS 300

struct race {
    struct colander_store *store;
    atomic_bool is_over;
    unsigned failed; /* opens */
    struct colander_error err;
};

static void *
open_often(void *argument)
{
    struct race *race = argument;

    while (!atomic_load(&race->is_over)) {
        struct colander_family *family;

        if (colander_family_open(race->store, "passing", &family, &race->err) ==
            COLANDER_OK)
            colander_family_close(family);
        else
            race->failed++;
        (void)sched_yield(); /* the dropping thread waits for the same lock */
    }
    return NULL;
}

/* A handle can be obtained at any time, whether the family exists or not. */
FIXTURE_TEST(a_family_opens_while_it_is_dropped)
{
    struct race race = {.store = fixture->store};
    pthread_t thread;

    ZERO(pthread_create(&thread, NULL, open_often, &race));
    for (unsigned i = 0; i < DROPS; i++) {
        SCOPED_FAMILY family = fixture_family(fixture, "passing");

        OK(colander_family_create(family, NULL));
        OK(colander_family_drop(family, NULL));
    }
    atomic_store(&race.is_over, true);
    ZERO(pthread_join(thread, NULL));
    if (race.failed > 0)
        fail_msg("%u opens failed: %s", race.failed, race.err.message);
}
