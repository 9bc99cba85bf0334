/*
 * Stores with one budget: memory and descriptors of all are bounded, the
 * largest memtable is flushed, and finds in each are right meanwhile.
 *
 * SPDX-License-Identifier: MIT
 */
#include "support/plain_finds.h"
#include "support/random.h"
#include "support/store_fixture.h"

#include <dirent.h>
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

#define MIB ((size_t)1 << 20)
#define STORES 64
#define FILES 3 /* of each store, before the threads begin */
#define ROWS 40 /* of each file */
#define THREADS 4
#define STEPS 600 /* of each thread */
#define FILES_MAX 64

static struct colander_budget_options
small_budget(void)
{
    struct colander_budget_options options;

    colander_budget_options_init(&options);
    options.cache_size = 4 * MIB;
    options.write_buffer_size = 4 * MIB;
    options.open_files_max = FILES_MAX;
    options.filter_memory = MIB / 2;
    options.thread_count = 2;
    return options;
}

static struct colander_budget *
make_budget(const struct colander_budget_options *options)
{
    struct colander_budget *budget;

    OK(colander_budget_create(options, &budget, why()));
    return budget;
}

static struct colander_budget_use
use_of(struct colander_budget *budget)
{
    struct colander_budget_use use;

    colander_budget_measure(budget, &use);
    return use;
}

/* A fixture whose store has the budget. */
static struct store_fixture *
make_store(struct colander_budget *budget)
{
    void *made;
    struct store_fixture *fixture;

    ZERO(fixture_setup(&made));
    fixture = made;
    fixture_close(fixture);
    fixture->options.budget = budget;
    fixture_open(fixture);
    return fixture;
}

static void
drop_store(struct store_fixture *fixture)
{
    void *made = fixture;

    ZERO(fixture_teardown(&made));
}

/* Counts the descriptors of SST files that the process has. */
static size_t
count_open_ssts(void)
{
    DIR *listing = opendir("/proc/self/fd");
    struct dirent *entry;
    size_t count = 0;

    assert_non_null(listing);
    while ((entry = readdir(listing)) != NULL) {
        char target[4096];
        const ssize_t size = readlinkat(dirfd(listing), entry->d_name, target,
                                        sizeof(target) - 1);

        target[size > 0 ? size : 0] = '\0';
        count += size > 4 && strcmp(target + size - 4, ".sst") == 0;
    }
    (void)closedir(listing);
    return count;
}

/* ---------------------------------------------------------- many stores --- */

/* Row i of store s has n = s * 1000000 + i, and `same` = i. */
struct many {
    struct store_fixture *fixtures[STORES];
    struct colander_family *families[STORES];
    _Atomic(uint64_t) counts[STORES];
    pthread_mutex_t writing[STORES];
    _Atomic(uint64_t) seed;
    atomic_uint wrong;
};

static bool
put_next(struct many *many, size_t store)
{
    SCOPED_BUILDER builder = colander_row_builder_create();
    const uint64_t i = atomic_load(&many->counts[store]);
    SCOPED_BUFFER key = COLANDER_BUFFER_EMPTY;
    struct colander_slice row;
    char text[32];
    enum colander_code code;

    snprintf(text, sizeof(text), "%08u", (unsigned)i);
    colander_row_builder_add(builder, "n",
                             colander_integer((int64_t)(store * 1000000 + i)));
    colander_row_builder_add(builder, "same", colander_integer((int64_t)i));
    code = colander_row_builder_finish(builder, &row, NULL);
    if (code == COLANDER_OK)
        code = colander_key_text(text, &key, NULL);
    if (code == COLANDER_OK)
        code =
            colander_family_put(many->families[store],
                                colander_buffer_slice(&key), row, NULL, NULL);
    if (code == COLANDER_OK)
        atomic_store(&many->counts[store], i + 1);
    return code == COLANDER_OK;
}

static void
expect_count(struct many *many, size_t store, const char *path, uint64_t value,
             uint64_t expected)
{
    uint64_t count;

    if (find_count(many->families[store], path, (int64_t)value, &count) !=
            COLANDER_OK ||
        count != expected)
        atomic_fetch_add(&many->wrong, 1);
}

