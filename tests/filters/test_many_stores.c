/*
 * Many families and stores in one process, searched by several threads: each
 * search finds only its own rows.
 *
 * SPDX-License-Identifier: MIT
 */
#include "filters/filters.h"
#include "support/cases.h"
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
#define OTHERS 60 /* rows: reading all of them would be too slow */

/* Families, each with rows of its own value (its index here) and of -1. */
struct asking {
    struct colander_family *families[FAMILIES];
    int64_t count;
    _Atomic(uint64_t) seed;
    atomic_uint wrong;
};

/* Puts a row of each value in a file, if it `flushes`, and one in no file. */
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
        ZERO(pthread_create(&threads[i], NULL, ask_often, asking));
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
        asking->families[i] = kept_family(fixture, name);
    }
}

FIXTURE_TEST(each_of_300_families_finds_its_own_rows)
{
    struct asking asking = {.count = FAMILIES};

    open_families(fixture, &asking);
    for (int64_t i = 0; i < FAMILIES; i++)
        fill(fixture, asking.families[i], i, i % 10 == 0);
    ask_by_threads(&asking, "families");
    fixture_reopen(fixture, COLANDER_OPEN_OR_CREATE);
    open_families(fixture, &asking);
    ask_by_threads(&asking, "families again");
    OK(colander_family_await_filters(asking.families[0], NULL));
    assert_filters_of_ssts(fixture, asking.families, FAMILIES);
    for (int64_t i = 0; i < FAMILIES; i++)
        assert_int_equal(filter_stats(asking.families[i]).error_count, 0);
}

TEST(each_of_20_open_stores_finds_its_own_rows)
{
    struct asking asking = {.count = (int64_t)STORES * STORE_FAMILIES};
    struct store_fixture *fixtures[STORES];
    void *made;

    for (int64_t i = 0; i < asking.count; i++) {
        struct store_fixture **fixture = &fixtures[i / STORE_FAMILIES];
        char name[16];

        if (i % STORE_FAMILIES == 0) {
            ZERO(fixture_setup(&made));
            *fixture = made;
        }
        snprintf(name, sizeof(name), "f%d", (int)(i % STORE_FAMILIES));
        asking.families[i] = kept_family(*fixture, name);
        fill(*fixture, asking.families[i], i, true);
    }
    ask_by_threads(&asking, "stores");
    for (size_t i = 0; i < STORES; i++) {
        made = fixtures[i];
        ZERO(fixture_teardown(&made));
    }
}
