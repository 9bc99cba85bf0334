/*
 * Many families and many stores in one process, asked by several threads: each
 * finds its own rows, and none of another.
 *
 * SPDX-License-Identifier: MIT
 */
#include "filters/filters.h"
#include "support/filter_files.h"
#include "support/plain_finds.h"
#include "support/random.h"

#include <pthread.h>
#include <stdatomic.h>

#define THREADS 4
#define FINDS 1500 /* of each thread */
#define FAMILIES 300
#define STORES 20
#define STORE_FAMILIES 3
#define OTHERS                                                                 \
    60 /* rows, so that reading all of them is no way to find two              \
        */

/* Families, each with rows of its own value (its place here) and of -1. */
struct asking {
    struct colander_family *families[FAMILIES];
    int64_t count;
    _Atomic(uint64_t) seed;
    atomic_uint wrong;
};

/* One row of each value in a file, if it `flushes`, and one in none. */
static void
fill(struct store_fixture *fixture, struct colander_family *family, int64_t own,
     bool flushes)
{
    OK(put_text(fixture, family, "own", "n", colander_integer(own), NULL));
    OK(put_text(fixture, family, "same", "n", colander_integer(-1), NULL));
    for (int64_t i = 0; i < OTHERS; i++) {
        char key[16];

        snprintf(key, sizeof(key), "%d", (int)i);
        OK(put_text(fixture, family, key, "n", colander_integer(-2 - i), NULL));
    }
    if (flushes)
        OK(colander_family_flush(family, NULL));
    OK(put_text(fixture, family, "own 2", "n", colander_integer(own), NULL));
    OK(put_text(fixture, family, "same 2", "n", colander_integer(-1), NULL));
}

static void
ask_one(struct asking *asking, uint64_t *random)
{
    const int64_t place =
        (int64_t)random_below(random, (uint64_t)asking->count);
    const int64_t values[] = {
        place, -1, (int64_t)random_below(random, (uint64_t)asking->count)};
    const int64_t value = values[random_below(random, 3)];
    const uint64_t expected = value == place || value == -1 ? 2 : 0;
    uint64_t count;

    if (find_count(asking->families[place],
                   random_below(random, 2) == 0 ? NULL : "n", value,
                   &count) != COLANDER_OK ||
        count != expected)
        atomic_fetch_add(&asking->wrong, 1);
}

static void *
ask_often(void *context)
{
    struct asking *asking = context;
    uint64_t random = atomic_fetch_add(&asking->seed, 1);

    for (unsigned i = 0; i < FINDS; i++)
        ask_one(asking, &random);
    return NULL;
}

static void
ask_by_threads(struct asking *asking, const char *name)
{
    pthread_t threads[THREADS];

    atomic_store(&asking->seed, random_seed(name));
    for (size_t i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, ask_often, asking),
                         0);
    for (int64_t i = 5; i < asking->count; i += 10)
        OK(colander_family_flush(asking->families[i], NULL));
    for (size_t i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    assert_int_equal(atomic_load(&asking->wrong), 0);
}

static void
open_families(struct store_fixture *fixture, struct asking *asking)
{
    char name[16];

    for (int64_t i = 0; i < FAMILIES; i++) {
        snprintf(name, sizeof(name), "f%d", (int)i);
        asking->families[i] = fixture_family(fixture, name);
    }
}

static void
close_families(struct asking *asking)
{
    for (int64_t i = 0; i < asking->count; i++)
        colander_family_close(asking->families[i]);
}

static void
each_of_300_families_finds_its_own_rows(void **state)
{
    struct store_fixture *fixture = *state;
    struct asking asking = {.count = FAMILIES};

    open_families(fixture, &asking);
    for (int64_t i = 0; i < FAMILIES; i++)
        fill(fixture, asking.families[i], i, i % 10 == 0);
    ask_by_threads(&asking, "families");
    close_families(&asking);
    fixture_reopen(fixture, COLANDER_OPEN_OR_CREATE);
    open_families(fixture, &asking);
    ask_by_threads(&asking, "families again");
    OK(colander_family_await_filters(asking.families[0], NULL));
    for (int64_t i = 0; i < FAMILIES; i++)
        assert_int_equal(filter_stats(asking.families[i]).error_count, 0);
    close_families(&asking);
}

static void
each_of_20_open_stores_finds_its_own_rows(void **state)
{
    struct asking asking = {.count = (int64_t)STORES * STORE_FAMILIES};
    struct store_fixture *fixtures[STORES];
    void *made;

    (void)state;
    for (int64_t i = 0; i < asking.count; i++) {
        struct store_fixture **fixture = &fixtures[i / STORE_FAMILIES];
        char name[16];

        if (i % STORE_FAMILIES == 0) {
            assert_int_equal(fixture_setup(&made), 0);
            *fixture = made;
        }
        snprintf(name, sizeof(name), "f%d", (int)(i % STORE_FAMILIES));
        asking.families[i] = fixture_family(*fixture, name);
        fill(*fixture, asking.families[i], i, true);
    }
    ask_by_threads(&asking, "stores");
    close_families(&asking);
    for (size_t i = 0; i < STORES; i++) {
        made = fixtures[i];
        assert_int_equal(fixture_teardown(&made), 0);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(each_of_300_families_finds_its_own_rows,
                                        fixture_setup, fixture_teardown),
        cmocka_unit_test(each_of_20_open_stores_finds_its_own_rows),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
