/*
 * Finds through filters, compared with scans of the same snapshot (invariants
 * I1, I2), while rows are written, patched and deleted, files are flushed and
 * compacted, options are changed, and filters are deleted, truncated and
 * flipped.
 *
 * COLANDER_RUNS sets the number of predicates.
 *
 * SPDX-License-Identifier: MIT
 */
#include "columns/bulk/bulk_inside.h"
#include "support/cases.h"
#include "support/compared_finds.h"
#include "support/filter_files.h"
#include "support/plain_finds.h"
#include "support/scoped.h"

#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

#define KEYS 6000    /* most are rarely written after the family is filled; */
#define HOT_KEYS 150 /* these are written all the time */
#define WRITERS 2

struct run {
    struct store_fixture *fixture;
    struct colander_family *family;
    _Atomic(uint64_t) seed;  /* of the next thread */
    _Atomic(uint64_t) asked; /* questions */
    bool is_doubtful;        /* with the present options */
    atomic_bool is_over;
    void (*disturb)(struct run *run, uint64_t *random);
    random_leaf_maker *leaf;
};

/* Waits for some more questions: what happens meanwhile does not depend on how
 * busy the machine is. */
static void
await_questions(struct run *run, uint64_t count)
{
    const uint64_t until = atomic_load(&run->asked) + count;

    while (atomic_load(&run->asked) < until && !atomic_load(&run->is_over))
        usleep(200);
}

/* -------------------------------------------------------------- writers --- */

static void
write_some(struct run *run, struct colander_row_builder *builder,
           struct colander_buffer *key, uint64_t *random)
{
    struct colander_slice at;

    random_key(random, random_below(random, 200) == 0 ? KEYS : HOT_KEYS, key);
    at = colander_buffer_slice(key);
    switch (random_below(random, 10)) {
    case 0:
    case 1:
        OK(colander_family_delete(run->family, at, NULL, NULL));
        break;
    case 2:
    case 3:
    case 4:
        OK(colander_family_patch(run->family, at, random_row(builder, random),
                                 NULL, NULL));
        break;
    default:
        OK(colander_family_put(run->family, at, random_row(builder, random),
                               NULL, NULL));
        break;
    }
}

/* Writes a run, of one file or many. */
static void
write_run(struct run *run, struct colander_row_builder *builder,
          struct colander_buffer *key, uint64_t *random)
{
    const struct bulk_limits limits = {
        .is_run = true,
        .sorter = {.run_size = 1 + random_below(random, 30000),
                   .run_rows = 100,
                   .fan_in = 4},
        .sst_size = 4000 + random_below(random, 50000),
        .thread_count = 1 + random_below(random, 2),
    };
    struct colander_bulk *bulk;

    OK(bulk_create_limited(run->family, &limits, &bulk, NULL));
    for (uint64_t i = random_below(random, 300); i > 0; i--) {
        random_key(random, KEYS, key);
        OK(colander_bulk_add(bulk, colander_buffer_slice(key),
                             random_row(builder, random), NULL));
    }
    OK(colander_bulk_commit(bulk, NULL, NULL));
    colander_bulk_destroy(bulk);
}

static void *
write_rows(void *context)
{
    struct run *run = context;
    SCOPED_BUILDER builder = colander_row_builder_create();
    SCOPED_BUFFER key = COLANDER_BUFFER_EMPTY;
    uint64_t random = atomic_fetch_add(&run->seed, 1);

    while (!atomic_load(&run->is_over)) {
        for (unsigned i = 0; i < 20; i++)
            write_some(run, builder, &key, &random);
        if (random_below(&random, 50) == 0)
            write_run(run, builder, &key, &random);
        await_questions(run, 1);
    }
    return NULL;
}

/* Deletes, truncates or flips a byte of some filter. */
static void
spoil_filter(const struct run *run, uint64_t *random)
{
    char path[TEMPORARY_SIZE + 320];
    struct dirent *entry;
    struct stat status;
    DIR *listing;
    int fd;

    snprintf(path, sizeof(path), "%s/filters", run->fixture->directory);
    listing = opendir(path);
    while (listing != NULL && (entry = readdir(listing)) != NULL) {
        if (entry->d_name[0] == '.' || random_below(random, 4) != 0)
            continue;
        snprintf(path, sizeof(path), "%s/filters/%.255s",
                 run->fixture->directory, entry->d_name);
        fd = open(path, O_RDWR);
        if (fd < 0 || fstat(fd, &status) != 0 || status.st_size == 0) {
            if (fd >= 0)
                close(fd);
            continue;
        }
        switch (random_below(random, 3)) {
        case 0:
            (void)unlink(path);
            break;
        case 1:
            ZERO(ftruncate(
                fd, (off_t)random_below(random, (uint64_t)status.st_size)));
            break;
        default: {
            off_t place = (off_t)random_below(random, (uint64_t)status.st_size);
            uint8_t byte = 0;

            if (pread(fd, &byte, 1, place) == 1) {
                byte ^= (uint8_t)(1u << random_below(random, 8));
                (void)!pwrite(fd, &byte, 1, place);
            }
        }
        }
        close(fd);
    }
    if (listing != NULL)
        closedir(listing);
}

