/*
 * Everything at once: readers, writers, loads, families that are created and
 * dropped, compactions, filters that are changed and rebuilt, checks,
 * statistics. Every answer is checked (concurrent_rows.h; invariants I2, I5,
 * I6), and under ThreadSanitizer every access (tests/tsan/README.md).
 *
 * COLANDER_RUNS sets the number of reads, COLANDER_SECONDS the minimum
 * duration. Threads are scheduled freely, so a seed repeats only what each of
 * them does.
 *
 * SPDX-License-Identifier: MIT
 */
#include "support/cases.h"
#include "support/concurrent_backups.h"
#include "support/concurrent_families.h"
#include "support/filter_files.h"
#include "support/scoped.h"

#include <time.h>

#define READERS 8
#define ACTORS_MAX 24
#define SEVERAL 5 /* turns that each thread takes at least */

/* -------------------------------------------------------- housekeeping --- */

/* Returns one of the permanent families. */
static struct colander_family *
some_family(struct actor *actor)
{
    struct world *world = actor->world;
    struct colander_family *const families[] = {world->rows, world->rows,
                                                world->left, world->right};

    return families[random_below(&actor->random, 4)];
}

static void
compact_once(struct actor *actor)
{
    struct colander_family *family = some_family(actor);

    if (random_below(&actor->random, 6) == 0)
        DID(colander_family_compact(family, why()));
    else
        DID(colander_family_flush(family, why()));
    pause_shortly();
}

static void
change_filters(struct actor *actor, struct colander_family *family)
{
    const struct colander_filter_options options =
        random_filters(&actor->random);

    DID(colander_family_set_filters(family, &options, why()));
}

static void
refilter_once(struct actor *actor)
{
    struct colander_family *family = some_family(actor);
    struct colander_filter_measure measure;

    switch (random_below(&actor->random, 4)) {
    case 0:
        DID(colander_family_refilter(family, NULL, why()));
        break;
    case 1:
        DID(colander_family_await_filters(family, why()));
        break;
    case 2:
        DID(colander_family_measure_filters(family, 20, &measure, why()));
        break;
    default:
        change_filters(actor, family);
    }
    pause_shortly();
}

/* The set of files changes meanwhile, but none is damaged. */
static void
report_finding(void *context, const char *file, const char *what)
{
    (void)context;
    printf("reported of %s: %s\n", file, what);
}

static void
check_once(struct actor *actor)
{
    struct colander_check check = {0};

    DID(colander_store_check(actor->world->store, &check, report_finding, NULL,
                             why()));
    DID(colander_store_check_filters(actor->world->store, false, &check,
                                     report_finding, NULL, why()));
    CLAIM(check.finding_count == 0);
    pause_shortly();
}

static void
watch_bulk(struct actor *actor)
{
    struct play *play = play_of(actor);
    struct colander_bulk_progress progress;

    pthread_mutex_lock(&play->bulk_mutex);
    if (play->bulk != NULL) {
        colander_bulk_progress(play->bulk, &progress);
        CLAIM(progress.built_count <= progress.added_count);
        if (random_below(&actor->random, 20) == 0)
            colander_bulk_cancel(play->bulk);
    }
    pthread_mutex_unlock(&play->bulk_mutex);
}

static void
watch_once(struct actor *actor)
{
    struct colander_family *family = some_family(actor);
    struct colander_buffer keys[3] = {
        COLANDER_BUFFER_EMPTY, COLANDER_BUFFER_EMPTY, COLANDER_BUFFER_EMPTY};
    struct colander_filter_options options;
    struct colander_filter_stats stats;
    struct colander_family_sizes sizes;
    SCOPED(colander_names_release) struct colander_names names;
    size_t count;

    watch_bulk(actor);
    DID(colander_family_filter_stats(family, &stats, why()));
    if (stats.damaged_count != 0)
        printf("%s\n", stats.last_error);
    (void)fflush(stdout);
    CLAIM(stats.damaged_count == 0 && stats.loaded_count <= stats.filter_count);
    DID(colander_family_get_filters(family, &options, why()));
    colander_filter_options_release(&options);
    DID(colander_family_sizes(family, &sizes, why()));
    DID(colander_family_split_keys(family, keys, 3, &count, why()));
    for (size_t i = 0; i < 3; i++)
        colander_buffer_release(&keys[i]);
    DID(colander_store_families(actor->world->store, &names, why()));
    CLAIM(names.count >= 3 && names.count <= 6);
}