static void
step(struct many *many, uint64_t *random)
{
    const size_t store = random_below(random, STORES);
    const uint64_t count = atomic_load(&many->counts[store]);
    const uint64_t i = random_below(random, count);

    if (random_below(random, 4) == 0) {
        pthread_mutex_lock(&many->writing[store]);
        if (!put_next(many, store))
            atomic_fetch_add(&many->wrong, 1);
        pthread_mutex_unlock(&many->writing[store]);
    }
    if (random_below(random, 40) == 0 &&
        colander_family_flush(many->families[store], NULL) != COLANDER_OK)
        atomic_fetch_add(&many->wrong, 1);
    expect_count(many, store, "n", store * 1000000 + i, 1);
    expect_count(many, store, "same", i, 1);
    if (store > 0) /* those of store 0 are among `same` of the others */
        expect_count(many, (store + 1) % STORES, NULL, store * 1000000 + i, 0);
}

static void *
step_often(void *context)
{
    struct many *many = context;
    uint64_t random = atomic_fetch_add(&many->seed, 1);

    for (unsigned i = 0; i < STEPS; i++)
        step(many, &random);
    return NULL;
}

static void
fill_stores(struct many *many, struct colander_budget *budget)
{
    for (size_t store = 0; store < STORES; store++) {
        many->fixtures[store] = make_store(budget);
        many->families[store] = kept_family(many->fixtures[store], "rows");
        pthread_mutex_init(&many->writing[store], NULL);
        for (size_t i = 1; i <= FILES * ROWS; i++) {
            assert_true(put_next(many, store));
            if (i % ROWS == 0)
                OK(colander_family_flush(many->families[store], NULL));
        }
    }
}