/* Without filters, and in columns that are left out, it is not known which rows
 * match. */
static void
add_doubt(uint64_t *random, struct colander_filter_options *options)
{
    static const char *const left_out[] = {"user", "place.city", "tags"};

    options->is_on = random_below(random, 2) != 0;
    options->unfiltered = left_out;
    options->unfiltered_count = random_below(random, 4);
}

static void
random_options(uint64_t *random, struct colander_filter_options *options)
{
    static const uint32_t rows[] = {1, 2, 16, 256, COLANDER_SEGMENT_AUTO};
    static const char *const with_words[] = {"user", "place", "tags[]"};

    colander_filter_options_init(options);
    options->rows_per_segment = rows[random_below(random, COUNT(rows))];
    options->hash_bits = 16 + (uint32_t)random_below(random, 25);
    if (random_below(random, 3) == 0)
        options->bits_per_value = 4;
    if (random_below(random, 3) == 0)
        options->filter_bits = 20000;
    if (random_below(random, 2) == 0)
        options->hierarchy = COLANDER_HIERARCHY_TREE;
    options->tree_order = 2 + (uint32_t)random_below(random, 6);
    options->words = random_below(random, 6) != 0;
    if (random_below(random, 3) == 0) {
        options->word_columns = with_words;
        options->word_column_count = 1 + random_below(random, 3);
    }
    if (random_below(random, 3) == 0) {
        options->ordered = with_words;
        options->ordered_count = random_below(random, 3);
        options->unordered = with_words + 1;
        options->unordered_count = random_below(random, 3);
    }
}

/* Sets other options, and usually rebuilds the filters with them. */
static void
change_options(struct run *run, uint64_t *random)
{
    const bool was_doubtful = run->is_doubtful;
    struct colander_filter_options options;

    random_options(random, &options);
    run->is_doubtful = random_below(random, 16) == 0;
    if (run->is_doubtful)
        add_doubt(random, &options);
    OK(colander_family_set_filters(run->family, &options, NULL));
    if (was_doubtful || random_below(random, 3) == 0)
        OK(colander_family_refilter(run->family, NULL, NULL));
    if (!run->is_doubtful && random_below(random, 8) == 0)
        OK(colander_family_compact(run->family, NULL));
    await_questions(run, 16);
}

static void
change_files(struct run *run, uint64_t *random)
{
    uint64_t choice = random_below(random, 12);

    if (choice < 6)
        OK(colander_family_flush(run->family, NULL));
    else if (choice == 6)
        OK(colander_family_compact(run->family, NULL));
    await_questions(run, 4);
}

static void
spoil_files(struct run *run, uint64_t *random)
{
    if (random_below(random, 4) == 0)
        spoil_filter(run, random);
    change_files(run, random);
}

static void *
disturb(void *context)
{
    struct run *run = context;
    uint64_t random = atomic_fetch_add(&run->seed, 1);

    while (!atomic_load(&run->is_over))
        run->disturb(run, &random);
    return NULL;
}

/* ------------------------------------------------------------- checking --- */

/* Asks `count` questions at snapshots, some of which are kept for long. */
static struct find_counts
ask_many(struct run *run, uint64_t count, uint64_t random)
{
    struct colander_snapshot *old = NULL;
    struct find_counts counts = {.row_count = 0};

    for (uint64_t i = 0; i < count; i++) {
        SCOPED_SNAPSHOT now = NULL;

        if (i % 200 == 0) {
            colander_snapshot_release(old);
            OK(colander_store_snapshot(run->fixture->store, &old, NULL));
        }
        OK(colander_store_snapshot(run->fixture->store, &now, NULL));
        compare_random_tree(run->family,
                            random_below(&random, 4) == 0 ? old : now, KEYS,
                            run->leaf, &random, &counts);
        atomic_fetch_add(&run->asked, 1);
    }
    colander_snapshot_release(old);
    printf("%llu scans, %llu by candidates\n",
           (unsigned long long)counts.plans[COLANDER_PLAN_SCAN],
           (unsigned long long)counts.plans[COLANDER_PLAN_CANDIDATES]);
    /* of fewer, all may come when rows have just been flushed */
    if (count >= 1000) {
        assert_true(counts.recent_found > 0);
        assert_true(counts.plans[COLANDER_PLAN_CANDIDATES] > count / 20);
    }
    return counts;
}