/* -------------------------------------------------------------- threads --- */

static void
read_once(struct actor *actor)
{
    static void (*const checks[])(struct actor *) = {
        check_question, check_question, check_version, check_version,
        check_now,      check_now,      check_pair,    check_scan,
        check_load,     check_passing,
    };

    checks[random_below(&actor->random, COUNT(checks))](actor);
    atomic_fetch_add_explicit(&play_of(actor)->turn_count, 1, SHARED_ORDER);
}

static void
write_once(struct actor *actor)
{
    if (random_below(&actor->random, 8) == 0)
        write_brief(actor);
    else
        write_something(actor);
}

static void
drop_once(struct actor *actor)
{
    make_and_drop(actor);
    drop_brief(actor);
}

/* The jobs of the threads, which take turns until the end. To test another job,
 * add a line here and its function. */
static const struct part {
    const char *name;
    uint64_t count; /* threads */
    void (*turn)(struct actor *actor);
} parts[] = {
    {"reads", READERS, read_once},    {"writes", WRITERS, write_once},
    {"loads", 1, load_once},          {"drops", 1, drop_once},
    {"compactions", 1, compact_once}, {"changes of filters", 1, refilter_once},
    {"checks", 1, check_once},        {"looks at figures", 1, watch_once},
    {"backups", 1, back_up_once},
};

#define PARTS COUNT(parts)

struct thread {
    pthread_t thread;
    const struct part *part;
    struct actor actor;
    shared_number turns;
    shared_number *is_over;
};

static void *
take_turns(void *context)
{
    struct thread *thread = context;

    while (shared_load(thread->is_over) == 0) {
        thread->part->turn(&thread->actor);
        shared_store(&thread->turns, ++thread->actor.turn_count);
    }
    return NULL;
}

static void
init_actor(struct actor *actor, struct world *world, uint64_t number,
           uint64_t random)
{
    memset(actor, 0, sizeof(*actor));
    actor->world = world;
    actor->number = number;
    actor->random = random;
    actor->builder = colander_row_builder_create();
    assert_non_null(actor->builder);
    OK(colander_batch_create(world->store, &actor->batch, NULL));
}

static void
release_actor(struct actor *actor)
{
    colander_row_builder_destroy(actor->builder);
    colander_batch_destroy(actor->batch);
}

/* Returns whether readers and all others have done enough. */
static bool
is_enough(struct play *play, struct thread *threads, size_t count,
          uint64_t runs, time_t until)
{
    for (size_t i = 0; i < count; i++) {
        if (shared_load(&threads[i].turns) < SEVERAL)
            return false;
    }
    return shared_load(&play->turn_count) >= runs && time(NULL) >= until;
}

static void
print_turns(const struct play *play, struct thread *threads, size_t count)
{
    struct find_counts all = {.row_count = 0};
    uint64_t plans[3] = {0};
    uint64_t recent_found = 0;

    for (size_t i = 0; i < PARTS; i++) {
        uint64_t turns = 0;

        for (size_t k = 0; k < count; k++) {
            if (threads[k].part != &parts[i])
                continue;
            turns += threads[k].actor.turn_count;
            recent_found += threads[k].actor.finds.recent_found;
            all.rows_direct += threads[k].actor.finds.rows_direct;
            all.rows_verified += threads[k].actor.finds.rows_verified;
            for (size_t plan = 0; plan < 3; plan++)
                plans[plan] += threads[k].actor.finds.plans[plan];
        }
        printf("%llu %s, ", (unsigned long long)turns, parts[i].name);
    }
    printf("%llu loads cancelled; %llu finds by candidates (%llu in no SST), "
           "%llu scans\n",
           (unsigned long long)play->cancelled_count,
           (unsigned long long)plans[COLANDER_PLAN_CANDIDATES],
           (unsigned long long)recent_found,
           (unsigned long long)plans[COLANDER_PLAN_SCAN]);
    assert_true(plans[COLANDER_PLAN_CANDIDATES] > 0 && recent_found > 0);
    /* How many there are depends on how fast rows are written meanwhile. */
    printf("%llu of %llu rows read directly\n",
           (unsigned long long)all.rows_direct,
           (unsigned long long)all.rows_verified);
    assert_true(all.rows_direct > 0);
}

