/*
 * Families that are opened while other threads drop them.
 *
 * SPDX-License-Identifier: MIT
 */
#include "core/engine.h"
#include "support/cases.h"
#include "support/scoped.h"
#include "support/store_fixture.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

#define DROPS 300

/* To be bound by another call while this thread binds it; NULL: none. The
 * linker redirects the calls here. */
static _Thread_local struct colander_family *bound_meanwhile;

/* NOLINTBEGIN(bugprone-reserved-identifier): the names are the linker's. */
enum colander_code __real_engine_family_open(struct engine *engine,
                                             const char *name, bool create,
                                             struct engine_family **family,
                                             struct colander_error *err);
enum colander_code __wrap_engine_family_open(struct engine *engine,
                                             const char *name, bool create,
                                             struct engine_family **family,
                                             struct colander_error *err);
/* NOLINTEND(bugprone-reserved-identifier) */

enum colander_code
__wrap_engine_family_open(struct engine *engine, const char *name, bool create,
                          struct engine_family **family,
                          struct colander_error *err)
{
    struct colander_family *other = bound_meanwhile;

    bound_meanwhile = NULL;
    if (other != NULL)
        assert_true(colander_family_exists(other));
    return __real_engine_family_open(engine, name, create, family, err);
}

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

/* One of two threads that bind a handle at once binds it in vain. */
FIXTURE_TEST(a_handle_that_is_bound_twice_keeps_one_family)
{
    SCOPED_FAMILY creator = fixture_family(fixture, "f");
    struct colander_family *family;

    family = fixture_family(fixture, "f");
    OK(colander_family_create(creator, NULL));
    bound_meanwhile = family;
    assert_true(colander_family_exists(family));
    assert_null(bound_meanwhile);
    colander_family_close(family);
    colander_family_close(creator);
    creator = NULL;
    OK(colander_store_close(fixture->store, why()));
    fixture->store = NULL;
}