static void
fill(struct run *run, uint64_t random)
{
    SCOPED_BUFFER key = COLANDER_BUFFER_EMPTY;
    SCOPED_BUILDER builder = colander_row_builder_create();

    put_settled_rows(run->family, builder, HOT_KEYS, KEYS, &random);
    for (unsigned i = 0; i < 20 * HOT_KEYS; i++) {
        write_some(run, builder, &key, &random);
        if (i % 500 == 0)
            OK(colander_family_flush(run->family, NULL));
    }
}

/* Returns what the finds have done. */
static struct find_counts
run_tree(struct store_fixture *fixture, const char *name,
         const struct colander_filter_options *options,
         void (*disturbs)(struct run *run, uint64_t *random),
         random_leaf_maker *leaf, uint64_t count)
{
    struct run run = {.fixture = fixture, .disturb = disturbs, .leaf = leaf};
    pthread_t threads[WRITERS + 1];
    struct colander_filter_stats stats;
    const uint64_t seed = random_seed(name);
    struct find_counts counts;

    /* Few blocks have several versions of a row, and there are many files. */
    fixture->options.block_size = 1024;
    fixture->options.sst_size = 64 << 10;
    fixture_remake(fixture);
    atomic_store(&run.seed, seed + 1);
    run.family = kept_family(fixture, name);
    OK(colander_family_set_filters(run.family, options, NULL));
    fill(&run, seed);
    for (size_t i = 0; i < WRITERS + 1; i++)
        ZERO(pthread_create(&threads[i], NULL,
                            i < WRITERS ? write_rows : disturb, &run));
    counts = ask_many(&run, count, seed);
    atomic_store(&run.is_over, true);
    for (size_t i = 0; i < WRITERS + 1; i++)
        pthread_join(threads[i], NULL);
    OK(colander_family_filter_stats(run.family, &stats, NULL));
    printf("built %llu, rebuilt %llu, damaged %llu, errors %llu: %s\n",
           (unsigned long long)stats.built_count,
           (unsigned long long)stats.rebuilt_count,
           (unsigned long long)stats.damaged_count,
           (unsigned long long)stats.error_count, stats.last_error);
    return counts;
}

static struct find_counts
run_store(struct store_fixture *fixture, const char *name,
          const struct colander_filter_options *options,
          void (*disturbs)(struct run *run, uint64_t *random), uint64_t count)
{
    return run_tree(fixture, name, options, disturbs, random_leaf, count);
}

/* While files change, those without their filters are read as a whole, and on a
 * busy machine they are many. Now all have them: at least half of the rows are
 * read directly. */
static void
ask_settled(struct colander_family *family, const struct find_counts *before)
{
    uint64_t random = random_seed("settled");
    struct find_counts counts = {.row_count = 0};

    assert_direct(before, 100);
    OK(colander_family_flush(family, NULL));
    assert_all_loaded(family);
    for (uint64_t i = random_runs(900) / 4; i > 0; i--)
        compare_random_find(family, NULL, KEYS, &random, &counts);
    assert_direct(&counts, 2);
}

FIXTURE_TEST(finds_equal_scans_while_rows_and_files_change)
{
    struct colander_filter_options options = usual_filters();
    const struct find_counts counts = run_store(
        fixture, "changing", &options, change_files, random_runs(900) / 2);

    ask_settled(kept_family(fixture, "changing"), &counts);
}

FIXTURE_TEST(finds_equal_scans_while_filters_are_spoiled)
{
    struct colander_filter_options options = usual_filters();
    const struct find_counts counts = run_store(
        fixture, "spoiled", &options, spoil_files, random_runs(900) / 2);

    ask_settled(kept_family(fixture, "spoiled"), &counts);
}

FIXTURE_TEST(finds_equal_scans_with_segments_and_a_tree)
{
    struct colander_filter_options options = usual_filters();
    struct find_counts counts;

    options.rows_per_segment = 16;
    options.hash_bits = 16;
    options.hierarchy = COLANDER_HIERARCHY_TREE;
    options.tree_order = 2;
    counts = run_store(fixture, "segments", &options, spoil_files,
                       random_runs(900) / 2);
    ask_settled(kept_family(fixture, "segments"), &counts);
}