TEST(finds_in_64_stores_are_right_and_stay_within_the_budget)
{
    const struct colander_budget_options options = small_budget();
    struct colander_budget *budget = make_budget(&options);
    struct many *many = calloc(1, sizeof(*many));
    pthread_t threads[THREADS];
    struct colander_budget_use use;

    fill_stores(many, budget);
    atomic_store(&many->seed, random_seed("many stores"));
    for (size_t i = 0; i < THREADS; i++)
        ZERO(pthread_create(&threads[i], NULL, step_often, many));
    for (size_t i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    assert_int_equal(atomic_load(&many->wrong), 0);

    for (size_t store = 0; store < STORES; store++) {
        OK(colander_family_await_filters(many->families[store], NULL));
        expect_count(many, store, "n", store * 1000000, 1);
    }
    use = use_of(budget);
    assert_int_equal(use.store_count, STORES);
    /* there are more files than that, and all were read */
    assert_in_range(use.file_count, 1, FILES_MAX);
    /* jobs in the background read and write others for a moment */
    assert_in_range(count_open_ssts(), 1, FILES_MAX + 16);
    assert_in_range(use.cache_size, 1, options.cache_size);
    assert_in_range(use.unflushed_size, 1, options.write_buffer_size);
    assert_true(use.filter_memory <= options.filter_memory);
    assert_int_equal(atomic_load(&many->wrong), 0);

    colander_budget_release(budget); /* the stores keep it */
    for (size_t store = 0; store < STORES; store++) {
        drop_store(many->fixtures[store]);
        pthread_mutex_destroy(&many->writing[store]);
    }
    free(many);
}

/* -------------------------------------------------------------- flushes --- */

static struct colander_family_sizes
sizes_of(struct colander_family *family)
{
    struct colander_family_sizes sizes;

    OK(colander_family_sizes(family, &sizes, why()));
    return sizes;
}

/* Puts `count` rows of some 4 KiB that do not compress. */
static void
put_large(struct store_fixture *fixture, struct colander_family *family,
          size_t count)
{
    char text[4097];
    char key[32];

    for (size_t i = 0; i < count; i++) {
        for (size_t k = 0; k < sizeof(text) - 1; k++)
            text[k] = (char)('a' + random_below(random_state(), 26));
        text[sizeof(text) - 1] = '\0';
        snprintf(key, sizeof(key), "%zu", i);
        OK(put_text(fixture, family, key, "t", colander_text(text), NULL));
    }
}

/* RocksDB would flush the store that is written, which has little, again and
 * again: the other, which has much, is not written. */
TEST(the_largest_memtable_of_all_stores_is_flushed)
{
    const struct colander_budget_options options = small_budget();
    struct colander_budget *budget = make_budget(&options);
    struct store_fixture *idle = make_store(budget);
    struct store_fixture *busy = make_store(budget);
    struct colander_family *large = kept_family(idle, "rows");
    struct colander_family *small = kept_family(busy, "rows");

    put_large(idle, large, 450);
    assert_int_equal(sizes_of(large).sst_count, 0);
    for (size_t i = 0; i < 20; i++)
        put_large(busy, small, 20);
    OK(colander_family_flush(large, NULL)); /* waits for the flush, if any */
    OK(colander_family_flush(small, NULL));
    assert_int_equal(sizes_of(large).sst_count, 1);
    assert_in_range(sizes_of(small).sst_count, 1, 3);
    drop_store(idle);
    drop_store(busy);
    colander_budget_release(budget);
}

/* ----------------------------------------------------------------- life --- */

struct turns {
    struct colander_budget *budget;
    atomic_uint wrong;
};

static void *
open_and_close(void *context)
{
    struct turns *turns = context;

    for (unsigned i = 0; i < 6; i++) {
        char directory[TEMPORARY_SIZE];
        struct colander_options options = usual_options();
        struct colander_store *store = NULL;
        struct colander_family *family = NULL;
        SCOPED_BUFFER key = COLANDER_BUFFER_EMPTY;
        bool is_right;

        temporary_make(directory);
        options.budget = turns->budget;
        is_right =
            colander_store_open(directory, &options, &store, NULL) ==
                COLANDER_OK &&
            colander_family_open(store, "rows", &family, NULL) == COLANDER_OK &&
            colander_key_text("k", &key, NULL) == COLANDER_OK;
        for (unsigned k = 0; k < 400 && is_right; k++) {
            static uint8_t row[4100] = {0x81, 0xa1, 't', 0xc5, 0x0f, 0xf0};

            is_right = colander_family_put(family, colander_buffer_slice(&key),
                                           colander_slice_of(row, 6 + 0xff0),
                                           NULL, NULL) == COLANDER_OK;
        }
        colander_family_close(family);
        is_right = colander_store_close(store, NULL) == COLANDER_OK && is_right;
        temporary_remove(directory);
        if (!is_right)
            atomic_fetch_add(&turns->wrong, 1);
    }
    return NULL;
}

TEST(stores_come_and_go_while_others_are_written)
{
    const struct colander_budget_options options = small_budget();
    struct turns turns = {.budget = make_budget(&options)};
    pthread_t threads[THREADS];

    for (size_t i = 0; i < THREADS; i++)
        ZERO(pthread_create(&threads[i], NULL, open_and_close, &turns));
    for (size_t i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    assert_int_equal(atomic_load(&turns.wrong), 0);
    assert_int_equal(use_of(turns.budget).store_count, 0);
    assert_int_equal(use_of(turns.budget).file_count, 0);
    assert_int_equal(use_of(turns.budget).filter_memory, 0);
    colander_budget_release(turns.budget);
}

TEST(options_of_a_budget_replace_those_of_a_store)
{
    const struct colander_budget_options options = small_budget();
    struct colander_budget *budget = make_budget(&options);
    struct store_fixture *fixture = make_store(budget);
    struct colander_options found = usual_options();

    colander_budget_release(budget);
    colander_store_options(fixture->store, &found);
    assert_int_equal(found.cache_size, options.cache_size);
    assert_int_equal(found.write_buffer_size, options.write_buffer_size);
    assert_int_equal(found.open_files_max, options.open_files_max);
    assert_int_equal(found.thread_count, options.thread_count);
    drop_store(fixture);
}

TEST(a_budget_refuses_what_no_store_could_use)
{
    struct colander_budget_options options = small_budget();
    struct colander_budget *budget;

    options.filter_memory = 1000;
    FAILS(colander_budget_create(&options, &budget, why()), COLANDER_INVALID);
    assert_string_equal(error_text(), "budget: option 'filter_memory' is 1000, "
                                      "not at least 65536");
    options = small_budget();
    options.open_files_max = 3;
    FAILS(colander_budget_create(&options, &budget, why()), COLANDER_INVALID);
    assert_non_null(strstr(error_text(), "'open_files_max' is 3"));
    assert_null(budget);
    colander_budget_release(NULL);
}