static void
run_threads(struct play *play, uint64_t *random)
{
    static struct thread threads[ACTORS_MAX];
    const char *seconds = getenv("COLANDER_SECONDS");
    const time_t until = time(NULL) + (seconds == NULL ? 0 : atol(seconds));
    shared_number is_over = 0;
    size_t count = 0;

    for (size_t i = 0; i < PARTS; i++) {
        for (uint64_t k = 0; k < parts[i].count; k++) {
            struct thread *thread = &threads[count++];

            init_actor(&thread->actor, &play->world, k, random_next(random));
            thread->part = &parts[i];
            thread->is_over = &is_over;
        }
    }
    for (size_t i = 0; i < count; i++)
        ZERO(pthread_create(&threads[i].thread, NULL, take_turns, &threads[i]));
    while (!is_enough(play, threads, count, random_runs(2000), until))
        usleep(10000);
    shared_store(&is_over, 1);
    for (size_t i = 0; i < count; i++)
        pthread_join(threads[i].thread, NULL);
    print_turns(play, threads, count);
    for (size_t i = 0; i < count; i++)
        release_actor(&threads[i].actor);
}

/* ----------------------------------------------------------------- test --- */

static void
open_families(struct play *play, struct store_fixture *fixture)
{
    play->world.store = fixture->store;
    play->world.rows = kept_family(fixture, "rows");
    play->world.left = kept_family(fixture, "left");
    play->world.right = kept_family(fixture, "right");
    OK(colander_family_create(play->world.rows, NULL));
    OK(colander_family_create(play->world.left, NULL));
    OK(colander_family_create(play->world.right, NULL));
}

/* Checks after all writes that everything acknowledged is there, and found.
 * Returns what the finds did. */
static struct find_counts
check_all(struct play *play, uint64_t random)
{
    const struct colander_filter_options options = usual_filters();
    struct actor actor;

    OK(colander_family_set_filters(play->world.rows, &options, NULL));
    OK(colander_family_refilter(play->world.rows, NULL, NULL));
    init_actor(&actor, &play->world, 0, random);
    for (uint64_t i = 0; i < KEYS; i++)
        assert_int_equal(shared_load(&play->world.versions[i].begun),
                         shared_load(&play->world.versions[i].acknowledged));
    check_scan(&actor);
    for (unsigned i = 0; i < 100; i++) {
        check_question(&actor);
        check_version(&actor);
        check_now(&actor);
        check_pair(&actor);
        check_load(&actor);
    }
    check_once(&actor);
    release_actor(&actor);
    return actor.finds;
}

/* Leaves no row in memory, and one version of each. */
static void
compact_all(struct play *play)
{
    OK(colander_family_compact(play->world.rows, NULL));
    OK(colander_family_compact(play->world.left, NULL));
    OK(colander_family_compact(play->world.right, NULL));
}

FIXTURE_TEST(every_answer_is_right_while_everything_happens_at_once)
{
    static struct play play;
    uint64_t random = random_seed("concurrency");
    struct find_counts counts;

    pthread_mutex_init(&play.bulk_mutex, NULL);
    temporary_make(play.backups);
    open_families(&play, fixture);
    put_settled_rows(play.world.rows, fixture->builder, KEYS, KEYS_ALL,
                     &random);
    play.world.settled_count = count_rows(play.world.rows);
    run_threads(&play, &random);
    (void)check_all(&play, random_next(&random));
    fixture_reopen(fixture, COLANDER_OPEN_OR_CREATE);
    open_families(&play, fixture);
    (void)check_all(&play, random_next(&random));
    compact_all(&play);
    counts = check_all(&play, random_next(&random));
    assert_direct(&counts, 2);
    pthread_mutex_destroy(&play.bulk_mutex);
    temporary_remove(play.backups);
}