FIXTURE_TEST(finds_equal_scans_with_columns_left_out_and_files_only)
{
    static const char *const left_out[] = {"place", "likes"};
    struct colander_filter_options options = usual_filters();
    struct find_counts counts;

    options.unfiltered = left_out;
    options.unfiltered_count = 2;
    counts = run_store(fixture, "left_out", &options, spoil_files,
                       random_runs(900) / 4);
    ask_settled(kept_family(fixture, "left_out"), &counts);
    colander_filter_options_init(&options);
    options.rows_per_segment = 0;
    options.filter_bits = 20000;
    options.memory_budget = 1 << 16;
    /* which rows match is not known */
    (void)run_store(fixture, "files", &options, spoil_files,
                    random_runs(900) / 8);
}

FIXTURE_TEST(finds_equal_scans_while_options_change)
{
    struct colander_filter_options options = usual_filters();
    const struct find_counts counts = run_store(
        fixture, "options", &options, change_options, random_runs(900) / 2);

    /* While they change, it is not known which rows are in no file. */
    assert_true(counts.rows_direct > 0);
    /* they may be off */
    OK(colander_family_set_filters(kept_family(fixture, "options"), &options,
                                   NULL));
    assert_all_loaded(kept_family(fixture, "options"));
}

static void
disturb_all(struct run *run, uint64_t *random)
{
    if (random_below(random, 3) == 0)
        change_options(run, random);
    else
        spoil_files(run, random);
}

/* As often as COLANDER_RUNS says, while everything changes, and then, for a
 * tenth, in the store as it is opened again. */
FIXTURE_TEST(searches_of_texts_equal_scans)
{
    struct colander_filter_options options = usual_filters();
    const uint64_t count = random_runs(900);
    struct find_counts counts = run_tree(fixture, "texts", &options,
                                         disturb_all, random_text_leaf, count);
    uint64_t random = random_seed("reopened");
    struct colander_family *family = NULL;

    for (uint64_t i = 0; i < count / 10; i++) {
        SCOPED_SNAPSHOT now = NULL;

        if (i % 100 == 0) {
            fixture_reopen(fixture, i % 200 == 0 ? COLANDER_OPEN_READ_ONLY
                                                 : COLANDER_OPEN_EXISTING);
            family = kept_family(fixture, "texts");
        }
        OK(colander_store_snapshot(fixture->store, &now, NULL));
        compare_random_tree(family, now, KEYS, random_text_leaf, &random,
                            &counts);
    }
    assert_true(counts.plans[COLANDER_PLAN_CANDIDATES] > 0);
}

/* ------------------------------------------- one row, as it is flushed --- */

struct flushing {
    struct store_fixture *fixture;
    struct colander_family *family;
    _Atomic(int64_t) written; /* acknowledged rows */
    uint64_t count;
};

static void *
write_and_flush(void *context)
{
    struct flushing *flushing = context;

    for (int64_t i = 1; i <= (int64_t)flushing->count; i++) {
        char key[24];

        snprintf(key, sizeof(key), "%lld", (long long)i);
        OK(put_text(flushing->fixture, flushing->family, key, "n",
                    colander_integer(i), NULL));
        atomic_store(&flushing->written, i);
        OK(colander_family_flush(flushing->family, NULL));
    }
    return NULL;
}

/* Asserts that one row has the number, and that it was found with the filter of
 * each file. */
static void
assert_row_is_found(struct colander_family *family, int64_t number)
{
    SCOPED_PREDICATE predicate =
        colander_where("n", COLANDER_EQ, colander_integer(number), NULL);
    struct colander_query query = usual_query();
    struct find_counts counts = {.row_count = 0};
    struct colander_cursor *cursor;
    struct colander_result result;
    uint64_t count = 0;

    query.where = predicate;
    OK(colander_family_find(family, &query, &cursor, why()));
    while (next_row(cursor, &result))
        count++;
    count_find(cursor, &counts);
    colander_cursor_close(cursor);
    assert_int_equal(count, 1);
    assert_int_equal(counts.files_unsure, 0);
}

/* It is in a file of the view before it leaves the recent rows. A file that
 * comes while the filter of another one is opened is used with its own. */
FIXTURE_TEST(row_is_always_found_during_its_flush)
{
    const uint64_t runs = random_runs(45);
    struct flushing flushing = {.fixture = fixture,
                                .count = runs < 5000 ? runs : 5000};
    int64_t number = 0;
    pthread_t thread;

    flushing.family = kept_family(fixture, "rows");
    ZERO(pthread_create(&thread, NULL, write_and_flush, &flushing));
    while (number < (int64_t)flushing.count) {
        number = atomic_load(&flushing.written);
        if (number > 0)
            assert_row_is_found(flushing.family, number);
    }
    pthread_join(thread, NULL);
}
